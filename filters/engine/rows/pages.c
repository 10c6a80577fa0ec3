/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.c - memory for tables that are read at random. See pages.h.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "filters/engine/rows/pages.h"

enum { CACHE_LINE = 64, HUGE_PAGE = 1 << 21 };

void *cf_pages_take(size_t bytes)
{
    const size_t whole = bytes / HUGE_PAGE * HUGE_PAGE;
    void *p;

    if (posix_memalign(&p, whole ? HUGE_PAGE : CACHE_LINE, bytes ? bytes : 1) != 0)
        return NULL;
    /* only whole ones, so that no more memory is used; refused, these are common pages */
    if (whole)
        (void)madvise(p, whole, MADV_HUGEPAGE);
    return p;
}
