/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sampler.h - which accesses a performance monitoring unit would have sampled, as "CachePerf: A
 * Unified Cache Miss Classifier via Hybrid Hardware Sampling", sections 3.1 and 3.3, programs it.
 *
 * Loads and stores are counted for each thread, a pair (pid, tid), and each by itself. The access
 * that makes a count full is a coarse sample. The count of the next one is drawn anew, uniformly
 * from the period plus and minus the jitter (rounded up, or short periods had none and samples fell
 * in step with loops; but a count is never 0), by a generator of its own that the seed and the
 * number of the thread in the order of appearance start. The weight of a sample is the count that
 * it ended. Accesses of the instruction that has the breakpoint are kept, too (fine.h): a row that
 * is both is a coarse sample, and none of the breakpoint's.
 *
 * With a skid of N, a coarse sample names the instruction of the N-th access-making one after it in
 * its thread, and only then the fine stage gets to know it. Where two accesses of a thread follow
 * each other, the later one is of another instruction when its pc is another, when the thread has
 * fetched between them, or when the clock counts instructions and has gone on. What comes later
 * than CF_SAMPLER_BATCH kept rows, or not at all, leaves a sample its own pc.
 *
 * The result does not depend on how the rows are cut into arrays. Memory: some 200 bytes a thread,
 * what fine.h says, and CF_SAMPLER_BATCH rows.
 */
#ifndef CF_SAMPLER_H
#define CF_SAMPLER_H

#include "filters/engine/sample/fine.h"

enum { CF_SAMPLER_BATCH = CF_WIRE_ROWS };

struct cf_sampler_options {
    uint64_t loads, stores; /* periods, at most 2^48; 0: none is sampled */
    uint32_t jitter;        /* percent, below 100 */
    uint32_t skid;
    uint64_t seed;
    struct cf_fine_options fine;
};

/* Columns of accesses; pid and tid may be NULL. */
struct cf_sampler_rows {
    uint32_t rows;
    const uint64_t *time, *addr, *pc;
    const uint32_t *pid, *tid;
    const uint8_t *op, *hit;
};

/* What cf_sampler_take() found. The rows that are kept have numbers, from 0 after a
   cf_sampler_settle(). */
struct cf_sampled {
    uint32_t first, count; /* number of the first row that is kept, and how many there are: */
    uint32_t row[CF_SAMPLER_BATCH];
    uint64_t weight[CF_SAMPLER_BATCH]; /* 0 of those of the breakpoint */
    uint8_t stage[CF_SAMPLER_BATCH];   /* enum cf_stage */
    uint32_t moved;                    /* kept rows, also of earlier calls, that name */
    uint32_t number[CF_SAMPLER_BATCH]; /* the instruction */
    uint32_t named[CF_SAMPLER_BATCH];  /* of this row */
};

struct cf_sampler;

/* NULL without memory. */
struct cf_sampler *cf_sampler_new(const struct cf_sampler_options *o) CF_MUST_CHECK;
void cf_sampler_free(struct cf_sampler *s);

/* A stream begins, with a clock of its own: the expiry time in its ticks, and whether it counts
   instructions. */
void cf_sampler_clock(struct cf_sampler *s, uint64_t expire, int instructions);

/* Takes the rows from *at on, until they end or CF_SAMPLER_BATCH are kept since they were settled;
   *at is then the row that comes next. NULL without memory; else valid until the next call. */
const struct cf_sampled *cf_sampler_take(struct cf_sampler *s, const struct cf_sampler_rows *r,
                                         uint32_t *at) CF_MUST_CHECK;

/* Whether so many rows are kept that they must be settled. */
int cf_sampler_full(const struct cf_sampler *s);

/* Instructions that wait for the breakpoint. */
uint32_t cf_sampler_waiting(const struct cf_sampler *s);

/* Nothing of what is kept changes any more. -1 without memory. */
int cf_sampler_settle(struct cf_sampler *s) CF_MUST_CHECK;

#endif
