/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_runs: accesses become line references, against a reference that takes one reference at a
 * time and keeps only the one before; the code for each processor, all options, batches of
 * any size, every op, accesses from 0 bytes to many lines and at the top of the address space.
 */
#include <string.h>

#include "cpus.h"
#include "filters/engine/rows/runs.h"
#include "formats/stream/cf.h"
#include "tap.h"

enum { ROWS = 3000, MOST = 400000 };

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

struct run {
    uint64_t line;
    uint32_t row;
    uint8_t flags;
};

static uint64_t addr[ROWS];
static uint8_t op[ROWS];
static uint32_t size[ROWS];
static uint8_t begins[ROWS + 64];
static int has_begins;
static struct run want[MOST];

struct before {
    uint64_t line;
    unsigned op; /* 0: none */
    size_t run;
};

/* Whether two references to one line, one after the other, may be one run. */
static int together(unsigned a, unsigned b, unsigned options)
{
    if (!a || a == CF_FLUSH || b == CF_FLUSH || (a == CF_IFETCH) != (b == CF_IFETCH))
        return 0;
    if ((options & CF_RUNS_STORES) && (a == CF_STORE || b == CF_STORE))
        return 0;
    return a != CF_PREFETCH || b == CF_PREFETCH;
}

/* The runs of rows from..to when every batch ends after `capacity` runs. Sets the number of line
   references and returns that of the runs. */
static size_t slow(unsigned shift, unsigned options, uint32_t capacity, uint32_t from, uint32_t to,
                   int has_op, int has_size, uint64_t space, uint64_t *references)
{
    struct before before[2] = {{0}};
    size_t n = 0;
    uint32_t in_batch = 0;

    for (uint32_t i = from; i < to; i++) {
        const unsigned o = has_op && op[i] && op[i] <= CF_FLUSH ? op[i] : CF_LOAD;
        const uint32_t bytes = has_size && size[i] ? size[i] : 1;
        const uint64_t room = UINT64_MAX - addr[i];
        const uint64_t end = addr[i] + (bytes - 1 < room ? bytes - 1 : room);
        struct before *b = &before[o == CF_IFETCH && (options & CF_RUNS_SPLIT)];

        if (has_begins && begins[i] && !(options & CF_RUNS_SPLIT))
            before[0].op = before[1].op = 0;
        if (!(options & (o == CF_IFETCH ? CF_RUNS_FETCHES : CF_RUNS_DATA)))
            continue;
        for (uint64_t line = addr[i] >> shift; line <= end >> shift; line++) {
            ++*references;
            if (b->line != line || !together(b->op, o, options)) {
                if (in_batch == capacity) {
                    in_batch = 0;
                    before[0].op = before[1].op = 0;
                }
                if (n == MOST)
                    return n;
                want[n] = (struct run){line ^ space, i, 0};
                want[n].flags =
                    (o == CF_STORE ? CF_RUN_STORE : 0) | (o == CF_IFETCH ? CF_RUN_FETCH : 0) |
                    (o == CF_PREFETCH ? CF_RUN_PREFETCH : 0) | (o == CF_FLUSH ? CF_RUN_FLUSH : 0) |
                    (line != addr[i] >> shift ? CF_RUN_PART : 0);
                b->run = n++;
                in_batch++;
            } else {
                want[b->run].flags |= CF_RUN_AGAIN | (o == CF_STORE ? CF_RUN_STORE : 0);
            }
            b->line = line;
            b->op = o;
            if (o == CF_FLUSH)
                before[0].op = before[1].op = 0;
        }
    }
    return n;
}

/* Fills addr, op and size in one of several styles. */
static void make(unsigned style, unsigned ops, unsigned sizes)
{
    static const uint8_t kinds[] = {CF_LOAD, CF_STORE, CF_IFETCH, CF_PREFETCH, CF_FLUSH, 0, 77};
    uint64_t at = (uint64_t)next() << 12;
    const unsigned apart = 1u << next() % 9;

    has_begins = next() % 2;
    for (uint32_t i = 0; i < ROWS; i++)
        begins[i] = next() % apart == 0;

    if (style == 3)
        at = UINT64_MAX - 5000;
    for (uint32_t i = 0; i < ROWS; i++) {
        switch (style) {
        case 0: /* within few lines */
            addr[i] = 0x7000 + next() % 400;
            break;
        case 1: /* all lines alike, now and then another */
            at += next() % 50 == 0 ? next() : 0;
            addr[i] = at;
            break;
        case 2: /* anywhere */
            addr[i] = (uint64_t)next() << 33 ^ next();
            break;
        default: /* in steps */
            addr[i] = at += next() % 16;
        }
        op[i] = ops == 2                        ? kinds[next() % 7]
                : ops == 1 && next() % 200 == 0 ? kinds[next() % 7]
                                                : kinds[next() % 2];
        size[i] = sizes == 0 ? 1 + next() % 8 : sizes == 1 ? 0 : next() % (1u << next() % 12);
        if (sizes == 0 && next() % 20)
            addr[i] &= ~(uint64_t)7;
    }
}

