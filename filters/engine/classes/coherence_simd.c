/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_simd.c - the sets of coherence.c. The line of a run becomes the newest of its core's
 * set, whether it was there or not, and a store takes it from the others': nothing need be kept of
 * who holds a line, nor changed for the line that is evicted.
 */
#include "filters/engine/classes/coherence_parts.h"

/* The numbers are c's, in constants where those are usual. */
CF_INLINE void through_sets(struct cf_coherence *c, const uint32_t cores, const uint32_t places,
                            const int even, const int stays_out)
{
    const uint32_t ways = c->g.ways, runs = c->runs, sets = c->g.sets;
    uint32_t *const first = c->ways;
    uint64_t invalidations = 0;

    if (!ways || ways > places)
        __builtin_unreachable();
    for (uint32_t from = 0; from < runs; from += 64) {
        const uint32_t end = runs - from < 64 ? runs : from + 64;
        uint64_t missed = 0;

        for (uint32_t i = from; i < end; i++) {
            const uint32_t slot = c->slot[i], core = c->core[i];
            const uint64_t line = c->line[i], write = c->write[i];
            uint32_t *const set = first + (even ? line & (sets - 1) : line % sets) * cores * places;
            uint32_t *const own = set + core * places;
            uint32_t at;
            const int hit = cf_lru_find(own, ways, slot, &at);

            missed |= (uint64_t)!hit << (i - from);
            if (at >= places)
                __builtin_unreachable();
            if (!stays_out || hit || !write)
                cf_lru_push(own, at, slot);
            if (cores == 2) {
                /* where that is cheap, no branch depends on what is found, which nobody could
                   predict */
                uint32_t *const other = set + !core * places;
                const int takes = cf_lru_find(other, ways, slot, &at) & (write != 0);

                invalidations += (unsigned)takes;
                if (CF_LANES > 2 || takes)
                    cf_lru_drop(other, takes ? at : ways, ways);
                continue;
            }
            uint32_t *const known = state_of(c, slot), me = (uint32_t)1 << core;
            for (uint32_t k = write ? *known & ~me : 0; k; k &= k - 1) {
                uint32_t *const other = set + (uint32_t)__builtin_ctz(k) * places;

                if (cf_lru_find(other, ways, slot, &at)) {
                    cf_lru_drop(other, at, ways);
                    invalidations++;
                }
            }
            *known |= me;
        }
        c->missed[from / 64] = missed;
    }
    c->invalidations += invalidations;
}

void CF_SIMD(cf_coherence_through_sets)(struct cf_coherence *c)
{
    if (c->places == CF_LRU_UNIT && c->g.cores == 2 && c->even && !c->g.no_allocate)
        through_sets(c, 2, CF_LRU_UNIT, 1, 0);
    else
        through_sets(c, c->g.cores, c->places, c->even, c->g.no_allocate);
}
