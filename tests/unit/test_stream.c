/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stream: what libcf promises in cf.h: rows come back as they were written, raw and packed,
 * whatever their values; frames keep their bounds and their order; filters pass on what they do not
 * know; segments, dictionaries, ranges, indexes, idle flushes and problems work as the header says.
 * Memory: the rows of the largest case, 600,000 accesses, twice.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/cf.h"
#include "reseal.h"
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
static char *file_of(const char *name)
{
    static char names[4][128];
    static unsigned next;
    char *path = names[next++ % 4];

    snprintf(path, sizeof(names[0]), "%s/%s", dir, name);
    return path;
}

static int saved_stdout = -1;

/* A writer to a file: raw goes through standard output, which is moved aside until finish(). */
static struct cf_writer *start(const char *name, int packed, const char *program)
{
    struct cf_writer *w;

    if (!packed) {
        int fd = open(file_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0666);

        fflush(stdout);
        saved_stdout = dup(1);
        dup2(fd, 1);
        close(fd);
    }
    w = cf_writer_open(packed ? file_of(name) : NULL, program);
    if (!w)
        abort();
    return w;
}

static int finish(struct cf_writer *w, int complete)
{
    const int status = cf_writer_close(w, complete, problem, sizeof(problem));

    if (saved_stdout >= 0) {
        dup2(saved_stdout, 1);
        close(saved_stdout);
        saved_stdout = -1;
    }
    return status;
}

static struct cf_reader *open_one(const char *name)
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

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- rows come back ---- */

enum { ROUND_ROWS = 600000 };
static uint64_t g_time[ROUND_ROWS], g_addr[ROUND_ROWS], g_pc[ROUND_ROWS], g_phys[ROUND_ROWS];
static uint32_t g_tid[ROUND_ROWS], g_size[ROUND_ROWS], g_insns[ROUND_ROWS];
static uint8_t g_op[ROUND_ROWS], g_level[ROUND_ROWS];

enum shape { LOOPS, NOISE, EXTREMES, CONSTANT, BACKWARDS };
static const char *const shape_names[] = {"loops", "noise", "extremes", "constant", "backwards"};

static void fill(enum shape shape, uint32_t rows)
{
    static const uint64_t edge[] = {0,          1,          255,        256,        65535, 65536,
                                    UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX, 127,   128};
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
            g_time[i] = i < rows / 2 ? 0 : UINT64_MAX;
            g_pc[i] = edge[r % 12];
            g_addr[i] = edge[(r >> 8) % 12];
            g_op[i] = (uint8_t)(r >> 16);
            g_size[i] = (uint32_t)edge[(r >> 24) % 12];
            g_insns[i] = (uint32_t)edge[(r >> 32) % 12];
            g_tid[i] = (uint32_t)edge[(r >> 40) % 12];
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
static int write_rows(struct cf_writer *w, uint32_t rows)
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
static uint64_t compare_rows(const char *name, uint32_t *largest)
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

static void test_round_trips(void)
{
    static const uint32_t counts[] = {1, 2, 5000, ROUND_ROWS};

    for (enum shape shape = LOOPS; shape <= BACKWARDS; shape++) {
        fill(shape, ROUND_ROWS);
        for (int packed = 0; packed < 2; packed++)
            for (unsigned i = 0; i < 4; i++) {
                struct cf_writer *w = start("round.cf", packed, "test_stream");
                uint32_t largest;
                int status;

                /* the shape with two times wants exactly its own length */
                if (shape == EXTREMES)
                    fill(shape, counts[i]);
                status = cf_writer_header(w, &plain_header) | write_rows(w, counts[i]);
                status |= finish(w, 1);
                ok(!status && compare_rows("round.cf", &largest) == counts[i],
                   "%s, %s, %u rows come back", shape_names[shape], packed ? "packed" : "raw",
                   counts[i]);
                if (i == 3)
                    ok(largest <= (packed ? CF_FILE_ROWS : CF_WIRE_ROWS),
                       "%s, %s: no frame has more rows than it may: %u", shape_names[shape],
                       packed ? "packed" : "raw", largest);
            }
    }
}

/* Rows with a hint come back as those without, and so do rows whose hint is only half told. */
static void test_hints(void)
{
    static uint32_t hint[ROUND_ROWS];
    struct cf_writer *w = start("hint.cf", 1, "test_stream");
    uint32_t largest;
    int status = cf_writer_header(w, &plain_header);

    fill(LOOPS, 300000);
    for (uint32_t i = 0; i < 300000; i++)
        hint[i] = 1 + i % 7 + (i / 50000) * 7;
    for (uint32_t at = 0; at < 300000; at += 10000) {
        const struct cf_values c[] = {{CF_TIME, g_time + at, 0},   {CF_PID, NULL, 77},
                                      {CF_TID, g_tid + at, 0},     {CF_OP, g_op + at, 0},
                                      {CF_SIZE, g_size + at, 0},   {CF_ADDR, g_addr + at, 0},
                                      {CF_PHYS, g_phys + at, 0},   {CF_PC, g_pc + at, 0},
                                      {CF_LEVEL, g_level + at, 0}, {CF_INSNS, g_insns + at, 0}};
        status |= cf_writer_rows(w, CF_ACCESS, 10000, c, 10, at % 30000 ? hint + at : NULL);
    }
    status |= finish(w, 1);
    ok(!status && compare_rows("hint.cf", &largest) == 300000, "rows with hints come back");
}

/* ---- order, bounds, headers ---- */

static void test_order(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct cf_writer *w = start("order.cf", packed, "test_stream");
        struct cf_reader *in;
        struct cf_frame *f;
        uint64_t map_time = 0, late = 0, maps = 0, rows = 0;
        int status = cf_writer_header(w, &plain_header);

        for (uint64_t i = 0; i < 3000; i++) {
            uint64_t t = i * 10, a = 0x1000 + i * 8;
            const struct cf_values map[] = {
                {CF_TIME, &t, 0}, {CF_PID, NULL, 1}, {CF_OP, NULL, CF_MAPPED}, {CF_START, &a, 0}};
            const struct cf_values access[] = {{CF_TIME, &t, 0}, {CF_ADDR, &a, 0}};

            if (i % 100 == 0)
                status |= cf_writer_rows(w, CF_MAP, 1, map, 4, NULL);
            status |= cf_writer_rows(w, CF_ACCESS, 1, access, 2, NULL);
        }
        status |= finish(w, 1);
        in = open_one("order.cf");
        cf_reader_want_all(in);
        while (cf_reader_next(in, &f) > 0) {
            const uint64_t *time = cf_u64(f, CF_TIME);

            if (f->table == CF_MAP) {
                maps += f->rows;
                map_time = time[f->rows - 1];
            }
            if (f->table == CF_ACCESS) {
                rows += f->rows;
                /* the mappings up to the last access of the frame have come before it */
                if (map_time < time[f->rows - 1] / 1000 * 1000)
                    late++;
            }
        }
        ok(!status && maps == 30 && rows == 3000 && !cf_reader_damages(in),
           "%s: rows of two tables, one at a time, all come", packed ? "packed" : "raw");
        is_u64(late, 0, "%s: pending mappings come before the accesses of the same time",
               packed ? "packed" : "raw");
        cf_reader_close(in);
    }
}

