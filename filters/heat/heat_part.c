/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat_part.c - what was counted of a part of a recording, and joining that.
 *
 * Adaptive bins begin at multiples of their width, which is the least with which the time fits: so
 * a bin of a part lies in one of the whole. That holds unless cells were so many that bins got
 * wider for their sake (FOLD_CELLS), at a moment that depends on the order of the rows: where the
 * parts together had half as many at most, that cannot have been; a bin that the time comes back
 * to counts some of its cells twice.
 */
#include "filters/heat/heat_parts.h"

/* The current bin becomes one as the others. */
static void leave(struct heat *h)
{
    if (h->inside)
        heat_flush(h, &h->bin[h->current]);
    h->inside = 0;
}

static uint64_t begin_of(const struct heat *h, size_t bin)
{
    return h->width ? h->origin + (h->base + bin) * h->width : (h->base + bin) << h->shift;
}

struct heat_bins heat_bins_of(struct heat *h)
{
    struct heat_bins b;

    leave(h);
    b = (struct heat_bins){.shift = h->shift, .any = h->used > 0, .cells = h->most_cells};
    if (b.any) {
        b.first = begin_of(h, 0);
        b.last = begin_of(h, h->used - 1);
    }
    return b;
}

void heat_cells(struct heat *h,
                void (*take)(void *arg, uint32_t region, uint64_t page, uint64_t time,
                             uint64_t amount),
                void *arg)
{
    leave(h);
    for (size_t b = 0; b < h->used; b++)
        for (size_t i = 0; i < h->bin[b].cells; i++) {
            const struct cell *cell = &h->bin[b].cell[i];
            const uint32_t place = cell->page & ~HIGH_PART;
            const uint64_t key = h->chunk[place >> CHUNK_SHIFT].key;
            uint64_t page = ((key & ~UNRESOLVED) << CHUNK_SHIFT) + (place & (CHUNK - 1));

            if (!(key & UNRESOLVED))
                page = (uint32_t)page;
            take(arg, region_of(key), page, begin_of(h, b), amount_of(cell));
        }
}

int heat_join(struct heat *h, const struct heat_bins *part)
{
    leave(h);
    h->joined_cells = cf_sum(h->joined_cells, part->cells);
    if (!h->width && h->joined_cells > FOLD_CELLS / 2)
        return 1;
    if (part->any && h->width && part->first < h->origin)
        return -1;
    while (!h->width && h->shift < part->shift) {
        if (h->used)
            heat_fold(h);
        else
            h->shift++;
    }
    if (!part->any)
        return 0;
    return heat_enter(h, part->first) || heat_enter(h, part->last) ? -1 : 0;
}
