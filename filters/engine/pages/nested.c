/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nested.c - cycles when the best k pages are cached, for every k in one reading (see pages.h).
 *
 * The first levels are LRU, so that what they hold for all k is in one list a set: its lines in the
 * order of their last use. With k, a cache of W ways holds the first W lines of the list that are
 * of pages before place k; lines that are so for no k leave the list. So an access hits for all k
 * from that which caches its page up to one that follows from the places of the lines before it
 * (Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2),
 * 1970, where a stack serves all sizes; here it serves all subsets, since they are nested), and
 * what a miss replaces changes with k in steps. A line is dirty for all k below a bound.
 *
 * What misses, and dirty lines that are replaced, are events for a range of k, which the further
 * levels see.
 *
 * Memory: 32 bytes a line in each first level's lists, and the spans of the further levels.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/pages/nested_parts.h"
#include "formats/base/cf_memory.h"

enum { NEVER = UINT32_MAX, EVENTS = 8192 };

/* ---- which machines ---- */

static int plain(const struct cf_level *l)
{
    return l->policy == CF_LRU && l->ways <= MOST_WAYS &&
           (l->kind == CF_INSTRUCTION_CACHE || (l->write_back && l->write_allocate));
}

int cf_nested_fits(const struct cf_paged_machine *m)
{
    const struct cf_machine *machine = m->machine;
    unsigned deeper = 0, data = 0, fetches = 0;

    for (unsigned i = 0; i < machine->levels; i++) {
        const struct cf_level *l = &machine->level[i];

        if (!plain(l) || l->line != machine->level[0].line || l->line > m->page_size)
            return 0;
        if (l->depth > 1 && (l->kind != CF_UNIFIED || l->inclusion == CF_INCLUSIVE ||
                             l->inclusion == CF_EXCLUSIVE || ++deeper > DEEPER))
            return 0;
        data += l->depth == 1 && l->kind != CF_INSTRUCTION_CACHE;
        fetches += l->depth == 1 && l->kind != CF_DATA_CACHE;
    }
    return data == 1 && fetches == 1;
}

/* ---- making and freeing ---- */

static int make_first(struct cf_nested *n, const struct cf_level *l)
{
    struct first f = {.sets = cf_sets(l->sets), .ways = l->ways, .depth = l->depth};

    f.list = calloc(l->sets, sizeof *f.list);
    if (!f.list)
        return -1;
    if (l->kind != CF_INSTRUCTION_CACHE)
        n->first[0] = f;
    else
        n->first[1] = f;
    n->split |= l->kind == CF_INSTRUCTION_CACHE;
    return 0;
}

static int by_depth(const void *x, const void *y)
{
    const struct deeper *a = x, *b = y;

    return (a->depth > b->depth) - (a->depth < b->depth);
}

static int make_levels(struct cf_nested *n)
{
    const struct cf_machine *machine = n->m->machine;

    for (unsigned i = 0; i < machine->levels; i++) {
        const struct cf_level *l = &machine->level[i];

        if (l->depth > 1)
            n->deeper[n->levels++] =
                (struct deeper){.sets = cf_sets(l->sets), .ways = l->ways, .depth = l->depth};
        else if (make_first(n, l) != 0)
            return -1;
    }
    qsort(n->deeper, n->levels, sizeof *n->deeper, by_depth);
    return 0;
}

/* A share of the range of k for each thread. */
static int make_parts(struct cf_nested *n, unsigned threads)
{
    const uint32_t count = n->to - n->from;

    n->parts = threads < CF_SHARE_THREADS ? threads : CF_SHARE_THREADS;
    n->parts = n->parts < count ? n->parts : count;
    for (unsigned i = 0; i < n->parts; i++) {
        struct part *p = &n->part[i];

        p->from = n->from + (uint32_t)((uint64_t)count * i / n->parts);
        p->to = n->from + (uint32_t)((uint64_t)count * (i + 1) / n->parts);
        p->change = calloc(p->to - p->from + (size_t)1, sizeof *p->change);
        p->slowest = calloc(p->to - p->from, sizeof *p->slowest);
        if (!p->change || !p->slowest)
            return -1;
        for (unsigned level = 0; level < n->levels; level++) {
            p->level[level].head = calloc(n->deeper[level].sets.sets, sizeof(uint32_t));
            if (!p->level[level].head)
                return -1;
        }
    }
    return 0;
}

