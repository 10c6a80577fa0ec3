/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart_term.c - a chart of areas for a terminal: its first panel, below it the snapshots, and the
 * legend.
 *
 * With colours and UTF-8 a character shows two heights by its halves; with colours alone one, by a
 * blank; without colours one, by the letter that the legend gives the series. Memory: one number a
 * column and series.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/picture/chart.h"

enum { GUTTER = 8, LETTERS = 26 };

static const struct cf_rgb ground = {40, 42, 52};

/* The series that is at a height of column x, c->series where none is. */
static unsigned series_at(const struct cf_chart *c, const double *upto, uint32_t x, double lines)
{
    unsigned s = 0;

    while (s < c->series && upto[(size_t)x * c->series + s] <= lines)
        s++;
    return s;
}

static struct cf_rgb colour_of(const struct cf_chart *c, unsigned s)
{
    return s < c->series ? c->name[s].colour : ground;
}

static void put_height(const struct cf_chart *c, char *out, size_t size, double value, double top)
{
    if (c->whole)
        cf_chart_value(c, out, size, value);
    else
        cf_axis_number(out, size, value, top / 10, top);
}

static void put_row(const struct cf_chart *c, FILE *out, const struct cf_terminal *t,
                    const double *upto, uint32_t width, double low, double step)
{
    unsigned last_upper = UINT32_MAX, last_lower = UINT32_MAX;

    for (uint32_t x = 0; x < width; x++) {
        const double middle = t->colours && t->utf8 ? step / 4 : step / 2;
        const unsigned lower = series_at(c, upto, x, low + middle);
        const unsigned upper = series_at(c, upto, x, low + step - middle);

        if (!t->colours) {
            fputc(lower < c->series ? 'A' + (int)(lower % LETTERS) : ' ', out);
            continue;
        }
        if (lower != last_lower)
            cf_terminal_colour(out, t, 1, colour_of(c, lower));
        if (t->utf8 && upper != last_upper)
            cf_terminal_colour(out, t, 0, colour_of(c, upper));
        last_lower = lower;
        last_upper = upper;
        fputs(t->utf8 ? "\xe2\x96\x80" : " ", out);
    }
    fputs(t->colours ? "\33[0m\n" : "\n", out);
}

static void put_axis(const struct cf_chart *c, FILE *out, uint32_t width)
{
    const uint32_t step = cf_chart_step(c, width / 10);
    unsigned at = 0;

    fprintf(out, "%*s", GUTTER, "");
    for (uint32_t i = 0; i < c->points; i++) {
        const unsigned x = (unsigned)((i + 0.5) * width / c->points);
        char number[24];
        unsigned n;

        if (!cf_chart_mark(c, i, step))
            continue;
        n = (unsigned)snprintf(number, sizeof number, "%" PRIu32, c->snapshot[i]);
        if (x < at || x + n > width)
            continue;
        fprintf(out, "%*s%s ", (int)(x - at), "", number);
        at = x + n + 1;
    }
    fprintf(out, " snapshot\n");
}

static void put_legend(const struct cf_chart *c, FILE *out, const struct cf_terminal *t)
{
    for (unsigned s = 0; s < c->series; s++) {
        char mean[32], largest[32];
        double most;

        if (t->colours) {
            cf_terminal_colour(out, t, 1, c->name[s].colour);
            fputs("  \33[0m ", out);
        } else {
            fprintf(out, "%c  ", 'A' + (int)(s % LETTERS));
        }
        cf_chart_value(c, mean, sizeof mean, cf_chart_mean_own(c, 0, s, &most));
        cf_chart_value(c, largest, sizeof largest, most);
        cf_terminal_text(out, t, c->name[s].name, t->columns > 48 ? t->columns - 40 : 8);
        fprintf(out, "  mean %s, at most %s\n", mean, largest);
    }
}

int cf_chart_term(const void *chart, FILE *out, const struct cf_terminal *t)
{
    const struct cf_chart *c = chart;
    const uint32_t width = t->columns > GUTTER + 22 ? t->columns - GUTTER - 10 : 12;
    const unsigned others = 4 + c->series;
    const unsigned rows = !t->lines ? 20 : t->lines > others + 6 ? t->lines - others : 6;
    const double top = cf_chart_top(c);
    double *upto, zero, period;
    char summary[CF_CHART_SUMMARY];

    cf_terminal_head(out, t, c->title, cf_chart_summary(c, summary));
    if (!c->points) {
        fputs("no snapshot\n", out);
        return ferror(out) ? -1 : 0;
    }
    if (!(upto = malloc((size_t)width * (c->series + 1) * sizeof *upto)))
        return -1;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t from, to;
        double sum = 0, most;

        cf_chart_column(c, x, width, &from, &to);
        for (unsigned s = 0; s < c->series; s++)
            upto[(size_t)x * c->series + s] = sum += cf_chart_mean(c, 0, s, from, to, &most);
    }
    for (unsigned r = rows; r-- > 0;) {
        char number[32] = "";

        if (r + 1 == rows || r + 1 == rows / 2)
            put_height(c, number, sizeof number, top * (r + 1) / rows, top);
        fprintf(out, "%*s ", GUTTER - 1, number);
        put_row(c, out, t, upto, width, top * r / rows, top / rows);
    }
    free(upto);
    if (c->time && cf_times_even(NULL, c->time, c->points, &zero, &period))
        cf_terminal_time(out, t, GUTTER, width, cf_chart_start(c), c->time[c->points - 1], c->unit);
    else
        put_axis(c, out, width);
    put_legend(c, out, t);
    return ferror(out) ? -1 : 0;
}
