/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.h - the parts of cf-sweep: which caches are wanted, and their picture. */
#ifndef SWEEP_H
#define SWEEP_H

#include "filters/engine/distance/allassoc.h"
#include "filters/engine/rows/runs.h"
#include "filters/picture/chart.h"

enum {
    BATCH = 1 << 14, /* line references handed to the simulation at once */
    MOST_SHIFT = 16, /* log2 of the longest line */
    MOST_WAYS = 1024,
    MOST_SETS_SHIFT = 24, /* log2 of the most sets */
    MOST_LIST = 32,
};

struct list {
    uint64_t least, most;
    uint64_t value[MOST_LIST]; /* rising, without doubles */
    unsigned count;
};

struct options {
    unsigned what;         /* enum cf_runs_option */
    struct list line_size; /* bytes */
    struct list ways;
    struct list sets; /* where it is empty: the powers of two within */
    uint64_t sets_from, sets_to;
    uint64_t least, most; /* bytes */
    struct cf_output output;
};

/* The simulation of one line size. */
struct size {
    uint64_t line; /* bytes */
    uint32_t sets[MOST_LIST];
    unsigned count;   /* of them */
    uint64_t flushes; /* lines that were passed over */
    struct cf_runs *runs;
    struct cf_allassoc *all;
};

/* Whether a cache is among those that were asked for. */
static inline int sweep_wanted(const struct options *o, uint64_t line, uint64_t sets, uint64_t ways)
{
    const uint64_t size = line * sets * ways;

    return size >= o->least && size <= o->most;
}

/* Draws what was asked for, of all line sizes. */
void sweep_draw(const struct cf_tool *t, const struct options *o, const struct size *size);

#endif
