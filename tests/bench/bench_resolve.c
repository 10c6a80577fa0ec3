/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_resolve.c - lookups in the range set as cf-resolve makes them, on a synthetic process: a
 * million live heap objects of 48 bytes, accesses to random ones, to few of them, and along a large
 * array; and allocations and releases in between. Prints millions of lookups, or of events, a
 * second of CPU time, and beside each the same by a plain binary search over a sorted array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "filters/engine/rows/intervals.h"
#include "formats/stream/cf.h"
#include "tests/unit/intervals_bytes.h"

enum { OBJECTS = 1000000, STEP = 64, LENGTH = 48, BATCH = 4096, ROUNDS = 5000 };

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const uint64_t heap = 0x4a00000;
static uint64_t starts[OBJECTS];
static uint64_t addr[BATCH], key[BATCH];
static uint32_t slots[BATCH];

static void fill(const char *how, uint32_t round)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        key[i] = i % 7;
        if (!strcmp(how, "random"))
            addr[i] = heap + rnd() % OBJECTS * STEP + rnd() % LENGTH;
        else if (!strcmp(how, "few"))
            addr[i] = heap + rnd() % 1000 * 40000 + rnd() % LENGTH;
        else /* seven arrays in step, none of them an object */
            addr[i] = 0x7f0000000000 + key[i] * 0x10000000 + ((uint64_t)round * BATCH + i) / 7 * 8;
    }
}

static uint32_t plain(uint64_t a)
{
    uint32_t low = 0, high = OBJECTS;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (starts[middle] <= a)
            low = middle;
        else
            high = middle;
    }
    return a - starts[low] < LENGTH ? low + 1 : 0;
}

struct rows {
    uint64_t time[BATCH], addr[BATCH], pc[BATCH], bytes[BATCH];
    uint32_t size[BATCH];
    uint8_t op[BATCH];
};

static int write_objects(struct cf_writer *w, const struct rows *r, uint32_t n)
{
    const struct cf_values columns[] = {{CF_TIME, r->time, 0},
                                        {CF_PID, NULL, 1},
                                        {CF_OP, r->op, 0},
                                        {CF_ADDR, r->addr, 0},
                                        {CF_BYTES, r->bytes, 0}};

    return cf_writer_rows(w, CF_OBJECT, n, columns, 5, NULL);
}

static void map_row(struct cf_writer *w, uint64_t start, uint64_t end, const char *name)
{
    const struct cf_values columns[] = {
        {CF_TIME, NULL, 0},       {CF_PID, NULL, 1},
        {CF_OP, NULL, CF_MAPPED}, {CF_START, NULL, start},
        {CF_STOP, NULL, end},     {CF_OFFSET, NULL, 0},
        {CF_PERMS, NULL, 3},      {CF_LABEL, NULL, cf_writer_string(w, name)}};

    (void)cf_writer_rows(w, CF_MAP, 1, columns, 8, NULL);
}

