/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * occupancy_csv.c - occupancy as CSV (see occupancy.h). Groups stand in the order of their rank;
 * those below --top are added up.
 */
#include <inttypes.h>

#include "filters/parts/occupancy/occupancy.h"

/* Lines of the group of a rank; after the last one shown, of all others. */
static uint64_t lines_of(const struct cf_ranks *r, uint32_t rank)
{
    const uint32_t to = rank < r->shown ? rank + 1 : r->groups;
    uint64_t lines = 0;

    for (uint32_t k = rank; k < to; k++)
        lines += r->cell[k] ? r->cell[k]->lines : 0;
    return lines;
}

/* The columns that name a group. */
static void group_names(const struct cf_survey *s)
{
    switch (s->o.by) {
    case CF_CENSUS_REGION:
    case CF_CENSUS_PROCESS:
        fputs(s->o.by == CF_CENSUS_REGION ? ",pid,name,region" : ",pid,name", stdout);
        break;
    case CF_CENSUS_CPU:
        fputs(",cpu", stdout);
        break;
    case CF_CENSUS_STATE:
        fputs(",state", stdout);
        break;
    }
}

static void other_values(const struct cf_survey *s)
{
    fputs(s->o.by == CF_CENSUS_REGION    ? ",,[other],"
          : s->o.by == CF_CENSUS_PROCESS ? ",,[other]"
                                         : ",[other]",
          stdout);
}

static void group_values(const struct cf_survey *s, uint32_t group)
{
    const struct cf_census_group g = cf_census_group(s->census, group);

    switch (s->o.by) {
    case CF_CENSUS_REGION:
    case CF_CENSUS_PROCESS:
        cf_csv_print(stdout, ",%u,%s", g.pid, cf_survey_process(s, g.pid));
        if (s->o.by == CF_CENSUS_REGION)
            cf_csv_text(stdout, 0, cf_survey_region(s, g.value));
        break;
    case CF_CENSUS_CPU:
        cf_csv_u64(stdout, 0, g.value);
        break;
    case CF_CENSUS_STATE:
        cf_csv_text(stdout, 0, cf_state_name(g.value));
        break;
    }
}

void print_long(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    size_t count;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);

    cf_survey_heads(s);
    group_names(s);
    puts(",lines,share");
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        cf_ranks_fill(s, &one[i], &r);
        for (uint32_t k = 0; k <= r.shown; k++) {
            const uint64_t lines = lines_of(&r, k);

            if (!lines)
                continue;
            cf_survey_when(&one[i].is);
            if (k < r.shown)
                group_values(s, r.order[k]);
            else
                other_values(s);
            cf_csv_print(stdout, ",%" PRIu64 ",%.6f\n", lines, (double)lines / (double)whole);
        }
    }
    cf_ranks_free(&r);
}

void print_wide(const struct cf_survey *s)
{
    struct cf_ranks r = cf_survey_ranks(s, -1);
    size_t count;
    const struct cf_census_snapshot *one = cf_census_snapshots(s->census, &count);
    char text[CF_LABEL_BYTES];

    cf_survey_heads(s);
    for (uint32_t k = 0; k < r.shown; k++) {
        cf_survey_label(s, r.order[k], text);
        cf_csv_text(stdout, 0, text);
    }
    if (r.shown < r.groups)
        cf_csv_text(stdout, 0, "[other]");
    cf_csv_text(stdout, 0, "[empty]");
    cf_csv_end(stdout);
    for (size_t i = 0; i < count; i++) {
        const uint64_t whole = cf_survey_whole(s, &one[i].is);

        cf_ranks_fill(s, &one[i], &r);
        cf_survey_when(&one[i].is);
        for (uint32_t k = 0; k < r.shown + (r.shown < r.groups); k++)
            cf_csv_u64(stdout, 0, lines_of(&r, k));
        if (whole)
            cf_csv_u64(stdout, 0, one[i].lines < whole ? whole - one[i].lines : 0);
        else
            cf_csv_text(stdout, 0, "");
        cf_csv_end(stdout);
    }
    cf_ranks_free(&r);
}
