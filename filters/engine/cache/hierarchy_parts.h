/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_parts.h - what the parts of the hierarchy model share: its state. Not for others.
 *
 * Both implementations work on the same caches, and either may take the next batch of runs.
 */
#ifndef CF_HIERARCHY_PARTS_H
#define CF_HIERARCHY_PARTS_H

#include "filters/engine/cache/cache.h"
#include "filters/engine/cache/hierarchy.h"
#include "formats/cpu/cf_cpu.h"

enum { KIND_DATA = 0, KIND_FETCH = 1, KINDS = 2 };
enum { MEMORY = -1 };
enum { BATCH = CF_HIERARCHY_REFS, PENDING = 128, MOST_GROUPS = 1024 };

#define NO_LINE CF_CACHE_NONE

/* By what a line access is counted: index into counters below. */
enum class { CLASS_LOAD, CLASS_STORE, CLASS_FETCH, CLASS_PREFETCH, CLASSES };

struct prefetcher;

/* Rows of the two kinds, and their runs: looking for repeated references goes fast where all rows
   are of one kind. */
struct apart {
    uint64_t addr[KINDS][BATCH];
    uint32_t size[KINDS][BATCH], row[KINDS][BATCH];
    uint8_t op[KINDS][BATCH]; /* fetches as loads, always */
    struct cf_runs *runs[KINDS];
    struct cf_runs *both; /* merged again, where the order between them matters */
};

struct watch {
    cf_hierarchy_watcher f;
    void *arg;
    int only_misses;               /* it wants nothing else */
    struct cf_hierarchy_refs refs; /* not sent yet, in these arrays: */
    uint64_t line[CF_HIERARCHY_REFS];
    uint32_t row[CF_HIERARCHY_REFS], miss[CF_HIERARCHY_REFS];
    uint8_t flags[CF_HIERARCHY_REFS];
};

/* One level: its caches, one for each group of `shared` cores. */
struct tier {
    struct cf_level spec;
    unsigned shift;  /* log2 of the line size */
    unsigned shared; /* cores that share one cache, at most all */
    unsigned caches; /* how many there are */
    unsigned at;     /* which of them the core at hand uses */
    int next[KINDS]; /* next level, for reads of each kind that this level serves; MEMORY */
    int onward;      /* next level, for what is written */
    uint32_t before; /* bit j: some accesses go to level j and then here */
    int data;        /* serves loads and stores */
    int exclusive;   /* and it has a level before it */
    int inclusive;   /* the same */
    struct cf_cache **cache;
    uint64_t *ways;                 /* by core: the ways that it may fill */
    struct prefetcher **prefetcher; /* by cache, or NULL */
    /* Of a first level, by cache and group of sets: the line that was touched last of all in those
       sets, with CF_CACHE_DIRTY if it is known to be; NO_LINE if that is not known. A further
       touch of it changes nothing, and most runs are that. groups: a power of two that divides the
       sets, so that the low bits of a line's number are its group. */
    uint64_t *recent;
    uint32_t groups;
    struct watch *watch;
    int sees_hits; /* the watcher wants hits, too */
    uint64_t arrived[CLASSES], missed[CLASSES];
    struct cf_hierarchy_counts n; /* the rest */
    /* The pipeline: room for what a batch gives back. */
    uint32_t *miss;
    uint64_t *victim;
    uint32_t room;
};

typedef void cfh_serial_code(struct cf_hierarchy *h, const struct cf_runs *runs, const uint8_t *op,
                             unsigned core, uint8_t *hit);
typedef void cfh_serial_rows_code(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                                  const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                                  const uint64_t *space, uint8_t *hit);

