/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_avx2.c - cache_ordered.c with four ways in a vector, for 4, 8, 12, 16, ... 32 ways. As in
 * cache_avx512.c, but masks are vectors: `upto` has all bits set in the ways that move.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/cache/cache_parts.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 4 };

INLINE unsigned lanes(__m256i v)
{
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(v));
}

INLINE uint32_t run(struct cf_cache *c, const uint64_t *line, const uint8_t *flags, uint32_t count,
                    uint32_t *miss, uint64_t *victim, unsigned vectors, int fifo)
{
    const unsigned dirties = !c->through, ways = vectors * LANES;
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    const uint32_t ahead = c->far ? 16 : 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t l = line[i];
        uint64_t *set = c->line + (size_t)cf_cache_index(c, l) * ways;
        const uint64_t dirty = (uint64_t)(flags[i] & dirties) << 63; /* CF_RUN_STORE is bit 0 */
        const __m256i wanted = _mm256_set1_epi64x((long long)(l << 1));
        __m256i v[8], left;
        uint64_t m = 0, modified = 0, upto;

        if (ahead && i + ahead < count) {
            const uint64_t *next = c->line + (size_t)cf_cache_index(c, line[i + ahead]) * ways;

            for (unsigned k = 0; k < vectors; k += 2)
                __builtin_prefetch(next + LANES * k, 1);
        }
        for (unsigned k = 0; k < vectors; k++) {
            v[k] = _mm256_loadu_si256((const __m256i *)(const void *)(set + LANES * k));
            m |= (uint64_t)lanes(_mm256_cmpeq_epi64(_mm256_slli_epi64(v[k], 1), wanted))
                 << LANES * k;
            modified |= (uint64_t)lanes(v[k]) << LANES * k;
        }
        if (fifo && m) {
            set[_tzcnt_u64(m)] |= dirty;
            continue;
        }
        miss[n] = i;
        victim[n] = set[ways - 1];
        n += m == 0;
        upto = m ^ (m - 1);
        left = _mm256_set1_epi64x((long long)(l | dirty | (uint64_t)((modified & m) != 0) << 63));
        for (unsigned k = 0; k < vectors; k++) {
            const __m256i which = _mm256_cmpeq_epi64(
                _mm256_and_si256(_mm256_set1_epi64x((long long)(upto >> LANES * k)), bit), bit);
            const __m256i moved = _mm256_blend_epi32(_mm256_permute4x64_epi64(v[k], 0x90), left, 3);

            if (vectors > 4 && !(upto >> LANES * k))
                break;
            _mm256_storeu_si256((__m256i *)(void *)(set + LANES * k),
                                _mm256_blendv_epi8(v[k], moved, which));
            left = _mm256_permute4x64_epi64(v[k], 0xff);
        }
    }
    return n;
}

#define RUNNER(name, vectors, fifo)                                                                \
    static TARGET uint32_t name(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,    \
                                uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)   \
    {                                                                                              \
        (void)ways;                                                                                \
        return run(c, line, flags, count, miss, victim, vectors, fifo);                            \
    }

RUNNER(lru_4, 1, 0)
RUNNER(lru_8, 2, 0)
RUNNER(lru_12, 3, 0)
RUNNER(lru_16, 4, 0)
RUNNER(lru_20, 5, 0)
RUNNER(lru_24, 6, 0)
RUNNER(lru_32, 8, 0)
RUNNER(fifo_4, 1, 1)
RUNNER(fifo_8, 2, 1)
RUNNER(fifo_16, 4, 1)

cf_cache_runner *cf_ordered_avx2(const struct cf_cache *c)
{
    static cf_cache_runner *const lru[] = {NULL,   lru_4,  lru_8, lru_12, lru_16,
                                           lru_20, lru_24, NULL,  lru_32};
    static cf_cache_runner *const fifo[] = {NULL, fifo_4, fifo_8, NULL, fifo_16,
                                            NULL, NULL,   NULL,   NULL};

    if (c->ways % LANES || c->ways > 8 * LANES || !__builtin_cpu_supports("avx2") ||
        !__builtin_cpu_supports("bmi2"))
        return NULL;
    return (c->policy == CF_LRU ? lru : fifo)[c->ways / LANES];
}
#endif
