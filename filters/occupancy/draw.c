/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw.c - occupancy as a chart of areas: "Observing the Invisible", Figures 9 to 11.
 *
 * In: the census. Out: a chart of one level; the groups with most lines have areas of their own,
 * the others one together; what is empty is the ground. Memory: 4 bytes a snapshot and series.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filters/occupancy/occupancy.h"

enum { SHOWN = 10 };

struct sized {
    const struct cf_chart *chart;
    uint32_t width, height;
};

static int write_png(const void *what, FILE *out)
{
    const struct sized *s = what;

    return cf_chart_png(s->chart, out, s->width, s->height);
}

static int write_html(const void *what, FILE *out)
{
    return cf_chart_html(((const struct sized *)what)->chart, out);
}

/* What pictures show: the level that was asked for, or the last one of the hierarchy. */
static uint8_t level_shown(const struct work *w)
{
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);
    uint8_t level = 0;

    for (size_t i = 0; i < count; i++)
        level = s[i].is.level > level ? s[i].is.level : level;
    return level;
}

static void *need(const struct work *w, void *p)
{
    if (!p)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
    return p;
}

struct storage {
    struct cf_chart_series *series;
    char *names;
    uint32_t *lines, *snapshot, *order, *rank;
    uint64_t *total;
};

static void name_series(const struct work *w, struct storage *m, unsigned shown, unsigned series)
{
    for (unsigned s = 0; s < series; s++) {
        char *name = m->names + (size_t)s * LABEL_BYTES;

        m->series[s] = (struct cf_chart_series){name, cf_series_colour(s)};
        if (s < shown) {
            label(w, m->order[s], name);
            if (!strcmp(name, "[unknown]"))
                m->series[s].colour = (struct cf_rgb){120, 122, 134};
        } else {
            strcpy(name, "[other]");
            m->series[s].colour = (struct cf_rgb){176, 178, 188};
        }
    }
}

static void make_chart(const struct work *w, struct cf_chart *c, struct storage *m)
{
    const uint32_t groups = cf_census_groups(w->census), most = w->o.top ? w->o.top : SHOWN;
    const struct cf_census_cell *cell = cf_census_cells(w->census);
    const uint8_t level = level_shown(w);
    uint32_t shown = 0;
    uint64_t all = 0;
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);

    m->order = need(w, calloc((size_t)groups + 1, sizeof *m->order));
    m->rank = need(w, calloc((size_t)groups + 1, sizeof *m->rank));
    m->total = need(w, calloc((size_t)groups + 1, sizeof *m->total));
    if (cf_census_rank(w->census, level, m->order, m->total) != 0)
        need(w, NULL);
    while (shown < groups && shown < most && m->total[m->order[shown]])
        shown++;
    for (uint32_t i = 0; i < groups; i++)
        m->rank[m->order[i]] = i;
    c->series = shown + (shown < groups && m->total[m->order[shown]]);
    for (size_t i = 0; i < count; i++)
        c->points += s[i].is.level == level;
    m->series = need(w, calloc((size_t)c->series + 1, sizeof *m->series));
    m->names = need(w, calloc((size_t)c->series + 1, LABEL_BYTES));
    m->lines = need(w, calloc((size_t)c->series * c->points + 1, sizeof *m->lines));
    m->snapshot = need(w, calloc((size_t)c->points + 1, sizeof *m->snapshot));
    name_series(w, m, shown, c->series);
    for (size_t i = 0, p = 0; i < count; i++) {
        uint64_t whole;

        if (s[i].is.level != level)
            continue;
        whole = whole_of(w, &s[i].is);
        c->whole = whole > c->whole ? whole : c->whole;
        all += s[i].lines;
        m->snapshot[p] = s[i].is.number;
        for (uint32_t k = 0; k < s[i].cells; k++) {
            const uint32_t rank = m->rank[cell[s[i].first + k].group];
            const uint32_t at = rank < shown ? rank : shown;

            m->lines[(size_t)at * c->points + p] += cell[s[i].first + k].lines;
        }
        p++;
    }
    c->name = m->series;
    c->snapshot = m->snapshot;
    c->panels = 1;
    c->panel[0] = (struct cf_chart_panel){"share of the cache", 1, m->lines};
    if (!c->whole)
        c->panel[0].title = "lines";
    {
        char mean[32], size[48] = "";

        cf_chart_value(c, mean, sizeof mean, c->points ? (double)all / c->points : 0);
        if (c->whole)
            snprintf(size, sizeof size, " of %llu lines", (unsigned long long)c->whole);
        snprintf(c->summary, sizeof c->summary, "%u snapshot%s of level %u%s; on average %s %s",
                 c->points, c->points == 1 ? "" : "s", level, size, mean,
                 c->whole ? "in use" : "lines in use");
    }
}

int draw(const struct work *w, int to_stdout)
{
    static const char *const titles[] = {"Cache occupancy by process", "Cache occupancy by mapping",
                                         "Cache occupancy by core", "Cache occupancy by state"};
    struct cf_chart chart = {.title = titles[w->o.by], .command = w->command ? w->command : ""};
    const struct sized sized = {&chart, w->o.width, w->o.height};
    const struct cf_terminal terminal = cf_terminal_here();
    struct storage m = {0};
    int bad = 0;

    make_chart(w, &chart, &m);
    if (w->o.png)
        cf_picture_file(&w->tool, w->o.png, write_png, &sized);
    if (w->o.html)
        cf_picture_file(&w->tool, w->o.html, write_html, &sized);
    if (to_stdout)
        bad = cf_chart_term(&chart, stdout, &terminal);
    free(m.series);
    free(m.names);
    free(m.lines);
    free(m.snapshot);
    free(m.order);
    free(m.rank);
    free(m.total);
    return bad;
}
