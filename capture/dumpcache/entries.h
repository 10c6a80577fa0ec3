/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries.h - what the entries of one snapshot of the published tool mean.
 *
 * An entry is a pid and an address, and by the tool's mode the address is the page's virtual one
 * without the place in the page, the line's virtual one, its physical one, or half of that (its
 * option -n stores physical address / 2). A page without a mapping keeps the physical address also
 * where others are resolved, with the pid of whatever entry came before. What is what follows from
 * the set: its number is bits of the physical address, and below the page size of the virtual one
 * too. So the place in the page is found again, and physical addresses are distinguished from
 * virtual ones.
 *
 * An entry that is not valid is not written by the tool: what an older snapshot has put there
 * stays. Of two entries of a set that name the same line one must be such a leftover.
 */
#ifndef CF_DUMPCACHE_ENTRIES_H
#define CF_DUMPCACHE_ENTRIES_H

#include <stdint.h>

enum { CF_ENTRIES_MOST = 1 << 22, PAGE_BYTES = 4096, PID_UNKNOWN = 99999 };

/* No pid of Linux is larger, and no address of a process or of memory. */
enum { PID_MOST = 1 << 22, ADDRESS_BITS = 52 };

enum addresses {
    ADDRESSES_AUTO,
    ADDRESSES_PAGE,
    ADDRESSES_FULL,
    ADDRESSES_PHYSICAL,
    ADDRESSES_HALF
};
enum stale { STALE_NONE, STALE_TWICE, STALE_SAME };

struct entry {
    uint64_t addr; /* 0 and pid 0: none */
    uint32_t pid;
};

struct cf_entries {
    uint32_t sets, ways, line;
    const struct entry *now, *before; /* by set and then by way; before may be NULL */
    enum addresses addresses;
    enum stale stale;
    int keep_pids;
    /* Whether the process has a mapping there: 1, 0, -1 unknown. */
    int (*mapped)(void *arg, uint32_t pid, uint64_t addr);
    void *arg;
};

/* What came out: a line a row, and counts. */
struct cf_entries_line {
    uint64_t phys, addr; /* 0 not known */
    uint32_t set, way, pid;
    uint8_t state; /* not known to the tool: 0 */
};

struct cf_entries_count {
    uint32_t stale;     /* left out */
    uint32_t doubtful;  /* two entries of a set name one line, and which is old cannot be known */
    uint32_t same;      /* equal to what stood there in the snapshot before */
    uint32_t unfit;     /* address fits neither the set nor the kind of address */
    uint32_t placeless; /* their place in the page does not follow from their set */
    uint32_t guessed;   /* might be virtual or physical by all that is known */
};

/* Fills `lines` (room for sets times ways), returns how many. */
uint32_t cf_entries_lines(const struct cf_entries *e, struct cf_entries_line *lines,
                          struct cf_entries_count *count);

/* What ADDRESSES_AUTO takes the entries for. */
enum addresses cf_entries_kind(const struct cf_entries *e);

#endif
