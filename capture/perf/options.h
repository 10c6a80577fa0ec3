/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - the command line of cf-capture-perf, and whether this machine can do it.
 */
#ifndef CF_PERF_OPTIONS_H
#define CF_PERF_OPTIONS_H

#include "capture/events/events.h"
#include "capture/perf/fine.h"
#include "capture/perf/heap.h"
#include "formats/program/cf_tool.h"

extern const char cf_perf_usage[];

struct cf_perf_options {
    const char *output, *command_output;
    uint32_t pid; /* to attach to, or 0 */
    uint64_t loads, stores;
    uint32_t jitter; /* percent */
    uint64_t seed;
    uint64_t buffer;    /* bytes of a ring */
    const char *coarse; /* NULL: the PMU; page-faults, or a stream */
    const char *event;  /* names of libpfm4, or NULL */
    enum cf_perf_vendor vendor;
    struct cf_fine_options fine;
    struct cf_heap_options heap;
    int faults;                                 /* coarse samples are page faults */
    int fine_given;                             /* breakpoints are asked for by an option */
    struct cf_perf_event named[CF_PERF_EVENTS]; /* the events of these names */
    int names;
    char *file; /* the earlier stream, or NULL */
};

/* Exits after --probe and --dry-run, and where the machine cannot do what is asked for. */
void cf_perf_options(struct cf_tool *t, struct cf_perf_options *o, int argc, char **argv);

/* The sampled events that the options ask for; returns how many. */
unsigned cf_perf_events(const struct cf_perf_options *o, struct cf_perf_event *event);

/* Bytes of the ring for their traces, and as many are left for records; 0: they have none. */
uint64_t cf_perf_trace_bytes(const struct cf_perf_options *o);

#endif
