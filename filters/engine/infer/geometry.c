/* SPDX-License-Identifier: BSD-2-Clause */
/* geometry.c - see geometry.h. */
#include <math.h>
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "filters/engine/infer/geometry.h"

enum {
    MOST = 65536,
    MULTIPLES = 512,
    WAYS = 1024,
    LEAST_LINE = 16 /* a node */,
    MOST_LINE = 65536
};

static const double UNLIKELY = 1e-4;      /* no triple is made of such a chance alone */
static const double FLOOR = 1e-6;         /* what no experiment is surer of */
static const double CONTRADICTION = 0.02; /* of an experiment's best chance */
static const double ODD_SETS = 0.02;

struct triple {
    uint64_t size, ways, line; /* 0: not known */
    double weight;
};

struct search {
    const struct cf_evidence *e;
    unsigned count;
    int known[4]; /* by enum cf_measures: is there such evidence? */
    struct triple *triple;
    size_t used, room;
    int no_memory;
};

/* Whether a place was found, sure or not. */
static int tells(const struct cf_change *c)
{
    return c->state == CF_CHANGE_FOUND || c->state == CF_CHANGE_ONCE || c->state == CF_CHANGE_VAGUE;
}

/* Whether one line of a set fits, and so many more as there are do, too: it has as many ways, at
   least. */
static int is_bound(const struct cf_evidence *e)
{
    const struct cf_change *c = e->change;

    return e->of == CF_OF_WAYS && c->state == CF_CHANGE_NONE && c->parameter[0] == 1;
}

/* What a triple makes of an experiment's parameter; 0: it says nothing of it. */
static uint64_t of_triple(const struct triple *t, enum cf_measures of)
{
    return of == CF_OF_SIZE   ? t->size
           : of == CF_OF_WAYS ? t->ways
           : of == CF_OF_LINE ? t->line
           : t->ways          ? t->size / t->ways
                              : 0;
}

static void add(struct search *s, uint64_t size, uint64_t ways, uint64_t line)
{
    struct triple t = {size, ways, line, 0};
    const uint64_t sets = ways && line ? size / ways / line : 1;

    if (s->used == MOST || s->no_memory)
        return;
    if (cf_array_room(&s->triple, &s->room, s->used + 1, sizeof t) != 0) {
        s->no_memory = 1;
        return;
    }
    t.weight = cf_is_power_of_two(sets) ? 0 : log(ODD_SETS);
    for (unsigned i = 0; i < s->count; i++) {
        const uint64_t value = of_triple(&t, s->e[i].of);

        if (value && (tells(s->e[i].change) || is_bound(&s->e[i])))
            t.weight += log(fmax(FLOOR, cf_change_chance(s->e[i].change, value)));
    }
    s->triple[s->used++] = t;
}

/* Values between the parameters at place j, from *from to *to. */
static int span(const struct cf_change *c, size_t j, uint64_t *from, uint64_t *to)
{
    if (j == 0 || j >= c->count || c->chance[j] < UNLIKELY)
        return 0;
    *from = c->parameter[j - 1] + (c->first ? 1 : 0);
    *to = cf_change_reach(c, c->parameter[j] - (c->first ? 0 : 1));
    return 1;
}

/* Takes one of the values that an experiment allows, `n`. */
typedef void taker(struct search *s, uint64_t n, uint64_t ways, uint64_t line);

/* Has f take all multiples of `unit` in [from, to]; where there are too many, the ends, and those
   that are the unit times a power of two. */
