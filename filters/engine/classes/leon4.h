/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leon4.h - which accesses of a processor's trace missed, and why, after: Ntogramatzi, Katsaros,
 * Nikolaidis: Cache activity profiling tool for the LEON4 processor, sections III.A to III.C.
 *
 * An instruction cache and a data cache for each core stand before a second level. Each has LRU
 * stacks by set, whose distances give hit or miss and the class of a miss, as in III.A: none below
 * the number of ways; conflict from there to below the number of sets (the paper says "greater than
 * the number of ways" and "less than 4" for a hit, which leaves 4 itself out; an LRU cache of 4
 * ways misses it); capacity above the number of sets; compulsory ("cold") if infinite. A distance
 * of just the number of sets has no class in the paper and is unclassified here.
 *
 *   fetches   by distance. Where the bus read the line of a fetch that should have hit, the line
 *             was not there yet: a miss of no class ("some memory blocks needed more than one
 *             calls to become cache residents", III.A, note a).
 *   loads     hit or missed as hardware was seen to do (III.B: a bus read follows a load that
 *             misses). The paper does not know addresses and calls all of these misses "cold", as
 *             `data_compulsory` does here. Otherwise, beyond the paper, the distance gives the
 *             class; a miss whose address is not known, or of a line that by distance should have
 *             hit, has none. Of a load of which hardware shows nothing, the distance gives all.
 *   stores    go on to the second level where the data cache writes through; they touch what the
 *             data cache holds, and bring lines in where it allocates. The paper's figure 2 has
 *             more misses of the second level, 325, than of both first levels, 266.
 *   second    sees the misses of both and the stores, by distance; under the master-index policy
 *             each core has one way of its own. Where it is off, memory serves them.
 *
 * Memory: that of the stacks, 8 to 16 bytes a distinct line and cache.
 */
#ifndef CF_LEON4_H
#define CF_LEON4_H

#include <stdint.h>

#include "filters/engine/classes/classes.h"

struct cf_leon4_config {
    unsigned cores;      /* 1 to 256 */
    unsigned line_shift; /* bits of a byte's place in its line, of all caches */
    struct {
        uint32_t sets, ways;
    } fetch, data, second;    /* second: no sets where it is off */
    int second_own;           /* each core has a way of the second level to itself */
    int allocate, write_back; /* of the data cache, at stores */
    int data_compulsory;      /* the paper's: addresses of loads are not used to classify them */
};

/* What hardware showed of a load. */
enum cf_leon4_seen { CF_LEON4_NOTHING = 0, CF_LEON4_HIT = 1, CF_LEON4_MISS = 2 };

struct cf_leon4_access {
    uint64_t addr;  /* first byte; where it is not known, that of the bus read that served it */
    uint64_t space; /* see cf_space_key() */
    uint32_t size;  /* bytes, 0 is 1 */
    unsigned core;
    uint8_t op;     /* enum cf_op; prefetches and flushes take no part */
    uint8_t seen;   /* enum cf_leon4_seen */
    uint8_t placed; /* `addr` is known */
};

/* Of an access to several lines the greatest of each. */
struct cf_leon4_result {
    uint8_t hit;    /* level that served it: 1, 2, 255 memory, 0 unknown */
    uint8_t class;  /* enum cf_class of the first level's miss */
    uint8_t second; /* of the second level's */
};

enum cf_leon4_cache { CF_LEON4_FETCH, CF_LEON4_DATA, CF_LEON4_SECOND, CF_LEON4_CACHES };

/* References to lines of all caches of a kind. */
struct cf_leon4_counts {
    uint64_t references[CF_CLASS_OPS];
    uint64_t misses[CF_CLASS_OPS][CF_CLASS_UNCLASSIFIED + 1];
    uint64_t unknown[CF_CLASS_OPS]; /* hit or miss is not known */
};

struct cf_leon4;

/* NULL without memory. */
struct cf_leon4 *cf_leon4_new(const struct cf_leon4_config *config);
void cf_leon4_free(struct cf_leon4 *l);

/* The next access, in the order of time. -1 without memory. */
int cf_leon4_access(struct cf_leon4 *l, const struct cf_leon4_access *a,
                    struct cf_leon4_result *result);

/* A read on the bus by a core, the first transfer of it, between the accesses. */
void cf_leon4_bus(struct cf_leon4 *l, unsigned core, uint64_t addr);

const struct cf_leon4_counts *cf_leon4_counts(const struct cf_leon4 *l, enum cf_leon4_cache cache);

/* Loads that hardware was seen to hit where the distance speaks of a miss. */
uint64_t cf_leon4_against(const struct cf_leon4 *l);

#endif
