/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the checks of pagectl.ko: a process that is treated, and short forms of the requests. What
 * goes wrong ends the check.
 */
#ifndef CACHEFLOW_CHECK_PAGES_H
#define CACHEFLOW_CHECK_PAGES_H

#include "kmod/pagectl/pagectl.h"
#include "tests/guest/check.h"
#include "tests/guest/pagetab.h"

/* ---- a process that does as it is told, and else stands still ---- */

#define VICTIM_PAGES 48u

struct victim {
    pid_t pid;
    int to, from;
    /* Where it has VICTIM_PAGES of each: anonymous memory, shared memory, a file of its own as
       data, which it may write to privately, and as text, which it may not; memory without
       permission. */
    uint64_t anon, shared, data, text, guard;
};

enum victim_do {
    VICTIM_FILL,   /* writes a pattern of this seed into pages from this address on */
    VICTIM_VERIFY, /* gives 0 when it is there */
    VICTIM_UNMAP,
    VICTIM_MOVE,     /* mremap to `value` */
    VICTIM_READONLY, /* mprotect */
    VICTIM_DISCARD,  /* madvise, MADV_DONTNEED */
    VICTIM_HUGE,     /* madvise, MADV_HUGEPAGE */
    VICTIM_FORK,     /* gives a child that stands still */
    VICTIM_GIVE,     /* vmsplice: the kernel holds the pages */
    VICTIM_CALL,     /* calls what stands there */
    VICTIM_EXIT,
};

struct victim victim_make(void);
void victim_end(const struct victim *victim);
uint64_t victim_ask(const struct victim *victim, enum victim_do what, uint64_t address,
                    uint64_t pages, uint64_t value);

/* ---- requests ---- */

int pages_open(void);
void pages_target(int device, pid_t pid);
/* 0, or what errno is then. */
int pages_expect(int device, pid_t pid);
int pages_request(int device, unsigned long request, struct pagectl_pages *pages);
/* Pages from one address on; each must come out as PAGECTL_DONE. The answer is valid until the
 * next. */
struct pagectl_pages *pages_do(int device, unsigned long request, uint64_t address, uint32_t count,
                               uint32_t policy);
/* The same of one page, which must come out as `result`; the answer. */
struct pagectl_page pages_one(int device, unsigned long request, uint64_t address, uint32_t policy,
                              uint32_t result);
struct pagectl_info pages_info(int device);
/* A target with its mappings. */
int pages_attach(const struct victim *victim);
void pages_restore(int device);

/* ---- what the page tables have ---- */

/* An entry; its page must be there. */
struct pagetab pages_look(pid_t pid, uint64_t address);
/* Pages from there on are of this policy, by the processor's own types, and are pinned or not. */
void pages_are(pid_t pid, uint64_t address, uint32_t count, uint32_t policy, bool pinned);
/* The policies other than cached that there are here, one after the other; 0 ends them. */
uint32_t pages_policy(uint32_t number);

#endif
