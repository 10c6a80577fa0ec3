/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sets.h - the set of a line: its number modulo the number of sets, without a division.
 */
#ifndef CF_SETS_H
#define CF_SETS_H

#include <stdint.h>

struct cf_sets {
    uint32_t sets;    /* from 1 */
    uint64_t inverse; /* floor(2^64 / sets), 0 where sets is a power of two */
};

static inline struct cf_sets cf_sets(uint32_t sets)
{
    return (struct cf_sets){sets, sets & (sets - 1) ? UINT64_MAX / sets : 0};
}

/* L mod sets. The reciprocal gives a quotient that is at most one too small, since L < 2^64. */
static inline uint32_t cf_sets_index(const struct cf_sets *s, uint64_t line)
{
    uint64_t rest;

    if (!s->inverse)
        return (uint32_t)line & (s->sets - 1);
    rest = line - (uint64_t)((unsigned __int128)line * s->inverse >> 64) * s->sets;
    return (uint32_t)(rest >= s->sets ? rest - s->sets : rest);
}

#endif
