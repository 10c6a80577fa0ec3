/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_join.h - stack distances of a trace that is taken in parts: those of the whole trace.
 *
 * After PARDA (Niu, Dinan, Lu, Sadayappan: PARDA: a fast parallel reuse distance analysis
 * algorithm, IPDPS 2012, pages 1284 to 1294): each part is taken by stacks of its own, and whatever
 * is used twice in it has its distance there. What is left are the first references of a part to
 * each line (the paper's local infinities), whose use before lies in an earlier part, or nowhere.
 * Here they are referenced in their order in the stacks of all parts before: of the lines between
 * two uses of a line, those of the later part are just the lines whose first reference comes
 * before, so that the distance that is found there is the distance in the whole trace. Then the
 * lines of the part are referenced in the order of their last uses, which leaves these stacks as
 * the whole trace would.
 *
 * So parts are taken at the same time, and joined one after the other, by two references a
 * distinct line of a part. Sets, units, the bound, and samples of a fixed rate join; those of a
 * fixed size (SHARDS's second kind) do not, as their rate depends on all parts before.
 *
 * Memory: 40 bytes a distinct line of the part.
 */
#ifndef CF_STACK_JOIN_H
#define CF_STACK_JOIN_H

#include <stddef.h>

#include "filters/engine/distance/shards.h"
#include "filters/engine/distance/stack.h"

/* A reference, or a line in the order of recency. */
struct cf_stack_first {
    uint64_t line; /* with its space */
    uint64_t row;  /* whose dist is to be merged with the joined distance */
    uint32_t unit; /* of the part, by its own numbers */
};

struct cf_stack_last {
    uint64_t line;
    uint32_t unit;
};

/* What crosses the ends of a part. Begins as all zeros. */
struct cf_stack_part {
    uint64_t row; /* the caller's: number of the first row of the next cf_stack_rows() */
    struct cf_stack_first *first;
    struct cf_stack_last *last; /* of each stack, the oldest first */
    size_t firsts, lasts, first_room, last_room;
    uint64_t references; /* line references of the part */
    struct shards shards;
};

/* A part begins: first references are noted in `p`, and count as distance 0 of their rows. Stacks
   may take any parts of a trace, one after the other, and remember nothing but memory of those
   before. What was noted may be taken out after each cf_stack_rows(), by setting `firsts` to 0. -1
   without memory. */
int cf_stack_begin_part(struct cf_stack *s, struct cf_stack_part *p);

/* Notes the order of the part's lines in `p`. -1 without memory. */
int cf_stack_end_part(struct cf_stack *s);

void cf_stack_part_free(struct cf_stack_part *p);

/* The parts before, in `s`, and this one: dist[k] = distance of p->first[k]; `unit` has the numbers
   in `s` of the part's units. A part may be joined in pieces: all first references in their order,
   then the lines by their recency, and once what was counted. Not with samples of a fixed size. -1
   without memory, or at the 2^31st line of a stack; then `s` can only be freed. */
int cf_stack_join(struct cf_stack *s, const struct cf_stack_part *p, const uint32_t *unit,
                  uint64_t *dist);

/* The greatest of the lines that a row touches; those in the sample count, where some are. */
static inline void cf_stack_merge(uint64_t *dist, uint64_t other)
{
    if (*dist == CF_DIST_UNSAMPLED || (other != CF_DIST_UNSAMPLED && other > *dist))
        *dist = other;
}

#endif
