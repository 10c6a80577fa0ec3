/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters by key against a sorted list; knee and coverage by hand and by definition. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "tap.h"

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static int by_key(const void *x, const void *y)
{
    const struct cf_count *i = x, *j = y;

    if (i->a != j->a)
        return i->a < j->a ? -1 : 1;
    return (i->b > j->b) - (i->b < j->b);
}

/* Sums equal keys of a sorted list; returns how many are left. */
static size_t reference(struct cf_count *list, size_t count)
{
    size_t n = 0;

    qsort(list, count, sizeof(*list), by_key);
    for (size_t i = 0; i < count; i++) {
        if (!list[i].value)
            continue;
        if (n && by_key(&list[n - 1], &list[i]) == 0)
            list[n - 1].value += list[i].value;
        else
            list[n++] = list[i];
    }
    return n;
}

/* `keys` distinct values in each word, in bursts. */
static void random_rows(size_t rows, uint32_t keys, int with_a, uint64_t stride)
{
    uint64_t *a = malloc(rows * sizeof(*a)), *b = malloc(rows * sizeof(*b));
    uint64_t *value = malloc(rows * sizeof(*value));
    struct cf_count *want = malloc(rows * sizeof(*want)), *got;
    struct cf_counts *c = cf_counts_new();
    size_t n;

    for (size_t i = 0; i < rows; i++) {
        int same = i && next() % 2;

        a[i] = same ? a[i - 1] : with_a ? next() % 3 : 0;
        b[i] = same ? b[i - 1] : next() % keys * stride;
        value[i] = next() % 5;
        want[i] = (struct cf_count){a[i], b[i], value[i]};
    }
    n = reference(want, rows);
    for (size_t done = 0; done < rows;) {
        size_t part = next() % 1000;

        part = part > rows - done ? rows - done : part;
        if (cf_counts_add(c, with_a ? a + done : NULL, b + done, value + done, part) != 0)
            abort();
        done += part;
    }
    is_u64(cf_counts_size(c), n, "%zu rows have %zu keys", rows, n);
    got = malloc((cf_counts_size(c) + 1) * sizeof(*got));
    cf_counts_copy(c, got);
    qsort(got, cf_counts_size(c), sizeof(*got), by_key);
    ok(memcmp(got, want, n * sizeof(*got)) == 0, "and the sums of a sorted list");
    is_u64(cf_counts_get(c, want[n / 2].a, want[n / 2].b), want[n / 2].value, "one of them");
    is_u64(cf_counts_get(c, 77, 1), 0, "an unknown key has none");
    cf_counts_free(c);
    free(a);
    free(b);
    free(value);
    free(want);
    free(got);
}

/* The inverse of x ^ x >> 32 is itself; of odd factors by Newton's method. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;

    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

/* Keys that a hash without a seed puts into one place: in order, each would stand behind the one
   before it, and the table would be a list. */
static void colliding(void)
{
    enum { KEYS = 2000 };
    struct cf_counts *c = cf_counts_new();
    struct cf_count got[KEYS];
    size_t in_order = 0, wrong = 0;

    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t h = i * inverse(0xd6e8feb86659fd93u), *at;

        h ^= h >> 32;
        at = cf_counts_at(c, 0, h * inverse(0x9e3779b97f4a7c15u));
        need(at != NULL, "memory");
        *at = i + 1;
    }
    cf_counts_copy(c, got);
    for (size_t i = 1; i < KEYS; i++) {
        in_order += got[i].value == got[i - 1].value + 1;
        wrong += cf_counts_get(c, 0, got[i].b) != got[i].value;
    }
    is_u64(wrong, 0, "colliding keys are found");
    ok(in_order < KEYS / 10, "and do not collide: %zu in order", in_order);
    cf_counts_free(c);
}

static size_t knee_by_definition(const uint64_t *v, size_t n)
{
    double total = 0, so_far = 0, most = 1e-9;
    size_t knee = 0;

    for (size_t i = 0; i < n; i++)
        total += (double)v[i];
    for (size_t i = 0; i < n; i++) {
        double above;

        so_far += (double)v[i];
        above = so_far / total - (double)(i + 1) / (double)n;
        if (above > most) {
            most = above;
            knee = i + 1;
        }
    }
    return knee;
}

static int falling(const void *x, const void *y)
{
    const uint64_t *i = x, *j = y;

    return (*i < *j) - (*i > *j);
}

static void knees(void)
{
    static const uint64_t steep[] = {50, 30, 10, 4, 3, 2, 1}, flat[] = {3, 3, 3, 3};
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX, 1, 1, 1}, one[] = {9};
    uint64_t v[501];
    size_t wrong = 0;

    is_u64(cf_counts_knee(steep, 7), 2, "knee of a steep ranking");
    is_u64(cf_counts_knee(flat, 4), 0, "equal values have none");
    is_u64(cf_counts_knee(one, 1), 0, "nor has one value");
    is_u64(cf_counts_knee(one, 0), 0, "nor none");
    is_u64(cf_counts_knee(huge, 5), 2, "sums of more than 64 bits");
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + next() % 500;

        for (size_t i = 0; i < n; i++)
            v[i] = next() >> next() % 31;
        qsort(v, n, sizeof(*v), falling);
        wrong += v[0] && cf_counts_knee(v, n) != knee_by_definition(v, n);
    }
    is_u64(wrong, 0, "200 random rankings as the definition says");
}

static void covers(void)
{
    static const uint64_t v[] = {50, 30, 10, 4, 3, 2, 1}, zero[] = {0, 0};
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX};

    is_u64(cf_counts_cover(v, 7, 0), 0, "nothing needs nothing");
    is_u64(cf_counts_cover(v, 7, 500000), 1, "50 %%");
    is_u64(cf_counts_cover(v, 7, 500001), 2, "50.0001 %%");
    is_u64(cf_counts_cover(v, 7, 900000), 3, "90 %%");
    is_u64(cf_counts_cover(v, 7, 1000000), 7, "all");
    is_u64(cf_counts_cover(zero, 2, 1000000), 0, "all of nothing");
    is_u64(cf_counts_cover(huge, 2, 500000), 1, "half of a huge sum");
}

int main(void)
{
    struct cf_counts *c = cf_counts_new();
    uint64_t *p;

    p = cf_counts_at(c, 0, 0);
    *p += 3;
    is_u64(cf_counts_get(c, 0, 0), 3, "the key 0 is a key");
    is_u64(cf_counts_size(c), 1, "and counts");
    cf_counts_free(c);
    random_rows(1, 10, 1, 1);
    random_rows(100, 10, 0, 1);
    random_rows(100000, 500, 1, 64);
    random_rows(200000, 150000, 1, 4096);
    random_rows(200000, 150000, 0, (uint64_t)1 << 40);
    colliding();
    knees();
    covers();
    return done();
}
