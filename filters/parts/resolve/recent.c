/* SPDX-License-Identifier: BSD-2-Clause */
/* recent.c - what the last accesses found, by place. */
#include <string.h>

#include "filters/parts/resolve/recent.h"

void recent_keep(struct recent *r, uint64_t layout, uint64_t first, uint64_t last,
                 const uint32_t *value)
{
    struct recent_entry *e = &r->entry[recent_index(layout, first / RECENT_BYTES)];

    e->granule = first / RECENT_BYTES;
    e->layout = layout;
    e->first = first % RECENT_BYTES;
    e->last = last % RECENT_BYTES;
    e->has = recent_has(value);
    memcpy(e->value, value, sizeof e->value);
}

void recent_forget(struct recent *r, uint64_t layout, uint64_t first, uint64_t last)
{
    const uint64_t from = first / RECENT_BYTES, to = last / RECENT_BYTES;

    for (uint64_t i = 0; i <= to - from && i < 1 << RECENT_BITS; i++) {
        /* of more granules than entries: all entries */
        struct recent_entry *e =
            &r->entry[to - from < 1 << RECENT_BITS ? recent_index(layout, from + i) : i];

        if (e->layout == layout && e->granule >= from && e->granule <= to)
            e->layout = 0;
    }
}
