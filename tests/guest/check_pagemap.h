/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has a page mapped, found the slow way, for check_owners.c: the pages whose lines are put into
 * the tags, and their mappings by /proc/PID/maps and /proc/PID/pagemap of every process.
 */
#ifndef CACHEFLOW_CHECK_PAGEMAP_H
#define CACHEFLOW_CHECK_PAGEMAP_H

#include <stdint.h>

#include "tests/guest/check.h"

#define PAGES_MAX 4096u
#define REFS_MAX  65536u

enum kind {
    ANON,
    FORKED,
    FILE_PRIVATE,
    FILE_SHARED,
    SHARED,
    LEADERLESS,
    HUGETLB,
    WRITTEN,
    LARGE,
    TEXT,
    CACHED,
    KERNEL,
    DEVICE,
    OFFLINE,
    KINDS
};
extern const char *const kind_name[];

/* A page whose lines are put into the tags. */
extern struct page {
    uint64_t frame; /* number */
    enum kind kind;
} pages[PAGES_MAX];
extern uint32_t page_count;

/* One mapping of such a page. */
extern struct reference {
    uint64_t frame, virt;
    uint32_t pid;
} references[REFS_MAX];
extern uint32_t reference_count;

/* Pages of our own, from `at` on, which are there. */
void add_pages(const void *at, uint32_t count, enum kind kind);

/* The order of pages[], in which they have to be before scan_all(). */
int by_frame(const void *a, const void *b);

/* The order of references[]. */
int by_mapping(const void *a, const void *b);

/* Fills references[]. */
void scan_all(void);

#endif
