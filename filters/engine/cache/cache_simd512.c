/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_simd512.c - batches of references to sets whose ways stand in the order of age (see
 * cache_parts.h), for up to 64 ways.
 *
 * LRU is then the stack of Mattson, Gecsei, Slutz and Traiger (IBM Systems Journal 9(2), 1970): a
 * line that is referenced moves to the front and those before it move one place down; without a
 * match all move, and the last one falls out. FIFO is the same for misses, and nothing moves for
 * hits. For LRU there is no branch that depends on the outcome: the way that matched or the last
 * one is overwritten, and a reference that hits is listed, too, and then overwritten by the next.
 *
 * AVX-512 wins 1.3 times over AVX2 here, of cf-cache from a file to its counts (20 million
 * references to a million lines, three levels: 0.43 and 0.55 s of processor time; where few miss,
 * 1.1 times).
 */
#include "filters/engine/cache/cache_parts.h"
#include "filters/engine/rows/ways.h"

enum {
    AHEAD = 16,
    FEW = 8, /* misses are few where they are less than one in so many */
};

/* `known` ways, or where that is 0 any number up to `most`, or any at all where that is 0, too.
   `modulo`: the sets are no power of two. `settled`: few miss, so two branches that are usually
   foreseen save most of the work: for the newest line of a set, and for a line that misses. */
CF_INLINE uint32_t run(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                       uint32_t count, uint32_t *miss, uint64_t *victim, const unsigned known,
                       const unsigned most, const int fifo, const int modulo, const int settled)
{
    /* in registers, since what is written might be anything in memory */
    const struct cf_sets index = c->index;
    const uint32_t ways = known ? known : c->ways, mask = c->sets - 1;
    const uint64_t last = UINT64_C(1) << (ways - 1), exist = last | (last - 1);
    const uint64_t dirties = !c->through;
    const uint32_t searched = most ? most : ways;
    const uint32_t ahead = c->fetch_ahead ? AHEAD : 0;
    uint64_t *const sets = c->line;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t l = line[i], dirty = (flags[i] & dirties) << 63, entry = l | dirty;
        uint64_t *const set = sets + (size_t)(modulo ? cf_sets_index(&index, l) : l & mask) * ways;
        uint64_t found, place, old;

        if (settled && (set[0] ^ l) << 1 == 0) {
            if (entry > set[0]) /* a store to a clean line */
                set[0] = entry;
            continue;
        }
        if (ahead && i + ahead < count) {
            const uint64_t *next = sets + (size_t)(modulo ? cf_sets_index(&index, line[i + ahead])
                                                          : line[i + ahead] & mask) *
                                              ways;

            for (unsigned w = 0; w < ways; w += 8)
                __builtin_prefetch(next + w, 1);
        }
        found = cf_ways_find(set, searched, l) & exist;
        if (fifo && found) {
            set[__builtin_ctzll(found)] |= dirty;
            continue;
        }
        place = found | last;
        old = set[__builtin_ctzll(place)];
        if (!settled || __builtin_expect(!found, 0)) {
            miss[n] = i;
            victim[n] = old;
            n += !found;
        }
        cf_ways_push(set, searched, place, entry | (found ? old & CF_CACHE_DIRTY : 0));
    }
    c->settled = n < count / FEW;
    return n;
}

#define RUN(known, most, fifo, modulo, settled)                                                    \
    run(c, line, flags, count, miss, victim, known, most, fifo, modulo, settled)
#define RUNNER(name, known, most, fifo)                                                            \
    static uint32_t name(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,           \
                         uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)          \
    {                                                                                              \
        (void)ways;                                                                                \
        if ((fifo) || !c->settled)                                                                 \
            return c->index.inverse ? RUN(known, most, fifo, 1, 0) : RUN(known, most, fifo, 0, 0); \
        return c->index.inverse ? RUN(known, most, 0, 1, 1) : RUN(known, most, 0, 0, 1);           \
    }

RUNNER(lru_4, 4, 4, 0)
RUNNER(lru_8, 8, 8, 0)
RUNNER(lru_16, 16, 16, 0)
RUNNER(lru_to_8, 0, 8, 0)
RUNNER(lru_to_16, 0, 16, 0)
RUNNER(lru_any, 0, 0, 0)
RUNNER(fifo_any, 0, 0, 1)

cf_cache_runner *CF_SIMD(cf_ordered_runner)(struct cf_cache *c)
{
    return c->policy != CF_LRU                       ? fifo_any
           : c->ways == 4                            ? lru_4
           : c->ways == 8                            ? lru_8
           : c->ways == 16                           ? lru_16
           : c->ways < 8 && c->ways + CF_LANES > 8   ? lru_to_8
           : c->ways < 16 && c->ways + CF_LANES > 16 ? lru_to_16
                                                     : lru_any;
}
