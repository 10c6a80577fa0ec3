/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bisect.h - the best of many pages by few runs: intervals of pages are measured together, and
 * those that matter are halved.
 *
 * What an interval gains is at least what any of its pages gains, so an interval that gains less
 * than the best pages need not be looked into. Which interval or page is measured next is chosen
 * as in LUCB (Kalyanakrishnan et al., "PAC Subset Selection in Stochastic Multi-armed Bandits",
 * ICML 2012): of the best ones that with the lowest lower bound, of the others that with the
 * highest upper bound, until these are apart or the runs are used up.
 *
 * Memory: some 64 bytes an interval, of which there are at most as many as runs.
 */
#ifndef CF_PAGES_BISECT_H
#define CF_PAGES_BISECT_H

#include <stddef.h>
#include <stdint.h>

struct cf_bisect {
    uint32_t count;   /* of the pages */
    uint32_t best;    /* how many are looked for */
    uint32_t samples; /* runs of an interval that is new */
    uint64_t most;    /* runs */
    /* One run in which pages [from, to) are treated: *gain against any run that is the same for
       all. Less than 0 ends the search. */
    int (*run)(void *arg, uint32_t from, uint32_t to, double *gain);
    void *arg;

    /* what came of it */
    uint32_t *page; /* the best, first the greatest gain; of the caller, has room for `best` */
    uint32_t found; /* of them, single pages */
    uint64_t runs;  /* made */
    /* the chance that the last of them gains more than the strongest of the others, 0 to 1; below
       0: not known, since nothing was measured twice */
    double confidence;
};

/* The runs that so many pages are given: 15 % of the exhaustive ones, or, where these are few, as
   many as the search needs, and no more than all. */
uint64_t cf_bisect_most(uint32_t count, uint32_t best, uint32_t samples);

/* 0; or, less than 0, what `run` returned, or -1 without memory. */
int cf_bisect(struct cf_bisect *b);

#endif
