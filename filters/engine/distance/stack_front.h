/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_front.h - the front of one stack; of stack_simd.c alone, for each processor.
 *
 * With vectors nothing moves: a line stays at its position, 0 to 31, and has a tag (16 bits of a
 * hash) and a key (time of its reference in the batch, then its position). All tags are compared at
 * once; the distance is the number of larger keys; the line to evict has the smallest. Tags and
 * keys live in registers.
 *
 * A list in which the line that is referenced moves to the front serves batches that vectors are
 * not worth preparing for. On programs it is as fast as vectors of 128 bits (68 against 71 million
 * references a second; within 64 sets 113 against 85), which therefore have nothing else; those of
 * 256 bits are 1.6 times as fast and more. Those of 512 are no faster than these.
 */
#ifndef CF_STACK_FRONT_H
#define CF_STACK_FRONT_H

#include "filters/engine/distance/stack_parts.h"
#include "formats/cpu/cf_simd.h"

#ifdef CF_SIMD_AVX2
/* One for each position; none is negative. */
typedef int16_t lanes __attribute__((vector_size(CF_LANES * 8), may_alias));

enum { VECTORS = STACK_FRONT * 2 / sizeof(lanes) };

typedef struct {
    lanes v[VECTORS];
} positions;

CF_INLINE positions equal(const lanes *of, int16_t value)
{
    positions at;

#pragma GCC unroll 2
    for (unsigned i = 0; i < VECTORS; i++)
        at.v[i] = of[i] == value;
    return at;
}

CF_INLINE positions above(const lanes *of, int16_t value)
{
    positions at;

#pragma GCC unroll 2
    for (unsigned i = 0; i < VECTORS; i++)
        at.v[i] = of[i] > value;
    return at;
}

CF_INLINE void put(lanes *of, positions at, int16_t old, int16_t new)
{
#pragma GCC unroll 2
    for (unsigned i = 0; i < VECTORS; i++)
        of[i] += at.v[i] & (int16_t)(new - old);
}

CF_INLINE uint32_t bits(positions at)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_packs_epi16((__m256i)at.v[0], (__m256i)at.v[1]));
}

CF_INLINE __m256i smaller_half(const lanes *of)
{
    const __m256i *half = (const __m256i *)of;

    return _mm256_min_epi16(half[0], half[1]);
}

CF_INLINE int16_t smallest(const lanes *of)
{
    const __m256i half = smaller_half(of);

    return (int16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(
        _mm_min_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1))));
}

/* The position of which the i-th lane is: bits() mixes the halves of two vectors. */
CF_INLINE unsigned position(unsigned i)
{
    return (i & 7) | (i >> 3 & 1) << 4 | (i >> 4 & 1) << 3;
}

CF_INLINE int16_t tag_of(uint64_t line)
{
    return (int16_t)(line * 0x9e3779b97f4a7c15u >> 48);
}

CF_INLINE int16_t key_of(uint32_t time, uint32_t p)
{
    return (int16_t)(time << 5 | p);
}

/* As find_front(), where the front is full. */
static uint32_t full_front(const struct stack *s, struct stack_work *w, const uint64_t *line,
                           uint32_t n, uint64_t *dist)
{
    uint64_t held[STACK_FRONT];
    int16_t first_tag[STACK_FRONT], first_key[STACK_FRONT], key[STACK_FRONT];
    uint16_t origin[STACK_FRONT];
    lanes tags[VECTORS], keys[VECTORS];
    uint32_t m = 0;

    memcpy(held, s->front, sizeof held);
    for (unsigned i = 0; i < STACK_FRONT; i++) {
        const unsigned p = position(i);

        first_tag[i] = tag_of(held[p]);
        first_key[i] = key[p] = key_of(STACK_FRONT - 1 - p, p);
        origin[i] = (uint16_t)i;
    }
    memcpy(tags, first_tag, sizeof tags);
    memcpy(keys, first_key, sizeof keys);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t x = line[i];
        uint32_t same = bits(equal(tags, tag_of(x))), p;
        int16_t old;
        positions at;

        while (same && __builtin_expect(held[__builtin_ctz(same)] != x, 0))
            same &= same - 1;
        if (same) {
            p = (uint32_t)__builtin_ctz(same);
            old = key[p];
            at = equal(keys, old);
            dist[i] = stack_ones(bits(above(keys, old)));
        } else {
            old = smallest(keys);
            p = (uint32_t)old % STACK_FRONT;
            at = equal(keys, old);
            put(tags, at, tag_of(held[p]), tag_of(x));
            w->line[m] = held[p] = x;
            w->index[m] = (uint16_t)i;
            w->evicted[m] = origin[p];
            origin[p] = (uint16_t)(STACK_FRONT + m++);
        }
        key[p] = key_of(STACK_FRONT + i, p);
        put(keys, at, old, key[p]);
    }
    for (unsigned p = 0; p < STACK_FRONT; p++)
        w->order[stack_ones(bits(above(keys, key[p])))] = origin[p];
    return m;
}
#endif

/* As find_front(): a list in the order of recency. */
static uint32_t list_front(const struct stack *s, struct stack_work *w, const uint64_t *line,
                           uint32_t n, uint64_t *dist)
{
    uint64_t held[STACK_FRONT];
    uint16_t *const origin = w->order;
    uint32_t count = s->count, m = 0;

    memcpy(held, s->front, sizeof held);
    for (unsigned i = 0; i < STACK_FRONT; i++)
        origin[i] = (uint16_t)i;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t x = line[i];
        uint64_t carried = held[0];
        uint16_t from = origin[0];
        uint32_t d = 0;

        if (carried == x && count) {
            dist[i] = 0;
            continue;
        }
        while (++d < count) {
            const uint64_t next = held[d];
            const uint16_t next_from = origin[d];

            held[d] = carried;
            origin[d] = from;
            carried = next;
            from = next_from;
            if (carried == x)
                break;
        }
        if (d < count) {
            dist[i] = d;
            origin[0] = from;
        } else {
            if (count == STACK_FRONT) {
                w->evicted[m] = from;
            } else {
                if (count) {
                    held[count] = carried;
                    origin[count] = from;
                }
                count++;
            }
            w->line[m] = x;
            w->index[m] = (uint16_t)i;
            origin[0] = (uint16_t)(STACK_FRONT + m++);
        }
        held[0] = x;
    }
    return m;
}

/* Finds distances in the front; returns how many of `n` lines are not in it. */
CF_INLINE uint32_t find_front(const struct stack *s, struct stack_work *w, const uint64_t *line,
                              uint32_t n, uint64_t *dist)
{
#ifdef CF_SIMD_AVX2
    enum { BRIEF = 96 };

    if (s->count == STACK_FRONT && n >= BRIEF)
        return full_front(s, w, line, n, dist);
#endif
    return list_front(s, w, line, n, dist);
}

#endif
