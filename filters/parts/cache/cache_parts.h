/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_parts.h - parts of cf-cache: its options (options.c), those that name a level (levels.c),
 * those that change column hit, as a text (hit_options.c), accesses by physical address (placed.c,
 * colours.c), the summary (summary.c), that by several threads (jobs.c) or parts (partial.c,
 * sets.c, part.c), and what the modelled caches hold, as the stream of snapshots that a shutter
 * reading their tags would have made (CacheFlow, "Observing the Invisible", section 6; snapshot.c).
 *
 * Physical addresses are those of the trace, or of frames that processes get as they touch pages
 * (frames.h). Periods are counted from the first access. A snapshot is taken at the end of each,
 * unless nothing was accessed in it.
 */
#ifndef CACHE_PARTS_H
#define CACHE_PARTS_H

#include <xxhash.h>

#include "filters/engine/rows/cores.h"
#include "filters/engine/snapshot/frames.h"
#include "filters/engine/cache/hierarchy.h"
#include "formats/together/cf_partial.h"

/* ---- levels.c; all exit where an option does not fit the machine ---- */

/* Index of the level of this name; without one, of the first or last level for data. */
unsigned find_level(const struct cf_tool *t, const struct cf_machine *m, const char *option,
                    const char *name, int last);

/* --prefetch KIND[:LEVEL], of which `given` has the levels so far, a bit each; and
   --way-mask CORE:MASK[:LEVEL]. */
void set_prefetch(const struct cf_tool *t, const struct cf_machine *m, const char *text,
                  struct cf_hierarchy_options *h, unsigned *given);
void set_mask(const struct cf_tool *t, const struct cf_machine *m, const char *text,
              struct cf_way_mask *mask);

/* ---- placed.c: where accesses lie in physical memory ---- */

enum { COLOUR_OPTIONS = CF_MAX_CORES, POOLS = 64 };

struct frame_options {
    int physical; /* the trace has physical addresses */
    enum cf_frame_order order;
    unsigned page_shift, frame_bits; /* see frames.h */
    uint64_t seed;
    unsigned cores;
    const char *colours[COLOUR_OPTIONS], *pool[POOLS]; /* as given */
    unsigned colour_count, pools;
};

struct placed;

/* `t` and `o` must stay. Exits where colours do not fit the machine or memory, or a list of pages
   cannot be read. */
struct placed *placed_new(struct cf_tool *t, const struct frame_options *o,
                          const struct cf_machine *m);
void placed_free(struct placed *p);

/* Writes what says which frames pages get, as hit_options() has it. */
void placed_text(const struct placed *p, FILE *out);

/* Asks for the columns that are needed. */
void placed_want(const struct placed *p, struct cf_reader *r);

/* A segment begins: its pages must be those of the frames. */
void placed_header(const struct placed *p, const struct cf_header *h);

/* Runs rows of one core and space through the model, as cf_hierarchy_run(). An access that crosses
   the end of a page is one at each. -1 without memory. */
int placed_run(struct placed *p, struct cf_hierarchy *h, const struct cf_frame *f, uint32_t from,
               uint32_t to, uint32_t core, uint64_t space, uint8_t *hit);

/* Whose frame holds a physical address: see cf_frames_owner(). */
int placed_owner(const struct placed *p, uint64_t phys, uint32_t *pid, uint64_t *addr);

/* All is read: warns of pages in lists that were not accessed. */
void placed_end(const struct placed *p);

/* ---- colours.c: which colours a page may have ---- */

struct colours;

/* NULL where no option asks for any. Exits as placed_new(). */
struct colours *colours_new(struct cf_tool *t, const struct frame_options *o,
                            const struct cf_machine *m, struct cf_frames *frames);
void colours_free(struct colours *c);

/* Writes which colours are given to cores and pools, and which pages these hold. */
void colours_text(const struct colours *c, FILE *out);

/* The set of colours for page `page` of a mapping, NULL where that is not known, of what runs on a
   core. */
unsigned colours_of(struct colours *c, uint32_t core, const char *region, uint32_t page);

/* Whether the names of pages are needed. */
int colours_by_name(const struct colours *c);

void colours_end(const struct colours *c);

/* ---- snapshot.c ---- */

struct snapshot_options {
    unsigned level; /* index into the machine's levels */
    uint64_t every; /* period in ticks of the trace's clock */
    int flush;      /* empty all caches after each */
};

struct snapshots;

struct snapshots *snapshots_new(const struct cf_tool *t, const struct snapshot_options *o,
                                const struct cf_machine *m, struct cf_hierarchy *h,
                                struct cf_cores *cores, struct placed *placed, struct cf_writer *w);
void snapshots_free(struct snapshots *s);

/* Runs the accesses of a frame and writes the snapshots that become due. -1 where the writer
   failed. */
int snapshots_frame(struct snapshots *s, const struct cf_frame *f);

/* The last snapshot of a trace, of the period that has begun. The clock of the next is another,
   while the caches stay as they are. */
int snapshots_end(struct snapshots *s);

/* ---- summary.c ---- */

/* What was counted, of the whole or of parts. */
struct counts {
    struct cf_hierarchy_counts level[CF_MAX_LEVELS + 1]; /* by level; the last is the memory */
    /* of parts of the sets: what was read, or what those that are joined have read */
    uint64_t rows, sum;
    unsigned came;   /* levels of the part that comes */
    uint32_t joined; /* parts that came */
};

