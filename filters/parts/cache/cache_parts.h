/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_parts.h - the summary of cf-cache (summary.c), and what the modelled caches hold, as the
 * stream of snapshots that a shutter reading their tags would have made (CacheFlow, "Observing the
 * Invisible", section 6; snapshot.c).
 *
 * The caches are indexed by physical addresses: those of the trace, or of frames that processes get
 * as they touch pages (frames.h). Periods are counted from the first access.
 * A snapshot is taken at the end of each, unless nothing was accessed in it.
 */
#ifndef CACHE_PARTS_H
#define CACHE_PARTS_H

#include "filters/engine/rows/cores.h"
#include "filters/engine/snapshot/frames.h"
#include "filters/engine/cache/hierarchy.h"
#include "formats/program/cf_tool.h"

struct snapshot_options {
    unsigned level; /* index into the machine's levels */
    uint64_t every; /* period in ticks of the trace's clock */
    int flush;      /* empty all caches after each */
    int physical;   /* the trace has physical addresses */
    enum cf_frame_order order;
    unsigned page_shift, frame_bits; /* see frames.h */
    uint64_t seed;
};

struct snapshots;

struct snapshots *snapshots_new(const struct cf_tool *t, const struct snapshot_options *o,
                                const struct cf_machine *m, struct cf_hierarchy *h,
                                struct cf_cores *cores, struct cf_writer *w);
void snapshots_free(struct snapshots *s);

/* Runs the accesses of a frame and writes the snapshots that become due. -1 where the writer
   failed. */
int snapshots_frame(struct snapshots *s, const struct cf_frame *f);

/* The last snapshot of a trace, of the period that has begun. The clock of the next is another,
   while the caches stay as they are. */
int snapshots_end(struct snapshots *s);

/* One CSV row a level, and one for memory. */
void summary_csv(FILE *out, const struct cf_machine *m, const struct cf_hierarchy *h);

/* The same for a terminal, without the columns that are zero everywhere. */
void summary_table(FILE *out, const struct cf_machine *m, const struct cf_hierarchy *h,
                   unsigned cores);

#endif
