/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.c - what a chart's numbers mean, for all ways to draw it (see chart.h).
 *
 * In: counts. Out: means over the points that share a column, and where the axis ends. Where
 * snapshots are more than columns, a column shows the mean of its own: areas keep their size, which
 * a maximum would not.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/picture/chart.h"

const struct cf_drawings cf_chart_drawings = {cf_chart_picture, cf_chart_html, NULL};

const char *cf_chart_summary(const struct cf_chart *c, char out[CF_CHART_SUMMARY])
{
    enum { MOST = 64 }; /* there are fewer colours */
    int shared = c->series > MOST;

    for (unsigned s = 0; !shared && s < c->series; s++)
        for (unsigned k = 0; k < s; k++)
            shared |= !memcmp(&c->name[s].colour, &c->name[k].colour, sizeof c->name->colour);
    snprintf(out, CF_CHART_SUMMARY, "%s%s", c->summary,
             !shared       ? ""
             : *c->summary ? "; some series share a colour"
                           : "some series share a colour");
    return out;
}

double cf_chart_top(const struct cf_chart *c)
{
    const double unit = c->whole ? (double)c->whole / 100 : 1;
    double top = 0, step;

    for (unsigned k = 0; k < c->panels; k++)
        for (uint32_t p = 0; p < c->points; p++) {
            double sum = 0;

            for (unsigned s = 0; s < c->series; s++) {
                const double v = c->panel[k].value[(size_t)s * c->points + p];

                sum = c->panel[k].stacked ? sum + v : v > sum ? v : sum;
            }
            sum += c->panel[k].spread ? c->panel[k].spread[p] : 0;
            top = fmax(top, fmax(sum, c->panel[k].level));
        }
    step = cf_axis_step(0, top / unit, 12);
    return fmax(1, ceil(top / unit / step - 1e-9)) * step * unit;
}

void cf_chart_column(const struct cf_chart *c, uint32_t x, uint32_t width, uint32_t *from,
                     uint32_t *to)
{
    *from = (uint32_t)((uint64_t)x * c->points / width);
    *to = (uint32_t)(((uint64_t)x + 1) * c->points / width);
    if (*to == *from)
        ++*to;
}

uint64_t cf_chart_start(const struct cf_chart *c)
{
    const uint64_t first = c->time[0], second = c->time[c->points > 1];

    return second - first < first ? first - (second - first) : 0;
}

double cf_chart_place(const struct cf_chart *c, uint32_t i)
{
    const uint64_t start = c->time ? cf_chart_start(c) : 0;

    if (!c->time || !i)
        return (double)i / c->points;
    return (double)(c->time[i - 1] - start) / (double)(c->time[c->points - 1] - start);
}

uint32_t cf_chart_step(const struct cf_chart *c, unsigned marks)
{
    const double step = cf_axis_step(0, (double)c->points, marks);

    return step >= 1 ? (uint32_t)step : 1;
}

/* Numbers may be left out, and of another stream begin anew, which is marked. */
int cf_chart_mark(const struct cf_chart *c, uint32_t i, uint32_t step)
{
    const uint32_t number = c->snapshot[i], before = i ? c->snapshot[i - 1] : 0;

    return i ? number < before || before / step != number / step : number % step == 0;
}

static double mean(const struct cf_chart *c, unsigned panel, unsigned series, uint32_t from,
                   uint32_t to, const uint8_t *own, double *most)
{
    const double *v = c->panel[panel].value + (size_t)series * c->points;
    double sum = 0;
    uint32_t n = 0;

    *most = 0;
    for (uint32_t p = from; p < to; p++) {
        if (isnan(v[p]) || (own && !own[(size_t)series * c->points + p]))
            continue;
        n++;
        sum += v[p];
        *most = v[p] > *most ? v[p] : *most;
    }
    return n ? sum / n : to > from ? NAN : 0;
}

double cf_chart_mean(const struct cf_chart *c, unsigned panel, unsigned series, uint32_t from,
                     uint32_t to, double *most)
{
    return mean(c, panel, series, from, to, NULL, most);
}

double cf_chart_mean_own(const struct cf_chart *c, unsigned panel, unsigned series, double *most)
{
    return mean(c, panel, series, 0, c->points, c->own, most);
}

void cf_chart_value(const struct cf_chart *c, char *out, size_t size, double value)
{
    const double percent = c->whole ? 100 * value / (double)c->whole : 0;

    if (c->whole)
        snprintf(out, size, percent > 0 && percent < 0.1 ? "%.2g %%" : "%.1f %%", percent);
    else
        cf_text_number(out, size, value);
}
