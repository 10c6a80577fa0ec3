/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - occupancy as CSV: a row for each snapshot and group that has lines in it, or a row a
 * snapshot with a column a group.
 *
 * Groups stand in the order of their rank, the one with most lines in all snapshots first. Memory:
 * 16 bytes a group.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/occupancy/occupancy.h"

struct ranks {
    uint32_t groups, shown;
    uint32_t *order; /* groups by rank */
    uint32_t *rank;  /* of a group */
    uint64_t *total;
    uint32_t *lines; /* of a snapshot, by rank; what is not shown is added to [shown] */
};

static const char *process_name(const struct work *w, uint32_t pid)
{
    if (!pid)
        return "[unknown]";
    return cf_reader_text(w->reader, cf_tasks_name(w->tasks, pid));
}

static const char *region_name(const struct work *w, uint32_t region)
{
    const char *name = cf_reader_text(w->reader, region);

    return *name ? name : "[unresolved]";
}

static void process_label(const struct work *w, uint32_t pid, char *out)
{
    const char *name = process_name(w, pid);

    if (!pid)
        snprintf(out, LABEL_BYTES, "%s", name);
    else if (*name)
        snprintf(out, LABEL_BYTES, "%.200s (%" PRIu32 ")", name, pid);
    else
        snprintf(out, LABEL_BYTES, "pid %" PRIu32, pid);
}

void label(const struct work *w, uint32_t group, char *out)
{
    const struct cf_census_group g = cf_census_group(w->census, group);
    char process[LABEL_BYTES];

    switch (w->o.by) {
    case CF_CENSUS_PROCESS:
        process_label(w, g.pid, out);
        break;
    case CF_CENSUS_REGION:
        process_label(w, g.pid, process);
        snprintf(out, LABEL_BYTES, "%.200s of %.230s", region_name(w, g.value), process);
        break;
    case CF_CENSUS_CPU:
        snprintf(out, LABEL_BYTES, "cpu %" PRIu32, g.value);
        break;
    case CF_CENSUS_STATE:
        snprintf(out, LABEL_BYTES, "%s", cf_state_name(g.value));
        break;
    }
}

uint64_t whole_of(const struct work *w, const struct cf_snapshot *s)
{
    const uint64_t told = cf_census_room(w->census, s);

    return told ? told : w->o.lines;
}

static void make_ranks(const struct work *w, struct ranks *r)
{
    r->groups = cf_census_groups(w->census);
    r->shown = w->o.top && w->o.top < r->groups ? w->o.top : r->groups;
    r->order = calloc((size_t)r->groups + 1, sizeof *r->order);
    r->rank = calloc((size_t)r->groups + 1, sizeof *r->rank);
    r->total = calloc((size_t)r->groups + 1, sizeof *r->total);
    r->lines = calloc((size_t)r->groups + 1, sizeof *r->lines);
    if (!r->order || !r->rank || !r->total || !r->lines ||
        cf_census_rank(w->census, -1, r->order, r->total) != 0)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
    for (uint32_t i = 0; i < r->groups; i++)
        r->rank[r->order[i]] = i;
}

static void free_ranks(struct ranks *r)
{
    free(r->order);
    free(r->rank);
    free(r->total);
    free(r->lines);
}

static void fill(const struct work *w, const struct cf_census_snapshot *s, const struct ranks *r)
{
    const struct cf_census_cell *cell = cf_census_cells(w->census);

    memset(r->lines, 0, ((size_t)r->shown + 1) * sizeof *r->lines);
    for (uint32_t i = 0; i < s->cells; i++) {
        const uint32_t rank = r->rank[cell[s->first + i].group];

        r->lines[rank < r->shown ? rank : r->shown] += cell[s->first + i].lines;
    }
}

/* "time_instructions"; a unit from a damaged or foreign header stays one word. */
static void time_column(const struct work *w)
{
    char name[64] = "time_";
    size_t n = strlen(name);

    if (!w->unit || !*w->unit)
        name[--n] = 0;
    for (const char *u = w->unit ? w->unit : ""; *u && n < sizeof name - 1; u++)
        name[n++] = (*u >= 'a' && *u <= 'z') || (*u >= '0' && *u <= '9') ? *u : '_';
    name[n] = 0;
    cf_csv_text(stdout, 0, name);
}

