/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * infer_picture.c - the experiments in the form of Figure 1 of "Automatic Cache Modeling by
 * Measurements": misses, or time, of an access by parameter, and where the change is. One file an
 * experiment, or all on one sheet. Memory: that of the canvas.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/infer/infer.h"

enum {
    LEFT = 50,
    RIGHT = 14,
    HEAD = 34,
    FOOT = 44,
    DOT = 4,
    LEAST_HEIGHT = HEAD + FOOT + 40, /* of a panel in which something can be seen */
    PANEL_WIDTH = 450,
    PANEL_HEIGHT = 300
};

static const struct cf_rgb ground = {243, 244, 247}, band = {250, 226, 200}, points = {0, 90, 160};

struct frame {
    double x, y, width, height;
    double least, most; /* parameters at the edges */
    int log;
    double top; /* value at the upper edge */
};

static double across(const struct frame *f, double parameter)
{
    const double at = f->log ? log2(fmax(parameter, f->least) / f->least) / log2(f->most / f->least)
                             : (parameter - f->least) / (f->most - f->least);

    return f->x + f->width * fmin(1, fmax(0, at));
}

static double upright(const struct frame *f, double value)
{
    return f->y + f->height * (1 - value / f->top);
}

static int is_bytes(const struct series *s)
{
    switch (s->is) {
    case X_ASSOCIATIVITY:
    case X_TLB:
    case X_INCLUSION:
    case X_WAYS:
    case X_INDEX:
    case X_SHARE:
    case X_POLICY:
        return 0;
    default:
        return 1;
    }
}

/* "24 KiB" of bytes, else a number. */
static void text_parameter(char *to, size_t size, const struct series *s, double value)
{
    const int bytes = is_bytes(s);

    if (bytes && value >= 1 << 20)
        snprintf(to, size, "%.6g MiB", value / (1 << 20));
    else if (bytes && value >= 1 << 10)
        snprintf(to, size, "%.6g KiB", value / (1 << 10));
    else
        snprintf(to, size, "%.0f%s", value, bytes ? " B" : "");
}

/* Parameters that were searched by doublings need a scale of doublings. */
static void scale(struct frame *f, const struct series *s)
{
    const struct cf_points *p = &s->points;
    size_t far = 0;

    f->least = f->most = (double)p->point[p->count - 1].parameter;
    f->top = 0;
    for (size_t i = 0; i < p->count; i++) {
        const double at = (double)p->point[i].parameter;

        if (at > 0)
            f->least = fmin(f->least, at);
        if (!isnan(p->point[i].value))
            f->top = fmax(f->top, p->point[i].value);
        far += at * 4 > f->most;
    }
    /* most of the points in the upper three quarters: even steps */
    f->log = far * 2 < p->count || f->most > 64 * f->least;
    if (s->is == X_CAPACITY || s->is == X_ASSOCIATIVITY || s->is == X_PAGES)
        f->log = 0;
    if (!f->log)
        f->least = fmin(f->least, (double)p->point[0].parameter);
    if (f->most <= f->least) { /* one point: in the middle */
        f->least = 0;
        f->most = fmax(1, 2 * f->most);
    }
    f->least = f->log ? fmax(f->least, 1) : f->least;
    f->top = f->top > 0 ? f->top * 1.08 : 1;
}

