/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c - one cache: its making, batches and single steps (see cache.h). How a set is searched
 * and changed stands in cache_steps.h, cache_simd512.c and cache_ways_simd.c.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/cache/cache_steps.h"

enum {
    LARGE = 1 << 20,       /* lines from which on sets are emptied when they are reached, */
    BLOCK_LINES = 1 << 15, /* about so many at a time */
};

/* NULL: one step after the other. */
static cf_cache_runner *choose_runner(struct cf_cache *c)
{
    if (c->physical)
        return CF_SIMD_CHOICE(cf_ways_runner)(c);
    return c->ways > CF_WAYS_MOST ? NULL : CF_SIMD512_CHOICE(cf_ordered_runner)(c);
}

void cf_cache_empty_block(const struct cf_cache *c, uint32_t block)
{
    const size_t first = (size_t)block << c->block;
    size_t sets = (size_t)1 << c->block;

    if (sets > c->sets - first)
        sets = c->sets - first;
    memset(c->line + first * c->ways, CF_NO_LINE_BYTE, sets * c->ways * sizeof(*c->line));
    if (c->emptied)
        c->emptied[block] = 1;
}

static void reach_all(const struct cf_cache *c, const uint64_t *line, uint32_t count)
{
    for (uint32_t i = 0; c->emptied && i < count; i++)
        cf_cache_reach(c, cf_cache_index(c, line[i] & ~CF_CACHE_DIRTY));
}

void cf_cache_clear(struct cf_cache *c)
{
    const uint32_t blocks = ((c->sets - 1) >> c->block) + 1;

    if (c->emptied)
        memset(c->emptied, 0, blocks);
    for (uint32_t k = 0; !c->emptied && k < blocks; k++)
        cf_cache_empty_block(c, k);
}

/* -1 without memory. */
static int make_empty(struct cf_cache *c)
{
    const int large = (size_t)c->sets * c->ways >= LARGE;

    for (c->block = 0; (size_t)c->ways << (c->block + 1) <= BLOCK_LINES;)
        c->block++;
    if (large) {
        c->emptied = calloc(((c->sets - 1) >> c->block) + 1, 1);
        return c->emptied ? 0 : -1;
    }
    cf_cache_clear(c);
    return 0;
}

struct cf_cache *cf_cache_new(const struct cf_cache_geometry *g)
{
    struct cf_cache *c;
    size_t lines;
    int age;

    if (!g->sets || !g->ways || g->ways > CF_MAX_WAYS || (unsigned)g->policy >= CF_POLICY_COUNT)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->sets = g->sets;
    c->ways = g->ways;
    c->random = g->seed;
    c->through = !!(g->options & CF_CACHE_WRITE_THROUGH);
    c->allocate = !(g->options & CF_CACHE_NO_ALLOCATE);
    /* with one way all policies are the same, and need no state */
    c->policy = g->ways > 1 ? g->policy : CF_FIFO;
    age = cf_policy_traits(c->policy) & CF_POLICY_AGE;
    c->physical = (g->options & CF_CACHE_PHYSICAL) || !age;
    if (g->ways == 1)
        c->physical = 0;
    c->index = cf_sets(g->sets);
    c->bits = (g->ways + 63) / 64;
    for (c->leaves = 1; c->leaves < g->ways;)
        c->leaves *= 2;
    for (uint32_t w = 0; w < g->ways; w++)
        c->way_mask[w / 64] |= (uint64_t)1 << w % 64;
    c->words = cf_policy_bits(c->policy) * ((c->leaves + 63) / 64);
    lines = (size_t)c->sets * c->ways;
    c->fetch_ahead = lines > 1u << 16; /* half a megabyte */
    c->line = cf_memory_take(lines * sizeof(uint64_t) + CF_WAYS_BEHIND);
    c->word = calloc((size_t)c->sets * c->words + 1, sizeof(*c->word));
    if (c->physical && age)
        c->rank = malloc(lines * sizeof(*c->rank));
    if (!c->line || !c->word || (c->physical && age && !c->rank) || make_empty(c) != 0) {
        cf_cache_free(c);
        return NULL;
    }
    c->invalid = lines;
    c->run = choose_runner(c);
    return c;
}

