/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals_parts.h - the state of a set of address ranges. See intervals.c for the algorithm.
 */
#ifndef CF_INTERVALS_PARTS_H
#define CF_INTERVALS_PARTS_H

#include "filters/engine/rows/intervals.h"

enum {
    BLOCK = 128,    /* starts in a block: one insertion moves half a kilobyte on average */
    KEYS = 1 << 10, /* hints by key */
};

struct block {
    uint64_t start[BLOCK];
    uint32_t slot[BLOCK];
    uint32_t count;
};

struct cf_intervals {
    struct cf_interval *slots;
    uint32_t slots_used, slots_room; /* used: ever given out, with slot 0 */
    uint32_t free_slot;              /* list through `prev`, 0 ends it */
    uint32_t count;

    uint64_t *first; /* start of each block's first range, ascending */
    uint32_t *order; /* the block */
    uint32_t blocks, blocks_room;
    struct block *pool;
    uint32_t *home; /* of each slot in use: its block, as index in the pool */
    uint32_t pool_used, pool_room;
    uint32_t free_block; /* index + 1, list through `count` */

    uint32_t *near;   /* slot by address; made when it pays */
    uint32_t *recent; /* slot by key; behind `near` in one piece of memory */
    unsigned near_bits, shift;
    uint32_t near_enough; /* more ranges than this deserve more hints */
};

/* A slot out of use holds no address, and being its own neighbour proves nothing. */
static inline void slot_vacate(struct cf_intervals *v, uint32_t slot)
{
    v->slots[slot] = (struct cf_interval){.start = 1, .last = 0, .next = slot};
}

#endif
