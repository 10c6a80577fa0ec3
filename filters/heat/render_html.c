/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_html.c - the map as one page for a browser, page.html with its style and scripts.
 *
 * The data is JSON with the cells as base64 of small numbers (page_map.js has their order), about
 * four bytes a cell. In JSON strings whatever could end the element that holds them, or is no
 * clean UTF-8, is written as an escape. Memory: 4 KiB.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/heat/heat.h"
#include "formats/base/cf_number.h"

CF_PAGE(heat_page, CF_PAGE_FILE("filters/heat/page.css"), CF_PAGE_FILE("filters/heat/page.html"),
        CF_PAGE_FILE("filters/heat/page_map.js") CF_PAGE_FILE("filters/heat/page.js"));

/* Of the functions of cells: in a cell, in all, bytes of a name. */
enum { SHOWN_NAMES = 3, MOST_NAMES = 4096, LONGEST_NAME = 256 };

static uint64_t place_of(const struct heat_map *map, uint32_t row)
{
    return heat_place(map->band[map->row[row].band].region, map->row[row].page);
}

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

static int by_value(const void *a, const void *b)
{
    const struct cf_count *x = a, *y = b;

    return cf_order(y->value, x->value) ?: cf_order(x->b, y->b);
}

/* The functions that are named, those that count most first: [*list] of `count` of them, and the
   number of each, plus one. NULL without memory. */
static struct cf_counts *number_names(const struct heat_map *map, struct cf_count **list,
                                      size_t *count)
{
    struct cf_counts *number = cf_counts_new();
    size_t cells;

    *count = 0;
    *list = NULL;
    for (uint32_t r = 0; number && r < map->rows; r++) {
        const struct heat_named *c = heat_names_of(map->names, place_of(map, r), &cells);

        for (; cells; cells--, c++)
            for (unsigned i = 0; i < SHOWN_NAMES && c->count[i]; i++) {
                uint64_t *sum = cf_counts_at(number, 0, c->function[i]);

                if (!sum) {
                    cf_counts_free(number);
                    return NULL;
                }
                *sum = cf_sum(*sum, c->count[i]);
            }
    }
    if (number && !(*list = malloc((cf_counts_size(number) + 1) * sizeof **list))) {
        cf_counts_free(number);
        return NULL;
    }
    if (!number)
        return NULL;
    cf_counts_copy(number, *list);
    qsort(*list, cf_counts_size(number), sizeof **list, by_value);
    *count = cf_counts_size(number) < MOST_NAMES ? cf_counts_size(number) : MOST_NAMES;
    for (size_t i = 0; i < cf_counts_size(number); i++)
        *cf_counts_at(number, 0, (*list)[i].b) = i < *count ? i + 1 : 0;
    return number;
}

/* The cells of each page: how many; and for each the step of its bin, its sum, how many functions,
   and of each its number in the list and its part. Bins count from the one that holds the start. */
static void write_named(const struct heat_map *map, const struct cf_counts *number, FILE *out)
{
    struct packer p = {.out = out};

    for (uint32_t r = 0; r < map->rows; r++) {
        size_t cells;
        const struct heat_named *c = heat_names_of(map->names, place_of(map, r), &cells);
        uint64_t bin = map->start >> heat_names_shift(map->names);

        put_number(&p, cells);
        for (; cells; cells--, c++) {
            unsigned shown = 0;

            while (shown < SHOWN_NAMES && c->count[shown] &&
                   cf_counts_get(number, 0, c->function[shown]))
                shown++;
            put_number(&p, c->bin - bin);
            put_number(&p, c->total);
            put_number(&p, shown);
            for (unsigned i = 0; i < shown; i++) {
                put_number(&p, cf_counts_get(number, 0, c->function[i]) - 1);
                put_number(&p, c->count[i]);
            }
            bin = c->bin;
        }
    }
    if (p.count)
        put_held(&p);
}

/* A map, and where it has names their numbers. */
struct page {
    const struct heat_map *map;
    struct cf_counts *number;
    struct cf_count *list;
    size_t count;
};

static void write_names(const struct page *p, FILE *out)
{
    const struct heat_map *map = p->map;
    const uint64_t width = 1ull << heat_names_shift(map->names);

    fprintf(out, ",\n\"names\":{\"width\":%" PRIu64 ",\"before\":%" PRIu64 ",\"list\":[", width,
            map->start % width);
    for (size_t i = 0; i < p->count; i++) {
        char name[LONGEST_NAME];
        const int n =
            snprintf(name, sizeof name, "%s", map->function(map->reader, (uint32_t)p->list[i].b));

        if (n >= (int)sizeof name)
            strcpy(name + sizeof name - 4, "...");
        fputs(i ? "," : "", out);
        cf_json_text(out, "", name);
    }
    fputs("],\n\"cells\":\"", out);
    write_named(map, p->number, out);
    fputs("\"}", out);
}

static void write_data(const void *what, FILE *out)
{
    const struct page *p = what;
    const struct heat_map *map = p->map;
    char title[128], summary[512];

    heat_title(map, title, sizeof title);
    heat_summary(map, summary, sizeof summary);
    cf_page_head(out, title, map->command, summary);
    cf_json_text(out, "what", map->what);
    fputc(',', out);
    cf_json_text(out, "unit", map->unit);
    if (map->period > 0) {
        fprintf(out, ",\"zero\":%.17g,\"period\":%.17g,", map->zero, map->period);
        cf_json_text(out, "clock", map->clock);
    }
    fprintf(out,
            ",\"start\":\"%" PRIu64 "\",\"width\":\"%" PRIu64 "\",\"bins\":%" PRIu32
            ",\"total\":%" PRIu64 ",\"peak\":%" PRIu64 ",\"rows\":%" PRIu32 ",\"cells\":%" PRIu64
            ",\"top\":%" PRIu32 ",\"linear\":%s,\n\"bands\":[",
            map->start, map->width, map->bins, map->total, map->peak, map->rows, map->cells,
            map->top, map->linear ? "true" : "false");
    for (uint32_t b = 0; b < map->bands; b++) {
        fputs(b ? ",\n[" : "[", out);
        cf_json_text(out, "", map->band[b].name);
        fprintf(out, ",%" PRIu64 ",%" PRIu32 ",%d]", map->band[b].total, map->band[b].rows,
                map->band[b].region != 0);
    }
    fputs("],\n\"data\":\"", out);
    write_cells(map, out);
    fputc('"', out);
    if (p->number)
        write_names(p, out);
    fputc('}', out);
}

int heat_html(const void *what, FILE *out)
{
    const struct heat_map *map = what;
    struct page p = {.map = map->fine ? map->fine : map};
    int status;

    if (p.map->names && !(p.number = number_names(p.map, &p.list, &p.count)))
        return -1;
    status = cf_page(out, &heat_page, write_data, &p);
    cf_counts_free(p.number);
    free(p.list);
    return status;
}
