/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - set quotas as CSV: a row for each snapshot and process, also where the process has no
 * line in it, since a profile has no holes; or a summary.
 *
 * Processes stand in the order of their rank, the one with most lines in all snapshots first.
 * Memory: 28 bytes a process, in the summary 48 a process and level.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/sets/sets.h"

enum { LEVELS = 256 };

struct ranks {
    uint32_t groups, shown;
    uint32_t *order, *rank;
    uint64_t *total;
    const struct cf_census_cell **cell; /* of a snapshot, by rank; NULL = none */
};

uint64_t sets_whole(const struct sets *w, const struct cf_snapshot *s)
{
    const uint64_t told = cf_census_room(w->census, s);

    return told ? told : w->o.lines;
}

const char *sets_name(const struct sets *w, uint32_t pid)
{
    return pid ? cf_reader_text(w->reader, cf_tasks_name(w->tasks, pid)) : "[unknown]";
}

static void *need(const struct sets *w, void *p)
{
    if (!p)
        cf_die(&w->tool, CF_EXIT_ENVIRONMENT, "out of memory");
    return p;
}

static void make_ranks(const struct sets *w, struct ranks *r)
{
    r->groups = cf_census_groups(w->census);
    r->shown = w->o.top && w->o.top < r->groups ? w->o.top : r->groups;
    r->order = need(w, calloc((size_t)r->groups + 1, sizeof *r->order));
    r->rank = need(w, calloc((size_t)r->groups + 1, sizeof *r->rank));
    r->total = need(w, calloc((size_t)r->groups + 1, sizeof *r->total));
    r->cell = need(w, calloc((size_t)r->groups + 1, sizeof *r->cell));
    if (cf_census_rank(w->census, -1, r->order, r->total) != 0)
        need(w, NULL);
    for (uint32_t i = 0; i < r->groups; i++)
        r->rank[r->order[i]] = i;
}

static void free_ranks(struct ranks *r)
{
    free(r->order);
    free(r->rank);
    free(r->total);
    free(r->cell);
}

static void fill(const struct sets *w, const struct cf_census_snapshot *s, struct ranks *r)
{
    const struct cf_census_cell *cell = cf_census_cells(w->census);

    memset(r->cell, 0, r->groups * sizeof *r->cell);
    for (uint32_t i = 0; i < s->cells; i++)
        r->cell[r->rank[cell[s->first + i].group]] = &cell[s->first + i];
}

/* "time_instructions"; a unit from a damaged or foreign header stays one word. */
static void time_column(const struct sets *w)
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

static void heads(const char *const *name, unsigned count, int first)
{
    for (unsigned i = 0; i < count; i++)
        cf_csv_text(stdout, first && !i, name[i]);
}

static void quota(double lines, double whole)
{
    if (whole > 0)
        cf_csv_f64(stdout, 0, lines / whole, 9);
    else
        cf_csv_text(stdout, 0, "");
}

static void process(const struct sets *w, uint32_t group)
{
    const uint32_t pid = cf_census_group(w->census, group).pid;

    cf_csv_u64(stdout, 0, pid);
    cf_csv_text(stdout, 0, sets_name(w, pid));
}

static void print_profiles(const struct sets *w)
{
    static const char *const names[] = {
        "level", "pid", "name", "active_lines", "reused_lines", "active_quota", "reused_quota"};
    struct ranks r;
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);

    make_ranks(w, &r);
    cf_csv_text(stdout, 1, "snapshot");
    time_column(w);
    heads(names, sizeof names / sizeof *names, 0);
    cf_csv_end(stdout);
    for (size_t i = 0; i < count; i++) {
        const double whole = (double)sets_whole(w, &s[i].is);

        fill(w, &s[i], &r);
        for (uint32_t k = 0; k < r.shown; k++) {
            const uint32_t active = r.cell[k] ? r.cell[k]->lines : 0;
            const uint32_t reused = r.cell[k] ? r.cell[k]->reused : 0;

            cf_csv_u64(stdout, 1, s[i].is.number);
            if (s[i].is.announced)
                cf_csv_u64(stdout, 0, s[i].is.time);
            else
                cf_csv_text(stdout, 0, "");
            cf_csv_u64(stdout, 0, s[i].is.level);
            process(w, r.order[k]);
            cf_csv_u64(stdout, 0, active);
            cf_csv_u64(stdout, 0, reused);
            quota(active, whole);
            quota(reused, whole);
            cf_csv_end(stdout);
        }
    }
    free_ranks(&r);
}

struct sum {
    double active, active_most, reused, reused_most; /* quotas */
};

/* One level. A snapshot without a known geometry leaves the quotas empty. */
static void print_level(const struct sets *w, unsigned level, struct ranks *r, struct sum *sum)
{
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);
    uint64_t snapshots = 0;
    double known = 1;

    memset(sum, 0, r->groups * sizeof *sum);
    memset(r->total, 0, r->groups * sizeof *r->total);
    for (size_t i = 0; i < count; i++) {
        const double whole = (double)sets_whole(w, &s[i].is), unit = whole > 0 ? whole : 1;

        if (s[i].is.level != level)
            continue;
        snapshots++;
        known = whole > 0 ? known : 0;
        fill(w, &s[i], r);
        for (uint32_t k = 0; k < r->shown; k++) {
            const double active = r->cell[k] ? r->cell[k]->lines / unit : 0;
            const double reused = r->cell[k] ? r->cell[k]->reused / unit : 0;

            r->total[k] += r->cell[k] != NULL;
            sum[k].active += active;
            sum[k].reused += reused;
            sum[k].active_most = active > sum[k].active_most ? active : sum[k].active_most;
            sum[k].reused_most = reused > sum[k].reused_most ? reused : sum[k].reused_most;
        }
    }
    for (uint32_t k = 0; k < r->shown; k++) {
        if (!r->total[k])
            continue;
        cf_csv_u64(stdout, 1, level);
        process(w, r->order[k]);
        cf_csv_u64(stdout, 0, snapshots);
        quota(sum[k].active, known * (double)snapshots);
        quota(sum[k].active_most, known);
        quota(sum[k].reused, known * (double)snapshots);
        quota(sum[k].reused_most, known);
        cf_csv_end(stdout);
    }
}

static void print_summary(const struct sets *w)
{
    static const char *const names[] = {"level",       "pid",        "name",        "snapshots",
                                        "active_mean", "active_max", "reused_mean", "reused_max"};
    uint8_t there[LEVELS] = {0};
    struct ranks r;
    size_t count;
    const struct cf_census_snapshot *s = cf_census_snapshots(w->census, &count);
    struct sum *sum;

    make_ranks(w, &r);
    sum = need(w, calloc((size_t)r.groups + 1, sizeof *sum));
    heads(names, sizeof names / sizeof *names, 1);
    cf_csv_end(stdout);
    for (size_t i = 0; i < count; i++)
        there[s[i].is.level] = 1;
    for (unsigned level = 0; level < LEVELS; level++)
        if (there[level])
            print_level(w, level, &r, sum);
    free(sum);
    free_ranks(&r);
}

void sets_print(const struct sets *w)
{
    if (w->o.summary)
        print_summary(w);
    else
        print_profiles(w);
}