static void multiples(struct search *s, uint64_t from, uint64_t to, uint64_t unit, taker *f,
                      uint64_t ways, uint64_t line)
{
    const uint64_t last = to / unit;
    uint64_t first = from / unit + (from % unit != 0);

    first = first ? first : 1;
    if (first > last)
        return;
    if (last - first < MULTIPLES) {
        for (uint64_t k = first; k <= last; k++)
            f(s, k * unit, ways, line);
        return;
    }
    f(s, first * unit, ways, line);
    f(s, last * unit, ways, line);
    for (uint64_t k = 1; k && k < last; k *= 2)
        if (k > first)
            f(s, k * unit, ways, line);
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;

    while (y) {
        const uint64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Has f take, of each span that experiments of a kind allow, the multiples of `unit`. */
static void each(struct search *s, enum cf_measures of, uint64_t unit, taker *f, uint64_t ways,
                 uint64_t line)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct cf_change *c = s->e[i].change;
        uint64_t from, to;

        if (s->e[i].of != of || !tells(c))
            continue;
        for (size_t j = 0; j < c->count; j++)
            if (span(c, j, &from, &to))
                multiples(s, from, to, common_multiple(unit, s->e[i].unit ? s->e[i].unit : 1), f,
                          ways, line);
    }
}

static void take_size(struct search *s, uint64_t size, uint64_t ways, uint64_t line)
{
    if (!ways || size / ways)
        add(s, size, ways, line);
}

/* Of a way of so many bytes. */
static void take_divided(struct search *s, uint64_t size, uint64_t way_size, uint64_t line)
{
    if (size / way_size <= WAYS)
        add(s, size, size / way_size, line);
}

static void take_way_size(struct search *s, uint64_t way_size, uint64_t ways, uint64_t line)
{
    (void)ways;
    if (s->known[CF_OF_SIZE])
        each(s, CF_OF_SIZE, way_size, take_divided, way_size, line);
}

static void take_ways(struct search *s, uint64_t n, uint64_t ways, uint64_t line)
{
    (void)ways;
    if (n > WAYS)
        return;
    if (s->known[CF_OF_SIZE])
        each(s, CF_OF_SIZE, n * (line ? line : 1), take_size, n, line);
    else
        add(s, 0, n, line);
}

/* A line of so many bytes, 0 where that is not known. */
static void take_line(struct search *s, uint64_t line)
{
    each(s, CF_OF_WAYS, 1, take_ways, 0, line);
    each(s, CF_OF_WAY_SIZE, line ? line : 1, take_way_size, 0, line);
    if (!s->known[CF_OF_WAYS] && !s->known[CF_OF_WAY_SIZE])
        each(s, CF_OF_SIZE, line ? line : 1, take_size, 0, line);
    if (!s->used && line && !s->known[CF_OF_SIZE])
        add(s, 0, 0, line);
}

static int by_triple(const void *a, const void *b)
{
    const struct triple *x = a, *y = b;
    int order = cf_order(x->size, y->size);

    order = order ? order : cf_order(x->ways, y->ways);
    return order ? order : cf_order(x->line, y->line);
}

/* Each triple once, with its share of all weights; returns the heaviest. */
static const struct triple *weigh(struct search *s)
{
    size_t kept = 0, best = 0;
    double sum = 0, most;

    qsort(s->triple, s->used, sizeof *s->triple, by_triple);
    for (size_t i = 0; i < s->used; i++)
        if (!i || by_triple(&s->triple[i], &s->triple[kept - 1]) != 0)
            s->triple[kept++] = s->triple[i];
    s->used = kept;
    for (size_t i = 0; i < kept; i++)
        if (s->triple[i].weight > s->triple[best].weight)
            best = i;
    most = s->triple[best].weight;
    for (size_t i = 0; i < kept; i++)
        sum += s->triple[i].weight = exp(s->triple[i].weight - most);
    for (size_t i = 0; i < kept; i++)
        s->triple[i].weight /= sum;
    return &s->triple[best];
}

static uint64_t trait(const struct triple *t, unsigned k)
{
    return k == CF_TRAIT_SIZE ? t->size : k == CF_TRAIT_WAYS ? t->ways : t->line;
}

static enum cf_trait trait_of(enum cf_measures of)
{
    return of == CF_OF_SIZE ? CF_TRAIT_SIZE : of == CF_OF_LINE ? CF_TRAIT_LINE : CF_TRAIT_WAYS;
}

