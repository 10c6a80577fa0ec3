/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_ways_simd.c - sets whose lines stay in their ways, and the replacement policies over them
 * (see cache.h for what each policy does and where it is from, cache_parts.h for its state).
 *
 * A policy is two functions: `touched` learns of a hit, or of a line that came in; `choose` names
 * the victim among the ways that may be used, when all of these hold lines. They are inlined into
 * one loop a policy. State that is a bit a way is handled in words of 64 ways, of which usual
 * caches have one.
 */
#include "filters/engine/cache/cache_steps.h"

/* Bits of the ways that may be used, word k of the set. */
static inline uint64_t usable(const struct cf_cache *c, uint64_t ways, uint32_t k)
{
    return c->way_mask[k] & ways;
}

static inline uint32_t lowest(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

/* ---- tree-PLRU: the bit of node n is bit n; 0 = the lower side is older ---- */

/* What touching a way does to its path: the node bits that are kept, and those that are set. */
static void tree_path(const struct cf_cache *c, uint32_t way, uint64_t *keep, uint64_t *set)
{
    uint32_t node = 1;

    *keep = UINT64_MAX;
    *set = 0;
    for (uint32_t half = c->leaves / 2; half; half /= 2) {
        const uint32_t upper = (way & half) != 0;

        *keep &= ~((uint64_t)1 << node);
        *set |= (uint64_t)!upper << node;
        node = 2 * node + upper;
    }
}

static void tree_touched(struct cf_cache *c, uint64_t *word, uint32_t way)
{
    uint32_t node = 1;

    if (c->leaves <= 64) {
        word[0] = (word[0] & c->touch_keep[way]) | c->touch_set[way];
        return;
    }
    for (uint32_t half = c->leaves / 2; half; half /= 2) {
        const uint32_t upper = (way & half) != 0;
        const uint64_t bit = (uint64_t)1 << node % 64;

        word[node / 64] = upper ? word[node / 64] & ~bit : word[node / 64] | bit;
        node = 2 * node + upper;
    }
}

/* Whether one of `count` ways from `first` on may be used; both are multiples of the same power of
   two. */
static int any_usable(const struct cf_cache *c, uint64_t ways, uint32_t first, uint32_t count)
{
    if (count < 64)
        return (usable(c, ways, first / 64) >> first % 64 & (((uint64_t)1 << count) - 1)) != 0;
    for (uint32_t k = first / 64; k < (first + count) / 64 && k < c->bits; k++)
        if (usable(c, ways, k))
            return 1;
    return 0;
}

static uint32_t tree_choose(const struct cf_cache *c, const uint64_t *word, uint64_t ways)
{
    const int all = c->leaves == c->ways && ways == CF_CACHE_ALL_WAYS;
    uint32_t node = 1, way = 0;

    for (uint32_t half = c->leaves / 2; half; half /= 2) {
        uint32_t upper = word[node / 64] >> node % 64 & 1;

        if (!all && !any_usable(c, ways, way + upper * half, half))
            upper = !upper;
        way += upper * half;
        node = 2 * node + upper;
    }
    return way;
}

/* ---- bit-PLRU, NRU: the bit of each way ---- */

static void bit_touched(const struct cf_cache *c, uint64_t *word, uint32_t way)
{
    uint64_t clear = 0;

    word[way / 64] |= (uint64_t)1 << way % 64;
    if (c->policy == CF_NRU)
        return;
    for (uint32_t k = 0; k < c->bits; k++)
        clear |= c->way_mask[k] & ~word[k];
    if (clear)
        return;
    for (uint32_t k = 0; k < c->bits; k++)
        word[k] = 0;
    word[way / 64] = (uint64_t)1 << way % 64;
}

/* The lowest usable way whose bit is clear; where there is none, NRU clears the bits of the usable
   ways, and the lowest of them goes. */
static uint32_t bit_choose(const struct cf_cache *c, uint64_t *word, uint64_t ways)
{
    for (uint32_t k = 0; k < c->bits; k++)
        if (usable(c, ways, k) & ~word[k])
            return 64 * k + lowest(usable(c, ways, k) & ~word[k]);
    for (uint32_t k = 0; c->policy == CF_NRU && k < c->bits; k++)
        word[k] &= ~ways;
    for (uint32_t k = 0; k < c->bits; k++)
        if (usable(c, ways, k))
            return 64 * k + lowest(usable(c, ways, k));
    return 0;
}

/* ---- SRRIP: low bits of all ways, then high bits of all ---- */

/* The lowest usable way with the value 3; until there is one, all usable ways grow by one. */
static uint32_t srrip_choose(const struct cf_cache *c, uint64_t *word, uint64_t ways)
{
    uint64_t *low = word, *high = word + c->bits;

    for (;;) {
        for (uint32_t k = 0; k < c->bits; k++) {
            const uint64_t three = usable(c, ways, k) & low[k] & high[k];

            if (three)
                return 64 * k + lowest(three);
        }
        for (uint32_t k = 0; k < c->bits; k++) {
            const uint64_t grows = usable(c, ways, k);

            high[k] ^= low[k] & grows;
            low[k] ^= grows;
        }
    }
}

/* ---- age ---- */

static void age_touched(const struct cf_cache *c, uint16_t *rank, uint32_t way)
{
    const uint16_t old = rank[way];

    for (uint32_t w = 0; w < c->ways; w++)
        rank[w] = (uint16_t)(rank[w] + (rank[w] < old));
    rank[way] = 0;
}

static uint32_t age_choose(const struct cf_cache *c, const uint16_t *rank, uint64_t ways)
{
    uint32_t oldest = 0;
    int most = -1;

    for (uint32_t w = 0; w < c->ways; w++)
        if ((ways >> w % 64 & 1) && (int)rank[w] > most) {
            most = rank[w];
            oldest = w;
        }
    return oldest;
}

static uint32_t random_choose(struct cf_cache *c, uint64_t ways)
{
    uint32_t sum = 0, nth;

    for (uint32_t k = 0; k < c->bits; k++)
        sum += (uint32_t)__builtin_popcountll(usable(c, ways, k));
    nth = cf_random_below(&c->random, sum);
    if (sum == c->ways)
        return nth;
    for (uint32_t k = 0;; k++) {
        uint64_t left = usable(c, ways, k);

        for (; left; left &= left - 1)
            if (nth-- == 0)
                return 64 * k + lowest(left);
    }
}

/* ---- all of them ---- */

enum event { HIT, CAME_IN };

static inline __attribute__((always_inline)) void touched(struct cf_cache *c, uint32_t set,
                                                          uint32_t way, enum event event,
                                                          enum cf_replacement policy)
{
    uint64_t *word = c->word + (size_t)set * c->words;
    const uint64_t bit = (uint64_t)1 << way % 64;

    switch (policy) {
    case CF_FIFO:
        if (event == HIT)
            break;
        /* fall through */
    case CF_LRU:
        age_touched(c, c->rank + (size_t)set * c->ways, way);
        break;
    case CF_TREE_PLRU:
        tree_touched(c, word, way);
        break;
    case CF_BIT_PLRU:
    case CF_NRU:
        bit_touched(c, word, way);
        break;
    case CF_SRRIP: /* 0 after a hit, 2 when it came in */
        word[way / 64] &= ~bit;
        if (event == HIT)
            word[c->bits + way / 64] &= ~bit;
        else
            word[c->bits + way / 64] |= bit;
        break;
    case CF_RANDOM:
    case CF_MASTER_INDEX:
        break;
    }
}

static inline __attribute__((always_inline)) uint32_t
choose(struct cf_cache *c, uint32_t set, uint64_t ways, enum cf_replacement policy)
{
    uint64_t *word = c->word + (size_t)set * c->words;

    switch (policy) {
    case CF_LRU:
    case CF_FIFO:
        return age_choose(c, c->rank + (size_t)set * c->ways, ways);
    case CF_TREE_PLRU:
        return tree_choose(c, word, ways);
    case CF_BIT_PLRU:
    case CF_NRU:
        return bit_choose(c, word, ways);
    case CF_SRRIP:
        return srrip_choose(c, word, ways);
    case CF_RANDOM:
        return random_choose(c, ways);
    case CF_MASTER_INDEX:
        break;
    }
    return lowest(usable(c, ways, 0));
}

/* A mask that holds none of the ways means all of them. */
static uint64_t checked(const struct cf_cache *c, uint64_t ways)
{
    return c->way_mask[0] & ways ? ways : CF_CACHE_ALL_WAYS;
}

static inline __attribute__((always_inline)) uint64_t
insert(struct cf_cache *c, uint32_t set, uint64_t entry, uint64_t ways, enum cf_replacement policy)
{
    uint64_t *line = c->line + (size_t)set * c->ways, victim;
    uint32_t way = c->invalid ? 0 : c->ways;

    while (way < c->ways && !(line[way] == CF_CACHE_NONE && (ways >> way % 64 & 1)))
        way++;
    if (way == c->ways)
        way = choose(c, set, ways, policy);
    victim = line[way];
    c->invalid -= victim == CF_CACHE_NONE;
    line[way] = entry;
    touched(c, set, way, CAME_IN, policy);
    return victim;
}

void CF_SIMD(cf_ways_touch)(struct cf_cache *c, uint32_t set, uint32_t way)
{
    touched(c, set, way, HIT, c->policy);
}

uint64_t CF_SIMD(cf_ways_insert)(struct cf_cache *c, uint32_t set, uint64_t entry, uint64_t ways)
{
    return insert(c, set, entry, checked(c, ways), c->policy);
}

static inline __attribute__((always_inline)) uint32_t
run(struct cf_cache *c, const uint64_t *line, const uint8_t *flags, uint32_t count, uint64_t ways,
    uint32_t *miss, uint64_t *victim, enum cf_replacement policy, unsigned traits)
{
    const unsigned dirties = !c->through;
    uint32_t n = 0;

    ways = checked(c, ways);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t set = cf_cache_index(c, line[i]);
        uint64_t *entry = c->line + (size_t)set * c->ways;
        const uint64_t dirty = (uint64_t)(flags[i] & dirties) << 63; /* CF_RUN_STORE is bit 0 */
        const uint32_t way = cf_ways_place(entry, c->ways, line[i]);

        if (c->fetch_ahead && i + 8 < count)
            __builtin_prefetch(c->line + (size_t)cf_cache_index(c, line[i + 8]) * c->ways, 1);
        if (way < c->ways) {
            entry[way] |= dirty;
            touched(c, set, way, HIT, policy);
            continue;
        }
        miss[n] = i;
        victim[n++] = insert(c, set, line[i] | dirty, ways, policy);
        if ((traits & CF_POLICY_REPEATS) && (flags[i] & CF_RUN_AGAIN))
            touched(c, set, cf_ways_place(entry, c->ways, line[i]), HIT, policy);
    }
    return n;
}

#define RUNNER(policy, name, bits, traits)                                                         \
    static uint32_t run_##policy(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,   \
                                 uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim)  \
    {                                                                                              \
        return run(c, line, flags, count, ways, miss, victim, policy, traits);                     \
    }
CF_POLICIES(RUNNER)

cf_cache_runner *CF_SIMD(cf_ways_runner)(struct cf_cache *c)
{
#define ENTRY(policy, name, bits, traits) run_##policy,
    static cf_cache_runner *const runner[] = {CF_POLICIES(ENTRY)};

    for (uint32_t w = 0; c->policy == CF_TREE_PLRU && c->leaves <= 64 && w < c->ways; w++)
        tree_path(c, w, &c->touch_keep[w], &c->touch_set[w]);
    for (size_t i = 0; c->rank && i < (size_t)c->sets * c->ways; i++)
        c->rank[i] = (uint16_t)(i % c->ways);
    return runner[c->policy];
}
