/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_model.h - the random machines of probe_machine.h, which the engine of cf-cache models, as a
 * bench of capture/probe: for tests of its searches, and of what cf-infer makes of them.
 */
#ifndef PROBE_MODEL_H
#define PROBE_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"
#include "tests/unit/probe_machine.h"
#include "tests/unit/tap.h"

/* What takes two thirds of the time of all is left to `make check-long`: a third of the machines,
   those of more lines than this. */
enum { FEW_LINES = 50000 };
static inline int waits(const struct cf_machine *m)
{
    uint64_t lines = 0;

    for (unsigned i = 0; i < m->levels; i++)
        lines += m->level[i].size / m->level[i].line;
    return !thorough() && lines > FEW_LINES;
}

enum { BUFFER = 40 << 20 };

/* ---- a bench on the engine ---- */

struct model {
    struct cf_machine m;
    struct cf_hierarchy *h;
    uint32_t ticks[PROBE_LEVELS + 1]; /* of each level, and of memory */
    int by_time;
    enum cf_prefetcher prefetch; /* of the first level */
    uint8_t *hit;
    size_t room;
    /* where lines are flushed one by one, as the tool does: what was visited since */
    uint64_t *visited;
    size_t visits;
    const uint64_t *behind; /* of the bench */
};

enum { FEW = 1 << 16 }; /* visits; after more, all is emptied */

static inline int forget(void *self)
{
    static uint8_t op[FEW], hit[FEW];
    struct model *k = self;
    const size_t visits = k->visits;

    k->visits = 0;
    if (k->visited && visits <= FEW) {
        memset(op, CF_FLUSH, visits);
        for (int behind = 0; behind < 2; behind++) {
            if (cf_hierarchy_run(k->h, k->visited, op, NULL, 0, (uint32_t)visits, 0, 0, hit) != 0)
                return -1;
            for (size_t i = 0; i < visits; i++)
                k->visited[i] += *k->behind;
        }
        return 0;
    }
    cf_hierarchy_empty(k->h);
    return 0;
}

static inline uint32_t cost(const struct model *k, uint8_t hit)
{
    return k->ticks[hit == CF_FROM_MEMORY ? k->m.levels : hit - 1u];
}

static inline int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct model *k = self;

    if (v->count > k->room) {
        k->room = v->count;
        k->hit = realloc(k->hit, k->room);
    }
    if (k->visited && k->visits + v->count <= FEW)
        memcpy(k->visited + k->visits, v->offset, v->count * sizeof *v->offset);
    k->visits += v->count;
    for (uint32_t round = 0; round < v->warm + v->rounds; round++) {
        if (cf_hierarchy_run(k->h, v->offset, NULL, NULL, 0, v->count, 0, 0, k->hit) != 0)
            return -1;
        for (uint32_t i = 0; round >= v->warm && i < v->count; i++) {
            m->misses += k->hit[i] > v->level;
            m->time += cost(k, k->hit[i]);
            if (v->each)
                v->each[(size_t)(round - v->warm) * v->count + i] = cost(k, k->hit[i]);
        }
    }
    m->accesses = (uint64_t)v->count * v->rounds;
    m->method = k->by_time ? CF_METHOD_CLOCK : CF_METHOD_COUNTER;
    m->has_misses = !k->by_time;
    if (k->by_time)
        m->misses = 0;
    return 0;
}

static inline void describe(const struct model *k)
{
    static const char *const inclusion[] = {"", " inclusive", " exclusive"};

    for (unsigned i = 0; i < k->m.levels; i++) {
        const struct cf_level *l = &k->m.level[i];

        note("L%u: %llu bytes, %u ways of %llu, line %u, %s%s, %u ticks", i + 1,
             (unsigned long long)l->size, l->ways, (unsigned long long)(l->size / l->ways), l->line,
             cf_policy_name(l->policy), inclusion[l->inclusion], k->ticks[i]);
    }
}

/* -> the engine that the bench runs on. */
static inline void open_model(struct model *k, int by_time, uint64_t seed)
{
    const struct cf_hierarchy_options o = {.cores = 1, .seed = seed, .prefetch = {k->prefetch}};
    char problem[256] = "";

    k->by_time = by_time;
    k->h = cf_hierarchy_new(&k->m, &o, problem, sizeof problem);
    if (!k->h) {
        describe(k);
        need(0, "a model: %s", problem);
    }
}

static inline struct cf_bench bench_of(struct model *k)
{
    return (struct cf_bench){.self = k, .forget = forget, .run = run, .size = BUFFER};
}

#endif
