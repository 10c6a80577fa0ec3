/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conflict.h - whether a line is evicted from a level by so many others of its set.
 */
#ifndef CF_PROBE_CONFLICT_H
#define CF_PROBE_CONFLICT_H

#include "capture/probe/probe.h"

enum { CONFLICT_PAGE = 4096, CONFLICT_LINES = 512, CONFLICT_WAYS = 64, CONFLICT_TRIALS = 128 };
enum {
    CONFLICT_CLEAN = 32, /* trials without which nothing stays for sure */
    CONFLICT_ENOUGH = 4, /* evictions that are none by chance, */
    CONFLICT_SHARE = 10, /* where one in so many trials has one */
    CONFLICT_RARE = 20,
};
enum { CONFLICT_STAYS, CONFLICT_EVICTED, CONFLICT_UNCLEAR };

struct conflict {
    unsigned level;
    uint64_t at;      /* the line */
    uint64_t step;    /* bytes between it and the others; CONFLICT_PAGE at least */
    uint64_t way;     /* bytes of a way of the level, as is supposed */
    uint32_t lines;   /* the others, CONFLICT_LINES at most */
    uint32_t without; /* so many are not visited, but what takes them out of the levels before is */
    unsigned passes;  /* how often they are visited */
    unsigned counted; /* the level whose misses are counted, if it is another one */
    unsigned choices, quick; /* of others; trials that are enough where none evicts, or 0 */
};

struct conflict_seen {
    uint32_t trials, evicted;
    unsigned char out[CONFLICT_TRIALS]; /* of each */
};

uint64_t conflict_multiple(uint64_t a, uint64_t b);
/* Bytes between lines of a set, each in another page, as few as can be: a stride prefetcher sees no
   two of them. Of one or two sets they are at the ends of pages, since the lines behind them belong
   to the same sets. */
uint64_t conflict_step(uint64_t way, uint64_t line);
/* One trial; the measurement is that of the line. -1 with p->error. */
int conflict_once(struct probe *p, const struct conflict *c, unsigned choice,
                  struct cf_measured *m);
/* Trials until it is clear; s is of the last choice of lines. -1 with p->error. */
int conflict_decide(struct probe *p, const struct conflict *c, struct conflict_seen *s);
/* Of lines that evict: where a first level has few sets, others than these, lines behind those that
   are visited may have done it. 1: they evict at the ends of pages, too, behind which none is
   prefetched, and none do a part of the way apart; 0: not so; -1 with p->error. */
int conflict_few_sets(struct probe *p, const struct conflict *of);

#endif
