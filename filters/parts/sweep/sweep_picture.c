/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sweep_picture.c - misses over the size of the cache, a line for each line size and number of
 * ways. Memory: 8 bytes a size and line.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/parts/sweep/sweep.h"

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Over all sizes that any line has. */
void sweep_draw(const struct cf_tool *t, const struct options *o, const struct size *size)
{
    static const struct cf_drawings drawings = {cf_chart_picture, cf_chart_html, NULL};
    const unsigned lines = o->line_size.count, ways = o->ways.count;
    double *at = cf_need(t, calloc(lines * MOST_LIST * ways, sizeof *at)), *value;
    struct cf_chart_series *series = cf_need(t, calloc(lines * ways, sizeof *series));
    char(*name)[64] = cf_need(t, calloc(lines * ways, sizeof *name));
    struct cf_chart c = {.title = "Misses by cache size", .command = "", .panels = 1};
    uint32_t n = 0;

    for (unsigned k = 0; k < lines * ways; k++)
        for (unsigned i = 0; i < size[k / ways].count; i++)
            if (sweep_wanted(o, size[k / ways].line, size[k / ways].sets[i],
                             o->ways.value[k % ways]))
                at[n++] = (double)(size[k / ways].line * size[k / ways].sets[i] *
                                   o->ways.value[k % ways]);
    qsort(at, n, sizeof *at, by_size);
    for (uint32_t i = 0; i < n; i++)
        if (!i || at[i] != at[c.points - 1])
            at[c.points++] = at[i];
    value = cf_need(t, calloc((size_t)lines * ways * c.points, sizeof *value));
    for (unsigned k = 0; k < lines * ways; k++) {
        const struct size *s = &size[k / ways];
        const uint32_t w = (uint32_t)o->ways.value[k % ways];

        snprintf(name[k], sizeof *name, lines > 1 ? "%u way%s, lines of %llu" : "%u way%s", w,
                 w == 1 ? "" : "s", (unsigned long long)s->line);
        series[k] = (struct cf_chart_series){name[k], cf_series_colour(k)};
        for (uint32_t p = 0; p < c.points; p++)
            value[(size_t)k * c.points + p] = NAN;
        for (unsigned i = 0; i < s->count; i++) {
            const double bytes = (double)(s->line * s->sets[i] * w);
            const double *p = bsearch(&bytes, at, c.points, sizeof *at, by_size);

            if (p && sweep_wanted(o, s->line, s->sets[i], w))
                value[(size_t)k * c.points + (size_t)(p - at)] =
                    (double)cf_allassoc_misses(s->all, i, w);
        }
    }
    if (lines == 1)
        snprintf(c.summary, sizeof c.summary, "LRU caches of lines of %llu bytes",
                 (unsigned long long)size[0].line);
    c.series = lines * ways;
    c.name = series;
    c.size = at;
    c.panel[0] = (struct cf_chart_panel){.title = "misses", .value = value};
    cf_output_draw(t, &o->output, &c, &drawings);
    free(at);
    free(value);
    free(series);
    free(name);
}
