/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_ordered.c - sets whose ways are kept in the order of age (see cache_parts.h).
 *
 * LRU is then the stack of Mattson, Gecsei, Slutz and Traiger (IBM Systems Journal 9(2), 1970): a
 * line that is referenced moves to the front and those before it move one place down; without a
 * match all move, and the last one falls out. FIFO is the same for misses, and nothing moves for
 * hits. Looking for the line and moving are one pass.
 */
#include <string.h>

#include "filters/engine/cache/cache_parts.h"

void cf_ordered_touch(struct cf_cache *c, uint64_t *set, int place)
{
    const uint64_t entry = set[place];

    if (c->policy != CF_LRU)
        return;
    memmove(set + 1, set, (size_t)place * sizeof(*set));
    set[0] = entry;
}

uint64_t cf_ordered_insert(struct cf_cache *c, uint64_t *set, uint64_t entry)
{
    const uint64_t victim = set[c->ways - 1];

    memmove(set + 1, set, (c->ways - 1) * sizeof(*set));
    set[0] = entry;
    return victim;
}

void cf_ordered_remove(struct cf_cache *c, uint64_t *set, int place)
{
    memmove(set + place, set + place + 1, (c->ways - 1 - (size_t)place) * sizeof(*set));
    set[c->ways - 1] = CF_CACHE_NONE;
}

uint32_t cf_ordered_lru(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                        uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)
{
    const uint32_t last = c->ways - 1;
    const unsigned dirties = !c->through;
    uint32_t n = 0;

    (void)ways;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *set = c->line + (size_t)cf_cache_index(c, line[i]) * c->ways;
        const uint64_t dirty = (uint64_t)(flags[i] & dirties) << 63; /* CF_RUN_STORE is bit 0 */
        uint64_t down = line[i] | dirty, entry = set[0];
        uint32_t w = 0;

        if (c->far && i + 8 < count)
            __builtin_prefetch(c->line + (size_t)cf_cache_index(c, line[i + 8]) * c->ways, 1);
        while (w < last && !cf_cache_holds(entry, line[i])) {
            set[w++] = down;
            down = entry;
            entry = set[w];
        }
        set[w] = down;
        if (cf_cache_holds(entry, line[i])) {
            set[0] |= entry & CF_CACHE_DIRTY;
        } else {
            miss[n] = i;
            victim[n++] = entry;
        }
    }
    return n;
}

uint32_t cf_ordered_fifo(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                         uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)
{
    const unsigned dirties = !c->through;
    uint32_t n = 0;

    (void)ways;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *set = c->line + (size_t)cf_cache_index(c, line[i]) * c->ways;
        const uint64_t dirty = (uint64_t)(flags[i] & dirties) << 63;
        const int place = cf_cache_find(c, set, line[i]);

        if (c->far && i + 8 < count)
            __builtin_prefetch(c->line + (size_t)cf_cache_index(c, line[i + 8]) * c->ways, 1);
        if (place >= 0) {
            set[place] |= dirty;
        } else {
            miss[n] = i;
            victim[n++] = cf_ordered_insert(c, set, line[i] | dirty);
        }
    }
    return n;
}
