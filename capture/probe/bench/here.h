/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * here.h - the machine at hand as a bench: chains of pointers in memory of huge pages, on one CPU,
 * by counters of misses where there are any, else by the clock.
 */
#ifndef CF_PROBE_HERE_H
#define CF_PROBE_HERE_H

#include <stddef.h>

#include "capture/probe/bench/bench.h"

struct cf_here_options {
    uint64_t size; /* of the buffer */
    int cpu;       /* -1: the one on which the caller runs */
    int ordinary;  /* no huge pages */
    int time;      /* no counters, whatever there is */
    const char
        *event; /* of libpfm4, or a preset of PAPI, that counts misses of each level; or NULL */
};

struct cf_here;

/* NULL with the reason in `why`: no such CPU, or one that the process may not use, no memory. */
struct cf_here *cf_here_new(const struct cf_here_options *o, char *why, size_t size);
void cf_here_free(struct cf_here *h);

/* Its functions; as long as it is there. */
struct cf_bench *cf_here_bench(struct cf_here *h);

/* ---- what is measured how, for the header of the stream and for the user ---- */

/* Other CPUs on which this process may run, at most so many; how many there are. */
unsigned cf_here_others(const struct cf_here *h, unsigned *cpu, unsigned most);
unsigned cf_here_cpu(const struct cf_here *h);
uint64_t cf_here_page(const struct cf_here *h); /* bytes */
/* The event that counts misses of a level, or NULL: by the clock, and why not better. */
const char *cf_here_event(struct cf_here *h, unsigned level, const char **why);
/* Why the pages are no larger, or "". */
const char *cf_here_pages_why(const struct cf_here *h);

#endif
