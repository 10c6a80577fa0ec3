/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lineset_parts.h - what the two files of lineset.h share.
 */
#ifndef CF_LINESET_PARTS_H
#define CF_LINESET_PARTS_H

#include "filters/engine/snapshot/lineset.h"
#include "formats/base/cf_cpu.h"

enum { CF_LINESET_PLACES = 16 };

/* Lower and upper halves of keys: all processors can compare many of these at once. Free places
   have all bits set. */
struct bucket {
    uint32_t low[CF_LINESET_PLACES], high[CF_LINESET_PLACES];
};

struct half {
    struct bucket *bucket;
    uint8_t *count;          /* of a bucket, at most CF_LINESET_PLACES */
    struct cf_counts *spill; /* keys that no bucket has room for; NULL: none */
};

/* Adds keys until one comes whose bucket is full, in either set; returns how many. `mask` is the
   number of buckets less one. */
typedef uint32_t cf_lineset_adder(struct half *now, const struct half *last, size_t mask,
                                  const uint64_t *key, uint32_t count, uint8_t *before);
CF_SIMD_CODE(cf_lineset_adder, cf_lineset_fill);

static inline void cf_lineset_put(struct bucket *b, unsigned place, uint64_t key)
{
    b->low[place] = (uint32_t)key;
    b->high[place] = (uint32_t)(key >> 32);
}

#endif
