/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * render_picture.c - the map as a picture with a title, a band a mapping, axes and a legend.
 *
 * From left to right: a column with name, total and share of each mapping, the page numbers, the
 * map. Above: the legend of the colours. Below: the axis of time. Dark grey stripes stand for
 * untouched pages. Each band is one image, which stays small in a file of vectors. Memory: that of
 * the canvas, and 4 bytes a dot of the largest band.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/heat/heat.h"

enum { BOTTOM = 44, BETWEEN = 6, MOST = 14, NAME_X = 14, LINE = CF_LINE_HEIGHT };

struct drawing {
    struct cf_canvas *p;
    const struct heat_map *map;
    double left, width, top; /* of the map */
    double page_room;        /* of page numbers, left of the map */
    int narrow;
    uint32_t ramp[256];
};

static double units(const struct drawing *d, uint32_t dots)
{
    return dots / d->p->dots;
}

/* Page numbers, above all at both sides of what is left out and elsewhere where there is room. */
static void draw_page_marks(const struct drawing *d, const struct heat_line *line, uint32_t lines,
                            double y)
{
    double before = -100;

    for (uint32_t i = 0; i < lines; i++) {
        char number[24];
        uint32_t end = i;
        double middle, high;
        int edge = i == 0 || line[i - 1].skipped;

        if (line[i].skipped || line[i].first > line[i].last)
            continue;
        /* the lines that show the same page */
        while (end + 1 < lines && !memcmp(&line[end + 1], &line[i], sizeof *line))
            end++;
        high = units(d, end - i);
        middle = y + units(d, i) + (high < 14 ? high / 2 : 5);
        if (middle - before >= (edge || high >= 7 ? 12 : 40)) {
            heat_page_name(number, sizeof number, d->map, line[i].first);
            /* an address may need the room of the mapping's name */
            if (cf_canvas_text_width(d->p, number) < d->page_room || middle > y + 3 * LINE) {
                cf_canvas_text(d->p, d->left - 8, middle - 4, 1, cf_pale_ink, number);
                cf_canvas_box(d->p, d->left - 5, middle, 4, 1, cf_rule);
                before = middle;
            }
        }
        i = end;
    }
}

static void draw_names(const struct drawing *d, const struct heat_band *band, double y, double high)
{
    const double share = (double)band->total / (double)d->map->total;
    const double room = d->left - d->page_room - NAME_X - 12;
    char words[96], total[32];

    cf_canvas_text_cut(d->p, NAME_X, y + 1, room, cf_ink, band->name);
    cf_text_number(total, sizeof total, (double)band->total);
    snprintf(words, sizeof words, "%s, %.1f %%", total, 100 * share);
    if (high >= 2 * LINE - 3)
        cf_canvas_text_cut(d->p, NAME_X, y + 1 + LINE, room, cf_pale_ink, words);
    snprintf(words, sizeof words, "%" PRIu32 " page%s", band->rows, band->rows == 1 ? "" : "s");
    if (high >= 3 * LINE)
        cf_canvas_text_cut(d->p, NAME_X, y + 1 + 2 * LINE, room, cf_pale_ink, words);
    /* a bar as long as the share */
    cf_canvas_box(d->p, 4, y, 5, high, (struct cf_rgb){228, 229, 235});
    cf_canvas_box(d->p, 4, y + high * (1 - share), 5, high * share, (struct cf_rgb){74, 96, 190});
}

static uint32_t rgb(struct cf_rgb c)
{
    return (uint32_t)c.r << 16 | (uint32_t)c.g << 8 | c.b;
}

static int draw_band(const struct drawing *d, const struct heat_band *band, double y,
                     uint32_t lines)
{
    const uint32_t width = cf_canvas_dots(d->p, d->width), gap = 3 * cf_canvas_dots(d->p, 1);
    struct heat_line *line = calloc(lines, sizeof *line);
    uint64_t *column = malloc(width * sizeof *column);
    uint32_t *pixels = malloc((size_t)lines * width * sizeof *pixels);
    int status = -1;

    if (!line || !column || !pixels || heat_lines(d->map, band, lines, gap, line))
        goto out;
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t *row = pixels + (size_t)i * width;

        if (i && !memcmp(&line[i], &line[i - 1], sizeof *line)) {
            memcpy(row, row - width, width * sizeof *row);
            continue;
        }
        heat_columns(d->map, &line[i], column, width);
        for (uint32_t x = 0; x < width; x++)
            row[x] = column[x] ? d->ramp[lround(heat_scale(d->map, column[x]) * 255)]
                               : rgb(cf_heat_ground);
    }
    cf_canvas_image(d->p, d->left, y, d->width, units(d, lines), pixels, width, lines);
    /* a broken line in the middle of what is left out */
    cf_canvas_colour(d->p, cf_heat_gap);
    cairo_set_line_width(d->p->cr, 1);
    cairo_set_dash(d->p->cr, (double[]){3}, 1, 0);
    for (uint32_t i = 0; i < lines; i++)
        if (line[i].skipped) {
            cairo_move_to(d->p->cr, d->left, y + units(d, i) + 1.5);
            cairo_rel_line_to(d->p->cr, d->width, 0);
            cairo_stroke(d->p->cr);
            i += gap - 1;
        }
    draw_page_marks(d, line, lines, y);
    draw_names(d, band, y, units(d, lines));
    status = 0;
out:
    free(line);
    free(column);
    free(pixels);
    return status;
}

