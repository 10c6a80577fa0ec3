/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffer.h - the memory that patterns visit, in the largest pages that the system gives: an address
 * decides on the set of a cache only as far as the page is the same physically.
 */
#ifndef CF_PROBE_BUFFER_H
#define CF_PROBE_BUFFER_H

#include <stdint.h>

enum cf_buffer_pages {
    CF_BUFFER_HUGETLB,  /* set aside by the administrator */
    CF_BUFFER_MADVISED, /* transparent ones */
    CF_BUFFER_ORDINARY,
};

struct cf_buffer {
    unsigned char *base; /* aligned to the huge page, whatever pages it has */
    uint64_t size;       /* as asked for, rounded up to whole huge pages */
    uint64_t page;       /* bytes of the pages that all of it has */
    enum cf_buffer_pages pages;
    char why[128]; /* no larger ones: the reason, or "" */
    void *mapped;
    uint64_t mapped_bytes;
};

/* All of it is written, so that each page is there. In ordinary pages, where they are asked for. -1
   with errno. */
int cf_buffer_new(struct cf_buffer *b, uint64_t size, int ordinary);
void cf_buffer_free(struct cf_buffer *b);

#endif
