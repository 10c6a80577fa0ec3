/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - where access patterns run and are measured: on this machine (here.h), on a model of one
 * (model.h), or, in tests, on an engine directly. The searches know nothing else of a machine.
 *
 * A pattern is a chain of nodes in one buffer: each node holds where the next one is, so that no
 * access begins before the one before it has ended ("pointer chasing" of Abel and Reineke,
 * "Automatic Cache Modeling by Measurements", section 5.3). Offset 0 of the buffer belongs to set 0
 * of all levels that its pages, or the model, let us place.
 */
#ifndef CF_PROBE_BENCH_H
#define CF_PROBE_BENCH_H

#include <stdint.h>

enum { CF_NODE = 16 }; /* bytes: nodes stand at multiples of it */

struct cf_visit {
    const uint64_t *offset; /* of the nodes in bytes, in the order of the chain; none twice but on
                               a model */
    uint32_t count;
    uint32_t warm, rounds; /* times around the chain: before, and measured */
    unsigned level;        /* misses of which level are counted: 1, 2, ... */
    uint32_t *each;        /* to time each access by itself: ticks of those measured; else NULL */
    uint64_t limit;        /* not 0: to time each, too; those that take more ticks are misses */
    unsigned char code;    /* instructions: jumps from node to node; bytes of one, at least 16 */
    unsigned char single;  /* those of which no two are decoded as one */
    unsigned char fresh;   /* nodes that the bench itself writes leave all caches after that */
    unsigned char again;   /* the nodes are linked as the visit before left them, and not touched */
    unsigned cpu; /* 0: the CPU that the bench has chosen, else 1 + the number of another */
};

struct cf_measured {
    uint64_t accesses;
    uint64_t misses; /* those that `level` did not serve, nor one before it; see has_misses */
    uint64_t time;   /* of all accesses measured, in ticks of the clock at its best frequency */
    unsigned cpu;    /* as the system numbers it */
    unsigned char method, spoilt; /* enum cf_method, enum cf_spoilt */
    unsigned char has_misses;
};

struct cf_bench {
    void *self;
    /* Takes all lines that were visited so far out of all caches. -1 where that cannot be done. */
    int (*forget)(void *self);
    /* -1, with errno, where the visit cannot be made. */
    int (*run)(void *self, const struct cf_visit *v, struct cf_measured *m);
    uint64_t step;   /* ticks by which the clock advances at once; 0: none are known */
    uint64_t size;   /* bytes of the buffer: offsets are below */
    uint64_t behind; /* forget() takes out lines so far behind those visited, too; or 0 */
};

#endif
