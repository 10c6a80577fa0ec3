/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns.h - for how long each process ran, by table switch: a turn ends where another begins on the
 * same processor, or the same thread's next one. The one that still lasts at the end of a segment
 * lasts until then; where there are several processors, each ends with its thread's last access, as
 * the segment's end is that of one of them. What ran before the first access of a part of a
 * recording, or after its last one, is none of it.
 *
 * Of accesses nothing is decoded on one processor, else time, pid and tid, where these change in a
 * frame. Memory: 130 to 260 bytes a thread, 43 to 85 a processor and a process;
 * of a part 48 bytes for each turn that came ahead of its accesses.
 */
#ifndef CF_TURNS_H
#define CF_TURNS_H

#include "filters/engine/rows/counts.h"
#include "formats/stream/cf.h"

struct cf_turn;

struct cf_turns_sum {
    struct cf_counts *ran; /* time by (0, pid), in all segments */
    /* of this segment: */
    uint64_t total; /* of what ran */
    int cut;        /* for the caller to set: it is a part of a recording, so that turns count from
                       the first access to the last */
    uint64_t first, last;  /* access so far */
    struct cf_turn *ended; /* of a part: turns that came ahead of its accesses, ended at `access` */
    size_t endeds, ended_room;
    struct cf_turn *turn;
    size_t turns, room;
    struct cf_counts *thread, *cpu; /* its turn + 1 by (pid, tid), the last turn + 1 by (0, cpu) */
};

/* A segment begins. -1 without memory. */
int cf_turns_begin(struct cf_turns_sum *t) CF_MUST_CHECK;
void cf_turns_free(struct cf_turns_sum *t);

/* Takes a frame of table switch or access; others are passed over. -1 without memory. */
int cf_turns_frame(struct cf_turns_sum *t, const struct cf_frame *f) CF_MUST_CHECK;

/* Whether turns on several processors came, so that their times overlap; whether any did. */
int cf_turns_side_by_side(const struct cf_turns_sum *t);
int cf_turns_came(const struct cf_turns_sum *t);

/* The segment ends at `time`. -1 without memory. */
int cf_turns_end(struct cf_turns_sum *t, uint64_t time) CF_MUST_CHECK;

#endif
