/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey_chart.c - the chart of a survey: one level, the groups with most lines (see survey.h).
 *
 * Memory: 12 bytes a snapshot, and 8 a snapshot, series and panel.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/survey/survey.h"

static void *need(const struct cf_survey *s, size_t count, size_t size)
{
    void *p = cf_need(&s->tool, calloc(count + 1, size));

    return p;
}

/* Without the process number, where no other has the name. */
static void shorten(struct cf_survey_chart *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *name = c->names + (size_t)i * CF_LABEL_BYTES, *end = strrchr(name, '(');
        const size_t n = end && end > name ? (size_t)(end - name) : 0;
        uint32_t same = 0;

        for (uint32_t k = 0; n && k < count && same < 2; k++)
            same += !strncmp(c->series[k].name, name, n) && c->series[k].name[n] == '(';
        if (n && same == 1)
            end[-1] = '\0';
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct cf_chart_series *const *)a)->name,
                  (*(struct cf_chart_series *const *)b)->name);
}

/* A name has the same colour in all pictures, unless another one of the picture has it. */
static void colour_series(const struct cf_survey *s, struct cf_survey_chart *c, uint32_t count)
{
    struct cf_chart_series **sorted = need(s, count, sizeof *sorted);
    uint32_t taken = 0;

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &c->series[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = 2166136261u, at;

        for (const char *t = sorted[i]->name; *t; t++)
            hash = (hash ^ (uint8_t)*t) * 16777619u;
        for (at = hash % CF_SERIES_COLOURS; taken >> at & 1;)
            at = (at + 5) % CF_SERIES_COLOURS;
        taken |= 1u << at;
        taken = taken + 1 == 1u << CF_SERIES_COLOURS ? 0 : taken;
        sorted[i]->colour = cf_series_colour(at);
    }
    free(sorted);
}

static void name_series(const struct cf_survey *s, const struct cf_ranks *r, uint32_t shown,
                        struct cf_survey_chart *c)
{
    for (uint32_t i = 0; i < c->chart.series; i++) {
        char *name = c->names + (size_t)i * CF_LABEL_BYTES;

        c->series[i].name = name;
        if (i < shown)
            cf_survey_label(s, r->order[i], name);
        else
            strcpy(name, "[other]");
    }
    if (s->o.by == CF_CENSUS_PROCESS && shown < 1000)
        shorten(c, shown);
    colour_series(s, c, shown);
    for (uint32_t i = 0; i < c->chart.series; i++)
        if (i == shown)
            c->series[i].colour = (struct cf_rgb){176, 178, 188};
        else if (!strcmp(c->series[i].name, "[unknown]"))
            c->series[i].colour = (struct cf_rgb){120, 122, 134};
}

/* Whether each snapshot has a time of its own. */
static int times_rise(const struct cf_survey_chart *c)
{
    for (uint32_t i = 1; i < c->chart.points; i++)
        if (c->time[i] <= c->time[i - 1])
            return 0;
    return c->chart.points > 1;
}

/* Column `p` of the panels. */
static void fill(const struct cf_survey *s, const struct cf_census_snapshot *one,
                 const struct cf_ranks *r, uint32_t shown, uint32_t p, struct cf_survey_chart *c)
{
    const struct cf_census_cell *cells = s->census->cell;

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
    const struct cf_census_snapshot *one = s->census->snapshot;
    struct cf_chart *chart = &c->chart;
    struct cf_ranks r;
    uint32_t shown = 0, p = 0;
    uint64_t all = 0;

    *c = (struct cf_survey_chart){.chart = {.command = s->command ? s->command : ""}};
    for (size_t i = 0; i < s->census->snapshots; i++)
        c->level = one[i].is.level > c->level ? one[i].is.level : c->level;
    for (size_t i = 0; i < s->census->snapshots; i++)
        chart->points += one[i].is.level == c->level;
    r = cf_survey_ranks(s, c->level);
    most = s->o.top ? s->o.top : most;
    while (shown < r.groups && shown < most && r.total[r.order[shown]])
        shown++;
    chart->series = shown + (others && shown < r.groups && r.total[r.order[shown]]);
    chart->panels = s->o.reuse ? 2 : 1;
    c->series = need(s, chart->series, sizeof *c->series);
    c->names = need(s, chart->series, CF_LABEL_BYTES);
    c->time = need(s, chart->points, sizeof *c->time);
    c->snapshot = need(s, chart->points, sizeof *c->snapshot);
    for (unsigned k = 0; k < chart->panels; k++)
        c->lines[k] = need(s, (size_t)chart->series * chart->points, sizeof **c->lines);
    name_series(s, &r, shown, c);
    for (size_t i = 0; i < s->census->snapshots; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        if (one[i].is.level != c->level)
            continue;
        chart->whole = whole > chart->whole ? whole : chart->whole;
        all += one[i].lines;
        c->snapshot[p] = one[i].is.number;
        c->time[p] = one[i].is.announced ? one[i].is.time : 0;
        fill(s, &one[i], &r, shown, p++, c);
    }
    c->mean = chart->points ? (double)all / chart->points : 0;
    chart->name = c->series;
    chart->snapshot = c->snapshot;
    chart->time = times_rise(c) ? c->time : NULL;
    chart->unit = s->unit ? s->unit : "";
    for (unsigned k = 0; k < chart->panels; k++)
        chart->panel[k].value = c->lines[k];
    cf_ranks_free(&r);
}

void cf_survey_chart_free(struct cf_survey_chart *c)
{
    free(c->series);
    free(c->names);
    free(c->snapshot);
    free(c->time);
    for (int k = 0; k < CF_CHART_PANELS; k++)
        free(c->lines[k]);
}
