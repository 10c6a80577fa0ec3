/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_cache [-n REFERENCES] [-r RUNS] [FILE...]: speed of the engines for one cache, from the
 * columns addr, op and size to a result byte for every row: the run filter alone, one cache of 64
 * sets x 8 ways and some others, and all associativities at once. The traces are those of
 * bench_engine.h. Runs are compared with a loop that adds up the three columns, the rest with one
 * that keeps the ways of a set as an array in the order of use.
 *
 * Memory: one trace, 18 bytes a reference.
 */
#include "bench_engine.h"
#include "filters/engine/distance/allassoc.h"
#include "filters/engine/cache/cache.h"

enum { BATCH = 4096, SETS = 64, WAYS = 8 };

static uint8_t *result;

static uint64_t add_columns(const struct bench_trace *t, void *arg)
{
    uint64_t sum = 0;

    (void)arg;
    for (size_t i = 0; i < t->count; i++)
        sum += t->addr[i] + t->op[i] + t->size[i];
    return sum;
}

static uint64_t make_runs(const struct bench_trace *t, void *arg)
{
    struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, BATCH);
    uint64_t sum = 0;

    (void)arg;
    for (uint32_t at = 0; at < t->count;) {
        at = cf_runs_fill(r, t->addr, t->op, t->size, at, (uint32_t)t->count, 0);
        sum += r->count;
    }
    cf_runs_free(r);
    return sum;
}

/* The plain loop: every line of every access, ways in the order of use. */
static uint64_t plain_loop(const struct bench_trace *t, void *arg)
{
    static struct {
        uint64_t line;
        int dirty;
    } way[SETS][WAYS], found;
    uint64_t misses = 0;

    (void)arg;
    memset(way, 0xff, sizeof(way));
    for (size_t i = 0; i < t->count; i++) {
        const uint64_t last = (t->addr[i] + t->size[i] - 1) / 64;

        result[i] = 0;
        for (uint64_t line = t->addr[i] / 64; line <= last; line++) {
            const unsigned set = line % SETS;
            unsigned w = 0;

            while (w < WAYS && way[set][w].line != line)
                w++;
            if (w == WAYS) {
                w--;
                found.line = line;
                found.dirty = 0;
                misses++;
                result[i] = 1;
            } else {
                found = way[set][w];
            }
            found.dirty |= t->op[i] == CF_STORE;
            for (; w; w--)
                way[set][w] = way[set][w - 1];
            way[set][0] = found;
        }
    }
    return misses;
}

static uint64_t one_cache(const struct bench_trace *t, void *arg)
{
    const struct cf_cache_geometry *g = arg;
    struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, BATCH);
    struct cf_cache *c = cf_cache_new(g);
    static uint32_t miss[BATCH + 8];
    static uint64_t victim[BATCH + 8];
    uint64_t misses = 0;

    memset(result, 0, t->count);
    for (uint32_t at = 0; at < t->count;) {
        uint32_t n;

        at = cf_runs_fill(r, t->addr, t->op, t->size, at, (uint32_t)t->count, 0);
        n = cf_cache_batch(c, r->line, r->flags, r->count, CF_CACHE_ALL_WAYS, miss, victim);
        for (uint32_t k = 0; k < n; k++)
            result[r->row[miss[k]]] = 1;
        misses += n;
    }
    cf_cache_free(c);
    cf_runs_free(r);
    return misses;
}

/* 11 numbers of sets, 1 to 1024, up to 32 ways. */
static uint64_t all_associativities(const struct bench_trace *t, void *arg)
{
    struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, BATCH);
    uint32_t sets[11];
    struct cf_allassoc *a;
    uint64_t misses;

    (void)arg;
    for (unsigned k = 0; k < 11; k++)
        sets[k] = 1u << k;
    a = cf_allassoc_new(sets, 11, CF_ALLASSOC_WAYS);
    for (uint32_t at = 0; at < t->count;) {
        at = cf_runs_fill(r, t->addr, t->op, t->size, at, (uint32_t)t->count, 0);
        cf_allassoc_run(a, r->line, r->count);
    }
    misses = cf_allassoc_misses(a, 6, WAYS);
    cf_allassoc_free(a);
    cf_runs_free(r);
    return misses;
}

static void all_of(const struct bench_options *o, unsigned which)
{
    static struct cf_cache_geometry lru = {SETS, WAYS, CF_LRU, 0, 0},
                                    lru_physical = {SETS, WAYS, CF_LRU, CF_CACHE_PHYSICAL, 0},
                                    fifo = {SETS, WAYS, CF_FIFO, 0, 0},
                                    any = {SETS, WAYS, CF_RANDOM, 0, 1},
                                    tree = {SETS, WAYS, CF_TREE_PLRU, 0, 0},
                                    bit = {SETS, WAYS, CF_BIT_PLRU, 0, 0},
                                    srrip = {SETS, WAYS, CF_SRRIP, 0, 0},
                                    lru4 = {SETS, 4, CF_LRU, 0, 0},
                                    lru16 = {SETS, 16, CF_LRU, 0, 0},
                                    lru32 = {SETS, 32, CF_LRU, 0, 0},
                                    lru48 = {48, WAYS, CF_LRU, 0, 0},
                                    lru12 = {SETS, 12, CF_LRU, 0, 0},
                                    lru11 = {SETS, 11, CF_LRU, 0, 0},
                                    large = {32768, 16, CF_LRU, 0, 0};
    struct bench_item item[] = {
        {"sum of the columns", add_columns, NULL, NULL, 0, {0}, 0},
        {"runs", make_runs, NULL, "sum of the columns", 1, {0}, 0},
        {"plain loop 64 x 8", plain_loop, NULL, NULL, 0, {0}, 0},
        {"lru 64 x 8", one_cache, &lru, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 64 x 8, physical", one_cache, &lru_physical, "plain loop 64 x 8", 1, {0}, 0},
        {"fifo 64 x 8", one_cache, &fifo, "plain loop 64 x 8", 1, {0}, 0},
        {"random 64 x 8", one_cache, &any, "plain loop 64 x 8", 0, {0}, 0},
        {"tree-plru 64 x 8", one_cache, &tree, "plain loop 64 x 8", 0, {0}, 0},
        {"bit-plru 64 x 8", one_cache, &bit, "plain loop 64 x 8", 0, {0}, 0},
        {"srrip 64 x 8", one_cache, &srrip, "plain loop 64 x 8", 0, {0}, 0},
        {"lru 48 x 8", one_cache, &lru48, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 64 x 11", one_cache, &lru11, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 64 x 12", one_cache, &lru12, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 64 x 4", one_cache, &lru4, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 64 x 16", one_cache, &lru16, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 64 x 32", one_cache, &lru32, "plain loop 64 x 8", 1, {0}, 0},
        {"lru 32768 x 16", one_cache, &large, "plain loop 64 x 8", 1, {0}, 0},
        {"allassoc", all_associativities, NULL, "plain loop 64 x 8", 1, {0}, 0},
    };
    struct bench_trace t = bench_make(o, which);

    if (t.count) {
        result = bench_memory(t.count);
        bench_items(item, sizeof(item) / sizeof(item[0]), &t, o->runs);
        free(result);
    }
    bench_free(&t);
}

int main(int argc, char **argv)
{
    const struct bench_options o = bench_options(argc, argv);

    for (unsigned which = 0; which < BENCH_TRACES; which++)
        all_of(&o, which);
    return 0;
}
