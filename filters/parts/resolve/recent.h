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
    uint8_t has;              /* bit k: value[k] is not 0 */
    uint32_t value[RECENT];
};

struct recent {
    struct recent_entry entry[1 << RECENT_BITS];
};

static inline uint32_t recent_index(uint64_t layout, uint64_t granule)
{
    return (uint32_t)((granule + layout) * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS));
}

/* Bits of those of RECENT values that are not 0. */
static inline uint8_t recent_has(const uint32_t *value)
{
    unsigned has = 0;

    for (unsigned k = 0; k < RECENT; k++)
        has |= (unsigned)(value[k] != 0) << k;
    return (uint8_t)has;
}

/* Whether the entry at the address's index knows it. */
static inline int recent_knows(const struct recent_entry *e, uint64_t layout, uint64_t addr)
{
    const unsigned at = addr % RECENT_BYTES;

    return !((e->granule ^ addr / RECENT_BYTES) | (e->layout ^ layout) | (at < e->first) |
             (at > e->last));
}

/* Keeps what holds for all of [first, last], which lie in one granule. */
void recent_keep(struct recent *r, uint64_t layout, uint64_t first, uint64_t last,
                 const uint32_t *value);
/* Nothing is known any more of addresses in [first, last]. */
void recent_forget(struct recent *r, uint64_t layout, uint64_t first, uint64_t last);

#endif
