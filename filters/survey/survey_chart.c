/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey_chart.c - the chart of a survey: one level, the groups with most lines (see survey.h).
 *
 * Memory: 4 bytes a snapshot, series and panel.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/survey/survey.h"

static void *need(const struct cf_survey *s, size_t count, size_t size)
{
    void *p = cf_need(&s->tool, calloc(count + 1, size));

    return p;
}

static void name_series(const struct cf_survey *s, const struct cf_ranks *r, uint32_t shown,
                        struct cf_survey_chart *c)
{
    for (uint32_t i = 0; i < c->chart.series; i++) {
        char *name = c->names + (size_t)i * CF_LABEL_BYTES;

        c->series[i] = (struct cf_chart_series){name, cf_series_colour(i)};
        if (i < shown) {
            cf_survey_label(s, r->order[i], name);
            if (!strcmp(name, "[unknown]"))
                c->series[i].colour = (struct cf_rgb){120, 122, 134};
        } else {
            strcpy(name, "[other]");
            c->series[i].colour = (struct cf_rgb){176, 178, 188};
        }
    }
}

/* Column `p` of the panels. */
static void fill(const struct cf_survey *s, const struct cf_census_snapshot *one,
                 const struct cf_ranks *r, uint32_t shown, uint32_t p, struct cf_survey_chart *c)
{
    const struct cf_census_cell *cells = cf_census_cells(s->census);

    for (uint32_t k = 0; k < one->cells; k++) {
        const struct cf_census_cell *cell = &cells[one->first + k];
        const uint32_t rank = r->rank[cell->group], series = rank < shown ? rank : shown;
        const size_t at = (size_t)series * c->chart.points + p;

        if (series == c->chart.series)
            continue;
        c->lines[0][at] += cell->lines;
        if (c->lines[1])
            c->lines[1][at] += cell->reused;
    }
}

void cf_survey_chart(const struct cf_survey *s, uint32_t most, int others,
                     struct cf_survey_chart *c)
{
    size_t count;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);
    struct cf_chart *chart = &c->chart;
    struct cf_ranks r;
    uint32_t shown = 0, p = 0;
    uint64_t all = 0;

    *c = (struct cf_survey_chart){.chart = {.command = s->command ? s->command : ""}};
    for (size_t i = 0; i < count; i++)
        c->level = one[i].is.level > c->level ? one[i].is.level : c->level;
    for (size_t i = 0; i < count; i++)
        chart->points += one[i].is.level == c->level;
    r = cf_survey_ranks(s, c->level);
    most = s->o.top ? s->o.top : most;
    while (shown < r.groups && shown < most && r.total[r.order[shown]])
        shown++;
    chart->series = shown + (others && shown < r.groups && r.total[r.order[shown]]);
    chart->panels = s->o.reuse ? 2 : 1;
    c->series = need(s, chart->series, sizeof *c->series);
    c->names = need(s, chart->series, CF_LABEL_BYTES);
    c->snapshot = need(s, chart->points, sizeof *c->snapshot);
    for (unsigned k = 0; k < chart->panels; k++)
        c->lines[k] = need(s, (size_t)chart->series * chart->points, sizeof **c->lines);
    name_series(s, &r, shown, c);
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        if (one[i].is.level != c->level)
            continue;
        chart->whole = whole > chart->whole ? whole : chart->whole;
        all += one[i].lines;
        c->snapshot[p] = one[i].is.number;
        fill(s, &one[i], &r, shown, p++, c);
    }
    c->mean = chart->points ? (double)all / chart->points : 0;
    chart->name = c->series;
    chart->snapshot = c->snapshot;
    for (unsigned k = 0; k < chart->panels; k++)
        chart->panel[k].lines = c->lines[k];
    cf_ranks_free(&r);
}

void cf_survey_chart_free(struct cf_survey_chart *c)
{
    free(c->series);
    free(c->names);
    free(c->snapshot);
    for (int k = 0; k < CF_CHART_PANELS; k++)
        free(c->lines[k]);
}
