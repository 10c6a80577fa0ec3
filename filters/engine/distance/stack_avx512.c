/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_avx512.c - the steps of stack_one.c by 512-bit vectors; the results are the same.
 *
 * The front works as in stack_avx2.c, where one register holds all tags and one all keys, and a
 * comparison gives a mask of 32 bits. The counts of the tree fill one or two registers a level.
 */
#include "filters/engine/distance/stack_parts.h"

#ifdef HAVE_VECTOR_STACK
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt")))

STACK_INLINE uint16_t tag_of(uint64_t line)
{
    return (uint16_t)(line * 0x9e3779b97f4a7c15u >> 48);
}

TARGET STACK_INLINE uint16_t smallest(__m512i keys)
{
    const __m256i half =
        _mm256_min_epu16(_mm512_castsi512_si256(keys), _mm512_extracti64x4_epi64(keys, 1));
    const __m128i quarter =
        _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));

    return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(quarter));
}

/* The front is full. */
TARGET static uint32_t front_avx512(struct stack *s, struct stack_work *w, const uint64_t *line,
                                    uint32_t n, uint64_t *dist)
{
    uint64_t held[STACK_FRONT];
    uint16_t tag[STACK_FRONT], key[STACK_FRONT], origin[STACK_FRONT];
    __m512i tags, keys;
    uint32_t m = 0;

    for (unsigned p = 0; p < STACK_FRONT; p++) {
        held[p] = s->front[p];
        tag[p] = tag_of(held[p]);
        key[p] = (uint16_t)((STACK_FRONT - 1 - p) << 5 | p);
        origin[p] = (uint16_t)p;
    }
    tags = _mm512_loadu_si512(tag);
    keys = _mm512_loadu_si512(key);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t x = line[i];
        const __m512i t = _mm512_set1_epi16((short)tag_of(x));
        uint32_t same = _mm512_cmpeq_epi16_mask(tags, t), p;

        while (same && __builtin_expect(held[__builtin_ctz(same)] != x, 0))
            same &= same - 1;
        if (same) {
            p = (uint32_t)__builtin_ctz(same);
            same &= -same;
            dist[i] = (uint64_t)__builtin_popcount(
                _mm512_cmpgt_epu16_mask(keys, _mm512_set1_epi16((short)key[p])));
        } else {
            p = smallest(keys) & 31;
            same = 1u << p;
            tags = _mm512_mask_mov_epi16(tags, same, t);
            w->line[m] = held[p] = x;
            w->index[m] = (uint16_t)i;
            w->evicted[m] = origin[p];
            origin[p] = (uint16_t)(STACK_FRONT + m++);
        }
        key[p] = (uint16_t)((STACK_FRONT + i) << 5 | p);
        keys = _mm512_mask_set1_epi16(keys, same, (short)key[p]);
    }
    for (unsigned p = 0; p < STACK_FRONT; p++)
        w->order[__builtin_popcount(
            _mm512_cmpgt_epu16_mask(keys, _mm512_set1_epi16((short)key[p])))] = origin[p];
    return m;
}

TARGET STACK_INLINE uint32_t match_avx512(const struct stack_bucket *b, uint64_t line)
{
    return _mm512_mask_cmpeq_epi64_mask((1 << STACK_WAYS) - 1, _mm512_load_si512(b),
                                        _mm512_set1_epi64((long long)line));
}

/* Eight lines at a time. */
TARGET static void homes_avx512(const struct stack *s, struct stack_work *w, const uint64_t *line,
                                uint32_t m)
{
    const __m512i seed = _mm512_set1_epi64((long long)s->seed);
    const __m512i base = _mm512_set1_epi64((long long)(uintptr_t)s->bucket);
    const __m512i buckets = _mm512_set1_epi64(s->buckets);
    uint32_t k = 0;

    for (; k + 8 <= m; k += 8) {
        __m512i h = _mm512_xor_si512(_mm512_loadu_si512(line + k), seed), home;

        h = _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)STACK_MIX1));
        h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
        h = _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)STACK_MIX2));
        home = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), buckets);
        home = _mm512_slli_epi64(_mm512_srli_epi64(home, 32), 6);
        _mm512_storeu_si512(w->home + k, _mm512_add_epi64(home, base));
    }
    stack_homes(s, w, line, k, m);
}

TARGET static uint32_t find_avx512(struct stack *s, struct stack_work *w, const uint64_t *line,
                                   uint32_t m)
{
    return stack_find_all(s, w, line, m, match_avx512);
}

TARGET STACK_INLINE void less16_avx512(uint16_t *__restrict count, uint32_t index)
{
    uint16_t *const first = count + (index & ~31u);
    const __m512i all = _mm512_load_si512(first);

    _mm512_store_si512(
        first, _mm512_mask_sub_epi16(all, 0xfffffffeu << index % 32, all, _mm512_set1_epi16(1)));
}

TARGET STACK_INLINE void less32_avx512(uint32_t *__restrict count, uint32_t index)
{
    uint32_t *const first = count + (index & ~31u);
    const __m512i low = _mm512_load_si512(first), high = _mm512_load_si512(first + 16);
    const __m512i one = _mm512_set1_epi32(1);
    const uint32_t behind = 0xfffffffeu << index % 32;

    _mm512_store_si512(first, _mm512_mask_sub_epi32(low, (__mmask16)behind, low, one));
    _mm512_store_si512(first + 16,
                       _mm512_mask_sub_epi32(high, (__mmask16)(behind >> 16), high, one));
}

TARGET STACK_INLINE void more8_avx512(stack_bytes32 *less, uint32_t at)
{
    *less = (stack_bytes32)_mm256_mask_add_epi8((__m256i)*less, 0xfffffffeu << at, (__m256i)*less,
                                                _mm256_set1_epi8(1));
}

TARGET static void rank_avx512(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                               const uint16_t *evicted, uint64_t *dist, uint32_t nexts)
{
    stack_rank_all(s, w, m, fill, evicted, dist, nexts, 1, less16_avx512, less32_avx512,
                   more8_avx512);
}

TARGET static void renumber_avx512(struct stack *s)
{
    stack_renumber_all(s, 1);
}

const struct stack_code stack_avx512 = {front_avx512, homes_avx512, find_avx512, rank_avx512,
                                        renumber_avx512};

#endif
