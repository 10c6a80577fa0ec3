/* SPDX-License-Identifier: BSD-2-Clause */
/* latency.h - the state of cf-latency, the costs of a frame (latency_costs.c), and sums as a
   partial result (latency_partial.c). */
#ifndef LATENCY_H
#define LATENCY_H

#include "filters/engine/cache/latency.h"
#include "filters/engine/rows/cores.h"
#include "filters/parts/latency/retime.h"
#include "formats/program/cf_aside.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_partial.h"

struct sum {
    uint64_t accesses, cycles; /* stay at UINT64_MAX when they come there */
};

struct latency {
    struct cf_tool tool;
    struct cf_partial partial; /* of the summary alone */
    struct cf_machine *machine;
    const char *machine_name; /* as given */
    unsigned stated;          /* options --latency */
    const char *output;
    const char *latencies; /* that options --latency changed, as a text */
    unsigned column;       /* of the level */
    unsigned core_count;   /* 0: as many as the machine has CPUs */
    int summary, retimes;
    struct retime *retime;
    struct cf_latencies *model;
    struct cf_cores *cores;
    uint32_t *cost;
    uint8_t *core;
    uint64_t *space;
    struct sum sum[CF_LATENCY_KEYS];
    uint8_t warned[CF_LATENCY_KEYS];
    int before;               /* for cf_before_check() */
    struct cf_made made;      /* column cost */
    struct cf_aside unplaced; /* rows that wait for the accesses of their time */
    int order_warned;         /* that accesses between these are missing */
    uint64_t unknown;         /* rows of unknown level or operation */
};

/* Warns, once, where costs depend on the access before and a header says that some were taken out
   since the column of the level was made. */
void check_order(struct latency *l, const struct cf_header *h);

/* Adds column cost to a frame of accesses; writes the rows of table unplaced that come before. `w`
   may be NULL. */
void add_to_accesses(struct latency *l, struct cf_frame *f, struct cf_writer *w);

/* The same for table unplaced, which has no column of the thread and no weight. 1 when its rows
   wait for the accesses of their time. */
int add_to_unplaced(struct latency *l, struct cf_frame *f);

/* The rows that wait, at the end of the input (f NULL) or of a segment, whose times begin anew. */
void end_unplaced(struct latency *l, const struct cf_frame *f, struct cf_writer *w);

/* The options on which the sums depend, as a text; to be freed. */
char *latency_options(struct latency *l);
/* Writes the sums as a partial result, and adds a frame of one. */
void latency_write(struct latency *l);
void latency_merge(struct latency *l, const struct cf_frame *f);

#endif
