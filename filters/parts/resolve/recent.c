/* SPDX-License-Identifier: BSD-2-Clause */
/* recent.c - what the last accesses found, by place. */
#include <string.h>

#include "filters/parts/resolve/recent.h"

void recent_keep(struct recent *r, uint64_t layout, uint64_t first, uint64_t last,
                 const uint32_t *value)
{
    struct recent_entry *e = recent_at(r, layout, first);

    e->first = first;
    e->holds = layout * RECENT_BYTES + (last - first);
    memcpy(e->value, value, sizeof e->value);
}

void recent_forget(struct recent *r, uint64_t layout, uint64_t first, uint64_t last)
{
    const uint64_t from = first / RECENT_BYTES, to = last / RECENT_BYTES;

    for (uint64_t i = 0; i <= to - from && i < 1 << RECENT_BITS; i++) {
        /* of more granules than entries: all entries */
        struct recent_entry *e = to - from < 1 << RECENT_BITS
                                     ? recent_at(r, layout, first + i * RECENT_BYTES)
                                     : &r->entry[i];

        if (e->holds / RECENT_BYTES == layout && e->first <= last &&
            first <= e->first + e->holds % RECENT_BYTES)
            e->holds = 0;
    }
}
