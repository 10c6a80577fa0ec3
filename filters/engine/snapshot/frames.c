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

/* Some of the colours. */
struct set {
    uint32_t *colour;
    uint32_t count;
    uint32_t next; /* in the sequential order: the place of the next one */
};

struct cf_frames {
    enum cf_frame_order order;
    unsigned shift, bits;
    uint64_t seed;
    uint32_t count;                             /* frames given */
    uint32_t colour[1 << CF_FRAME_COLOUR_BITS]; /* of each colour */
    uint32_t colours;                           /* 0: pages are kept to none */
    uint32_t *given;                            /* frames, of each */
    struct set *set;
    size_t sets, set_room;
    cf_frames_chooser *choose;
    void *chooser;
    uint32_t process; /* of the recent pages */
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
    for (size_t i = 0; i < f->sets; i++)
        free(f->set[i].colour);
    free(f->set);
    free(f->given);
    free(f);
}

/* ---- colours ---- */

static unsigned add_set(struct cf_frames *f, const uint32_t *colour, uint32_t count)
{
    struct set *s;

    if (cf_array_room(&f->set, &f->set_room, f->sets + 1, sizeof *f->set) != 0)
        return 0;
    s = &f->set[f->sets];
    *s = (struct set){.colour = malloc(count * sizeof *s->colour), .count = count};
    if (!s->colour)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        s->colour[i] = colour ? colour[i] : i;
    return (unsigned)++f->sets;
}

int cf_frames_colours(struct cf_frames *f, uint32_t colours)
{
    f->given = calloc(colours, sizeof *f->given);
    f->colours = colours;
    return f->given && add_set(f, NULL, colours) ? 0 : -1;
}

unsigned cf_frames_set(struct cf_frames *f, const uint32_t *colour, uint32_t count)
{
    const unsigned n = add_set(f, colour, count);

    return n ? n - 1 : 0;
}

void cf_frames_choose(struct cf_frames *f, cf_frames_chooser *choose, void *arg)
{
    f->choose = choose;
    f->chooser = arg;
}

/* ---- frames ---- */

/* A permutation of the numbers of `bits` bits: each step can be undone. */
static uint64_t shuffle(const struct cf_frames *f, unsigned bits, uint64_t x)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    const unsigned half = bits < 2 ? 1 : bits / 2;
    uint64_t key = f->seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;

    for (int i = 0; i < 4; i++) {
        x = (x + key) & mask;
        x = x * ((key >> 16) | 1) & mask;
        x ^= x >> half;
        key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
    }
    return x;
}

/* A number that looks random, of the seed, process and page. */
static uint64_t draw(const struct cf_frames *f, uint32_t process, uint64_t page)
{
    uint64_t x = f->seed * 0x9e3779b97f4a7c15u + process;

    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u + page;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

/* The n-th frame of a colour, of `each`, in the random order: the permutation is of the next power
   of two, and goes on from what lies beyond `each` until it comes back. */
static uint64_t nth_of_colour(const struct cf_frames *f, uint64_t each, uint64_t n)
{
    const unsigned bits = each > 1 ? 64 - (unsigned)__builtin_clzll(each - 1) : 0;

    do
        n = shuffle(f, bits, n);
    while (n >= each);
    return n;
}

/* A frame for a page of a set of colours: 0, or 1 where none is left. */
static int give_colour(struct cf_frames *f, struct set *s, uint32_t process, uint64_t page,
                       uint64_t *frame)
{
    const uint64_t all = (uint64_t)1 << f->bits, each = all / f->colours;
    const uint64_t start = f->order == CF_FRAMES_RANDOM     ? draw(f, process, page)
                           : f->order == CF_FRAMES_COLOURED ? page
                                                            : s->next;
    uint32_t tried = 0, colour;
    uint64_t n;

    do {
        if (tried == s->count)
            return 1;
        colour = s->colour[(start % s->count + tried++) % s->count];
    } while (f->given[colour] == each);
    s->next = (s->next + tried) % s->count;
    n = f->given[colour]++;
    if (f->order == CF_FRAMES_RANDOM)
        n = nth_of_colour(f, each, n);
    /* frames are counted from `all` on, whose colour need not be 0 */
    *frame = all + n * f->colours + (colour + f->colours - all % f->colours) % f->colours;
    f->count++;
    return 0;
}

/* A frame for a page: 0, or 1 where none is left. */
static int give(struct cf_frames *f, uint32_t process, uint64_t page, uint32_t row, uint64_t *frame)
{
    const uint64_t all = (uint64_t)1 << f->bits;

    if (f->colours) {
        const unsigned set = f->choose ? f->choose(f->chooser, row) : 0;

        return give_colour(f, &f->set[set], process, page, frame);
    }
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
        *frame = f->order == CF_FRAMES_RANDOM ? shuffle(f, f->bits, f->count) : f->count;
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
            if (give(f, process, page, i, &frame) != 0)
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
