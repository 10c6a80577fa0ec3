/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc_parts.h - what allassoc.c and allassoc_simd.c share.
 */
#ifndef CF_ALLASSOC_PARTS_H
#define CF_ALLASSOC_PARTS_H

#include "filters/engine/distance/allassoc.h"
#include "filters/engine/rows/sets.h"
#include "formats/cpu/cf_cpu.h"

/* Most names that lists can share: below what the vector code looks for in vain. */
#define CF_ALLASSOC_NAMES 32768

/* One number of sets. */
struct cf_allassoc_sets {
    uint32_t sets;
    struct cf_sets index;
    uint16_t *name;  /* lists of names, sets x room */
    uint64_t *way;   /* for the most sets that share names: the lines by way, sets x room */
    uint16_t *tag;   /* and 16 bits of a hash of each */
    uint64_t *found; /* references by place; at `room`, those found nowhere in their list */
    unsigned share;  /* the last number of sets that shares names with those from here on */
    unsigned top;    /* the last number of sets of the chain of divisors that begins here */
};

/* As cf_allassoc_run(). */
typedef void cf_allassoc_runner(struct cf_allassoc *a, const uint64_t *line, uint32_t count);

struct cf_allassoc {
    unsigned count;
    uint32_t ways;
    uint32_t room; /* ways, in full vectors: a power of two */
    cf_allassoc_runner *run;
    uint64_t references; /* so far */
    uint64_t *apart;     /* where those that are not counted go */
    struct cf_allassoc_sets set[CF_ALLASSOC_MOST];
};

CF_SIMD_CODE(cf_allassoc_runner, cf_allassoc_run);

#endif
