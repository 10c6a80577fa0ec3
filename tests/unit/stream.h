/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h - what the tests of libcf's streams share: a directory for files, writers and readers in
 * it, and rows of several shapes. A program that includes it is one test: everything is its own.
 * Memory: the rows of the largest case, 600,000 accesses.
 */
#ifndef STREAM_H
#define STREAM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "piped.h"
#include "tap.h"

static char dir[] = "/tmp/cf-stream-XXXXXX";
static char problem[1024];

static const struct cf_header plain_header = {.clock_unit = (char *)"nanoseconds",
                                              .clock_hz = 1000000000,
                                              .machine = (char *)"some: \"machine\"",
                                              .line_size = 64,
                                              .source = (char *)"test_stream",
                                              .command = (char *)"prog 'a b' \"c\""};

/* A file in our directory; a static buffer, good for four names at a time. */
static inline char *file_of(const char *name)
{
    static char names[4][128];
    static unsigned next;
    char *path = names[next++ % 4];

    snprintf(path, sizeof(names[0]), "%s/%s", dir, name);
    return path;
}

/* A writer to a file, as to a pipe unless it is `packed`: by standard output, until finish(). */
static inline struct cf_writer *start(const char *name, int packed, const char *program)
{
    struct cf_writer *w;

    if (!packed)
        piped_begin(file_of(name));
    w = cf_writer_open(packed ? file_of(name) : NULL, program);
    if (!w)
        abort();
    return w;
}

static inline int finish(struct cf_writer *w, int complete)
{
    const int status = cf_writer_close(w, complete, problem, sizeof(problem));

    piped_end();
    return status;
}

static inline struct cf_reader *open_one(const char *name)
{
    /* the reader keeps what it is given */
    static char *files[4];
    static unsigned next;
    struct cf_reader *in;

    next = (next + 1) % 4;
    files[next] = file_of(name);
    in = cf_reader_open(&files[next], 1);

    if (!in)
        abort();
    return in;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- rows ---- */

enum { ROUND_ROWS = 600000 };
static uint64_t g_time[ROUND_ROWS], g_addr[ROUND_ROWS], g_pc[ROUND_ROWS], g_phys[ROUND_ROWS];
static uint32_t g_tid[ROUND_ROWS], g_size[ROUND_ROWS], g_insns[ROUND_ROWS];
static uint8_t g_op[ROUND_ROWS], g_level[ROUND_ROWS];

enum shape { LOOPS, NOISE, EXTREMES, CONSTANT, BACKWARDS };

static inline void fill_extreme(uint32_t i, uint32_t rows, uint64_t r)
{
    static const uint64_t edge[] = {0,          1,          255,        256,        65535, 65536,
                                    UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX, 127,   128};

    g_time[i] = i < rows / 2 ? 0 : UINT64_MAX;
    g_pc[i] = edge[r % 12];
    g_addr[i] = edge[(r >> 8) % 12];
    g_op[i] = (uint8_t)(r >> 16);
    g_size[i] = (uint32_t)edge[(r >> 24) % 12];
    g_insns[i] = (uint32_t)edge[(r >> 32) % 12];
    g_tid[i] = (uint32_t)edge[(r >> 40) % 12];
}

static inline void fill(enum shape shape, uint32_t rows)
{
    uint64_t state = 88172645463325252ull + shape, now = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t r = next_random(&state);

        switch (shape) {
        case LOOPS:
            now += 2 + i % 3;
            g_time[i] = now;
            g_pc[i] = 0x400000 + (i % 7) * 4 + (i / 50000) * 0x1000;
            g_addr[i] =
                0x7f0000000000 + (i % 7) * 0x10000 + (i / 7) * 8 + (r % 97 == 0 ? r >> 20 : 0);
            g_op[i] = i % 7 == 3 ? CF_STORE : i % 7 == 6 ? CF_IFETCH : CF_LOAD;
            g_size[i] = i % 7 == 6 ? 23 : 8;
            g_insns[i] = i % 7 == 6 ? 5 : 0;
            g_tid[i] = 7 + (i / 1000) % 2;
            break;
        case NOISE:
            now += r % 1000;
            g_time[i] = now;
            g_pc[i] = r;
            g_addr[i] = next_random(&state);
            g_op[i] = 1 + r % 5;
            g_size[i] = (uint32_t)(r >> 32);
            g_insns[i] = (uint32_t)(r >> 40);
            g_tid[i] = (uint32_t)r;
            break;
        case EXTREMES:
            fill_extreme(i, rows, r);
            break;
        case CONSTANT:
            g_time[i] = 42;
            g_pc[i] = UINT64_MAX;
            g_addr[i] = 0x1234;
            g_op[i] = CF_LOAD;
            g_size[i] = 1;
            g_insns[i] = 0;
            g_tid[i] = UINT32_MAX;
            break;
        case BACKWARDS:
            /* no table of ours runs so, but a stream is not wrong for it */
            g_time[i] = UINT64_MAX - i * 5ull;
            g_pc[i] = 0x400000 - i % 11;
            g_addr[i] = 0x100000000 - i * 64ull;
            g_op[i] = CF_STORE;
            g_size[i] = 4;
            g_insns[i] = 0;
            g_tid[i] = i % 3;
            break;
        }
        g_phys[i] = g_addr[i] ^ 0x5555;
        g_level[i] = (uint8_t)(r >> 56);
    }
}

