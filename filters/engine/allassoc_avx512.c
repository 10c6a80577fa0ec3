/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc_avx512.c - the lists of allassoc.h with 16 lines in a vector.
 *
 * A list always begins at the same place, and moving all of it costs little: the lines up to the
 * one that was found, or all, take the line of their left neighbour. There is no branch that
 * depends on the outcome.
 *
 * References are taken in batches, for a few numbers of sets at a time so that their work
 * overlaps; those that came first in their list are left out for the rest of the chain of
 * divisors. The most sets come before all others: what is not found there is nowhere, and where
 * that is the rule the rest is spared the search.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/allassoc_parts.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 16, BATCH = 1024, GROUP = 5 };

/* Looks for a line and moves it to the front: its place, `room` when it is not there. */
INLINE uint32_t to_front(uint32_t *list, unsigned vectors, uint32_t line)
{
    const __m512i wanted = _mm512_set1_epi32((int)line);
    __m512i v[4], left = wanted;
    uint64_t m = 0, upto;

    for (unsigned j = 0; j < vectors; j++) {
        v[j] = _mm512_load_si512(list + LANES * j);
        m |= (uint64_t)_mm512_cmpeq_epi32_mask(v[j], wanted) << LANES * j;
    }
    upto = m ^ (m - 1);
    for (unsigned j = 0; j < vectors; j++) {
        const __m512i moved = _mm512_alignr_epi32(v[j], left, LANES - 1);

        _mm512_store_si512(list + LANES * j,
                           _mm512_mask_mov_epi32(v[j], (__mmask16)(upto >> LANES * j), moved));
        left = v[j];
    }
    return vectors == 4 ? (m ? (uint32_t)_tzcnt_u64(m) : 64)
                        : (uint32_t)_tzcnt_u64(m | (uint64_t)1 << vectors % 4 * LANES);
}

/* Puts a line that is not there in front. */
INLINE void push(uint32_t *list, unsigned vectors, uint32_t line)
{
    __m512i left = _mm512_set1_epi32((int)line);

    for (unsigned j = 0; j < vectors; j++) {
        const __m512i v = _mm512_load_si512(list + LANES * j);

        _mm512_store_si512(list + LANES * j, _mm512_alignr_epi32(v, left, LANES - 1));
        left = v;
    }
}

/* References that are still looked for. */
struct batch {
    uint32_t count;
    uint32_t short_line[BATCH + 1];
    uint64_t line[BATCH + 1];
    uint8_t missing[BATCH + 1]; /* is nowhere */
};

/* Where the lists of one number of sets are, kept at hand. */
struct lists {
    uint32_t *line;
    uint64_t *found;
    uint32_t mask;
};

/* One batch for `levels` numbers of sets; with `compact` references that came first for the last of
   them leave the batch. `powers`: all are powers of two. */
INLINE void group(struct cf_allassoc_sets *s, unsigned levels, struct batch *b, unsigned vectors,
                  int spare, int powers)
{
    struct lists l[GROUP];
    uint32_t kept = 0;

    for (unsigned k = 0; k < levels; k++)
        l[k] = (struct lists){s[k].narrow, s[k].found, s[k].mask};
    for (uint32_t i = 0; i < b->count; i++) {
        const uint64_t line = b->line[i];
        const uint32_t short_line = b->short_line[i];
        const uint8_t missing = b->missing[i];
        uint32_t place = 1;

#pragma GCC unroll 5
        for (unsigned k = 0; k < levels; k++) {
            const uint64_t set =
                powers ? (uint32_t)line & l[k].mask : cf_allassoc_index(&s[k], line);
            uint32_t *list = l[k].line + set * (vectors * LANES);

            if (spare && missing) {
                push(list, vectors, short_line);
                l[k].found[vectors * LANES]++;
            } else {
                place = to_front(list, vectors, short_line);
                l[k].found[place]++;
            }
        }
        b->line[kept] = line;
        b->short_line[kept] = short_line;
        b->missing[kept] = missing;
        kept += place != 0;
    }
    b->count = kept;
}

INLINE void groups(struct cf_allassoc_sets *s, unsigned levels, struct batch *b, unsigned vectors,
                   int spare, int powers)
{
    if (levels == 1)
        group(s, 1, b, vectors, spare, powers);
    else if (levels == 2)
        group(s, 2, b, vectors, spare, powers);
    else if (levels == 4)
        group(s, 4, b, vectors, spare, powers);
    else if (levels == 3)
        group(s, 3, b, vectors, spare, powers);
    else
        group(s, GROUP, b, vectors, spare, powers);
}

/* One chain of numbers of sets, from the k-th to its last. */
INLINE void chain(struct cf_allassoc *a, unsigned k, const struct batch *all, unsigned vectors)
{
    const unsigned top = a->set[k].top;
    const uint32_t room = vectors * LANES;
    struct batch b = *all;
    uint32_t nowhere = 0;
    const int powers = !a->set[top].inverse;

    for (uint32_t i = 0; i < b.count; i++) {
        const uint32_t place =
            to_front(a->set[top].narrow + cf_allassoc_index(&a->set[top], b.line[i]) * room,
                     vectors, b.short_line[i]);

        a->set[top].found[place]++;
        b.missing[i] = place == room;
        nowhere += place == room;
    }
    while (k < top) {
        const unsigned levels = top - k < GROUP ? top - k : GROUP;

        for (unsigned j = 0; j < levels; j++)
            a->set[k + j].found[0] += all->count - b.count;
        if (!powers)
            groups(a->set + k, levels, &b, vectors, 0, 0);
        else if (nowhere > all->count - all->count / 8)
            groups(a->set + k, levels, &b, vectors, 1, 1);
        else
            groups(a->set + k, levels, &b, vectors, 0, 1);
        k += levels;
    }
}

INLINE uint32_t run(struct cf_allassoc *a, const uint64_t *line, uint32_t count, uint32_t room)
{
    const uint32_t low = ((uint32_t)1 << REGION_BITS) - 1;
    struct batch b;

    for (uint32_t done = 0; done < count;) {
        for (b.count = 0; b.count < BATCH && done + b.count < count; b.count++) {
            const uint64_t l = line[done + b.count];
            const uint32_t base = cf_allassoc_region(a, l >> REGION_BITS);

            if (base == CF_ALLASSOC_EMPTY32)
                break;
            b.line[b.count] = l;
            b.short_line[b.count] = base | ((uint32_t)l & low);
        }
        if (!b.count)
            return done;
        for (unsigned k = 0; k < a->count; k = a->set[k].top + 1)
            chain(a, k, &b, room / LANES);
        done += b.count;
    }
    return count;
}

#define RUNNER(name, room)                                                                         \
    static TARGET uint32_t name(struct cf_allassoc *a, const uint64_t *line, uint32_t count)       \
    {                                                                                              \
        return run(a, line, count, room);                                                          \
    }

RUNNER(run_16, 16)
RUNNER(run_32, 32)
RUNNER(run_64, 64)

cf_allassoc_runner *cf_allassoc_avx512(uint32_t ways, uint32_t *room)
{
    if (ways > 64 || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("bmi2"))
        return NULL;
    *room = ways <= 16 ? 16 : ways <= 32 ? 32 : 64;
    return ways <= 16 ? run_16 : ways <= 32 ? run_32 : run_64;
}
#endif
