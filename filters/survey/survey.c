/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey.c - reading, names and ranks of a survey (see survey.h).
 *
 * In: a stream of snapshots. Out: its census, and texts for its groups.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/survey/problems.h"
#include "filters/survey/survey.h"
#include "formats/program/cf_rows.h"

/* ---- reading ---- */

/* Numbers of a file that holds several streams begin at its second. */
static void note_stream(struct cf_survey *s)
{
    const char *file = cf_reader_file(s->reader);

    s->of_file =
        s->streams && !strcmp(s->stream[s->streams - s->of_file], file) ? s->of_file + 1 : 1;
    s->stream = cf_need(&s->tool, reallocarray(s->stream, s->streams + 1, sizeof *s->stream));
    s->stream[s->streams++] = s->of_file > 1 ? cf_tool_text(&s->tool, "%s:%zu", file, s->of_file)
                                             : cf_tool_text(&s->tool, "%s", file);
}

static void note_header(struct cf_survey *s, const struct cf_header *h)
{
    note_stream(s);
    if (!s->unit && h->clock_unit) {
        s->unit = cf_tool_text(&s->tool, "%s", h->clock_unit);
        s->hz = h->clock_hz;
    } else if (s->unit && h->clock_unit &&
               (strcmp(s->unit, h->clock_unit) != 0 || s->hz != h->clock_hz)) {
        s->units_differ = 1;
    }
    cf_tool_command(&s->tool, &s->command, h->command);
}

void cf_survey_read(struct cf_survey *s, char *const *files, int count)
{
    struct cf_frame *f;
    int bad = 0;

    s->reader = cf_tool_reader(&s->tool, files, count);
    s->census = cf_need(&s->tool, cf_census_new(s->o.by, s->o.reuse, s->o.level));
    s->census->apart = s->o.reuse;
    s->tasks = cf_need(&s->tool, cf_counts_new());
    cf_census_want(s->census, s->reader);
    cf_tasks_want(s->reader);
    cf_reader_unify(s->reader);
    while (!bad && cf_tool_next(&s->tool, s->reader, &f) > 0) {
        if (f->table == CF_HEADER)
            note_header(s, f->header);
        if (f->table == CF_TASK) {
            bad = cf_tasks_frame(s->tasks, (uint32_t)s->streams, f);
            bad = bad || s->census->apart ? bad : cf_tasks_frame(s->tasks, 0, f);
        } else
            bad = cf_census_frame(s->census, f);
    }
    if (!bad)
        bad = cf_census_end(s->census);
    if (bad == CF_CENSUS_TOO_MANY)
        cf_die(&s->tool, CF_EXIT_INPUT,
               "over %d different %s: choose some by cf-select, or fewer by --by", 1 << 16,
               s->o.by == CF_CENSUS_PROCESS ? "processes" : "owners");
    cf_must(&s->tool, bad);
    cf_tool_fit(&s->tool, s->reader);
}

void cf_survey_hints(const struct cf_survey *s, const char *shares)
{
    size_t without = 0;
    const struct cf_census_snapshot *one = s->census->snapshot;

    if (s->tool.quiet)
        return;
    for (size_t i = 0; i < s->census->snapshots; i++)
        without += !cf_survey_whole(s, &one[i].is);
    if (!s->census->snapshots && s->o.level && cf_snapshots_passed_over(s->census->walk))
        cf_warn(&s->tool, "there are no snapshots of level %u, but of others: see --level",
                s->o.level);
    else if (!s->census->snapshots)
        cf_warn(&s->tool,
                "there are no snapshots: cf-cache --snapshot-every makes some of a trace");
    if (without)
        cf_warn(&s->tool, "%zu snapshots do not state the size of the cache: give --lines for %s",
                without, shares);
    if (s->units_differ)
        cf_warn(&s->tool, "the streams count time in different units: their times do not compare");
    if (!s->census->apart)
        cf_tasks_problems(&s->tool, s->tasks, s->reader);
}

int cf_survey_finish(struct cf_survey *s)
{
    cf_census_free(s->census);
    cf_counts_free(s->tasks);
    free(s->stream);
    return cf_tool_finish(&s->tool, s->reader, NULL);
}

