/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allassoc.c - misses of every associativity in one pass (see allassoc.h): the lists, made and
 * freed, and the counts; how references move in them is in allassoc_simd.c.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/allassoc_parts.h"

static void *all_ones(size_t bytes)
{
    void *p;

    bytes = (bytes + 63) / 64 * 64;
    p = aligned_alloc(64, bytes);
    return p ? memset(p, 0xff, bytes) : NULL;
}

/* Empty lists of names; for the most sets that share names, those of the empty ways. `fewest` are
   the fewest that do: as they divide the others, two sets whose lines meet in a set of a smaller
   number differ when divided by that, so that lines with one name never meet. -1 without memory. */
static int make_names(struct cf_allassoc_sets *s, uint32_t room, uint32_t fewest, int most)
{
    const size_t count = (size_t)s->sets * room;

    s->name = all_ones(count * sizeof(*s->name));
    if (!s->name)
        return -1;
    if (!most)
        return 0;
    s->way = all_ones(count * sizeof(*s->way));
    s->tag = all_ones(count * sizeof(*s->tag));
    if (!s->way || !s->tag)
        return -1;
    for (uint32_t i = 0; i < s->sets; i++)
        for (uint32_t way = 0; way < room; way++)
            s->name[(size_t)i * room + way] = (uint16_t)(i / fewest * room + way);
    return 0;
}

/* Room for the numbers of sets that share names with the k-th: their last, or -1 without memory. */
static int share_names(struct cf_allassoc *a, unsigned k)
{
    const uint32_t fewest = a->set[k].sets;
    unsigned most = k;

    while (most < a->set[k].top &&
           (uint64_t)a->set[most + 1].sets / fewest * a->room <= CF_ALLASSOC_NAMES)
        most++;
    for (unsigned j = k; j <= most; j++) {
        a->set[j].share = most;
        if (make_names(&a->set[j], a->room, fewest, j == most) != 0)
            return -1;
    }
    return (int)most;
}

/* -1 without memory. */
static int make_sets(struct cf_allassoc *a, const uint32_t *sets)
{
    for (unsigned k = a->count; k--;) {
        struct cf_allassoc_sets *s = &a->set[k];

        s->sets = sets[k];
        s->index = cf_sets(sets[k]);
        s->top = k + 1 < a->count && sets[k + 1] % sets[k] == 0 ? s[1].top : k;
        s->found = calloc(a->room + 1, sizeof(*s->found));
        if (!s->found)
            return -1;
    }
    for (int k = 0; k < (int)a->count; k++) {
        k = share_names(a, (unsigned)k);
        if (k < 0)
            return -1;
    }
    return 0;
}

/* Ways, in full vectors. */
static uint32_t room_of(uint32_t ways)
{
    uint32_t room = 16;

    while (room < ways)
        room *= 2;
    return room;
}

uint64_t cf_allassoc_memory(const uint32_t *sets, unsigned count, uint32_t ways)
{
    uint64_t lines = 0;

    for (unsigned k = 0; k < count; k++)
        lines += (uint64_t)sets[k] * room_of(ways);
    return 12 * lines;
}

struct cf_allassoc *cf_allassoc_new(const uint32_t *sets, unsigned count, uint32_t ways)
{
    struct cf_allassoc *a;

    if (!count || count > CF_ALLASSOC_MOST || !ways || ways > 1024 || !sets[0])
        return NULL;
    for (unsigned k = 1; k < count; k++)
        if (sets[k] <= sets[k - 1])
            return NULL;
    a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->count = count;
    a->ways = ways;
    a->run = CF_SIMD_CHOICE(cf_allassoc_run);
    a->room = room_of(ways);
    a->apart = calloc(a->room + 1, sizeof(*a->apart));
    if (!a->apart || make_sets(a, sets) != 0) {
        cf_allassoc_free(a);
        return NULL;
    }
    return a;
}

void cf_allassoc_free(struct cf_allassoc *a)
{
    if (!a)
        return;
    for (unsigned k = 0; k < a->count; k++) {
        free(a->set[k].name);
        free(a->set[k].way);
        free(a->set[k].tag);
        free(a->set[k].found);
    }
    free(a->apart);
    free(a);
}

void cf_allassoc_run(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    a->references += count;
    a->run(a, line, count);
}

void cf_allassoc_touch(struct cf_allassoc *a, const uint64_t *line, uint32_t count)
{
    uint64_t *found[CF_ALLASSOC_MOST] = {0};

    for (unsigned k = 0; k < a->count; k++) {
        found[k] = a->set[k].found;
        a->set[k].found = a->apart;
    }
    a->run(a, line, count);
    for (unsigned k = 0; k < a->count; k++)
        a->set[k].found = found[k];
}

uint64_t cf_allassoc_misses(const struct cf_allassoc *a, unsigned k, uint32_t ways)
{
    uint64_t misses = a->references;

    for (uint32_t place = 0; place < ways && place < a->ways; place++)
        misses -= a->set[k].found[place];
    return misses;
}
