/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ways.h - a set of a cache whose ways stand in the order of age, the newest first: finding a line,
 * and moving ways down by one. For _simd.c sources.
 *
 * A way is 64 bits, of which the top one is the user's own. Whole vectors are read and written,
 * what lies behind the set as it was, since the processor hands on what was stored to a load that
 * follows only if it was not masked: CF_WAYS_BEHIND bytes behind the last set must be there.
 */
#ifndef CF_WAYS_H
#define CF_WAYS_H

#include "formats/cpu/cf_simd.h"

enum { CF_WAYS_MOST = 64, CF_WAYS_BEHIND = 128 };

/* A bit for the way that holds the line; 0 where none does. 1 to 64 ways. */
CF_INLINE uint64_t cf_ways_find(const uint64_t *set, unsigned ways, uint64_t line)
{
    uint64_t found = 0;

#ifdef CF_SIMD_HALVES
    /* no comparison of 64 bits: the lower halves say which it can be, nearly always one */
    const cf_half wanted = (cf_half){0} + (uint32_t)line;

    for (unsigned w = 0; w < ways; w += 2 * CF_LANES) {
        const cf_half a = (cf_half)cf_vec_load(set + w),
                      b = (cf_half)cf_vec_load(set + w + CF_LANES);

        found |= (uint64_t)cf_half_equal(__builtin_shufflevector(a, b, 0, 2, 4, 6), wanted) << w;
    }
    found &= UINT64_MAX >> (64 - ways);
    while (found && __builtin_expect((set[__builtin_ctzll(found)] ^ line) << 1 != 0, 0))
        found &= found - 1;
    return found & -found;
#else
    const cf_vec wanted = cf_vec_all(line << 1);

    for (unsigned w = 0; w < ways; w += CF_LANES) {
        const cf_vec v = cf_vec_load(set + w);

        found |= (uint64_t)cf_vec_equal(v + v, wanted) << w;
    }
    return found & UINT64_MAX >> (64 - ways);
#endif
}

/* The ways up to that of the lowest bit of `last`, which is not 0, move down by one, over the last
   of them, and `entry` comes in front. */
CF_INLINE void cf_ways_push(uint64_t *set, unsigned ways, uint64_t last, uint64_t entry)
{
    cf_vec left = cf_vec_all(entry);
#ifdef CF_SIMD_AVX512
    const uint64_t which = last ^ (last - 1);

    for (unsigned w = 0; w < ways; w += CF_LANES) {
        const cf_vec v = cf_vec_load(set + w);

        cf_vec_store(set + w, cf_vec_pick((unsigned)(which >> w), cf_vec_shift(left, v), v));
        left = v;
    }
#else
    /* so many ways move: that many ones, and zeros */
    static const uint64_t ones[2 * CF_WAYS_MOST] = {[0 ... CF_WAYS_MOST - 1] = UINT64_MAX};
    const uint64_t *const which = ones + CF_WAYS_MOST - 1 - __builtin_ctzll(last);

    for (unsigned w = 0; w < ways; w += CF_LANES) {
        const cf_vec v = cf_vec_load(set + w), moves = cf_vec_load(which + w);

        cf_vec_store(set + w, cf_vec_blend(moves, cf_vec_shift(left, v), v));
        left = v;
    }
#endif
}

/* The same of any number of ways: the place of a line, `ways` where none holds it; */
CF_INLINE uint32_t cf_ways_place(const uint64_t *set, uint32_t ways, uint64_t line)
{
    uint32_t w = 0;

    if (__builtin_expect(ways <= CF_WAYS_MOST, 1)) {
        const uint64_t found = cf_ways_find(set, ways, line);

        return found ? (uint32_t)__builtin_ctzll(found) : ways;
    }
    while (w < ways && (set[w] ^ line) << 1 != 0)
        w++;
    return w;
}

/* and the ways before `place` move down by one over it. */
CF_INLINE void cf_ways_front(uint64_t *set, uint32_t ways, uint32_t place, uint64_t entry)
{
    if (__builtin_expect(ways <= CF_WAYS_MOST, 1)) {
        cf_ways_push(set, ways, UINT64_C(1) << place, entry);
        return;
    }
    memmove(set + 1, set, place * sizeof *set);
    set[0] = entry;
}

#endif
