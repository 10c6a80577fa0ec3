/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep.h - what the files of cf-sweep share. */
#ifndef CF_SWEEP_H
#define CF_SWEEP_H

#include "filters/engine/distance/allassoc.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/runs.h"
#include "filters/picture/chart.h"
#include "formats/program/cf_options.h"
#include "formats/together/cf_partial.h"

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
    unsigned count;      /* of them */
    uint64_t references; /* without flushes */
    uint64_t flushes;    /* lines that were passed over */
    struct cf_runs *runs;
    struct cf_allassoc *all;
    struct uses *uses; /* sweep_partial.c: of a part, the lines that it uses */
    /* of joined parts, by number of sets and ways: misses but for each part's first uses */
    uint64_t again[MOST_LIST][MOST_LIST];
};

struct sweep {
    struct cf_tool tool;
    struct options o;
    struct size *size; /* one for each of o.line_size */
    struct cf_cores *cores;
    struct cf_partial partial;
    /* sweep_partial.c, of the part at hand */
    uint32_t *pid;   /* of each process, by its number in the part */
    uint64_t *space; /* and what it has in all parts together */
    size_t room[2];
    uint32_t processes; /* that appeared */
    unsigned pids;      /* cf_pids_check() */
};

static inline int sweep_wants(const struct options *o, uint64_t bytes)
{
    return bytes >= o->least && bytes <= o->most;
}

/* Of the caches with the k-th number of sets and the w-th number of ways. */
static inline uint64_t sweep_misses(const struct options *o, const struct size *s, unsigned k,
                                    unsigned w)
{
    return cf_allassoc_misses(s->all, k, (uint32_t)o->ways.value[w]) + s->again[k][w];
}

/* sweep_draw.c: the picture and the page of what --line-size lists. */
void sweep_draw(const struct cf_tool *t, const struct options *o, const struct size *size);

/* sweep_partial.c: before anything is read; what a part has, piece by piece of rows of one process,
   and by lines of that; its result; and such results joined. */
void sweep_partial(struct sweep *w);
void sweep_process(struct sweep *w, const uint32_t *pid, uint64_t space);
void sweep_use(struct sweep *w, struct size *s, uint64_t space);
void sweep_write(struct sweep *w);
void sweep_merge(struct sweep *w, const struct cf_frame *f);
void sweep_partial_free(struct sweep *w);

#endif
