/* SPDX-License-Identifier: BSD-2-Clause */
/* nested_levels.c - the levels behind the first, for each k; what they see are events (nested.c) */
#include <string.h>

#include "filters/engine/pages/nested_parts.h"
#include "filters/engine/pages/share.h"

static void write_on(const struct cf_nested *n, struct with *w, unsigned level, uint32_t id);

/* Puts a line, which is in none of the ways, before the others. */
static void insert(const struct cf_nested *n, struct with *w, unsigned level, uint32_t set,
                   uint32_t entry)
{
    const struct deeper *d = &n->deeper[level];
    uint32_t *way = w->line[level] + (size_t)set * d->ways;
    const uint32_t victim = way[d->ways - 1];

    memmove(way + 1, way, (d->ways - 1) * sizeof *way);
    way[0] = entry;
    if (victim & DIRTY && level + 1 < n->levels)
        write_on(n, w, level + 1, (victim & ~(uint32_t)DIRTY) - 1);
}

/* Whether the line is there; then it is the first. */
static int touch(const struct cf_nested *n, struct with *w, unsigned level, uint32_t set,
                 uint32_t entry, uint32_t dirty)
{
    const struct deeper *d = &n->deeper[level];
    uint32_t *way = w->line[level] + (size_t)set * d->ways;

    for (uint32_t i = 0; i < d->ways; i++)
        if ((way[i] & ~(uint32_t)DIRTY) == entry) {
            const uint32_t found = way[i] | dirty;

            memmove(way + 1, way, i * sizeof *way);
            way[0] = found;
            return 1;
        }
    return 0;
}

static void write_on(const struct cf_nested *n, struct with *w, unsigned level, uint32_t id)
{
    const uint32_t set = cf_sets_index(&n->deeper[level].sets, n->line_of[id]);

    if (!touch(n, w, level, set, id + 1, DIRTY))
        insert(n, w, level, set, (id + 1) | DIRTY);
}

/* The depth that serves a read which missed the first level. */
static unsigned read_on(const struct cf_nested *n, struct with *w, const struct event *e)
{
    unsigned level = 0, served;

    while (level < n->levels && !touch(n, w, level, e->set[level], e->id + 1, 0))
        level++;
    served = level < n->levels ? n->deeper[level].depth : CF_FROM_MEMORY;
    while (level-- > 0) /* they fill from the outside in */
        insert(n, w, level, e->set[level], e->id + 1);
    return served;
}

static void see(const struct cf_nested *n, struct with *w, uint32_t k, const struct event *e)
{
    unsigned served;

    switch (e->what) {
    case READ:
        w->cycles += n->m->cost[cf_latency_key(read_on(n, w, e), e->op)];
        break;
    case WRITE:
        if (n->levels && !touch(n, w, 0, e->set[0], e->id + 1, DIRTY))
            insert(n, w, 0, e->set[0], (e->id + 1) | DIRTY);
        break;
    default:
        served = k < e->misses ? e->depth : read_on(n, w, e);
        w->slowest = served > w->slowest ? (uint8_t)served : w->slowest;
        if (e->what == LAST_PART) {
            w->cycles += n->m->cost[cf_latency_key(w->slowest, e->op)];
            w->slowest = 0;
        }
    }
}

static void see_all(void *arg, size_t k, unsigned thread)
{
    struct cf_nested *n = arg;

    (void)thread;
    for (uint32_t i = 0; i < n->events; i++)
        if (n->from + (uint32_t)k - n->event[i].from < n->event[i].to - n->event[i].from)
            see(n, &n->with[k], n->from + (uint32_t)k, &n->event[i]);
}

void cf_nested_flush(struct cf_nested *n, unsigned threads)
{
    cf_share(n->to - n->from, threads, see_all, n);
    n->events = 0;
}
