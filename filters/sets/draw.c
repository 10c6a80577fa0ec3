/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw.c - both profiles as lines: "Observing the Invisible", Figure 12, active sets at the left,
 * reused ones at the right.
 *
 * In: the census. Out: a chart of one level and of the processes with most lines. Memory: 8 bytes a
 * snapshot and process shown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/sets/sets.h"

enum { SHOWN = 8, NAME_BYTES = 256 };

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

static void *need(const struct sets *w, size_t count, size_t size)
{
    void *p = calloc(count + 1, size);

    if (!p)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
    return p;
}

static void name_series(const struct sets *w, uint32_t pid, char *out)
{
    const char *name = sets_name(w, pid);

    if (!pid)
        snprintf(out, NAME_BYTES, "%s", name);
    else if (*name)
        snprintf(out, NAME_BYTES, "%.200s (%" PRIu32 ")", name, pid);
    else
        snprintf(out, NAME_BYTES, "pid %" PRIu32, pid);
}

void sets_draw(const struct sets *w)
{
    const uint32_t groups = cf_census_groups(w->census), most = w->o.top ? w->o.top : SHOWN;
    const struct cf_census_cell *cell = cf_census_cells(w->census);
    struct cf_chart c = {
        .title = "Active and reused sets", .command = w->command ? w->command : "", .panels = 2};
    const struct sized sized = {&c, w->o.width, w->o.height};
    uint32_t *order = need(w, groups, sizeof *order), *rank = need(w, groups, sizeof *rank);
    uint64_t *total = need(w, groups, sizeof *total);
    uint32_t *lines[2], *snapshot;
    struct cf_chart_series *series;
    char *names;
    uint8_t level = 0;
    size_t count, p = 0;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);

    for (size_t i = 0; i < count; i++)
        level = s[i].is.level > level ? s[i].is.level : level;
    if (cf_census_rank(w->census, level, order, total) != 0)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
    for (uint32_t i = 0; i < groups; i++)
        rank[order[i]] = i;
    while (c.series < groups && c.series < most && total[order[c.series]])
        c.series++;
    for (size_t i = 0; i < count; i++)
        c.points += s[i].is.level == level;
    series = need(w, c.series, sizeof *series);
    names = need(w, c.series, NAME_BYTES);
    snapshot = need(w, c.points, sizeof *snapshot);
    for (int k = 0; k < 2; k++)
        lines[k] = need(w, (size_t)c.series * c.points, sizeof **lines);
    for (unsigned i = 0; i < c.series; i++) {
        name_series(w, cf_census_group(w->census, order[i]).pid, names + (size_t)i * NAME_BYTES);
        series[i] = (struct cf_chart_series){names + (size_t)i * NAME_BYTES, cf_series_colour(i)};
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = sets_whole(w, &s[i].is);

        if (s[i].is.level != level)
            continue;
        c.whole = whole > c.whole ? whole : c.whole;
        snapshot[p] = s[i].is.number;
        for (uint32_t k = 0; k < s[i].cells; k++) {
            const struct cf_census_cell *one = &cell[s[i].first + k];

            if (rank[one->group] >= c.series)
                continue;
            lines[0][(size_t)rank[one->group] * c.points + p] = one->lines;
            lines[1][(size_t)rank[one->group] * c.points + p] = one->reused;
        }
        p++;
    }
    c.name = series;
    c.snapshot = snapshot;
    c.panel[0] = (struct cf_chart_panel){
        c.whole ? "active set quota, of the cache" : "active set, lines", 0, lines[0]};
    c.panel[1] = (struct cf_chart_panel){
        c.whole ? "reused set quota, of the cache" : "reused set, lines", 0, lines[1]};
    snprintf(c.summary, sizeof c.summary,
             "%" PRIu32 " snapshot%s of level %u; active: lines in the cache; reused: those that "
             "the snapshot before had too",
             c.points, c.points == 1 ? "" : "s", level);
    if (w->o.png)
        cf_picture_file(&w->tool, w->o.png, write_png, &sized);
    if (w->o.html)
        cf_picture_file(&w->tool, w->o.html, write_html, &sized);
    free(order);
    free(rank);
    free(total);
    free(lines[0]);
    free(lines[1]);
    free(snapshot);
    free(series);
    free(names);
}
