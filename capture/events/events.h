/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.h - what the kernel is asked for: the sampled events of each vendor after Table 1 of
 * "CachePerf", page faults in their place, tasks and mappings, and breakpoints.
 */
#ifndef CF_EVENTS_H
#define CF_EVENTS_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum cf_perf_vendor { CF_PERF_INTEL, CF_PERF_AMD, CF_PERF_ARM, CF_PERF_OTHER };
#define CF_PERF_VENDORS "intel amd arm"

enum cf_perf_kind {
    CF_PERF_LOADS,
    CF_PERF_STORES,
    CF_PERF_BOTH, /* one event samples loads and stores, data_src states which */
    CF_PERF_FAULTS,
    CF_PERF_TRACK, /* tasks and mappings; no samples */
    CF_PERF_BREAKPOINT,
};

struct cf_perf_event {
    enum cf_perf_kind kind;
    const char *name, *pmu; /* pmu: whose number `type` is to be, or NULL */
    unsigned step;          /* its periods are multiples of that */
    int traced;             /* its samples come in a trace (aux.h) */
    struct perf_event_attr attr;
};

enum { CF_PERF_EVENTS = 2 }; /* of a vendor, at most */

enum cf_perf_vendor cf_perf_vendor(void); /* of this machine */

/* The sampled events of a vendor, with these periods; returns how many. The types of dynamic PMUs
   are this machine's, or UINT32_MAX where it has none. */
unsigned cf_perf_sampled(enum cf_perf_vendor v, uint64_t loads, uint64_t stores,
                         struct cf_perf_event *event);
/* The events of LOADS[,STORES], names of libpfm4; how many, or -1 with the reason in `why`. */
int cf_perf_named(const char *names, uint64_t loads, uint64_t stores, struct cf_perf_event *event,
                  char *why, size_t size);
void cf_perf_faults(struct cf_perf_event *event);
void cf_perf_track(struct perf_event_attr *attr);
void cf_perf_breakpoint(struct perf_event_attr *attr, uint64_t addr);

/* A period with so much chance in percent, as the event takes it. */
uint64_t cf_perf_jitter(const struct cf_perf_event *e, unsigned percent, uint64_t *seed);

/* A line of the attributes that are not 0. */
void cf_perf_print(FILE *out, const struct cf_perf_event *e);

/* As perf_event_open(2). */
int cf_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu);

/* Why an event could not be opened, and what to do; ENOBUFS: its ring could not be locked. */
const char *cf_perf_why(int error, char *text, size_t size);

#endif