struct cf_nested *cf_nested_new(const struct cf_paged_machine *m, const uint32_t *place,
                                uint32_t pages, uint32_t from, uint32_t to, unsigned threads)
{
    struct cf_nested *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->m = m;
    n->place = place;
    n->most = pages;
    n->from = from;
    n->to = to;
    n->shift = (unsigned)__builtin_ctz(m->machine->level[0].line);
    n->change = calloc(pages + (size_t)3, sizeof *n->change);
    n->event = malloc(EVENTS * sizeof *n->event);
    if (!n->change || !n->event || make_levels(n) != 0 || make_parts(n, threads) != 0) {
        cf_nested_free(n);
        return NULL;
    }
    return n;
}

void cf_nested_free(struct cf_nested *n)
{
    if (!n)
        return;
    for (unsigned i = 0; i < 2; i++)
        if (n->first[i].list) {
            for (uint32_t s = 0; s < n->first[i].sets.sets; s++)
                free(n->first[i].list[s].used);
            free(n->first[i].list);
        }
    for (unsigned i = 0; i < n->parts; i++) {
        for (unsigned level = 0; level < n->levels; level++) {
            free(n->part[i].level[level].head);
            free(n->part[i].level[level].word);
        }
        free(n->part[i].change);
        free(n->part[i].slowest);
    }
    free(n->change);
    free(n->line_of);
    free(n->event);
    free(n);
}

/* ---- first levels: all k at once ---- */

/* The smallest places of the lines before one, rising; at most as many as there are ways. */
struct smallest {
    uint32_t place[MOST_WAYS], count;
};

static void take_place(struct smallest *s, uint32_t ways, uint32_t place)
{
    uint32_t i = ways - 1;

    if (s->count < ways)
        i = s->count++;
    else if (place >= s->place[i])
        return;
    for (; i > 0 && s->place[i - 1] > place; i--)
        s->place[i] = s->place[i - 1];
    s->place[i] = place;
}

static void emit(struct cf_nested *n, struct event e, uint64_t line)
{
    e.from = e.from < n->from ? n->from : e.from;
    e.to = e.to > n->to ? n->to : e.to;
    if (e.from >= e.to || (e.what == WRITE && !n->levels))
        return;
    if (e.what != END)
        for (unsigned i = 0; i < n->levels; i++)
            e.set[i] = cf_sets_index(&n->deeper[i].sets, line);
    if (n->events == EVENTS)
        cf_nested_flush(n);
    n->event[n->events++] = e;
}

/* For k in [from, to) cycles are more. */
static void add(struct cf_nested *n, uint32_t from, uint32_t to, uint64_t cycles)
{
    if (from < to) {
        n->change[from] += (int64_t)cycles;
        n->change[to] -= (int64_t)cycles;
    }
}

/* What leaves the set for k from `misses` up, and which lines are held for no k any more. The line
   itself, in the list at `own`, is none; returns where it is then. */
static uint32_t replace(struct cf_nested *n, const struct first *f, struct list *l, uint32_t own,
                        uint32_t misses)
{
    struct smallest s = {.count = 0};
    uint32_t kept = 0, at = NEVER;

    for (uint32_t i = 0; i < l->count; i++) {
        const struct used u = l->used[i];
        /* with k above `least`, there are all ways but one before it; with k above `most`, all */
        const uint32_t most = s.count == f->ways ? s.place[f->ways - 1] : NEVER;
        const uint32_t least = f->ways == 1             ? 0
                               : s.count >= f->ways - 1 ? s.place[f->ways - 2] + 1
                                                        : NEVER;
        uint32_t from = u.place + 1 > least ? u.place + 1 : least;
        uint32_t to = most == NEVER ? NEVER : most + 1;

        if (i != own && u.place >= most)
            continue; /* held for no k */
        at = i == own ? kept : at;
        l->used[kept++] = u;
        if (i == own)
            continue;
        take_place(&s, f->ways, u.place);
        from = from > misses ? from : misses;
        to = to < u.dirty ? to : u.dirty;
        if (least != NEVER && from < to)
            emit(n, (struct event){.id = u.id, .from = from, .to = to, .what = WRITE}, u.line);
    }
    l->count = kept;
    return at;
}

/* The place of the line in the list, NEVER where it is not; *misses: the smallest k for which the
   cache does not hold it. */
static uint32_t look(const struct first *f, const struct list *l, uint64_t line, uint32_t place,
                     uint32_t *misses)
{
    struct smallest s = {.count = 0};

    for (uint32_t i = 0; i < l->count; i++) {
        if (l->used[i].line == line) {
            const uint32_t most = s.count == f->ways ? s.place[f->ways - 1] : NEVER;

            *misses = most == NEVER ? NEVER : (most > place ? most : place) + 1;
            return i;
        }
        take_place(&s, f->ways, l->used[i].place);
    }
    *misses = place + 1;
    return NEVER;
}

