/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.h - chains of pointers, or of jumps, in a buffer, and going along them: each step needs
 * the one before it, so that neither prefetchers nor overlapping misses hide what one costs ("Auto-
 * matic Cache Modeling by Measurements", section 5.3).
 */
#ifndef CF_PROBE_CHAIN_H
#define CF_PROBE_CHAIN_H

#include <stdint.h>

/* Makes nodes at these offsets a ring. */
void cf_chain_link(unsigned char *base, const uint64_t *offset, uint32_t count);

/* `steps` steps from a node; returns the node after them. */
void *cf_chain_walk(void *node, uint64_t steps);

/* The same, each step timed by itself: each[i], if there is an array, gets the ticks of step i; all
   add to `time`, and those that took more than `limit` are counted in `slow`. */
struct cf_chain_times {
    uint64_t limit, slow, time;
    uint32_t *each;
};
void *cf_chain_time(void *node, uint64_t steps, struct cf_chain_times *t);

/* Takes these bytes out of all caches. -1 where no instruction does that for a program. */
int cf_chain_flush(const unsigned char *from, uint64_t bytes);

/* Instructions in place of pointers: each node, of so many bytes, at least 16, ends with a jump to
   the next target of a list. What stands before it does nothing; where `single`, no two of it are
   decoded as one. -1 where this processor's are not known. */
int cf_chain_code(unsigned char *base, const uint64_t *offset, uint32_t count, unsigned bytes,
                  int single);
/* A list of so many rounds, each in another order, and of one target more, which ends it. */
void cf_chain_list(const unsigned char **target, const unsigned char *base, const uint64_t *offset,
                   uint32_t count, uint32_t rounds, uint64_t *seed);
/* Goes through a list of nodes; their buffer is to be executable. */
void cf_chain_go(const unsigned char *const *target);

#endif
