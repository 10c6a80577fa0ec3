/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots_parts.h - what the portable and the vector code of slots.h share.
 */
#ifndef CF_SLOTS_PARTS_H
#define CF_SLOTS_PARTS_H

#include "filters/engine/rows/slots.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX512_SLOTS 1
#endif

enum { CF_SLOTS_PAGE_BITS = 6, CF_SLOTS_REGION_BITS = 12 }; /* log2 of the lines in each */

struct entry {
    uint64_t region;
    uint64_t number; /* from 1 in order of appearance; 0 = free entry */
};

struct cf_slots {
    struct entry *table;
    unsigned shift; /* 64 - log2 of the entries */
    uint64_t factor;
    int is_new_factor; /* since the table has this size */
    int vectors;       /* vector code is used */
    uint32_t *page;    /* of region number n, from element (n - 1) * PAGES: numbers of its pages,
                          likewise from 1, 0 = none yet */
    size_t room;       /* regions that have elements in `page` */
    uint32_t regions;
    uint32_t pages;
};

#ifdef HAVE_AVX512_SLOTS
/* Slots of lines from the first on, until one is not found at once: returns how many. */
size_t cf_slots_known_avx512(const struct cf_slots *s, const uint64_t *line, size_t count,
                             uint32_t *slot);
#endif

#endif
