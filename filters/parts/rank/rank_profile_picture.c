/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_profile_picture.c - a profile as a picture: what each page gains, the greatest first, with
 * the least and most of its runs ("Governing with Insights", Figs. 6 and 7), and where it has runs
 * of the best k pages, the runtime by k (Figs. 8 and 9). Memory: that of the canvas.
 */
#include <math.h>
#include <string.h>

#include "filters/parts/rank/rank.h"

enum { LEFT = 62, RIGHT = 14, GAP = 66, MOST_REGIONS = 8 };

struct panel {
    struct cf_canvas *p;
    double x, y, width, height;
    double low, top; /* percent at the lower edge, 0 or less, and at the upper one */
};

/* Regions by colours: those that come first have one of their own. */
struct regions {
    const char *name[MOST_REGIONS];
    struct cf_rgb colour[MOST_REGIONS];
    unsigned count;
};

static double at(const struct panel *f, double percent)
{
    return f->y + f->height * (f->top - fmin(fmax(percent, f->low), f->top)) / (f->top - f->low);
}

/* Ground, marks of the axis and titles; `least`, 0 or less, and `most` have to fit, `last` stands
   at the right end. */
static void frame(struct panel *f, double least, double most, size_t last, const char *upright,
                  const char *level)
{
    static const struct cf_rgb ground = {243, 244, 247};
    const double step =
        cf_axis_step(least, most > least ? most : 1, (unsigned)(f->height / 34) + 1);
    const double along = fmax(1, cf_axis_step(0, (double)last, (unsigned)(f->width / 70) + 1));
    char number[48];
    double end = 0;

    f->low = floor(least / step + 1e-9) * step;
    f->top = most > least ? ceil(most / step - 1e-9) * step : 1;
    cf_canvas_text_cut(f->p, f->x, f->y - 14, f->width, cf_pale_ink, upright);
    cf_canvas_box(f->p, f->x, f->y, f->width, f->height, ground);
    for (double k = round(f->low / step); k * step <= f->top * (1 + 1e-9); k++) {
        const double v = k * step;

        cf_axis_number(number, sizeof number, v, step, f->top);
        strncat(number, " %", sizeof number - strlen(number) - 1);
        cf_canvas_box(f->p, f->x, at(f, v), f->width, 1, cf_rule);
        cf_canvas_text(f->p, f->x - 8, at(f, v) - 4, 1, cf_ink, number);
    }
    for (double v = 0; v <= (double)last; v += along) {
        cf_axis_number(number, sizeof number, v, along, (double)last);
        cf_canvas_mark(f->p, f->x + f->width * v / (double)last, f->y + f->height, number, &end);
    }
    cf_canvas_text(f->p, f->x + f->width / 2, f->y + f->height + 26, 0.5, cf_pale_ink, level);
}

/* The place of the region's colour; the last is that of all that have none. */
static unsigned region(struct regions *r, const char *name)
{
    const unsigned last = MOST_REGIONS - 1;
    unsigned i = 0;

    while (i < r->count && strcmp(r->name[i], name) != 0)
        i++;
    i = i < last ? i : last;
    if (i == r->count) {
        r->name[i] = i == last ? "others" : name;
        r->colour[i] = cf_series_colour(i == last                     ? i + 2
                                        : !strncmp(name, "[stack", 6) ? 1
                                        : !strncmp(name, "[heap", 5)  ? 0
                                                                      : i + 2);
        r->count++;
    }
    return i;
}

/* Without the folders of a path. */
static const char *short_name(const char *region)
{
    const char *slash = *region == '/' ? strrchr(region, '/') : NULL;

    return slash ? slash + 1 : region;
}

/* At the right, as many as there is room for. */
static void legend(const struct panel *f, const struct regions *r)
{
    enum { SWATCH = 16, NAME = 150, BETWEEN = 14 };
    double width[MOST_REGIONS], all = 0, x;
    unsigned fit = 0;

    for (; fit < r->count; fit++) {
        width[fit] =
            fmin(cf_canvas_text_width(f->p, short_name(r->name[fit])), NAME) + SWATCH + BETWEEN;
        if (all + width[fit] > f->width)
            break;
        all += width[fit];
    }
    x = f->x + f->width - all;
    for (unsigned i = 0; i < fit; x += width[i++]) {
        cf_canvas_box(f->p, x, f->y + 6, 11, 11, r->colour[i]);
        cf_canvas_text_cut(f->p, x + SWATCH, f->y + 8, width[i] - SWATCH - BETWEEN, cf_ink,
                           short_name(r->name[i]));
    }
}