static void draw_axes(struct cf_canvas *p, const struct frame *f, const struct series *s)
{
    const double bottom = f->y + f->height;
    const double up = cf_axis_step(0, f->top, (unsigned)(f->height / 34) + 1);
    double end = 0, along;
    char text[64];

    cf_canvas_box(p, f->x, f->y, f->width, f->height, ground);
    for (double v = 0; v <= f->top * (1 + 1e-9); v += up) {
        cf_canvas_box(p, f->x - 5, upright(f, v), 5, 1, cf_pale_ink);
        cf_canvas_box(p, f->x, upright(f, v), f->width, 1, cf_rule);
        cf_axis_number(text, sizeof text, v, up, f->top);
        cf_canvas_text(p, f->x - 8, upright(f, v) - 4, 1, cf_ink, text);
    }
    along = f->log ? 2 : cf_axis_step(f->least, f->most, (unsigned)(f->width / 70) + 1);
    if (!f->log && is_bytes(s)) /* even numbers of KiB */
        along = exp2(ceil(log2((f->most - f->least) / (f->width / 70 + 1))));
    along = fmax(1, along); /* parameters are whole numbers, and so are their labels */
    for (double v = f->log ? exp2(floor(log2(f->least))) : 0; v <= f->most * (1 + 1e-9);
         v = f->log ? v * along : v + along) {
        if (v < f->least)
            continue;
        text_parameter(text, sizeof text, s, v);
        cf_canvas_mark(p, across(f, v), bottom, text, &end);
    }
    cf_canvas_text(p, f->x + f->width / 2, bottom + 26, 0.5, cf_pale_ink,
                   experiment_kinds[s->is].axis);
}

/* The change lies in the band, whose name says what fits. */
static void draw_change(struct cf_canvas *p, const struct frame *f, const struct series *s)
{
    const struct cf_change *c = &s->change;
    const int any = c->count && c->state != CF_CHANGE_NONE && c->state != CF_CHANGE_FEW;
    const int sure = any && c->confidence >= 0.95;
    double low, high;
    char text[64], said[128];

    if (!any)
        return;
    low = across(f, fmin((double)c->value, (double)c->beyond));
    high = across(f, fmax((double)c->value, (double)c->beyond));
    cf_canvas_box(p, low, f->y, fmax(2, high - low), f->height, band);
    text_parameter(text, sizeof text, s, (double)c->value);
    snprintf(said, sizeof said, sure ? "%s" : "%s? (%.0f %%)", text, 100 * c->confidence);
    cf_canvas_text(p, fmin((low + high) / 2, f->x + f->width - cf_canvas_text_width(p, said) / 2),
                   f->y - 14, 0.5, cf_ink, said);
}

static void draw_points(struct cf_canvas *p, const struct frame *f, const struct series *s)
{
    const struct cf_points *all = &s->points;

    cairo_set_line_width(p->cr, 1.2);
    cf_canvas_colour(p, points);
    cairo_new_path(p->cr);
    for (size_t i = 0; i < all->count; i++)
        if (!isnan(all->point[i].value))
            cairo_line_to(p->cr, across(f, (double)all->point[i].parameter),
                          upright(f, all->point[i].value));
    cairo_stroke(p->cr);
    for (size_t i = 0; i < all->count; i++) {
        const struct cf_point *x = &all->point[i];
        const double at = across(f, (double)x->parameter);

        if (isnan(x->value))
            continue;
        if (all->count < 400)
            cf_canvas_box(p, at - DOT / 2.0, upright(f, x->value) - DOT / 2.0, DOT, DOT, points);
    }
}

static void draw_panel(struct cf_canvas *p, const struct infer *f, const struct series *s,
                       const struct frame *room)
{
    struct frame frame = {.x = room->x + LEFT,
                          .y = room->y + HEAD,
                          .width = room->width - LEFT - RIGHT,
                          .height = fmax(20, room->height - HEAD - FOOT)};
    char name[80], title[160];

    series_name(f, s, name, sizeof name);
    snprintf(title, sizeof title, "%s: %s of an access", name,
             s->points.counted ? "misses"
             : f->unit         ? f->unit
                               : "time");
    cf_canvas_text_cut(p, frame.x, room->y + 8, frame.width, cf_ink, title);
    if (!s->points.good) {
        cf_canvas_box(p, frame.x, frame.y, frame.width, frame.height, ground);
        cf_canvas_text_cut(p, frame.x + 14, frame.y + 20, frame.width - 20, cf_pale_ink,
                           "all measurements are spoilt");
        return;
    }
    scale(&frame, s);
    draw_axes(p, &frame, s);
    draw_change(p, &frame, s);
    draw_points(p, &frame, s);
}

