/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cache: one cache against a slow one that keeps times, bits and values for each way as the
 * descriptions of the policies say. Every policy, geometries from 1 x 1 to 3 x 130 and 48 sets,
 * write-back and write-through, stores that allocate or not, way masks, flushes; the portable code,
 * AVX2 and what this machine has; batches mixed with single steps; and the lists of events.
 */
#include <string.h>

#include "filters/engine/cache/cache_steps.h"
#include "cpus.h"
#include "tap.h"

enum { MOST_SETS = 130, BATCH = 700 };

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* ---- the slow cache ---- */

struct way {
    uint64_t line;
    int valid, dirty, bit, value;
    uint64_t touched, came;
};

static struct slow {
    struct cf_cache_geometry g;
    struct way way[MOST_SETS][CF_MAX_WAYS];
    int node[MOST_SETS][2 * CF_MAX_WAYS]; /* the side touched last + 1, 0 = none yet */
    uint64_t time, random;
} slow;

static int allowed(uint64_t mask, unsigned w)
{
    uint64_t all = slow.g.ways < 64 ? ((uint64_t)1 << slow.g.ways) - 1 : UINT64_MAX;

    const int ordered = (slow.g.policy == CF_LRU || slow.g.policy == CF_FIFO) &&
                        !(slow.g.options & CF_CACHE_PHYSICAL);

    if (ordered || !(mask & all) || slow.g.ways == 1)
        return 1;
    return mask >> w % 64 & 1;
}

static unsigned tree_size(void)
{
    unsigned n = 1;

    while (n < slow.g.ways)
        n *= 2;
    return n;
}

/* Clears what this geometry has: all there is room for is megabytes. */
static void slow_begin(const struct cf_cache_geometry *g)
{
    slow.g = *g;
    slow.time = 0;
    slow.random = g->seed;
    for (uint32_t s = 0; s < g->sets; s++) {
        memset(slow.way[s], 0, g->ways * sizeof(slow.way[s][0]));
        memset(slow.node[s], 0, 2 * tree_size() * sizeof(slow.node[s][0]));
    }
}

static void slow_touch(unsigned set, unsigned w, int hit)
{
    struct way *way = slow.way[set];
    unsigned low = 0, high = tree_size(), node = 1, all = 1;

    way[w].touched = ++slow.time;
    if (!hit)
        way[w].came = slow.time;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2, upper = w >= middle;

        slow.node[set][node] = (int)upper + 1;
        node = 2 * node + upper;
        if (upper)
            low = middle;
        else
            high = middle;
    }
    way[w].bit = 1;
    if (slow.g.policy == CF_BIT_PLRU) {
        for (unsigned i = 0; i < slow.g.ways; i++)
            all &= way[i].bit == 1;
        for (unsigned i = 0; all && i < slow.g.ways; i++)
            way[i].bit = i == w;
    }
    way[w].value = hit ? 0 : 2;
}

static unsigned slow_tree(unsigned set, unsigned node, unsigned low, unsigned high, uint64_t mask)
{
    const unsigned middle = (low + high) / 2;
    const int upper = slow.node[set][node] == 1;
    const unsigned from = upper ? middle : low, to = upper ? high : middle;
    int some = 0;

    if (high - low == 1)
        return low;
    for (unsigned w = from; w < to && w < slow.g.ways; w++)
        some |= allowed(mask, w);
    if (upper == some)
        return slow_tree(set, 2 * node + 1, middle, high, mask);
    return slow_tree(set, 2 * node, low, middle, mask);
}

