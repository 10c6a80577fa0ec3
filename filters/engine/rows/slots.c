/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.c - line to slot: a hash of regions with open addressing and linear probing, at most a
 * quarter full so that hardly a lookup needs a second probe, which cannot be predicted; and for
 * each region the numbers of its pages.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/rows/slots.h"

enum { PAGES = 64, REGION_BITS = 12 /* log2 of the lines in a region */, FIRST_BITS = 8, FAR = 16 };

struct entry {
    uint64_t region;
    uint64_t number; /* from 1 in order of appearance; 0 = free entry */
};

struct cf_slots {
    struct entry *table;
    unsigned shift; /* 64 - log2 of the entries */
    uint64_t factor;
    int is_new_factor; /* since the table has this size */
    uint32_t *page;    /* of region number n, from element (n - 1) * PAGES: numbers of its pages,
                          likewise from 1, 0 = none yet */
    size_t room;       /* regions that have elements in `page` */
    uint32_t regions;
    uint32_t pages;
};

/* 2^64 divided by the golden ratio (D. E. Knuth, "The Art of Computer Programming" 3, section 6.4),
   and what makes the next factor of one. */
static const uint64_t first_factor = 0x9e3779b97f4a7c15, next_factor = 0xd1342543de82ef95;

/* By the upper bits of a product: regions that follow each other never meet. Those at some strides
   do, and then another factor serves, on which they hardly do again. */
static inline size_t home(const struct cf_slots *s, uint64_t region)
{
    return region * s->factor >> s->shift;
}

static int rebuild(struct cf_slots *s, unsigned shift, uint64_t factor)
{
    const struct cf_slots new = {
        .table = calloc((size_t)1 << (64 - shift), sizeof(*new.table)),
        .shift = shift,
        .factor = factor,
    };
    const size_t mask = ((size_t)1 << (64 - shift)) - 1, entries = (size_t)1 << (64 - s->shift);

    if (!new.table)
        return -1;
    for (size_t i = 0; i < entries; i++) {
        size_t k = home(&new, s->table[i].region);

        if (!s->table[i].number)
            continue;
        while (new.table[k].number)
            k = (k + 1) & mask;
        new.table[k] = s->table[i];
    }
    free(s->table);
    s->table = new.table;
    s->shift = shift;
    s->factor = factor;
    return 0;
}

struct cf_slots *cf_slots_new(void)
{
    struct cf_slots *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->shift = 64 - FIRST_BITS;
    s->factor = first_factor;
    s->table = calloc((size_t)1 << FIRST_BITS, sizeof(*s->table));
    if (!s->table) {
        free(s);
        return NULL;
    }
    return s;
}

void cf_slots_free(struct cf_slots *s)
{
    if (!s)
        return;
    free(s->table);
    free(s->page);
    free(s);
}

uint32_t cf_slots_count(const struct cf_slots *s)
{
    return s->pages * CF_SLOTS_PAGE;
}

/* The entry of a region, or the free one where it belongs. */
static inline size_t place(const struct cf_slots *s, uint64_t region)
{
    const size_t mask = ((size_t)1 << (64 - s->shift)) - 1;
    size_t k = home(s, region);

    while (s->table[k].region != region && s->table[k].number)
        k = (k + 1) & mask;
    return k;
}

static int new_region(struct cf_slots *s, uint64_t region, uint32_t *number)
{
    size_t k;

    if (cf_array_cleared(&s->page, &s->room, s->regions + (size_t)1, PAGES * sizeof(*s->page)) != 0)
        return -1;
    if (s->regions >= (size_t)1 << (62 - s->shift)) {
        if (rebuild(s, s->shift - 1, s->factor) != 0)
            return -1;
        s->is_new_factor = 0;
    }
    k = place(s, region);
    /* once for each size of the table, so that no input makes this costly */
    if (((k - home(s, region)) & (((size_t)1 << (64 - s->shift)) - 1)) > FAR && !s->is_new_factor) {
        if (rebuild(s, s->shift, s->factor * next_factor) != 0)
            return -1;
        s->is_new_factor = 1;
        k = place(s, region);
    }
    *number = ++s->regions;
    s->table[k] = (struct entry){.region = region, .number = *number};
    return 0;
}

/* One line; -1 without memory. */
static int find(struct cf_slots *s, uint64_t line, uint32_t *slot)
{
    const uint64_t region = line >> REGION_BITS;
    uint32_t number = (uint32_t)s->table[place(s, region)].number, *page;

    if (__builtin_expect(!number, 0) && new_region(s, region, &number) != 0)
        return -1;
    page = &s->page[(size_t)(number - 1) * PAGES + line / CF_SLOTS_PAGE % PAGES];
    if (__builtin_expect(!*page, 0)) {
        if (s->pages >= CF_SLOTS_MOST / CF_SLOTS_PAGE)
            return -1;
        *page = ++s->pages;
    }
    *slot = (*page - 1) * CF_SLOTS_PAGE + (uint32_t)(line % CF_SLOTS_PAGE);
    return 0;
}

int cf_slots_find(struct cf_slots *s, const uint64_t *line, size_t count, uint32_t *slot)
{
    for (size_t i = 0; i < count; i++)
        if (find(s, line[i], &slot[i]) != 0)
            return -1;
    return 0;
}

int cf_slots_array(const struct cf_slots *s, void **array, uint32_t *room, size_t width)
{
    uint32_t want = cf_slots_count(s), more = *room ? *room : 16 * CF_SLOTS_PAGE;
    const size_t old = *room * width;
    void *p;

    if (want <= *room)
        return 0;
    while (more < want)
        more *= 2; /* at most CF_SLOTS_MOST */
    p = cf_memory_take(more * width);
    if (!p)
        return -1;
    if (old)
        memcpy(p, *array, old);
    memset((char *)p + old, 0, more * width - old);
    free(*array);
    *array = p;
    *room = more;
    return 0;
}