/* A bar a page, or where they would be narrower than a dot, one of the first of several. */
static void draw_gains(struct panel *f, const struct rank_drawing *d)
{
    const struct cf_profile *p = d->profile;
    const double base = cf_runtimes_mean(p->mode == CF_PAGES_ONLY ? &p->none : &p->all);
    const size_t count = d->bars.count;
    const uint32_t dots = cf_canvas_dots(f->p, f->width);
    const size_t columns = count < dots ? count : dots;
    const double slot = f->width / (double)(columns ? columns : 1),
                 unit = base > 0 ? 100 / base : 0;
    struct regions regions = {.count = 0};
    double least = 0, most = 0;

    for (size_t i = 0; i < count; i++) {
        least = fmin(least, unit * p->page[i].gain_least);
        most = fmax(most, unit * p->page[i].gain_most);
    }
    frame(f, least, most, count ? count : 1,
          p->mode == CF_PAGES_ONLY
              ? "gain of each page, in percent of the runtime with no page cached"
              : "cost of each page's lack, in percent of the runtime with all pages cached",
          "pages, the most important first");
    for (size_t c = 0; c < columns; c++) {
        const struct cf_profile_page *g = &p->page[c * count / columns];
        const double x = f->x + (double)c * slot, y = at(f, unit * g->gain);
        const double low = at(f, unit * g->gain_least), high = at(f, unit * g->gain_most);

        cf_canvas_box(f->p, x, fmin(y, at(f, 0)), slot > 3 ? slot - 1 : slot, fabs(at(f, 0) - y),
                      regions.colour[region(&regions, g->region)]);
        if (slot < 4 || low - high < 1)
            continue;
        cf_canvas_box(f->p, x + slot / 2 - 1, high, 1, low - high, cf_ink);
        cf_canvas_box(f->p, x + slot / 4, high, slot / 2, 1, cf_ink);
        cf_canvas_box(f->p, x + slot / 4, low, slot / 2, 1, cf_ink);
    }
    legend(f, &regions);
}

static void line(const struct panel *f, const struct cf_runtimes *run, size_t runs, double last,
                 double unit, struct cf_rgb colour)
{
    cairo_set_line_width(f->p->cr, 1.6);
    for (size_t k = 0; k < runs; k++)
        if (run[k].count)
            cairo_line_to(f->p->cr, f->x + f->width * (double)k / last,
                          at(f, unit * cf_runtimes_mean(&run[k])));
    cf_canvas_colour(f->p, colour);
    cairo_stroke(f->p->cr);
    for (size_t k = 0; k < runs; k++)
        if (run[k].count > 1)
            cf_canvas_box(
                f->p, f->x + f->width * (double)k / last, at(f, unit * (double)run[k].most), 1,
                at(f, unit * (double)run[k].least) - at(f, unit * (double)run[k].most), colour);
}

/* The runtime by the number of pages cached, and of those moved. */
static void draw_runs(struct panel *f, const struct rank_drawing *d)
{
    const struct cf_profile *p = d->profile;
    const size_t runs = p->ks > p->moves ? p->ks : p->moves;
    const double last = (double)(runs > 1 ? runs - 1 : 1);
    const struct cf_runtimes *base = &p->none;
    const struct regions curves = {
        {"cached", "moved"}, {cf_series_colour(0), cf_series_colour(1)}, p->ks && p->moves ? 2 : 0};
    double most = 0, unit;

    for (size_t k = 0; k < runs && !base->count; k++)
        base = k < p->ks && p->best[k].count       ? &p->best[k]
               : k < p->moves && p->moved[k].count ? &p->moved[k]
                                                   : base;
    unit = cf_runtimes_mean(base) > 0 ? 100 / cf_runtimes_mean(base) : 0;
    for (size_t k = 0; k < runs; k++)
        most = fmax(most, unit * fmax(k < p->ks ? (double)p->best[k].most : 0,
                                      k < p->moves ? (double)p->moved[k].most : 0));
    frame(f, 0, most, (size_t)last,
          p->none.count ? "runtime, in percent of that with no page cached"
                        : "runtime, in percent of the first",
          curves.count ? "best pages that are cached or moved"
          : p->ks      ? "best pages that are cached"
                       : "best pages that are moved");
    if (p->all.count)
        for (double x = f->x; x < f->x + f->width; x += 10)
            cf_canvas_box(f->p, x, at(f, unit * cf_runtimes_mean(&p->all)),
                          fmin(6, f->x + f->width - x), 1, cf_pale_ink);
    if (d->set_by_run && (double)d->set <= last) {
        const double x = f->x + f->width * (double)d->set / last;
        char words[64];

        snprintf(words, sizeof words, "working set: %zu", d->set);
        cf_canvas_box(f->p, x, f->y, 1, f->height, cf_pale_ink);
        cf_canvas_text(f->p, x > f->x + f->width / 2 ? x - 5 : x + 5, f->y + 8,
                       x > f->x + f->width / 2, cf_pale_ink, words);
    }
    line(f, p->best, p->ks, last, unit, cf_series_colour(0));
    line(f, p->moved, p->moves, last, unit, cf_series_colour(1));
    legend(f, &curves);
}

int rank_profile_picture(const void *what, const struct cf_sheet *sheet, FILE *out)
{
    const struct rank_drawing *d = what;
    const int curve = d->profile->ks || d->profile->moves;
    struct panel f = {.p = cf_canvas_new(sheet, out)};
    double y, room;

    if (!f.p)
        return -1;
    y = cf_canvas_head(f.p, d->bars.title, "", d->bars.summary) + 26;
    room = f.p->height - y - 42;
    f.x = LEFT;
    f.y = y;
    f.width = f.p->width - LEFT - RIGHT;
    f.height = fmax(20, curve ? (room - GAP) / 2 : room);
    draw_gains(&f, d);
    if (curve) {
        f.y = y + f.height + GAP;
        draw_runs(&f, d);
    }
    return cf_canvas_finish(f.p);
}
