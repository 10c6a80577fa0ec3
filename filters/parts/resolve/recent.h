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
    RECENT_BYTES = 64, /* a granule, of which one stretch is known */
    RECENT_BITS = 14,  /* binary logarithm of the entries */
};

struct recent_entry {
    uint64_t granule, layout; /* layout 0: empty */
    uint8_t first, last;      /* offsets in the granule, both included */
    uint32_t value[RECENT];
};

struct recent {
    struct recent_entry entry[1 << RECENT_BITS];
};

static inline struct recent_entry *recent_place(struct recent *r, uint64_t layout, uint64_t granule)
{
    return &r->entry[(granule + layout) * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];
}

/* An address that will be asked for: the table is larger than the first-level cache. */
static inline void recent_soon(struct recent *r, uint64_t layout, uint64_t addr)
{
    __builtin_prefetch(recent_place(r, layout, addr / RECENT_BYTES));
}

/* The entry that knows the address, NULL if none does. */
static inline const struct recent_entry *recent_find(struct recent *r, uint64_t layout,
                                                     uint64_t addr)
{
    const struct recent_entry *e = recent_place(r, layout, addr / RECENT_BYTES);
    const unsigned at = addr % RECENT_BYTES;

    return e->granule == addr / RECENT_BYTES && e->layout == layout && at >= e->first &&
                   at <= e->last
               ? e
               : NULL;
}

/* Keeps what holds for all of [first, last], which lie in one granule. */
void recent_keep(struct recent *r, uint64_t layout, uint64_t first, uint64_t last,
                 const uint32_t *value);
/* Nothing is known any more of addresses in [first, last]. */
void recent_forget(struct recent *r, uint64_t layout, uint64_t first, uint64_t last);

#endif
