/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_turns.h - a warning where threads are modelled on several cores that never ran side by side.
 *
 * A tracer lets threads take turns of milliseconds, and says so by table switch. Without column
 * cpu, which cf-merge --interleave adds, a model of several cores sees each thread's turn as a
 * whole: lines that threads would fight over change hands once a turn instead of once an access.
 */
#ifndef CF_TURNS_H
#define CF_TURNS_H

#include "formats/program/cf_tool.h"

struct cf_turns {
    uint32_t tid; /* of the first row of table switch */
    int begun, several, warned;
};

/* Asks for the column of table switch that it looks at. */
void cf_turns_want(struct cf_reader *r);

/* Looks at a frame of table switch or access; warns once. `cores` as in the model: below
   2, all is right. */
void cf_turns_check(struct cf_turns *turns, const struct cf_tool *t, const struct cf_frame *f,
                    unsigned cores);

#endif