/* One reference to a line: the smallest k for which it misses, beyond `most` where there is none.
   0 without memory. */
static uint32_t refer(struct cf_nested *n, const struct first *f, struct event e, uint64_t line,
                      int store)
{
    struct list *l = &f->list[cf_sets_index(&f->sets, line)];
    struct used u = {.line = line, .place = e.from - 1, .id = e.id, .dirty = 0};
    uint32_t misses, at;

    if (l->count && l->used[0].line == line) { /* all have it */
        l->used[0].dirty = store ? NEVER : l->used[0].dirty;
        return n->most + 1;
    }
    at = look(f, l, line, u.place, &misses);
    misses = misses > n->most + 1 ? n->most + 1 : misses;
    e.from = misses;
    emit(n, e, line);
    if (misses <= n->most)
        at = replace(n, f, l, at, misses);
    if (at == NEVER) {
        if (cf_array_room(&l->used, &l->room, l->count + (size_t)1, sizeof *l->used) != 0)
            return 0;
        at = l->count++;
    } else {
        u = l->used[at];
    }
    u.dirty = store ? NEVER : u.dirty < misses ? u.dirty : misses;
    memmove(l->used + 1, l->used, at * sizeof *l->used);
    l->used[0] = u;
    return misses;
}

static int row(struct cf_nested *n, const struct cf_paged *rows, uint32_t i)
{
    const unsigned op = rows->op[i] < CF_LATENCY_OPS ? rows->op[i] : CF_LATENCY_OPS;
    const struct first *f = &n->first[n->split && op == CF_IFETCH];
    const uint32_t place = n->place[rows->frame[i]], page_lines = n->m->page_size >> n->shift;
    const uint64_t begin = rows->addr[i] >> n->shift;
    const uint64_t end = (rows->addr[i] + rows->size[i] - 1) >> n->shift;
    struct event e = {.from = place + 1,
                      .to = n->most + 1,
                      .op = (uint8_t)op,
                      .depth = (uint8_t)f->depth,
                      .what = begin == end ? READ : PART};
    uint32_t least = n->most + 1;

    add(n, 0, place + 1, cf_paged_uncached(n->m, rows, i));
    for (uint64_t line = begin; line <= end; line++) {
        uint32_t misses;

        e.id = rows->frame[i] * page_lines + (uint32_t)(line % page_lines);
        if (e.id >= DIRTY - 1 ||
            cf_array_room(&n->line_of, &n->line_room, e.id + (size_t)1, sizeof *n->line_of) != 0)
            return -1;
        n->line_of[e.id] = line;
        misses = refer(n, f, e, line, op == CF_STORE);
        if (!misses)
            return -1;
        least = misses < least ? misses : least;
    }
    add(n, place + 1, least, n->m->cost[cf_latency_key(f->depth, op)]);
    if (begin < end) {
        e.from = least;
        e.what = END;
        emit(n, e, 0);
    }
    return 0;
}

int cf_nested_rows(struct cf_nested *n, const struct cf_paged *rows)
{
    for (uint32_t i = 0; i < rows->rows; i++)
        if (row(n, rows, i) != 0)
            return -1;
    for (unsigned i = 0; i < n->parts; i++)
        if (n->part[i].failed)
            return -1;
    return 0;
}

int cf_nested_end(struct cf_nested *n)
{
    cf_nested_flush(n);
    for (uint32_t k = 0; k <= n->most; k++)
        n->change[k + 1] += n->change[k];
    for (unsigned i = 0; i < n->parts; i++) {
        struct part *p = &n->part[i];

        if (p->failed)
            return -1;
        for (uint32_t k = p->from; k < p->to; k++) {
            n->change[k] += p->change[k - p->from];
            p->change[k - p->from + 1] += p->change[k - p->from];
        }
    }
    return 0;
}

uint64_t cf_nested_cycles(const struct cf_nested *n, uint32_t k)
{
    return (uint64_t)n->change[k];
}

uint64_t cf_nested_bytes(const struct cf_nested *n)
{
    uint64_t bytes = (n->to - n->from) * (uint64_t)(sizeof(int64_t) + 1);

    for (unsigned i = 0; i < n->parts; i++)
        for (unsigned level = 0; level < n->levels; level++)
            bytes += (n->part[i].level[level].room + n->deeper[level].sets.sets) * sizeof(uint32_t);
    return bytes;
}
