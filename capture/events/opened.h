/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opened.h - the events of a program on all CPUs: one ring a CPU, that its events share.
 *
 * Threads and processes that begin later inherit the events. Each thread that is there, and each
 * CPU, has a period of its own, so that threads side by side sample different instructions.
 */
#ifndef CF_EVENTS_OPENED_H
#define CF_EVENTS_OPENED_H

#include "capture/events/records.h"

struct cf_opened_options {
    struct cf_perf_event event[CF_PERF_EVENTS];
    unsigned count;
    unsigned percent; /* jitter of the periods */
    uint64_t seed;
    pid_t pid;
    int attached;       /* all its threads, from now on; else from its next exec on */
    size_t trace_bytes; /* of the ring of a traced event */
};

/* How many CPUs lack a sampled event, as where cores are of several kinds, with what else may be
   missing in `why`, or ""; -1 with the reason there. */
int cf_opened_all(struct cf_records *r, const struct cf_opened_options *o, char *why, size_t size);

#endif
