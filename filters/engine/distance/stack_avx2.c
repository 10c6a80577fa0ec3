/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_avx2.c - the steps of stack_one.c by 256-bit vectors; the results are the same.
 *
 * In the front nothing moves: a line stays at its position, 0 to 31, and has a tag (16 bits of a
 * hash) and a key (time of its reference in the batch, then its position). All tags are compared at
 * once; the distance is the number of larger keys; the line to drive out has the smallest. Tags and
 * keys live in four registers. The other steps are the common code, with this processor's
 * instructions.
 */
#include "filters/engine/distance/stack_parts.h"

#ifdef HAVE_VECTOR_STACK
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* Position p is bit p of the masks that pack two compared vectors, which mixes their halves. */
TARGET STACK_INLINE __m256i halves(const uint16_t *of, unsigned first)
{
    return _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(const void *)(of + first + 16)),
                            _mm_loadu_si128((const __m128i *)(const void *)(of + first)));
}

TARGET STACK_INLINE uint32_t mask(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16(a, b));
}

STACK_INLINE uint16_t tag_of(uint64_t line)
{
    return (uint16_t)(line * 0x9e3779b97f4a7c15u >> 48);
}

/* The smallest of the keys, which are not negative. */
TARGET STACK_INLINE uint16_t smallest(__m256i a, __m256i b)
{
    const __m256i c = _mm256_min_epu16(a, b);
    const __m128i d = _mm_min_epu16(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));

    return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(d));
}

/* The front is full. */
TARGET static uint32_t front_avx2(struct stack *s, struct stack_work *w, const uint64_t *line,
                                  uint32_t n, uint64_t *dist)
{
    uint64_t held[STACK_FRONT];
    uint16_t tag[STACK_FRONT], key[STACK_FRONT], origin[STACK_FRONT];
    __m256i tag0, tag1, key0, key1;
    uint32_t m = 0;

    for (unsigned p = 0; p < STACK_FRONT; p++) {
        held[p] = s->front[p];
        tag[p] = tag_of(held[p]);
        key[p] = (uint16_t)((STACK_FRONT - 1 - p) << 5 | p);
        origin[p] = (uint16_t)p;
    }
    tag0 = halves(tag, 0);
    tag1 = halves(tag, 8);
    key0 = halves(key, 0);
    key1 = halves(key, 8);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t x = line[i];
        const __m256i t = _mm256_set1_epi16((short)tag_of(x));
        uint32_t same = mask(_mm256_cmpeq_epi16(tag0, t), _mm256_cmpeq_epi16(tag1, t)), p;
        __m256i old, new, at0, at1;

        while (same && __builtin_expect(held[__builtin_ctz(same)] != x, 0))
            same &= same - 1;
        if (same) {
            p = (uint32_t)__builtin_ctz(same);
            old = _mm256_set1_epi16((short)key[p]);
            dist[i] = (uint64_t)__builtin_popcount(
                mask(_mm256_cmpgt_epi16(key0, old), _mm256_cmpgt_epi16(key1, old)));
        } else {
            const uint16_t oldest = smallest(key0, key1);

            p = oldest & 31;
            old = _mm256_set1_epi16((short)oldest);
            w->line[m] = held[p] = x;
            w->index[m] = (uint16_t)i;
            w->evicted[m] = origin[p];
            origin[p] = (uint16_t)(STACK_FRONT + m++);
        }
        key[p] = (uint16_t)((STACK_FRONT + i) << 5 | p);
        new = _mm256_set1_epi16((short)key[p]);
        at0 = _mm256_cmpeq_epi16(key0, old);
        at1 = _mm256_cmpeq_epi16(key1, old);
        key0 = _mm256_blendv_epi8(key0, new, at0);
        key1 = _mm256_blendv_epi8(key1, new, at1);
        if (!same) {
            tag0 = _mm256_blendv_epi8(tag0, t, at0);
            tag1 = _mm256_blendv_epi8(tag1, t, at1);
        }
    }
    for (unsigned p = 0; p < STACK_FRONT; p++) {
        const __m256i k = _mm256_set1_epi16((short)key[p]);

        w->order[__builtin_popcount(
            mask(_mm256_cmpgt_epi16(key0, k), _mm256_cmpgt_epi16(key1, k)))] = origin[p];
    }
    return m;
}

TARGET STACK_INLINE uint32_t match_avx2(const struct stack_bucket *b, uint64_t line)
{
    const __m256i four = _mm256_load_si256((const __m256i *)(const void *)b->line);
    const __m256i same = _mm256_cmpeq_epi64(four, _mm256_set1_epi64x((long long)line));

    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same)) | (uint32_t)(b->line[4] == line)
                                                                         << 4;
}

TARGET static void homes_avx2(const struct stack *s, struct stack_work *w, const uint64_t *line,
                              uint32_t m)
{
    stack_homes(s, w, line, 0, m);
}

TARGET static uint32_t find_avx2(struct stack *s, struct stack_work *w, const uint64_t *line,
                                 uint32_t m)
{
    return stack_find_all(s, w, line, m, match_avx2);
}

TARGET static void rank_avx2(struct stack *s, struct stack_work *w, uint32_t m, uint32_t fill,
                             const uint16_t *evicted, uint64_t *dist, uint32_t nexts)
{
    stack_rank_all(s, w, m, fill, evicted, dist, nexts, 1, less16, less32, more8);
}

TARGET static void renumber_avx2(struct stack *s)
{
    stack_renumber_all(s, 1);
}

const struct stack_code stack_avx2 = {front_avx2, homes_avx2, find_avx2, rank_avx2, renumber_avx2};

#endif
