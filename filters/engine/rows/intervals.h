/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals.h - a set of disjoint address ranges: which one holds this address?
 *
 * Comes in: ranges [start, last], both included, so that a range may end at the last address there
 * is; each with two numbers of the caller. Goes out: the slot of the range that holds an address.
 * No two ranges of a set overlap; who inserts first removes what lies there.
 *
 * Memory: 36 bytes a range, 12 to 48 more for the order, and 16 to 32 for hints. Time: a lookup is
 * a few loads where an address near it was asked for before, else two binary searches, which
 * insertion and removal need too. No input makes either worse than that.
 *
 * A set belongs to one thread. Lookups learn, so they take it as not const.
 */
#ifndef CF_INTERVALS_H
#define CF_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct cf_interval {
    uint64_t start, last;  /* bytes, both included; a slot that is not in use holds 1 and 0 */
    uint32_t value, extra; /* the caller's */
    uint32_t prev, next;   /* slots of the neighbours in address order, 0 = none */
};

struct cf_intervals;

/* An empty set; NULL without memory. `shift`: addresses that agree but for this many low bits are
   likely in the same range: 6 for heap objects, 12 for mappings. */
struct cf_intervals *cf_intervals_new(unsigned shift);
void cf_intervals_free(struct cf_intervals *v);

/* A copy that is independent of `v`; NULL without memory. Slots keep their numbers. */
struct cf_intervals *cf_intervals_copy(const struct cf_intervals *v);

/* Adds a range that overlaps none in the set. Its slot, from 1; 0 without memory or when it does
   overlap or last < start. */
uint32_t cf_intervals_insert(struct cf_intervals *v, uint64_t start, uint64_t last, uint32_t value,
                             uint32_t extra);

/* Takes out the range of a slot, which must be in use. The slot may be given to another range. */
void cf_intervals_remove(struct cf_intervals *v, uint32_t slot);

/* Lowest range that reaches into [start, last], 0 if none. */
uint32_t cf_intervals_overlap(struct cf_intervals *v, uint64_t start, uint64_t last);

/* The last range that starts at or before the address, 0 if none. */
uint32_t cf_intervals_before(struct cf_intervals *v, uint64_t addr);

/* Slot of the range that holds the address, 0 if none. `key` is any number that lookups of nearby
   addresses share, as the pc of an access does; it only makes them faster. */
uint32_t cf_intervals_find(struct cf_intervals *v, uint64_t addr, uint64_t key);

/* The same for many addresses at once, which hides the latency of memory: slots[i] gets the slot
   for addr[i]. `key` may be NULL. */
void cf_intervals_find_many(struct cf_intervals *v, const uint64_t *addr, const uint64_t *key,
                            size_t count, uint32_t *slots);

/* Narrows [*first, *last], which holds the address, to those around it for which the answer is the
   same: to the range that holds it, or to the gap between two. */
void cf_intervals_around(struct cf_intervals *v, uint64_t addr, uint64_t *first, uint64_t *last);

/* Says that the address will soon be asked for or changed: call with stage 0, somewhat later with
   1, then 2. Only makes it faster. */
void cf_intervals_soon(const struct cf_intervals *v, uint64_t addr, unsigned stage);

/* All slots, valid until the next insertion: [0] stands for "none" and holds the value and extra 0.
   First range in address order: slots[0].next. */
const struct cf_interval *cf_intervals_slots(const struct cf_intervals *v);
uint32_t cf_intervals_count(const struct cf_intervals *v);

#endif
