/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart_picture.c - a chart as a picture: its panels side by side, and the legend at the right,
 * with mean and greatest value of each series, or below where the picture is narrow.
 *
 * A snapshot is a step of an area, since nothing is known between two snapshots. Memory: that of
 * the canvas.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filters/picture/chart.h"

enum { LEFT = 50, RIGHT = 228, BOTTOM = 46, SWATCH = 16, BETWEEN = 14, DOT = 6, LEAST = 20 };

/* On both sides of a bar, of its room. */
static const double GAP = 0.14;

struct frame {
    double x, y, width, height;
    double top; /* lines at the upper edge */
};

static double at_height(const struct frame *f, double lines)
{
    return f->y + f->height - lines / f->top * f->height;
}

static double at_size(const struct cf_chart *c, const struct frame *f, double size)
{
    const double least = c->size[0], range = log2(c->size[c->points - 1] / least);

    return range > 0 ? f->x + f->width * log2(size / least) / range : f->x + f->width / 2;
}

/* Areas from the uppermost down, each covering what lies below it, or lines. */
static void draw_series(struct cf_canvas *p, const struct cf_chart *c, unsigned k,
                        const struct frame *f)
{
    const uint32_t dots = cf_canvas_dots(p, f->width),
                   columns = c->points < dots ? c->points : dots;
    const double bottom = f->y + f->height;
    const int areas = c->panel[k].stacked;

    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_ROUND); /* a single point is a dot */
    /* the first series is the most important one: its line lies on top */
    for (unsigned s = c->series; s-- > 0;) {
        uint32_t drawn = 0;

        for (uint32_t i = 0; i < columns; i++) {
            uint32_t from, to;
            double sum = 0, most, y, left, right;

            cf_chart_column(c, i, columns, &from, &to);
            left = f->x + f->width * cf_chart_place(c, from);
            right = f->x + f->width * cf_chart_place(c, to);
            if (!areas)
                left = right = c->size ? at_size(c, f, c->size[from]) : (left + right) / 2;
            for (unsigned below = areas ? 0 : s; below <= s; below++)
                sum += cf_chart_mean(c, k, below, from, to, &most);
            y = at_height(f, sum);
            if (isnan(y)) {
                if (!c->size) /* of another stream, and no size that this series does not have */
                    cairo_new_sub_path(p->cr);
                continue;
            }
            drawn++;
            if (areas && c->label) { /* bars: with something between them */
                const double gap = (right - left) * GAP;

                left += gap;
                right -= gap;
                cairo_line_to(p->cr, left, bottom);
            }
            cairo_line_to(p->cr, left, y);
            cairo_line_to(p->cr, right, y);
            if (areas && c->label)
                cairo_line_to(p->cr, right, bottom);
        }
        cf_canvas_colour(p, c->name[s].colour);
        if (!areas) {
            cairo_set_line_width(p->cr, drawn > 1 ? 1.6 : DOT);
            cairo_stroke(p->cr);
            continue;
        }
        cairo_line_to(p->cr, f->x + f->width, bottom);
        cairo_line_to(p->cr, f->x, bottom);
        cairo_fill(p->cr);
    }
}

/* Over bars their height, or what it may differ by. */
static void draw_heights(struct cf_canvas *p, const struct cf_chart *c, unsigned k,
                         const struct frame *f)
{
    const double slot = f->width / c->points, *spread = c->panel[k].spread;

    for (uint32_t i = 0; i < c->points; i++) {
        const double x = f->x + (i + 0.5) * slot;
        double sum = 0, most;
        char number[48];

        for (unsigned s = 0; s < c->series; s++)
            sum += cf_chart_mean(c, k, s, i, i + 1, &most);
        if (spread) {
            const double low = at_height(f, fmax(0, sum - spread[i])),
                         high = at_height(f, sum + spread[i]);

            cf_canvas_box(p, x, high, 1, low - high, cf_ink);
            cf_canvas_box(p, x - 3, high, 7, 1, cf_ink);
            cf_canvas_box(p, x - 3, low, 7, 1, cf_ink);
            continue;
        }
        cf_chart_value(c, number, sizeof number, sum);
        if (cf_canvas_text_width(p, number) < slot - 2)
            cf_canvas_text(p, x, at_height(f, sum) - 14, 0.5, cf_ink, number);
    }
    if (c->panel[k].level > 0) {
        const double y = at_height(f, c->panel[k].level);

        for (double x = f->x; x < f->x + f->width; x += 10)
            cf_canvas_box(p, x, y, fmin(6, f->x + f->width - x), 1.6, cf_ink);
    }
}

