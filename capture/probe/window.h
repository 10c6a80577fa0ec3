/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - how many lines a level has, by windows, with noise.
 *
 * A window that begins or ends at the end of a page has nothing prefetched into it, or behind it.
 * How many of its accesses miss says roughly whether it fits: what another program takes out are
 * few of a window that is much larger. Lines behind it, each visited before it and measured alone
 * after it, are evicted if their set has as many others in the window as ways, so the first ones
 * stay and the last ones do not; where that changes, the level's number of lines is known, and what
 * disturbs some of them, or one trial, does not move it. Under random replacement only a part of
 * them is evicted, and of an exclusive level that depends on what the level before it holds: what
 * is said is then a place to begin at.
 */
#ifndef CF_PROBE_WINDOW_H
#define CF_PROBE_WINDOW_H

#include "capture/probe/probe.h"

/* Where a level is looked for: its lines, at least and at most; what a window says exactly, or 0.
   */
struct window_range {
    uint64_t least, most, exact;
    uint64_t until; /* accesses: no more sets are tried */
};

/* 1, or 0 where it is larger than what is looked for; -1 with p->error. */
int window_range(struct probe *p, unsigned level, struct window_range *r);
/* 1, or 0 where windows do not say it exactly; -1 with p->error. */
int window_exact(struct probe *p, unsigned level, struct window_range *r);

#endif
