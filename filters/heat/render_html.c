/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_html.c - the map as one page for a browser: page.html, which is linked into the program,
 * with the data in place of its mark. Nothing is loaded from elsewhere.
 *
 * The data is JSON with the cells as base64 of small numbers (page.html has their order), about
 * four bytes a cell. In JSON strings whatever could end the element that holds them, or is no
 * clean UTF-8, is written as an escape. Memory: 4 KiB.
 */
#include <inttypes.h>
#include <string.h>

#include "filters/heat/heat.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        "heat_page:\n"
        ".incbin \"filters/heat/page.html\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char heat_page[];

/* Numbers of 7 bits a byte, and those in base64. */
struct packer {
    FILE *out;
    uint8_t held[3];
    unsigned count;
};

static void put_held(struct packer *p)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)p->held[0] << 16 | (uint32_t)p->held[1] << 8 | p->held[2];
    char four[4];

    for (int i = 0; i < 4; i++)
        four[i] = i <= (int)p->count ? digit[bits >> (18 - 6 * i) & 63] : '=';
    fwrite(four, 1, 4, p->out);
    memset(p->held, 0, sizeof p->held);
    p->count = 0;
}

static void put_number(struct packer *p, uint64_t value)
{
    do {
        p->held[p->count++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        if (p->count == 3)
            put_held(p);
        value >>= 7;
    } while (value);
}

static void write_cells(const struct heat_map *map, FILE *out)
{
    struct packer p = {.out = out};

    for (uint32_t r = 0; r < map->rows; r++) {
        const struct heat_row *row = &map->row[r];
        uint32_t bin = 0;

        put_number(&p, r && row[-1].band == row->band ? row->page - row[-1].page : row->page);
        put_number(&p, row->cells);
        for (uint64_t c = row->first; c < row->first + row->cells; c++) {
            put_number(&p, map->bin[c] - bin);
            put_number(&p, map->value[c]);
            bin = map->bin[c];
        }
    }
    if (p.count)
        put_held(&p);
}

static void write_data(const void *what, FILE *out)
{
    const struct heat_map *map = what;
    char words[512];

    fputc('{', out);
    heat_title(map, words, sizeof words);
    cf_json_text(out, "title", words);
    fputc(',', out);
    heat_summary(map, words, sizeof words);
    cf_json_text(out, "summary", words);
    fputc(',', out);
    cf_json_text(out, "command", map->command);
    fputc(',', out);
    cf_json_text(out, "what", map->what);
    fputc(',', out);
    cf_json_text(out, "unit", map->unit);
    if (map->period > 0) {
        fprintf(out, ",\"zero\":%.17g,\"period\":%.17g,", map->zero, map->period);
        cf_json_text(out, "clock", map->clock);
    }
    fprintf(out,
            ",\"start\":%" PRIu64 ",\"width\":%" PRIu64 ",\"bins\":%" PRIu32 ",\"total\":%" PRIu64
            ",\"peak\":%" PRIu64 ",\"rows\":%" PRIu32 ",\"cells\":%" PRIu64 ",\"top\":%" PRIu32
            ",\"linear\":%s,\"ramp\":\"",
            map->start, map->width, map->bins, map->total, map->peak, map->rows, map->cells,
            map->top, map->linear ? "true" : "false");
    for (int i = 0; i < 256; i++) {
        struct cf_rgb c = cf_heat_colour(i / 255.0);
        fprintf(out, "%02x%02x%02x", c.r, c.g, c.b);
    }
    fputs("\",\n\"bands\":[", out);
    for (uint32_t b = 0; b < map->bands; b++) {
        fputs(b ? ",\n[" : "[", out);
        cf_json_text(out, "", map->band[b].name);
        fprintf(out, ",%" PRIu64 ",%" PRIu32 ",%d]", map->band[b].total, map->band[b].rows,
                map->band[b].region != 0);
    }
    fputs("],\n\"data\":\"", out);
    write_cells(map, out);
    fputs("\"}", out);
}

int heat_html(const void *what, FILE *out)
{
    const struct heat_map *map = what;

    return cf_page(out, heat_page, write_data, map->fine ? map->fine : map);
}
