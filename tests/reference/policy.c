/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.c - replacement as "Policies" in cf-machine(5) describes it, way masks and prefetchers as
 * options --way-mask and --prefetch of cf-cache(1).
 */
#include <stdlib.h>

#include "tests/reference/model.h"

void policy_new(struct model *m, int level, unsigned cache)
{
    const struct level *l = &m->machine.level[level];
    struct cache *c = &m->cache[level][cache];

    c->way = calloc((size_t)l->sets * l->ways, sizeof(*c->way));
    c->upper_older = calloc((size_t)l->sets * l->ways, sizeof(*c->upper_older));
    if (!c->way || !c->upper_older)
        abort();
    /* every cache draws numbers of its own */
    c->random =
        m->machine.seed ^ ((uint64_t)(unsigned)level << 32 | cache) * UINT64_C(0xd1342543de82ef95);
}

/* --way-mask, and what master-index is. */
static int may_fill(const struct model *m, int level, unsigned way)
{
    const struct level *l = &m->machine.level[level];

    if (l->policy == CF_MASTER_INDEX)
        return way == m->core % l->ways;
    return !l->mask[m->core] || (l->mask[m->core] >> way & 1);
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t draw(struct cache *c)
{
    uint64_t z = c->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The path to a way, from the root: each node tells the half that was touched longer ago. */
static void tree_touched(int *upper_older, unsigned ways, unsigned way)
{
    unsigned node = 1;

    for (unsigned half = ways / 2; half; half /= 2) {
        const unsigned upper = way / half % 2;

        upper_older[node] = !upper;
        node = 2 * node + upper;
    }
}

void policy_touched(struct model *m, int level, unsigned cache, struct way *w, int came)
{
    const struct level *l = &m->machine.level[level];
    struct cache *c = &m->cache[level][cache];
    const unsigned at = (unsigned)(w - c->way), first = at / l->ways * l->ways;
    unsigned clear = 0;

    w->touched = ++m->clock;
    if (came)
        w->came = m->clock;
    w->value = came ? 2 : 0;
    w->bit = 1;
    tree_touched(c->upper_older + first, l->ways, at - first);
    for (unsigned i = first; i < first + l->ways; i++)
        clear += !c->way[i].bit;
    for (unsigned i = first; l->policy == CF_BIT_PLRU && !clear && i < first + l->ways; i++)
        c->way[i].bit = &c->way[i] == w;
}

/* Down the tree to the half that was touched longer ago; to the other, where that one has no way
   that may be used. */
static unsigned tree_choose(const int *upper_older, const int *usable, unsigned ways)
{
    unsigned node = 1, way = 0;

    for (unsigned half = ways / 2; half; half /= 2) {
        int upper = upper_older[node], any = 0;

        for (unsigned i = 0; i < half; i++)
            any |= usable[way + (upper ? half : 0) + i];
        if (!any)
            upper = !upper;
        way += upper ? half : 0;
        node = 2 * node + (unsigned)upper;
    }
    return way;
}

static unsigned random_choose(struct cache *c, const int *usable, unsigned ways)
{
    unsigned n = 0, nth;

    for (unsigned i = 0; i < ways; i++)
        n += usable[i] != 0;
    nth = (unsigned)((draw(c) >> 32) * n >> 32);
    for (unsigned i = 0;; i++)
        if (usable[i] && nth-- == 0)
            return i;
}

/* The lowest way whose bit is clear. When there is none, NRU clears those of all ways that may be
   used; bit-PLRU has cleared them before, so that this only happens under a mask. */
static unsigned bit_choose(struct way *set, const int *usable, unsigned ways, int nru)
{
    for (unsigned i = 0; i < ways; i++)
        if (usable[i] && !set[i].bit)
            return i;
    for (unsigned i = 0; nru && i < ways; i++)
        if (usable[i])
            set[i].bit = 0;
    for (unsigned i = 0;; i++)
        if (usable[i])
            return i;
}

static unsigned srrip_choose(struct way *set, const int *usable, unsigned ways)
{
    for (;;) {
        for (unsigned i = 0; i < ways; i++)
            if (usable[i] && set[i].value == 3)
                return i;
        for (unsigned i = 0; i < ways; i++)
            if (usable[i])
                set[i].value++;
    }
}

static unsigned oldest(const struct way *set, const int *usable, unsigned ways, int fifo)
{
    unsigned best = ways;

    for (unsigned i = 0; i < ways; i++)
        if (usable[i] && (best == ways || (fifo ? set[i].came < set[best].came
                                                : set[i].touched < set[best].touched)))
            best = i;
    return best;
}

struct way *policy_choose(struct model *m, int level, unsigned cache, unsigned set)
{
    const struct level *l = &m->machine.level[level];
    struct cache *c = &m->cache[level][cache];
    struct way *way = c->way + (size_t)set * l->ways;
    int usable[1024];

    for (unsigned i = 0; i < l->ways; i++)
        usable[i] = may_fill(m, level, i);
    for (unsigned i = 0; i < l->ways; i++)
        if (usable[i] && !way[i].valid)
            return &way[i];
    switch (l->policy) {
    case CF_RANDOM:
        return way + (l->ways > 1 ? random_choose(c, usable, l->ways) : 0);
    case CF_TREE_PLRU:
        return way + tree_choose(c->upper_older + (size_t)set * l->ways, usable, l->ways);
    case CF_BIT_PLRU:
    case CF_NRU:
        return way + bit_choose(way, usable, l->ways, l->policy == CF_NRU);
    case CF_SRRIP:
        return way + srrip_choose(way, usable, l->ways);
    case CF_LRU:
    case CF_FIFO:
    case CF_MASTER_INDEX:
        break;
    }
    return way + oldest(way, usable, l->ways, l->policy == CF_FIFO);
}

/* ---- prefetchers ---- */

static void want(struct model *m, int level, struct place p, uint64_t line)
{
    const uint64_t bytes = m->machine.level[level].line;

    /* both stay in a page */
    if (bytes >= PAGE || line * bytes / PAGE != p.byte / PAGE)
        return;
    if (m->wanted_count == WANTED)
        abort();
    m->wanted[m->wanted_count].level = level;
    m->wanted[m->wanted_count].fetch = m->fetch;
    m->wanted[m->wanted_count++].place = (struct place){p.process, line * bytes};
}

static void stride(struct model *m, int level, struct place p)
{
    const unsigned bytes = m->machine.level[level].line,
                   cache = m->core / m->machine.level[level].shared_by;
    const uint64_t number = p.byte / PAGE, line = p.byte / bytes;
    struct page *page = &m->cache[level][cache].page[number % PAGES];
    int64_t step;

    if (!page->valid || page->process != p.process || page->number != number) {
        *page = (struct page){1, p.process, number, line, 0};
        return;
    }
    step = (int64_t)(line - page->last);
    if (!step)
        return;
    if (step == page->step)
        want(m, level, p, line + (uint64_t)step);
    page->last = line;
    page->step = step;
}

void prefetcher_sees(struct model *m, int level, struct place p, struct way *w)
{
    const struct level *l = &m->machine.level[level];
    const int brought = w && w->brought;

    if (!l->prefetcher || m->op == PREFETCH)
        return;
    if (brought) {
        m->counts[level][PREFETCHES_USEFUL]++;
        w->brought = 0;
    }
    if (l->prefetcher == STRIDE)
        stride(m, level, p);
    else if (!w || brought)
        want(m, level, p, p.byte / l->line + 1);
}
