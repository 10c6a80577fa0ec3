/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.h - searches for the size, line and ways of each level of a machine's caches, by patterns
 * that run on a bench (bench.h).
 *
 * A pattern fits a level when none of its accesses misses there, after all its lines were taken
 * out of all caches and visited once. Every cache that fills an empty way first holds a pattern of
 * which no set gets more lines than it has ways, whatever its policy; and none holds one line more.
 * So a miss proves that a pattern does not fit. That it had none proves it for the first level
 * alone: a line that a deeper level lacks may have stayed in one before it, and an exclusive level
 * has its lines and those of the level before. Other orders of the same lines make that improbable.
 *
 * Memory: 16 bytes a node of the longest pattern.
 */
#ifndef CF_PROBE_PROBE_H
#define CF_PROBE_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "capture/probe/bench/bench.h"

enum { PROBE_LEVELS = 8, PROBE_OTHERS = 64, PROBE_KEPT = 2 };

struct probe_row {
    const char *experiment; /* cf-stream(5) */
    uint64_t parameter;
    uint32_t repeat; /* from 0 */
    unsigned level;
    struct cf_measured m;
};

/* What was found; 0 where it could not be told. */
struct probe_level {
    uint64_t size, line, way_size; /* bytes */
    uint64_t reach;                /* of the longest window that fits, with the levels before it */
    uint64_t ticks;                /* of an access that it serves; only by time */
};

/* How often a row was measured. */
struct probe_seen {
    const char *experiment;
    uint64_t parameter;
    unsigned level;
    uint32_t times;
};

/* What the rows of ways are that are supposed. */
enum probe_supposed {
    PROBE_PLAIN, /* not supposed */
    PROBE_KEEP,  /* kept until they are found, or not */
    PROBE_OTHER, /* those that the level would have, too, if the ones kept were wrong */
};

struct probe_nodes {
    uint64_t *offset;
    size_t count, room;
};

struct probe {
    /* What the caller fills in. */
    struct cf_bench *bench;
    uint64_t seed;
    uint64_t most;                        /* bytes of the largest cache that is looked for */
    int by_time;                          /* else by misses */
    int noisy;                            /* each access is timed, of the first level, too */
    int paper;                            /* steady: the steps of the paper, too */
    unsigned other[PROBE_OTHERS], others; /* steady: CPUs that may share a level */
    struct cf_bench *ordinary; /* steady: in pages of the system's ordinary size, or NULL */
    uint64_t page;             /* bytes of one of these */
    uint64_t until; /* steady: nanoseconds of CLOCK_MONOTONIC, after which the rest is left out */
    void (*row)(void *arg, const struct probe_row *row);
    void *arg;
    /* What was found. */
    struct probe_level level[PROBE_LEVELS];
    unsigned levels;
    uint64_t memory_ticks;
    uint64_t accesses; /* that were made, flushes apart */
    int error;         /* errno of what ended it, or 0 */
    double done;       /* steady: share of the work, from 0 to 1 */
    int coarse;        /* steady: the clock is too coarse to time single accesses */
    const char *late;  /* steady: the first of what was left out, or NULL */
    unsigned attempts; /* steady: at the first level, until all that was measured of it agreed */
    /* What belongs to the functions. */
    struct probe_nodes nodes, spare; /* spare: some of them */
    uint64_t *there, top;            /* which nodes there are, and the last; NULL: not noted yet */
    struct probe_seen *seen;
    size_t seen_count;
    uint32_t *ticks; /* of the accesses of a visit */
    size_t ticks_room;
    enum probe_supposed supposed;
    struct probe_row kept[PROBE_KEPT]; /* see probe_settle(); in place of repeats the ways */
    unsigned kept_count;
    uint32_t group;      /* order by line number modulo this one found a miss; 0: none yet */
    int doubt;           /* what fits is not trusted before more orders were tried */
    uint64_t held;       /* bytes of a window that was visited last, and fits; else 0 */
    double missed, part; /* of what did not fit: misses that were seen, in this part of a round */
};

/* How sure a pattern that fits must be. */
enum probe_effort {
    PROBE_MORE, /* as once, of nodes that were just visited */
    PROBE_ONCE, /* one order */
    PROBE_SOME, /* some */
    PROBE_ALL,  /* all orders that there are */
};

/* Parameters of experiment inclusion. */
enum probe_inclusion {
    PROBE_SETS = 1,
    PROBE_HOT = 2,
    PROBE_LEFT = 3,
    PROBE_NEAR = 4,
    PROBE_LUCK = 5,
    PROBE_FIRM = 6,
    PROBE_FILLED = 8,
    PROBE_BLOCKS = 9
};

