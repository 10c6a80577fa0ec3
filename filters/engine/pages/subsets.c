/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * subsets.c - cycles of a trace when a subset of its pages is cached (see pages.h): one simulation
 * a subset, which sees the accesses of its pages alone.
 *
 * Memory: the caches of each simulation (hierarchy.h), and some columns of a frame a thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/pages/pages.h"
#include "filters/engine/pages/share.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

const uint64_t cf_paged_space[CF_FILE_ROWS];

struct one {
    struct cf_subset of;
    struct cf_hierarchy *model;
    uint64_t *cycles; /* by core */
};

/* Rows of a subset. */
struct room {
    uint64_t addr[CF_FILE_ROWS];
    uint32_t size[CF_FILE_ROWS];
    uint8_t op[CF_FILE_ROWS], core[CF_FILE_ROWS], hit[CF_FILE_ROWS];
};

struct cf_subsets {
    const struct cf_paged_machine *m;
    const uint32_t *place;
    struct one *one;
    size_t count;
    struct room *room[CF_SHARE_THREADS]; /* of each thread, when it is made */
};

uint64_t cf_subset_bytes(const struct cf_paged_machine *m)
{
    uint64_t bytes = 1 << 20; /* batches */

    for (unsigned i = 0; i < m->machine->levels; i++) {
        const struct cf_level *l = &m->machine->level[i];

        bytes += (uint64_t)l->sets * l->ways * 16 * cf_paged_caches(m, l);
    }
    return bytes;
}

struct cf_subsets *cf_subsets_new(const struct cf_paged_machine *m, const uint32_t *place,
                                  const struct cf_subset *subset, size_t count, char *problem,
                                  size_t size)
{
    const struct cf_hierarchy_options o = {.cores = m->cores, .seed = m->seed};
    struct cf_subsets *s = calloc(1, sizeof *s);

    snprintf(problem, size, "no memory");
    errno = ENOMEM;
    if (s)
        s->one = calloc(count + 1, sizeof *s->one);
    if (!s || !s->one) {
        free(s);
        return NULL;
    }
    s->m = m;
    s->place = place;
    s->count = count;
    for (size_t i = 0; i < count; i++) {
        s->one[i].of = subset[i];
        s->one[i].cycles = calloc(m->cores, sizeof *s->one[i].cycles);
        if (s->one[i].cycles)
            s->one[i].model = cf_hierarchy_new(m->machine, &o, problem, size);
        if (!s->one[i].model) {
            cf_subsets_free(s);
            return NULL;
        }
    }
    return s;
}

void cf_subsets_free(struct cf_subsets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        cf_hierarchy_free(s->one[i].model);
        free(s->one[i].cycles);
    }
    for (unsigned i = 0; i < CF_SHARE_THREADS; i++)
        free(s->room[i]);
    free(s->one);
    free(s);
}

/* Of all pages. */
static int simulate_all(const struct cf_subsets *s, struct one *one, const struct cf_paged *rows,
                        uint8_t *hit)
{
    for (uint32_t i = 0, end; i < rows->rows; i = end) {
        uint64_t cycles = 0;

        end = cf_paged_same_core(rows, i);
        if (cf_hierarchy_run(one->model, rows->addr, rows->op, rows->size, i, end, rows->core[i], 0,
                             hit) != 0)
            return -1;
        for (uint32_t k = i; k < end; k++)
            cycles += s->m->cost[cf_latency_key(hit[k], rows->op[k])];
        one->cycles[rows->core[i]] += cycles;
    }
    return 0;
}

static int simulate(const struct cf_subsets *s, struct one *one, const struct cf_paged *rows,
                    struct room *to)
{
    const uint32_t *cost = s->m->cost;
    const uint32_t count = one->of.to - one->of.from;
    const unsigned others = one->of.others != 0;
    uint32_t n = 0;

    if (!s->place)
        return simulate_all(s, one, rows, to->hit);
    for (uint32_t i = 0; i < rows->rows; i++) {
        const unsigned in = (s->place[rows->frame[i]] - one->of.from < count) ^ others;

        to->addr[n] = rows->addr[i];
        to->size[n] = rows->size[i];
        to->op[n] = rows->op[i];
        to->core[n] = rows->core[i];
        n += in;
        one->cycles[rows->core[i]] += in ? 0 : cf_paged_uncached(s->m, rows, i);
    }
    if (n && cf_hierarchy_rows(one->model, to->addr, to->op, to->size, n, to->core, cf_paged_space,
                               to->hit))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        one->cycles[to->core[i]] += cost[cf_latency_key(to->hit[i], to->op[i])];
    return 0;
}

struct work {
    struct cf_subsets *s;
    const struct cf_paged *rows;
    int failed;
};

static void work(void *arg, size_t i, unsigned thread)
{
    struct work *w = arg;

    if (simulate(w->s, &w->s->one[i], w->rows, w->s->room[thread]) != 0)
        __atomic_store_n(&w->failed, 1, __ATOMIC_RELAXED);
}

int cf_subsets_rows(struct cf_subsets *s, const struct cf_paged *rows, unsigned threads)
{
    struct work w = {.s = s, .rows = rows};
    unsigned n = 0;

    /* as many threads as there is memory for */
    while (n < threads && n < s->count && n < CF_SHARE_THREADS &&
           (s->room[n] || (s->room[n] = cf_memory_take(sizeof *s->room[n]))))
        n++;
    if (s->count && !n)
        return -1;
    cf_share(s->count, n, work, &w);
    return w.failed ? -1 : 0;
}

uint64_t cf_subsets_cycles(const struct cf_subsets *s, size_t subset, unsigned core)
{
    return s->one[subset].cycles[core];
}

void cf_paged_costs(struct cf_paged_machine *m, struct cf_latencies *l)
{
    uint8_t level[CF_LATENCY_KEYS], op[CF_LATENCY_KEYS], seen[CF_LATENCY_KEYS];

    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++) {
        level[key] = (uint8_t)(key >> 3);
        op[key] = key & 7;
    }
    cf_latencies_rows(l, level, op, NULL, CF_LATENCY_KEYS, m->cost, seen);
    m->line_shift = (unsigned)__builtin_ctz(m->machine->line_size);
}
