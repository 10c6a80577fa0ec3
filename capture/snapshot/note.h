/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * note.h - what a snapshot needs to be known of the processes that are observed.
 */
#ifndef CF_SNAPSHOT_NOTE_H
#define CF_SNAPSHOT_NOTE_H

#include <stdint.h>

#include "capture/snapshot/emit.h"
#include "capture/snapshot/observed.h"

/* Emits that a process which has begun in the stream has ended, or with `pid` 0 all that are gone.
   0, or -1: no memory. */
int cf_note_ended(struct cf_emit *e, struct cf_observed *t, pid_t pid, uint64_t ns);

/* Emits for a snapshot of that time which processes are gone, which have begun, their names and, if
   wanted, their mappings, where these have changed. 0, or -1: no memory. */
int cf_note_observed(struct cf_emit *e, struct cf_observed *t, int maps, uint64_t ns);

#endif
