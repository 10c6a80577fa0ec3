/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_intervals.c - the set of address ranges against a reference that cannot be wrong: an array
 * with one owner for each unit of a small address space. Random insertions, removals and lookups,
 * in spaces at both ends of the 64 bits and with units from a byte to a petabyte; the set grows to
 * thousands of ranges and shrinks to none, so that its blocks split and join.
 */
#include <string.h>

#include "filters/engine/rows/intervals.h"
#include "tests/unit/intervals_bytes.h"
#include "tests/unit/tap.h"

enum { UNITS = 1 << 14 };

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

struct space {
    const char *name;
    uint64_t base, scale;
    unsigned shift;
};

struct reference {
    uint32_t owner[UNITS]; /* value of the range that holds the unit, 0 = none */
    uint32_t from[UNITS + 1], to[UNITS + 1];
    uint32_t slot[UNITS + 1]; /* of each value */
    uint32_t live[UNITS + 1], lives;
};

static uint64_t first_byte(const struct space *s, uint32_t unit)
{
    return s->base + unit * s->scale;
}

static uint64_t last_byte(const struct space *s, uint32_t unit)
{
    return s->base + unit * s->scale + (s->scale - 1);
}

/* The whole set in address order, through the list, equals the reference. */
static int same_order(const struct cf_intervals *v, const struct reference *r,
                      const struct space *s)
{
    const struct cf_interval *slots = cf_intervals_slots(v);
    uint32_t at = slots[0].next, before = 0, seen = 0;

    for (uint32_t u = 0; u < UNITS; u++) {
        uint32_t value = r->owner[u];
        if (!value || r->from[value] != u)
            continue;
        if (at == 0 || slots[at].value != value || slots[at].extra != ~value ||
            slots[at].start != first_byte(s, u) || slots[at].last != last_byte(s, r->to[value]) ||
            slots[at].prev != before)
            return 0;
        before = at;
        at = slots[at].next;
        seen++;
    }
    return at == 0 && seen == cf_intervals_count(v);
}

static int insert_agrees(struct cf_intervals *v, struct reference *r, const struct space *s,
                         uint32_t value, uint32_t longest)
{
    uint32_t from = (uint32_t)rnd(UNITS), to = from + (uint32_t)rnd(longest), taken = 0;

    if (to >= UNITS)
        to = UNITS - 1;
    for (uint32_t u = from; u <= to && !taken; u++)
        taken = r->owner[u];
    uint32_t slot = cf_intervals_insert(v, first_byte(s, from), last_byte(s, to), value, ~value);
    if (taken || !slot)
        return taken && !slot;
    for (uint32_t u = from; u <= to; u++)
        r->owner[u] = value;
    r->from[value] = from;
    r->to[value] = to;
    r->slot[value] = slot;
    r->live[r->lives++] = value;
    return 1;
}

static void remove_one(struct cf_intervals *v, struct reference *r)
{
    uint32_t i = (uint32_t)rnd(r->lives), value = r->live[i];

    r->live[i] = r->live[--r->lives];
    cf_intervals_remove(v, r->slot[value]);
    for (uint32_t u = r->from[value]; u <= r->to[value]; u++)
        r->owner[u] = 0;
    r->slot[value] = 0;
}

/* The stretch around an address of unit `at` ends where the owner does, and never widens. */
static int around_agrees(struct cf_intervals *v, const struct reference *r, const struct space *s,
                         uint64_t addr, uint32_t at)
{
    uint64_t first = 0, last = UINT64_MAX, low = addr, high = addr;

    cf_intervals_around(v, addr, &first, &last);
    cf_intervals_around(v, addr, &low, &high);
    if (low != addr || high != addr || first > addr || last < addr)
        return 0;
    for (uint32_t u = 0; u < UNITS; u++) {
        const int inside = first_byte(s, u) >= first && last_byte(s, u) <= last;
        const int beside = (first && last_byte(s, u) == first - 1) ||
                           (last != UINT64_MAX && first_byte(s, u) == last + 1);

        if ((inside && r->owner[u] != r->owner[at]) || (beside && r->owner[u] == r->owner[at]) ||
            (u == at && !inside))
            return 0;
    }
    return 1;
}