void cf_cache_free(struct cf_cache *c)
{
    if (!c)
        return;
    free(c->line);
    free(c->emptied);
    free(c->word);
    free(c->rank);
    free(c);
}

uint64_t cf_cache_master(const struct cf_cache *c, uint32_t core)
{
    return (uint64_t)1 << core % c->ways % 64;
}

uint64_t cf_cache_line(const struct cf_cache *c, uint32_t set, uint32_t way)
{
    if (c->emptied && !c->emptied[set >> c->block])
        return CF_CACHE_NONE;
    return c->line[(size_t)set * c->ways + way];
}

/* ---- single steps ---- */

enum cf_cache_state cf_cache_touch(struct cf_cache *c, uint64_t line, int store)
{
    return step_touch(c, line, store);
}

uint64_t cf_cache_insert(struct cf_cache *c, uint64_t line, int dirty, uint64_t ways)
{
    return step_insert(c, line, dirty, ways);
}

enum cf_cache_state cf_cache_remove(struct cf_cache *c, uint64_t line)
{
    return step_remove(c, line);
}

int cf_cache_access(struct cf_cache *c, uint64_t line, unsigned flags, uint64_t ways,
                    uint64_t *victim)
{
    const int store = flags & CF_RUN_STORE;
    enum cf_cache_state before;

    *victim = CF_CACHE_NONE;
    if (flags & CF_RUN_FLUSH) {
        before = cf_cache_remove(c, line);
        if (before != CF_CACHE_ABSENT)
            *victim = line | (before == CF_CACHE_MODIFIED ? CF_CACHE_DIRTY : 0);
        return 1;
    }
    if (cf_cache_touch(c, line, store) != CF_CACHE_ABSENT)
        return 0;
    if (!store || c->allocate) {
        *victim = cf_cache_insert(c, line, store && !c->through, ways);
        if (flags & CF_RUN_AGAIN)
            cf_cache_touch(c, line, 0);
    }
    return 1;
}

uint32_t cf_cache_batch(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                        uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)
{
    const unsigned any = cf_runs_flags(flags, count);
    uint32_t n = 0;

    if (c->run && !(any & CF_RUN_FLUSH) && (c->allocate || !(any & CF_RUN_STORE))) {
        reach_all(c, line, count);
        return c->run(c, line, flags, count, ways, miss, victim);
    }
    for (uint32_t i = 0; i < count; i++) {
        miss[n] = i;
        n += (uint32_t)cf_cache_access(c, line[i], flags[i], ways, &victim[n]);
    }
    return n;
}

int cf_cache_list_room(struct cf_cache_list *l, size_t capacity)
{
    const size_t more = capacity + (l->count ? capacity / 2 : 0), room = more + 64;
    struct cf_cache_list new = {.capacity = (uint32_t)more};

    if (l->capacity >= capacity && l->line)
        return 0;
    if (capacity > UINT32_MAX / 2)
        return -1;
    new.line = malloc(room * sizeof(*new.line));
    new.row = malloc(room * sizeof(*new.row));
    new.flags = calloc(room, 1);
    if (!new.line || !new.row || !new.flags) {
        cf_cache_list_free(&new);
        return -1;
    }
    if (l->count)
        (void)cf_cache_list_add(&new, l, 0, l->count);
    cf_cache_list_free(l);
    *l = new;
    return 0;
}

int cf_cache_list_add(struct cf_cache_list *l, const struct cf_cache_list *from, uint32_t at,
                      uint32_t count)
{
    if (!count)
        return 0;
    if (cf_cache_list_room(l, (size_t)l->count + count) != 0)
        return -1;
    memcpy(l->line + l->count, from->line + at, count * sizeof(*l->line));
    memcpy(l->row + l->count, from->row + at, count * sizeof(*l->row));
    memcpy(l->flags + l->count, from->flags + at, count);
    l->count += count;
    return 0;
}

void cf_cache_list_free(struct cf_cache_list *l)
{
    free(l->line);
    free(l->row);
    free(l->flags);
    *l = (struct cf_cache_list){0};
}
