/* SPDX-License-Identifier: BSD-2-Clause */
/* distance.h - the state of cf-distance, and its stacks (stacks.c). */
#ifndef DISTANCE_H
#define DISTANCE_H

#include "filters/engine/distance/stack.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/groups.h"
#include "formats/program/cf_tool.h"

enum per { PER_ALL, PER_PROCESS, PER_THREAD };

struct distance {
    struct cf_tool tool;
    /* options */
    const char *output;
    struct cf_stack_config config;
    enum per per;
    unsigned what;  /* enum cf_runs_option */
    unsigned shift; /* log2 of the line size */
    int sampling, stats;
    /* the work */
    struct cf_stack *stack;
    struct cf_runs *runs;
    struct cf_cores *cores;
    struct cf_groups *units;
    /* of a frame */
    uint64_t *dist;
    double *weight;
    uint32_t *unit;
    uint64_t *thread;
    /* rows of one unit out of many */
    uint32_t *index;
    uint64_t *addr, *part;
    uint32_t *size;
    uint8_t *op;
};

/* Fill in d->dist, and d->weight where there is a sample, for the rows of a frame of accesses: with
   one stack, in which a process is a space, or with one for each unit. */
void stacks_one(struct distance *d, const struct cf_frame *f);
void stacks_units(struct distance *d, const struct cf_frame *f);

#endif
