/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_sums.c - what changed, summed by process or by set (see diff_sums.h). */
#include <stdlib.h>

#include "filters/engine/rows/groups.h"
#include "filters/parts/diff/diff_sums.h"
#include "formats/base/cf_memory.h"
#include "formats/program/cf_rows.h"

/* What is summed for a process or set. */
struct sums {
    uint64_t count[CF_CHANGE_KINDS];
};

/* A direct-mapped cache of recent numbers: the lines of several processes or sets take turns. */
struct recent {
    uint32_t key, known; /* number + 1, 0 = none */
};

enum { RECENT_BITS = 8, RECENT = 1 << RECENT_BITS };

struct diff_sums {
    const struct cf_tool *tool;
    struct cf_groups *groups;
    struct sums *sums; /* by number */
    size_t room;
    struct recent recent[RECENT];
};

struct diff_sums *diff_sums_new(const struct cf_tool *t)
{
    struct diff_sums *s = cf_need(t, calloc(1, sizeof *s));

    s->tool = t;
    s->groups = cf_need(t, cf_groups_new());
    return s;
}

void diff_sums_free(struct diff_sums *s)
{
    cf_groups_free(s->groups);
    free(s->sums);
    free(s);
}

/* The number of a process or set, for which there are sums then: 0, or -1 without memory. */
static int find_sums(struct diff_sums *s, uint32_t key, struct recent *recent)
{
    uint32_t n;
    int r;

    if ((r = cf_groups_number(s->groups, &key, sizeof key, 1, &n)) != 0) {
        if (r > 0)
            cf_die(s->tool, CF_EXIT_INPUT, "--by: there are over %d of them", CF_GROUPS_MOST);
        return -1;
    }
    *recent = (struct recent){key, n + 1};
    return cf_array_cleared(&s->sums, &s->room, n + (size_t)1, sizeof *s->sums);
}

int diff_take_set(void *arg, const struct cf_tags *t, size_t slot, uint32_t set,
                  enum cf_change kind)
{
    struct diff_sums *s = arg;
    struct recent *r = &s->recent[set % RECENT];

    (void)t;
    (void)slot;
    if ((r->key != set || !r->known) && find_sums(s, set, r) != 0)
        return -1;
    s->sums[r->known - 1].count[kind]++;
    return 0;
}

int diff_take_processes(void *arg, const struct cf_tags *t, size_t slot, uint32_t set,
                        enum cf_change kind)
{
    struct diff_sums *s = arg;
    const uint32_t pid = t->pid[slot];
    struct recent *r = &s->recent[pid * 0x9e3779b1u >> (32 - RECENT_BITS)];

    (void)set;
    if ((r->key != pid || !r->known) && find_sums(s, pid, r) != 0)
        return -1;
    s->sums[r->known - 1].count[kind]++;
    return 0;
}

void diff_print_sums(const struct diff_sums *s, const struct cf_counts *tasks,
                     const struct cf_reader *r)
{
    const uint32_t n = cf_groups_count(s->groups);
    struct cf_group *key = cf_need(s->tool, cf_groups_sorted(s->groups, NULL));

    cf_rows_begin(s->tool);
    printf("%s,same,other_state,other_way,only_a,only_b\n", tasks ? "pid,name" : "set");
    for (uint32_t i = 0; i < n; i++) {
        cf_csv_u64(stdout, 1, key[i].value);
        if (tasks)
            cf_csv_text(stdout, 0,
                        cf_reader_text(r, cf_tasks_name(tasks, 0, (uint32_t)key[i].value)));
        for (int k = 0; k < CF_CHANGE_KINDS; k++)
            cf_csv_u64(stdout, 0, s->sums[key[i].number].count[k]);
        cf_csv_end(stdout);
    }
    free(key);
}
