/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat_parts.h - private to count.c, map.c and heat_part.c: what has been counted, in counters of
 * the current bin and in cells of the others.
 */
#ifndef CF_HEATMAP_HEAT_PARTS_H
#define CF_HEATMAP_HEAT_PARTS_H

#include "formats/base/cf_number.h"
#include "filters/engine/rows/counts.h"
#include "filters/heat/heat.h"

enum {
    CHUNK_SHIFT = 6,
    CHUNK = 1 << CHUNK_SHIFT,
    SLAB_SHIFT = 8, /* chunks allocated together */
    RECENT_SHIFT = 10,
    FINER = 4,
    FOLD_CELLS = 1 << 26,
};

#define UNRESOLVED (1ull << 63) /* in a key: no region, the page number is address / 4096 */
#define HIGH_PART  (1u << 31)   /* in a cell's page: the amount counts 2^32 */
#define NOWHERE    UINT64_MAX   /* no key */

struct cell {
    uint32_t page; /* chunk * CHUNK + page in it */
    uint32_t amount;
};

struct bin {
    struct cell *cell;
    size_t cells, room;
    size_t merged; /* cells after the last time that each page had one only */
};

struct chunk {
    uint64_t key;
    uint8_t dirty;   /* stands in the list of chunks that the current bin touched */
    uint8_t ignored; /* its region is filtered out */
};

struct recent {
    uint64_t key;
    uint64_t *live;
};

struct heat {
    const struct cf_tool *tool;
    struct recent recent[1 << RECENT_SHIFT];
    uint16_t chosen[HEAT_SLICE];
    /* the current bin, as times */
    uint64_t low, span;
    int inside; /* there is a current bin */
    size_t current;
    /* bins */
    struct bin *bin;
    size_t used, room, most;
    uint64_t base; /* number of bin[0], counted in its width from time 0 or the origin */
    unsigned shift;
    uint32_t wanted;
    uint64_t width, origin;                   /* width 0: adaptive */
    uint64_t cells, most_cells, joined_cells; /* the most ever; those of parts */
    uint64_t bound;                           /* of cells of the finished map, 0 = none */
    /* chunks; what is filtered out is counted in the first, which is not read */
    struct chunk *chunk;
    uint64_t **slab;
    uint32_t *dirty;
    uint32_t chunks, dirties;
    size_t chunk_room, slab_room, dirty_room;
    struct cf_counts *number; /* of the chunk of a key, plus one */
    int (*filter)(void *, uint32_t);
    void *filter_arg;
};

/* The counters of a chunk. */
static inline uint64_t *live_of(const struct heat *h, uint32_t chunk)
{
    return h->slab[chunk >> SLAB_SHIFT] + (size_t)(chunk & ((1u << SLAB_SHIFT) - 1)) * CHUNK;
}

/* The counter of a cell's page, and what the cell counts. */
static inline uint64_t *counter_of(const struct heat *h, const struct cell *c)
{
    const uint32_t page = c->page & ~HIGH_PART;

    return live_of(h, page >> CHUNK_SHIFT) + (page & (CHUNK - 1));
}

static inline uint64_t amount_of(const struct cell *c)
{
    return (uint64_t)c->amount << (c->page & HIGH_PART ? 32 : 0);
}

static inline uint32_t region_of(uint64_t key)
{
    return key & UNRESOLVED ? 0 : (uint32_t)(key >> (32 - CHUNK_SHIFT));
}

/* Moves the counters into the cells of a bin. */
void heat_flush(struct heat *h, struct bin *b);

/* Merges `from`[0..count) into one bin, whose place may be one of them; by the counters, which must
   be empty. */
void heat_merge(struct heat *h, struct bin *to, struct bin *from, size_t count);

void heat_free_bins(struct heat *h);

/* Makes the bin of a time the current one. -1 where that are too many. */
int heat_enter(struct heat *h, uint64_t time);

/* Doubles the width of the bins. The counters are empty when it is called. */
void heat_fold(struct heat *h);

#endif
