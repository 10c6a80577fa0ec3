/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_png.c - the map as a picture with a title, a band a mapping, axes and a legend.
 *
 * From left to right: a column with name, total and share of each mapping, the page numbers, the
 * map, the legend of the colours. Below: the axis of time. Dark grey stripes stand for
 * untouched pages. Memory: 3 bytes a pixel, and a few words a line of pixels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/heatmap/heat.h"

enum { LEFT = 262, RIGHT = 112, TOP = 76, BOTTOM = 58, BETWEEN = 6, LEAST = 28, MOST = 14 };

/* Page numbers, above all at both sides of what is left out and elsewhere where there is room. */
static void draw_page_marks(struct cf_canvas *p, const struct heat_map *map,
                            const struct heat_line *line, uint32_t lines, int y)
{
    int before = -100;

    for (uint32_t i = 0; i < lines; i++) {
        char number[24];
        uint32_t end = i;
        int middle, edge = i == 0 || line[i - 1].skipped;

        if (line[i].skipped || line[i].first > line[i].last)
            continue;
        /* the lines that show the same page */
        while (end + 1 < lines && !memcmp(&line[end + 1], &line[i], sizeof *line))
            end++;
        middle = y + (int)(end - i < 14 ? (i + end) / 2 : i + 5);
        if (middle - before >= (edge || end - i >= 7 ? 12 : 40)) {
            heat_page_name(number, sizeof number, map, line[i].first);
            cf_canvas_text_right(p, LEFT - 8, middle - 4, cf_pale_ink, number);
            cf_canvas_box(p, LEFT - 5, middle, 4, 1, cf_rule);
            before = middle;
        }
        i = end;
    }
}

static int draw_band(struct cf_canvas *p, const struct heat_map *map, const struct heat_band *band,
                     int y, uint32_t lines, const struct cf_rgb *ramp)
{
    int width = p->width - LEFT - RIGHT;
    struct heat_line *line = calloc(lines, sizeof *line);
    uint64_t *column = malloc((size_t)width * sizeof *column);
    char words[96], total[32];

    if (!line || !column || heat_lines(map, band, lines, 3, line)) {
        free(line);
        free(column);
        return -1;
    }
    cf_canvas_box(p, LEFT, y, width, (int)lines, heat_ground);
    for (uint32_t i = 0; i < lines; i++) {
        uint8_t *row = p->pixels + 3 * ((size_t)(y + (int)i) * (size_t)p->width + (size_t)LEFT);
        if (line[i].skipped) {
            /* the middle one of three lines, broken */
            if (i && line[i - 1].skipped && i + 1 < lines && line[i + 1].skipped)
                for (int x = 0; x < width; x += 6)
                    cf_canvas_box(p, LEFT + x, y + (int)i, 3, 1, heat_gap);
            continue;
        }
        if (i && !memcmp(&line[i], &line[i - 1], sizeof *line)) {
            memcpy(row, row - 3 * (size_t)p->width, 3 * (size_t)width);
            continue;
        }
        heat_columns(map, &line[i], column, (uint32_t)width);
        for (int x = 0; x < width; x++) {
            if (column[x])
                memcpy(row + 3 * x, &ramp[(int)(heat_scale(map, column[x]) * 255 + 0.5)], 3);
        }
    }
    draw_page_marks(p, map, line, lines, y);
    cf_canvas_text_cut(p, 14, y + 1, LEFT - (band->region ? 74 : 108), 1, cf_ink, band->name);
    cf_text_number(total, sizeof total, (double)band->total);
    snprintf(words, sizeof words, "%s, %.1f %%", total,
             100 * (double)band->total / (double)map->total);
    cf_canvas_text(p, 14, y + 15, 1, cf_pale_ink, words);
    if (lines >= 44) {
        snprintf(words, sizeof words, "%" PRIu32 " page%s", band->rows, band->rows == 1 ? "" : "s");
        cf_canvas_text(p, 14, y + 29, 1, cf_pale_ink, words);
    }
    /* a bar as long as the share */
    cf_canvas_box(p, 4, y, 5, (int)lines, (struct cf_rgb){228, 229, 235});
    {
        int bar = (int)((double)lines * (double)band->total / (double)map->total + 0.5);
        cf_canvas_box(p, 4, y + (int)lines - bar, 5, bar, (struct cf_rgb){74, 96, 190});
    }
    free(line);
    free(column);
    return 0;
}

static void draw_time(struct cf_canvas *p, const struct heat_map *map, int bottom)
{
    int width = p->width - LEFT - RIGHT;
    struct heat_axis axis;
    double first, last;

    if (!map->bins)
        return;
    heat_time_axis(map, (unsigned)width / 90, &axis);
    first = (double)(map->start - axis.zero) / axis.divisor;
    last = (double)(heat_bin_start(map, map->bins) - axis.zero) / axis.divisor;
    for (uint64_t k = (uint64_t)(first / axis.step); (double)k * axis.step <= last; k++) {
        double at = (double)k * axis.step;
        char number[40];
        int x;

        if (at < first)
            continue;
        x = LEFT + (int)((at - first) / (last - first) * (width - 1));
        cf_canvas_box(p, x, bottom, 1, 5, cf_pale_ink);
        snprintf(number, sizeof number, "%.*f", axis.digits, at);
        cf_canvas_text(p, x - cf_font_width(number, 1) / 2 + 1, bottom + 9, 1, cf_ink, number);
    }
    cf_canvas_text(p, LEFT + (width - cf_font_width(axis.title, 1)) / 2, bottom + 27, 1,
                   cf_pale_ink, axis.title);
}