uint64_t cf_survey_whole(const struct cf_survey *s, const struct cf_snapshot *one)
{
    const uint64_t stated = cf_census_room(s->census, one);

    return stated ? stated : s->o.lines;
}

/* ---- names ---- */

const char *cf_survey_process(const struct cf_survey *s, struct cf_census_group g)
{
    return g.pid ? cf_reader_text(s->reader, cf_tasks_name(s->tasks, g.stream, g.pid))
                 : "[unknown]";
}

const char *cf_survey_file(const struct cf_survey *s, uint32_t stream)
{
    return stream && stream <= s->streams ? s->stream[stream - 1] : cf_reader_file(s->reader);
}

const char *cf_survey_region(const struct cf_survey *s, uint32_t region)
{
    const char *name = cf_reader_text(s->reader, region);

    return *name ? name : "[unresolved]";
}

static void process_label(const struct cf_survey *s, struct cf_census_group g, char *out)
{
    const char *name = cf_survey_process(s, g);
    const uint32_t pid = g.pid;

    if (!pid)
        snprintf(out, CF_LABEL_BYTES, "%s", name);
    else if (*name)
        snprintf(out, CF_LABEL_BYTES, "%.200s (%" PRIu32 ")", name, pid);
    else
        snprintf(out, CF_LABEL_BYTES, "pid %" PRIu32, pid);
}

void cf_survey_label(const struct cf_survey *s, uint32_t group, char *out)
{
    const struct cf_census_group g = cf_census_group(s->census, group);
    char process[CF_LABEL_BYTES];

    switch (s->o.by) {
    case CF_CENSUS_PROCESS:
        process_label(s, g, out);
        break;
    case CF_CENSUS_REGION:
        process_label(s, g, process);
        snprintf(out, CF_LABEL_BYTES, "%.200s of %.230s", cf_survey_region(s, g.value), process);
        break;
    case CF_CENSUS_CPU:
        snprintf(out, CF_LABEL_BYTES, "cpu %" PRIu32, g.value);
        break;
    case CF_CENSUS_STATE:
        snprintf(out, CF_LABEL_BYTES, "%s", cf_state_name(g.value));
        break;
    }
}

/* ---- ranks ---- */

struct cf_ranks cf_survey_ranks(const struct cf_survey *s, int level)
{
    struct cf_ranks r = {.groups = cf_groups_count(s->census->groups)};
    const size_t n = (size_t)r.groups + 1;

    r.shown = s->o.top && s->o.top < r.groups ? s->o.top : r.groups;
    r.order = cf_tool_room(&s->tool, n, sizeof *r.order);
    r.rank = cf_tool_room(&s->tool, n, sizeof *r.rank);
    r.total = cf_tool_room(&s->tool, n, sizeof *r.total);
    r.cell = cf_tool_room(&s->tool, n, sizeof *r.cell);
    cf_must(&s->tool, cf_census_rank(s->census, level, r.order, r.total));
    for (uint32_t i = 0; i < r.groups; i++)
        r.rank[r.order[i]] = i;
    return r;
}

void cf_ranks_fill(const struct cf_survey *s, const struct cf_census_snapshot *one,
                   struct cf_ranks *r)
{
    const struct cf_census_cell *cell = s->census->cell;

    memset(r->cell, 0, r->groups * sizeof *r->cell);
    for (uint32_t i = 0; i < one->cells; i++)
        r->cell[r->rank[cell[one->first + i].group]] = &cell[one->first + i];
}

/* ---- CSV ---- */

void cf_survey_heads(const struct cf_survey *s)
{
    cf_rows_begin(&s->tool);
    fputs("snapshot", stdout);
    cf_csv_unit(stdout, "time", s->unit ? s->unit : "");
    fputs(",level", stdout);
}

void cf_survey_when(const struct cf_snapshot *one)
{
    cf_csv_u64(stdout, 1, one->number);
    if (one->announced)
        cf_csv_u64(stdout, 0, one->time);
    else
        cf_csv_text(stdout, 0, "");
    cf_csv_u64(stdout, 0, one->level);
}
