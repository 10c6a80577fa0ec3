/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nested_levels.c - the levels behind the first, with all k; what they see are events (nested.c).
 *
 * What a set holds changes with k in steps: neighbouring k differ only where a line came to it with
 * one of them and not with the other. So a set is a list of spans of k with the same lines in the
 * same order. An event splits the spans at the ends of its range, is seen once by each span in it,
 * and spans that have become the same are joined.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/pages/nested_parts.h"
#include "formats/base/cf_memory.h"

/* A run of spans that an event is for: the number of the one before it, 0: it begins the list. */
struct range {
    uint32_t before, from, to;
};

static uint32_t *span(struct part *p, unsigned level, uint32_t number)
{
    return p->level[level].word + number;
}

static uint32_t *next_of(struct part *p, unsigned level, uint32_t set, uint32_t number)
{
    return number ? span(p, level, number) + SPAN_NEXT : &p->level[level].head[set];
}

/* A new span, as `number` is; 0: an empty one. Returns 0 without memory. */
static uint32_t copy_span(const struct cf_nested *n, struct part *p, unsigned level,
                          uint32_t number)
{
    const uint32_t words = SPAN_LINES + n->deeper[level].ways;
    uint32_t to = p->level[level].unused;

    if (to) {
        p->level[level].unused = span(p, level, to)[SPAN_NEXT];
    } else {
        to = p->level[level].used ? (uint32_t)p->level[level].used : words;
        if (to > UINT32_MAX - words ||
            cf_array_room(&p->level[level].word, &p->level[level].room, to + (size_t)words,
                          sizeof *p->level[level].word) != 0) {
            p->failed = 1;
            return 0;
        }
        p->level[level].used = to + words;
    }
    if (number)
        memcpy(span(p, level, to), span(p, level, number), words * sizeof(uint32_t));
    else
        memset(span(p, level, to), 0, words * sizeof(uint32_t));
    return to;
}

/* Splits a span: it keeps k from `at` up. */
static void split(const struct cf_nested *n, struct part *p, unsigned level, uint32_t number,
                  uint32_t at)
{
    const uint32_t lower = copy_span(n, p, level, number);

    if (!lower)
        return;
    span(p, level, number)[SPAN_FROM] = at;
    span(p, level, number)[SPAN_NEXT] = lower;
}

/* The spans of [from, to). Where the lowest reaches below, it is split, unless the event, which
   makes `entry` the last one used, changes nothing in it. */
static struct range take_range(const struct cf_nested *n, struct part *p, unsigned level,
                               uint32_t set, uint32_t entry, uint32_t from, uint32_t to)
{
    struct range r = {.from = from, .to = to};
    uint32_t at = p->level[level].head[set];

    if (!at) {
        at = copy_span(n, p, level, 0);
        if (!at)
            return r;
        span(p, level, at)[SPAN_FROM] = p->from;
        p->level[level].head[set] = at;
    }
    while (span(p, level, at)[SPAN_FROM] >= to) {
        r.before = at;
        at = span(p, level, at)[SPAN_NEXT];
    }
    if (to < p->to && (!r.before || span(p, level, r.before)[SPAN_FROM] > to)) {
        split(n, p, level, at, to);
        r.before = at;
        at = span(p, level, at)[SPAN_NEXT];
    }
    while (at && span(p, level, at)[SPAN_FROM] > from)
        at = span(p, level, at)[SPAN_NEXT];
    if (at && span(p, level, at)[SPAN_FROM] < from && span(p, level, at)[SPAN_LINES] != entry &&
        span(p, level, at)[SPAN_LINES] != (entry | DIRTY))
        split(n, p, level, at, from);
    return r;
}

/* Joins what is the same in the range and at its ends. */
static void join(const struct cf_nested *n, struct part *p, unsigned level, uint32_t set,
                 const struct range *r)
{
    const size_t bytes = n->deeper[level].ways * sizeof(uint32_t);
    uint32_t upper = r->before ? r->before : p->level[level].head[set], lower;

    while (span(p, level, upper)[SPAN_FROM] >= r->from &&
           (lower = span(p, level, upper)[SPAN_NEXT]) != 0) {
        uint32_t *u = span(p, level, upper), *l = span(p, level, lower);

        if (u[SPAN_LINES] != l[SPAN_LINES] || memcmp(u + SPAN_LINES, l + SPAN_LINES, bytes) != 0) {
            upper = lower;
            continue;
        }
        u[SPAN_FROM] = l[SPAN_FROM];
        u[SPAN_NEXT] = l[SPAN_NEXT];
        l[SPAN_NEXT] = p->level[level].unused;
        p->level[level].unused = lower;
    }
}

/* Whether the line is there; then it is the first. Else the others stay as they are. */
static int touch(uint32_t *way, uint32_t ways, uint32_t entry, uint32_t dirty)
{
    uint32_t i = 0, found;

    while (i < ways && (way[i] & ~(uint32_t)DIRTY) != entry)
        i++;
    if (i == ways)
        return 0;
    found = way[i] | dirty;
    for (; i > 0; i--)
        way[i] = way[i - 1];
    way[0] = found;
    return 1;
}

static void write_range(const struct cf_nested *n, struct part *p, unsigned level, uint32_t id,
                        uint32_t from, uint32_t to);