static void when(const struct cf_snapshot *s)
{
    cf_csv_u64(stdout, 1, s->number);
    if (s->announced)
        cf_csv_u64(stdout, 0, s->time);
    else
        cf_csv_text(stdout, 0, "");
    cf_csv_u64(stdout, 0, s->level);
}

/* The columns that tell a group. */
static void group_names(const struct work *w)
{
    switch (w->o.by) {
    case CF_CENSUS_REGION:
    case CF_CENSUS_PROCESS:
        cf_csv_text(stdout, 0, "pid");
        cf_csv_text(stdout, 0, "name");
        if (w->o.by == CF_CENSUS_REGION)
            cf_csv_text(stdout, 0, "region");
        break;
    case CF_CENSUS_CPU:
        cf_csv_text(stdout, 0, "cpu");
        break;
    case CF_CENSUS_STATE:
        cf_csv_text(stdout, 0, "state");
        break;
    }
}

static void group_values(const struct work *w, const struct ranks *r, uint32_t rank)
{
    const int other = rank == r->shown;
    const uint32_t group = other ? 0 : r->order[rank];
    const struct cf_census_group g = cf_census_group(w->census, group);
    char text[LABEL_BYTES];

    switch (w->o.by) {
    case CF_CENSUS_REGION:
    case CF_CENSUS_PROCESS:
        if (other)
            cf_csv_text(stdout, 0, "");
        else
            cf_csv_u64(stdout, 0, g.pid);
        cf_csv_text(stdout, 0, other ? "[other]" : process_name(w, g.pid));
        if (w->o.by == CF_CENSUS_REGION)
            cf_csv_text(stdout, 0, other ? "" : region_name(w, g.value));
        break;
    case CF_CENSUS_CPU:
        if (other)
            cf_csv_text(stdout, 0, "[other]");
        else
            cf_csv_u64(stdout, 0, g.value);
        break;
    case CF_CENSUS_STATE:
        label(w, group, text);
        cf_csv_text(stdout, 0, other ? "[other]" : text);
        break;
    }
}

void print_long(const struct work *w)
{
    struct ranks r;
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);

    make_ranks(w, &r);
    cf_csv_text(stdout, 1, "snapshot");
    time_column(w);
    cf_csv_text(stdout, 0, "level");
    group_names(w);
    cf_csv_text(stdout, 0, "lines");
    cf_csv_text(stdout, 0, "share");
    cf_csv_end(stdout);
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = whole_of(w, &s[i].is);

        fill(w, &s[i], &r);
        for (uint32_t k = 0; k <= r.shown; k++) {
            if (!r.lines[k])
                continue;
            when(&s[i].is);
            group_values(w, &r, k);
            cf_csv_u64(stdout, 0, r.lines[k]);
            if (whole)
                cf_csv_f64(stdout, 0, (double)r.lines[k] / (double)whole, 6);
            else
                cf_csv_text(stdout, 0, "");
            cf_csv_end(stdout);
        }
    }
    free_ranks(&r);
}

void print_wide(const struct work *w)
{
    struct ranks r;
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);
    char text[LABEL_BYTES];

    make_ranks(w, &r);
    cf_csv_text(stdout, 1, "snapshot");
    time_column(w);
    cf_csv_text(stdout, 0, "level");
    for (uint32_t k = 0; k < r.shown; k++) {
        label(w, r.order[k], text);
        cf_csv_text(stdout, 0, text);
    }
    if (r.shown < r.groups)
        cf_csv_text(stdout, 0, "[other]");
    cf_csv_text(stdout, 0, "[empty]");
    cf_csv_end(stdout);
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = whole_of(w, &s[i].is);

        fill(w, &s[i], &r);
        when(&s[i].is);
        for (uint32_t k = 0; k < r.shown + (r.shown < r.groups); k++)
            cf_csv_u64(stdout, 0, r.lines[k]);
        if (whole)
            cf_csv_u64(stdout, 0, s[i].lines < whole ? whole - s[i].lines : 0);
        else
            cf_csv_text(stdout, 0, "");
        cf_csv_end(stdout);
    }
    free_ranks(&r);
}
