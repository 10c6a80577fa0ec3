/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_chunk.h - a hierarchy that takes its accesses in chunks, of which several are worked on
 * at the same time, with the results of one that takes all in one go.
 *
 * Where no level acts on one before it, what the first level does depends on nothing behind it. So
 * a thread runs the first level over a chunk before anybody knows what it held when the chunk began
 * (cf_chunk_run()): its hits are sure, and its misses are but for a few. When the chunk before has
 * left its state, cf_chunk_stage() settles those few, and takes what missed through the levels
 * behind; there is a stage for each of them, so that a stage of one chunk and the one before it of
 * the next can go on at the same time. To resolve the first references of a part of a trace by what
 * the parts before have left is the method of Niu, Dinan, Lu and Sadayappan, "PARDA: A Fast
 * Parallel Reuse Distance Analysis Algorithm", IPDPS 2012; hierarchy_chunk.c says why that is exact
 * here.
 *
 * Only counts come of it: no depths of rows, and no watchers.
 *
 * Memory: a chunk has a first level of its own with 9 bytes a line more, 1 MB for batches, 24 bytes
 * a line for what is not settled, and 13 bytes for each miss and each dirty victim, twice where
 * there are more than two levels.
 */
#ifndef CF_HIERARCHY_CHUNK_H
#define CF_HIERARCHY_CHUNK_H

#include "filters/engine/cache/hierarchy.h"

struct cf_chunk;

/* Whether this hierarchy can: as long as one core runs, and but for chunks that are refused. Where
   not, *why is a text that follows the name of level *level of the machine, or stands alone where
   that is -1. */
int cf_hierarchy_chunks(const struct cf_hierarchy *h, const char **why, int *level);

/* Of the machine of a hierarchy that can. NULL without memory. */
struct cf_chunk *cf_chunk_new(const struct cf_machine *m);
void cf_chunk_free(struct cf_chunk *c);

/* Nothing is known of the state before. */
void cf_chunk_begin(struct cf_chunk *c);

/* Rows of the chunk, as in cf_hierarchy_run(), of which none is in two chunks; `hit` is of no
   meaning. -1 without memory, or where cf_chunk_refused(). */
int cf_chunk_run(struct cf_chunk *c, const uint64_t *addr, const uint8_t *op, const uint32_t *size,
                 uint32_t from, uint32_t to, uint64_t space, uint8_t *hit);

/* The chunk has a flush, or accesses of very many lines: its rows are for cf_hierarchy_run(), when
   all chunks before are through all stages. */
int cf_chunk_refused(const struct cf_chunk *c);

/* Stages, at least 1. */
unsigned cf_hierarchy_stages(const struct cf_hierarchy *h);

/* Takes a chunk through a stage, after the stages before it, and after the chunk before it has gone
   through this one. Two stages of a hierarchy, of different chunks, may go on at the same time. All
   chunks are of the one core that has run. -1 without memory. */
int cf_chunk_stage(struct cf_chunk *c, struct cf_hierarchy *h, unsigned stage, unsigned core);

/* ---- a chunk that is written down, and taken up again (hierarchy_written.c) ----
 *
 * A chunk may be as long as a part of a trace is: what missed is handed out between calls of
 * cf_chunk_run(), and what it holds and counted at the end. Another process takes that up into a
 * chunk of the same machine and joins it to a hierarchy, of one core. What it takes may come from
 * anywhere: it is checked, and what no chunk hands out is refused. */

/* A line that a first level uses first in the chunk, so that it may have been there before, or that
   leaves it, not known to be dirty, and has been there since such a use. */
struct cf_chunk_mark {
    uint64_t line; /* then, when it is settled, the line to be written back, or CF_CACHE_NONE */
    uint32_t at;   /* which event follows from it, if it missed; no event where there is no level
                      behind */
    uint32_t slot; /* set times ways, and a number below the ways */
    uint8_t class; /* of the access */
    uint8_t leaves;
    uint8_t hits; /* when it is settled */
};

/* What comes to the level behind the first, in its order; marks by kind of the first level, data
   and fetches, which are all of data where both are one. */
struct cf_chunk_events {
    uint32_t count;
    const uint64_t *line; /* of the level behind */
    const uint32_t *op;
    const uint8_t *flags;
    const struct cf_chunk_mark *mark[2];
    size_t marks[2];
};

/* Slots of a first level, 0 where there is none of that kind, and which it has used, at the end. */
struct cf_chunk_slot {
    uint64_t line;  /* with CF_CACHE_DIRTY: that which stands at that place of the set's order */
    uint64_t stays; /* of the use that the slot is of, if it has stayed since; else CF_CACHE_NONE */
};

/* Lines of a hierarchy's first levels, log2 of the bytes; and of the level behind, 0 for none. */
unsigned cf_chunk_shift(const struct cf_chunk *c);
unsigned cf_chunk_shift_behind(const struct cf_chunk *c);
/* Whether the sets of all first levels are powers of two. */
int cf_chunk_by_bits(const struct cf_chunk *c);

/* Hands out what has come since the last call; valid until the next call of anything. */
void cf_chunk_events(struct cf_chunk *c, struct cf_chunk_events *e);
uint32_t cf_chunk_slots(const struct cf_chunk *c, unsigned kind);
/* 1 where the slot was used. */
int cf_chunk_slot(const struct cf_chunk *c, unsigned kind, uint32_t slot, struct cf_chunk_slot *s);
/* Counts of a level, of which misses may yet turn out to be hits; level `levels`: of memory. */
void cf_chunk_counts(const struct cf_chunk *c, unsigned level, struct cf_hierarchy_counts *n);

/* Each takes up what the one of that name gave, after cf_chunk_begin(): 0; 1 where no chunk gives
   that, -1 without memory. */
int cf_chunk_take_events(struct cf_chunk *c, const struct cf_chunk_events *e);
int cf_chunk_take_slot(struct cf_chunk *c, unsigned kind, uint32_t slot,
                       const struct cf_chunk_slot *s);
void cf_chunk_take_counts(struct cf_chunk *c, unsigned level, const struct cf_hierarchy_counts *n);

/* Joins the events that were taken up last; then, with `last`, what the chunk holds and counted. As
   the two above. */
int cf_chunk_join(struct cf_chunk *c, struct cf_hierarchy *h, int last);

#endif
