/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc_parts.h - what the plain and the vector code of allassoc.h share.
 */
#ifndef CF_ALLASSOC_PARTS_H
#define CF_ALLASSOC_PARTS_H

#include "filters/engine/distance/allassoc.h"
#include "filters/engine/rows/sets.h"
#include "formats/base/cf_cpu.h"

#define CF_ALLASSOC_NAMES   32768      /* most names that the vector code has */
#define CF_ALLASSOC_NO_NAME UINT16_MAX /* and none of them */

/* One number of sets. */
struct cf_allassoc_sets {
    uint32_t sets;
    struct cf_sets index;
    uint64_t *line;  /* of the plain code: lists of lines, sets x 2 x room */
    uint16_t *head;  /* and where the list of each set begins */
    uint16_t *name;  /* of the vector code: lists of names, sets x room */
    uint64_t *way;   /* and, for the most sets that share names, the lines by way, sets x room */
    uint16_t *tag;   /* and 16 bits of a hash of each */
    uint64_t *found; /* references by place, beside those: */
    uint64_t first;  /* those at place 0 for this number of sets and more, but not for fewer */
    unsigned share;  /* the last number of sets that shares names with those from here on */
    unsigned top;    /* the last number of sets of the chain of divisors that begins here */
    unsigned bottom; /* the first one of the chain */
};

/* As cf_allassoc_run(). */
typedef void cf_allassoc_runner(struct cf_allassoc *a, const uint64_t *line, uint32_t count);

struct cf_allassoc {
    unsigned count;
    uint32_t ways;
    uint32_t room;              /* ways, in full vectors */
    cf_allassoc_runner *vector; /* NULL: plain */
    uint64_t references;        /* so far */
    struct cf_allassoc_sets set[CF_ALLASSOC_MOST];
};

#ifdef __x86_64__
/* For a room of 32 or 64. */
extern cf_allassoc_runner cf_allassoc_vectors_avx2, cf_allassoc_vectors_avx512;
#endif

#endif