static uint64_t slow_random(void)
{
    uint64_t z = slow.random += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static unsigned slow_choose(unsigned set, uint64_t mask)
{
    struct way *way = slow.way[set];
    const unsigned ways = slow.g.ways;
    unsigned best = ways, n = 0;

    for (unsigned w = 0; w < ways; w++)
        if (allowed(mask, w) && !way[w].valid)
            return w;
    switch (ways == 1 ? CF_FIFO : slow.g.policy) {
    case CF_LRU:
    case CF_FIFO:
        for (unsigned w = 0; w < ways; w++)
            if (allowed(mask, w) &&
                (best == ways || (slow.g.policy == CF_LRU ? way[w].touched < way[best].touched
                                                          : way[w].came < way[best].came)))
                best = w;
        return best;
    case CF_RANDOM:
        for (unsigned w = 0; w < ways; w++)
            n += (unsigned)allowed(mask, w);
        n = (unsigned)((slow_random() >> 32) * n >> 32);
        for (unsigned w = 0;; w++)
            if (allowed(mask, w) && n-- == 0)
                return w;
    case CF_TREE_PLRU:
        return slow_tree(set, 1, 0, tree_size(), mask);
    case CF_BIT_PLRU:
    case CF_NRU:
        for (unsigned w = 0; w < ways; w++)
            if (allowed(mask, w) && !way[w].bit)
                return w;
        for (unsigned w = 0; slow.g.policy == CF_NRU && w < ways; w++)
            if (allowed(mask, w))
                way[w].bit = 0;
        break;
    case CF_SRRIP:
        for (;;) {
            for (unsigned w = 0; w < ways; w++)
                if (allowed(mask, w) && way[w].value == 3)
                    return w;
            for (unsigned w = 0; w < ways; w++)
                way[w].value += allowed(mask, w);
        }
    case CF_MASTER_INDEX:
        break;
    }
    for (unsigned w = 0; w < ways; w++)
        if (allowed(mask, w))
            return w;
    return 0;
}

static struct way *slow_find(uint64_t line)
{
    struct way *way = slow.way[line % slow.g.sets];

    for (unsigned w = 0; w < slow.g.ways; w++)
        if (way[w].valid && way[w].line == line)
            return way + w;
    return NULL;
}

static int slow_state(const struct way *w)
{
    return !w ? CF_CACHE_ABSENT : w->dirty ? CF_CACHE_MODIFIED : CF_CACHE_CLEAN;
}

static int slow_store(uint64_t line, int store)
{
    struct way *w = slow_find(line);
    const int before = slow_state(w);

    if (w) {
        w->dirty |= store && !(slow.g.options & CF_CACHE_WRITE_THROUGH);
        slow_touch((unsigned)(line % slow.g.sets), (unsigned)(w - slow.way[line % slow.g.sets]), 1);
    }
    return before;
}

static uint64_t slow_insert(uint64_t line, int dirty, uint64_t mask)
{
    const unsigned set = (unsigned)(line % slow.g.sets), w = slow_choose(set, mask);
    struct way *way = &slow.way[set][w];
    const uint64_t victim =
        !way->valid ? CF_CACHE_NONE : way->line | (way->dirty ? CF_CACHE_DIRTY : 0);

    way->line = line;
    way->valid = 1;
    way->dirty = dirty;
    slow_touch(set, w, 0);
    return victim;
}

static int slow_remove(uint64_t line)
{
    struct way *w = slow_find(line);
    const int before = slow_state(w);

    if (w)
        w->valid = 0;
    return before;
}

static int slow_access(uint64_t line, unsigned flags, uint64_t mask, uint64_t *victim)
{
    const int store = flags & CF_RUN_STORE, through = slow.g.options & CF_CACHE_WRITE_THROUGH;

    *victim = CF_CACHE_NONE;
    if (flags & CF_RUN_FLUSH) {
        const int before = slow_remove(line);

        if (before)
            *victim = line | (before == CF_CACHE_MODIFIED ? CF_CACHE_DIRTY : 0);
        return 1;
    }
    if (slow_store(line, store))
        return 0;
    if (!store || !(slow.g.options & CF_CACHE_NO_ALLOCATE)) {
        *victim = slow_insert(line, store && !through, mask);
        if (flags & CF_RUN_AGAIN)
            slow_store(line, 0);
    }
    return 1;
}

/* ---- comparison ---- */

static uint64_t line[BATCH];
static uint8_t flags[BATCH];
static uint32_t miss[BATCH + 8];
static uint64_t victim[BATCH + 8];

static uint32_t make(uint64_t lines, unsigned style, int flushes)
{
    const uint32_t count = 1 + next() % BATCH;
    uint64_t at = next(), high = style == 3 ? (uint64_t)next() << 32 : 0;

    for (uint32_t i = 0; i < count; i++) {
        switch (style) {
        case 0: /* few lines again and again */
            line[i] = next() % lines;
            break;
        case 1: /* round and round */
            line[i] = at++ % lines;
            break;
        case 2: /* many sets, many tags */
            line[i] = (uint64_t)next() * next() % (16 * lines);
            break;
        default: /* high bits, as other address spaces have */
            line[i] = (high ^ (uint64_t)(next() % 3) << 60) + next() % lines;
        }
        line[i] %= ((uint64_t)1 << 63) - 1;
        flags[i] = (next() % 3 == 0 ? CF_RUN_STORE : 0) | (next() % 4 == 0 ? CF_RUN_AGAIN : 0) |
                   (next() % 30 == 0 ? CF_RUN_FETCH : 0);
        if (flags[i] & CF_RUN_STORE)
            flags[i] |= next() % 5 == 0 ? CF_CACHE_WHOLE | CF_CACHE_POSTED : 0;
        if (flushes && next() % 20 == 0)
            flags[i] = CF_RUN_FLUSH;
    }
    return count;
}

static int same_batch(struct cf_cache *c, uint32_t count, uint64_t mask)
{
    const uint32_t n = cf_cache_batch(c, line, flags, count, mask, miss, victim);
    uint32_t k = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t v;

        if (!slow_access(line[i], flags[i], mask, &v))
            continue;
        if (k == n || miss[k] != i || victim[k] != v)
            return 0;
        k++;
    }
    return k == n;
}