static int stream(uint64_t rows, uint32_t objects, uint32_t every)
{
    static struct rows o, a;
    struct cf_writer *w = cf_writer_open(NULL, "bench_resolve");
    const struct cf_values columns[] = {
        {CF_TIME, a.time, 0}, {CF_PID, NULL, 1},    {CF_TID, NULL, 1}, {CF_OP, a.op, 0},
        {CF_SIZE, a.size, 0}, {CF_ADDR, a.addr, 0}, {CF_PC, a.pc, 0}};
    char problem[256];
    uint32_t k = 0;

    if (!w)
        return 3;
    (void)cf_writer_header(w, &(struct cf_header){.clock_unit = "instructions"});
    map_row(w, heap, heap + (uint64_t)objects * STEP + STEP, "[heap]");
    map_row(w, 0x7ff000000000, 0x7ff000100000, "[stack]");
    for (uint32_t i = 0; i < objects; i++) {
        o.op[k] = CF_ALLOC;
        o.addr[k] = heap + (uint64_t)i * STEP;
        o.bytes[k] = LENGTH;
        o.time[k] = 0;
        if (++k == BATCH || i + 1 == objects) {
            (void)write_objects(w, &o, k);
            k = 0;
        }
    }
    for (uint64_t time = 1; time < rows;) {
        uint32_t n = 0, m = 0;
        while (n < BATCH) {
            uint64_t at = heap + rnd() % objects * STEP;
            a.time[n] = ++time;
            a.op[n] = n % 3 ? CF_LOAD : CF_STORE;
            a.size[n] = 8;
            a.addr[n] = n % 4 ? at + rnd() % LENGTH : 0x7ff000000000 + rnd() % 4096;
            a.pc[n] = 0x401000 + n % 300 * 4;
            if (++n % every == 0) {
                for (int free = 1; free >= 0; free--, m++) {
                    o.time[m] = time;
                    o.op[m] = free ? CF_FREE : CF_ALLOC;
                    o.addr[m] = at;
                    o.bytes[m] = LENGTH;
                }
            }
        }
        if (write_objects(w, &o, m) < 0 || cf_writer_rows(w, CF_ACCESS, n, columns, 7, NULL) < 0)
            break;
    }
    if (cf_writer_close(w, 1, problem, sizeof problem) == 0)
        return 0;
    fprintf(stderr, "%s\n", problem);
    return 3;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "stream")) {
        unsigned long objects = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
        return stream(strtoull(argv[2], NULL, 0),
                      objects && objects < OBJECTS ? (uint32_t)objects : OBJECTS,
                      argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 50);
    }
    static const char *const hows[] = {"random", "few", "along"};
    struct cf_intervals *v = cf_intervals_new(6);
    uint32_t *slot = calloc(OBJECTS, sizeof *slot);

    if (!v || !slot)
        return 3;
    for (uint32_t i = 0; i < OBJECTS; i++)
        starts[i] = heap + (uint64_t)i * STEP;
    double t = now();
    for (uint32_t i = 0; i < OBJECTS; i++)
        slot[i] = cf_intervals_insert(v, starts[i], starts[i] + LENGTH - 1, i + 1, 0);
    printf("insert_ascending_M_per_s,%.1f\n", OBJECTS / (now() - t) / 1e6);

    for (unsigned h = 0; h < 3; h++) {
        double fast = 0, slow = 0;
        uint64_t wrong = 0;
        uint32_t rounds = ROUNDS;
        for (uint32_t r = 0; r < rounds; r++) {
            fill(hows[h], r);
            t = now();
            cf_intervals_find_many(v, addr, key, BATCH, slots);
            fast += now() - t;
            if (r % 16)
                continue;
            const struct cf_interval *s = cf_intervals_slots(v);
            t = now();
            for (uint32_t i = 0; i < BATCH; i++)
                wrong += plain(addr[i]) != s[slots[i]].value;
            slow += now() - t;
        }
        double rate = (double)rounds * BATCH / fast / 1e6;
        double base = (double)((rounds + 15) / 16) * BATCH / slow / 1e6;
        printf("%s_M_per_s,%.1f,binary_search,%.1f,ratio,%.1f\n", hows[h], rate, base, rate / base);
        if (wrong) {
            printf("wrong,%llu\n", (unsigned long long)wrong);
            return 1;
        }
    }

    t = now();
    for (uint32_t i = 0; i < 2 * OBJECTS; i++) {
        uint32_t o = (uint32_t)(rnd() % OBJECTS);
        cf_intervals_remove(v, slot[o]);
        slot[o] = cf_intervals_insert(v, starts[o], starts[o] + LENGTH - 1, o + 1, 0);
    }
    printf("free_and_alloc_random_M_per_s,%.1f\n", 2.0 * OBJECTS / (now() - t) / 1e6);
    printf("bytes_per_object,%.1f\n", (double)intervals_bytes(v) / OBJECTS);
    cf_intervals_free(v);
    free(slot);
    return 0;
}
