/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retime.h - time as cycles: the instructions so far and the costs of the accesses so far.
 *
 * The threads of a recording take turns on one processor, so there is one clock. A row of another
 * table gets the time that the first access at its time or later gets; such rows come ahead of the
 * accesses, and wait for them. Column count of table switch, the clock of a thread, gains the costs
 * of that thread.
 *
 * Where the stream was retimed before, column cost states what its times contain: that is taken
 * out. So costs from caches that programs share replace those of each alone.
 *
 * Memory: the rows that wait, and 86 to 170 bytes a thread.
 */
#ifndef RETIME_H
#define RETIME_H

#include "formats/program/cf_tool.h"

struct retime;

/* `hz`: cycles in a second, 0 where that is not known. Exits without memory. */
struct retime *retime_new(struct cf_tool *t, uint64_t hz, struct cf_reader *r);
void retime_free(struct retime *t);

/* A segment begins, whose header is about to be handed on. Exits where its clock is another and
   accesses came before; else retime_accesses() does. */
void retime_begin(struct retime *t, const struct cf_header *h, struct cf_writer *w);

/* 1: the frame, of any table but accesses, waits. */
int retime_take(struct retime *t, struct cf_frame *f);

/* Sets the times of a frame of accesses, whose column cost was `old`, or NULL, and is `cost`; and
   writes what waited for it. -1 where the writer failed. */
int retime_accesses(struct retime *t, struct cf_frame *f, const uint32_t *old, const uint32_t *cost,
                    struct cf_writer *w);

/* Writes what waits, at the end of a segment. -1 where the writer failed. */
int retime_end(struct retime *t, struct cf_writer *w);

#endif
