/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pieces: packed frames handed out in pieces (cf_reader_pieces()). All rows come in their
 * order, whatever the program did to the frame before; and of a frame whose checksums are right
 * but whose contents are damaged comes no piece, or all.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "formats/codec/cf_codec.h"
#include "reseal.h"
#include "tap.h"

enum { ROWS = 70000, FEW = 40000, MOST = 1 << 20 };

static uint64_t times[ROWS], addr[ROWS], pc[ROWS];
static uint32_t size[ROWS], object[ROWS];
static uint8_t op[ROWS];
static uint32_t made; /* rows of the stream */

/* Loops over arrays, of which now and then one moves. */
static void make_rows(void)
{
    uint64_t base = 0x10000, time = 0, random = 88172645463325252u;

    for (unsigned i = 0; i < ROWS; i++) {
        unsigned at = i % 7;

        if (i % 61 == 0)
            base = (random = random * 6364136223846793005u + 1442695040888963407u) >> 30;
        times[i] = time += 1 + at % 3;
        pc[i] = 0x400000 + at * 4;
        addr[i] = base + at * 4096 + i / 7 * 8;
        size[i] = 1u << at % 4;
        op[i] = at % 3 ? CF_LOAD : CF_STORE;
        object[i] = (i * 2654435761u ^ (i * 2654435761u >> 15)) * 2246822519u >> 20; /* in planes */
    }
}

/* A file with the first `rows` of them; returns its bytes. */
static size_t make_stream(uint8_t *to, uint32_t rows)
{
    static const struct cf_header header = {.source = (char *)"test_pieces"};
    const struct cf_values columns[] = {
        {CF_TIME, times, 0}, {CF_ADDR, addr, 0}, {CF_PC, pc, 0},      {CF_SIZE, size, 0},
        {CF_OP, op, 0},      {CF_TID, NULL, 77}, {CF_OBJ, object, 0},
    };
    char name[] = "/tmp/cf-pieces-XXXXXX", problem[256];
    int fd = mkstemp(name), bad;
    struct cf_writer *w;
    ssize_t n;

    if (fd < 0)
        abort();
    close(fd);
    w = cf_writer_open(name, "test_pieces");
    if (!w)
        abort();
    bad = cf_writer_header(w, &header);
    bad |= cf_writer_rows(w, CF_ACCESS, rows, columns, rows == ROWS ? 7 : 6, NULL);
    bad |= cf_writer_close(w, 1, problem, sizeof(problem));
    fd = open(name, O_RDONLY);
    n = fd < 0 ? -1 : read(fd, to, MOST);
    if (bad || n <= 0 || n == MOST)
        abort();
    close(fd);
    unlink(name);
    made = rows;
    return (size_t)n;
}

struct seen {
    unsigned rows, largest, damages;
    int same;
};

enum how {
    ALL,
    MEDDLE, /* sets and drops columns of every frame */
    LATE,   /* wants one column, and of every piece the others later */
    DEFER,  /* wants all, of each piece when it is there, and codes */
    OTHERS, /* wants nothing of the table */
};

/* Whether what the codes of a piece say is what its rows, from `at` on, should have. */
static int same_of_codes(const struct cf_frame *f, uint32_t at)
{
    uint32_t codes;
    uint64_t tid = 0;
    const uint16_t *code = cf_frame_codes(f, &codes);
    const uint64_t *pcs = cf_values_of_codes(f, CF_PC);
    const uint8_t *ops = cf_values_of_codes(f, CF_OP);

    if (!code || !pcs || !ops || cf_values_of_codes(f, CF_TIME) || cf_values_of_codes(f, CF_TID) ||
        cf_frame_constant(f, CF_PC, &tid) || !cf_frame_constant(f, CF_TID, &tid) || tid != 77)
        return 0;
    for (uint32_t i = 0; i < f->rows; i++)
        if (at + i >= made || code[i] >= codes || pcs[code[i]] != pc[at + i] ||
            ops[code[i]] != op[at + i])
            return 0;
    return 1;
}