static void draw_upright(struct cf_canvas *p, const struct cf_chart *c, const struct frame *f)
{
    const double unit = c->whole ? (double)c->whole / 100 : 1;
    /* one that is beyond the axis leaves its upper end */
    const double step =
        fmin(cf_axis_step(0, f->top / unit, (unsigned)(f->height / 34) + 1), f->top / unit);
    char number[48];

    for (double v = 0; v * unit <= f->top * (1 + 1e-9); v += step) {
        const double y = at_height(f, v * unit);

        cf_canvas_box(p, f->x - 5, y, 5, 1, cf_pale_ink);
        cf_canvas_box(p, f->x, y, f->width, 1, cf_rule);
        if (c->whole)
            snprintf(number, sizeof number, "%g %%", v);
        else
            cf_axis_number(number, sizeof number, v, step, f->top);
        cf_canvas_text(p, f->x - 8, y - 4, 1, cf_ink, number);
    }
}

static void draw_level(struct cf_canvas *p, const struct cf_chart *c, const struct frame *f)
{
    const double bottom = f->y + f->height;
    double end = 0;
    char number[48];
    uint32_t along;

    if (c->time) {
        cf_canvas_time(p, f->x, f->width, bottom, cf_chart_start(c), c->time[c->points - 1],
                       c->unit);
        return;
    }
    snprintf(number, sizeof number, "%" PRIu32, c->snapshot[c->points - 1]);
    along = cf_chart_step(c, (unsigned)(f->width / (cf_canvas_text_width(p, number) + BETWEEN)));
    for (uint32_t i = 0; i < c->points; i++) {
        if (!cf_chart_mark(c, i, along))
            continue;
        snprintf(number, sizeof number, "%" PRIu32, c->snapshot[i]);
        cf_canvas_mark(p, f->x + (i + 0.5) * f->width / c->points, bottom, number, &end);
    }
    cf_canvas_text(p, f->x + f->width / 2, bottom + 26, 0.5, cf_pale_ink, "snapshot");
}

static void text_within(struct cf_canvas *p, double x, double y, double room, const char *text)
{
    const double width = fmin(cf_canvas_text_width(p, text), room);

    cf_canvas_text_cut(p, x - width / 2, y, width, cf_ink, text);
}

/* A name in two lines, the last word in the second, or as much of its beginning as fits. */
static void draw_name(struct cf_canvas *p, double x, double y, double room, const char *name)
{
    const char *blank = strrchr(name, ' ');
    char first[64], last[64];

    snprintf(first, sizeof first, "%.*s", blank ? (int)(blank - name) : 60, name);
    cf_canvas_box(p, x, y, 1, 5, cf_pale_ink);
    text_within(p, x, y + 7, room, first);
    if (!blank)
        return;
    snprintf(last, sizeof last, "%s", blank + 1);
    for (size_t n = strlen(last); n && cf_canvas_text_width(p, last) > room;)
        last[--n] = '\0';
    text_within(p, x, y + 18, room, last);
}

/* The names of points, and once below those of a group what they are of. */
static void draw_names(struct cf_canvas *p, const struct cf_chart *c, const struct frame *f)
{
    const double bottom = f->y + f->height, slot = f->width / c->points;
    double end = 0;
    int wide = 0;

    for (uint32_t i = 0; c->group && i < c->points; i++)
        wide |= cf_canvas_text_width(p, c->label[i]) > slot - 6;
    for (uint32_t i = 0, first = 0; i < c->points; i++) {
        if (wide)
            draw_name(p, f->x + (i + 0.5) * slot, bottom, slot - 4, c->label[i]);
        else
            cf_canvas_mark(p, f->x + (i + 0.5) * slot, bottom, c->label[i], &end);
        if (!c->group || (i + 1 < c->points && !strcmp(c->group[i], c->group[i + 1])))
            continue;
        text_within(p, f->x + (first + i + 1) * slot / 2, bottom + (wide ? 31 : 26),
                    (i + 1 - first) * slot - 6, c->group[i]);
        if (first)
            cf_canvas_box(p, f->x + first * slot, f->y, 1, f->height + 38, cf_rule);
        first = i + 1;
    }
    if (!c->group)
        cf_canvas_text(p, f->x + f->width / 2, bottom + 26, 0.5, cf_pale_ink, c->axis);
}

