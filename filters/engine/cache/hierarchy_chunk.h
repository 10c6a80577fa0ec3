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

#endif
