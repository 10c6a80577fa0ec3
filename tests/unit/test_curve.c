/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts at given sizes against comparing every distance with every size. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/curve.h"
#include "tap.h"

static uint64_t state = 11;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Numbers of all magnitudes. */
static uint64_t any(void)
{
    return next() >> next() % 64;
}

enum { ROWS = 400, SIZES = 60, GROUPS = 5 };

static int by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

static size_t random_sizes(uint64_t *size, unsigned kind)
{
    size_t n = next() % SIZES, kept = 0;

    for (size_t i = 0; i < n; i++) {
        size[i] = kind == 0   ? (uint64_t)1 << i % 40
                  : kind == 1 ? next() % 100
                  : kind == 2 ? (uint64_t)(4 + i % 4) << i / 4
                              : any();
        if (size[i] >= CF_CURVE_NAMED)
            size[i] = CF_CURVE_NAMED - 1;
    }
    qsort(size, n, sizeof(*size), by_value);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || size[i] != size[kept - 1])
            size[kept++] = size[i];
    return kept;
}

/* 1 when all counts are right. */
static int random_curve(unsigned kind, int grouped, int weighted)
{
    uint64_t size[SIZES], dist[ROWS], weight[ROWS];
    uint32_t group[ROWS];
    size_t count = random_sizes(size, kind);
    struct cf_curve *c = cf_curve_new(size, count);
    int same = c != NULL;

    for (unsigned i = 0; i < ROWS; i++) {
        unsigned what = next() % 8;

        dist[i] = what == 0           ? UINT64_MAX - next() % 6
                  : what == 1         ? any()
                  : what < 4 && count ? size[next() % count] - next() % 2
                                      : next() % 120;
        weight[i] = weighted ? next() % 9 : 1;
        group[i] = grouped ? next() % GROUPS : 0;
    }
    /* in two calls, the first of which knows fewer groups */
    for (unsigned i = 0; i < 9 && grouped; i++)
        group[i] = 0;
    same = same &&
           cf_curve_add(c, dist, grouped ? group : NULL, weighted ? weight : NULL, 9, 1) == 0 &&
           cf_curve_add(c, dist + 9, grouped ? group + 9 : NULL, weighted ? weight + 9 : NULL,
                        ROWS - 9, grouped ? GROUPS : 1) == 0;
    for (unsigned g = 0; g < GROUPS && same; g++) {
        uint64_t total = 0, named[4] = {0}, misses[SIZES];

        cf_curve_misses(c, g, misses);
        for (size_t s = 0; s < count && same; s++) {
            uint64_t want = 0;

            for (unsigned i = 0; i < ROWS; i++)
                if (group[i] == g && dist[i] < CF_CURVE_NAMED && dist[i] >= size[s])
                    want += weight[i];
            same = misses[s] == want;
        }
        for (unsigned i = 0; i < ROWS; i++) {
            if (group[i] == g && dist[i] < CF_CURVE_NAMED)
                total += weight[i];
            else if (group[i] == g)
                named[UINT64_MAX - dist[i]] += weight[i];
        }
        same = same && cf_curve_total(c, g) == total;
        for (unsigned i = 0; i < 4; i++)
            same = same && cf_curve_named(c, g, UINT64_MAX - i) == named[i];
    }
    cf_curve_free(c);
    return same;
}

int main(void)
{
    static const char *const kinds[] = {"powers of two", "small sizes", "four a doubling",
                                        "sizes of all magnitudes"};

    for (unsigned kind = 0; kind < 4; kind++) {
        int good = 1;

        for (unsigned n = 0; n < 800 && good; n++)
            good = random_curve(kind, n & 1, n & 2);
        ok(good, "%s", kinds[kind]);
    }
    return done();
}
