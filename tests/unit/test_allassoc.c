/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_allassoc: places in the lists of the sets against a slow list for each set, and misses
 * against caches that are simulated one by one; the code for each processor;
 * numbers of sets that divide each other or not, 1 to 1024 ways, lines that are equal in many bits.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/distance/allassoc.h"
#include "filters/engine/cache/cache.h"
#include "tap.h"

enum { MOST = 4000, MOST_WAYS = 1024, MOST_SETS = 1024, MOST_LINES = 100 * MOST_SETS };

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static uint64_t line[MOST];

static void make(unsigned style, uint32_t count)
{
    const uint32_t lines = 1 + next() % 3000;
    uint64_t at = next();

    for (uint32_t i = 0; i < count; i++) {
        switch (style) {
        case 0: /* the same few */
            line[i] = next() % lines * (next() % 3) / 2;
            break;
        case 1: /* round and round */
            line[i] = at++ % lines;
            break;
        case 2: /* a walk */
            line[i] = at += next() % 5;
            at -= 2;
            break;
        case 3: /* in large steps */
            line[i] = next() % 40 * (uint64_t)0x40001;
            break;
        case 4: /* equal in the low bits */
            line[i] = ((uint64_t)(next() % 200) << 24) + next() % 20;
            break;
        default: /* far apart, with the highest bits */
            line[i] = ((uint64_t)next() % (1 + i / 8) << 53) +
                      ((uint64_t)(next() % (1 + i / 8)) << 24) + next() % 8;
        }
        line[i] %= ((uint64_t)1 << 63) - 1;
    }
}

static uint64_t at[MOST_WAYS + 1];
static uint64_t lists[MOST_LINES];
static uint32_t used[MOST_SETS];

static void slow(uint32_t sets, uint32_t ways, uint32_t count)
{
    memset(at, 0, sizeof(at));
    memset(used, 0, sizeof(used));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t set = (uint32_t)(line[i] % sets);
        uint64_t *list = lists + set * ways;
        uint32_t place = 0;

        while (place < used[set] && list[place] != line[i])
            place++;
        at[place < used[set] ? place : ways]++;
        if (place == used[set] && used[set] < ways)
            used[set]++;
        if (place == ways)
            place--;
        memmove(list + 1, list, place * sizeof(uint64_t));
        list[0] = line[i];
    }
}

/* For which processors the code is run. */
enum { MODES = 2 };
static const char *const mode_name[MODES] = {"avx2", "base"};

static unsigned bad[MODES];

/* All places of `count` references, for n numbers of sets. */
static void compare(const uint32_t *sets, unsigned n, uint32_t ways, uint32_t count, unsigned round)
{
    struct cf_allassoc *a[MODES];

    for (unsigned mode = 0; mode < MODES; mode++) {
        setenv("CF_CPU", mode_name[mode], 1);
        a[mode] = cf_allassoc_new(sets, n, ways);
        for (uint32_t i = 0; i < count;) {
            const uint32_t piece = 1 + next() % (count - i);

            cf_allassoc_run(a[mode], line + i, piece);
            i += piece;
        }
    }
    for (unsigned k = 0; k < n; k++) {
        slow(sets[k], ways, count);
        for (unsigned mode = 0; mode < MODES; mode++) {
            int good = cf_allassoc_misses(a[mode], k, ways) == at[ways] &&
                       cf_allassoc_misses(a[mode], k, 0) == count;

            for (uint32_t p = 0; p < ways; p++)
                good &= cf_allassoc_misses(a[mode], k, p) - cf_allassoc_misses(a[mode], k, p + 1) ==
                        at[p];
            if (!good && !bad[mode]++)
                note("%s: round %u, %u sets, %u ways", mode_name[mode], round, sets[k], ways);
        }
    }
    for (unsigned mode = 0; mode < MODES; mode++)
        cf_allassoc_free(a[mode]);
}

static void places(void)
{
    static const uint32_t choice[][6] = {{1, 2, 4, 8, 16, 1024},
                                         {1, 3, 6, 7, 14, 100},
                                         {5, 10, 20, 21, 64, 128},
                                         {1, 64, 65, 130, 650, 1000},
                                         {2, 3, 4, 6, 8, 12}};
    static const uint32_t chain[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
    static const uint32_t ways[] = {1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100};
    static const uint32_t many[] = {128, 129, 511, 512, 1000, 1023, 1024};
    enum { ROUNDS = 3000 };

    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint32_t *sets = choice[next() % 5];
        const uint32_t w = ways[next() % 14], count = next() % MOST;
        const unsigned n = 1 + next() % 6, from = next() % (7 - n);

        make(round % 6, MOST);
        compare(sets + from, n, w, count, round);
        if (round % 49)
            continue;
        compare(chain, 11, w, MOST, round);
        compare(choice[4], 6, many[next() % 7], MOST, round);
    }
    for (unsigned mode = 0; mode < MODES; mode++)
        is_u64(bad[mode], 0, "%d traces have the places of a slow list: %s", ROUNDS,
               mode_name[mode]);
}

static void caches(void)
{
    static const uint32_t sets[] = {1, 2, 4, 16, 48, 96};
    static const uint32_t ways[] = {1, 2, 5, 8, 16, 32};
    static uint8_t flags[MOST];
    static uint32_t miss[MOST + 8];
    static uint64_t victim[MOST + 8];
    struct cf_allassoc *a = cf_allassoc_new(sets, 6, 32);

    make(0, MOST);
    cf_allassoc_run(a, line, MOST);
    for (unsigned k = 0; k < 6; k++)
        for (unsigned w = 0; w < 6; w++) {
            const struct cf_cache_geometry g = {.sets = sets[k], .ways = ways[w], .policy = CF_LRU};
            struct cf_cache *c = cf_cache_new(&g);

            is_u64(cf_allassoc_misses(a, k, ways[w]),
                   cf_cache_batch(c, line, flags, MOST, CF_CACHE_ALL_WAYS, miss, victim),
                   "misses of a cache of %u x %u", sets[k], ways[w]);
            cf_cache_free(c);
        }
    cf_allassoc_free(a);
}

static void arguments(void)
{
    static const uint32_t sets[] = {0, 1, 1, 2};

    ok(!cf_allassoc_new(sets, 2, 8), "0 sets are refused");
    ok(!cf_allassoc_new(sets + 1, 2, 8), "the same number twice is refused");
    ok(!cf_allassoc_new(sets + 2, 2, 0), "0 ways are refused");
    ok(!cf_allassoc_new(sets + 2, 2, 1025), "1025 ways are refused");
    ok(!cf_allassoc_new(sets + 2, 0, 8), "no number of sets is refused");
}

int main(void)
{
    places();
    caches();
    arguments();
    return done();
}