struct cf_hierarchy {
    unsigned cores, levels;
    struct tier tier[CF_MAX_LEVELS];
    int first[KINDS]; /* level that the accesses of a kind reach first, or MEMORY */
    uint8_t first_depth[KINDS];
    int may_share;     /* two caches may hold the same line for different cores */
    int has_run;       /* a core has run */
    unsigned used;     /* the cores that have run are less: the caches of others are empty */
    int several_cores; /* a second core, too: until then there is nothing to keep coherent */
    int coherent;      /* may_share and several_cores */
    int pipeline;      /* the machine is one that the pipeline serves */
    cfh_serial_code *serial;
    cfh_serial_rows_code *serial_rows;
    int two_runs; /* first levels have lines of different sizes: runs are made for each */
    int watched;  /* a watcher wants to see runs */
    int ahead;    /* a level has a prefetcher, which may act between repeated references: none is
                      dropped */
    int split;    /* the first levels differ, and neither serves the other kind */
    struct cf_runs *runs[KINDS];
    struct apart *apart; /* for the pipeline, where split */
    uint64_t memory[CLASSES], memory_writes;

    /* The serial model: the rows and the run at hand. */
    const uint64_t *addr;
    const uint32_t *size;
    unsigned core, kind;
    enum class class;
    uint32_t row;
    uint8_t marks; /* enum cf_ref_flag of what it causes */
    int forget;    /* the pipeline has run: what is recent is not known */
    unsigned pending;
    struct {
        int level;
        unsigned kind;
        uint64_t line;
    } prefetch[PENDING];

    /* The pipeline: events for each level. */
    struct cf_cache_list in[CF_MAX_LEVELS], out, merged;

    struct cf_chunk *chunk; /* whose first levels these are, see hierarchy_chunk.h; else NULL */
    struct cfh_stretches *stretches; /* NULL: none came */
};

/* In lists behind the first level, on the run that missed there: what follows from it depends on
   what the first level held before its chunk. No flush is in a list. */
enum { UNSETTLED = CF_RUN_FLUSH };

/* In these lists a dirty line that is given back; of no other use there. */
enum { GIVEN = CF_RUN_PART };

/* Flags of one, to a level one of whose lines holds 1 << extra of it. */
static inline uint8_t cfh_given_back(unsigned extra)
{
    return (uint8_t)(CF_RUN_STORE | CF_CACHE_POSTED | GIVEN | (extra ? 0 : CF_CACHE_WHOLE));
}

static inline enum class class_of_op(const uint8_t *op, uint32_t row) {
    static const uint8_t classes[8] = {CLASS_LOAD, CLASS_LOAD, CLASS_STORE, CLASS_FETCH,
                                       CLASS_PREFETCH, CLASS_LOAD, CLASS_LOAD, CLASS_LOAD};

    return !op || op[row] > 7 ? CLASS_LOAD : (enum class)classes[op[row]];
}

/* Line accesses that come from the core: at their first level, or at memory where there is none. */
static inline void cfh_arrived(struct cf_hierarchy *h, enum class class, uint64_t count)
{
    const int level = h->first[class == CLASS_FETCH];

    *(level == MEMORY ? &h->memory[class] : &h->tier[level].arrived[class]) += count;
}

static inline unsigned depth_of(const struct cf_hierarchy *h, int level)
{
    return level == MEMORY ? CF_FROM_MEMORY : h->tier[level].spec.depth;
}

/* Sends what a watcher has not got yet. */
void cfh_watch_flush(struct tier *t);

static inline void cfh_note(struct tier *t, uint64_t line, uint32_t row, unsigned cache,
                            unsigned flags, int missed)
{
    struct watch *w = t->watch;
    uint32_t n;

    if (!missed && w->only_misses)
        return;
    if (w->refs.count == CF_HIERARCHY_REFS || w->refs.cache != cache)
        cfh_watch_flush(t);
    n = w->refs.count++;
    w->refs.cache = cache;
    w->line[n] = line;
    w->row[n] = row;
    w->flags[n] = (uint8_t)flags;
    w->miss[w->refs.misses] = n;
    w->refs.misses += (uint32_t)(missed != 0);
}

