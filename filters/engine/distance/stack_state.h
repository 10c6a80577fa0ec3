/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_state.h - private to stack.c and stack_state.c: the stacks of all units and sets, and what
 * a piece of lines needs.
 */
#ifndef CF_STACK_STATE_H
#define CF_STACK_STATE_H

#include "filters/engine/distance/shards.h"
#include "filters/engine/distance/stack.h"
#include "filters/engine/distance/stack_parts.h"
#include "filters/engine/rows/sets.h"

enum { PIECE = 1 << 14 };

struct cf_stack {
    struct cf_stack_config config;
    stack_runner *run;
    struct stack_work *work;
    uint32_t sets;
    size_t units;          /* that there is room for */
    struct stack ***stack; /* by unit and set; NULL until used */
    uint64_t references;
    /* sampling */
    int samples;
    struct shards shards;
    uint64_t *picked; /* PIECE of each */
    uint32_t *picked_index;
    uint64_t *picked_dist;
    /* sets */
    struct cf_sets index;
    uint64_t *line, *dist; /* PIECE of each, in the order of sets */
    uint32_t *set;         /* of each line of the piece */
    uint32_t *touched;     /* sets that the piece has */
    uint32_t *end;         /* by set: lines of the piece, then where they end; 0 between pieces */
    /* rows */
    uint64_t *run_dist; /* by run */
    double *run_weight; /* by run, where there is sampling */
    uint32_t run_room;
};

#endif
