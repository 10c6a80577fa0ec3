/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sites.h - private to capture/alloc: which allocation sites have so few misses that what they
 * allocate need not be recorded ("CachePerf", section 3.4). A site is a node of table stack.
 *
 * Not every object is kept: one in SITES_KEPT pages has its objects in the table, whichever site
 * they are from, and samples elsewhere are not counted; in the mean of all objects, those there
 * stand for these too. Large objects are all kept, up to SITES_LARGE_MOST at a time. So it takes
 * 4 bytes an object of the program, and not 32.
 */
#ifndef CF_ALLOC_SITES_H
#define CF_ALLOC_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/cf_hash.h"

enum {
    SITES_KEPT = 8,
    SITES_LARGE = 1 << 16, /* bytes of an object from which on it is in a list, */
    SITES_LARGE_MOST = 1024,
};

struct site_object {
    uint64_t addr, bytes;
    uint32_t pid, node;
    uint32_t next; /* in its bucket, or of those that are free; from 1 */
};

struct site_count {
    uint64_t samples, misses; /* by their weights */
    uint32_t pid, left_out;
};

struct sites {
    struct cf_seed seed;
    uint32_t kept; /* 0: SITES_KEPT; else for tests */
    struct site_object *object;
    size_t object_room, objects, live;
    uint32_t free;
    uint32_t *bucket;
    size_t buckets; /* a power of two */
    struct site_object large[SITES_LARGE_MOST];
    unsigned larges;
    struct site_count *count;
    size_t count_room;
    uint64_t samples, misses; /* of all, as above */
};

/* Functions return -1 without memory. */
int sites_allocated(struct sites *s, uint32_t pid, uint64_t addr, uint64_t bytes, uint32_t node);
void sites_released(struct sites *s, uint32_t pid, uint64_t addr);
void sites_ended(struct sites *s, uint32_t pid); /* the process is no more */

/* A sampled access. */
int sites_sampled(struct sites *s, uint32_t pid, uint64_t addr, uint64_t weight, int missed);

/* The next site from *node on that is to be left out: it has `least` samples or more, and its miss
   ratio is below `fraction` of that of all. 0: there is none. The caller sets left_out. */
struct site_count *sites_next(struct sites *s, uint32_t *node, double fraction, uint64_t least);

void sites_free(struct sites *s);

#endif
