/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_picture.c - the two experiments of "Observing the Invisible", section 7.7, as pictures:
 * its Figure 13, how many lines survive, and Figure 14, which ways are chosen. Memory: a number a
 * point.
 */
#include <inttypes.h>
#include <math.h>

#include "filters/parts/policy/policy.h"
#include "filters/picture/chart.h"

/* "0", "1", ... */
static const char *const *numbers(const struct work *w, uint32_t count)
{
    const char **name = cf_tool_room(&w->tool, count, sizeof *name);

    for (uint32_t i = 0; i < count; i++)
        name[i] = cf_tool_text(&w->tool, "%" PRIu32, i);
    return name;
}

/* The error bars are two standard deviations of a binomial count to either side. */
void draw_ways(const struct work *w, const struct findings *f)
{
    static const struct cf_chart_series series = {"new lines", {0, 114, 178}};
    const struct cf_placement *p = f->placement;
    const double all = (double)p->decisions;
    struct cf_chart c = {.title = "Ways that are chosen for new lines",
                         .command = "",
                         .series = 1,
                         .panels = 1,
                         .points = p->decisions ? p->ways : 0,
                         .whole = p->decisions,
                         .name = &series,
                         .label = numbers(w, p->ways),
                         .axis = "way"};
    double *value = cf_tool_room(&w->tool, p->ways, sizeof *value);
    double *spread = cf_tool_room(&w->tool, p->ways, sizeof *spread);

    for (uint32_t i = 0; i < c.points; i++) {
        value[i] = (double)p->took[i];
        spread[i] = 2 * sqrt(value[i] * (1 - value[i] / all));
    }
    snprintf(c.summary, sizeof c.summary,
             "%" PRIu64 " decisions; the thin lines span two standard deviations to either side; "
             "dashed: equal chances, %.2f %%",
             p->decisions, 100.0 / p->ways);
    c.panel[0] = (struct cf_chart_panel){.title = "probability",
                                         .stacked = 1,
                                         .value = value,
                                         .spread = spread,
                                         .level = all / p->ways};
    cf_output_draw(&w->tool, &w->o.output, &c, &cf_chart_drawings);
}

/* A line for each number of rounds. Of sets with fewer lines nothing is drawn. */
void draw_survivors(const struct work *w, const struct findings *f)
{
    struct cf_chart c = {.title = "Lines that are still cached", .command = "", .panels = 1};
    const struct cf_survivors_row *row = f->survivor;
    struct cf_chart_series *series = cf_tool_room(&w->tool, f->survivors + 1, sizeof *series);
    uint32_t lines = 0, rounds = 0;
    double *value;

    for (size_t i = 0; i < f->survivors; i++)
        lines = row[i].lines > lines ? row[i].lines : lines;
    c.points = f->survivors ? lines + 1 : 0;
    value = cf_tool_room(&w->tool, (f->survivors + 1) * (lines + (size_t)1), sizeof *value);
    for (size_t i = 0; i < f->survivors; i++) {
        if (row[i].lines != lines)
            continue;
        if (!c.series || row[i].rounds != rounds) {
            rounds = row[i].rounds;
            series[c.series] = (struct cf_chart_series){
                cf_tool_text(&w->tool, "%" PRIu32 " round%s", rounds, rounds == 1 ? "" : "s"),
                cf_series_colour(c.series)};
            c.series++;
        }
        value[(size_t)(c.series - 1) * c.points + row[i].cached] =
            100 * (double)row[i].count / (double)row[i].total;
    }
    snprintf(c.summary, sizeof c.summary, "of %" PRIu32 " lines, after rounds of accesses to all",
             lines);
    c.whole = 100;
    c.name = series;
    c.label = numbers(w, c.points);
    c.axis = "lines cached";
    c.panel[0] = (struct cf_chart_panel){.title = "probability", .value = value};
    cf_output_draw(&w->tool, &w->o.output, &c, &cf_chart_drawings);
}
