/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy.h - a hierarchy of caches, made from a machine description: which level serves each
 * access, and what moves between the levels.
 *
 * The caches form a tree: those of a core at the leaves, caches that several cores share further
 * out, memory at the root. Each level may be private or shared, split or unified, inclusive,
 * exclusive or neither, of any policy; write-back or write-through, allocating at stores or not.
 * What each of these means is defined in hierarchy_serial_simd.c, by the code that does it.
 *
 * Memory: that of the caches (at most 16 bytes a line, see cache.h), with a prefetcher 16 bytes a
 * line more, and 2 MB for batches. Accesses in stretches take up to 25 MB more, by the largest
 * frame: 40 bytes a stretch that it has and 112 for four rows of one, 13 a line of their fetches,
 * and 2 a row of the frame. Nothing grows with the trace.
 */
#ifndef CF_HIERARCHY_H
#define CF_HIERARCHY_H

#include <stddef.h>
#include <stdint.h>

#include "formats/machine/cf_machine.h"
#include "filters/engine/rows/runs.h"
#include "formats/stream/cf_stretched.h"

struct cf_hierarchy;

enum cf_prefetcher {
    CF_PREFETCH_NONE,
    CF_PREFETCH_NEXT_LINE, /* a demand miss, or the first use of a prefetched line, asks for the
                              line after it: tagged prefetch (Gindele, 1977; Smith, "Cache
                              Memories", ACM Computing Surveys 14(3), 1982, section 2.1) */
    CF_PREFETCH_STRIDE,    /* per 4 KiB page, the distance of the last two lines asked for; twice
                              the same asks for the line one distance ahead, in the page: the
                              reference prediction table of Chen and Baer, "Effective Hardware-
                              Based Data Prefetching", IEEE ToC 44(5), 1995, keyed by the page since
                              a level below the first sees no pc; 64 pages a cache, one per entry */
};

/* Ways that a core may fill at a level; it may hit in all of them. */
struct cf_way_mask {
    unsigned level; /* index into the machine's levels */
    unsigned core;
    uint64_t ways; /* bit w: way w; not 0 */
};

struct cf_hierarchy_options {
    unsigned cores;                             /* 1 to CF_MAX_CORES; 0 is 1 */
    uint64_t seed;                              /* of random replacement */
    enum cf_prefetcher prefetch[CF_MAX_LEVELS]; /* by index into the machine's levels */
    const struct cf_way_mask *masks;
    unsigned mask_count;
    uint32_t placed; /* bit i: lines of level i stay in their ways, for cf_hierarchy_line() */
};

/* What one level counted, all its caches together. A line access is one reference to one line: an
   access that straddles lines makes several. */
struct cf_hierarchy_counts {
    uint64_t loads, stores, ifetches, prefetches; /* line accesses that arrive, by operation */
    uint64_t load_misses, store_misses, ifetch_misses, prefetch_misses;
    uint64_t flushes;            /* lines that a flush removed here */
    uint64_t writes;             /* dirty lines that arrive from the level before */
    uint64_t write_misses;       /* those that were not found here */
    uint64_t writebacks;         /* dirty lines that leave to the next level, for any reason */
    uint64_t evictions;          /* valid lines replaced */
    uint64_t invalidations;      /* lines lost to a store of another core */
    uint64_t back_invalidations; /* lines lost because an inclusive next level lost them */
    uint64_t prefetches_issued;  /* lines that the level's own prefetcher brought */
    uint64_t prefetches_useful;  /* of them, asked for before they left */
};

/* NULL when the machine cannot be modelled, or without memory, with errno ENOMEM; `problem` then
   says why. */
struct cf_hierarchy *cf_hierarchy_new(const struct cf_machine *m,
                                      const struct cf_hierarchy_options *o, char *problem,
                                      size_t size);
void cf_hierarchy_free(struct cf_hierarchy *h);

