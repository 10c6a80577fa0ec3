/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - page to frame and back. Accesses stay on a page for a while and come back to few, so
 * the tables are asked only where a page is not among those used last, as in a TLB.
 */
#include <stdlib.h>

#include "filters/engine/snapshot/frames.h"
#include "formats/base/cf_memory.h"
#include "filters/engine/rows/counts.h"

struct owner {
    uint64_t page;
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
    struct cf_counts *frame; /* plus one, by process and page */
    struct cf_counts *known; /* place + 1 of a frame in `owner` */
    struct owner *owner;
    size_t owners, room;
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
    f->frame = cf_counts_new();
    f->known = cf_counts_new();
    if (!f->frame || !f->known) {
        cf_frames_free(f);
        return NULL;
    }
    return f;
}

void cf_frames_free(struct cf_frames *f)
{
    if (!f)
        return;
    cf_counts_free(f->frame);
    cf_counts_free(f->known);
    free(f->owner);
    free(f);
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
    uint64_t *at = cf_counts_at(f->known, 0, frame);

    if (!at || cf_array_room(&f->owner, &f->room, f->owners + 1, sizeof *f->owner) != 0)
        return -1;
    if (!*at)
        *at = ++f->owners;
    f->owner[*at - 1] = (struct owner){page, process};
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
        uint64_t *known, frame;

        if (r->page == page) {
            do
                phys[i] = r->base | (addr[i] & inside);
            while (++i < rows && addr[i] >> f->shift == page);
            continue;
        }
        known = cf_counts_at(f->frame, process, page);
        if (!known)
            return -1;
        if (!*known) {
            if (give(f, page, &frame) != 0)
                return i;
            if (own(f, process, page, frame) != 0)
                return -1;
            *known = frame + 1;
        }
        *r = (struct recent){page, (*known - 1) << f->shift};
    }
    return rows;
}

int cf_frames_learn(struct cf_frames *f, uint32_t process, const uint64_t *addr,
                    const uint64_t *phys, uint32_t rows)
{
    for (uint32_t i = 0; i < rows;) {
        const uint64_t page = addr[i] >> f->shift, frame = phys[i] >> f->shift;

        if (own(f, process, page, frame) != 0)
            return -1;
        f->count = (uint32_t)f->owners;
        while (++i < rows && addr[i] >> f->shift == page && phys[i] >> f->shift == frame)
            ;
    }
    return 0;
}

int cf_frames_owner(struct cf_frames *f, uint64_t phys, uint32_t *process, uint64_t *addr)
{
    const uint64_t at = cf_counts_get(f->known, 0, phys >> f->shift);

    if (!at)
        return 0;
    *process = f->owner[at - 1].process;
    *addr = f->owner[at - 1].page << f->shift | (phys & (((uint64_t)1 << f->shift) - 1));
    return 1;
}
