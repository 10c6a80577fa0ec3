/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets that are equal, which most are, are found as a whole; within the others only ways that
 * changed are looked for elsewhere in the set.
 */
#include <math.h>
#include <string.h>

#include "filters/engine/snapshot/changes.h"

struct sides {
    const struct cf_tags *a, *b;
    size_t slot_a, slot_b;
    uint32_t set, ways_a, ways_b; /* ways 0: this side has no such set */
    unsigned ignored;             /* bits of states */
};

static uint64_t at(const struct cf_tags *t, size_t slot, uint32_t ways, uint32_t way)
{
    return way < ways ? t->line[slot + way] : CF_TAGS_NONE;
}

static int holds(const struct cf_tags *t, size_t slot, uint32_t ways, uint64_t line)
{
    for (uint32_t w = 0; w < ways; w++)
        if (t->line[slot + w] == line)
            return 1;
    return 0;
}

/* Whether two states cannot be one and the same. */
static int state_differs(unsigned a, unsigned b, unsigned ignored)
{
    enum { M = 1, O = 2, E = 4, S = 8 };
    static const uint8_t may_be[] = {M | O | E | S, M, O, E, S, M | E, O | S};

    a &= ~ignored;
    b &= ~ignored;
    if (a == b)
        return 0;
    if ((a ^ b) & CF_STATE_NON_SECURE)
        return 1;
    a &= ~(unsigned)CF_STATE_NON_SECURE;
    b &= ~(unsigned)CF_STATE_NON_SECURE;
    return a >= sizeof may_be || b >= sizeof may_be || !(may_be[a] & may_be[b]);
}

static enum cf_change kind_of(const struct sides *s, uint32_t way, uint64_t a, uint64_t b)
{
    if (a == b)
        return s->a->state && s->b->state &&
                       state_differs(s->a->state[s->slot_a + way], s->b->state[s->slot_b + way],
                                     s->ignored)
                   ? CF_OTHER_STATE
                   : CF_SAME;
    return holds(s->b, s->slot_b, s->ways_b, a) ? CF_OTHER_WAY : CF_ONLY_A;
}

static int compare_set(struct cf_changes *c, const struct sides *s, cf_change_taker *take,
                       void *arg)
{
    const uint32_t ways = s->ways_a > s->ways_b ? s->ways_a : s->ways_b;
    int stop = 0;

    for (uint32_t w = 0; w < ways && !stop; w++) {
        const uint64_t a = at(s->a, s->slot_a, s->ways_a, w), b = at(s->b, s->slot_b, s->ways_b, w);

        c->ways += a != b;
        if (a != CF_TAGS_NONE) {
            const enum cf_change kind = kind_of(s, w, a, b);

            c->valid_a++;
            c->count[kind]++;
            if (take)
                stop = take(arg, s->a, s->slot_a + w, s->set, kind);
        }
        if (b == CF_TAGS_NONE)
            continue;
        c->valid_b++;
        if (a == b || holds(s->a, s->slot_a, s->ways_a, b))
            continue;
        c->count[CF_ONLY_B]++;
        if (take && !stop)
            stop = take(arg, s->b, s->slot_b + w, s->set, CF_ONLY_B);
    }
    return stop;
}

static uint32_t larger(uint32_t x, uint32_t y)
{
    return x > y ? x : y;
}

/* Whether the lines and states of a set are all the same. */
static int equal_set(const struct sides *s)
{
    const size_t n = s->ways_a;

    if (n != s->ways_b ||
        memcmp(s->a->line + s->slot_a, s->b->line + s->slot_b, n * sizeof *s->a->line) != 0)
        return 0;
    /* the state of a way without a line has no owner */
    return !s->a->state || !s->b->state ||
           memcmp(s->a->state + s->slot_a, s->b->state + s->slot_b, n) == 0;
}

static int take_equal(struct cf_changes *c, const struct sides *s, cf_change_taker *take, void *arg)
{
    uint64_t valid = 0;
    int stop = 0;

    for (uint32_t w = 0; w < s->ways_a && !stop; w++) {
        if (s->a->line[s->slot_a + w] == CF_TAGS_NONE)
            continue;
        valid++;
        if (take)
            stop = take(arg, s->a, s->slot_a + w, s->set, CF_SAME);
    }
    c->valid_a += valid;
    c->valid_b += valid;
    c->count[CF_SAME] += valid;
    return stop;
}

/* The cache of t that belongs to a cpu, t->caches where there is none. */
static uint32_t cache_of(const struct cf_tags *t, uint32_t cpu)
{
    uint32_t i = 0;

    while (i < t->caches && t->cpu[i] != cpu)
        i++;
    return i;
}

int cf_changes_add(struct cf_changes *c, const struct cf_tags *a, const struct cf_tags *b,
                   cf_change_taker *take, void *arg)
{
    /* those of the first table, then those that only the second has */
    for (uint32_t k = 0; k < a->caches + b->caches; k++) {
        const uint32_t cpu = k < a->caches ? a->cpu[k] : b->cpu[k - a->caches];
        const uint32_t cache_a = cache_of(a, cpu), cache_b = cache_of(b, cpu);

        if (k >= a->caches && cache_a < a->caches)
            continue;
        for (uint32_t set = 0; set < larger(a->sets, b->sets); set++) {
            const int in_a = cache_a < a->caches && set < a->set_room;
            const int in_b = cache_b < b->caches && set < b->set_room;
            const struct sides s = {
                .a = a,
                .b = b,
                .slot_a = in_a ? cf_tags_slot(a, cache_a, set) : 0,
                .slot_b = in_b ? cf_tags_slot(b, cache_b, set) : 0,
                .set = set,
                .ways_a = in_a ? a->ways : 0,
                .ways_b = in_b ? b->ways : 0,
                .ignored = (unsigned)c->ignored,
            };
            int stop;

            stop = equal_set(&s) ? take_equal(c, &s, take, arg) : compare_set(c, &s, take, arg);
            if (stop)
                return stop;
        }
    }
    return 0;
}

void cf_moments_add(struct cf_moments *m, double x)
{
    const double off = x - m->mean;

    m->most = m->n && m->most > x ? m->most : x;
    m->n++;
    m->mean += off / (double)m->n;
    m->squares += off * (x - m->mean);
}

double cf_moments_deviation(const struct cf_moments *m)
{
    return m->n > 1 ? sqrt(m->squares / (double)(m->n - 1)) : NAN;
}
