/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threec.h - the 3C model: why a cache misses.
 *
 * A reference that misses is a compulsory miss if a cache without bounds, which sees the same
 * references, misses too; that is, with one exception, if its line was never referenced before.
 * Else it is a capacity miss if a fully associative LRU cache with as many lines misses too; else a
 * conflict miss (M. D. Hill, A. J. Smith, IEEE Transactions on Computers 38(12), 1989). Reference
 * by reference, so a fully associative cache that misses where the real one hits is no "negative
 * conflict", as it is when only the sums are compared.
 *
 * The exception: stores that do not allocate in the real cache do not in the other two either. No
 * size would spare them, nor the first load of a line that only stores have touched.
 *
 * What the real cache does is the caller's affair; here is what the others say. A line that is
 * flushed leaves the one with bounds too, and its next miss counts as capacity.
 *
 * Memory: see full.h and slots.h.
 */
#ifndef CF_THREEC_H
#define CF_THREEC_H

#include <stdint.h>

#include "filters/engine/classes/classes.h"
#include "filters/engine/classes/full.h"

struct cf_threec;

/* For a cache of `lines` lines, from 1 on. NULL without memory. */
struct cf_threec *cf_threec_new(uint64_t lines, int no_allocate);
void cf_threec_free(struct cf_threec *t);

/* References in order, with their enum cf_run_flag: enum cf_full_result of each. -1 without
   memory; it can then only be freed. */
int cf_threec_look(struct cf_threec *t, const uint64_t *line, const uint8_t *flags, uint32_t count,
                   uint8_t *found);

/* Of lines that were referenced: cf_full_time(). -1 without memory. */
int cf_threec_times(struct cf_threec *t, const uint64_t *line, uint32_t count, uint32_t *time);

/* Class of a miss of the real cache. */
static inline uint8_t cf_threec_class(uint8_t found)
{
    return found == CF_FULL_HIT          ? CF_CLASS_CONFLICT
           : found == CF_FULL_NEVER_SEEN ? CF_CLASS_COMPULSORY
                                         : CF_CLASS_CAPACITY;
}

#endif
