/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.c - line to slot: a number for each region, and for each region the numbers of its pages. A
 * direct-mapped cache of recent regions comes before the table of all.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "filters/engine/rows/counts.h"
#include "filters/engine/rows/slots.h"

enum { PAGES = 64, REGION_BITS = 12 /* log2 of the lines in a region */, RECENT = 256 };

struct cf_slots {
    struct {
        uint64_t region;
        uint64_t number; /* 0: not known */
    } recent[RECENT];
    struct cf_counts *number; /* of a region, from 1 in order of appearance */
    uint32_t *page; /* of region number n, from element (n - 1) * PAGES: numbers of its pages,
                       likewise from 1, 0 = none yet */
    size_t room;    /* regions that have elements in `page` */
    uint32_t regions;
    uint32_t pages;
};

struct cf_slots *cf_slots_new(void)
{
    struct cf_slots *s = calloc(1, sizeof(*s));

    if (s && !(s->number = cf_counts_new())) {
        free(s);
        s = NULL;
    }
    return s;
}

void cf_slots_free(struct cf_slots *s)
{
    if (!s)
        return;
    cf_counts_free(s->number);
    free(s->page);
    free(s);
}

static int new_region(struct cf_slots *s, uint64_t region, uint32_t *number)
{
    uint64_t *at = cf_counts_at(s->number, 0, region);

    if (!at ||
        cf_array_cleared(&s->page, &s->room, s->regions + (size_t)1, PAGES * sizeof(*s->page)) != 0)
        return -1;
    *at = *number = ++s->regions;
    return 0;
}

/* One line; -1 without memory. */
static int find(struct cf_slots *s, uint64_t line, uint32_t *slot)
{
    const uint64_t region = line >> REGION_BITS;
    const size_t place = region % RECENT;
    uint32_t number = (uint32_t)s->recent[place].number, *page;

    if (__builtin_expect(!number || s->recent[place].region != region, 0)) {
        number = (uint32_t)cf_counts_get(s->number, 0, region);
        if (!number && new_region(s, region, &number) != 0)
            return -1;
        s->recent[place].region = region;
        s->recent[place].number = number;
    }
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

uint32_t cf_slots_count(const struct cf_slots *s)
{
    return s->pages * CF_SLOTS_PAGE;
}

int cf_slots_array(uint32_t want, void **array, uint32_t *room, size_t width)
{
    uint32_t more = *room ? *room : 16 * CF_SLOTS_PAGE;
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
