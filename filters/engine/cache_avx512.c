/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_avx512.c - cache_ordered.c with eight ways in a vector, for any number of ways up to 64.
 *
 * All ways are compared at once. `m` has a bit for the way that holds the line, so that m ^ (m - 1)
 * has the bits up to and with it, and all bits when there is none: these ways take the entry of
 * their left neighbour, and way 0 takes the line. For LRU there is no branch that depends
 * on the outcome.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/cache_parts.h"

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 8 };

/* `vectors` vectors a set; `whole` says that they are full, `tail` is the mask of the last one. */
INLINE uint32_t run(struct cf_cache *c, const uint64_t *line, const uint8_t *flags, uint32_t count,
                    uint32_t *miss, uint64_t *victim, unsigned vectors, int whole, int fifo)
{
    const __m512i no_dirty = _mm512_set1_epi64((long long)~CF_CACHE_DIRTY);
    const unsigned dirties = !c->through, ways = whole ? vectors * LANES : c->ways;
    const __mmask8 tail = (__mmask8)(0xff >> (vectors * LANES - ways));
    const uint32_t ahead = c->far ? 16 : 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t l = line[i];
        uint64_t *set = c->line + (size_t)cf_cache_index(c, l) * ways;
        const uint64_t dirty = (uint64_t)(flags[i] & dirties) << 63; /* CF_RUN_STORE is bit 0 */
        const __m512i wanted = _mm512_set1_epi64((long long)l);
        __m512i v[8], left;
        uint64_t m = 0, modified = 0, upto;

        if (ahead && i + ahead < count) {
            const uint64_t *next = c->line + (size_t)cf_cache_index(c, line[i + ahead]) * ways;

            for (unsigned k = 0; k < vectors; k++)
                __builtin_prefetch(next + LANES * k, 1);
        }
        for (unsigned k = 0; k < vectors; k++) {
            const __mmask8 there = whole || k + 1 < vectors ? 0xff : tail;

            v[k] = whole || k + 1 < vectors ? _mm512_loadu_si512(set + LANES * k)
                                            : _mm512_maskz_loadu_epi64(tail, set + LANES * k);
            m |= (uint64_t)_mm512_mask_testn_epi64_mask(there, _mm512_xor_si512(v[k], wanted),
                                                        no_dirty)
                 << LANES * k;
            modified |= (uint64_t)_mm512_movepi64_mask(v[k]) << LANES * k;
        }
        if (fifo && m) {
            set[_tzcnt_u64(m)] |= dirty;
            continue;
        }
        miss[n] = i;
        victim[n] = set[ways - 1];
        n += m == 0;
        upto = m ^ (m - 1);
        left = _mm512_set1_epi64((long long)(l | dirty | (uint64_t)((modified & m) != 0) << 63));
        for (unsigned k = 0; k < vectors; k++) {
            const __m512i moved = _mm512_alignr_epi64(v[k], left, LANES - 1);
            const __mmask8 which = (__mmask8)(upto >> LANES * k);

            if (vectors > 2 && !which)
                break;
            /* a load soon after a store under a mask would have to wait for it */
            if (whole || k + 1 < vectors)
                _mm512_storeu_si512(set + LANES * k, _mm512_mask_mov_epi64(v[k], which, moved));
            else
                _mm512_mask_storeu_epi64(set + LANES * k, which & tail, moved);
            left = v[k];
        }
    }
    return n;
}

#define RUNNER(name, vectors, whole, fifo)                                                         \
    static TARGET uint32_t name(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,    \
                                uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)   \
    {                                                                                              \
        (void)ways;                                                                                \
        return run(c, line, flags, count, miss, victim, vectors, whole, fifo);                     \
    }

RUNNER(lru_8, 1, 1, 0)
RUNNER(lru_16, 2, 1, 0)
RUNNER(lru_24, 3, 1, 0)
RUNNER(lru_32, 4, 1, 0)
RUNNER(lru_64, 8, 1, 0)
RUNNER(lru_to_8, 1, 0, 0)
RUNNER(lru_to_16, 2, 0, 0)
RUNNER(lru_to_32, 4, 0, 0)
RUNNER(lru_to_64, 8, 0, 0)
RUNNER(fifo_to_8, 1, 0, 1)
RUNNER(fifo_to_16, 2, 0, 1)
RUNNER(fifo_to_32, 4, 0, 1)

cf_cache_runner *cf_ordered_avx512(const struct cf_cache *c)
{
    const uint32_t ways = c->ways;
    const int lru = c->policy == CF_LRU;

    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("bmi2"))
        return NULL;
    if (lru && ways % LANES == 0 && ways <= 64) {
        static cf_cache_runner *const by_vectors[] = {NULL, lru_8, lru_16, lru_24, lru_32,
                                                      NULL, NULL,  NULL,   lru_64};

        if (by_vectors[ways / LANES])
            return by_vectors[ways / LANES];
    }
    if (lru)
        return ways < 2                  ? NULL
               : ways <= 8               ? lru_to_8
               : ways <= 16 && ways > 8  ? lru_to_16
               : ways <= 32 && ways > 24 ? lru_to_32
               : ways <= 64 && ways > 56 ? lru_to_64
                                         : NULL;
    return ways < 2                  ? NULL
           : ways <= 8               ? fifo_to_8
           : ways <= 16              ? fifo_to_16
           : ways <= 32 && ways > 24 ? fifo_to_32
                                     : NULL;
}
#endif
