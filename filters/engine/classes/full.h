/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * full.h - a fully associative LRU cache of N lines, and which lines it ever held: what the 3C
 * model compares a real cache with (M. D. Hill, A. J. Smith, "Evaluating associativity in CPU
 * caches", IEEE Transactions on Computers 38(12), 1989; M. D. Hill, "Aspects of cache memory and
 * instruction buffer performance", thesis, Berkeley 1987).
 *
 * No list and no deletion. A clock counts references, and each line remembers the time of its last
 * one. The cache holds the N lines that were referenced last, so there is a time T, that of the
 * oldest of them, with: a line is in the cache if and only if its time is T or later. A bit for
 * each time says whether it still is the last time of its line; when a reference misses the full
 * cache, T moves to the next set bit.
 *
 * Lines come as slots (slots.h). Memory: 4 bytes a slot, 0.75 bytes a slot and 3 bytes a cache line
 * for the bits, and room to grow; with slots.h 6 to 11 bytes a distinct line where the lines of a
 * page are all used, and at most 1,300 where no two lines share a page.
 */
#ifndef CF_FULL_H
#define CF_FULL_H

#include <stddef.h>
#include <stdint.h>

#include "filters/engine/rows/slots.h"

/* What a reference finds. */
enum cf_full_result { CF_FULL_HIT = 0, CF_FULL_NEVER_SEEN = 1, CF_FULL_GONE = 2 };

/* What a reference does. */
enum cf_full_how {
    CF_FULL_TOUCH = 0,       /* the line becomes the newest */
    CF_FULL_NO_ALLOCATE = 1, /* so, but a line that is not in the cache stays out, and unseen */
    CF_FULL_FLUSH = 2,       /* the line leaves the cache; that is no reference to it */
};

struct cf_full;

/* `lines` from 1 on. NULL without memory. */
struct cf_full *cf_full_new(uint64_t lines);
void cf_full_free(struct cf_full *f);

/* Has the times stand in the caller's memory, beside what else it knows of a line: that of slot n
   in element n << shift of `time`, for `room` slots, 0 for a line that was never seen. To be called
   before the first reference, and whenever the array moved or grew. */
void cf_full_lend(struct cf_full *f, uint32_t *time, uint32_t room, unsigned shift);

/* References in order: what each found, enum cf_full_result. `slots` is where the slots come from.
   -1 without memory; it can then only be freed. */
int cf_full_touch(struct cf_full *f, const struct cf_slots *slots, const uint32_t *slot,
                  size_t count, uint8_t *found);

/* One reference of any kind: enum cf_full_result, or -1 without memory. */
int cf_full_one(struct cf_full *f, const struct cf_slots *slots, uint32_t slot,
                enum cf_full_how how);

/* The time of a line's last reference where the cache holds it, of which the greatest is the
   newest, good until the next reference; else 0. */
uint32_t cf_full_time(const struct cf_full *f, uint32_t slot);

#endif
