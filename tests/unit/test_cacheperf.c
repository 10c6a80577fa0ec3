/* SPDX-License-Identifier: BSD-2-Clause */
/* CachePerf's classes against a slow model, on random samples. */
#include "naive_cacheperf.h"
#include "tap.h"

static uint64_t state = 11;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* ---- random samples ---- */

static const double percents[] = {0, 0.5, 1, 3, 10, 30, 60};

static double percent(unsigned most)
{
    return percents[next(most)];
}

static void random_config(void)
{
    defaults();
    g.line_shift = 5 + next(3);
    g.sets = 1 + next(6);
    g.ways = 1 + next(3);
    g.window = 1 + next(20);
    g.same_set = 1 + next(5);
    g.window_ratio = percent(7);
    g.load_misses = percent(6);
    g.store_misses = percent(6);
    g.code_accesses = percent(4);
    g.code_misses = percent(5);
    g.line_misses = percent(5);
    g.set_misses = percent(5);
    g.literal = next(3) == 0;
    for (unsigned o = 1; o < OBJECTS; o++)
        allocator[o] = next(THREADS);
}

static uint64_t random_addr(unsigned lines)
{
    return next(40) ? ((1 + next(lines)) << g.line_shift) + next(1u << g.line_shift) : 0;
}

static void random_rows(void)
{
    const unsigned lines = 1 + next(12), codes = 1 + next(5), threads = 1 + next(THREADS - 1);
    const uint32_t objects = 1 + next(OBJECTS); /* 0 is none */
    const unsigned stage = next(4), miss = 1 + next(4), pids = 1 + (next(4) == 0);
    uint32_t fine = 0;

    rows = 20 + next(180);
    for (unsigned i = 0; i < rows; i++) {
        struct row *r = &row[i];

        *r = (struct row){.addr = random_addr(lines),
                          .pc = 1 + next(codes),
                          .weight = 1 + next(30),
                          .size = next(17),
                          .pid = 1 + next(pids),
                          .tid = next(threads),
                          .op = 1 + next(2) + (next(30) == 0),
                          .level = next(20) ? 1 + (next(miss) == 0) : 0,
                          .stage = CF_STAGE_COARSE};
        r->object = (uint32_t)(r->addr >> 3) % objects;
        r->source = (uint32_t)r->pc % 3; /* a statement has some instructions of its own */
        r->level = r->level > 1 && next(2) ? CF_FROM_MEMORY : r->level;
        fine = fine ? fine - 1 : stage && !next(10) ? next(90) : 0;
        if (!fine) {
            r->stage = next(25) ? r->stage : 0;
            continue;
        }
        r->stage = CF_STAGE_FINE;
        r->weight = 0;
        r->pc = next(50) && i ? row[i - 1].pc : r->pc;
        r->source = (uint32_t)r->pc % 3;
        r->addr = next(3) ? r->addr : r->addr % (g.sets << g.line_shift);
    }
}

static void compare(void)
{
    unsigned long bad = 0, seen[CF_CLASSES] = {0};
    const unsigned trials = thorough() ? 20000 : 2000;

    for (unsigned n = 0; n < trials; n++) {
        random_config();
        random_rows();
        model();
        engine(next(rows));
        if (memcmp(got, want, rows) != 0 && bad++ < 3)
            for (unsigned i = 0; i < rows; i++)
                if (got[i] != want[i]) {
                    note("trial %u, row %u: %u, not %u; literal %d", n, i, got[i], want[i],
                         g.literal);
                    break;
                }
        for (unsigned i = 0; i < rows; i++)
            seen[want[i]]++;
    }
    is_u64(bad, 0, "random samples are classified as by the model");
    for (unsigned k = CF_CLASS_CAPACITY; k < CF_CLASSES; k++)
        ok(seen[k] > trials / 20, "class %s: %lu samples", cf_class_name(k), seen[k]);
}

int main(void)
{
    compare();
    return done();
}
