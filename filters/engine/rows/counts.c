/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts.c - a counter for each distinct key (see counts.h).
 *
 * In: keys and values as arrays. Out: the sum of the values of each key. Memory: the table, which
 * doubles when it is three quarters full, and while it does, its old half.
 *
 * Keys of a trace come in bursts and their counters do not fit the caches, so rows are taken in
 * blocks: equal neighbours are added up, and the slots of a block are fetched before the first is
 * looked at. Keys that are numbered may also take turns, as threads do: those of lately are found
 * in a small table, row by row.
 */
#include <stdlib.h>

#include "filters/engine/rows/counts.h"
#include "formats/base/cf_hash.h"

enum { FIRST_SLOTS = 1 << 10, BLOCK = 64, RECENT_BITS = 9 };

struct slot {
    struct cf_count count;
    uint64_t used;
};

/* A key that was numbered lately; number 0: none. */
struct recent {
    uint64_t a, b;
    uint32_t number; /* + 1 */
};

struct cf_counts {
    struct slot *slot;
    struct recent *recent; /* direct-mapped; NULL until keys are numbered */
    size_t slots;          /* a power of two */
    size_t size;
    unsigned shift; /* 64 - log2(slots) */
    struct cf_seed seed;
};

struct cf_counts *cf_counts_new(void)
{
    struct cf_counts *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->slots = FIRST_SLOTS;
    c->shift = 64 - (unsigned)__builtin_ctzll(c->slots);
    c->seed = cf_seed(c);
    c->slot = calloc(c->slots, sizeof(*c->slot));
    if (!c->slot) {
        free(c);
        return NULL;
    }
    return c;
}

void cf_counts_free(struct cf_counts *c)
{
    if (c) {
        free(c->slot);
        free(c->recent);
        free(c);
    }
}

static inline size_t home(const struct cf_counts *c, uint64_t a, uint64_t b)
{
    return (size_t)(cf_hash(c->seed, a, b) >> c->shift);
}

static inline struct slot *find(const struct cf_counts *c, size_t at, uint64_t a, uint64_t b)
{
    for (;; at = (at + 1) & (c->slots - 1)) {
        struct slot *s = &c->slot[at];

        if (!s->used || (s->count.a == a && s->count.b == b))
            return s;
    }
}

static int grow(struct cf_counts *c)
{
    struct cf_counts larger = *c;

    larger.slots *= 2;
    larger.shift--;
    larger.slot = calloc(larger.slots, sizeof(*larger.slot));
    if (!larger.slot)
        return -1;
    for (size_t i = 0; i < c->slots; i++) {
        const struct cf_count *k = &c->slot[i].count;

        if (c->slot[i].used)
            *find(&larger, home(&larger, k->a, k->b), k->a, k->b) = c->slot[i];
    }
    free(c->slot);
    *c = larger;
    return 0;
}

/* Room for `more` further keys. */
static int make_room(struct cf_counts *c, size_t more)
{
    while ((c->size + more) * 4 > c->slots * 3)
        if (grow(c) != 0)
            return -1;
    return 0;
}

static inline uint64_t *value_at(struct cf_counts *c, size_t at, uint64_t a, uint64_t b)
{
    struct slot *s = find(c, at, a, b);

    if (!s->used) {
        *s = (struct slot){{a, b, 0}, 1};
        c->size++;
    }
    return &s->count.value;
}

uint64_t *cf_counts_at(struct cf_counts *c, uint64_t a, uint64_t b)
{
    return make_room(c, 1) != 0 ? NULL : value_at(c, home(c, a, b), a, b);
}

uint64_t cf_counts_get(const struct cf_counts *c, uint64_t a, uint64_t b)
{
    const struct slot *s = find(c, home(c, a, b), a, b);

    return s->used ? s->count.value : 0;
}

