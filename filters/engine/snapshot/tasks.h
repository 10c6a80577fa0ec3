/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.h - what processes are called: the last name that table task gives each.
 *
 * A process that runs another program is named anew, so the last name is that of the program that
 * it was started for. Memory: 43 to 85 bytes a process.
 */
#ifndef CF_TASKS_H
#define CF_TASKS_H

#include "filters/engine/rows/counts.h"
#include "formats/stream/cf.h"

/* Asks for the columns that are looked at. */
void cf_tasks_want(struct cf_reader *r);

/* Takes a frame of table task of a reader that unifies strings; `names` has by (stream, pid) the
   string of each name. `stream` is the caller's number of the stream, 0 where processes of all are
   the same. -1 without memory. */
int cf_tasks_frame(struct cf_counts *names, uint32_t stream,
                   const struct cf_frame *f) CF_MUST_CHECK;

/* String of the name, 0 where none was stated. */
uint32_t cf_tasks_name(const struct cf_counts *names, uint32_t stream, uint32_t pid);

#endif