/* Writes the rows in pieces of uneven length, so that frames are cut by the writer. */
static inline int write_rows(struct cf_writer *w, uint32_t rows)
{
    for (uint32_t at = 0, n; at < rows; at += n) {
        n = 1 + (at * 7 + 12345) % 40000;
        if (n > rows - at)
            n = rows - at;
        const struct cf_values c[] = {{CF_TIME, g_time + at, 0},   {CF_PID, NULL, 77},
                                      {CF_TID, g_tid + at, 0},     {CF_OP, g_op + at, 0},
                                      {CF_SIZE, g_size + at, 0},   {CF_ADDR, g_addr + at, 0},
                                      {CF_PHYS, g_phys + at, 0},   {CF_PC, g_pc + at, 0},
                                      {CF_LEVEL, g_level + at, 0}, {CF_INSNS, g_insns + at, 0}};
        if (cf_writer_rows(w, CF_ACCESS, n, c, 10, NULL))
            return -1;
    }
    return 0;
}

/* Number of access rows of a file that equal ours, in order; stops at the first that does not. */
static inline uint64_t compare_rows(const char *name, uint32_t *largest)
{
    struct cf_reader *in = open_one(name);
    struct cf_frame *f;
    uint64_t at = 0;

    *largest = 0;
    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        if (f->table != CF_ACCESS)
            continue;
        const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR),
                       *phys = cf_u64(f, CF_PHYS), *pc = cf_u64(f, CF_PC);
        const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID),
                       *size = cf_u32(f, CF_SIZE), *insns = cf_u32(f, CF_INSNS);
        const uint8_t *op = cf_u8(f, CF_OP), *level = cf_u8(f, CF_LEVEL);
        const size_t n = f->rows;

        if (n > *largest)
            *largest = f->rows;
        if (!time || !addr || !phys || !pc || !pid || !tid || !size || !insns || !op || !level ||
            at + n > ROUND_ROWS || memcmp(time, g_time + at, 8 * n) ||
            memcmp(addr, g_addr + at, 8 * n) || memcmp(phys, g_phys + at, 8 * n) ||
            memcmp(pc, g_pc + at, 8 * n) || memcmp(tid, g_tid + at, 4 * n) ||
            memcmp(size, g_size + at, 4 * n) || memcmp(insns, g_insns + at, 4 * n) ||
            memcmp(op, g_op + at, n) || memcmp(level, g_level + at, n) || pid[0] != 77 ||
            pid[n - 1] != 77 || f->first > time[0] || f->last < time[n - 1])
            break;
        at += n;
    }
    if (cf_reader_damages(in))
        note("%s", cf_reader_problem(in));
    cf_reader_close(in);
    return at;
}

/* First and last in main(): the directory comes and goes. */
static inline void begin_streams(void)
{
    if (!mkdtemp(dir))
        abort();
}

static inline int end_streams(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    if (system(command))
        note("%s is left", dir);
    return done();
}

#endif