static void test_header(void)
{
    struct cf_writer *w = start("head.cf", 0, "first 'program'");
    struct cf_reader *in;
    struct cf_frame *f;
    int status = cf_writer_header(w, &plain_header) | finish(w, 1);

    for (int packed = 0; packed < 2; packed++) {
        in = open_one(packed ? "head2.cf" : "head.cf");
        need(cf_reader_next(in, &f) == 1 && f->table == CF_HEADER && f->header,
             "the header comes first");
        is_text(f->header->clock_unit, "nanoseconds", "clock unit");
        is_u64(f->header->clock_hz, 1000000000, "clock frequency");
        is_text(f->header->machine, "some: \"machine\"", "machine, with what YAML must quote");
        is_text(f->header->source, "test_stream", "source");
        is_text(f->header->command, "prog 'a b' \"c\"", "command");
        is_u64(f->header->line_size, 64, "line size");
        is_u64(f->header->chain, 1 + packed, "length of the chain");
        ok(f->header->yaml && strstr(f->header->yaml, "first"), "the chain names the program");
        if (!packed) {
            w = start("head2.cf", 1, "then-another");
            status |= cf_writer_frame(w, f);
            while (cf_reader_next(in, &f) > 0)
                status |= cf_writer_frame(w, f);
            status |= finish(w, 1);
        } else {
            ok(f->header->yaml &&
                   strstr(f->header->yaml, "then-another") > strstr(f->header->yaml, "first"),
               "a filter adds itself after it");
        }
        cf_reader_close(in);
    }
    ok(!status, "headers are written");
}

/* All of Unicode goes through a header as it is. */
static void test_header_text(void)
{
    enum { POINTS = 0x110000, STEP = 1 << 14 };
    static char text[4 * STEP + 1];
    unsigned wrong = 0;

    for (uint32_t from = 0; from < POINTS; from += STEP) {
        struct cf_header header = plain_header;
        struct cf_writer *w;
        struct cf_reader *in;
        struct cf_frame *f;
        char *p = text;

        for (uint32_t c = from ? from : 1; c < from + STEP; c++) {
            if (c >= 0xd800 && c <= 0xdfff)
                continue;
            if (c < 0x80)
                *p++ = (char)c;
            else if (c < 0x800)
                *p++ = (char)(0xc0 | c >> 6);
            else if (c < 0x10000)
                *p++ = (char)(0xe0 | c >> 12);
            else
                *p++ = (char)(0xf0 | c >> 18);
            if (c >= 0x10000)
                *p++ = (char)(0x80 | (c >> 12 & 63));
            if (c >= 0x800)
                *p++ = (char)(0x80 | (c >> 6 & 63));
            if (c >= 0x80)
                *p++ = (char)(0x80 | (c & 63));
        }
        *p = 0;
        header.command = text;
        w = start("text.cf", 0, text);
        wrong += cf_writer_header(w, &header) || finish(w, 1);
        in = open_one("text.cf");
        wrong += cf_reader_next(in, &f) != 1 || f->table != CF_HEADER || !f->header->command ||
                 strcmp(f->header->command, text) || cf_reader_damages(in);
        cf_reader_close(in);
    }
    is_u64(wrong, 0, "all of Unicode goes through a header as it is");
}