/* Takes a batch of runs; hit[] holds the first depth of each row already. */
CF_SIMD_CODE(cfh_serial_code, cfh_serial);
/* The same without runs: each row by itself, where looking for repeated references costs more than
   it saves, and where a prefetcher may act between them. `space` by kind. */
CF_SIMD_CODE(cfh_serial_rows_code, cfh_serial_rows);
/* The same for data and fetches apart, where they go to different first levels; else `data` holds
   both, and fetches are NULL; hit may be NULL. -1 without memory, or where a chunk is refused. */
int cfh_pipeline(struct cf_hierarchy *h, const struct cf_runs *data, const struct cf_runs *fetches,
                 const uint8_t *op, unsigned core, uint8_t *hit);
/* One level behind the first: what follows from its events is appended to `more`, or where that is
   NULL goes to the list of the next. */
int cfh_pipeline_level(struct cf_hierarchy *h, int level, const struct cf_cache_list *l,
                       const uint8_t *op, uint8_t *hit, struct cf_cache_list *more);
/* From rows of a list to those that it is of. */
void cfh_from_rows(uint32_t *row, uint32_t count, const uint32_t *of);
/* Counts what begins on a second or later line of its access. */
void cfh_count_parts(struct cf_hierarchy *h, const struct cf_runs *r, const uint8_t *op);
void cfh_free_stretches(struct cfh_stretches *s);
/* Whether the pipeline serves the machine: no level acts on one before it. */
int cfh_is_simple(const struct cf_hierarchy *h);
/* The core at hand; a second one makes caches coherent. */
void cfh_take_core(struct cf_hierarchy *h, unsigned core);
/* cf_hierarchy_new(), or with `chunk` only its first levels. */
struct cf_hierarchy *cfh_new(const struct cf_machine *m, const struct cf_hierarchy_options *o,
                             struct cf_chunk *chunk, char *problem, size_t size);

/* Of a chunk: what missed in a batch of a first level is looked at, and marked in `flags` where it
   is not settled; the list of the level behind; and what has come to that from event `first` on,
   and then comes from `more`, is taken. -1 without memory, or where the chunk is refused. */
int cfh_chunk_missed(struct cf_chunk *c, const struct tier *t, const uint64_t *line,
                     const uint32_t *row, uint8_t *flags, uint32_t misses, const uint8_t *op);
struct cf_cache_list *cfh_chunk_list(struct cf_chunk *c);
int cfh_chunk_take(struct cf_chunk *c, uint32_t first, const struct cf_cache_list *more,
                   const uint8_t *op);
int cfh_chunk_refuse(struct cf_chunk *c);

/* Counts by class, in four fields of 16 bits: one addition each, whatever the class. */
enum { FIELD = 16, MOST_COUNTED = 1 << 15 };

static inline uint64_t one_of(const uint8_t *op, uint32_t row)
{
    static const uint64_t ones[8] = {
        1, 1, 1 << FIELD, UINT64_C(1) << 2 * FIELD, UINT64_C(1) << 3 * FIELD, 1, 1, 1};

    return op && op[row] < 8 ? ones[op[row]] : 1;
}

static inline void add_counts(uint64_t *to, uint64_t counts)
{
    for (unsigned c = 0; c < CLASSES; c++)
        to[c] += counts >> FIELD * c & 0xffff;
}

/* A prefetcher of one cache. */
struct prefetcher *cfh_prefetcher_new(enum cf_prefetcher kind, unsigned shift, uint64_t lines);
void cfh_prefetcher_free(struct prefetcher *p);
/* A demand access: 1 when it asks for a line to be brought in, then *wanted. `hit` 0: it missed. */
int cfh_prefetcher_demand(struct prefetcher *p, uint64_t line, int hit, int *useful,
                          uint64_t *wanted);
/* A line was brought in by the prefetcher; a line was lost. */
void cfh_prefetcher_brought(struct prefetcher *p, uint64_t line);
void cfh_prefetcher_lost(struct prefetcher *p, uint64_t line);

#endif
