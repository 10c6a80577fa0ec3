/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_avx512.c - cache_ordered.c with eight ways in a vector, for any number of ways up to 64.
 *
 * All ways are compared at once. `m` has a bit for the way that holds the line, so that m ^ (m - 1)
 * has the bits up to and with it, and all bits when there is none: these ways take the entry of
 * their left neighbour, and way 0 takes the line. For LRU there is no branch that depends
 * on the outcome.
 *
 * LRU up to 16 ways, as nearly all caches have, stays in vector and mask registers: the entry that
 * matched, or zeros, is taken by compression, and the line is added to it with OR.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/cache/cache_parts.h"

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

enum {
    PIECE = 512,
    TURNS = 32, /* batches between those that try `skip` */
};

/* Lines with CF_CACHE_DIRTY where the reference makes them dirty. */
INLINE void mark(const uint64_t *line, const uint8_t *flags, uint32_t count, unsigned dirties,
                 uint64_t *marked)
{
    for (uint32_t i = 0; i < count; i += LANES) {
        const __mmask8 there = (__mmask8)(count - i < LANES ? 0xff >> (LANES - (count - i)) : 0xff);
        const __m512i bytes = _mm512_cvtepu8_epi64(_mm_maskz_loadu_epi8(there, flags + i));
        const __m512i dirty = _mm512_and_si512(bytes, _mm512_set1_epi64(dirties));

        _mm512_storeu_si512(marked + i, _mm512_or_si512(_mm512_maskz_loadu_epi64(there, line + i),
                                                        _mm512_slli_epi64(dirty, 63)));
    }
}

/* LRU in one or two vectors; `inverse` says that the number of sets may be no power of two. With
   `skip` a branch finds the references that change nothing, since their line is the newest of its
   set; nearly all are of that kind where a cache has many more sets than the program uses lines. */
INLINE uint32_t run_lru(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                        uint32_t count, uint32_t *miss, uint64_t *victim, unsigned vectors,
                        int whole, int inverse, int skip)
{
    const __m512i no_dirty = _mm512_set1_epi64((long long)~CF_CACHE_DIRTY);
    /* one place to the right, with what comes in from the left in the second operand */
    const __m512i from_front = _mm512_setr_epi64(LANES, 0, 1, 2, 3, 4, 5, 6);
    const __m512i from_left = _mm512_setr_epi64(2 * LANES - 1, 0, 1, 2, 3, 4, 5, 6);
    const unsigned ways = whole ? vectors * LANES : c->ways;
    const __mmask16 all = (__mmask16)((1 << ways) - 1);
    const __mmask8 low = (__mmask8)all, high = (__mmask8)(all >> LANES);
    uint64_t *const lines = c->line;
    const uint32_t ahead = c->far ? 16 : 0, mask = c->sets - 1;
    uint64_t marked[PIECE];
    uint32_t n = 0, moves = 0;

    for (uint32_t from = 0; from < count; from += PIECE) {
        const uint32_t piece = count - from < PIECE ? count - from : PIECE;

        mark(line + from, flags + from, piece, !c->through, marked);
        for (uint32_t i = 0; i < piece; i++) {
            const uint32_t number = inverse ? cf_cache_index(c, marked[i] & ~CF_CACHE_DIRTY)
                                            : (uint32_t)marked[i] & mask;
            uint64_t *const set = lines + (size_t)number * ways;
            __m512i l, v, w, front;
            __mmask16 m, upto;

            if (skip) {
                const uint64_t differ = set[0] ^ marked[i];

                if (!(differ & (marked[i] | ~CF_CACHE_DIRTY)))
                    continue;
                moves++;
            }
            if (ahead && i + ahead < piece) {
                const uint64_t *next =
                    lines + (size_t)cf_cache_index(c, line[from + i + ahead]) * ways;

                __builtin_prefetch(next, 1);
                if (vectors > 1)
                    __builtin_prefetch(next + LANES, 1);
            }
            l = _mm512_set1_epi64((long long)marked[i]);
            v = w = _mm512_loadu_si512(set);
            m = _mm512_mask_testn_epi64_mask(low, _mm512_xor_si512(v, l), no_dirty);
            front = _mm512_maskz_compress_epi64((__mmask8)m, v);
            if (vectors > 1) {
                __mmask8 there;

                w = _mm512_loadu_si512(set + LANES);
                there = _mm512_mask_testn_epi64_mask(high, _mm512_xor_si512(w, l), no_dirty);
                front = _mm512_or_si512(front, _mm512_maskz_compress_epi64(there, w));
                m = _mm512_kunpackb(there, m);
            }
            upto = _kxor_mask16(m, _kadd_mask16(m, 0xffff));
            if (!whole)
                upto = _kand_mask16(upto, all);
            front = _mm512_or_si512(front, l);
            miss[n] = from + i;
            victim[n] = set[ways - 1];
            n += _kortestz_mask16_u8(m, m);
            _mm512_storeu_si512(
                set, _mm512_mask_permutex2var_epi64(v, (__mmask8)upto, from_front, front));
            if (vectors > 1)
                _mm512_storeu_si512(set + LANES,
                                    _mm512_mask_permutex2var_epi64(
                                        w, (__mmask8)_kshiftri_mask16(upto, LANES), from_left, v));
        }
    }
    if (skip)
        c->still = moves < count / 8;
    return n;
}

#define LRU(name, vectors, whole)                                                                  \
    static TARGET uint32_t name(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,    \
                                uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)   \
    {                                                                                              \
        (void)ways;                                                                                \
        if (c->still || c->turn++ % TURNS == 0)                                                    \
            return run_lru(c, line, flags, count, miss, victim, vectors, whole, 1, 1);             \
        return c->inverse ? run_lru(c, line, flags, count, miss, victim, vectors, whole, 1, 0)     \
                          : run_lru(c, line, flags, count, miss, victim, vectors, whole, 0, 0);    \
    }

LRU(lru_8, 1, 1)
LRU(lru_16, 2, 1)
LRU(lru_to_8, 1, 0)
LRU(lru_to_16, 2, 0)

#define RUNNER(name, vectors, whole, fifo)                                                         \
    static TARGET uint32_t name(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,    \
                                uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)   \
    {                                                                                              \
        (void)ways;                                                                                \
        return run(c, line, flags, count, miss, victim, vectors, whole, fifo);                     \
    }

RUNNER(lru_24, 3, 1, 0)
RUNNER(lru_32, 4, 1, 0)
RUNNER(lru_64, 8, 1, 0)
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