static int finds_agree(struct cf_intervals *v, const struct reference *r, const struct space *s)
{
    uint64_t addr[77], key[77];
    uint32_t want[77], got[77], unit_of[77], n = 1 + (uint32_t)rnd(77), near = (uint32_t)rnd(UNITS);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t unit = rnd(3) ? (near + (uint32_t)rnd(9)) % UNITS : (uint32_t)rnd(UNITS);
        addr[i] = first_byte(s, unit) + rnd(s->scale);
        key[i] = rnd(5);
        want[i] = r->owner[unit];
        unit_of[i] = unit;
    }
    cf_intervals_find_many(v, addr, rnd(4) ? key : NULL, n / 2, got);
    cf_intervals_find_many(v, addr + n / 2, key, n - n / 2, got + n / 2);
    for (uint32_t i = 0; i < n; i++) {
        if (cf_intervals_slots(v)[got[i]].value != want[i])
            return 0;
        if (got[i] != cf_intervals_find(v, addr[i], key[i]))
            return 0;
    }
    for (uint32_t i = 0; i < n; i += 16)
        if (!around_agrees(v, r, s, addr[i], unit_of[i]))
            return 0;
    uint32_t from = (uint32_t)rnd(UNITS), to = from + (uint32_t)rnd(UNITS - from), first = 0;
    for (uint32_t u = from; u <= to && !first; u++)
        first = r->owner[u];
    uint32_t slot = cf_intervals_overlap(v, first_byte(s, from), last_byte(s, to));
    return cf_intervals_slots(v)[slot].value == first;
}

static void against_reference(const struct space *s, uint32_t longest)
{
    static struct reference r;
    struct cf_intervals *v = cf_intervals_new(s->shift), *copy;
    int inserts = 1, finds = 1, orders = 1, copies = 1;
    uint32_t most = 0;

    memset(&r, 0, sizeof r);
    need(v != NULL, "%s: a new set", s->name);
    for (int step = 0; step < 60000; step++) {
        /* Twice up and down. */
        int growing = (step / 15000) % 2 == 0;
        if (rnd(10) < (growing ? 7 : 2)) {
            uint32_t value = 1 + (uint32_t)rnd(UNITS);
            if (!r.slot[value])
                inserts &= insert_agrees(v, &r, s, value, longest);
        } else if (r.lives) {
            remove_one(v, &r);
        }
        if (r.lives > most)
            most = r.lives;
        if (step % 8 == 0)
            finds &= finds_agree(v, &r, s);
        if (step % 1000 == 0)
            orders &= same_order(v, &r, s);
        if (step % 7000 == 0) {
            copy = cf_intervals_copy(v);
            copies &= copy && same_order(copy, &r, s) && finds_agree(copy, &r, s);
            if (copy && rnd(2)) {
                /* What happens to one must not show in the other. */
                while (cf_intervals_slots(v)[0].next)
                    cf_intervals_remove(v, cf_intervals_slots(v)[0].next);
                cf_intervals_free(v);
                v = copy;
                copies &= same_order(v, &r, s);
            } else {
                cf_intervals_free(copy);
            }
        }
    }
    while (r.lives) {
        remove_one(v, &r);
        if (r.lives % 256 == 0)
            orders &= same_order(v, &r, s);
    }
    ok(inserts, "%s, ranges up to %u units: insertions succeed where there is room only", s->name,
       longest);
    ok(finds, "%s, ranges up to %u units: lookups agree", s->name, longest);
    ok(orders, "%s, ranges up to %u units: order agrees, up to %u ranges", s->name, longest, most);
    ok(copies, "%s, ranges up to %u units: copies are equal and independent", s->name, longest);
    ok(cf_intervals_count(v) == 0 && finds_agree(v, &r, s), "%s: empty at the end", s->name);
    cf_intervals_free(v);
}