/* ---- pattern.c ---- */

/* A random number below n: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint32_t probe_below(uint64_t *state, uint32_t n);
void probe_clear(struct probe *p);
/* Adds nodes from `from` up to before `to`, `step` apart. */
void probe_add(struct probe *p, uint64_t from, uint64_t to, uint64_t step);
/* Another random order. */
void probe_order(struct probe *p);
/* Puts into p->spare, in random orders, those nodes whose line's number at the level is a multiple
   of `group`, and behind them others that take them out of the levels before it. How many the first
   are; 0 with p->error. */
size_t probe_group(struct probe *p, unsigned level, uint32_t group);

/* ---- measure.c ---- */

/* A visit of the nodes in their order, which adds to `sum`; by time, each access of levels but the
   first is timed by itself, and misses are counted. 0, or -1 with p->error. */
int probe_visit(struct probe *p, unsigned level, uint32_t warm, uint32_t rounds,
                struct cf_measured *sum);
int probe_forget(struct probe *p);
/* A row; it is the repeat of those with the same name, which is a constant, parameter and level. */
void probe_emit(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
                const struct cf_measured *m);
/* Whether the nodes fit the level; one row. -1 with p->error. */
int probe_fits(struct probe *p, const char *experiment, uint64_t parameter, unsigned level,
               enum probe_effort effort);
/* Of ways that were supposed: emits the rows that show them, as experiment ways where they were not
   found, since cf-infer may not take these for sure. */
void probe_settle(struct probe *p, unsigned level, int found);
/* No exclusive level has longer lines than the one before it. */
int probe_may_be_exclusive(const struct probe *p, unsigned level);
/* Whether one line more than the level has always misses, as it must whatever its policy,
   where the lines of the set that has it are visited together. Where they do so less than every
   second time, neither size nor ways are what they seem. -1 with p->error. */
int probe_firm(struct probe *p, unsigned level);
/* Ticks above which an access was not served by the level, nor by one before it. */
uint64_t probe_limit(const struct probe *p, unsigned level);
/* Misses of a visit of the level, also where only its time is known. */
uint64_t probe_misses(const struct probe *p, unsigned level, const struct cf_measured *m);

/* ---- levels.c: 1, 0 where it is not so, or -1 with p->error ---- */

/* By time: what an access to a line that is in the first level takes, and whether less than one to
   memory. */
int probe_first_ticks(struct probe *p);
/* Whether a level after those that were found serves accesses of a window that does not fit them;
   by time, what they take. */
int probe_has_level(struct probe *p, unsigned level);

/* ---- search.c ---- */

/* Finds level after level until there is no further one, or something cannot be told. 0, or -1 with
   p->error. */
int probe_search(struct probe *p);
void probe_free(struct probe *p);

/* ---- noisy.c ---- */

/* The same where other programs take lines out of the caches, times vary, and lines are prefetched.
   0, or -1 with p->error. */
int probe_noisy(struct probe *p);

/* ---- steady/steady.c ---- */

/* The same where a visit may be disturbed: each is measured so often. 0, or -1 with p->error. */
int probe_steady(struct probe *p, uint32_t repeats);

/* ---- inclusion.c ---- */

/* Where the longest window that fits may be that of this level and the one before it together,
   finds whether the level is exclusive, and then its size; leaves it 0 where that cannot be told.
   1, or -1 with p->error. */
int probe_inclusion(struct probe *p, unsigned level);

/* ---- policy.c ---- */

/* Experiment `policy` of the first level, whose size, line and ways were found: the sequences of
   cf_sequence.h in up to so many sets, which stand in several places of the cache. On this machine
   an access misses that takes `gap` ticks more than one that hits; 0: on a model, which counts, or
   has latencies. 0, also where the level is not known or has too many ways, or -1 with p->error. */
int probe_policy(struct probe *p, uint32_t sets, uint32_t repeats, uint64_t gap);
/* Of a model, whether a level behind may have taken blocks of these sequences out of the first one,
   as one that is inclusive does: rows of experiment inclusion show that as many as there are ways
   do not all stay, or that one behind, which has some, has not all. */
int probe_policy_behind(struct probe *p);
/* The same on this machine, with a gap of half of what the next level takes more. No rows where the
   clock does not tell them apart, or lines have too few nodes. */
int probe_policy_steady(struct probe *p, uint32_t repeats);

/* ---- paper.c ---- */

/* The three experiments of "Automatic Cache Modeling by Measurements", section 4, in their order,
   for the first level: sizes up to `most` bytes. 0, or -1 with p->error. */
int probe_paper(struct probe *p, uint64_t most, uint32_t repeats);

#endif
