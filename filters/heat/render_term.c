/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_term.c - the map for a terminal: a line with name, total and share above each mapping,
 * the cells below it, the time beneath all.
 *
 * With colours and UTF-8 a character shows two lines of pages by its two halves. With colours but
 * no UTF-8 it shows one, by a blank; without colours one, by characters that grow darker. Names
 * never reach the terminal as they are: what could command it is replaced. Memory: a few words a
 * line and column.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/heat/heat.h"

enum { GUTTER = 15 };

/* half a character is high: as light as in the other pictures it would be all that one sees */
static const struct cf_rgb left_out = {48, 49, 57};
static const char shades[] = ".:-=+*#%@";

static struct cf_rgb colour_of(const struct heat_map *map, const struct heat_line *line,
                               uint64_t value)
{
    if (line->skipped)
        return left_out;
    return value ? cf_heat_colour(heat_scale(map, value)) : cf_heat_ground;
}

static int same(struct cf_rgb a, struct cf_rgb b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* One line of characters, of one or two lines of pages. */
static void put_cells(FILE *out, const struct heat_map *map, const struct cf_terminal *t,
                      const struct heat_line *line, uint64_t *const column[2], uint32_t width)
{
    struct cf_rgb upper = {0, 0, 0}, lower = {0, 0, 0};

    for (uint32_t x = 0; x < width; x++) {
        struct cf_rgb u = colour_of(map, &line[0], column[0][x]), l;

        if (!t->colours) {
            uint64_t v = column[0][x];
            fputc(line->skipped ? (x % 4 ? ' ' : '~')
                  : v           ? shades[(size_t)(heat_scale(map, v) * (sizeof shades - 2) + 0.5)]
                                : ' ',
                  out);
            continue;
        }
        l = t->utf8 ? colour_of(map, &line[1], column[1][x]) : u;
        if (x == 0 || !same(l, lower))
            cf_terminal_colour(out, t, 1, l);
        if (t->utf8 && (x == 0 || !same(u, upper)))
            cf_terminal_colour(out, t, 0, u);
        upper = u;
        lower = l;
        fputs(t->utf8 ? "\xe2\x96\x80" : " ", out);
    }
    if (t->colours)
        fputs("\33[0m", out);
    fputc('\n', out);
}

static void put_label(FILE *out, const struct heat_map *map, const struct cf_terminal *t,
                      const struct heat_band *band)
{
    char total[32], words[128];
    unsigned n;

    cf_text_number(total, sizeof total, (double)band->total);
    snprintf(words, sizeof words, "  %s, %.1f %%, %" PRIu32 " page%s", total,
             100 * (double)band->total / (double)map->total, band->rows,
             band->rows == 1 ? "" : "s");
    n = (unsigned)strlen(words);
    fputs(t->colours ? "\33[1m" : "", out);
    cf_terminal_text(out, t, band->name, t->columns > n + 8 ? t->columns - n : 8);
    fprintf(out, "%s%s\n", t->colours ? "\33[0m" : "", words);
}

static int put_band(FILE *out, const struct heat_map *map, const struct cf_terminal *t,
                    const struct heat_band *band, uint32_t characters, uint32_t width)
{
    unsigned halves = t->colours && t->utf8 ? 2 : 1;
    uint32_t lines = characters * halves, before = UINT32_MAX;
    struct heat_line *line = calloc(lines, sizeof *line);
    uint64_t *both = calloc((size_t)2 * width, sizeof *both);
    uint64_t *const column[2] = {both, both ? both + width : NULL};

    if (!line || !both || heat_lines(map, band, lines, 1, line)) {
        free(line);
        free(both);
        return -1;
    }
    put_label(out, map, t, band);
    for (uint32_t i = 0; i < lines; i += halves) {
        uint32_t first = UINT32_MAX;
        char number[32] = "";

        for (unsigned k = halves; k-- > 0;) {
            heat_columns(map, &line[i + k], column[k], width);
            if (line[i + k].first <= line[i + k].last)
                first = line[i + k].first;
        }
        /* each page number once, where its page begins */
        if (first != UINT32_MAX && first != before) {
            heat_page_name(number, sizeof number, map, first);
            before = first;
        }
        fprintf(out, "%*s ", GUTTER - 1, number);
        put_cells(out, map, t, &line[i], column, width);
    }
    free(line);
    free(both);
    return 0;
}

static void put_legend(FILE *out, const struct heat_map *map, const struct cf_terminal *t)
{
    char peak[32];
    int wide = t->columns >= 80 ? 32 : 16;

    cf_text_number(peak, sizeof peak, (double)map->peak);
    fprintf(out, "%*s%c ", GUTTER, "", map->linear ? '0' : '1');
    for (int i = 0; i < wide; i++) {
        double f = (double)i / (wide - 1);
        if (t->colours) {
            cf_terminal_colour(out, t, 1, cf_heat_colour(f));
            fputc(' ', out);
        } else {
            fputc(shades[(size_t)(f * (sizeof shades - 2) + 0.5)], out);
        }
    }
    fprintf(out, "%s %s %s (%s)\n", t->colours ? "\33[0m" : "", peak, map->what,
            map->linear ? "linear" : "log");
}

int heat_term(const void *what, FILE *out, const struct cf_terminal *t)
{
    const struct heat_map *map = what;
    uint32_t shown = map->top < map->bands ? map->top : map->bands;
    uint32_t width = t->columns > GUTTER + 10 ? t->columns - GUTTER - 1 : 10;
    /* title, summary, axis and legend take six lines; a band its label and at least one */
    uint32_t room = t->lines > 6 ? t->lines - 6 : 0, lines;
    struct heat_map some = *map;
    uint32_t *height;
    struct heat_axis axis;
    char title[128], words[512];

    heat_title(map, title, sizeof title);
    heat_summary(map, words, sizeof words);
    cf_terminal_head(out, t, title, words);
    if (!map->bands) {
        fputs("nothing was counted\n", out);
        return ferror(out) ? -1 : 0;
    }
    if (shown > 4 && room && shown > room / 3)
        shown = room / 3 > 4 ? room / 3 : 4;
    some.top = shown;
    lines = room > 3 * shown ? room - shown : t->lines ? 2 * shown : 6 * shown;
    if (!(height = calloc((size_t)shown + 1, sizeof *height)))
        return -1;
    heat_heights(&some, lines, 1, t->colours && t->utf8 ? 1 : 2, height);
    for (uint32_t b = 0; b < shown; b++) {
        if (put_band(out, map, t, &map->band[b], height[b], width)) {
            free(height);
            return -1;
        }
    }
    free(height);
    heat_axis(map, &axis);
    cf_terminal_time(out, t, GUTTER, width, axis.start, axis.end, axis.unit);
    put_legend(out, map, t);
    if (shown < map->bands)
        fprintf(out, "%" PRIu32 " smaller mappings are not shown\n", map->bands - shown);
    return ferror(out) ? -1 : 0;
}
