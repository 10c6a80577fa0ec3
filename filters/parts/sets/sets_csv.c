/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sets_csv.c - set quotas as CSV: a row for each snapshot and process, also where the process has
 * no line in it, since a profile has no holes; or a summary.
 *
 * Processes stand in the order of their rank. Memory: of the summary 32 bytes a process.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/sets/sets.h"

enum { LEVELS = 256 };

void print_profiles(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    size_t count;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);

    cf_survey_heads(s);
    puts(",pid,name,active_lines,reused_lines,active_quota,reused_quota");
    for (size_t i = 0; i < count; i++) {
        const double whole = (double)cf_survey_whole(s, &one[i].is);

        cf_ranks_fill(s, &one[i], &r);
        for (uint32_t k = 0; k < r.shown; k++) {
            const uint32_t active = r.cell[k] ? r.cell[k]->lines : 0;
            const uint32_t reused = r.cell[k] ? r.cell[k]->reused : 0;
            const uint32_t pid = cf_census_group(s->census, r.order[k]).pid;

            cf_survey_when(&one[i].is);
            /* the quotas are empty where the whole is not known */
            cf_csv_print(stdout, ",%u,%s,%u,%u,%.9f,%.9f\n", pid, cf_survey_process(s, pid), active,
                         reused, active / whole, reused / whole);
        }
    }
    cf_ranks_free(&r);
}

struct sum {
    double active, active_most, reused, reused_most; /* quotas */
};

/* One level. A snapshot without a known geometry leaves the quotas empty. */
static void print_level(const struct cf_survey *s, unsigned level, struct cf_ranks *r,
                        struct sum *sum)
{
    size_t count;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);
    uint64_t snapshots = 0;
    double known = 1;

    memset(sum, 0, r->groups * sizeof *sum);
    memset(r->total, 0, r->groups * sizeof *r->total);
    for (size_t i = 0; i < count; i++) {
        const double whole = (double)cf_survey_whole(s, &one[i].is), unit = whole > 0 ? whole : 1;

        if (one[i].is.level != level)
            continue;
        snapshots++;
        known = whole > 0 ? known : 0;
        cf_ranks_fill(s, &one[i], r);
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
        uint32_t pid;

        if (!r->total[k])
            continue;
        pid = cf_census_group(s->census, r->order[k]).pid;
        cf_csv_print(stdout, "%u,%u,%s,%" PRIu64 ",%.9f,%.9f,%.9f,%.9f\n", level, pid,
                     cf_survey_process(s, pid), snapshots,
                     sum[k].active / (known * (double)snapshots), sum[k].active_most / known,
                     sum[k].reused / (known * (double)snapshots), sum[k].reused_most / known);
    }
}

void print_summary(const struct cf_survey *s)
{
    uint8_t there[LEVELS] = {0};
    struct cf_ranks r = cf_survey_ranks(s, -1);
    size_t count;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);
    struct sum *sum;

    sum = cf_need(&s->tool, calloc((size_t)r.groups + 1, sizeof *sum));
    puts("level,pid,name,snapshots,active_mean,active_max,reused_mean,reused_max");
    for (size_t i = 0; i < count; i++)
        there[one[i].is.level] = 1;
    for (unsigned level = 0; level < LEVELS; level++)
        if (there[level])
            print_level(s, level, &r, sum);
    free(sum);
    cf_ranks_free(&r);
}