static int same(unsigned shift, unsigned options, uint32_t capacity, uint32_t from, uint32_t to,
                int has_op, int has_size, uint64_t space)
{
    struct cf_runs *r = cf_runs_new(shift, options, capacity);
    uint64_t references = 0, ops[CF_FLUSH + 1] = {0}, all;
    const size_t n = slow(shift, options, capacity, from, to, has_op, has_size, space, &references);
    size_t k = 0;
    uint32_t at = from;
    int good = 1;

    r->begins = has_begins && !(options & CF_RUNS_SPLIT) ? begins : NULL;
    cf_runs_ops(r, has_op ? op + from : NULL, to - from, ops);
    all = options & CF_RUNS_FETCHES ? ops[CF_IFETCH] : 0;
    for (unsigned o = CF_LOAD; options & CF_RUNS_DATA && o <= CF_FLUSH; o++)
        all += o == CF_IFETCH ? 0 : ops[o];
    while (at < to && good && k <= n) {
        at = cf_runs_fill(r, addr, has_op ? op : NULL, has_size ? size : NULL, at, to, space);
        good &= r->count <= capacity && (at == to || r->count == capacity);
        for (uint32_t i = 0; i < r->count && good; i++, k++)
            good &= k < n && r->line[i] == want[k].line && r->row[i] == want[k].row &&
                    r->flags[i] == want[k].flags;
        for (uint32_t i = 0; i < r->count; i++)
            all += (r->flags[i] & CF_RUN_PART) != 0;
    }
    good &= k == n && r->references == references && all == references && r->done == 0;
    cf_runs_free(r);
    return good;
}

static void rounds(void)
{
    static const uint32_t capacities[] = {1, 2, 7, 63, 64, 65, 100, 1000, 70000};
    unsigned bad[CF_CPUS] = {0}, tried = 0;

    for (unsigned round = 0; round < 1500; round++) {
        const unsigned shift = round % 13 == 0 ? 2 : 4 + next() % 9;
        const unsigned options = 1 + next() % 15;
        const uint32_t capacity = capacities[next() % 9];
        const uint32_t from = next() % 3 ? 0 : next() % 200, to = ROWS - next() % 500;
        const int has_op = next() % 8 != 0, has_size = next() % 8 != 0;
        const uint64_t space = cf_space_key(next() % 4);

        if (!(options & CF_RUNS_ALL))
            continue;
        make(next() % 4, next() % 3, next() % 3);
        for (unsigned cpu = CF_CPU_NONE; cpu <= best_cpu(); cpu++) {
            take_cpu(cpu);
            if (!same(shift, options, capacity, from, to, has_op, has_size, space) && !bad[cpu]++)
                note("shift %u options %u capacity %u rows %u to %u op %d size %d", shift, options,
                     capacity, from, to, has_op, has_size);
        }
        tried++;
    }
    ok(tried > 1000, "%u traces, options and batch sizes", tried);
    for (unsigned cpu = CF_CPU_NONE; cpu <= best_cpu(); cpu++)
        is_u64(bad[cpu], 0, "%s: the same runs as the reference", cpu_names[cpu]);
}

static void large(void)
{
    struct cf_runs *r = cf_runs_new(6, CF_RUNS_DATA, 1000);
    uint64_t count = 0, wrong = 0;
    uint32_t at = 0;

    addr[0] = 0x1000;
    size[0] = UINT32_MAX;
    op[0] = CF_STORE;
    while (at == 0) {
        at = cf_runs_fill(r, addr, op, size, at, 1, 0);
        for (uint32_t i = 0; i < r->count; i++, count++)
            wrong += r->line[i] != 0x40 + count || r->row[i] != 0;
    }
    is_u64(count, 1u << 26, "an access of 4 GiB touches 67,108,864 lines");
    is_u64(wrong, 0, "one after the other");
    is_u64(r->references, 1u << 26, "and counts them");
    addr[0] = UINT64_MAX - 10;
    at = cf_runs_fill(r, addr, op, size, 0, 1, 0);
    ok(at == 1 && r->count == 1 && r->line[0] == UINT64_MAX >> 6,
       "at the top of the address space it ends there");
    is_u64(cf_runs_fill(r, addr, op, size, 5, 5, 0), 5, "no rows, no runs");
    is_u64(r->count, 0, "in an empty batch");
    cf_runs_free(r);
}

static void keys(void)
{
    int distinct = 1, clear = 1;

    for (uint32_t i = 0; i < 2000; i++) {
        clear &= cf_space_key(i) >> 63 == 0 && cf_space_key(i) << 32 == 0;
        for (uint32_t k = 0; k < i; k++)
            distinct &= cf_space_key(i) != cf_space_key(k);
    }
    is_u64(cf_space_key(0), 0, "the first process has no key");
    is_u64(cf_space_key(1), 1ull << 62, "the second has the highest bit that a line leaves free");
    ok(clear, "keys leave the top bit free, and those that choose a set");
    ok(distinct, "no two processes have the same");
    ok(cf_space_key(UINT32_MAX) != cf_space_key(UINT32_MAX - 1), "also beyond two thousand");
}

int main(void)
{
    rounds();
    large();
    keys();
    return done();
}
