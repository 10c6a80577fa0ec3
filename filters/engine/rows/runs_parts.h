/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_parts.h - what the two files of runs.h share.
 */
#ifndef CF_RUNS_PARTS_H
#define CF_RUNS_PARTS_H

#include "filters/engine/rows/runs.h"
#include "formats/cpu/cf_cpu.h"

/* A call of cf_runs_fill(): its input, and the reference before. In index 0 all references, or with
   CF_RUNS_SPLIT those to data; in index 1 then the fetches. */
struct cf_runs_input {
    const uint64_t *addr;
    const uint8_t *op;    /* or NULL */
    const uint32_t *size; /* or NULL */
    uint64_t space;
    uint64_t before[2];       /* line of the reference before, without space */
    unsigned class_before[2]; /* its class */
    uint32_t run[2];          /* its run */
    uint32_t slow;            /* rows before this one are taken one by one */
};

/* What plain rows look back to. */
struct cf_runs_before {
    uint64_t line;  /* UINT64_MAX: of a reference that ends a run */
    uint64_t fetch; /* 1: of a fetch */
    int cut;        /* no row behind it took part, but one was where runs begin */
};

/* Takes plain rows from `from` on, up to the first that is not plain, to `to`, or while the batch
   has room: returns the row to go on with. Plain are loads, stores and, without CF_RUNS_SPLIT,
   fetches of one or two lines each, and rows that take no part. `before` is renewed. */
typedef uint32_t cf_runs_blocks_code(struct cf_runs *r, const struct cf_runs_input *in,
                                     uint32_t from, uint32_t to, struct cf_runs_before *before);
CF_SIMD_CODE(cf_runs_blocks_code, cf_runs_blocks);

/* As cf_runs_ops(). */
typedef void cf_runs_ops_code(const uint8_t *op, uint32_t rows, uint64_t *n);
CF_SIMD_CODE(cf_runs_ops_code, cf_runs_count);

#endif
