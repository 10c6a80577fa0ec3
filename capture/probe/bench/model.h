/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - patterns that run on a model of a machine: cf-cache beside this program takes their
 * accesses, and by time cf-latency behind it; column hit or cost comes back.
 *
 * Memory: a bit for each 16 bytes of the buffer, and the frames of two pipes.
 */
#ifndef CF_PROBE_MODEL_H
#define CF_PROBE_MODEL_H

#include "capture/probe/bench/bench.h"
#include "formats/program/cf_tool.h"

struct model_options {
    const char *machine; /* as -m of cf-cache takes it */
    uint64_t size;       /* bytes of the buffer */
    uint64_t seed;       /* of random replacement */
    int by_time;
    const char *prefetch; /* as --prefetch of cf-cache takes it, or NULL */
};

struct cf_model;

/* Exits where the programs cannot be started. */
struct cf_model *cf_model_new(struct cf_tool *t, const struct model_options *o);
struct cf_bench *cf_model_bench(struct cf_model *m);
/* Waits for the programs: their exit status. */
int cf_model_free(struct cf_model *m);

#endif
