/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_gen [-n ROWS] [-k KIND] [-o FILE]: a synthetic access stream of six columns (time, tid, op,
 * size, addr, pc) to measure with, the same at every run: raw on standard output, packed with -o.
 *
 *   loops    nested loops over arrays, four accesses an iteration: what the packer is made for
 *   mixed    loops with a tenth of pointer chasing over 64 MiB (the default)
 *   uniform  random addresses over 64 MiB, random instructions of 4096: repeats nothing
 *   zipf     what the benchmarks of engines call so, by four instructions; the first 100 million
 *            accesses again and again: as each is drawn by itself, that is as good as further ones
 *
 * Memory: one batch of 16,384 rows; of zipf what bench_engine.h says, for 100 million at most.
 */
#include "bench_engine.h"

enum { BATCH = CF_WIRE_ROWS, DRAWN = 100000000 };

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

int main(int argc, char **argv)
{
    static uint64_t time[BATCH], addr[BATCH], pc[BATCH];
    static uint32_t size[BATCH];
    static uint8_t op[BATCH];
    struct bench_trace zipf = {.count = 0};
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)"bench_gen",
                                     .command = (char *)"synthetic"};
    const char *kind = "mixed", *file = NULL;
    uint64_t rows = 10000000, now = 0;
    char problem[512] = "";
    struct cf_writer *w;
    int option, status;

    while ((option = getopt(argc, argv, "n:k:o:")) != -1) {
        if (option == 'n')
            rows = strtoull(optarg, NULL, 0);
        else if (option == 'k')
            kind = optarg;
        else if (option == 'o')
            file = optarg;
        else
            return 2;
    }
    if (*kind == 'z')
        zipf = bench_zipf(rows < DRAWN ? rows : DRAWN);
    w = cf_writer_open(file, "bench_gen");
    if (!w)
        return 1;
    status = cf_writer_header(w, &header);
    for (uint64_t done = 0; done < rows && !status;) {
        const uint32_t n = rows - done < BATCH ? (uint32_t)(rows - done) : BATCH;
        const struct cf_values c[] = {{CF_TIME, time, 0}, {CF_TID, NULL, 1},  {CF_OP, op, 0},
                                      {CF_SIZE, size, 0}, {CF_ADDR, addr, 0}, {CF_PC, pc, 0}};

        for (uint32_t i = 0; i < n; i++, done++) {
            const uint64_t r = next_random(), inner = done / 4 % 1000, outer = done / 4000;
            const unsigned slot = done % 4;
            const int chase = *kind == 'u' || (*kind == 'm' && r % 10 == 0);

            now += 1 + (slot == 3) * 2;
            time[i] = now;
            pc[i] = *kind == 'u' ? 0x400000 + (r >> 50) % 4096 * 4
                                 : 0x400000 + (outer % 50) * 64 + slot * 4 + (chase ? 16 : 0);
            addr[i] = chase ? 0x10000000 + (r >> 12) % (1 << 23) * 8
                            : 0x7f0000000000 + slot * 0x100000 + (outer % 200) * 512 + inner * 8;
            op[i] = slot == 3 ? CF_STORE : CF_LOAD;
            size[i] = slot == 2 ? 4 : 8;
            if (zipf.count) {
                addr[i] = zipf.addr[done % zipf.count];
                op[i] = zipf.op[done % zipf.count];
                size[i] = zipf.size[done % zipf.count];
            }
        }
        status = cf_writer_rows(w, CF_ACCESS, n, c, 6, NULL);
    }
    if (cf_writer_close(w, 1, problem, sizeof(problem)) || status) {
        fprintf(stderr, "bench_gen: %s\n", problem);
        return 1;
    }
    return 0;
}
