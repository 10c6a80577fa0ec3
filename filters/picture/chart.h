/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.h - counts of several series over a row of snapshots: as areas that lie one on the other,
 * or as lines; on canvas, terminal or page.
 *
 * A series is a process, as a rule; a point is a snapshot. The axis goes up to the lines of the
 * whole cache where these are known and nothing exceeds them, and is labelled in percent of them.
 */
#ifndef CF_CHART_H
#define CF_CHART_H

#include "filters/picture/output.h"

enum { CF_CHART_PANELS = 2 };

struct cf_chart_series {
    const char *name;
    struct cf_rgb colour;
};

/* Stands beside the others, with the same series, points and axis. */
struct cf_chart_panel {
    const char *title;
    int stacked;           /* areas, the first series below; else a line each */
    const uint32_t *lines; /* of series s at point p: lines[s * points + p] */
};

struct cf_chart {
    const char *title, *command; /* command: what was observed, or "" */
    char summary[256];
    unsigned series, panels;
    uint32_t points;
    uint64_t whole; /* lines of the cache, 0 = not known */
    const struct cf_chart_series *name;
    const uint32_t *snapshot; /* number of each point */
    struct cf_chart_panel panel[CF_CHART_PANELS];
};

/* Where the axis ends, in lines; at least 1. */
uint64_t cf_chart_top(const struct cf_chart *c);

/* Points [*from, *to) that column x of `width` shows, at least one. */
void cf_chart_column(const struct cf_chart *c, uint32_t x, uint32_t width, uint32_t *from,
                     uint32_t *to);

/* Marks of the axis of snapshots: their step, for at most about `marks` of them, and whether point
   i gets one, with the number that stands there: the first of another stream always does. */
uint32_t cf_chart_step(const struct cf_chart *c, unsigned marks);
int cf_chart_mark(const struct cf_chart *c, uint32_t i, uint32_t step, uint32_t *mark);

/* Mean of a series over points [from, to), in lines, and its largest value. */
double cf_chart_mean(const struct cf_chart *c, unsigned panel, unsigned series, uint32_t from,
                     uint32_t to, uint32_t *most);

/* "12.3 %" of the cache, or "1.2 k" lines. */
void cf_chart_value(const struct cf_chart *c, char *out, size_t size, double lines);

/* 0, or -1 when `out` could not be written or memory is short. */
int cf_chart_png(const struct cf_chart *c, FILE *out, uint32_t width,
                 uint32_t height) CF_MUST_CHECK;
int cf_chart_html(const struct cf_chart *c, FILE *out) CF_MUST_CHECK;
int cf_chart_term(const struct cf_chart *c, FILE *out, const struct cf_terminal *t) CF_MUST_CHECK;

/* Writes the picture and the page that were asked for; exits when that fails. */
void cf_chart_files(const struct cf_tool *t, const struct cf_output *o, const struct cf_chart *c);

#endif
