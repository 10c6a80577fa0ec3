/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_csv.c - changes as CSV: of each pair, by mode, by process or set. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filters/parts/diff/diff.h"
#include "formats/program/cf_rows.h"

unsigned mode_index(unsigned mode)
{
    return (mode & CF_MODE_FLUSH ? 4 : 0) | (mode & CF_MODE_RESOLVED ? 2 : 0) |
           (mode & CF_MODE_LAYOUT ? 1 : 0);
}

/* As the paper calls them; it has flush mode only with both. */
static const char *const mode_names[MODES] = {
    "full transparent", "layout",        "resolve",    "resolve+layout", "flush",
    "flush+layout",     "flush+resolve", "full flush",
};

void print_head(struct work *w)
{
    if (w->headed++)
        return;
    cf_rows_begin(&w->tool);
    puts("snapshot_a,snapshot_b,time,mode,lines,valid_a,valid_b,same,other_state,other_way,"
         "only_a,only_b,changed,changed_percent,cost_cycles");
}

void print_pair(struct work *w, const struct cf_snapshot *a, const struct cf_snapshot *b,
                const struct cf_changes *c, uint64_t lines, double percent)
{
    print_head(w);
    cf_csv_print(stdout, "%u,%u,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, a->number,
                 b->number, a->time, mode_names[mode_index(a->mode)], lines, c->valid_a,
                 c->valid_b);
    for (int k = 0; k < CF_CHANGE_KINDS; k++)
        cf_csv_u64(stdout, 0, c->count[k]);
    cf_csv_print(stdout, ",%" PRIu64 ",%.4f", c->ways, percent);
    if (a->cost)
        cf_csv_u64(stdout, 0, a->cost);
    else
        cf_csv_text(stdout, 0, ""); /* none is stated, as of models */
    cf_csv_end(stdout);
}

void print_modes(const struct work *w)
{
    cf_rows_begin(&w->tool);
    puts("mode,pairs,changed_percent_mean,changed_percent_stddev,changed_percent_max,"
         "cost_cycles_mean,cost_cycles_stddev,cost_cycles_max");
    /* in the order of the paper's table: what does most first */
    for (int k = MODES - 1; k >= 0; k--) {
        const struct cf_moments *p = &w->polluted[k], *c = &w->cost[k];

        if (p->n)
            cf_csv_print(stdout, "%s,%" PRIu64 ",%.4f,%.4f,%.4f,%.2f,%.2f,%.2f\n", mode_names[k],
                         p->n, p->mean, cf_moments_deviation(p), p->most, c->n ? c->mean : NAN,
                         cf_moments_deviation(c), c->n ? c->most : NAN);
    }
}

void print_sums(const struct work *w)
{
    struct cf_group *key = cf_need(&w->tool, cf_groups_sorted(w->groups, NULL));

    cf_rows_begin(&w->tool);
    printf("%s,same,other_state,other_way,only_a,only_b\n", w->o.by == BY_SET ? "set" : "pid,name");
    for (uint32_t i = 0; i < cf_groups_count(w->groups); i++) {
        cf_csv_u64(stdout, 1, key[i].value);
        if (w->o.by == BY_PROCESS)
            cf_csv_text(
                stdout, 0,
                cf_reader_text(w->a.reader, cf_tasks_name(w->tasks, 0, (uint32_t)key[i].value)));
        for (int k = 0; k < CF_CHANGE_KINDS; k++)
            cf_csv_u64(stdout, 0, w->sums[key[i].number][k]);
        cf_csv_end(stdout);
    }
    free(key);
}