static unsigned columns_of(const struct sheet *s, double width)
{
    const unsigned most = (unsigned)fmax(1, width / (PANEL_WIDTH * 0.6));
    unsigned columns = 1;

    while (columns < most && columns * columns < s->count)
        columns++;
    return columns;
}

static int draw_sheet(const void *what, const struct cf_sheet *sheet, FILE *out)
{
    const struct sheet *s = what;
    struct cf_canvas *p = cf_canvas_new(sheet, out);
    char summary[256], more[80];
    unsigned columns, rows, fit, shown;
    double top, height;

    if (!p)
        return -1;
    snprintf(summary, sizeof summary,
             "%zu measurements, %" PRIu64 " spoilt; shaded: where the "
             "change lies; above it the parameter up to which, or from which on, all fits",
             s->f->rows, s->f->spoilt);
    top = cf_canvas_head(p,
                         s->f->machine ? s->f->machine
                         : s->f->cpu   ? s->f->cpu
                                       : "Measurements",
                         "", summary) +
          4;
    columns = columns_of(s, p->width);
    rows = s->count ? (s->count + columns - 1) / columns : 1;
    fit = (unsigned)fmax(1, (p->height - top - CF_LINE_HEIGHT) / LEAST_HEIGHT);
    shown = fit < rows ? fit * columns : s->count;
    height = fit < rows ? (p->height - top - CF_LINE_HEIGHT) / fit : (p->height - top) / rows;
    for (unsigned i = 0; i < shown; i++) {
        const struct frame room = {.x = p->width / columns * (i % columns),
                                   .y = top + height * (i / columns),
                                   .width = p->width / columns,
                                   .height = height};

        draw_panel(p, s->f, s->series[i], &room);
    }
    snprintf(more, sizeof more, "and %u more, in a larger picture", s->count - shown);
    if (shown < s->count)
        cf_canvas_text_cut(p, 14, p->height - 12, p->width - 28, cf_pale_ink, more);
    if (!s->count)
        cf_canvas_text(p, 14, top + 20, 0, cf_pale_ink, "nothing was measured");
    return cf_canvas_finish(p);
}

static const struct cf_drawings drawings = {.picture = draw_sheet, .html = infer_html};

/* The name of an experiment's own file: a blank is no part of names. */
static char *own_name(const struct infer *f, const struct series *s)
{
    const char *pattern = f->o.output.picture, *percent = strchr(pattern, '%');
    char name[80];

    series_name(f, s, name, sizeof name);
    for (char *c = name; *c; c++)
        if (*c == ' ')
            *c = '-';
    return cf_tool_text(&f->tool, "%.*s%s%s", (int)(percent - pattern), pattern, name, percent + 1);
}

void draw_series(const struct infer *f)
{
    const struct series **all = cf_tool_room(&f->tool, f->count + 1, sizeof *all);
    struct sheet s = {f, all, 0};
    struct cf_output o = f->o.output;
    unsigned columns, rows;

    for (unsigned i = 0; i < f->count; i++)
        if (f->series[i].points.count)
            all[s.count++] = &f->series[i];
    if (o.picture && strchr(o.picture, '%')) {
        struct cf_output each = o;

        each.html = NULL;
        each.sheet.width = each.sheet.width ? each.sheet.width : 900;
        each.sheet.height = each.sheet.height ? each.sheet.height : 540;
        for (unsigned i = 0; i < s.count; i++) {
            const struct sheet one = {f, all + i, 1};

            each.picture = own_name(f, all[i]);
            cf_output_draw(&f->tool, &each, &one, &drawings);
        }
        o.picture = NULL;
    }
    if (!o.sheet.width) {
        columns = columns_of(&s, 3 * PANEL_WIDTH);
        rows = s.count ? (s.count + columns - 1) / columns : 1;
        o.sheet.width = columns > 1 ? columns * PANEL_WIDTH : 900;
        o.sheet.height = columns > 1 ? 60 + rows * PANEL_HEIGHT : 540;
    }
    cf_output_draw(&f->tool, &o, &s, &drawings);
}
