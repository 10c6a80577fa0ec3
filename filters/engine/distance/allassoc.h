/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc.h - misses of LRU caches of every associativity and several numbers of sets, in one
 * pass.
 *
 * A set of an LRU cache of any number of ways holds the first ways of one list: the lines of the
 * set in the order of their last use (Mattson, Gecsei, Slutz, Traiger, IBM Systems Journal 9(2),
 * 1970). So it is enough to keep that list, up to the largest number of ways, for every number of
 * sets, and to count at which place references find their line: a cache of w ways misses those at
 * place w and behind. That is all-associativity simulation (Hill and Smith, "Evaluating
 * Associativity in CPU Caches", IEEE Transactions on Computers 38(12), 1989, section 4). Also
 * theirs is the stop: where one number of sets divides the next, a line that comes first in its set
 * comes first in the smaller set as well, and nothing changes there.
 *
 * Compulsory misses are among the misses; counting them apart takes memory for every line that
 * was ever seen, and is left to the caller.
 *
 * Memory, whatever the trace: 2 to 12 bytes a line of the largest cache of each number of sets,
 * where the ways count as a power of two from 16.
 */
#ifndef CF_ALLASSOC_H
#define CF_ALLASSOC_H

#include <stdint.h>

struct cf_allassoc;

enum {
    CF_ALLASSOC_MOST = 64, /* numbers of sets */
    CF_ALLASSOC_WAYS = 32, /* usual largest number of ways */
};

/* For `count` numbers of sets, from 1 and in ascending order, and up to `ways` ways (1 to 1024).
   NULL without memory, or where the arguments are none of these. */
struct cf_allassoc *cf_allassoc_new(const uint32_t *sets, unsigned count, uint32_t ways);
/* The most bytes that this takes. */
uint64_t cf_allassoc_memory(const uint32_t *sets, unsigned count, uint32_t ways);
void cf_allassoc_free(struct cf_allassoc *a);

/* References to lines (numbers below 2^63 - 1), as runs.h makes them. */
void cf_allassoc_run(struct cf_allassoc *a, const uint64_t *line, uint32_t count);

/* The same, but that they are counted nowhere: they change only what the caches hold. */
void cf_allassoc_touch(struct cf_allassoc *a, const uint64_t *line, uint32_t count);

/* Misses of a cache with the k-th number of sets and `ways` ways, among the references so far. What
   runs.h dropped hits in any. */
uint64_t cf_allassoc_misses(const struct cf_allassoc *a, unsigned k, uint32_t ways);

#endif