static void edges(void)
{
    struct cf_intervals *v = cf_intervals_new(6);
    uint32_t all, low, high;

    need(v != NULL, "a new set");
    is_u64(cf_intervals_find(v, 0, 0), 0, "nothing at 0 in an empty set");
    is_u64(cf_intervals_overlap(v, 0, UINT64_MAX), 0, "nothing anywhere in an empty set");
    all = cf_intervals_insert(v, 0, UINT64_MAX, 5, 6);
    ok(all != 0, "the range of all addresses");
    is_u64(cf_intervals_find(v, 0, 0), all, "holds 0");
    is_u64(cf_intervals_find(v, UINT64_MAX, 0), all, "holds the last address");
    is_u64(cf_intervals_insert(v, 77, 77, 1, 1), 0, "leaves no room");
    cf_intervals_remove(v, all);
    is_u64(cf_intervals_find(v, 0, 0), 0, "gone at 0");
    is_u64(cf_intervals_find(v, UINT64_MAX, 0), 0, "gone at the end");
    low = cf_intervals_insert(v, 0, 0, 1, 0);
    high = cf_intervals_insert(v, UINT64_MAX, UINT64_MAX, 2, 0);
    ok(low && high, "one byte at each end");
    is_u64(cf_intervals_find(v, 0, 0), low, "found at 0");
    is_u64(cf_intervals_find(v, 1, 0), 0, "nothing at 1");
    is_u64(cf_intervals_find(v, UINT64_MAX, 0), high, "found at the end");
    is_u64(cf_intervals_find(v, UINT64_MAX - 1, 0), 0, "nothing before it");
    is_u64(cf_intervals_overlap(v, 1, UINT64_MAX), high, "the first above 1");
    is_u64(cf_intervals_insert(v, 10, 9, 1, 1), 0, "a range that ends before it begins");
    cf_intervals_free(v);
    cf_intervals_free(NULL);
}

/* A copy has no hints of its own until it is asked, as a new set. */
static void hints_of_a_copy(void)
{
    struct cf_intervals *v = cf_intervals_new(12), *copy;
    uint32_t slot = v ? cf_intervals_insert(v, 10, 19, 1, 0) : 0;

    need(slot && cf_intervals_find(v, 15, 0) == slot, "a set that was asked");
    copy = cf_intervals_copy(v);
    need(copy != NULL, "its copy");
    is_u64(cf_intervals_find(copy, 15, 0), slot, "finds the same");
    ok(copy->near != NULL, "and makes hints, so that it need not search each time");
    cf_intervals_free(copy);
    cf_intervals_free(v);
}

/* A million ranges that go again but for one in a hundred leave memory in proportion. */
static void memory(void)
{
    enum { MANY = 1000000 };
    struct cf_intervals *v = cf_intervals_new(6);
    uint32_t *slot = calloc(MANY, sizeof *slot);
    uint32_t missing = 0;
    size_t full, thin;

    need(v && slot, "a set of a million");
    for (uint32_t i = 0; i < MANY; i++)
        missing += !(slot[i] = cf_intervals_insert(v, i * 64ull, i * 64ull + 47, i, 0));
    is_u64(missing, 0, "a million ranges");
    full = intervals_bytes(v);
    ok(full < MANY * 100ull, "take less than 100 bytes each");
    for (uint32_t i = 0; i < MANY; i++)
        if (i % 100)
            cf_intervals_remove(v, slot[i]);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 1; i < MANY; i += 100)
            slot[i] = cf_intervals_insert(v, i * 64ull, i * 64ull + 47, i, 0);
        for (uint32_t i = 1; i < MANY; i += 100)
            cf_intervals_remove(v, slot[i]);
    }
    thin = intervals_bytes(v);
    ok(thin <= full, "memory does not grow with ranges that come and go: %zu, %zu", full, thin);
    is_u64(cf_intervals_count(v), MANY / 100, "the rest is there");
    cf_intervals_free(v);
    free(slot);
}

int main(void)
{
    static const struct space spaces[] = {
        {"bytes from 0", 0, 1, 6},
        {"bytes up to the last address", UINT64_MAX - UNITS + 1, 1, 0},
        {"granules of 16 bytes", 0x4a00000, 16, 6},
        {"pages", 0x7f0000000000, 4096, 12},
        {"2^50 bytes a unit: all of the 64 bits", 0, 1ull << 50, 12},
    };

    edges();
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        against_reference(&spaces[i], 1);
        against_reference(&spaces[i], 12);
        against_reference(&spaces[i], 3000);
    }
    hints_of_a_copy();
    memory();
    return done();
}