static int same_steps(struct cf_cache *c, uint32_t count, uint64_t mask)
{
    int good = 1;

    for (uint32_t i = 0; i < count; i++) {
        const int store = flags[i] & CF_RUN_STORE;
        struct way *w = slow_find(line[i]);

        good &= (int)step_probe(c, line[i]) == slow_state(w);
        switch (next() % 5) {
        case 0:
            good &= (int)cf_cache_touch(c, line[i], store) == slow_store(line[i], store);
            break;
        case 1:
            good &= (int)cf_cache_remove(c, line[i]) == slow_remove(line[i]);
            break;
        case 2:
            good &= (int)step_clean(c, line[i]) == slow_state(w);
            if (w)
                w->dirty = 0;
            break;
        default:
            if (!w)
                good &=
                    cf_cache_insert(c, line[i], store, mask) == slow_insert(line[i], store, mask);
        }
    }
    return good;
}

/* All ways: in a physical cache way by way, else as a set. */
static int same_contents(const struct cf_cache *c)
{
    int good = 1;

    for (uint32_t s = 0; s < slow.g.sets; s++) {
        uint32_t valid = 0, found = 0;

        for (uint32_t w = 0; w < slow.g.ways; w++) {
            const struct way *way = &slow.way[s][w];
            const uint64_t entry = cf_cache_line(c, s, w);
            const uint64_t expect = !way->valid  ? CF_CACHE_NONE
                                    : way->dirty ? way->line | CF_CACHE_DIRTY
                                                 : way->line;

            valid += (uint32_t)way->valid;
            if (slow.g.options & CF_CACHE_PHYSICAL)
                good &= entry == expect;
            if (entry != CF_CACHE_NONE) {
                const struct way *there = slow_find(entry & ~CF_CACHE_DIRTY);

                found++;
                good &= there && there->dirty == (entry >> 63 != 0);
            }
        }
        good &= valid == found;
    }
    return good;
}

