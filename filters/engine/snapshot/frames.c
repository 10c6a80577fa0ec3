/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - page to frame and back, by two tables of slots (slots.h): one of virtual pages, with
 * the key of their process, and one of frames. Accesses stay on a page for a while and come back to
 * few, so the tables are asked only where a page is not among those used last, as in a TLB.
 */
#include <stdlib.h>

#include "filters/engine/snapshot/frames.h"
#include "filters/engine/rows/runs.h"
#include "filters/engine/rows/slots.h"

struct owner {
    uint64_t page; /* virtual, plus one; 0: no owner */
    uint32_t process;
};

enum { RECENT = 256 };

/* A recent page: all ones for none, which is no page. */
struct recent {
    uint64_t page, base;
};

struct cf_frames {
    enum cf_frame_order order;
    unsigned shift, bits;
    uint64_t seed;
    uint32_t count;                             /* frames given */
    uint32_t colour[1 << CF_FRAME_COLOUR_BITS]; /* of each colour */
    uint32_t process;                           /* of the recent pages */
    struct recent recent[RECENT];
    struct cf_slots *pages, *frames;
    uint64_t *frame; /* by slot of a page: its frame plus one */
    uint32_t frame_room;
    struct owner *owner; /* by slot of a frame */
    uint32_t owner_room;
};

static void forget(struct cf_frames *f, uint32_t process)
{
    f->process = process;
    for (int i = 0; i < RECENT; i++)
        f->recent[i].page = UINT64_MAX;
}

struct cf_frames *cf_frames_new(enum cf_frame_order order, unsigned page_shift, unsigned bits,
                                uint64_t seed)
{
    struct cf_frames *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->order = order;
    f->shift = page_shift;
    f->bits = bits;
    f->seed = seed;
    forget(f, 0);
    f->pages = cf_slots_new();
    f->frames = cf_slots_new();
    if (!f->pages || !f->frames) {
        cf_frames_free(f);
        return NULL;
    }
    return f;
}

void cf_frames_free(struct cf_frames *f)
{
    if (!f)
        return;
    if (f->pages)
        cf_slots_free(f->pages);
    if (f->frames)
        cf_slots_free(f->frames);
    free(f->frame);
    free(f->owner);
    free(f);
}

uint32_t cf_frames_count(const struct cf_frames *f)
{
    return f->count;
}

/* A permutation of the numbers of `bits` bits: each step can be undone. */
static uint64_t shuffle(const struct cf_frames *f, uint64_t x)
{
    const uint64_t mask = ((uint64_t)1 << f->bits) - 1;
    const unsigned half = f->bits / 2;
    uint64_t key = f->seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;

    for (int i = 0; i < 4; i++) {
        x = (x + key) & mask;
        x = x * ((key >> 16) | 1) & mask;
        x ^= x >> half;
        key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
    }
    return x;
}

/* A frame for a page: 0, or 1 where none is left. */
static int give(struct cf_frames *f, uint64_t page, uint64_t *frame)
{
    const uint64_t all = (uint64_t)1 << f->bits;

    if (f->order == CF_FRAMES_COLOURED) {
        const uint64_t colours = (uint64_t)1 << CF_FRAME_COLOUR_BITS;
        uint32_t *n = &f->colour[page % colours];

        if (*n == all / colours)
            return 1;
        *frame = *n * colours + page % colours;
        ++*n;
    } else {
        if (f->count == all)
            return 1;
        *frame = f->order == CF_FRAMES_RANDOM ? shuffle(f, f->count) : f->count;
    }
    *frame += all;
    f->count++;
    return 0;
}

/* Page `page` of a process has this frame. */
static int own(struct cf_frames *f, uint32_t process, uint64_t page, uint64_t frame)
{
    uint32_t slot;

    if (cf_slots_find(f->frames, &frame, 1, &slot) != 0 ||
        cf_slots_array(f->frames, (void **)&f->owner, &f->owner_room, sizeof *f->owner) != 0)
        return -1;
    f->owner[slot] = (struct owner){page + 1, process};
    return 0;
}

static int find(struct cf_frames *f, uint32_t process, uint64_t page, uint32_t *slot)
{
    const uint64_t key = page ^ cf_space_key(process);

    if (cf_slots_find(f->pages, &key, 1, slot) != 0 ||
        cf_slots_array(f->pages, (void **)&f->frame, &f->frame_room, sizeof *f->frame) != 0)
        return -1;
    return 0;
}

int64_t cf_frames_place(struct cf_frames *f, uint32_t process, const uint64_t *addr, uint32_t rows,
                        uint64_t *phys)
{
    const uint64_t inside = ((uint64_t)1 << f->shift) - 1;

    if (process != f->process)
        forget(f, process);
    for (uint32_t i = 0; i < rows;) {
        const uint64_t page = addr[i] >> f->shift;
        struct recent *r = &f->recent[page % RECENT];
        uint32_t slot;

        if (r->page == page) {
            do
                phys[i] = r->base | (addr[i] & inside);
            while (++i < rows && addr[i] >> f->shift == page);
            continue;
        }
        if (find(f, process, page, &slot) != 0)
            return -1;
        if (!f->frame[slot]) {
            uint64_t frame;

            if (give(f, page, &frame) != 0)
                return i;
            if (own(f, process, page, frame) != 0)
                return -1;
            f->frame[slot] = frame + 1;
        }
        *r = (struct recent){page, (f->frame[slot] - 1) << f->shift};
    }
    return rows;
}

int cf_frames_learn(struct cf_frames *f, uint32_t process, const uint64_t *addr,
                    const uint64_t *phys, uint32_t rows)
{
    for (uint32_t i = 0; i < rows;) {
        const uint64_t page = addr[i] >> f->shift, frame = phys[i] >> f->shift;
        uint32_t slot;

        if (cf_slots_find(f->frames, &frame, 1, &slot) != 0 ||
            cf_slots_array(f->frames, (void **)&f->owner, &f->owner_room, sizeof *f->owner) != 0)
            return -1;
        f->count += !f->owner[slot].page;
        f->owner[slot] = (struct owner){page + 1, process};
        while (++i < rows && addr[i] >> f->shift == page && phys[i] >> f->shift == frame)
            ;
    }
    return 0;
}

int cf_frames_owner(struct cf_frames *f, uint64_t phys, uint32_t *process, uint64_t *addr)
{
    const uint64_t frame = phys >> f->shift;
    uint32_t slot;

    /* a frame that was never given gets a slot here, without an owner */
    if (cf_slots_find(f->frames, &frame, 1, &slot) != 0 || slot >= f->owner_room ||
        !f->owner[slot].page)
        return 0;
    *process = f->owner[slot].process;
    *addr = (f->owner[slot].page - 1) << f->shift | (phys & (((uint64_t)1 << f->shift) - 1));
    return 1;
}
