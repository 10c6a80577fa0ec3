/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc_parts.h - what the portable and the vector code of allassoc.h share.
 *
 * The vector code keeps 32 bits a line, exactly: the low 24 bits of its number, and the number of
 * its region, the bits above, in a table of the regions that were seen. A program touches few
 * regions of 2^24 lines (a gigabyte, for lines of 64 bytes); where there are more than 255, what
 * is kept is written out in full and the portable code goes on.
 */
#ifndef CF_ALLASSOC_PARTS_H
#define CF_ALLASSOC_PARTS_H

#include "filters/engine/allassoc.h"

enum {
    REGION_BITS = 24,
    REGIONS = 255,
    REGION_SLOTS = 1024,
};

#define CF_ALLASSOC_EMPTY32 UINT32_MAX /* is of region 255, of which there is none */

/* One number of sets. */
struct cf_allassoc_sets {
    uint32_t sets;
    uint32_t mask;    /* sets - 1, where that is a power of two */
    uint64_t inverse; /* else floor(2^64 / sets); 0 for powers of two */
    uint64_t *wide;   /* sets x 2 x room lines, of the portable code */
    uint32_t *narrow; /* or sets x room, of the vector code */
    uint16_t *head;   /* where the list of each set begins */
    uint64_t *found;  /* references by place, [room] = not found, beside those: */
    uint64_t first;   /* those at place 0 for this number of sets and more, but not for fewer */
    uint64_t nowhere; /* those not found for this number of sets and fewer, but for more */
    unsigned top;     /* the last number of sets of the chain of divisors that begins here */
    unsigned bottom;  /* the first one of the chain */
};

/* As cf_allassoc_run(): returns how many it took, less than `count` before a region too much. */
typedef uint32_t cf_allassoc_runner(struct cf_allassoc *a, const uint64_t *line, uint32_t count);

struct cf_allassoc {
    unsigned count;
    uint32_t ways;
    uint32_t room;              /* ways, in full vectors */
    cf_allassoc_runner *vector; /* NULL: portable */
    struct cf_allassoc_sets set[CF_ALLASSOC_MOST];
    unsigned regions;
    uint64_t region[REGIONS]; /* line >> REGION_BITS */
    struct {
        uint64_t region;
        uint32_t base; /* its number << REGION_BITS */
        uint32_t used;
    } slot[REGION_SLOTS]; /* hashed, with linear probing */
};

static inline uint64_t cf_allassoc_index(const struct cf_allassoc_sets *s, uint64_t line)
{
    uint64_t rest;

    if (!s->inverse)
        return line & s->mask;
    rest = line - (uint64_t)((unsigned __int128)line * s->inverse >> 64) * s->sets;
    return rest >= s->sets ? rest - s->sets : rest;
}

/* The number of a region, << REGION_BITS; a new one gets the next. CF_ALLASSOC_EMPTY32 when there
   is none left. */
uint32_t cf_allassoc_new_region(struct cf_allassoc *a, uint64_t region);

static inline uint32_t cf_allassoc_region(struct cf_allassoc *a, uint64_t region)
{
    const unsigned at = (unsigned)(region * 0x9e3779b97f4a7c15u >> 54);

    if (__builtin_expect(a->slot[at].region == region && a->slot[at].used, 1))
        return a->slot[at].base;
    return cf_allassoc_new_region(a, region);
}

/* NULL where there is none for this processor and number of ways; else *room is set. */
cf_allassoc_runner *cf_allassoc_avx512(uint32_t ways, uint32_t *room);

#endif
