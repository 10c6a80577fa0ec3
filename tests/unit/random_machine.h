/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_machine.h - machines that nobody would build, for test_hierarchy: levels of all kinds, or
 * of those that an engine has code of its own for.
 */
#ifndef RANDOM_MACHINE_H
#define RANDOM_MACHINE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "filters/engine/cache/hierarchy.h"

static uint64_t state = 11;

static inline uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

struct set {
    struct cf_machine m;
    struct cf_hierarchy_options o;
    struct cf_way_mask mask[8];
};

enum style { ANY, SIMPLE, POLICIES, PLAIN, LEAN, SEVERAL };

static const uint32_t some_sets[] = {1, 1, 2, 3, 4, 7, 8, 16};

/* Sets, ways, policies of one level, of which lines and place are known. */
static inline void make_level(struct set *s, unsigned i, enum style style)
{
    struct cf_level *l = &s->m.level[i];

    l->sets = some_sets[next(8)];
    l->ways = 1 + next(5);
    l->policy = next(3) == 0   ? CF_FIFO
                : next(6) == 0 ? CF_NRU
                : next(6) == 0 ? CF_MASTER_INDEX
                               : CF_LRU;
    if (style == POLICIES)
        l->policy = (enum cf_replacement)next(CF_POLICY_COUNT);
    if (l->policy == CF_TREE_PLRU)
        l->ways = 1u << next(4);
    l->size = (uint64_t)l->sets * l->ways * l->line;
    l->write_back = next(5) != 0;
    l->write_allocate = next(5) != 0;
    if (style == ANY && next(3) == 0)
        l->inclusion = CF_INCLUSIVE;
    else if (style == ANY && next(4) == 0 && i && l->write_back)
        l->inclusion = CF_EXCLUSIVE;
    if (style == ANY && next(8) == 0 && l->policy != CF_MASTER_INDEX && l->policy != CF_NRU &&
        s->o.mask_count < 8) {
        struct cf_way_mask *w = &s->mask[s->o.mask_count++];

        *w = (struct cf_way_mask){.level = i, .core = next(s->o.cores)};
        w->ways = 1 + next((1u << l->ways) - 1);
    }
}

/* What the levels of some styles have in common. */
static inline void make_style(struct set *s, enum style style)
{
    int inclusive;

    /* levels in the order of age, with ways for several vectors */
    for (unsigned k = 0; style == PLAIN && k < s->m.levels; k++) {
        struct cf_level *l = &s->m.level[k];

        l->policy = next(3) ? CF_LRU : CF_FIFO;
        l->ways = next(6) ? l->ways : 6 + next(59);
        l->size = (uint64_t)l->sets * l->ways * l->line;
        l->write_back = l->write_allocate = 1;
        l->inclusion = next(3) ? CF_INCLUSIVE : CF_NON_INCLUSIVE;
    }
    /* LRU of up to 16 ways, lines of one size: what vectors take fastest */
    inclusive = style == LEAN && next(2);
    for (unsigned k = 0; style == LEAN && k < s->m.levels; k++) {
        struct cf_level *l = &s->m.level[k];

        l->policy = CF_LRU;
        l->sets = k && next(4) == 0 ? some_sets[next(8)] : 1u << next(5);
        l->ways = next(2) ? 8 + 8 * next(2) : 1 + next(16);
        l->size = (uint64_t)l->sets * l->ways * l->line;
        l->write_back = l->write_allocate = 1;
        l->inclusion = inclusive && next(4) ? CF_INCLUSIVE : CF_NON_INCLUSIVE;
    }
    /* at times so large that its sets are emptied when they are reached */
    if (s->m.levels && style != ANY && next(60) == 0) {
        struct cf_level *l = &s->m.level[s->m.levels - 1];

        l->sets = (1u << 20) / l->ways + 1 + next(2);
        l->size = (uint64_t)l->sets * l->ways * l->line;
    }
}

static inline void make_machine(struct set *s, enum style style)
{
    unsigned depth = 0, line = next(8) ? 16u << next(3) : 4, shared = 1, i = 0,
             levels = 1 + next(4);

    memset(s, 0, sizeof *s);
    s->o.cores = style == ANY ? 1 + next(4) : 1;
    s->o.seed = next(1000);
    s->m.cpus = 4;
    s->m.line_size = line;
    while (i < levels) {
        struct cf_level *l = &s->m.level[i];
        unsigned kinds = i == 0 ? next(4) : next(12); /* 0, 1: a pair of split caches */

        depth++;
        if (i && style == ANY && next(4) == 0)
            line *= 2;
        if (next(3) == 0 && shared < 4)
            shared *= 2;
        for (unsigned k = kinds < 2 ? 0 : 1; k < 2; k++, i++, l++) {
            snprintf(l->name, sizeof l->name, "L%u", i);
            l->kind = kinds >= 2 ? CF_UNIFIED : k ? CF_DATA_CACHE : CF_INSTRUCTION_CACHE;
            if (kinds == 2 && i == 0)
                l->kind = next(2) ? CF_DATA_CACHE : CF_INSTRUCTION_CACHE;
            l->line = line;
            if (i == 0 && kinds < 2 && style == ANY && next(4) == 0 && line > 4)
                l->line = line / 2;
            l->depth = depth;
            l->shared_by = shared;
            make_level(s, i, style);
        }
    }
    s->m.levels = i;
    s->o.masks = s->mask;
    make_style(s, style);
    if (style == PLAIN)
        s->o.cores = next(2) ? 1 : 2 + next(3);
    if (style == SEVERAL)
        s->o.cores = 2 + next(3);
}

#endif
