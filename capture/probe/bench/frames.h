/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h - size and ways of a level that is indexed by physical addresses, where nobody knows
 * which frames the pages of the buffer have: in a virtual machine even huge pages may be small ones
 * of the host.
 *
 * One line of each page is visited, at the same offset, so that two of them share a set only where
 * their frames have the same colour. Pages are added as long as all lines stay in the level; a page
 * whose line does not is left out. When no more fit, the level is full in the sets of that offset:
 * it holds as many pages as were taken. And the pages without which a refused one fits are those of
 * its colour: their lines are in one set. Both are eviction sets, which Vila, Köpf and Morales,
 * "Theory and Practice of Finding Eviction Sets", IEEE S&P 2019, reduce by groups; here each page
 * is tried, which needs no assumption on how frames are mapped to sets.
 */
#ifndef CF_PROBE_FRAMES_H
#define CF_PROBE_FRAMES_H

#include "capture/probe/bench/bench.h"

typedef void (*cf_frames_row)(void *arg, const char *experiment, uint64_t parameter,
                              uint32_t repeat, const struct cf_measured *m);

enum {
    CF_FRAMES_OFFSET = 128 /* of the line in its page: not the first, which other data have more */
};

struct cf_frames {
    const struct cf_bench *bench;
    unsigned level;
    uint64_t page;    /* bytes: the smallest that a host may have */
    uint64_t limit;   /* ticks of an access that the level serves, at most */
    uint32_t refused; /* so many pages one after the other end the search */
    uint32_t tries;   /* of a visit, before its lines are held not to stay */
    uint64_t seed;
    uint64_t until; /* nanoseconds of CLOCK_MONOTONIC, when the search gives up; 0: never */
    cf_frames_row row;
    void *arg;

    /* what was found */
    uint32_t *taken;    /* numbers of pages, and room for `refused` more; the caller frees it */
    uint32_t pages;     /* of them */
    uint32_t disturbed; /* questions without an answer */
    int full;           /* the search ended by `refused`, not for another reason */
};

/* Visits a line of each of these pages, in another order each time; room in `offset` is for as
   many. -1 with errno. */
int cf_frames_visit(struct cf_frames *f, const uint32_t *page, uint32_t n, uint64_t *offset,
                    struct cf_measured *m);

/* Experiment `pages`: parameter is the bytes of the pages of which a line each is visited, the last
   one that in question; none misses where it is taken. -1 with errno. */
int cf_frames_size(struct cf_frames *f);

/* Up to `most` pages of one colour, a refused one first: those taken, and further refused ones.
   Returns how many, 0 where nobody knows, or -1 with errno. Without rows. */
int cf_frames_colour(struct cf_frames *f, uint32_t *page, uint32_t most);

#endif
