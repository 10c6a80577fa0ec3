/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack.h - exact LRU stack distance (reuse distance) of every line reference.
 *
 * The distance of a reference is the number of distinct other lines that were referenced since the
 * last reference to the same line (Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for
 * storage hierarchies, IBM Systems Journal 9(2), 1970): a fully associative LRU cache of C lines
 * hits exactly when it is below C. The algorithm is described in stack_one.c.
 *
 * Memory: at most 32 bytes a distinct line; some 900 bytes a stack (there are sets times units of
 * them, made when first used), 1.3 KiB from its 33rd line on; 12 bytes a set; and 1 MiB besides.
 * Nothing grows with the number of references.
 */
#ifndef CF_STACK_H
#define CF_STACK_H

#include <stdint.h>

#include "filters/engine/rows/runs.h"
#include "formats/stream/cf.h"

struct cf_stack_config {
    uint32_t sets;    /* distance within the set line % sets (of the line without its space);
                         0 or 1: one set */
    uint64_t max;     /* greater distances are CF_DIST_BEYOND; 0: none is */
    double rate;      /* SHARDS of fixed rate: part of the lines to sample; 0 or 1: all */
    uint32_t samples; /* SHARDS of fixed size: most lines to sample, from 64; 0: no limit */
};

struct cf_stack;

/* NULL without memory. */
struct cf_stack *cf_stack_new(const struct cf_stack_config *config);
void cf_stack_free(struct cf_stack *s);

/* Distances of rows of accesses of one unit, which `r` makes into line references. Units are
   numbered from 0 and have stacks of their own: processes or threads. dist[i] is the greatest of
   the lines that row i touches (of those in the sample, where there is one), 0 for a line that was
   referenced just before, and CF_DIST_NONE for a row of which r->options or op says that it takes
   no part. `space` as in cf_runs_fill(); op and size may be NULL. Where there is sampling,
   weight[i] = the references that a sampled row stands for: 1 / rate at that row (under a fixed
   size the rate falls as lines come), 1 for rows that take no part; else `weight` may be NULL and
   is left alone. What counts rows by distance adds weights up over rows that are neither NONE nor
   UNSAMPLED. -1 without memory, or at the 2^31st line of a stack; then `s` can only be freed. */
int cf_stack_rows(struct cf_stack *s, struct cf_runs *r, uint32_t unit, const uint64_t *addr,
                  const uint8_t *op, const uint32_t *size, uint32_t rows, uint64_t space,
                  uint64_t *dist, double *weight);

struct cf_stack_stats {
    uint64_t references; /* line references, repeats too */
    uint64_t compulsory; /* of them first ones (in the sample) */
    uint64_t lines;      /* distinct lines that are kept now */
    uint64_t bytes;      /* memory in use, all together */
    uint64_t line_bytes; /* of it for lines: grows with them */
    uint64_t compactions;
    double rate;         /* part of the lines that is sampled now, 1 = all */
    uint64_t sampled;    /* references to sampled lines */
    double expected;     /* of them by the rate: SHARDS-adj adds expected - sampled at distance 0 */
    double error;        /* standard error of a miss ratio, the greatest over all cache sizes ... */
    uint64_t error_from; /* ... of a power of two from this many lines up; see shards.h */
};
void cf_stack_stats(const struct cf_stack *s, struct cf_stack_stats *stats);

#endif
