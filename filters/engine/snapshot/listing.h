/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listing.h - which rows of a snapshot are of a line that it has listed before: a line whose frame
 * several mappings share may have a row for each of them (cf-stream(5)).
 *
 * Rows come in the order of their places, each once, as long as no line is repeated, and then only
 * that order is looked at. From the first row on that breaks it all are looked up.
 *
 * Memory: 16 to 32 bytes a row of the largest snapshot in order, 68 to 136 a row of others.
 */
#ifndef CF_LISTING_H
#define CF_LISTING_H

#include <stdint.h>

#include "formats/stream/cf.h"

struct cf_listing;

/* The place of a row that is a line of its own, whatever else there is. */
#define CF_LISTING_ALONE UINT64_MAX

/* What a row may be the first of in its snapshot. */
enum cf_listing_first {
    CF_FIRST_OF_LINE = 1,
    CF_FIRST_OF_GROUP = 2, /* the line's in its group */
    CF_FIRST_REUSED = 4,   /* and reused */
};

/* NULL without memory. */
struct cf_listing *cf_listing_new(void) CF_MUST_CHECK;
void cf_listing_free(struct cf_listing *l);

/* Another snapshot begins. */
void cf_listing_next(struct cf_listing *l);

/* Rows of a snapshot, in their order: a line is what a cache has at a place, which is not 0;
   `cache` NULL: all rows are of one; groups are below 2^31 - 1; reused[i]: what the row names was
   there before. Returns 0 where each is the first of its line, 1 where
   first[i] has bits of the above, -1 without memory. */
int cf_listing_add(struct cf_listing *l, const uint64_t *place, const uint32_t *cache,
                   const uint32_t *group, const uint8_t *reused, uint32_t rows,
                   uint8_t *first) CF_MUST_CHECK;

#endif
