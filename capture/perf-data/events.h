/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.h - what the head of a perf.data file says: its events (attributes), which ids are whose,
 * and where and how it was recorded.
 */
#ifndef PERF_DATA_EVENTS_H
#define PERF_DATA_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/cf_hash.h"
#include "formats/base/cf_strings.h"
#include "formats/program/cf_tool.h"

enum { PERF_EVENTS_MOST = 4096 };

/* One event. */
struct perf_event_of {
    uint32_t type;
    uint64_t config, period; /* period 0: the event states a frequency */
    uint64_t sample_type, read_format, branch_type;
    unsigned regs_user, regs_intr; /* registers in a sample */
    int sample_id_all;
    unsigned op; /* that its attributes or its name say: enum cf_op, or 0 */
    char *name;  /* or NULL */
};

struct perf_id {
    uint64_t id;
    uint32_t event; /* its place, from 1; 0: the place in the table is free */
};

/* Features of the file that are of use here. */
enum perf_feature {
    PERF_FEATURE_BUILD_ID = 2,
    PERF_FEATURE_HOST = 3,
    PERF_FEATURE_KERNEL = 4,
    PERF_FEATURE_VERSION = 5,
    PERF_FEATURE_ARCH = 6,
    PERF_FEATURE_CPU = 8,
    PERF_FEATURE_CPUID = 9,
    PERF_FEATURE_COMMAND = 11,
    PERF_FEATURE_EVENTS = 12,
    PERF_FEATURES = 256,
};

struct perf_events {
    struct cf_tool *tool;
    int swap; /* the file has the other endianness than this machine */
    int big;  /* it is big-endian */
    struct perf_event_of *event;
    size_t count, room;
    struct perf_id *id; /* a hash table */
    size_t ids, id_room;
    struct cf_seed seed;
    char *host, *kernel, *version, *arch, *cpu, *cpuid, *command; /* or NULL */
    struct cf_strings *builds; /* "file name", zero byte, build id in hex: see perf_build_of() */
    uint32_t *build;           /* of a number of a file's name in `builds`, that of its build id */
    size_t build_room;
};

/* Numbers of the file. */
static inline uint64_t perf_u64(const struct perf_events *e, const void *at)
{
    uint64_t v;

    __builtin_memcpy(&v, at, sizeof v);
    return e->swap ? __builtin_bswap64(v) : v;
}
static inline uint32_t perf_u32(const struct perf_events *e, const void *at)
{
    uint32_t v;

    __builtin_memcpy(&v, at, sizeof v);
    return e->swap ? __builtin_bswap32(v) : v;
}
static inline uint16_t perf_u16(const struct perf_events *e, const void *at)
{
    uint16_t v;

    __builtin_memcpy(&v, at, sizeof v);
    return e->swap ? __builtin_bswap16(v) : v;
}

void perf_events_free(struct perf_events *e);

/* Adds an event from the bytes of a perf_event_attr: its number from 0, or -1 where it is none. */
int perf_events_add(struct perf_events *e, const uint8_t *attr, size_t bytes) CF_MUST_CHECK;

/* An id of the event. */
void perf_events_id(struct perf_events *e, uint64_t id, uint32_t event);
/* The event of an id, or NULL. */
struct perf_event_of *perf_events_find(const struct perf_events *e, uint64_t id);

/* Names an event, which may say its operation. */
void perf_events_name(struct perf_events *e, struct perf_event_of *event, const char *name,
                      size_t length);

/* Takes in a feature's bytes: -1 where they do not fit. One that is of no use here is passed
   over. */
int perf_events_feature(struct perf_events *e, unsigned feature, const uint8_t *at,
                        size_t bytes) CF_MUST_CHECK;

/* The build id of a file, as column build has it, or "". */
void perf_events_build(struct perf_events *e, const char *file, const uint8_t *id, size_t bytes);
const char *perf_build_of(const struct perf_events *e, const char *file);

#endif
