/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_classify - rates of the engines that classify misses, from columns in memory to a class a
 * row: 3C, and private caches of several cores. The baseline finds the runs of equal lines, nothing
 * else. See bench_engine.h for the arguments.
 *
 * Real traces have one thread; here two cores take turns with it, every 64 references or every
 * 4,096, which makes for a lot of sharing.
 */
#include "bench_engine.h"
#include "filters/engine/cache/cache.h"
#include "filters/engine/classes/coherence.h"
#include "filters/engine/rows/runs.h"
#include "filters/engine/classes/threec.h"

enum { PIECE = 16384 };

struct setup {
    uint32_t sets, ways;
    unsigned cores, turn; /* references between changes of the core */
};

static uint8_t class[PIECE];

static uint64_t misses_of(uint32_t rows)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < rows; i++)
        sum += class[i] != 0;
    return sum;
}

static uint64_t simple(const struct bench_trace *t, void *arg)
{
    uint64_t before = UINT64_MAX, runs = 0;

    (void)arg;
    for (size_t i = 0; i < t->count; i++) {
        uint64_t line = t->addr[i] >> 6;

        runs += line != before;
        before = line;
    }
    return runs;
}

static uint64_t three_c(const struct bench_trace *t, void *arg)
{
    const struct setup *s = arg;
    const struct cf_cache_geometry g = {.sets = s->sets, .ways = s->ways, .policy = CF_LRU};
    enum { BATCH = 4096 };
    static uint32_t miss[BATCH + 8];
    static uint64_t victim[BATCH + 8];
    static uint8_t found[BATCH];
    struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, BATCH);
    struct cf_cache *cache = cf_cache_new(&g);
    struct cf_threec *three = cf_threec_new((uint64_t)s->sets * s->ways, 0);
    uint64_t sum = 0;

    if (!r || !cache || !three)
        exit(3);
    for (size_t from = 0; from < t->count; from += PIECE) {
        uint32_t rows = t->count - from < PIECE ? (uint32_t)(t->count - from) : PIECE, row = 0;

        memset(class, 0, rows);
        while (row < rows) {
            uint32_t count;

            row = cf_runs_fill(r, t->addr + from, t->op + from, t->size + from, row, rows, 0);
            count =
                cf_cache_batch(cache, r->line, r->flags, r->count, CF_CACHE_ALL_WAYS, miss, victim);
            if (cf_threec_look(three, r->line, r->flags, r->count, found) != 0)
                exit(3);
            for (uint32_t k = 0; k < count; k++)
                cf_class_raise(&class[r->row[miss[k]]], cf_threec_class(found[miss[k]]));
        }
        sum += misses_of(rows);
    }
    cf_threec_free(three);
    cf_cache_free(cache);
    cf_runs_free(r);
    return sum;
}

static uint64_t sharing(const struct bench_trace *t, void *arg)
{
    const struct setup *s = arg;
    const struct cf_coherence_geometry g = {
        .cores = s->cores, .sets = s->sets, .ways = s->ways, .line_shift = 6};
    static uint8_t core[PIECE];
    static uint64_t space[PIECE];
    struct cf_coherence *c = cf_coherence_new(&g);
    uint64_t sum = 0;

    if (!c)
        exit(3);
    for (unsigned i = 0; i < PIECE; i++)
        core[i] = (uint8_t)(i / s->turn % s->cores);
    for (size_t from = 0; from < t->count; from += PIECE) {
        uint32_t rows = t->count - from < PIECE ? (uint32_t)(t->count - from) : PIECE;
        struct cf_coherence_rows in;

        in = (struct cf_coherence_rows){.rows = rows,
                                        .addr = t->addr + from,
                                        .op = t->op + from,
                                        .size = t->size + from,
                                        .core = core,
                                        .space = space};
        memset(class, 0, rows);
        if (cf_coherence_run(c, &in, class) != 0)
            exit(3);
        sum += misses_of(rows);
    }
    cf_coherence_free(c);
    return sum;
}

int main(int argc, char **argv)
{
    struct bench_options o = bench_options(argc, argv);
    static struct setup small = {.sets = 64, .ways = 8}, large = {.sets = 4096, .ways = 16},
                        two = {.sets = 64, .ways = 8, .cores = 2, .turn = 64},
                        long_turns = {.sets = 64, .ways = 8, .cores = 2, .turn = 4096},
                        short_turns = {.sets = 64, .ways = 8, .cores = 2, .turn = 2},
                        eight = {.sets = 64, .ways = 8, .cores = 8, .turn = 64};
    struct bench_item item[] = {
        {"simple loop", simple, NULL, NULL, 0, {0}, 0},
        {"3C 64 x 8", three_c, &small, "simple loop", 1, {0}, 0},
        {"3C 4096 x 16", three_c, &large, "simple loop", 0, {0}, 0},
        {"2 cores 64 x 8", sharing, &two, "simple loop", 1, {0}, 0},
        {"2 cores, turns of 2", sharing, &short_turns, "simple loop", 1, {0}, 0},
        {"2 cores, long turns", sharing, &long_turns, "simple loop", 1, {0}, 0},
        {"8 cores 64 x 8", sharing, &eight, "simple loop", 1, {0}, 0},
    };

    for (unsigned k = 0; k < BENCH_TRACES; k++) {
        struct bench_trace t = bench_make(&o, k);

        if (t.count)
            bench_items(item, sizeof(item) / sizeof(*item), &t, o.runs);
        bench_free(&t);
    }
    return 0;
}