static void policy(enum cf_replacement policy, unsigned rounds)
{
    static const uint32_t ways[] = {1,  2,  3,  4,  5,  7,  8,  8,  12, 15, 16,
                                    17, 20, 24, 31, 32, 33, 48, 63, 64, 65, 130};
    static const uint32_t sets[] = {1, 2, 3, 4, 8, 16, 48, 64, 100, 128};
    const unsigned best = best_cpu();
    unsigned bad[CF_CPUS] = {0};

    for (unsigned round = 0; round < rounds; round++) {
        struct cf_cache_geometry g = {.sets = sets[next() % 10], .ways = ways[next() % 22]};
        const uint64_t begin = state;

        g.policy = policy;
        g.seed = next();
        g.options = next() % 8;
        for (unsigned cpu = CF_CPU_NONE; cpu <= best; cpu++) {
            struct cf_cache *c = (take_cpu(cpu), cf_cache_new(&g));
            const uint64_t lines = (uint64_t)g.sets * g.ways * (1 + round % 4) / 2 + 1;
            const unsigned style = round % 5;
            int good = c != NULL;

            state = begin;
            slow_begin(&g);
            for (unsigned k = 0; good && k < 4; k++) {
                const uint32_t count = make(lines, style, round % 3 == 0);
                const uint64_t mask = policy == CF_MASTER_INDEX ? cf_cache_master(c, next())
                                      : next() % 3              ? CF_CACHE_ALL_WAYS
                                                                : next() ^ (uint64_t)next() << 32;

                good &= next() % 4 == 0 ? same_steps(c, count, mask) : same_batch(c, count, mask);
                good &= same_contents(c);
            }
            if (!good && !bad[cpu]++)
                note("%s, round %u: %u sets, %u ways, options %u", cpu_names[cpu], round, g.sets,
                     g.ways, g.options);
            cf_cache_free(c);
        }
    }
    for (unsigned cpu = CF_CPU_NONE; cpu <= best; cpu++)
        is_u64(bad[cpu], 0, "%s, %u caches: %s", cf_policy_name(policy), rounds, cpu_names[cpu]);
}

static void edges(void)
{
    struct cf_cache_geometry g = {.sets = 0, .ways = 1};
    struct cf_cache *c;

    ok(!cf_cache_new(&g), "no sets are refused");
    g = (struct cf_cache_geometry){.sets = 1, .ways = 0};
    ok(!cf_cache_new(&g), "no ways are refused");
    g.ways = CF_MAX_WAYS + 1;
    ok(!cf_cache_new(&g), "too many ways are refused");
    g = (struct cf_cache_geometry){.sets = 1, .ways = 2, .policy = 99};
    ok(!cf_cache_new(&g), "an unknown policy is refused");
    g = (struct cf_cache_geometry){.sets = 4000000001u % 1000003, .ways = 2};
    c = cf_cache_new(&g);
    for (unsigned i = 0; i < BATCH; i++) {
        line[i] = ((uint64_t)next() << 32 ^ next()) % (((uint64_t)1 << 63) - 1);
        if (i == 0)
            line[i] = ((uint64_t)1 << 63) - 2;
        (void)cf_cache_insert(c, line[i], 0, CF_CACHE_ALL_WAYS);
        flags[i] = cf_cache_line(c, (uint32_t)(line[i] % g.sets), 0) != line[i] &&
                   cf_cache_line(c, (uint32_t)(line[i] % g.sets), 1) != line[i];
        (void)cf_cache_remove(c, line[i]);
    }
    ok(!memchr(flags, 1, BATCH), "the set is the remainder, for the largest lines too");
    ok(cf_cache_batch(c, line, flags, 0, CF_CACHE_ALL_WAYS, miss, victim) == 0, "an empty batch");
    ok(cf_cache_insert(c, line[0], 1, CF_CACHE_ALL_WAYS) == CF_CACHE_NONE &&
           step_probe(c, line[0]) == CF_CACHE_MODIFIED,
       "the largest line number is as any other");
    cf_cache_free(c);
    g = (struct cf_cache_geometry){.sets = 2, .ways = 4, .policy = CF_MASTER_INDEX};
    c = cf_cache_new(&g);
    is_u64(cf_cache_master(c, 6), 4, "master-index: core 6 of 4 ways replaces in way 2");
    cf_cache_free(c);
}

int main(void)
{
    for (unsigned i = 0; i < CF_POLICY_COUNT; i++)
        policy((enum cf_replacement)i, i == CF_LRU ? 900 : 300);
    edges();
    return done();
}
