/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_all.h - the stacks of units and sets: what stack.c and stack_join.c share.
 */
#ifndef CF_STACK_ALL_H
#define CF_STACK_ALL_H

#include "filters/engine/distance/shards.h"
#include "filters/engine/distance/stack_join.h"
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
    int in_parts;
    struct cf_stack_part *part; /* that is being taken, or NULL */
};

/* The stacks of a unit, which are made when they are not there. NULL without memory. */
struct stack **stack_of_unit(struct cf_stack *s, uint32_t unit);

/* Distances of any number of lines, as the stacks say: neither scaled nor bounded. -1 without
   memory. */
int stack_all_lines(struct cf_stack *s, struct stack **stack, const uint64_t *line, uint32_t n,
                    uint64_t *dist);

enum { STACK_BLOCK = 16 };

/* Whether a block has distances alone: all else that stands in their place has the top bit. */
static inline int stack_all_known(const uint64_t *dist)
{
    uint64_t any[4] = {0};

    for (unsigned i = 0; i < STACK_BLOCK; i += 4)
        for (unsigned k = 0; k < 4; k++)
            any[k] |= dist[i + k];
    return (any[0] | any[1] | any[2] | any[3]) >> 63 == 0;
}

/* Marks what is beyond the bound. */
void stack_bound(const struct cf_stack *s, uint64_t *dist, size_t n);

/* Notes the first references of a batch in the part; their distances become 0. -1 without memory.
   */
int stack_note_firsts(struct cf_stack *s, const struct cf_runs *r, uint32_t unit);

#endif
