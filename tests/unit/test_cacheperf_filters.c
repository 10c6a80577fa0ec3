/* SPDX-License-Identifier: BSD-2-Clause */
/* CachePerf's filters and windows by hand, statements, and odd samples. */
#include "cacheperf_cases.h"
#include "tap.h"

/* Misses of one instruction in so many accesses, of which the others hit elsewhere. */
static unsigned filtered(unsigned misses, unsigned accesses)
{
    walk(misses, 0, 0);
    hits(accesses - misses, CF_LOAD);
    return verdict();
}

static void filters(void)
{
    lenient();
    g.load_misses = 3;
    g.store_misses = 1;
    is_u64(filtered(2, 100), CF_CLASS_NONE, "2 %% of loads");
    lenient();
    g.load_misses = 3;
    g.store_misses = 1;
    is_u64(filtered(3, 100), CF_CLASS_CAPACITY, "3 %% of loads");
    lenient();
    g.load_misses = 3;
    g.store_misses = 2;
    hits(100, CF_LOAD);
    hits(99, CF_STORE);
    add(1, CF_STORE, 0x5000, 3, 2);
    is_u64(verdict(), CF_CLASS_NONE, "1 %% of stores of 2");
    g.store_misses = 1;
    is_u64(verdict(), CF_CLASS_CAPACITY, "1 %% of stores");
    g.load_misses = 0;
    g.store_misses = 2;
    is_u64(verdict(), CF_CLASS_NONE, "0 %% of loads, none of which missed");
    lenient();
    g.code_accesses = 1;
    is_u64(filtered(1, 100), CF_CLASS_CAPACITY, "1 %% of accesses");
    g.code_accesses = 1.01;
    is_u64(verdict(), CF_CLASS_NONE, "less than the accesses that it must have");
    lenient();
    g.code_misses = 10;
    walk(9, 0, 0);
    add(1, CF_LOAD, 0x9000, 6, 2);
    is_u64(verdict(), CF_CLASS_CAPACITY, "10 %% of misses");
    g.code_misses = 10.1;
    is_u64(verdict(), CF_CLASS_NONE, "less than the misses that it must have");
    lenient();
    contend(5, 8, 12);
    walk(10, 0, 0);
    g.line_misses = 49.9;
    engine(0);
    is_u64(got[0], CF_CLASS_FALSE_SHARING, "a line with more than a share");
    g.line_misses = 50;
    engine(0);
    is_u64(got[0], CF_CLASS_CAPACITY, "a line with just that share");
    lenient();
    walk(64, 64, 4096);
    g.set_misses = 1.5;
    is_u64(verdict(), CF_CLASS_CONFLICT, "a set with more than a share");
    g.set_misses = 1.5625;
    is_u64(verdict(), CF_CLASS_CAPACITY, "a set with just that share");
    lenient();
    walk(9, 0, 0);
    add(1, CF_LOAD, 0x9000, 6, 2)->weight = 900;
    g.code_misses = 51;
    is_u64(verdict(), CF_CLASS_NONE, "misses count by their weight");
    g.code_misses = 50;
    is_u64(verdict(), CF_CLASS_CAPACITY, "and have half of it");
}

static void windows_by_hand(void)
{
    lenient();
    g.window = 10;
    g.window_ratio = 20;
    g.code_misses = 100; /* of all misses: all must have come through */
    walk(1, 0, 0);
    is_u64(verdict(), CF_CLASS_CAPACITY, "a window that is not full");
    lenient();
    g.window = 10;
    g.window_ratio = 20;
    hits(10, CF_LOAD);
    walk(2, 0, 0);
    is_u64(verdict(), CF_CLASS_NONE, "2 of 10 are not more than 20 %%");
    walk(1, 0, 0);
    g.code_misses = 100;
    is_u64(verdict(), CF_CLASS_CAPACITY, "3 are, and all three count");
    hits(40, CF_LOAD);
    walk(2, 0, 0);
    is_u64(verdict(), CF_CLASS_NONE, "what left the window is gone");
    lenient();
    g.window = 10;
    g.window_ratio = 20;
    hits(10, CF_LOAD);
    walk(2, 0, 0);
    hits(8, CF_LOAD);
    walk(1, 0, 0);
    is_u64(verdict(), CF_CLASS_NONE, "the oldest of ten has left when the third miss comes");
    lenient();
    g.window = 10;
    g.window_ratio = 20;
    hits(10, CF_LOAD);
    walk(2, 0, 0);
    hits(7, CF_LOAD);
    walk(1, 0, 0);
    is_u64(verdict(), CF_CLASS_CAPACITY, "it has not");
    lenient();
    g.window = 10;
    g.window_ratio = 20;
    hits(10, CF_LOAD);
    hits(10, CF_STORE);
    walk(2, 0, 0);
    add(1, CF_STORE, 0x9000, 5, 2);
    is_u64(verdict(), CF_CLASS_NONE, "loads and stores have windows of their own");
    row[rows - 1].op = CF_LOAD;
    is_u64(verdict(), CF_CLASS_CAPACITY, "three loads have one");
    row[rows - 1].tid = 2;
    g.code_misses = 100;
    is_u64(verdict(), CF_CLASS_NONE, "threads have windows of their own");
    lenient();
    g.window = 10;
    g.window_ratio = 20;
    hits(10, CF_LOAD);
    walk(3, 0, 0);
    walk(3, 0, 0);
    g.code_misses = 100;
    g.line_misses = 34;
    is_u64(verdict(), CF_CLASS_CAPACITY, "a miss of several such windows counts once");
}

