/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.h - values of several series over a row of snapshots, as areas that lie one on the other or
 * as lines, or over sizes of caches, as lines; on a canvas, a terminal or a page. Over anything
 * that has names, as bars or lines; on a canvas.
 *
 * A series is a process, as a rule; a point is a snapshot or a size. Where the whole is known, such
 * as the lines of the cache, the axis is labelled in percent of it.
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
    int stacked;         /* areas, the first series below; else a line each */
    const double *value; /* of series s at point p: value[s * points + p]; NAN for none, of lines */
    /* of points with names: */
    const double *spread; /* the first series may be as much more or less; or NULL */
    double level;         /* a dashed line across at this value; 0 = none */
};

/* A size that is marked, such as that of a machine's cache. */
struct cf_chart_sign {
    double size; /* bytes */
    const char *name;
};

struct cf_chart {
    const char *title, *command; /* command: what was observed, or "" */
    char summary[256];
    unsigned series, panels;
    uint32_t points;
    uint64_t whole; /* what 100 percent are, 0 = not known */
    const struct cf_chart_series *name;
    const uint32_t *snapshot; /* number of each point; or NULL, and then */
    const uint64_t *time;     /* of each snapshot, rising; NULL where it is not known */
    const char *unit;         /* of the times */
    /* Whether point p is a snapshot of series s itself, and not one of another's stream:
       own[s * points + p]; NULL where all are. */
    const uint8_t *own;
    const double *size;       /* of the cache at each point, in bytes, rising; on a log scale */
    const char *const *label; /* or the name of each point, such as a way, */
    const char *const *group; /* and of what it is of, such as a machine; NULL for none */
    const char *axis;         /* what the names are */
    unsigned signs;
    const struct cf_chart_sign *sign; /* rising */
    struct cf_chart_panel panel[CF_CHART_PANELS];
};

/* The summary, which also says where series share a colour. Returns `out`. */
enum { CF_CHART_SUMMARY = 320 };
const char *cf_chart_summary(const struct cf_chart *c, char out[CF_CHART_SUMMARY]);

/* Where the axis ends: a round value above all others; more than 0. */
double cf_chart_top(const struct cf_chart *c);

/* Points [*from, *to) that column x of `width` shows, at least one. */
void cf_chart_column(const struct cf_chart *c, uint32_t x, uint32_t width, uint32_t *from,
                     uint32_t *to);

/* Where point i begins, from 0 at the left to 1: each ends at its time. */
double cf_chart_place(const struct cf_chart *c, uint32_t i);

/* The time at which the first point begins: as long before its end as the second takes. */
uint64_t cf_chart_start(const struct cf_chart *c);

/* Marks of the axis of snapshots: their step, for at most about `marks` of them, and whether point
   i gets one: the first of another stream always does. */
uint32_t cf_chart_step(const struct cf_chart *c, unsigned marks);
int cf_chart_mark(const struct cf_chart *c, uint32_t i, uint32_t step);

/* Mean of a series over those of the points [from, to) where it has a value, and the largest of
   these; NAN where it has none. */
double cf_chart_mean(const struct cf_chart *c, unsigned panel, unsigned series, uint32_t from,
                     uint32_t to, double *most);

/* The same of all snapshots that are its own. */
double cf_chart_mean_own(const struct cf_chart *c, unsigned panel, unsigned series, double *most);

/* "12.3 %" of the whole, of little "0.0012 %", or "1.2 k". */
void cf_chart_value(const struct cf_chart *c, char *out, size_t size, double value);

/* Of a struct cf_chart. 0, or -1 when `out` could not be written or memory is short. */
int cf_chart_picture(const void *chart, const struct cf_sheet *sheet, FILE *out) CF_MUST_CHECK;
int cf_chart_html(const void *chart, FILE *out) CF_MUST_CHECK;
extern const struct cf_drawings cf_chart_drawings; /* those two, for cf_output_draw() */
int cf_chart_term(const void *chart, FILE *out, const struct cf_terminal *t) CF_MUST_CHECK;

/* ---- a ranking (bars.c) ---- */

struct cf_bars {
    const char *title;
    char summary[256];
    size_t count, all; /* given; and how many the ranking has */
    const char *const *name;
    const double *value; /* none greater than the one before it */
    double total;        /* what shares are of */
};

int cf_bars_picture(const void *bars, const struct cf_sheet *sheet, FILE *out) CF_MUST_CHECK;

#endif
