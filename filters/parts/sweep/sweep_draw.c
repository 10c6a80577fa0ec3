/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep_draw.c - the misses over the size of the cache, drawn. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "filters/parts/sweep/sweep.h"

/* Of the cache of so many bytes; NAN where no number of sets gives that. */
static double misses_at(const struct options *o, const struct size *s, unsigned way, uint64_t bytes)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->line * s->sets[i] * o->ways.value[way] == bytes)
            return (double)sweep_misses(o, s, i, way);
    return NAN;
}

/* Misses over the size of the cache, over all sizes that any line has; a line for each line size
   and number of ways. Memory: 8 bytes a size and line. */
void sweep_draw(const struct cf_tool *t, const struct options *o, const struct size *size)
{
    const unsigned lines = o->line_size.count, ways = o->ways.count;
    uint64_t *bytes = cf_tool_room(t, lines * MOST_LIST * ways + 1, sizeof *bytes);
    double *at, *value;
    static const char *const kinds[] = {"", "", "; accesses: fetches", "; accesses: unified"};
    struct cf_chart_series *series = cf_tool_room(t, lines * ways, sizeof *series);
    struct cf_chart c = {.title = "Misses by cache size", .command = "", .panels = 1};
    uint32_t n = 0;

    for (unsigned k = 0; k < lines * ways; k++)
        for (unsigned i = 0; i < size[k / ways].count; i++) {
            bytes[n] = size[k / ways].line * size[k / ways].sets[i] * o->ways.value[k % ways];
            n += sweep_wants(o, bytes[n]);
        }
    c.points = cf_list_rising(bytes, n);
    at = cf_tool_room(t, c.points, sizeof *at);
    for (uint32_t p = 0; p < c.points; p++)
        at[p] = (double)bytes[p];
    value = cf_tool_room(t, (size_t)lines * ways * c.points, sizeof *value);
    for (unsigned k = 0; k < lines * ways; k++) {
        const struct size *s = &size[k / ways];
        const uint32_t w = (uint32_t)o->ways.value[k % ways];

        series[k].name = cf_tool_text(t, lines > 1 ? "%u way%s, lines of %llu" : "%u way%s", w,
                                      w == 1 ? "" : "s", (unsigned long long)s->line);
        series[k].colour = cf_series_colour(k);
        for (uint32_t p = 0; p < c.points; p++)
            value[(size_t)k * c.points + p] = misses_at(o, s, k % ways, bytes[p]);
    }
    snprintf(c.summary, sizeof c.summary, "LRU caches%s%s",
             lines > 1 ? "" : cf_tool_text(t, " of lines of %" PRIu64 " bytes", size[0].line),
             kinds[o->what]);
    c.series = lines * ways;
    c.name = series;
    c.size = at;
    c.panel[0] = (struct cf_chart_panel){.title = "misses", .value = value};
    cf_output_draw(t, &o->output, &c, &cf_chart_drawings);
}