static void mark_size(struct cf_canvas *p, const struct cf_chart *c, const struct frame *f,
                      double size, double *end)
{
    const double x = at_size(c, f, size);
    char number[32];
    int unit = 0;

    for (; size >= 1024 && fmod(size, 1024) == 0 && unit < 6; unit++)
        size /= 1024;
    snprintf(number, sizeof number, "%.0f%c", size, " KMGTPE"[unit]);
    cf_canvas_mark(p, x, f->y + f->height, number, end);
}

/* Powers of two, or, where they are fewer than two, the points; and the sizes that are marked. */
static void draw_sizes(struct cf_canvas *p, const struct cf_chart *c, const struct frame *f)
{
    const double last = c->size[c->points - 1], bottom = f->y + f->height;
    const int doublings = (int)(log2(last / c->size[0]) / (f->width / 56)) + 1;
    const int least = (int)ceil(log2(c->size[0])), most = (int)floor(log2(last));
    const int powers = most / doublings - (least - 1) / doublings;
    double end = 0, row = 0;

    for (int k = least; powers > 1 && k <= most; k++)
        if (k % doublings == 0)
            mark_size(p, c, f, exp2(k), &end);
    for (uint32_t i = 0; powers < 2 && i < c->points; i++)
        mark_size(p, c, f, c->size[i], &end);
    cf_canvas_text(p, f->x + f->width / 2, bottom + 26, 0.5, cf_pale_ink, "cache size (bytes)");
    end = 0;
    for (unsigned i = 0; i < c->signs; i++) {
        const double x = at_size(c, f, c->sign[i].size);
        const double width = cf_canvas_text_width(p, c->sign[i].name) + 4;
        const double from = fmin(x + 4, f->x + f->width - width);

        if (c->sign[i].size < c->size[0] || c->sign[i].size > last)
            continue;
        row = from < end ? row + CF_LINE_HEIGHT : 0;
        end = from + width;
        cf_canvas_box(p, x, f->y, 1, f->height, cf_pale_ink);
        cf_canvas_text(p, from, f->y + 4 + row, 0, cf_pale_ink, c->sign[i].name);
    }
}

static void draw_panel(struct cf_canvas *p, const struct cf_chart *c, unsigned k,
                       const struct frame *f)
{
    static const struct cf_rgb ground = {243, 244, 247};

    cf_canvas_box(p, f->x, f->y, f->width, f->height, ground);
    if (!c->points) {
        cf_canvas_text_cut(p, f->x + 14, f->y + 20, f->width - 20, cf_pale_ink,
                           c->size || c->label ? "nothing was counted" : "no snapshot");
        return;
    }
    draw_upright(p, c, f);
    (c->label ? draw_names : c->size ? draw_sizes : draw_level)(p, c, f);
    draw_series(p, c, k, f);
    if (c->label && c->panel[k].stacked)
        draw_heights(p, c, k, f);
}

/* What the legend says of a series in panel k. */
static void describe(const struct cf_chart *c, unsigned s, unsigned k, char *words, size_t size)
{
    char mean[32], largest[32];
    double most;

    cf_chart_value(c, mean, sizeof mean, cf_chart_mean_own(c, k, s, &most));
    cf_chart_value(c, largest, sizeof largest, most);
    snprintf(words, size, "%s%s, at most %s",
             c->panels < 2 ? "mean "
             : k           ? "reused "
                           : "active ",
             mean, largest);
}

/* The legend: below each other at the right, or in rows; at most down to `bottom`, where the last
   says how many more there are. Without `draw` only its height. */