int cf_counts_add(struct cf_counts *c, const uint64_t *a, const uint64_t *b, const uint64_t *value,
                  size_t rows)
{
    size_t i = 0;

    while (i < rows) {
        struct cf_count run[BLOCK];
        size_t at[BLOCK], n = 0;

        if (make_room(c, BLOCK) != 0)
            return -1;
        for (; i < rows && n < BLOCK; n++) {
            struct cf_count r = {a ? a[i] : 0, b[i], value[i]};

            for (i++; i < rows && b[i] == r.b && (!a || a[i] == r.a); i++)
                r.value += value[i];
            run[n] = r;
            at[n] = home(c, r.a, r.b);
            __builtin_prefetch(&c->slot[at[n]], 1);
        }
        for (size_t k = 0; k < n; k++)
            if (run[k].value)
                *value_at(c, at[k], run[k].a, run[k].b) += run[k].value;
    }
    return 0;
}

static inline struct recent *recent_of(const struct cf_counts *c, uint64_t a, uint64_t b)
{
    return &c->recent[(a + b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) >>
                      (64 - RECENT_BITS)];
}

int cf_counts_number(struct cf_counts *c, const uint64_t *a, const uint64_t *b,
                     const uint64_t *some, size_t rows, uint32_t *number)
{
    if (!c->recent && !(c->recent = calloc(1 << RECENT_BITS, sizeof *c->recent)))
        return -1;
    for (size_t i = 0; i < rows;) {
        const size_t end = rows - i < BLOCK ? rows : i + BLOCK;
        size_t row[BLOCK], at[BLOCK], n = 0; /* those that are not among the recent ones */

        if (c->size >= UINT32_MAX - BLOCK || make_room(c, BLOCK) != 0)
            return -1;
        for (; i < end; i++) {
            const struct recent *r = recent_of(c, a[i], b[i]);

            number[i] = r->number - 1;
            row[n] = i;
            n += !r->number || r->a != a[i] || r->b != b[i];
        }
        for (size_t k = 0; k < n; k++) {
            at[k] = home(c, a[row[k]], b[row[k]]);
            __builtin_prefetch(&c->slot[at[k]], 1);
        }
        for (size_t k = 0; k < n; k++) {
            const uint64_t one = a[row[k]], two = b[row[k]];
            uint64_t *value = some[row[k]] ? value_at(c, at[k], one, two) : NULL;

            if (value && !*value)
                *value = c->size;
            number[row[k]] = value ? (uint32_t)(*value - 1) : 0;
            if (value)
                *recent_of(c, one, two) = (struct recent){one, two, (uint32_t)*value};
        }
    }
    return 0;
}

size_t cf_counts_size(const struct cf_counts *c)
{
    return c->size;
}

void cf_counts_copy(const struct cf_counts *c, struct cf_count *out)
{
    for (size_t i = 0; i < c->slots; i++)
        if (c->slot[i].used)
            *out++ = c->slot[i].count;
}

/* The sums are wider than the values, so that nothing overflows: 2^64 values of 64 bits. */
static unsigned __int128 sum(const uint64_t *value, size_t count)
{
    unsigned __int128 total = 0;

    for (size_t i = 0; i < count; i++)
        total += value[i];
    return total;
}

size_t cf_counts_knee(const uint64_t *value, size_t count)
{
    /* Scaled by count * total: the distance of point i is cumulative * count - i * total, and
       grows by value * count - total a step. It is exact as long as total * count < 2^127. */
    __int128 total = (__int128)sum(value, count), distance = 0, most = 0;
    size_t knee = 0;

    for (size_t i = 0; i < count; i++) {
        distance += (__int128)value[i] * (__int128)count - total;
        if (distance > most) {
            most = distance;
            knee = i + 1;
        }
    }
    return knee;
}

size_t cf_counts_cover(const uint64_t *value, size_t count, uint32_t millionths)
{
    unsigned __int128 total = sum(value, count), so_far = 0;
    size_t n = 0;

    while (n < count && so_far * 1000000 < total * millionths)
        so_far += value[n++];
    return n;
}