/* Rows `from` up to `to`, all of one core (below the number of cores, else modulo) and space (see
   cf_space_key()). op and size may be NULL: loads of one byte. hit[i] gets the depth of the level
   that served row i, CF_FROM_MEMORY for memory, the slowest part of it where it straddles; for a
   flush, of the first level that held the line. -1 without memory, after which the model is of no
   more use. */
int cf_hierarchy_run(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                     const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                     uint64_t space, uint8_t *hit);

/* The same for `rows` rows that change cores and spaces as they like. */
int cf_hierarchy_rows(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                      const uint32_t *size, uint32_t rows, const uint8_t *core,
                      const uint64_t *space, uint8_t *hit);

/* Whether the model takes accesses in stretches, as long as one core runs. */
int cf_hierarchy_likes_stretches(const struct cf_hierarchy *h);

/* The accesses of a frame, as rows to cf_hierarchy_run(), but the level of each is not said: 1, or
   0 where nothing was done, since rows must be given. -1 as there. */
int cf_hierarchy_stretches(struct cf_hierarchy *h, const struct cf_stretched *s, unsigned core,
                           uint64_t space);

/* Adds up what level `level` (index into the machine's levels) counted so far. */
void cf_hierarchy_count(const struct cf_hierarchy *h, unsigned level,
                        struct cf_hierarchy_counts *counts);

/* Line accesses that no level served: what memory saw, by operation. `writes` are dirty lines and
   stores that reached memory. Only loads, stores, ifetches, prefetches and writes are set. */
void cf_hierarchy_memory(const struct cf_hierarchy *h, struct cf_hierarchy_counts *counts);

/* ---- contents ---- */

/* How many caches level `level` (index) has; cache k is that of cores k * n up to k * n + n - 1,
   where n is shared_by. */
unsigned cf_hierarchy_caches(const struct cf_hierarchy *h, unsigned level);

/* The line in a way of a set, with CF_CACHE_DIRTY (see cache.h), or CF_CACHE_NONE. `way` is the
   physical way where the level is `placed`, else it may be the place in the order of age. */
uint64_t cf_hierarchy_line(const struct cf_hierarchy *h, unsigned level, unsigned cache,
                           uint32_t set, uint32_t way);

/* Takes all lines out of all caches; dirty ones count as written back to memory. */
void cf_hierarchy_empty(struct cf_hierarchy *h);

/* ---- watching a level ---- */

/* Beyond enum cf_run_flag. */
enum cf_ref_flag {
    CF_REF_WRITE = 64,     /* a dirty line that the level before gives back */
    CF_REF_HARDWARE = 128, /* asked for by a prefetcher */
};

enum { CF_HIERARCHY_REFS = 4096 };

/* Line references that reached one cache of a level, in their order. */
struct cf_hierarchy_refs {
    uint32_t count;       /* from 1 to CF_HIERARCHY_REFS */
    const uint64_t *line; /* in lines of that level, with the key of the space */
    const uint32_t *row;  /* row of the call to cf_hierarchy_run() or _rows() that caused it */
    const uint8_t *flags; /* enum cf_run_flag, enum cf_ref_flag */
    unsigned cache;       /* which cache of the level it is: core / shared_by */
    const uint32_t *miss; /* places in these arrays, rising, of what was not found there */
    uint32_t misses;
};

typedef void (*cf_hierarchy_watcher)(void *arg, const struct cf_hierarchy_refs *refs);

/* Has `f` called with every run that reaches level `level` (index), before the cf_hierarchy_run()
   that caused it returns; with `misses` others than those that missed may be left out, which spares
   them most of the work. A run is that of runs.h: repeated references to the line referenced just
   before are dropped, they hit; none is with a prefetcher. One watcher a level; NULL ends it. Call
   before the first access. -1 without memory. */
int cf_hierarchy_watch(struct cf_hierarchy *h, unsigned level, cf_hierarchy_watcher f, void *arg,
                       int misses);

#endif
