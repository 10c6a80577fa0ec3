/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to the resolver: the page frames of a snapshot and their mappings, which resolve.c keeps
 * and walk.c finds.
 */
#ifndef CACHEFLOW_RESOLVE_H
#define CACHEFLOW_RESOLVE_H

#include <linux/hash.h>

#include "shutter.h"

#define RESOLVER_NONE U32_MAX

struct frame {
    u64 pfn;
    u32 first, last; /* of its mappings, RESOLVER_NONE at first */
    u32 count;
};

struct mapping {
    u64 virt; /* of the page */
    u32 pid;
    u32 flags; /* CACHEFLOW_OWNER_FILE, _EXEC */
    u32 next;
};

struct resolver {
    u32 lines_max;
    u32 slots; /* a power of two, over twice as many as frames can be */
    u32 frames_used, mappings_used, mappings_room;
    u32 *table; /* slot to frame, or RESOLVER_NONE */
    struct frame *frames;
    u32 *frame_of; /* line to frame */
    struct mapping *mappings;
    bool addresses; /* the caller may see those of the kernel */
};

/* The slot that holds the frame or is free for it. */
static inline u32 resolver_slot(const struct resolver *r, u64 pfn)
{
    u32 slot = (u32)hash_64(pfn, 32) & (r->slots - 1);

    while (r->table[slot] != RESOLVER_NONE && r->frames[r->table[slot]].pfn != pfn)
        slot = (slot + 1) & (r->slots - 1);
    return slot;
}

/* ---- resolve.c ---- */

/* What the kernel keeps of a frame; NULL where it has no memory, or keeps nothing of it: a memory
   that is there and not in use has frame numbers that look valid and nothing behind them. */
struct page *resolver_page(u64 pfn);

/* Room for `more` mappings; without it, mappings are counted and not kept. May sleep. */
void resolver_room(struct resolver *r, u32 more);

/* A process has mapped the frame of this index. */
void resolver_note(struct resolver *r, u32 index, u64 virt, u32 pid, u32 flags);

/* ---- walk.c ---- */

/* Notes the mappings of all processes. 0; -ENOMEM; -EINTR when the caller is being killed. */
int resolver_walk(struct resolver *r);

#endif