static void test_complete(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct cf_writer *w = start("cut.cf", packed, "test_stream");
        struct cf_reader *in;
        struct cf_frame *f;
        uint64_t rows = 0;
        int status = cf_writer_header(w, &plain_header);

        fill(LOOPS, 1000);
        status |= write_rows(w, 1000) | finish(w, 0);
        in = open_one("cut.cf");
        while (cf_reader_next(in, &f) > 0)
            rows += f->table == CF_ACCESS ? f->rows : 0;
        ok(!status && rows == 1000 && cf_reader_damages(in) && cf_reader_problem(in),
           "%s: a stream without end frame gives its rows and is told", packed ? "packed" : "raw");
        cf_reader_close(in);
    }
}

static void test_problems(void)
{
    char *files[] = {file_of("does-not-exist"), file_of("fine.cf")};
    struct cf_writer *w = start("fine.cf", 1, "test_stream");
    struct cf_reader *in;
    struct cf_frame *f;
    uint64_t rows = 0, tables = 0;
    int status = cf_writer_header(w, &plain_header);

    fill(LOOPS, 1000);
    status |= write_rows(w, 1000) | finish(w, 1);
    files[0] = file_of("does-not-exist");
    files[1] = file_of("fine.cf");
    in = cf_reader_open(files, 2);
    while (cf_reader_next(in, &f) > 0)
        rows += f->table == CF_ACCESS ? f->rows : 0;
    ok(!status && rows == 1000, "after a file that is not there the next is read");
    ok(cf_reader_damages(in) == 1 && cf_reader_problem(in) &&
           strstr(cf_reader_problem(in), "does-not-exist"),
       "the file that is not there is named: %s",
       cf_reader_problem(in) ? cf_reader_problem(in) : "(nothing)");
    cf_reader_close(in);

    in = open_one("fine.cf");
    cf_reader_want(in, CF_ACCESS, CF_WEIGHT, CF_REQUIRED);
    while (cf_reader_next(in, &f) > 0)
        tables += f->table == CF_ACCESS;
    ok(!tables && cf_reader_damages(in) && strstr(cf_reader_problem(in), "weight") &&
           strstr(cf_reader_problem(in), "did not record it"),
       "a frame without a required column is kept back, and the column named");
    cf_reader_close(in);

    in = open_one("fine.cf");
    cf_reader_want(in, CF_ACCESS, CF_REGION, CF_REQUIRED);
    while (cf_reader_next(in, &f) > 0)
        tables += f->table == CF_ACCESS;
    ok(!tables && cf_reader_damages(in) && strstr(cf_reader_problem(in), "cf-resolve"),
       "where a program adds the column, that is named too");
    cf_reader_close(in);

    in = open_one("fine.cf");
    cf_reader_want(in, CF_ACCESS, CF_DIST, CF_OPTIONAL);
    cf_reader_want(in, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    while (cf_reader_next(in, &f) > 0)
        tables +=
            f->table == CF_ACCESS && !cf_u64(f, CF_DIST) && cf_u64(f, CF_ADDR) && !cf_u64(f, CF_PC);
    ok(tables && !cf_reader_damages(in), "an optional column that is missing is NULL, as is one "
                                         "that nobody wants");
    cf_reader_close(in);
}

static void test_output_file(void)
{
    struct stat st;
    char *path = file_of("late.cf");
    struct cf_writer *w = start("late.cf", 1, "test_stream");
    int status = cf_writer_header(w, &plain_header);

    fill(LOOPS, 1000);
    status |= write_rows(w, 1000) | cf_writer_flush(w);
    ok(stat(path, &st) != 0, "a file does not have its name before it is closed");
    status |= finish(w, 1);
    ok(!status && stat(path, &st) == 0 && st.st_size > 0, "and has it after");

    w = start("no/such/dir.cf", 1, "test_stream");
    status = cf_writer_header(w, &plain_header);
    fill(LOOPS, 1000);
    status |= write_rows(w, 1000);
    problem[0] = '\0';
    ok(finish(w, 1) && strstr(problem, "dir.cf"),
       "a file that cannot be made is an error that names it: %s", problem);

    fflush(stdout);
    {
        const int full = open("/dev/full", O_WRONLY), out = dup(1);

        dup2(full, 1);
        w = cf_writer_open(NULL, "test_stream");
        status = cf_writer_header(w, &plain_header);
        status |= write_rows(w, 1000);
        problem[0] = '\0';
        status = cf_writer_close(w, 1, problem, sizeof(problem));
        dup2(out, 1);
        close(out);
        close(full);
    }
    ok(status && problem[0], "a full disk is an error: %s", problem);
}

/* ---- filters ---- */

static void test_annotate(void)
{
    static uint64_t dist[CF_FILE_ROWS];
    struct cf_writer *w = start("plain.cf", 0, "test_stream");
    struct cf_reader *in;
    struct cf_frame *f;
    uint64_t rows = 0;
    uint32_t largest;
    int status = cf_writer_header(w, &plain_header), bad = 0;

    fill(LOOPS, 100000);
    status |= write_rows(w, 100000) | finish(w, 1);
    for (int packed = 0; packed < 2; packed++) {
        w = start("annotated.cf", packed, "test_stream annotate");
        in = open_one("plain.cf");
        cf_reader_want(in, CF_ACCESS, CF_ADDR, CF_REQUIRED);
        while (cf_reader_next(in, &f) > 0) {
            if (f->table == CF_ACCESS) {
                const uint64_t *addr = cf_u64(f, CF_ADDR);

                for (uint32_t i = 0; i < f->rows; i++)
                    dist[i] = addr[i] * 2;
                status |= cf_frame_set(f, CF_DIST, dist);
                status |= cf_frame_set(f, CF_COST, dist);
                cf_frame_drop(f, CF_COST);
                cf_frame_drop(f, CF_HIT);
            }
            status |= cf_writer_frame(w, f);
        }
        bad |= cf_reader_damages(in);
        cf_reader_close(in);
        status |= finish(w, 1);
        ok(!status && !bad && compare_rows("annotated.cf", &largest) == 100000,
           "%s: a filter that adds a column keeps the others", packed ? "packed" : "raw");
        in = open_one("annotated.cf");
        cf_reader_want(in, CF_ACCESS, CF_DIST, CF_REQUIRED);
        cf_reader_want(in, CF_ACCESS, CF_COST, CF_OPTIONAL);
        rows = 0;
        while (cf_reader_next(in, &f) > 0) {
            const uint64_t *d = f->table == CF_ACCESS ? cf_u64(f, CF_DIST) : NULL;

            for (uint32_t i = 0; d && i < f->rows; i++)
                rows += d[i] == g_addr[rows] * 2;
            bad |= f->table == CF_ACCESS && cf_u32(f, CF_COST);
        }
        ok(!bad && rows == 100000 && !cf_reader_damages(in),
           "%s: the column that was added comes, the one that was dropped does not",
           packed ? "packed" : "raw");
        cf_reader_close(in);
    }
    /* a frame has places for 64 columns, and says so when they are used up; setting one again takes
       no place */
    in = open_one("plain.cf");
    while (cf_reader_next(in, &f) > 0 && f->table != CF_ACCESS)
        ;
    status = 0;
    for (unsigned i = 0; i < 200; i++)
        status += cf_frame_set(f, CF_DIST, dist) == 0;
    is_u64(status, 200, "a column can be set again and again");
    status = 0;
    for (unsigned i = 1; i < 200; i++)
        if (cf_column_type(i) && cf_column_type(i) != CF_BLOB)
            status |= cf_frame_set(f, i, dist);
    ok(status == 0 || f->columns == CF_MAX_COLUMNS, "a frame that is full says so");
    ok(f->columns <= CF_MAX_COLUMNS, "and does not overflow");
    cf_reader_close(in);
}

/* A file's bytes; their number, at most `room`. */
static size_t bytes_of(const char *name, uint8_t *to, size_t room)
{
    FILE *f = fopen(file_of(name), "r");
    size_t n = f ? fread(to, 1, room, f) : 0;

    if (f)
        fclose(f);
    return n;
}

static void put_bytes(const char *name, const uint8_t *from, size_t n)
{
    FILE *f = fopen(file_of(name), "w");

    if (!f || fwrite(from, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* Copies a stream; of its accesses, drops one column and sets another where these are not 0. */
static int copy_stream(const char *from, const char *to, int packed, unsigned drop, unsigned set,
                       const void *values)
{
    struct cf_writer *w = start(to, packed, "test_stream copy");
    struct cf_reader *in = open_one(from);
    struct cf_frame *f;
    int status = 0;

    while (cf_reader_next(in, &f) > 0) {
        if (f->table == CF_ACCESS && drop)
            cf_frame_drop(f, drop);
        if (f->table == CF_ACCESS && set)
            status |= cf_frame_set(f, set, values);
        status |= cf_writer_frame(w, f);
    }
    status |= cf_reader_damages(in) != 0;
    cf_reader_close(in);
    return finish(w, 1) | status;
}

/* A large packed frame goes to a file as it came, unless any column is gone. */
static void test_drop_packed(void)
{
    enum { ROWS = 100000 };
    struct cf_writer *w = start("plain.cf", 1, "test_stream");
    const struct cf_values columns[] = {{CF_CPU, NULL, 3},
                                        {CF_TIME, g_time, 0},
                                        {CF_ADDR, g_addr, 0},
                                        {CF_PC, g_pc, 0},
                                        {CF_TID, NULL, 7}};
    const unsigned drop[] = {CF_CPU, CF_TID, CF_PC, CF_TIME};
    int status = cf_writer_header(w, &plain_header);

    fill(LOOPS, ROWS);
    status |= cf_writer_rows(w, CF_ACCESS, ROWS, columns, 5, NULL) | finish(w, 1);
    for (unsigned i = 0; i < 4; i++) {
        struct cf_reader *in;
        struct cf_frame *f;
        uint64_t rows = 0;

        status |= copy_stream("plain.cf", "dropped.cf", 1, drop[i], 0, NULL);
        in = open_one("dropped.cf");
        cf_reader_want_all(in);
        while (cf_reader_next(in, &f) > 0) {
            const uint64_t *addr = f->table == CF_ACCESS ? cf_u64(f, CF_ADDR) : NULL;

            for (uint32_t k = 0; addr && k < f->rows && !cf_values(f, drop[i]); k++)
                rows += rows < ROWS && addr[k] == g_addr[rows];
        }
        ok(!status && rows == ROWS && !cf_reader_damages(in),
           "without column %s, a packed frame keeps its rows: %s", cf_column_name(drop[i]),
           cf_reader_problem(in) ? cf_reader_problem(in) : "no damage");
        cf_reader_close(in);
    }
}

/* A foreign frame that holds a blob beside packed columns, one of which is replaced. */
static void test_blob_beside_packed(void)
{
    enum { ROWS = 4000, ROOM = 1 << 20, HEAD = RESEAL_FRAME, COLUMN = RESEAL_COLUMN };
    static uint8_t whole[ROOM], made[ROOM + 64];
    static uint64_t other_pc[ROWS];
    const struct cf_values columns[] = {
        {CF_TIME, g_time, 0}, {CF_ADDR, g_pc, 0}, {CF_PC, g_pc, 0}, {CF_SIZE, g_size, 0}};
    struct cf_writer *w = start("plain.cf", 1, "test_stream");
    int status = cf_writer_header(w, &plain_header);
    size_t n, at, size = 0, head;

    fill(LOOPS, ROWS);
    status |= cf_writer_rows(w, CF_ACCESS, ROWS, columns, 4, NULL) | finish(w, 1);
    n = bytes_of("plain.cf", whole, ROOM);
    for (at = 0; (size = reseal_size(whole + at, n - at)); at += size)
        if (whole[at] == 'C' && whole[at + 8] == CF_ACCESS)
            break;
    if (!size)
        abort();
    head = at + HEAD + whole[at + 10] * COLUMN;
    memcpy(made, whole, head);
    memset(made + head, 0, COLUMN);
    made[head + 1] = 0x9c; /* column 39936, */
    made[head + 2] = CF_BLOB;
    made[head + 4] = made[head + 8] = 8; /* of 8 bytes, raw */
    memcpy(made + head + COLUMN, whole + head, at + size - head);
    memcpy(made + at + size + COLUMN, "any text", 8);
    memcpy(made + at + size + COLUMN + 8, whole + at + size, n - at - size);
    made[at + 10]++;
    size += COLUMN + 8;
    for (int i = 0; i < 4; i++)
        made[at + 4 + i] = (uint8_t)(size >> 8 * i);
    reseal_one(made + at, size);
    put_bytes("blob.cf", made, n + COLUMN + 8);
    for (int packed = 0; packed < 2; packed++) {
        struct cf_reader *in;
        struct cf_frame *f;
        uint64_t rows = 0;
        unsigned blobs = 0;

        status |= copy_stream("blob.cf", "copy.cf", packed, 0, CF_PC, other_pc);
        in = open_one("copy.cf");
        cf_reader_want_all(in);
        while (cf_reader_next(in, &f) > 0) {
            const uint64_t *addr = f->table == CF_ACCESS ? cf_u64(f, CF_ADDR) : NULL;
            const uint64_t *pc = f->table == CF_ACCESS ? cf_u64(f, CF_PC) : NULL;
            const char *blob = f->table == CF_ACCESS ? cf_values(f, 0x9c00) : NULL;

            for (uint32_t k = 0; addr && pc && k < f->rows; k++)
                rows += rows < ROWS && addr[k] == g_pc[rows] && pc[k] == 0;
            blobs += blob && !memcmp(blob, "any text", 8);
        }
        ok(!status && rows == ROWS && blobs == 1 && !cf_reader_damages(in),
           "%s: a blob and the columns packed with one that was replaced stay: %s",
           packed ? "packed" : "raw", cf_reader_problem(in) ? cf_reader_problem(in) : "no damage");
        cf_reader_close(in);
    }
}

/* The type of a column that nobody lists may change from frame to frame. */
static void test_types_change(void)
{
    enum { ROWS = 1000, ROOM = 1 << 16 };
    static uint8_t bytes[2][ROOM], made[2 * ROOM], narrow[ROWS];
    static uint64_t wide[ROWS];
    size_t used = 0;
    int status = 0;

    for (unsigned i = 0; i < ROWS; i++)
        wide[i] = (uint64_t)i << 40, narrow[i] = (uint8_t)(i * 7);
    for (int i = 0; i < 2; i++) {
        const struct cf_values column = {40000, i ? (const void *)narrow : wide, 0};
        struct cf_writer *w = start("typed.cf", 0, "test_stream");
        size_t n, size;

        status |= cf_writer_header(w, &plain_header) |
                  cf_writer_name(w, 40000, i ? CF_U8 : CF_U64, "column") |
                  cf_writer_rows(w, 300, ROWS, &column, 1, NULL) | finish(w, 1);
        n = bytes_of("typed.cf", bytes[i], ROOM);
        for (size_t at = 0; (size = reseal_size(bytes[i] + at, n - at)); at += size) {
            const int header = bytes[i][at] != 'C', end = !header && bytes[i][at + 8] == CF_END;

            if ((header && i) || end)
                continue;
            memcpy(made + used, bytes[i] + at, size);
            used += size;
        }
    }
    put_bytes("types.cf", made, used);
    for (int packed = 0; packed < 2; packed++) {
        struct cf_reader *in;
        struct cf_frame *f;
        uint64_t wides = 0, narrows = 0;

        /* no end frame came, which is told */
        ok(!status && copy_stream("types.cf", "copy.cf", packed, 0, 0, NULL),
           "%s: frames of two types are handed on", packed ? "packed" : "raw");
        in = open_one("copy.cf");
        cf_reader_want_all(in);
        while (cf_reader_next(in, &f) > 0)
            for (uint32_t k = 0; f->table == 300 && k < f->rows; k++) {
                const void *v = cf_values(f, 40000);

                if (f->column[0].type == CF_U64)
                    wides += wides < ROWS && ((const uint64_t *)v)[k] == wide[wides];
                else
                    narrows += narrows < ROWS && ((const uint8_t *)v)[k] == narrow[narrows];
            }
        ok(wides == ROWS && narrows == ROWS && !cf_reader_damages(in),
           "%s: a column whose type changes keeps its values: %llu and %llu",
           packed ? "packed" : "raw", (unsigned long long)wides, (unsigned long long)narrows);
        cf_reader_close(in);
    }
}

/* Times that fall by more than half of what 64 bits hold look like times that rise. */
static void test_extreme_times(void)
{
    const uint64_t time[] = {UINT64_MAX, 0, 1ull << 63, (1ull << 63) - 1, 5};
    const struct cf_values column = {CF_TIME, time, 0};

    for (int packed = 0; packed < 2; packed++) {
        struct cf_writer *w = start("times.cf", packed, "test_stream");
        struct cf_reader *in;
        struct cf_frame *f;
        int status = cf_writer_header(w, &plain_header), good = 0;

        status |= cf_writer_rows(w, CF_ACCESS, 5, &column, 1, NULL) | finish(w, 1);
        in = open_one("times.cf");
        while (cf_reader_next(in, &f) > 0)
            good |= f->table == CF_ACCESS && f->first == 0 && f->last == UINT64_MAX;
        ok(!status && good, "%s: first and last of times far apart", packed ? "packed" : "raw");
        cf_reader_close(in);
    }
}

/* ---- strings and segments ---- */

static void write_words(const char *name, int packed, const char *const *words, unsigned count)
{
    struct cf_writer *w = start(name, packed, "test_stream");
    int status = cf_writer_header(w, &plain_header);

    for (unsigned i = 0; i < count; i++) {
        uint64_t t = i;
        uint32_t id = cf_writer_string(w, words[i]);
        const struct cf_values c[] = {{CF_TIME, &t, 0}, {CF_REGION, &id, 0}};

        status |= cf_writer_rows(w, CF_ACCESS, 1, c, 2, NULL);
    }
    if (status | finish(w, 1))
        note("cannot write %s: %s", name, problem);
}

static void test_segments(void)
{
    static const char *const one[] = {"heap", "stack", "", "heap", "a,\"b\"\n", "libc"};
    static const char *const two[] = {"libc", "other", "heap", "", "\xff\xfe raw bytes"};
    char *files[] = {file_of("one.cf"), file_of("two.cf"), file_of("both.cf")};
    char command[600];

    for (int packed = 0; packed < 2; packed++) {
        struct cf_reader *in;
        struct cf_frame *f;
        unsigned headers = 0, rows = 0, wrong = 0;
        uint32_t first_of[16] = {0};

        write_words("one.cf", packed, one, 6);
        write_words("two.cf", !packed, two, 5);
        files[0] = file_of("one.cf");
        files[1] = file_of("two.cf");
        files[2] = file_of("both.cf");
        snprintf(command, sizeof(command), "cat %s %s >%s", files[0], files[1], files[2]);
        ok(system(command) == 0, "two files in one");

        for (int way = 0; way < 3; way++) {
            /* 0: two inputs, 1: one input with two segments, 2: ids made one */
            in = way ? cf_reader_open(files + 2, 1) : cf_reader_open(files, 2);
            headers = rows = wrong = 0;
            cf_reader_want_all(in);
            if (way == 2)
                cf_reader_unify(in);
            while (cf_reader_next(in, &f) > 0) {
                headers += f->table == CF_HEADER;
                if (f->table != CF_ACCESS)
                    continue;
                const uint32_t *id = cf_u32(f, CF_REGION);
                for (uint32_t i = 0; i < f->rows; i++, rows++) {
                    const char *want = rows < 6 ? one[rows] : two[rows - 6];

                    wrong += !id || strcmp(cf_reader_text(in, id[i]), want) || !*want != !id[i];
                    if (rows < 16)
                        first_of[rows] = id ? id[i] : 0;
                }
            }
            ok(headers == 2 && rows == 11 && !wrong && !cf_reader_damages(in),
               "%s, way %d: two segments, each with its own strings", packed ? "packed" : "raw",
               way);
            is_text(cf_reader_text(in, 0), "", "text of id 0");
            is_text(cf_reader_text(in, 0xffffff), "", "text of an id that nobody defined");
            if (way == 2) {
                /* heap stack a,"b" libc | other raw: six texts, ids 1 to 6 by appearance */
                ok(first_of[0] == first_of[3] && first_of[0] == first_of[8] &&
                       first_of[5] == first_of[6],
                   "unified: the same text has the same id in both segments");
                is_u64(cf_reader_strings(in), 6, "unified: as many ids as texts");
                for (unsigned i = 0; i < 11; i++)
                    wrong += first_of[i] > 6;
                is_u64(wrong, 0, "unified: ids are dense");
            }
            cf_reader_close(in);
        }
    }
}

/* A chain of filters that each define strings: ids of earlier programs stay theirs. */
static void test_chain(void)
{
    static const char *const words[] = {"zero", "one", "two", "three"};
    struct cf_reader *in;
    struct cf_writer *w;
    struct cf_frame *f;
    char from[16], to[16];
    int status = 0;
    unsigned wrong = 0, rows = 0;

    write_words("chain0.cf", 0, words, 4);
    for (int n = 1; n <= 3; n++) {
        static const unsigned column[] = {0, CF_SITE, CF_FUNCTION, CF_SOURCE};
        uint32_t mine[64];

        snprintf(from, sizeof(from), "chain%d.cf", n - 1);
        snprintf(to, sizeof(to), "chain%d.cf", n);
        in = open_one(from);
        w = start(to, n == 2, "test_stream link");
        cf_reader_want(in, CF_ACCESS, CF_REGION, CF_REQUIRED);
        while (cf_reader_next(in, &f) > 0) {
            const uint32_t *id = f->table == CF_ACCESS ? cf_u32(f, CF_REGION) : NULL;

            for (uint32_t i = 0; id && i < f->rows; i++) {
                char text[64];

                snprintf(text, sizeof(text), "%s by %d", cf_reader_text(in, id[i]), n);
                mine[i] = cf_writer_string(w, text);
            }
            if (id)
                status |= cf_frame_set(f, column[n], mine);
            status |= cf_writer_frame(w, f);
        }
        wrong += cf_reader_damages(in);
        cf_reader_close(in);
        status |= finish(w, 1);
    }
    in = open_one("chain3.cf");
    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        if (f->table != CF_ACCESS)
            continue;
        const uint32_t *id[] = {cf_u32(f, CF_REGION), cf_u32(f, CF_SITE), cf_u32(f, CF_FUNCTION),
                                cf_u32(f, CF_SOURCE)};
        for (uint32_t i = 0; i < f->rows; i++, rows++)
            for (int n = 0; n < 4; n++) {
                char want[64];

                snprintf(want, sizeof(want), n ? "%s by %d" : "%s", words[rows % 4], n);
                wrong += !id[n] || strcmp(cf_reader_text(in, id[n][i]), want);
            }
    }
    ok(!status && !wrong && rows == 4 && !cf_reader_damages(in),
       "strings of three filters in a chain stay apart");
    cf_reader_close(in);
}

/* ---- ranges and indexes ---- */

/* Bytes that this process has read so far. */
static uint64_t bytes_read(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    unsigned long long n = 0;

    if (!f || fscanf(f, "rchar: %llu", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

static void test_range(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct cf_writer *w = start("range.cf", packed, "test_stream");
        struct cf_reader *in;
        struct cf_frame *f;
        uint64_t rows = 0, came = 0, from, to, bytes, size;
        int status = cf_writer_header(w, &plain_header);

        fill(NOISE, ROUND_ROWS);
        status |= write_rows(w, ROUND_ROWS) | finish(w, 1);
        /* a range in the last frame of a packed file */
        from = g_time[ROUND_ROWS - 20000];
        to = g_time[ROUND_ROWS - 19900];
        for (uint32_t i = 0; i < ROUND_ROWS; i++)
            rows += g_time[i] >= from && g_time[i] <= to;
        bytes = bytes_read();
        in = open_one("range.cf");
        cf_reader_want(in, CF_ACCESS, CF_TIME, CF_REQUIRED);
        cf_reader_range(in, from, to);
        while (cf_reader_next(in, &f) > 0) {
            const uint64_t *time = f->table == CF_ACCESS ? cf_u64(f, CF_TIME) : NULL;

            for (uint32_t i = 0; time && i < f->rows; i++)
                came += time[i] >= from && time[i] <= to;
        }
        bytes = bytes_read() - bytes;
        size = cf_reader_size(in);
        ok(!status && came == rows && rows > 100 && !cf_reader_damages(in),
           "%s: all %llu rows of the range come, and no damage is told: %s",
           packed ? "packed" : "raw", (unsigned long long)rows,
           cf_reader_problem(in) ? cf_reader_problem(in) : "none");
        if (packed)
            ok(bytes < size * 3 / 4, "packed: of %llu bytes only %llu were read",
               (unsigned long long)size, (unsigned long long)bytes);
        cf_reader_close(in);

        in = open_one("range.cf");
        cf_reader_range(in, UINT64_MAX, UINT64_MAX);
        for (came = 0; cf_reader_next(in, &f) > 0;)
            came += f->table == CF_ACCESS ? f->rows : 0;
        ok(!came && !cf_reader_damages(in), "%s: a range without rows is empty and no damage",
           packed ? "packed" : "raw");
        cf_reader_close(in);
    }
}

/* ---- time ---- */

static void count_idle(void *arg)
{
    ++*(unsigned *)arg;
}

static void test_idle(void)
{
    int ends[2], saved;
    pid_t child;
    struct cf_reader *in;
    struct cf_frame *f;
    struct timespec t0, t1;
    unsigned idle = 0;
    uint64_t rows = 0, early = UINT64_MAX;

    fill(LOOPS, 100);
    fflush(stdout);
    if (pipe(ends))
        abort();
    child = fork();
    if (child == 0) {
        struct cf_writer *w;

        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        w = cf_writer_open(NULL, "test_stream child");
        if (!w || cf_writer_header(w, &plain_header) || write_rows(w, 50) || cf_writer_flush(w))
            _exit(1);
        /* long enough to be idle in, however busy the machine is */
        usleep(600000);
        if (write_rows(w, 50) || cf_writer_close(w, 1, problem, sizeof(problem)))
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    in = cf_reader_open(NULL, 0);
    cf_reader_idle(in, count_idle, &idle);
    while (cf_reader_next(in, &f) > 0) {
        rows += f->table == CF_ACCESS ? f->rows : 0;
        clock_gettime(CLOCK_MONOTONIC, &t1);
        if (f->table == CF_ACCESS && early == UINT64_MAX)
            early =
                (uint64_t)((t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_nsec - t0.tv_nsec) / 1000000);
    }
    ok(rows == 100 && !cf_reader_damages(in), "a slow pipe gives all its rows");
    ok(early < 500, "flushed rows come at once, after %llu ms", (unsigned long long)early);
    ok(idle > 0, "the idle function is called while nothing comes: %u times", idle);
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
    waitpid(child, NULL, 0);
}

/* Input that never pauses still calls the function, so that what is held back goes on. */
static void test_trickle(void)
{
    int ends[2], saved;
    pid_t child;
    struct cf_reader *in;
    struct cf_frame *f;
    unsigned idle = 0;

    fflush(stdout);
    if (pipe(ends))
        abort();
    child = fork();
    if (child == 0) {
        struct cf_writer *w;
        int bad;

        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        w = cf_writer_open(NULL, "test_stream child");
        bad = !w || cf_writer_header(w, &plain_header);
        for (int i = 0; !bad && i < 110; i++) {
            bad = write_rows(w, 5) || cf_writer_flush(w);
            usleep(20000);
        }
        _exit(bad || cf_writer_close(w, 1, problem, sizeof(problem)) ? 1 : 0);
    }
    close(ends[1]);
    saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    in = cf_reader_open(NULL, 0);
    cf_reader_idle(in, count_idle, &idle);
    while (cf_reader_next(in, &f) > 0)
        ;
    ok(idle > 0 && !cf_reader_damages(in), "the idle function is called while input trickles: %u",
       idle);
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
    waitpid(child, NULL, 0);
}

/* Another program may have made our pipes non-blocking: neither end takes that for an error. */
static void test_non_blocking(void)
{
    int ends[2], saved, status = 1;
    pid_t child;
    struct cf_reader *in;
    struct cf_frame *f;
    uint64_t rows = 0;

    fill(NOISE, 300000);
    fflush(stdout);
    if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK) || fcntl(ends[1], F_SETFL, O_NONBLOCK))
        abort();
    child = fork();
    if (child == 0) {
        struct cf_writer *w;
        int bad;

        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        usleep(50000);
        w = cf_writer_open(NULL, "test_stream child");
        bad = !w || cf_writer_header(w, &plain_header) || write_rows(w, 300000);
        _exit(cf_writer_close(w, 1, problem, sizeof(problem)) || bad ? 1 : 0);
    }
    close(ends[1]);
    saved = dup(0);
    dup2(ends[0], 0);
    close(ends[0]);
    in = cf_reader_open(NULL, 0);
    while (cf_reader_next(in, &f) > 0) {
        rows += f->table == CF_ACCESS ? f->rows : 0;
        usleep(1000);
    }
    waitpid(child, &status, 0);
    ok(rows == 300000 && !status && !cf_reader_damages(in),
       "a pipe that does not block carries all rows: %s",
       cf_reader_problem(in) ? cf_reader_problem(in) : "no damage");
    cf_reader_close(in);
    dup2(saved, 0);
    close(saved);
}

/* ---- names ---- */

static void test_names(void)
{
    unsigned wrong = 0, columns = 0, tables = 0, ops = 0;

    for (unsigned i = 0; i < 70000; i++) {
        const char *c = cf_column_name(i), *t = cf_table_name(i), *o = cf_op_name(i);

        if (c)
            columns++, wrong += cf_column_find(c) != i || !cf_column_type(i);
        else
            wrong += cf_column_type(i) != 0;
        if (t)
            tables++, wrong += cf_table_find(t) != i && i != CF_HEADER;
        if (o)
            ops++, wrong += cf_op_find(o) != i;
    }
    is_u64(wrong, 0, "names and numbers of %u columns, %u tables, %u ops agree", columns, tables,
           ops);
    ok(columns > 50 && tables > 12 && ops == 12, "none is missing");
    ok(!cf_column_find("") && !cf_column_find("nonsense") && !cf_table_find("") && !cf_op_find("x"),
       "what is no name is found to be none");
    is_text(cf_column_name(CF_STOP), "end", "the name of CF_STOP");
    is_text(cf_column_name(CF_LABEL), "label", "the name of CF_LABEL");
    is_u64(cf_type_width(CF_U64) + cf_type_width(CF_STR) + cf_type_width(CF_BLOB), 12, "widths");
}

int main(void)
{
    char command[64];

    if (!mkdtemp(dir))
        abort();
    test_names();
    test_round_trips();
    test_hints();
    test_order();
    test_header();
    test_header_text();
    test_complete();
    test_problems();
    test_output_file();
    test_annotate();
    test_drop_packed();
    test_blob_beside_packed();
    test_types_change();
    test_extreme_times();
    test_segments();
    test_chain();
    test_range();
    test_idle();
    test_trickle();
    test_non_blocking();
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    if (system(command))
        note("%s is left", dir);
    return done();
}
