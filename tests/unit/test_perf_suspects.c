/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_perf_suspects.c - which instruction gets the breakpoint of cf-capture perf, of chosen
 * samples.
 */
#include "capture/perf/suspects.c"
#include "tests/unit/tap.h"

enum { SET = 8, WINDOW_SIZE = 64, SETS = 64, LINE = 64 };

static struct cf_suspects *s;

static void sample(uint32_t tid, uint64_t pc, uint64_t addr, int missed, int again)
{
    if (cf_suspects_sampled(s, 1, tid, pc, addr, missed, again) != 0)
        exit(3);
}

static void misses(uint64_t pc, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sample(1, pc, LINE * (uint64_t)i, 1, 0);
}

static uint64_t next(void)
{
    uint64_t pc = 0;
    uint32_t pid;

    if (cf_suspects_waiting(s))
        cf_suspects_next(s, &pid, &pc);
    return pc;
}

static void begin(void)
{
    cf_suspects_free(s);
    s = cf_suspects_new(SETS, LINE);
    if (!s)
        exit(3);
}

static void who_waits(void)
{
    begin();
    sample(1, 10, 0, 1, 0);
    sample(1, 11, 64, 1, 0);
    is_u64(next(), 0, "one miss each");
    sample(1, 12, 128, 0, 0);
    sample(2, 10, 128, 1, 0);
    is_u64(next(), 10, "two misses in a row, whatever else was sampled between, of any thread");
    sample(1, 20, 0, 1, 0);
    sample(1, 20, 0, 0, 0);
    sample(1, 20, 64, 1, 0);
    is_u64(next(), 0, "a hit between");
    begin();
    for (uint64_t i = 0; i < SET; i++) {
        sample(3, 40 + i, 5 * LINE + i * LINE * SETS, 1, 0);
        sample(4, 60 + i, 5 * LINE, i == 0, 0);
        if (i < SET - 1)
            sample(3, 80 + i, (6 + i) * LINE, 1, 0);
    }
    is_u64(next(), 40 + SET - 1, "the last one of many on one set, among others");
    is_u64(next(), 0, "and no other");
    begin();
    for (uint64_t i = 0; i < SET - 1; i++)
        sample(3, 40 + i, 5 * LINE, 1, 0);
    for (uint64_t i = 0; i < WINDOW_SIZE - SET; i++)
        sample(3, 60 + i, (6 + i % (SETS - 6)) * LINE, 1, 0);
    sample(3, 200, 5 * LINE, 1, 0);
    is_u64(next(), 200, "the first of them is the oldest of the window");
    sample(3, 201, 6 * LINE, 1, 0);
    sample(3, 202, 5 * LINE, 1, 0);
    is_u64(next(), 0, "and has left it");
}

static void whose_turn(void)
{
    uint64_t seen;

    begin();
    for (uint64_t pc = 1000; pc < 1200; pc++)
        misses(pc, 2);
    misses(5, 3);
    misses(6, 9);
    misses(1150, 2); /* which waits already */
    is_u64(cf_suspects_waiting(s), 202, "all wait, also more than 64");
    is_u64(next(), 6, "most misses first, though it came last");
    is_u64(next(), 1150, "then the one that missed on while it waited");
    is_u64(next(), 5, "then the next one");
    is_u64(next(), 1000, "of equal ones that which was sampled first");
    for (seen = 4; next(); seen++)
        ;
    is_u64(seen, 202, "each has its turn");
}

static void once(void)
{
    begin();
    misses(7, 2);
    is_u64(next(), 7, "its turn");
    misses(7, 5);
    is_u64(next(), 0, "which is the only one");
    sample(1, 7, 0, 1, 1);
    is_u64(next(), 7, "unless there is nothing else");
    cf_suspects_free(s);
}

int main(void)
{
    who_waits();
    whose_turn();
    once();
    return done();
}
