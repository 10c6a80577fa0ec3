/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_steps.h - the single steps of cache.h, inlined: for cache.c and for what is compiled for
 * each processor.
 *
 * In an ordered cache LRU is the stack of Mattson, Gecsei, Slutz and Traiger (see cache_simd512.c).
 */
#ifndef CF_CACHE_STEPS_H
#define CF_CACHE_STEPS_H

#include "filters/engine/cache/cache_parts.h"
#include "filters/engine/rows/ways.h"

CF_INLINE enum cf_cache_state step_state(uint64_t entry)
{
    return entry & CF_CACHE_DIRTY ? CF_CACHE_MODIFIED : CF_CACHE_CLEAN;
}

/* The way that holds a line, or NULL. */
CF_INLINE uint64_t *step_look(const struct cf_cache *c, uint64_t line, uint64_t **set)
{
    const uint32_t index = cf_cache_index(c, line);
    uint32_t way;

    cf_cache_reach(c, index);
    *set = c->line + (size_t)index * c->ways;
    way = cf_ways_place(*set, c->ways, line);
    return way == c->ways ? NULL : *set + way;
}

CF_INLINE enum cf_cache_state step_probe(const struct cf_cache *c, uint64_t line)
{
    uint64_t *set;
    const uint64_t *entry = step_look(c, line, &set);

    return entry ? step_state(*entry) : CF_CACHE_ABSENT;
}

CF_INLINE enum cf_cache_state step_touch(struct cf_cache *c, uint64_t line, int store)
{
    uint64_t *set, *entry = step_look(c, line, &set), now;
    enum cf_cache_state before;

    if (!entry)
        return CF_CACHE_ABSENT;
    before = step_state(*entry);
    now = *entry | (store && !c->through ? CF_CACHE_DIRTY : 0);
    if (!c->physical && c->policy == CF_LRU) {
        cf_ways_front(set, c->ways, (uint32_t)(entry - set), now);
        return before;
    }
    *entry = now;
    if (c->physical)
        CF_SIMD(cf_ways_touch)(c, cf_cache_index(c, line), (uint32_t)(entry - set));
    return before;
}

CF_INLINE uint64_t step_insert(struct cf_cache *c, uint64_t line, int dirty, uint64_t ways)
{
    const uint64_t entry = line | (dirty ? CF_CACHE_DIRTY : 0);
    const uint32_t number = cf_cache_index(c, line);
    uint64_t *const set = c->line + (size_t)number * c->ways;
    uint64_t victim;

    cf_cache_reach(c, number);
    if (c->physical)
        return CF_SIMD(cf_ways_insert)(c, number, entry, ways);
    victim = set[c->ways - 1];
    cf_ways_front(set, c->ways, c->ways - 1, entry);
    return victim;
}

/* Takes a line out, or leaves it, clean, in its place: what it was. */
CF_INLINE enum cf_cache_state step_lose(struct cf_cache *c, uint64_t line, int stays)
{
    uint64_t *set, *entry = step_look(c, line, &set);
    enum cf_cache_state before;

    if (!entry)
        return CF_CACHE_ABSENT;
    before = step_state(*entry);
    if (stays) {
        *entry &= ~CF_CACHE_DIRTY;
        return before;
    }
    c->invalid += c->physical;
    for (; !c->physical && entry < set + c->ways - 1; entry++)
        entry[0] = entry[1];
    *entry = CF_CACHE_NONE;
    return before;
}

CF_INLINE enum cf_cache_state step_remove(struct cf_cache *c, uint64_t line)
{
    return step_lose(c, line, 0);
}

CF_INLINE enum cf_cache_state step_clean(struct cf_cache *c, uint64_t line)
{
    return step_lose(c, line, 1);
}

#endif
