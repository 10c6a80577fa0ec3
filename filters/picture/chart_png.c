/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart_png.c - a chart as a picture: its panels side by side, the legend with mean and greatest
 * value of each series at the right.
 *
 * Areas are drawn column by column; a snapshot that is wider than a column is a step, since nothing
 * is known between two snapshots. Memory: 3 bytes a pixel.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "filters/picture/chart.h"

enum { LEFT = 58, RIGHT = 250, TOP = 76, BOTTOM = 58, BETWEEN = 52 };

struct frame {
    int x, y, width, height;
    double top; /* lines at the upper edge */
};

static int at_height(const struct frame *f, double lines)
{
    return f->y + f->height - (int)lround(lines / f->top * f->height);
}

static void draw_areas(struct cf_canvas *p, const struct cf_chart *c, unsigned k,
                       const struct frame *f)
{
    for (int x = 0; x < f->width; x++) {
        uint32_t from, to, most;
        double sum = 0;

        cf_chart_column(c, (uint32_t)x, (uint32_t)f->width, &from, &to);
        for (unsigned s = 0; s < c->series; s++) {
            const int below = at_height(f, sum);
            int above;

            sum += cf_chart_mean(c, k, s, from, to, &most);
            above = at_height(f, sum);
            cf_canvas_box(p, f->x + x, above, 1, below - above, c->name[s].colour);
        }
    }
}

static void draw_lines(struct cf_canvas *p, const struct cf_chart *c, unsigned k,
                       const struct frame *f)
{
    const int columns = c->points < (uint32_t)f->width ? (int)c->points : f->width;

    /* the first series is the most important one: it lies on top */
    for (unsigned s = c->series; s-- > 0;) {
        double x0 = 0, y0 = 0;

        for (int i = 0; i < columns; i++) {
            uint32_t from, to, most;
            double x, y;

            cf_chart_column(c, (uint32_t)i, (uint32_t)columns, &from, &to);
            x = f->x + (i + 0.5) * f->width / columns;
            y = f->y + f->height - cf_chart_mean(c, k, s, from, to, &most) / f->top * f->height;
            cf_canvas_line(p, i ? x0 : x, i ? y0 : y, x, y, c->name[s].colour);
            x0 = x;
            y0 = y;
        }
    }
}

static void draw_axes(struct cf_canvas *p, const struct cf_chart *c, const struct frame *f)
{
    const double unit = c->whole ? (double)c->whole / 100 : 1;
    const double up = cf_axis_step(0, f->top / unit, (unsigned)f->height / 40);
    const uint32_t along = cf_chart_step(c, (unsigned)f->width / 70);
    const char *title = "snapshot";
    char number[48];
    int before = -40;

    for (double v = 0; v * unit <= f->top * (1 + 1e-9); v += up) {
        const int y = at_height(f, v * unit);

        cf_canvas_box(p, f->x - 5, y, 5, 1, cf_pale_ink);
        if (!c->panel[0].stacked)
            cf_canvas_box(p, f->x, y, f->width, 1, cf_rule);
        if (c->whole)
            snprintf(number, sizeof number, "%g %%", v);
        else
            cf_text_number(number, sizeof number, v);
        cf_canvas_text_right(p, f->x - 8, y - 4, cf_ink, number);
    }
    for (uint32_t i = 0; i < c->points; i++) {
        const int x = f->x + (int)((i + 0.5) * f->width / c->points);
        uint32_t mark;

        if (!cf_chart_mark(c, i, along, &mark) || x < before + 40)
            continue;
        before = x;
        cf_canvas_box(p, x, f->y + f->height, 1, 5, cf_pale_ink);
        snprintf(number, sizeof number, "%" PRIu32, mark);
        cf_canvas_text(p, x - cf_font_width(number, 1) / 2 + 1, f->y + f->height + 9, 1, cf_ink,
                       number);
    }
    cf_canvas_text(p, f->x + (f->width - cf_font_width(title, 1)) / 2, f->y + f->height + 27, 1,
                   cf_pale_ink, title);
}

static void draw_panel(struct cf_canvas *p, const struct cf_chart *c, unsigned k,
                       const struct frame *f)
{
    static const struct cf_rgb ground = {243, 244, 247};

    cf_canvas_text_cut(p, f->x, TOP - 18, f->width, 1, cf_pale_ink, c->panel[k].title);
    cf_canvas_box(p, f->x, f->y, f->width, f->height, ground);
    if (!c->points)
        return;
    if (c->panel[k].stacked)
        draw_areas(p, c, k, f);
    draw_axes(p, c, f);
    if (!c->panel[k].stacked)
        draw_lines(p, c, k, f);
}

static void draw_legend(struct cf_canvas *p, const struct cf_chart *c)
{
    const int x = p->width - RIGHT + 22;
    const int step = c->panels > 1 ? 44 : 30;
    int y = TOP;

    /* in the order in which the areas lie, the uppermost first */
    for (unsigned i = 0; i < c->series; i++, y += step) {
        const unsigned s = c->panel[0].stacked ? c->series - 1 - i : i;

        if (y + step > p->height) {
            cf_canvas_text(p, x, y, 1, cf_pale_ink, "...");
            return;
        }
        cf_canvas_box(p, x, y, 12, 12, c->name[s].colour);
        cf_canvas_text_cut(p, x + 18, y + 2, RIGHT - 50, 1, cf_ink, c->name[s].name);
        for (unsigned k = 0; k < c->panels; k++) {
            char mean[32], largest[32], words[96];
            uint32_t most;

            cf_chart_value(c, mean, sizeof mean, cf_chart_mean(c, k, s, 0, c->points, &most));
            cf_chart_value(c, largest, sizeof largest, most);
            snprintf(words, sizeof words, "%s%s, at most %s",
                     c->panels < 2 ? "mean "
                     : k           ? "reused "
                                   : "active ",
                     mean, largest);
            cf_canvas_text(p, x + 18, y + 15 + 13 * (int)k, 1, cf_pale_ink, words);
        }
    }
}

int cf_chart_png(const struct cf_chart *c, FILE *out, uint32_t width, uint32_t height)
{
    struct cf_canvas *p = cf_canvas_new((int)width, (int)height);
    const int room = (int)width - LEFT - RIGHT - BETWEEN * ((int)c->panels - 1);
    struct frame f = {LEFT, TOP, room / (int)c->panels, (int)height - TOP - BOTTOM, 1};
    int status;

    if (!p)
        return -1;
    f.top = (double)cf_chart_top(c);
    cf_canvas_text(p, 14, 10, 2, cf_ink, c->title);
    if (*c->command)
        cf_canvas_text_cut(p, 28 + cf_font_width(c->title, 2), 18,
                           p->width - cf_font_width(c->title, 2) - 40, 1, cf_pale_ink, c->command);
    cf_canvas_text_cut(p, 14, 38, p->width - 24, 1, cf_pale_ink, c->summary);
    for (unsigned k = 0; k < c->panels; k++, f.x += f.width + BETWEEN)
        draw_panel(p, c, k, &f);
    if (c->points)
        draw_legend(p, c);
    else
        cf_canvas_text(p, LEFT + 20, TOP + 40, 2, cf_pale_ink, "no snapshot");
    status = cf_canvas_png(p, out);
    cf_canvas_free(p);
    return status;
}