/* Above the map: the colours, the largest count and round ones below them, and what they say. */
static int draw_legend(const struct drawing *d, double y)
{
    const double width = d->narrow ? 110 : 240, right = NAME_X + width + 28;
    const double step = cf_axis_step(0, (double)d->map->peak, 4);
    const uint32_t columns = cf_canvas_dots(d->p, width), lines = cf_canvas_dots(d->p, 9);
    uint32_t *pixels = malloc((size_t)columns * lines * sizeof *pixels);
    double end = right;
    char words[128];

    if (!pixels)
        return -1;
    for (size_t i = 0; i < (size_t)columns * lines; i++)
        pixels[i] = d->ramp[i % columns * 256 / columns];
    cf_canvas_image(d->p, NAME_X, y, width, 9, pixels, columns, lines);
    free(pixels);
    for (double v = (double)d->map->peak, next; v >= 1; v = next) {
        const double x = NAME_X + heat_scale(d->map, (uint64_t)v) * (width - 1);

        next = step * ceil(v / step - 1);
        for (double ten = 1; !d->map->linear && ten < v; ten *= 10)
            next = ten;
        if (v >= (double)d->map->peak)
            cf_text_number(words, sizeof words, v);
        else
            cf_axis_number(words, sizeof words, v, d->map->linear ? step : v,
                           d->map->linear ? (double)d->map->peak : v);
        if (x + cf_canvas_text_width(d->p, words) / 2 > end - 5)
            continue;
        end = x - cf_canvas_text_width(d->p, words) / 2;
        cf_canvas_box(d->p, x, y + 9, 1, 3, cf_pale_ink);
        cf_canvas_text(d->p, x, y + 15, 0.5, cf_ink, words);
        if (v <= 1)
            break;
    }
    snprintf(words, sizeof words, "%s per page%s, %s", d->map->what,
             strcmp(d->map->unit, "snapshot") ? " and bin" : "",
             d->map->linear ? "linear" : "log scale");
    cf_canvas_text_cut(d->p, right, y, d->p->width - right - 8, cf_pale_ink, words);
    /* whole: half of it would say something else */
    cf_canvas_paragraph(d->p, right, y + LINE, d->p->width - right - 8, cf_pale_ink, 0,
                        "black: none; dashes: pages left out");
    return 0;
}

static int draw_bands(struct drawing *d, uint32_t shown, double room)
{
    struct heat_map some = *d->map;
    const uint32_t between = cf_canvas_dots(d->p, BETWEEN);
    uint32_t *height = calloc((size_t)shown + 1, sizeof *height);
    uint32_t at = 0;
    struct heat_axis axis;
    int status = height ? 0 : -1;

    some.top = shown;
    if (height)
        heat_heights(&some, cf_canvas_dots(d->p, room) - shown * between,
                     cf_canvas_dots(d->p, d->narrow ? LINE : 2 * LINE - 2),
                     cf_canvas_dots(d->p, MOST), height);
    for (uint32_t b = 0; b < shown && !status; b++) {
        status = draw_band(d, &d->map->band[b], d->top + units(d, at), height[b]);
        at += height[b] + between;
    }
    free(height);
    heat_axis(d->map, &axis);
    cf_canvas_time(d->p, d->left, d->width, d->top + units(d, at - between) + 3, axis.start,
                   axis.end, axis.unit);
    return status;
}

/* Everything but the file. */
static int draw(struct drawing *d)
{
    const struct heat_map *map = d->map;
    uint32_t shown = map->top < map->bands ? map->top : map->bands;
    char title[128], words[512];
    double room;

    heat_title(map, title, sizeof title);
    heat_summary(map, words, sizeof words);
    d->top = cf_canvas_head(d->p, title, map->command, words) + (d->narrow ? 3 : 10);
    if (!map->bands) {
        cf_canvas_text(d->p, NAME_X, d->top + 20, 0, cf_pale_ink, "nothing was counted");
        return 0;
    }
    if (draw_legend(d, d->top))
        return -1;
    d->top += 2 * LINE + (d->narrow ? 2 : 8);
    cf_canvas_text(d->p, NAME_X, d->top, 0, cf_pale_ink, "mapping");
    cf_canvas_text(d->p, d->left - 8, d->top, 1, cf_pale_ink, "page");
    d->top += LINE + 3; /* the first tick stands half a line above its page */
    room = d->p->height - d->top - BOTTOM;
    /* as many mappings as there is room for, the largest ones */
    room = fmax(room, 2 * LINE);
    shown = (uint32_t)fmin(shown, room / ((d->narrow ? LINE : 2 * LINE) + BETWEEN));
    snprintf(words, sizeof words, "%" PRIu32 " of %" PRIu32 " mappings", shown, map->bands);
    if (shown < map->bands)
        cf_canvas_text_cut(d->p, NAME_X, d->p->height - 18, d->left - 20, cf_pale_ink, words);
    for (uint32_t b = 0; b < shown; b++)
        if (map->band[b].region) {
            heat_page_name(title, sizeof title, map, map->band[b].first + map->band[b].rows - 1);
            d->page_room = fmax(d->page_room, cf_canvas_text_width(d->p, title) + 1);
        }
    return draw_bands(d, shown, room);
}

int heat_picture(const void *what, const struct cf_sheet *sheet, FILE *out)
{
    struct drawing d = {.p = cf_canvas_new(sheet, out), .map = what};
    int status;

    if (!d.p)
        return -1;
    d.narrow = d.p->width < CF_NARROW;
    d.left = d.narrow ? 140 : 240;
    d.width = d.p->width - d.left - 16;
    for (int i = 0; i < 256; i++)
        d.ramp[i] = rgb(cf_heat_colour(i / 255.0));
    status = draw(&d);
    return cf_canvas_finish(d.p) || status ? -1 : 0;
}
