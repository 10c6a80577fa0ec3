/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_heatmap [-g ROWS]: the counting loop of cf-heatmap on synthetic resolved accesses: stack,
 * heap, a table of 64 MiB touched at random, and program code whose fetches do not count. Prints
 * millions of rows a second of CPU time, each beside a loop that only reads the same columns.
 * With -g the same rows go to standard output as a stream, to measure the whole program with.
 *
 * Memory: one block of rows, and what the counter takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/stream/cf.h"

/* The programs of this directory link with the library alone, and this is what is measured. */
#include "filters/heat/count.c"

enum { BLOCK = 1 << 18, BLOCKS = 200 };

static uint64_t times[BLOCK], addr[BLOCK], amount[BLOCK];
static uint32_t region[BLOCK], page[BLOCK];
static uint8_t op[BLOCK];
static uint64_t seed = 88172645463325252u, now_time;

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

/* kind: 'm' for the mixture, 'r' for the table alone */
static void fill(int kind)
{
    static const uint64_t start[] = {0, 0x400000, 0x4a00000, 0x7f0000000000, 0x7ffc00000000};

    for (uint32_t i = 0; i < BLOCK; i++) {
        uint64_t r = rnd(), step = now_time / 300000;
        unsigned pick = kind == 'r' ? 9 : (unsigned)(r % 10);
        uint64_t offset;

        op[i] = pick < 3 ? CF_IFETCH : r >> 8 & 1 ? CF_LOAD : CF_STORE;
        region[i] = pick < 3 ? 1 : pick < 6 ? 4 : pick < 9 ? 2 : 3;
        offset = pick < 3   ? (r >> 16) % (32 << 10)
                 : pick < 6 ? (r >> 16) % (12 << 10)
                 : pick < 9 ? ((step * 40 << 10) + (r >> 16) % (200 << 10)) % (6 << 20)
                            : (r >> 16) % (64 << 20);
        page[i] = (uint32_t)(offset >> HEAT_PAGE_SHIFT);
        addr[i] = start[region[i]] + offset;
        amount[i] = 8;
        times[i] = now_time++;
    }
}

static int generate(uint64_t rows)
{
    static const char *const names[] = {"/usr/bin/program", "[heap]", "/dev/zero (table)",
                                        "[stack]"};
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)"bench_heatmap",
                                     .command = (char *)"synthetic program"};
    struct cf_writer *w = cf_writer_open(NULL, "bench_heatmap");
    char problem[512] = "";
    uint32_t id[5] = {0};
    int bad;

    if (!w)
        return 1;
    bad = cf_writer_header(w, &header);
    for (unsigned i = 0; i < 4; i++)
        id[i + 1] = cf_writer_string(w, names[i]);
    for (uint64_t done = 0; done < rows && !bad; done += BLOCK) {
        const struct cf_values c[] = {{CF_TIME, times, 0},    {CF_OP, op, 0},
                                      {CF_SIZE, NULL, 8},     {CF_ADDR, addr, 0},
                                      {CF_REGION, region, 0}, {CF_PAGENO, page, 0}};
        fill('m');
        for (uint32_t i = 0; i < BLOCK; i++)
            region[i] = id[region[i]];
        for (uint32_t at = 0; at < BLOCK && !bad; at += CF_WIRE_ROWS) {
            struct cf_values part[6];
            for (unsigned k = 0; k < 6; k++) {
                part[k] = c[k];
                if (c[k].values)
                    part[k].values =
                        (const char *)c[k].values + at * cf_type_width(cf_column_type(c[k].column));
            }
            bad = cf_writer_rows(w, CF_ACCESS, CF_WIRE_ROWS, part, 6, NULL);
        }
    }
    if (cf_writer_close(w, !bad, problem, sizeof problem)) {
        fprintf(stderr, "bench_heatmap: %s\n", problem);
        return 1;
    }
    return 0;
}

static double counting(const char *what, int kind, int resolved, int weighted)
{
    static uint8_t pass[256];
    static const struct cf_tool tool = {.name = "bench_heatmap"};
    struct heat *h = heat_new(&tool, 200, 0, 0);
    double spent = 0, reading = 0, start;
    struct heat_rows r = {.from = 0, .to = UINT64_MAX, .pass = pass};

    memset(pass, 1, sizeof pass);
    pass[CF_IFETCH] = 0;
    now_time = 0;
    for (int b = 0; b < BLOCKS; b++) {
        volatile uint64_t sink;
        uint64_t sum = 0;

        /* old rows with new times do: making rows costs more than counting them */
        if (b == 0)
            fill(kind);
        else
            for (uint32_t i = 0; i < BLOCK; i++)
                times[i] = now_time++;
        start = now();
        for (uint32_t at = 0; at < BLOCK; at += HEAT_SLICE) {
            r.rows = HEAT_SLICE;
            r.times = times + at;
            r.region = resolved ? region + at : NULL;
            r.page = resolved ? page + at : NULL;
            r.addr = addr + at;
            r.kind = op + at;
            r.amount = weighted ? amount + at : NULL;
            if (heat_add(h, &r))
                return 0;
        }
        spent += now() - start;
        start = now();
        for (uint32_t i = 0; i < BLOCK; i++)
            sum += times[i] + op[i] + region[i] + page[i];
        sink = sum;
        (void)sink;
        reading += now() - start;
    }
    printf("  %-34s %8.1f %8.1f\n", what, (double)BLOCK * BLOCKS / spent / 1e6,
           (double)BLOCK * BLOCKS / reading / 1e6);
    heat_free(h);
    return spent;
}

int main(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "g:")) != -1) {
        if (option != 'g')
            return 2;
        return generate(strtoull(optarg, NULL, 0));
    }
    printf("  %-34s %8s %8s\n", "rows", "M rows/s", "reading");
    counting("resolved", 'm', 1, 0);
    counting("resolved, with weights", 'm', 1, 1);
    counting("by address", 'm', 0, 0);
    counting("resolved, random over 64 MiB", 'r', 1, 0);
    return 0;
}
