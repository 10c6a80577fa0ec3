/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshots.h - walk through a stream of snapshots: which rows belong to which snapshot of which
 * cache level, and what is known of it.
 *
 * The rows of table snapshot may stand far ahead of the lines that they announce, and frames begin
 * and end anywhere. So announcements are kept until lines of their snapshot come, or of a later
 * one: then the snapshot was empty. Lines whose snapshot nobody announced are a snapshot all the
 * same, of which time, mode and geometry are not known; streams made by hand are like that.
 *
 * Memory: 48 bytes an announcement that is ahead of its lines.
 */
#ifndef CF_SNAPSHOTS_H
#define CF_SNAPSHOTS_H

#include "formats/cf.h"

struct cf_snapshot {
    uint32_t number;
    uint32_t sets, ways; /* of one cache of the level, 0 = not known */
    uint8_t level;       /* 0 = not known */
    uint8_t mode;        /* bits of enum cf_mode */
    uint8_t announced;   /* a row of table snapshot told of it; else time and mode are 0 */
    uint32_t segment;    /* how many headers came before it, from 1 */
    uint64_t time;       /* in ticks of the clock */
    uint64_t cost;       /* cycles */
};

struct cf_snapshots;

/* Called for each snapshot of each level, in the order of the stream, also for one without lines;
   and then for rows [from, to) of a frame of lines that belong to it. With several levels their
   rows may take turns: only when the number changes, or at the end, all are complete. 0, or a
   value that makes the function that called it return it. */
struct cf_snapshots_calls {
    int (*begin)(void *arg, const struct cf_snapshot *s);
    int (*rows)(void *arg, const struct cf_snapshot *s, const struct cf_frame *f, uint32_t from,
                uint32_t to);
    void *arg;
};

/* NULL without memory. `level` 0: all levels; else the others are not reported. */
struct cf_snapshots *cf_snapshots_new(const struct cf_snapshots_calls *calls,
                                      uint8_t level) CF_MUST_CHECK;
void cf_snapshots_free(struct cf_snapshots *s);

/* Asks for the columns that the walk itself needs. */
void cf_snapshots_want(struct cf_reader *r);

/* Takes a frame of any table and looks at headers, snapshots and lines. 0, -1 without memory, or
   what a call returned. */
int cf_snapshots_frame(struct cf_snapshots *s, const struct cf_frame *f) CF_MUST_CHECK;

/* The snapshots that were announced and got no lines. As cf_snapshots_frame(). */
int cf_snapshots_end(struct cf_snapshots *s) CF_MUST_CHECK;

#endif
