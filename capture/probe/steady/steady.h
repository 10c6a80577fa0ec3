/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steady.h - what the experiments on a machine that is disturbed share: one file each, all called
 * by probe_steady().
 *
 * Some of them show only when they are done which level they are of, or whether they are of one at
 * all. Their rows are kept until then.
 */
#ifndef CF_PROBE_STEADY_H
#define CF_PROBE_STEADY_H

#include "capture/probe/bench/frames.h"
#include "capture/probe/probe.h"

enum {
    STEADY_WARM = 2,
    STEADY_COLOUR = 64,     /* pages of one, at most */
    STEADY_VISITED = 40000, /* accesses of a measurement, about */
};

/* A visit of the nodes in another random order, all accesses together; the time, or the misses, of
   one, NAN where it was spoilt. -1 with p->error. */
int steady_visit(struct probe *p, struct cf_measured *m, double *value);
double steady_value(const struct cf_measured *m);
/* The lesser of both, either may be NAN. */
double steady_lesser(double a, double b);
/* What misses just behind the end of a level is hidden by noise: the nearest size of 8 to 15 parts,
   each a power of two, and rather a smaller one. */
uint64_t steady_plausible(uint64_t size);
/* Whether the time is up; the first thing that is left out so is remembered. */
int steady_late(struct probe *p, const char *what);

struct steady_rows {
    struct probe_row *row;
    size_t count, room;
};
int steady_keep(struct probe *p, struct steady_rows *k, const char *experiment, uint64_t parameter,
                const struct cf_measured *m);
/* Writes them, as those of another experiment where one is named, and frees them. */
void steady_emit(struct probe *p, struct steady_rows *k, const char *experiment, unsigned level);
void steady_drop(struct steady_rows *k);

/* Each: `repeats` of all; what cannot be measured here is left out. -1 with p->error. */

/* first.c: size, ways, line and latency of the first level, without which nothing else is looked
   for: 1, or 0 where it was not found */
int steady_first(struct probe *p, uint32_t repeats);
/* first.c: the steps of the paper, of the first level */
int steady_paper(struct probe *p, uint32_t repeats);
/* second.c: size, ways and latency of the second level, and what relation.c says of it */
int steady_second(struct probe *p, uint32_t repeats);
/* beyond.c: latency of memory, and of a third level where there is one */
int steady_beyond(struct probe *p, uint32_t repeats);
/* code.c: size and ways of the first level for instructions */
int steady_code(struct probe *p, uint32_t repeats);
/* tlb.c: reach of the translation lookaside buffers, in p->ordinary */
int steady_tlb(struct probe *p, uint32_t repeats);

/* relation.c: of the second level, whose pages are those of `f`; ways and pages of one colour are
   those that were found, the pages first which were taken last */
int steady_index(struct probe *p, const struct cf_frames *f, uint32_t ways, uint32_t repeats);
int steady_inclusion(struct probe *p, const struct cf_frames *f, const uint32_t *page, uint32_t n,
                     uint32_t repeats);
int steady_share(struct probe *p, const struct cf_frames *f, uint32_t repeats);

#endif