/* One value of the heaviest triple: how sure, and which others may be. */
static void estimate(const struct search *s, const struct triple *best, unsigned k,
                     struct cf_estimate *to)
{
    *to = (struct cf_estimate){.value = trait(best, k), .against = -1, .with = -1};
    to->least = to->most = to->value;
    for (size_t i = 0; i < s->used; i++) {
        const uint64_t v = trait(&s->triple[i], k);

        if (v == to->value)
            to->confidence += s->triple[i].weight;
        if (s->triple[i].weight < 0.005)
            continue;
        to->least = v < to->least ? v : to->least;
        to->most = v > to->most ? v : to->most;
    }
}

/* Which experiments say what the triple does; one that says otherwise contradicts those. */
static void confront(const struct search *s, const struct triple *best, struct cf_estimate *to)
{
    int agrees[CF_TRAITS] = {-1, -1, -1};

    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < s->count; i++) {
            const struct cf_change *c = s->e[i].change;
            struct cf_estimate *t = &to[trait_of(s->e[i].of)];
            const uint64_t value = of_triple(best, s->e[i].of);
            const double chance = fmax(FLOOR, cf_change_chance(c, value));
            double most = 0;

            if (!value || !(tells(c) || is_bound(&s->e[i])))
                continue;
            for (size_t j = 0; j <= c->count; j++)
                most = fmax(most, c->chance[j]);
            if (chance >= CONTRADICTION * most) {
                if (!tells(c))
                    continue;
                t->by |= 1u << i;
                agrees[trait_of(s->e[i].of)] = (int)i;
            } else if (pass) {
                t->against = (int)i;
                t->with = agrees[trait_of(s->e[i].of)];
                t->confidence = 0;
            }
        }
}

/* The patterns that show the ways are made of the size, and size and ways are those of one triple:
   where one of them is contradicted, the other one is not known either. */
static void follow(struct cf_estimate *to)
{
    struct cf_estimate *const size = &to[CF_TRAIT_SIZE], *const ways = &to[CF_TRAIT_WAYS];
    const struct cf_estimate *const wrong = size->against >= 0 ? size : ways;
    struct cf_estimate *const other = wrong == size ? ways : size;

    if (wrong->against < 0 || other->against >= 0)
        return;
    other->confidence = 0;
    other->against = wrong->against;
    other->with = wrong->with;
}

/* Agreement makes no series reach further, and no measurement repeated. */
static void bound(const struct search *s, struct cf_estimate *to)
{
    for (unsigned k = 0; k < CF_TRAITS; k++) {
        double most = 0;

        for (unsigned i = 0; i < s->count; i++) {
            const struct cf_change *c = s->e[i].change;

            if (!(to[k].by >> i & 1))
                continue;
            most = fmax(most, c->state == CF_CHANGE_ONCE ? c->confidence
                                                         : 1 - c->chance[0] - c->chance[c->count]);
        }
        to[k].confidence = to[k].value ? fmin(to[k].confidence, most) : 0;
    }
}

int cf_geometry_agree(struct cf_estimate *to, const struct cf_evidence *e, unsigned count,
                      uint64_t least_line)
{
    struct search s = {.e = e, .count = count};
    const struct triple *best;

    for (unsigned k = 0; k < CF_TRAITS; k++)
        to[k] = (struct cf_estimate){.against = -1, .with = -1};
    for (unsigned i = 0; i < count; i++)
        s.known[e[i].of] |= tells(e[i].change);
    if (s.known[CF_OF_LINE])
        for (uint64_t line = LEAST_LINE; line <= MOST_LINE; line *= 2) {
            double chance = 0;

            for (unsigned i = 0; i < count; i++)
                if (e[i].of == CF_OF_LINE && tells(e[i].change))
                    chance = fmax(chance, cf_change_chance(e[i].change, line));
            if (chance >= UNLIKELY && line >= least_line)
                take_line(&s, line);
        }
    else
        take_line(&s, least_line);
    if (s.used && !s.no_memory) {
        best = weigh(&s);
        for (unsigned k = 0; k < CF_TRAITS; k++)
            estimate(&s, best, k, &to[k]);
        confront(&s, best, to);
        bound(&s, to);
        follow(to);
    }
    free(s.triple);
    return s.no_memory ? -1 : 0;
}
