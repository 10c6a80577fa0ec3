/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.h - what the files of cf-sweep share. */
#ifndef CF_SWEEP_H
#define CF_SWEEP_H

#include "filters/engine/distance/allassoc.h"
#include "filters/engine/rows/runs.h"
#include "filters/picture/chart.h"
#include "formats/program/cf_options.h"

enum { MOST_LIST = 32 };

struct options {
    unsigned what;            /* enum cf_runs_option */
    struct cf_list line_size; /* bytes */
    struct cf_list ways;
    struct cf_list sets; /* where it is empty: the powers of two within */
    uint64_t sets_from, sets_to;
    uint64_t least, most; /* bytes */
    uint64_t memory;      /* that the simulations may still take */
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

static inline int sweep_wants(const struct options *o, uint64_t bytes)
{
    return bytes >= o->least && bytes <= o->most;
}

/* sweep_draw.c: the picture and the page of what --line-size lists. */
void sweep_draw(const struct cf_tool *t, const struct options *o, const struct size *size);

#endif