static void statements(void)
{
    for (unsigned literal = 0; literal < 2; literal++) {
        lenient();
        g.literal = (int)literal;
        g.code_misses = 40;
        walk(6, 0, 0);
        for (unsigned i = 0; i < 4; i++)
            add(1, CF_LOAD, 0x9000, 10 + i, 2)->source = 3;
        is_u64(verdict(), literal ? CF_CLASS_NONE : CF_CLASS_CAPACITY,
               "the instructions of a source line%s", literal ? ", as printed" : "");
    }
    lenient();
    walk(64, 64, 4096);
    for (unsigned i = 0; i < rows; i++)
        row[i].source = 3;
    for (unsigned i = 0; i < 64; i++)
        add(1, CF_LOAD, 0x100000 + 64 * i, 6, 2)->source = 3;
    is_u64(verdict(), CF_CLASS_CONFLICT, "half of a source line's misses conflict");
    add(1, CF_LOAD, 0x100000, 6, 2)->source = 3;
    is_u64(verdict(), CF_CLASS_CAPACITY, "less than half do");
    for (unsigned others = 190; others < 192; others++) {
        lenient();
        g.line_misses = 4;
        g.same_set = 64;
        contend(5, 8, 12); /* ten misses of instruction 1 on the line */
        for (unsigned i = 0; i < others; i++)
            add(1, CF_LOAD, 0x100000 + 64 * i, 1, 2);
        is_u64(verdict(), others == 190 ? CF_CLASS_NONE : CF_CLASS_CAPACITY,
               "an instruction with 10 of %u misses on a shared line", others + 10);
        g.literal = 1;
        is_u64(verdict(), CF_CLASS_NONE, "the same, as printed");
    }
}

static void odd_rows(void)
{
    lenient();
    walk(4, 0, 0);
    row[3].level = 0;
    g.code_misses = 100;
    engine(0);
    is_u64(got[2] << 8 | got[3], CF_CLASS_CAPACITY << 8, "an unknown level is no miss");
    g.load_misses = 100;
    engine(0);
    is_u64(got[2], CF_CLASS_CAPACITY, "and no hit");
    row[3].level = 2;
    row[3].op = CF_IFETCH;
    g.load_misses = 0;
    engine(0);
    is_u64(got[2] << 8 | got[3], CF_CLASS_CAPACITY << 8, "a fetch takes no part");
    row[3].op = CF_LOAD;
    row[3].stage = 0;
    engine(0);
    is_u64(got[2] << 8 | got[3], CF_CLASS_CAPACITY << 8, "nor does what is no sample");
    lenient();
    contend(10, 8, 8);
    for (unsigned i = 0; i < rows; i++)
        row[i].addr = 0;
    is_u64(verdict(), CF_CLASS_CAPACITY, "samples without an address are on no line");
    lenient();
    contend(10, 4, 8);
    for (unsigned i = 0; i < rows; i++)
        row[i].size = row[i].tid == 1 ? 8 : 4;
    is_u64(verdict(), CF_CLASS_TRUE_SHARING, "an access touches all its words");
    for (unsigned i = 0; i < rows; i++)
        row[i].size = 0;
    is_u64(verdict(), CF_CLASS_FALSE_SHARING, "without a size, a byte");
    lenient();
    contend(10, 60, 60);
    for (unsigned i = 0; i < rows; i++)
        row[i].size = UINT32_MAX;
    is_u64(verdict(), CF_CLASS_TRUE_SHARING, "what reaches beyond the line is left out");
    lenient();
    walk(2, 0, 0);
    row[0].weight = row[1].weight = UINT64_MAX;
    is_u64(verdict(), CF_CLASS_CAPACITY, "enormous weights");
}

static void few_columns(void)
{
    static const uint64_t addr[] = {0x1000, 0x2000}, pc[] = {1, 1}, weight[] = {5, 0};
    const struct cf_cacheperf_rows bare = {.rows = 2, .addr = addr, .pc = pc, .weight = weight};
    static const uint8_t level[] = {2, 2};
    struct cf_cacheperf_rows with_level = bare;
    struct cf_cacheperf *c;

    lenient();
    c = cf_cacheperf_new(&g);
    is_u64((uint64_t)cf_cacheperf_judge(c, &bare, 1), 0, "rows with an address alone");
    cf_cacheperf_class(c, &bare, got);
    is_u64(got[0], CF_CLASS_NONE, "which are no misses");
    cf_cacheperf_free(c);
    c = cf_cacheperf_new(&g);
    with_level.level = level;
    is_u64((uint64_t)cf_cacheperf_judge(c, &with_level, 1), 0, "rows with a level");
    cf_cacheperf_class(c, &with_level, got);
    is_u64(got[0], CF_CLASS_CAPACITY, "which are misses");
    cf_cacheperf_free(c);
    c = cf_cacheperf_new(&g);
    is_u64((uint64_t)cf_cacheperf_judge(c, NULL, 0), 0, "no rows");
    cf_cacheperf_free(c);
}

int main(void)
{
    filters();
    windows_by_hand();
    statements();
    odd_rows();
    few_columns();
    return done();
}