enum { NOTED = 6 }; /* columns of accesses on which counts depend */

/* One CSV row a level, and one for memory. */
void summary_csv(FILE *out, const struct cf_machine *m, const struct counts *n);

/* The same for a terminal, without the columns that are zero everywhere. */
void summary_table(FILE *out, const struct cf_machine *m, const struct counts *n, unsigned cores);

/* ---- options.c ---- */

enum { MASKS = 1024, MOST_JOBS = 256 };

struct options {
    const char *machine, *output, *summary_file;
    int summary;
    unsigned cores, cores_stated; /* 0: the machine's */
    const char *prefetch[CF_MAX_LEVELS], *mask[MASKS];
    unsigned prefetches, masks;
    const char *snapshot_level;
    int frames, ram, page_size; /* options for frames that are given */
    uint64_t seed;
    unsigned jobs;
    struct cf_part_option sets; /* parts 0: all */
    int partial;
    struct frame_options frame;
    struct snapshot_options snapshot; /* every 0: none */
};

/* Reads the command line. Exits where options do not go together. */
void options_read(struct options *o, struct cf_tool *t, int argc, char **argv);

/* Which option for frames is given, NULL where none is. */
const char *options_for_frames(const struct options *o);

/* ---- hit_options.c ---- */

/* The options, beside machine and cores, on which column hit depends, in one order; "" where all
   are as if not given. It stays to the end. */
const char *hit_options(const struct cf_tool *t, const struct options *o,
                        const struct cf_machine *m, const struct cf_hierarchy_options *h,
                        const struct placed *placed);

/* ---- sets.c: some sets of all caches alone ---- */

struct set_part;

/* Exits where the options or the machine do not allow it. */
struct set_part *set_part_new(const struct cf_tool *t, const struct options *o,
                              const struct cf_machine *m);
void set_part_free(struct set_part *s);

/* The most parts, up to `most`, that options and machine allow; 1 where they allow none. */
uint32_t set_parts_most(const struct options *o, const struct cf_machine *m, uint32_t most);

/* Runs what is in the sets, of rows as of cf_hierarchy_run(). -1 without memory. */
int set_part_run(struct set_part *s, struct cf_hierarchy *h, const uint64_t *addr,
                 const uint8_t *op, const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                 uint64_t space);

/* ---- partial.c: a summary alone, of all or of parts ---- */

struct summary {
    struct cf_tool *tool;
    struct options *o;
    const struct cf_machine *machine;
    struct cf_hierarchy *model;
    struct cf_cores *cores;
    struct cf_partial partial;
    struct counts counts;
    struct set_part *set_part;  /* these alone; NULL: all sets */
    XXH3_state_t *noted[NOTED]; /* by column, with set_part */
    struct part *part;          /* it is written down; NULL: not */
    struct joined *joined;      /* NULL: no such parts came */
    int chunks;                 /* threads share it, by chunks */
};

/* Whether nothing else is wanted. */
int summary_is_alone(const struct options *o);

/* Opens inputs, which may be partial results, or be shared with processes. */
struct cf_reader *summary_open(struct summary *w, char *const *files, int count);

/* With set_part: notes what accesses a frame has. */
void summary_note(struct summary *w, const struct cf_frame *f);

/* Takes a frame of a partial result: 1, else 0. */
int summary_take(struct summary *w, const struct cf_frame *f);

/* All is read: what was counted is in counts. 1 where that is handed on as a partial result, with
   the exit status. */
int summary_end(struct summary *w, int *status);
void summary_free(struct summary *w);

/* What a row is, in cf-stream(5), "Partial results"; the first two are of parts of the sets. */
enum entry {
    ENTRY_COUNTS = 1,
    ENTRY_READ,
    ENTRY_PROCESS,
    ENTRY_EVENT,
    ENTRY_MARK,
    ENTRY_PIECE,
    ENTRY_SLOT,
    ENTRY_SURE,
    ENTRY_END,
};
enum { COUNTS = sizeof(struct cf_hierarchy_counts) / sizeof(uint64_t) };
void put_counts(struct cf_partial *p, enum entry entry, unsigned level,
                const struct cf_hierarchy_counts *n);

/* ---- part.c: a part of a recording, written down and joined ---- */

/* Exits where the options or the machine do not allow it. */
struct part *part_new(struct summary *w);
void part_free(struct part *p);
void part_frame(struct part *p, const struct cf_frame *f);
void part_end(struct part *p);

/* Rows of parts, in their order, go into the model. */
struct joined *joined_new(struct summary *w);
void joined_free(struct joined *j);
void joined_frame(struct joined *j, const struct cf_frame *f);

/* ---- jobs.c: the summary by several threads ---- */

/* Whether threads can do it; where not, `why` says why, a text of so many bytes. */
int jobs_can(const struct summary *j, char *why, size_t size);

/* Says something about --jobs. */
void CF_PRINTF(2, 3) jobs_say(const struct summary *j, const char *format, ...);

/* Reads the whole stream by o->jobs threads, of a reader that wants what it is to want. */
void jobs_run(struct summary *j, struct cf_reader *r);

#endif
