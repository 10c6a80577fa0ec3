/* SPDX-License-Identifier: BSD-2-Clause */
/* problems.h - what was wrong with a stream of snapshots, as all that compare them report it. */
#ifndef CF_PROBLEMS_H
#define CF_PROBLEMS_H

#include "filters/engine/snapshot/tags.h"
#include "filters/engine/snapshot/tasks.h"
#include "formats/program/cf_tool.h"

/* Warns of rows that were left out or could not be compared; of the stream
   `name`, NULL where there is but one. CF_EXIT_OK or CF_EXIT_INPUT. */
int cf_snaps_problems(const struct cf_snaps *s, const struct cf_tool *t, const char *name);

/* Processes of one number in several streams are counted as one: warns where a stream, of a number
   from 1 on, gives one of them another name than its last, which `names` has for stream 0. */
void cf_tasks_problems(const struct cf_tool *t, const struct cf_counts *names,
                       const struct cf_reader *r);

#endif
