/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - what the command line of cf-capture-snapshot asks for.
 */
#ifndef CF_SNAPSHOT_OPTIONS_H
#define CF_SNAPSHOT_OPTIONS_H

#include "capture/snapshot/emit.h"
#include "capture/snapshot/observed.h"
#include "capture/watch/watch.h"

enum { COMMANDS_MOST = 64, PRIORITY_NONE = -1 };

struct cf_snapshot_options {
    const char *device, *output;
    uint64_t period_ns; /* 0: events only */
    uint64_t delay_ns;
    uint64_t count; /* activations; 0: no end */
    int on_signal, on_stop;
    struct cf_watch_point point[CF_WATCH_POINTS];
    unsigned points;
    int transparent, asynchronous, maps, resolve, twice;
    int own_cpu, own_priority; /* PRIORITY_NONE leaves it, 0 is the highest */
    uint32_t ram;              /* enum cacheflow_ram_id */
    int ram_cpu;               /* CACHEFLOW_CPU_ANY */
    unsigned thrash;           /* times the size of the cache */
    enum owners owners;
};

/* Fills in options and commands; exits when they are invalid, and for --probe. */
void cf_snapshot_options(struct cf_snapshot_options *o, struct cf_observed *t, int argc,
                         char **argv);

extern const char cf_snapshot_usage[];

#endif
