/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey_chart.c - the chart of a survey: one level, the groups with most lines (see survey.h).
 *
 * Memory: 12 bytes a snapshot and 24 while the chart is made, and 8 a point, series and panel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/survey/survey.h"

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct cf_chart_series *const *)a)->name,
                  (*(struct cf_chart_series *const *)b)->name);
}

/* Place of a series' name in --colours, or -1. */
static int chosen_colour(const struct cf_survey *s, const char *name)
{
    const size_t n = strcspn(name, " ");
    int at = 0;

    for (const char *p = s->o.colours; p && *p; p += *p == ',', at++) {
        const size_t length = strcspn(p, ",");

        if (length == n && !strncmp(p, name, n))
            return at;
        p += length;
    }
    return -1;
}

/* By --colours, or else a name has the same colour in all pictures, unless another one of the
   picture has it. */
static void colour_series(const struct cf_survey *s, struct cf_survey_chart *c, uint32_t count)
{
    struct cf_chart_series **sorted = cf_tool_room(&s->tool, count, sizeof *sorted);
    uint32_t taken = 0;

    for (uint32_t i = 0; i < count; i++) {
        const int chosen = chosen_colour(s, c->series[i].name);

        sorted[i] = &c->series[i];
        if (chosen >= 0)
            taken |= 1u << chosen % CF_SERIES_COLOURS;
    }
    qsort(sorted, count, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < count; i++) {
        const int chosen = chosen_colour(s, sorted[i]->name);
        uint32_t hash = 2166136261u, at;

        if (chosen >= 0) {
            sorted[i]->colour = cf_series_colour((unsigned)chosen % CF_SERIES_COLOURS);
            continue;
        }
        taken = taken + 1 == 1u << CF_SERIES_COLOURS ? 0 : taken;
        for (const char *t = sorted[i]->name; *t; t++)
            hash = (hash ^ (uint8_t)*t) * 16777619u;
        for (at = hash % CF_SERIES_COLOURS; taken >> at & 1;)
            at = (at + 5) % CF_SERIES_COLOURS;
        taken |= 1u << at;
        sorted[i]->colour = cf_series_colour(at);
    }
}

/* Length of a process's name in its label: without its number, where that stands behind it. */
static size_t bare(const char *label)
{
    const char *end = strrchr(label, '(');

    return end && end > label ? (size_t)(end - 1 - label) : strlen(label);
}

/* Processes of one name are told apart by their numbers, those of several runs by their files. */
static void shorten(const struct cf_survey *s, const struct cf_ranks *r, struct cf_survey_chart *c,
                    uint32_t count)
{
    char *label = cf_tool_room(&s->tool, count, CF_LABEL_BYTES);

    memcpy(label, c->names, (size_t)count * CF_LABEL_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        const char *own = label + (size_t)i * CF_LABEL_BYTES;
        const uint32_t stream = cf_census_group(s->census, r->order[i]).stream;
        const size_t n = bare(own);
        int here = 0, elsewhere = 0;

        for (uint32_t k = 0; k < count; k++) {
            const char *other = label + (size_t)k * CF_LABEL_BYTES;
            const int same = k != i && bare(other) == n && !strncmp(own, other, n);

            if (same && cf_census_group(s->census, r->order[k]).stream == stream)
                here = 1;
            else if (same)
                elsewhere = 1;
        }
        snprintf(c->names + (size_t)i * CF_LABEL_BYTES, CF_LABEL_BYTES, "%.*s%s%.230s",
                 here ? CF_LABEL_BYTES : (int)n, own, elsewhere ? " of " : "",
                 elsewhere ? cf_survey_file(s, stream) : "");
    }
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
        shorten(s, r, c, shown);
    colour_series(s, c, shown);
    for (uint32_t i = 0; i < c->chart.series; i++)
        if (i == shown)
            c->series[i].colour = (struct cf_rgb){176, 178, 188};
        else if (!strcmp(c->series[i].name, "[unknown]"))
            c->series[i].colour = (struct cf_rgb){120, 122, 134};
}

/* ---- the points: one a snapshot, or of several streams, whose times begin together, one wherever
   any of them has one ---- */

/* A snapshot of the level. */
struct point {
    uint64_t at; /* its time, or its place in the stream */
    const struct cf_census_snapshot *is;
    uint32_t stream; /* 0 where streams are not apart */
};

static size_t gather(const struct cf_survey *s, unsigned level, struct point *point)
{
    const struct cf_census_snapshot *one = s->census->snapshot;
    size_t n = 0;

    for (size_t i = 0; i < s->census->snapshots; i++)
        if (one[i].is.level == level)
            point[n++] = (struct point){one[i].is.announced ? one[i].is.time : 0, &one[i],
                                        s->o.reuse ? one[i].is.segment : 0};
    return n;
}

/* Whether each snapshot has a time of its own, later than the one before it. */
static int times_rise(const struct point *point, size_t n)
{
    int alone = n > 0;

    for (size_t i = 1; i < n; i++) {
        const int same = point[i].stream == point[i - 1].stream;

        if (same && point[i].at <= point[i - 1].at)
            return 0;
        alone &= !same;
    }
    return n && !alone;
}

/* Places instead of times where they are not known; and where several streams are shown, each
   begins at 0: as long before its first snapshot as the second comes after it. */
static void place(struct point *point, size_t n, int timed)
{
    const int several = n && point[0].stream != point[n - 1].stream;

    for (size_t i = 0, end; i < n; i = end) {
        uint64_t start = 0, gap;

        for (end = i + 1; end < n && point[end].stream == point[i].stream; end++)
            ;
        gap = end - i > 1 ? point[i + 1].at - point[i].at : point[i].at;
        if (timed && several && gap < point[i].at)
            start = point[i].at - gap;
        for (size_t k = i; k < end; k++)
            point[k].at = timed ? point[k].at - start : k - i + 1;
    }
}

