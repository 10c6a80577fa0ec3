/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_contents.c - what the caches of a hierarchy hold, for snapshots, and how they are
 * emptied, as by the cache thrashing of a shutter in flush mode.
 */
#include "filters/engine/cache/hierarchy_parts.h"

unsigned cf_hierarchy_caches(const struct cf_hierarchy *h, unsigned level)
{
    return h->tier[level].caches;
}

uint64_t cf_hierarchy_line(const struct cf_hierarchy *h, unsigned level, unsigned cache,
                           uint32_t set, uint32_t way)
{
    return cf_cache_line(h->tier[level].cache[cache], set, way);
}

static void empty(struct cf_hierarchy *h, struct tier *t, unsigned k)
{
    struct cf_cache *c = t->cache[k];

    for (uint32_t set = 0; set < t->spec.sets; set++)
        /* from the last way on, since in the order of age lines move up */
        for (uint32_t way = t->spec.ways; way-- > 0;) {
            uint64_t line = cf_cache_line(c, set, way);

            if (line == CF_CACHE_NONE)
                continue;
            if (cf_cache_remove(c, line & ~CF_CACHE_DIRTY) == CF_CACHE_MODIFIED) {
                t->n.writebacks++;
                h->memory_writes++;
            }
            if (t->prefetcher)
                cfh_prefetcher_lost(t->prefetcher[k], line & ~CF_CACHE_DIRTY);
        }
}

void cf_hierarchy_empty(struct cf_hierarchy *h)
{
    for (unsigned i = 0; i < h->levels; i++)
        for (unsigned k = 0; k < h->tier[i].caches; k++)
            empty(h, &h->tier[i], k);
    h->forget = 1; /* what was touched last is gone */
}