/* Puts a line, which is in none of them, before the others in all spans from `at`, which ends at
   `to`, down to k `from`. */
static void insert(const struct cf_nested *n, struct part *p, unsigned level, uint32_t at,
                   uint32_t entry, uint32_t from, uint32_t to)
{
    const uint32_t ways = n->deeper[level].ways;

    for (; to > from; at = span(p, level, at)[SPAN_NEXT]) {
        uint32_t *way = span(p, level, at) + SPAN_LINES;
        const uint32_t victim = way[ways - 1], low = span(p, level, at)[SPAN_FROM];

        for (uint32_t i = ways - 1; i > 0; i--)
            way[i] = way[i - 1];
        way[0] = entry;
        if (victim & DIRTY && level + 1 < n->levels)
            write_range(n, p, level + 1, (victim & ~(uint32_t)DIRTY) - 1, low, to);
        to = low;
    }
}

static void write_range(const struct cf_nested *n, struct part *p, unsigned level, uint32_t id,
                        uint32_t from, uint32_t to)
{
    const uint32_t set = cf_sets_index(&n->deeper[level].sets, n->line_of[id]);
    const struct range r = take_range(n, p, level, set, (id + 1) | DIRTY, from, to);

    for (uint32_t at = *next_of(p, level, set, r.before); to > from && !p->failed;
         at = span(p, level, at)[SPAN_NEXT]) {
        uint32_t *s = span(p, level, at);

        if (!touch(s + SPAN_LINES, n->deeper[level].ways, id + 1, DIRTY))
            insert(n, p, level, at, (id + 1) | DIRTY, s[SPAN_FROM], to);
        to = s[SPAN_FROM];
    }
    if (!p->failed)
        join(n, p, level, set, &r);
}

/* With k in [from, to) this depth serves what is read. */
static void serve(const struct cf_nested *n, struct part *p, unsigned depth, uint32_t from,
                  uint32_t to)
{
    if (p->parts) {
        for (uint32_t k = from - p->from; k < to - p->from; k++)
            p->slowest[k] = p->slowest[k] > depth ? p->slowest[k] : (uint8_t)depth;
        return;
    }
    p->change[from - p->from] += n->m->cost[cf_latency_key(depth, p->op)];
    p->change[to - p->from] -= n->m->cost[cf_latency_key(depth, p->op)];
}

/* Reads what missed before this level, with k in [from, to). Levels fill from the outside in. */
static void read_range(const struct cf_nested *n, struct part *p, unsigned level,
                       const struct event *e, uint32_t from, uint32_t to)
{
    uint32_t missed = 0, missed_to = 0; /* the run of spans at hand that miss, and its end */
    struct range r;

    if (level == n->levels) {
        serve(n, p, CF_FROM_MEMORY, from, to);
        return;
    }
    r = take_range(n, p, level, e->set[level], e->id + 1, from, to);
    for (uint32_t at = *next_of(p, level, e->set[level], r.before); !p->failed;) {
        uint32_t *s = span(p, level, at);
        const uint32_t low = to > from && s[SPAN_FROM] > from ? s[SPAN_FROM] : from;
        const int hit = to > from && touch(s + SPAN_LINES, n->deeper[level].ways, e->id + 1, 0);

        if (missed && (hit || to <= from)) {
            read_range(n, p, level + 1, e, to, missed_to);
            insert(n, p, level, missed, e->id + 1, to, missed_to);
            missed = 0;
        }
        if (to <= from)
            break;
        if (hit) {
            serve(n, p, n->deeper[level].depth, low, to);
        } else if (!missed) {
            missed = at;
            missed_to = to;
        }
        to = low;
        at = to > from ? s[SPAN_NEXT] : at;
    }
    if (!p->failed)
        join(n, p, level, e->set[level], &r);
}

/* What an access of several lines costs: its slowest part. */
static void end_parts(const struct cf_nested *n, struct part *p, const struct event *e,
                      uint32_t from, uint32_t to)
{
    const uint32_t end = to - p->from;

    for (uint32_t k = from - p->from, next; k < end; k = next) {
        const uint8_t depth = p->slowest[k];
        const uint32_t cost = n->m->cost[cf_latency_key(depth ? depth : e->depth, e->op)];

        for (next = k; next < end && p->slowest[next] == depth; next++)
            p->slowest[next] = 0;
        p->change[k] += cost;
        p->change[next] -= cost;
    }
}

static void see_all(void *arg, size_t i, unsigned thread)
{
    struct cf_nested *n = arg;
    struct part *p = &n->part[i];

    (void)thread;
    for (uint32_t at = 0; at < n->events && !p->failed; at++) {
        const struct event *e = &n->event[at];
        const uint32_t from = e->from > p->from ? e->from : p->from;
        const uint32_t to = e->to < p->to ? e->to : p->to;

        if (from >= to)
            continue;
        p->op = e->op;
        p->parts = e->what == PART;
        if (e->what == WRITE)
            write_range(n, p, 0, e->id, from, to);
        else if (e->what == END)
            end_parts(n, p, e, from, to);
        else
            read_range(n, p, 0, e, from, to);
    }
}

void cf_nested_flush(struct cf_nested *n)
{
    cf_share(n->parts, n->parts, see_all, n);
    n->events = 0;
}
