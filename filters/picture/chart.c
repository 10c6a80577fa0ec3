/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.c - what a chart's numbers mean, for all ways to draw it (see chart.h).
 *
 * In: counts. Out: means over the points that share a column, and where the axis ends. Where
 * snapshots are more than columns, a column shows the mean of its own: areas keep their size, which
 * a maximum would not.
 */
#include <stdio.h>

#include "filters/picture/chart.h"

uint64_t cf_chart_top(const struct cf_chart *c)
{
    uint64_t top = c->whole ? c->whole : 1;

    for (unsigned k = 0; k < c->panels; k++)
        for (uint32_t p = 0; p < c->points; p++) {
            uint64_t sum = 0;

            for (unsigned s = 0; s < c->series; s++) {
                const uint32_t v = c->panel[k].lines[(size_t)s * c->points + p];

                sum = c->panel[k].stacked ? sum + v : v > sum ? v : sum;
            }
            top = sum > top ? sum : top;
        }
    return top;
}

void cf_chart_column(const struct cf_chart *c, uint32_t x, uint32_t width, uint32_t *from,
                     uint32_t *to)
{
    *from = (uint32_t)((uint64_t)x * c->points / width);
    *to = (uint32_t)(((uint64_t)x + 1) * c->points / width);
    if (*to == *from)
        ++*to;
}

uint32_t cf_chart_step(const struct cf_chart *c, unsigned marks)
{
    const double step = cf_axis_step(0, (double)c->points, marks);

    return step >= 1 ? (uint32_t)step : 1;
}

/* Numbers may be left out, and of another stream begin anew, which is marked. */
int cf_chart_mark(const struct cf_chart *c, uint32_t i, uint32_t step, uint32_t *mark)
{
    if (i && c->snapshot[i] < c->snapshot[i - 1]) {
        *mark = c->snapshot[i];
        return 1;
    }
    *mark = c->snapshot[i] / step * step;
    return i ? c->snapshot[i - 1] / step != c->snapshot[i] / step : *mark == c->snapshot[i];
}

double cf_chart_mean(const struct cf_chart *c, unsigned panel, unsigned series, uint32_t from,
                     uint32_t to, uint32_t *most)
{
    const uint32_t *v = c->panel[panel].lines + (size_t)series * c->points;
    uint64_t sum = 0;

    *most = 0;
    for (uint32_t p = from; p < to; p++) {
        sum += v[p];
        *most = v[p] > *most ? v[p] : *most;
    }
    return to > from ? (double)sum / (to - from) : 0;
}

void cf_chart_value(const struct cf_chart *c, char *out, size_t size, double lines)
{
    if (c->whole)
        snprintf(out, size, "%.1f %%", 100 * lines / (double)c->whole);
    else
        cf_text_number(out, size, lines);
}

static int write_png(const void *chart, FILE *out, uint32_t width, uint32_t height)
{
    return cf_chart_png(chart, out, width, height);
}

static int write_html(const void *chart, FILE *out)
{
    return cf_chart_html(chart, out);
}

void cf_chart_files(const struct cf_tool *t, const struct cf_output *o, const struct cf_chart *c)
{
    cf_output_pictures(t, o, c, write_png, write_html);
}