static void draw_legend(struct cf_canvas *p, const struct heat_map *map, int height,
                        const struct cf_rgb *ramp)
{
    int x = p->width - RIGHT + 18;
    char number[32];
    int before = -100;
    double step = cf_axis_step(0, (double)map->peak, 6);

    height = height > 320 ? 320 : height;
    snprintf(number, sizeof number, "%s per", map->what);
    cf_canvas_text(p, x, TOP - 30, 1, cf_pale_ink, number);
    cf_canvas_text(p, x, TOP - 16, 1, cf_pale_ink,
                   strcmp(map->unit, "snapshot") ? "page and bin" : "page");
    for (int i = 0; i < height; i++)
        cf_canvas_box(p, x, TOP + i, 14, 1,
                      ramp[(height - 1 - i) * 255 / (height > 1 ? height - 1 : 1)]);
    /* from the top: the peak, then round values */
    for (double v = (double)map->peak; v >= 1;) {
        int y = TOP + (int)((1 - heat_scale(map, (uint64_t)v)) * (height - 1));
        double next;

        if (y - before >= 14) {
            cf_text_number(number, sizeof number, v);
            cf_canvas_box(p, x + 14, y, 3, 1, cf_pale_ink);
            cf_canvas_text(p, x + 20, y - 4, 1, cf_ink, number);
            before = y;
        }
        if (map->linear) {
            next = step * (double)(uint64_t)(v / step);
            v = next < v ? next : next - step;
        } else {
            for (next = 1; next * 10 < v; next *= 10)
                ;
            v = v > 1 ? next : 0;
        }
    }
    cf_canvas_box(p, x, TOP + height + 10, 14, 10, heat_ground);
    cf_canvas_text(p, x + 20, TOP + height + 10, 1, cf_pale_ink, "none");
    cf_canvas_box(p, x, TOP + height + 24, 14, 10, heat_ground);
    for (int i = 0; i < 14; i += 6)
        cf_canvas_box(p, x + i, TOP + height + 29, 3, 1, heat_gap);
    cf_canvas_text(p, x + 20, TOP + height + 24, 1, cf_pale_ink, "left out");
    cf_canvas_text(p, x, TOP + height + 44, 1, cf_pale_ink, map->linear ? "linear" : "log scale");
}

/* Everything but the file. */
static int draw(struct cf_canvas *p, const struct heat_map *map)
{
    uint32_t shown = map->top < map->bands ? map->top : map->bands, fit;
    struct heat_map some = *map;
    uint32_t *height;
    struct cf_rgb ramp[256];
    char words[512];
    int y = TOP, room = p->height - TOP - BOTTOM;

    for (int i = 0; i < 256; i++)
        ramp[i] = cf_heat_colour(i / 255.0);
    cf_canvas_box(p, 0, 0, p->width, p->height, cf_paper);
    heat_title(map, words, sizeof words);
    cf_canvas_text(p, 14, 10, 2, cf_ink, words);
    if (*map->command)
        cf_canvas_text_cut(p, 14 + cf_font_width(words, 2) + 14, 18,
                           p->width - cf_font_width(words, 2) - 40, 1, cf_pale_ink, map->command);
    heat_summary(map, words, sizeof words);
    /* as many mappings as there is room for, the largest ones */
    fit = (uint32_t)(room / (LEAST + BETWEEN));
    some.top = shown = shown < fit ? shown : fit;
    if (shown < map->bands)
        snprintf(words + strlen(words), sizeof words - strlen(words),
                 "; the %" PRIu32 " largest mappings are shown", shown);
    cf_canvas_text_cut(p, 14, 40, p->width - 24 - RIGHT, 1, cf_pale_ink, words);
    cf_canvas_text(p, 14, TOP - 16, 1, cf_pale_ink, "mapping");
    cf_canvas_text_right(p, LEFT - 8, TOP - 16, cf_pale_ink, "page");
    if (!map->bands) {
        cf_canvas_text(p, 14, TOP + 40, 2, cf_pale_ink, "nothing was counted");
        return 0;
    }
    if (!(height = calloc((size_t)shown + 1, sizeof *height)))
        return -1;
    heat_heights(&some, (uint32_t)room - shown * BETWEEN, LEAST, MOST, height);
    for (uint32_t b = 0; b < shown; b++) {
        if (draw_band(p, map, &map->band[b], y, height[b], ramp)) {
            free(height);
            return -1;
        }
        y += (int)height[b] + BETWEEN;
    }
    free(height);
    draw_time(p, map, y - BETWEEN + 3);
    draw_legend(p, map, room - 50, ramp);
    return 0;
}

int heat_png(const struct heat_map *map, FILE *out, uint32_t width, uint32_t height)
{
    struct cf_canvas *p = cf_canvas_new((int)width, (int)height);
    const int status = p && !draw(p, map) ? cf_canvas_png(p, out) : -1;

    cf_canvas_free(p);
    return status;
}
