/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.h - no process stays stopped, should this program end while they stand, as where it is
 * killed: a process of its own sees that, and lets all go on that were observed.
 */
#ifndef CF_SNAPSHOT_GUARD_H
#define CF_SNAPSHOT_GUARD_H

#include "capture/snapshot/observed.h"

/* Starts it; exits with CF_EXIT_ENVIRONMENT where that cannot be. To be called before other files
   are open, which it would keep open, and before there is memory that is written to. */
void cf_guard_start(struct cf_observed *t);
/* Before the process is stopped for the first time; -1 without memory, then it must not be. */
int cf_guard_add(const struct cf_observed *t, const struct cf_observed_task *o);
/* All go on: it has nothing to do any more. */
void cf_guard_end(const struct cf_observed *t);

#endif
