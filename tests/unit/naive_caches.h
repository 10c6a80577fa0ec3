/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * naive_caches.h - the caches of a naive hierarchy (naive_hierarchy.h), each by itself: every cache
 * a list of lines with the times of their last use, searched from its begin. Which levels serve
 * what, where a line is, and which one has to go: LRU, FIFO and NRU, ways that cores may fill.
 * Lines are byte addresses here, of their first byte.
 */
#ifndef NAIVE_CACHES_H
#define NAIVE_CACHES_H

#include <stdint.h>
#include <stdlib.h>

#include "filters/engine/cache/hierarchy.h"
#include "formats/stream/cf.h"

struct naive_line {
    uint64_t addr, space, used, came;
    int valid, dirty, recent;
};

struct naive_level {
    const struct cf_level *spec;
    unsigned shared, caches;
    struct naive_line *line; /* cache, set, way */
    struct cf_hierarchy_counts n;
    uint64_t ways[8]; /* by core */
};

struct naive {
    unsigned cores, levels, core;
    unsigned unit; /* bytes of the shortest line: space is a key of such lines */
    uint64_t clock, space, memory_reads, memory_writes;
    int op;
    struct naive_level level[CF_MAX_LEVELS];
};

static inline struct naive *naive_new(const struct cf_machine *m,
                                      const struct cf_hierarchy_options *o)
{
    struct naive *n = calloc(1, sizeof *n);

    n->cores = o->cores;
    n->levels = m->levels;
    for (unsigned i = 0; i < n->levels; i++) {
        struct naive_level *l = &n->level[i];

        l->spec = &m->level[i];
        l->shared = l->spec->shared_by;
        l->caches = (n->cores + l->shared - 1) / l->shared;
        l->line = calloc((size_t)l->caches * l->spec->sets * l->spec->ways, sizeof *l->line);
        for (unsigned c = 0; c < n->cores; c++)
            l->ways[c] =
                l->spec->policy == CF_MASTER_INDEX ? UINT64_C(1) << c % l->spec->ways : UINT64_MAX;
    }
    for (unsigned k = 0; k < o->mask_count; k++)
        n->level[o->masks[k].level].ways[o->masks[k].core] = o->masks[k].ways;
    return n;
}

static inline void naive_free(struct naive *n)
{
    for (unsigned i = 0; i < n->levels; i++)
        free(n->level[i].line);
    free(n);
}

static inline int naive_serves(const struct naive *n, int level, int fetch)
{
    enum cf_kind k = n->level[level].spec->kind;

    return k == CF_UNIFIED || k == (fetch ? CF_INSTRUCTION_CACHE : CF_DATA_CACHE);
}

/* The next level for a kind behind `level` (-1: the first); -1 is memory. */
static inline int naive_next(const struct naive *n, int level, int fetch)
{
    for (int i = level + 1; i < (int)n->levels; i++)
        if (naive_serves(n, i, fetch))
            return i;
    return -1;
}

static inline struct naive_line *naive_set(const struct naive *n, int level, unsigned cache,
                                           uint64_t addr)
{
    const struct naive_level *l = &n->level[level];
    uint64_t number = (addr / l->spec->line) ^ (n->space / (l->spec->line / n->unit));

    return l->line + ((size_t)cache * l->spec->sets + number % l->spec->sets) * l->spec->ways;
}

static inline uint64_t naive_begin(const struct naive *n, int level, uint64_t addr)
{
    return addr / n->level[level].spec->line * n->level[level].spec->line;
}

static inline struct naive_line *naive_find(const struct naive *n, int level, unsigned cache,
                                            uint64_t addr)
{
    struct naive_line *s = naive_set(n, level, cache, addr);

    for (unsigned w = 0; w < n->level[level].spec->ways; w++)
        if (s[w].valid && s[w].space == n->space && s[w].addr == naive_begin(n, level, addr))
            return &s[w];
    return NULL;
}

static inline unsigned naive_cache(const struct naive *n, int level)
{
    return n->core / n->level[level].shared;
}

static inline int naive_exclusive(const struct naive *n, int level)
{
    return level >= 0 && n->level[level].spec->inclusion == CF_EXCLUSIVE &&
           naive_next(n, -1, 0) != level && naive_next(n, -1, 1) != level;
}

/* Does `inner` lie before `outer` on the way of some access? */
static inline int naive_before(const struct naive *n, int inner, int outer)
{
    for (int fetch = 0; fetch < 2; fetch++)
        if (inner < outer && naive_serves(n, inner, fetch) && naive_serves(n, outer, fetch))
            return 1;
    return 0;
}

static inline void naive_touch(struct naive *n, struct naive_line *line)
{
    line->used = ++n->clock;
    line->recent = 1;
}

static inline struct naive_line *naive_victim(struct naive *n, int level, struct naive_line *s)
{
    struct naive_level *l = &n->level[level];
    uint64_t may = l->ways[n->core];
    struct naive_line *best = NULL;

    for (unsigned w = 0; w < l->spec->ways; w++)
        if ((may >> (w & 63) & 1) && !s[w].valid)
            return &s[w];
    if (l->spec->policy == CF_NRU) {
        int any = 0;

        for (unsigned w = 0; w < l->spec->ways; w++)
            any |= (may >> (w & 63) & 1) && !s[w].recent;
        for (unsigned w = 0; !any && w < l->spec->ways; w++)
            s[w].recent = 0;
        for (unsigned w = 0; w < l->spec->ways; w++)
            if ((may >> (w & 63) & 1) && !s[w].recent)
                return &s[w];
    }
    for (unsigned w = 0; w < l->spec->ways; w++)
        if ((may >> (w & 63) & 1) &&
            (!best ||
             (l->spec->policy == CF_FIFO ? s[w].came < best->came : s[w].used < best->used)))
            best = &s[w];
    return best;
}

static inline uint64_t *naive_count(struct naive *n, int level, int misses)
{
    struct cf_hierarchy_counts *c = &n->level[level].n;

    switch (n->op) {
    case CF_STORE:
        return misses ? &c->store_misses : &c->stores;
    case CF_IFETCH:
        return misses ? &c->ifetch_misses : &c->ifetches;
    case CF_PREFETCH:
        return misses ? &c->prefetch_misses : &c->prefetches;
    default:
        return misses ? &c->load_misses : &c->loads;
    }
}

#endif