/* Reads the stream in pieces. */
static struct seen read_pieces(const uint8_t *bytes, size_t n, enum how how)
{
    struct seen s = {.same = 1};
    char name[64], *files[1] = {name};
    int fd = memfd_create("pieces", 0);
    struct cf_reader *in;
    struct cf_frame *f;

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    in = cf_reader_open(files, 1);
    if (!in)
        abort();
    if (how == DEFER)
        cf_reader_defer(in);
    if (how == ALL || how == MEDDLE || how == DEFER)
        cf_reader_want_all(in);
    else
        cf_reader_want(in, how == LATE ? CF_ACCESS : CF_MAP, CF_TIME, CF_OPTIONAL);
    if (how == LATE)
        cf_reader_want(in, CF_ACCESS, CF_ADDR, CF_LATE);
    cf_reader_pieces(in);
    while (cf_reader_next(in, &f) > 0) {
        uint32_t at = s.rows, rows = f->rows;

        if (f->table != CF_ACCESS)
            continue;
        if (how == LATE && (cf_u64(f, CF_ADDR) || !cf_late_values(f, CF_ADDR)))
            continue;
        if (how == DEFER) {
            s.same &= !cf_u64(f, CF_PC) && same_of_codes(f, at);
            if (cf_frame_wanted(f) != 0)
                continue;
        }
        if ((how == LATE || how == OTHERS) && (cf_u32(f, CF_TID) || cf_frame_all(f) != 0))
            continue;
        if (at + rows > made || !cf_u32(f, CF_TID)) {
            s.same = 0;
            break;
        }
        s.same &= !memcmp(cf_u64(f, CF_TIME), times + at, 8 * rows) &&
                  !memcmp(cf_u64(f, CF_ADDR), addr + at, 8 * rows) &&
                  !memcmp(cf_u64(f, CF_PC), pc + at, 8 * rows) &&
                  !memcmp(cf_u32(f, CF_SIZE), size + at, 4 * rows) &&
                  (made < ROWS || !memcmp(cf_u32(f, CF_OBJ), object + at, 4 * rows)) &&
                  !memcmp(cf_u8(f, CF_OP), op + at, rows) && cf_u32(f, CF_TID)[rows - 1] == 77 &&
                  f->first == times[0] && f->last == times[made - 1];
        s.rows += rows;
        s.largest = rows > s.largest ? rows : s.largest;
        if (how == MEDDLE) {
            cf_frame_drop(f, CF_PC);
            s.same &= cf_frame_set(f, CF_COST, addr) == 0 && cf_frame_set(f, CF_ADDR, pc) == 0;
        }
    }
    s.damages = cf_reader_damages(in);
    cf_reader_close(in);
    close(fd);
    return s;
}

int main(void)
{
    static uint8_t bytes[MOST], copy[MOST];
    unsigned trials = 0, torn = 0, told = 0;
    size_t n, frame;
    struct seen s;

    make_rows();
    n = make_stream(bytes, ROWS);
    for (enum how how = ALL; how <= OTHERS; how++) {
        static const char *const what[] = {"", ", of a frame that the program changes",
                                           ", and what is decoded later",
                                           ", and all of it, with codes", ", and others whole"};

        s = read_pieces(bytes, n, how);
        ok(s.rows == ROWS && s.same && !s.damages, "all rows come in pieces%s", what[how]);
        is_u64(s.largest,
               how == OTHERS  ? ROWS
               : how == DEFER ? CF_DEFERRED_ROWS
                              : CF_PIECE_ROWS,
               "rows of a piece");
    }
    n = make_stream(bytes, FEW);
    for (size_t at = 0; (frame = reseal_size(bytes + at, n - at)); at += frame) {
        if (bytes[at] == 0x89 || bytes[at + 8] != CF_ACCESS)
            continue;
        for (size_t k = RESEAL_FRAME + bytes[at + 10] * RESEAL_COLUMN; k < frame; k++) {
            memcpy(copy, bytes, n);
            copy[at + k] ^= 1u << k % 8;
            reseal_one(copy + at, frame);
            for (enum how how = ALL; how <= DEFER; how += how == ALL ? LATE : 1) {
                s = read_pieces(copy, n, how);
                trials++;
                told += s.damages > 0;
                if (s.rows != (s.damages ? 0 : made) && !torn++)
                    note("byte %zu changed: %u rows, %u damages", at + k, s.rows, s.damages);
            }
        }
    }
    ok(trials > 1000 && told > 100, "%u damaged frames, of which %u are told", trials, told);
    ok(!torn, "a damaged frame gives no piece");
    return done();
}
