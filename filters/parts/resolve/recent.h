/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent.h - what the last accesses found, by place: mapping, page, object, allocation site and
 * variable of a stretch of addresses in a process. Most accesses fall where another one just fell.
 *
 * Memory: fixed. An entry says for which addresses of its granule it holds, and for which layout of
 * the process's mappings; what changes in the heap is forgotten by address.
 */
#ifndef CF_RESOLVE_RECENT_H
#define CF_RESOLVE_RECENT_H

#include <stddef.h>
#include <stdint.h>

enum recent_column {
    RECENT_REGION,
    RECENT_PAGE,
    RECENT_OBJECT,
    RECENT_SITE,
    RECENT_SYMBOL,
    RECENT
};

enum {
    RECENT_BYTES = 256, /* a granule, of which one stretch is known */
    RECENT_BITS = 14,   /* binary logarithm of the entries */
};

/* One cache line, of which the values of several rows are loaded at once. */
struct recent_entry {
    _Alignas(64) uint64_t first;
    uint64_t holds; /* layout * RECENT_BYTES + bytes after the first; 0: empty */
    uint32_t value[RECENT];
};

struct recent {
    struct recent_entry entry[1 << RECENT_BITS];
};

/* The only entry that may know the address. */
static inline struct recent_entry *recent_at(struct recent *r, uint64_t layout, uint64_t addr)
{
    const uint64_t place = (addr + layout * RECENT_BYTES) / RECENT_BYTES * 0x9e3779b97f4a7c15u;

    return &r->entry[place >> (64 - RECENT_BITS)];
}

/* Whether it does. */
static inline int recent_knows(const struct recent_entry *e, uint64_t layout, uint64_t addr)
{
    const uint64_t after = e->holds ^ layout * RECENT_BYTES;

    return after < RECENT_BYTES && addr - e->first <= after;
}

/* Keeps what holds for all of [first, last], which lie in one granule. */
void recent_keep(struct recent *r, uint64_t layout, uint64_t first, uint64_t last,
                 const uint32_t *value);
/* Nothing is known any more of addresses in [first, last]. */
void recent_forget(struct recent *r, uint64_t layout, uint64_t first, uint64_t last);

#endif
