/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline.h - the events of a segment and the two states of the world that they make.
 *
 * Comes in: frames of the tables task, map, stack and object, as they come. Goes out: for an object
 * row at once its number and site; for accesses, in order of time, the world as it was then.
 */
#ifndef CF_RESOLVE_TIMELINE_H
#define CF_RESOLVE_TIMELINE_H

#include "filters/parts/resolve/resolve.h"

enum { TASKS, MAPS, OBJECTS, QUEUES };

enum reader { NOW, AHEAD, LINES, READERS };

/* Events in the order of their arrival, which each world reads at its own place. */
struct queue {
    struct event *at; /* a ring */
    uint64_t room;    /* a power of two */
    uint64_t next[READERS], tail;
};

struct timeline {
    struct resolver r; /* r.now is the world of the accesses, r.lines that of the lines */
    struct places *places;
    struct oddities odd;
    struct queue queue[QUEUES];
    int has_maps, has_objects, has_lines; /* the segment has such rows */
    uint64_t horizon; /* accesses before this time came too late to be resolved */
    uint64_t objects; /* number of the last object */
};

/* Where the columns of object rows go. */
struct object_columns {
    uint32_t *object, *site, *function, *source; /* one element a row */
};

/* Begins a segment, with what writer and options say; also the first. Without memory -1. */
int timeline_begin(struct timeline *t, struct cf_writer *w, const struct where *where,
                   const struct place_options *places);
void timeline_end(struct timeline *t);

/* Takes a frame of task, map or stack; other tables are ignored. Without memory t->r.failed. */
void timeline_take(struct timeline *t, struct cf_reader *in, const struct cf_frame *f);
void timeline_take_objects(struct timeline *t, const struct cf_frame *f,
                           const struct object_columns *to);

/* Brings t->r.now to `time`; returns the time from which on it is another. Never goes back. */
uint64_t timeline_advance(struct timeline *t, uint64_t time);

/* From now on lines of snapshots may come, of times that t->r.now has reached or not. */
void timeline_expect_lines(struct timeline *t);

/* Brings t->r.lines to `time`, or leaves it where it is if that is later. What happened since stays
   in memory until this is called. */
void timeline_advance_lines(struct timeline *t, uint64_t time);

#endif
