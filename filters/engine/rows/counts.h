/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts.h - a counter for each distinct key, and what a ranking needs: order, knee, coverage.
 *
 * Keys are two 64-bit words (one that is not needed is 0). Open addressing with linear probing by
 * a seeded hash, 32 bytes a slot, at most three quarters full: 43 to 85 bytes a distinct key.
 */
#ifndef CF_COUNTS_H
#define CF_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct cf_counts;

struct cf_count {
    uint64_t a, b; /* the key */
    uint64_t value;
};

/* NULL without memory. */
struct cf_counts *cf_counts_new(void) __attribute__((warn_unused_result));
void cf_counts_free(struct cf_counts *c);

/* Counter of the key, made with value 0 when it is new; valid until the next call that makes one.
   NULL without memory. */
uint64_t *cf_counts_at(struct cf_counts *c, uint64_t a, uint64_t b)
    __attribute__((warn_unused_result));

/* Value of the key's counter, 0 where there is none. */
uint64_t cf_counts_get(const struct cf_counts *c, uint64_t a, uint64_t b);

/* Adds value[i] to the counter of (a[i], b[i]) for all `rows` rows. `a` may be NULL: all 0. Rows
   of value 0 make no counter. -1 without memory. */
int cf_counts_add(struct cf_counts *c, const uint64_t *a, const uint64_t *b, const uint64_t *value,
                  size_t rows) __attribute__((warn_unused_result));

/* number[i] = number of the key (a[i], b[i]): 0, 1, 2, ... in the order in which they appear. Rows
   that have some[i] == 0 make no counter: they get the number of their key, or 0. The counter holds
   the number + 1. The first call takes 12 KiB for keys that were numbered lately. -1 without
   memory, or with more than 2^32 - 66 keys. */
int cf_counts_number(struct cf_counts *c, const uint64_t *a, const uint64_t *b,
                     const uint64_t *some, size_t rows, uint32_t *number)
    __attribute__((warn_unused_result));

/* Number of distinct keys. */
size_t cf_counts_size(const struct cf_counts *c);

/* Copies all counters to `out`, which has room for cf_counts_size(), in no certain order. */
void cf_counts_copy(const struct cf_counts *c, struct cf_count *out);

/* The knee of a ranking: the number of items, from the greatest, after which the cumulative curve
   flattens. It is the point of the curve that lies farthest above its chord, both axes being
   scaled to 1: the knee of Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a
   Haystack: Detecting Knee Points in System Behavior", ICDCS Workshops 2011, section III, for the
   whole curve, which needs no smoothing because a ranking is concave. The first such point; 0
   when no point lies above the chord, since all values are equal. `value` falls or stays. */
size_t cf_counts_knee(const uint64_t *value, size_t count);

/* The least number of items, from the greatest, whose sum is at least `millionths` / 10^6 of the
   sum of all. 0 when that is 0. */
size_t cf_counts_cover(const uint64_t *value, size_t count, uint32_t millionths);

#endif
