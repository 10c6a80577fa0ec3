/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf.h - the type and origin of sampled misses, after: Zhou, Tang, Yang, Liu: CachePerf: A
 * Unified Cache Miss Classifier via Hybrid Hardware Sampling, SIGMETRICS 2022, sections 2.1.3, 2.2
 * and 3.2 to 3.5. What is said of a decision here, and of `literal`, is in cf-classify(1).
 *
 *   windows       (3.2) of each thread one of loads and one of stores; their misses go to the
 *                 stores below when more than a share of the window missed, each once
 *   lines         (Miss Store, 3.4) misses of each line and set. A line with many, in a set that
 *                 few such lines want, is shared when several threads miss or store there
 *   instructions  (Instruction Store) accesses and misses of each statement: those of one source
 *                 line, else one instruction. The access pattern of an instruction is that of its
 *                 fine samples, in runs of at most 64, in which one breakpoint made them
 *   objects       (Object Store) which thread allocated each
 *
 * Samples are counted by weight, of at most 2^36 each. A sample of level 0 is neither hit nor miss,
 * one of address 0 belongs to no line. The line of a sample is that of its first byte.
 *
 * Memory: a byte a row; 51 to 93 bytes a distinct line and an object; up to 190 an instruction and
 * 190 a statement; of lines and statements that are many misses also 149 a thread, word and object
 * that met, and 117 a set; 16 a miss of a window.
 */
#ifndef CF_CACHEPERF_H
#define CF_CACHEPERF_H

#include <stddef.h>

#include "filters/engine/classes/classes.h"

/* With fewer samples than the paper's window the rule's percents are a matter of chance: of 1000
   loads of which 3 % missed, 2 to 4 % are found to. */
enum { CF_CACHEPERF_FEW = 1000 };

struct cf_cacheperf_config {
    unsigned line_shift;  /* bits of a byte's place in its line, from 2 */
    uint32_t sets, ways;  /* of the first-level data cache */
    uint32_t window;      /* samples, from 1 */
    uint32_t same_set;    /* accesses of a run to one set that are a conflict, from 1 */
    double window_ratio;  /* percent of a window */
    double load_misses;   /* percent of loads, and of stores: with less of both, nothing */
    double store_misses;  /* is reported */
    double code_accesses; /* percent of accesses, and of misses, that a statement must have */
    double code_misses;   /* at least */
    double line_misses;   /* percent of misses that a line, */
    double set_misses;    /* and a set, must have more than */
    int literal;          /* Algorithm 1 as printed */
    int patterns_only;    /* coarse samples say nothing of lines and sets, as page faults do: only
                             what fine samples show is judged */
};

/* Rows of samples in the order of the stream; each column but addr and pc may be NULL. */
struct cf_cacheperf_rows {
    uint32_t rows;
    const uint64_t *addr, *pc, *weight;
    const uint32_t *size, *pid, *tid, *object, *source;
    const uint8_t *op, *level, *stage;
};

/* Whether a row is a sample that takes part: no fetch, prefetch or flush, nor of stage 0. */
int cf_cacheperf_takes(const struct cf_cacheperf_rows *part, uint32_t row);

struct cf_cacheperf;

/* NULL without memory. */
struct cf_cacheperf *cf_cacheperf_new(const struct cf_cacheperf_config *config);
void cf_cacheperf_free(struct cf_cacheperf *c);

/* An object was allocated by a thread. -1 without memory. */
int cf_cacheperf_object(struct cf_cacheperf *c, uint32_t object, uint32_t tid);

/* Judges all samples of a program, once. -1 without memory. */
int cf_cacheperf_judge(struct cf_cacheperf *c, const struct cf_cacheperf_rows *part, size_t parts);

/* The class of each row of a part that was judged: that of its line if that is shared, else that of
   its statement; CF_CLASS_NONE where it is no miss, and where neither is reported. */
void cf_cacheperf_class(const struct cf_cacheperf *c, const struct cf_cacheperf_rows *part,
                        uint8_t *class);

#endif