/* What lines of a snapshot count where the whole of the chart is that of a larger cache. */
static double scale(const struct cf_survey *s, const struct point *of, const struct cf_chart *c)
{
    const uint64_t whole = cf_survey_whole(s, &of->is->is);

    return whole ? (double)c->whole / (double)whole : 1;
}

/* Column `p` of the panels, for the series of the snapshot's stream. */
static void fill(const struct cf_survey *s, const struct point *of, const struct cf_ranks *r,
                 uint32_t shown, uint32_t p, struct cf_survey_chart *c)
{
    const struct cf_census_cell *cells = s->census->cell;
    const double one = scale(s, of, &c->chart);

    for (uint32_t i = 0; i < c->chart.series; i++)
        for (unsigned k = 0; k < c->chart.panels; k++)
            if (i == shown || cf_census_group(s->census, r->order[i]).stream == of->stream) {
                c->lines[k][(size_t)i * c->chart.points + p] = 0;
                c->own[(size_t)i * c->chart.points + p] = c->time[p] == of->at;
            }
    for (uint32_t k = 0; k < of->is->cells; k++) {
        const struct cf_census_cell *cell = &cells[of->is->first + k];
        const uint32_t rank = r->rank[cell->group], series = rank < shown ? rank : shown;
        const size_t at = (size_t)series * c->chart.points + p;

        if (series == c->chart.series)
            continue;
        c->lines[0][at] += one * cell->lines;
        if (c->lines[1])
            c->lines[1][at] += one * cell->reused;
    }
}

/* What a snapshot shows is of all the time since the one before it; after the last one of its
   stream nothing is known. */
static void fill_all(const struct cf_survey *s, const struct point *point, size_t n,
                     const struct cf_ranks *r, uint32_t shown, struct cf_survey_chart *c)
{
    const size_t all = (size_t)c->chart.series * c->chart.points;

    c->own = cf_tool_room(&s->tool, all, 1);
    for (unsigned k = 0; k < c->chart.panels; k++) {
        c->lines[k] = cf_tool_room(&s->tool, all, sizeof **c->lines);
        for (size_t i = 0; i < all; i++)
            c->lines[k][i] = NAN;
    }
    for (size_t i = 0, p = 0; i < n; i++) {
        if (i && point[i].stream != point[i - 1].stream)
            p = 0;
        for (; p < c->chart.points && c->time[p] <= point[i].at; p++)
            fill(s, &point[i], r, shown, (uint32_t)p, c);
    }
}

static void make_points(const struct cf_survey *s, const struct cf_ranks *r, uint32_t shown,
                        struct cf_survey_chart *c)
{
    struct cf_chart *chart = &c->chart;
    struct point *point = cf_tool_room(&s->tool, s->census->snapshots, sizeof *point);
    const size_t n = gather(s, c->level, point);
    const int timed = times_rise(point, n), several = n && point[0].stream != point[n - 1].stream;

    place(point, n, timed);
    c->time = cf_tool_room(&s->tool, n, sizeof *c->time);
    c->snapshot = cf_tool_room(&s->tool, n, sizeof *c->snapshot);
    c->least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const uint64_t whole = cf_survey_whole(s, &point[i].is->is);

        chart->whole = whole > chart->whole ? whole : chart->whole;
        c->least = whole < c->least ? whole : c->least;
        c->time[i] = point[i].at;
    }
    for (size_t i = 0; i < n; i++)
        c->mean += scale(s, &point[i], chart) * (double)point[i].is->lines / (double)n;
    chart->points = cf_list_rising(c->time, (uint32_t)n);
    for (uint32_t p = 0; p < chart->points; p++)
        c->snapshot[p] = several ? p + 1 : point[p].is->is.number;
    c->snapshots = (uint32_t)n;
    chart->snapshot = c->snapshot;
    chart->time = timed ? c->time : NULL;
    fill_all(s, point, n, r, shown, c);
    chart->own = several ? c->own : NULL;
}

void cf_survey_chart(const struct cf_survey *s, uint32_t most, int others,
                     struct cf_survey_chart *c)
{
    const struct cf_census_snapshot *one = s->census->snapshot;
    struct cf_chart *chart = &c->chart;
    struct cf_ranks r;
    uint32_t shown = 0;

    *c = (struct cf_survey_chart){.chart = {.command = s->command ? s->command : ""}};
    for (size_t i = 0; i < s->census->snapshots; i++)
        c->level = one[i].is.level > c->level ? one[i].is.level : c->level;
    r = cf_survey_ranks(s, c->level);
    most = s->o.top ? s->o.top : most;
    while (shown < r.groups && shown < most && r.total[r.order[shown]])
        shown++;
    for (c->groups = shown; c->groups < r.groups && r.total[r.order[c->groups]];)
        c->groups++;
    chart->series = shown + (others && shown < r.groups && r.total[r.order[shown]]);
    chart->panels = s->o.reuse ? 2 : 1;
    chart->unit = s->unit ? s->unit : "";
    c->series = cf_tool_room(&s->tool, chart->series, sizeof *c->series);
    c->names = cf_tool_room(&s->tool, chart->series, CF_LABEL_BYTES);
    name_series(s, &r, shown, c);
    chart->name = c->series;
    make_points(s, &r, shown, c);
    for (unsigned k = 0; k < chart->panels; k++)
        chart->panel[k].value = c->lines[k];
}
