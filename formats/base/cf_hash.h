/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_hash.h - a hash for tables whose keys come from an input: it depends on a seed that the input
 * cannot know, so that nobody can choose keys that meet in one place.
 */
#ifndef CF_HASH_H
#define CF_HASH_H

#include <stdint.h>

struct cf_seed {
    uint64_t a, b;
};

/* Another one in each process, and for each table `of` in it. */
struct cf_seed cf_seed(const void *of);

static inline uint64_t cf_hash_fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Of a key of two words; every bit of both counts in all bits. Keys in a row keep an order in the
   first product: where s.a is near to a fraction of 2^64 with a small denominator, they meet in a
   few places. One process in thirty would be several times as slow. So there is a second one. */
static inline uint64_t cf_hash(struct cf_seed s, uint64_t a, uint64_t b)
{
    return cf_hash_fold(cf_hash_fold(a ^ s.a, b ^ s.b) ^ s.b, UINT64_C(0x9e3779b97f4a7c15));
}

#endif