static double draw_legend(struct cf_canvas *p, const struct cf_chart *c, double y, double bottom,
                          int draw)
{
    const int rows = p->width < CF_NARROW;
    const double left = rows ? 12 : p->width - RIGHT + 22, right = p->width - 8, top = y;
    const int values = !c->size && !c->label;
    const double full = CF_LINE_HEIGHT * (values ? 1 + c->panels : 1) + 2;
    const double step = rows || full * c->series > bottom - y ? CF_LINE_HEIGHT : full;
    double x = left;

    /* in the order in which the areas lie, the uppermost first */
    for (unsigned i = 0; i < c->series; i++) {
        const unsigned s = c->panel[0].stacked ? c->series - 1 - i : i;
        const double room =
            rows ? fmin(cf_canvas_text_width(p, c->name[s].name), 170) : right - left - SWATCH;
        const int last = y + 2 * step > bottom, ends = x + SWATCH + room + 80 > right;
        char words[96];

        if (i + 1 < c->series && last && ends) {
            snprintf(words, sizeof words, "and %u more", c->series - i);
            if (draw)
                cf_canvas_text(p, x, y, 0, cf_pale_ink, words);
            return y + step - top;
        }
        if (x > left && x + SWATCH + room > right) {
            x = left;
            y += step;
        }
        if (draw) {
            cf_canvas_box(p, x, y - 2, 11, 11, c->name[s].colour);
            cf_canvas_text_cut(p, x + SWATCH, y, room, cf_ink, c->name[s].name);
        }
        for (unsigned k = 0; draw && step == full && values && k < c->panels; k++) {
            describe(c, s, k, words, sizeof words);
            cf_canvas_text(p, x + SWATCH, y + CF_LINE_HEIGHT * (1 + k), 0, cf_pale_ink, words);
        }
        x += rows ? SWATCH + room + 12 : 0;
        y += rows ? 0 : step;
    }
    return (x > left ? y + step : y) - top;
}

/* The upper edge lies above the highest bar as far as its number takes. */
static void leave_room(const struct cf_chart *c, struct frame *f)
{
    double sum, most;

    for (unsigned k = 0; c->label && k < c->panels; k++)
        for (uint32_t i = 0; i < c->points && c->panel[k].stacked && !c->panel[k].spread; i++) {
            sum = 0;
            for (unsigned s = 0; s < c->series; s++)
                sum += cf_chart_mean(c, k, s, i, i + 1, &most);
            f->top = fmax(f->top, sum / (1 - 15 / f->height));
        }
}

int cf_chart_picture(const void *chart, const struct cf_sheet *sheet, FILE *out)
{
    const struct cf_chart *c = chart;
    struct cf_canvas *p = cf_canvas_new(sheet, out);
    struct frame f = {.top = cf_chart_top(c)};
    double y, words = 0, legend = 0;
    char summary[CF_CHART_SUMMARY];

    if (!p)
        return -1;
    f.width = p->width - (p->width < CF_NARROW ? 12 : RIGHT);
    f.width = (f.width - (LEFT + 4) * c->panels) / c->panels;
    y = cf_canvas_head(p, c->title, c->command, cf_chart_summary(c, summary)) + 8;
    /* over the panels what they show, in as many lines as the longest takes */
    for (unsigned k = 0; k < c->panels; k++)
        words = fmax(words, cf_canvas_paragraph(p, LEFT + k * (f.width + LEFT + 4), y, f.width,
                                                cf_pale_ink, 0, c->panel[k].title));
    f.y = y + words;
    if (p->width < CF_NARROW)
        legend =
            draw_legend(p, c, 0, fmin(p->height * 0.25, p->height - f.y - BOTTOM - LEAST - 4), 0) +
            4;
    f.height = fmax(LEAST, p->height - f.y - BOTTOM - legend);
    leave_room(c, &f);
    for (unsigned k = 0; k < c->panels; k++) {
        f.x = LEFT + k * (f.width + LEFT + 4);
        draw_panel(p, c, k, &f);
    }
    draw_legend(p, c, legend > 0 ? p->height - legend : f.y, p->height, 1);
    return cf_canvas_finish(p);
}
