/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * curve.h - miss counts of LRU caches of many sizes from stack distances: R. L. Mattson, J. Gecsei,
 * D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal
 * 9(2), 1970: a reference misses a cache of n lines if and only if its stack distance, the number
 * of other lines since the last reference to its line, is n or more.
 *
 * The sizes of interest are given beforehand, and what is kept is how many distances lie between
 * each two neighbours: the counts at these sizes are exact, whatever the sizes are. Memory: 8 bytes
 * a size and group, and 8 KiB.
 */
#ifndef CF_CURVE_H
#define CF_CURVE_H

#include <stddef.h>
#include <stdint.h>

/* The values from here up are no distances but say why there is none; see stack.h. */
#define CF_CURVE_NAMED (UINT64_MAX - 3)

struct cf_curve;

/* For caches of size[0] < size[1] < ... lines, `count` of them (up to 2^20), all below
   CF_CURVE_NAMED. NULL without memory. */
struct cf_curve *cf_curve_new(const uint64_t *size, size_t count)
    __attribute__((warn_unused_result));
void cf_curve_free(struct cf_curve *c);

/* Takes `rows` distances. Row i counts weight[i] times (NULL: once) for group[i] (NULL: 0); all
   groups are below `groups`, for which there will be room. -1 without memory. */
int cf_curve_add(struct cf_curve *c, const uint64_t *dist, const uint32_t *group,
                 const uint64_t *weight, size_t rows, size_t groups)
    __attribute__((warn_unused_result));

/* misses[i] = distances of the group that are size[i] or more, for every size; without the named
   values. */
void cf_curve_misses(const struct cf_curve *c, size_t group, uint64_t *misses);
/* All distances of the group; without the named values. */
uint64_t cf_curve_total(const struct cf_curve *c, size_t group);
/* Rows whose value was `name`, which is CF_CURVE_NAMED or more. */
uint64_t cf_curve_named(const struct cf_curve *c, size_t group, uint64_t name);

#endif
