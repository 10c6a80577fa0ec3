/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owners.h - which thread ran on a CPU, or to which process a thread belonged, at a time.
 *
 * Memory: 32 bytes an entry; those that are not needed any more can be forgotten.
 */
#ifndef PERF_DATA_OWNERS_H
#define PERF_DATA_OWNERS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/program/cf_tool.h"

/* From this time on, the key (a CPU, or a thread) has this owner. */
struct perf_owner {
    uint64_t time;
    uint64_t number; /* in the order of adding, for those of one time */
    uint32_t key, pid, tid;
};

struct perf_owners {
    struct perf_owner *list;
    size_t count, room, sorted; /* sorted: so many in order of key, time and number */
    uint64_t number;
};

void perf_owners_free(struct perf_owners *o);
void perf_owners_add(const struct cf_tool *t, struct perf_owners *o, uint32_t key, uint64_t time,
                     uint32_t pid, uint32_t tid);

/* The owner at that time; before the first one, that one if `first`. NULL where there is none. */
const struct perf_owner *perf_owners_find(struct perf_owners *o, uint32_t key, uint64_t time,
                                          int first);

/* Nothing will be asked of times before this one. */
void perf_owners_forget(struct perf_owners *o, uint64_t time);

#endif
