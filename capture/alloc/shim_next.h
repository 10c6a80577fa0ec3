/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_next.h - private to libcf-alloc.so: what would be called if it were not there.
 */
#ifndef CF_ALLOC_SHIM_NEXT_H
#define CF_ALLOC_SHIM_NEXT_H

#include "shim.h"

/* Their order is that of struct shim_next. */
#define SHIM_NEXT_NAMES                                                                            \
    "malloc", "free", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign",          \
        "valloc", "pvalloc", "dlclose"

struct shim_next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*dlclose)(void *);
};

extern struct shim_next shim_next;

#endif
