/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile end frames: a table listed twice, one that is none, and as many rows as a frame can have
 * behind many tables, which must cost no time. A file of many segments, whose trailers lead to
 * the index of each, costs none either. Memory: 4 MB.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/codec/cf_codec.h"
#include "formats/stream/cf.h"
#include "tests/unit/reseal.h"
#include "tests/unit/tap.h"

enum { ROOM = 1 << 22, FIRST = 1000, MINE = 20000, SEGMENTS = 10000 };

static char name[] = "/tmp/cf-ends-XXXXXX";
static uint8_t stream[ROOM];
static size_t used, segment; /* bytes; where the last segment begins, */
static size_t indexed;       /* and its index, 0 where it has none */

static uint8_t *put(const void *bytes, size_t n)
{
    uint8_t *at = stream + used;

    if (n)
        memcpy(at, bytes, n);
    used += n;
    return at;
}

static void put_header(void)
{
    static const char yaml[] = "cacheflow: 1\nchain:\n  - \"cf-x\"\n\0\0\0\0\0\0\0";
    const size_t bytes = strlen(yaml), all = RESEAL_SEGMENT + ((bytes + 7) & ~(size_t)7);
    uint8_t *const start = stream + used, head[RESEAL_SEGMENT] = "\x89"
                                                                 "CFL\r\n\x1a\n\1\0\0\0";

    segment = used;
    indexed = 0;
    head[12] = (uint8_t)bytes;
    put(head, sizeof(head));
    put(yaml, all - sizeof(head));
    reseal_one(start, all);
}

struct column {
    unsigned id, type, codec;
    uint64_t base;
    const void *bytes;
    size_t length; /* bytes are there up to a multiple of 8 */
};

static void put_frame(unsigned table, uint32_t rows, const struct column *c, unsigned columns)
{
    size_t all = RESEAL_FRAME + columns * RESEAL_COLUMN;
    uint8_t head[RESEAL_FRAME] = "CFfr", *start;

    for (unsigned i = 0; i < columns; i++)
        all += (c[i].length + 7) & ~(size_t)7;
    reseal_put64(head + 4, all | (uint64_t)table << 32 | (uint64_t)columns << 48);
    head[12] = (uint8_t)rows;
    head[13] = (uint8_t)(rows >> 8);
    head[14] = (uint8_t)(rows >> 16);
    start = put(head, sizeof(head));
    for (unsigned i = 0; i < columns; i++) {
        uint8_t descriptor[RESEAL_COLUMN] = {0};

        reseal_put64(descriptor, c[i].id | (uint64_t)c[i].type << 16 | (uint64_t)c[i].codec << 24 |
                                     (uint64_t)c[i].length << 32);
        reseal_put64(descriptor + 8, c[i].base);
        put(descriptor, sizeof(descriptor));
    }
    for (unsigned i = 0; i < columns; i++)
        put(c[i].bytes, (c[i].length + 7) & ~(size_t)7);
    reseal_one(start, all);
}

/* An end frame of `rows` rows: by `id` and `count`, or all of one table without rows. */
static void put_end(uint32_t rows, const uint32_t *id, const uint64_t *count)
{
    uint8_t trailer[32] = {0};
    const struct column c[] = {
        {CF_ID, CF_U32, id ? CF_RAW : CF_CONST, id ? 0 : FIRST, id, id ? rows * 4 : 0},
        {CF_ROWS, CF_U64, id ? CF_RAW : CF_CONST, 0, count, id ? rows * 8 : 0},
        {CF_TRAILER, CF_BLOB, CF_RAW, 32, trailer, 32}};
    const size_t all = RESEAL_FRAME + 3 * RESEAL_COLUMN + c[0].length + c[1].length + 32;

    reseal_put64(trailer, indexed ? used + all - indexed : 0);
    reseal_put64(trailer + 8, used + all - segment);
    memcpy(trailer + 24, "CFend\r\n\x1a", 8);
    put_frame(CF_END, rows, c, 3);
}

static void put_accesses(void)
{
    static const uint64_t addr[] = {0x1000, 0x2000};
    const struct column c = {CF_ADDR, CF_U64, CF_RAW, 0, addr, sizeof(addr)};

    put_frame(CF_ACCESS, 2, &c, 1);
}

/* Of the accesses, which stand at a place of the segment. */
static void put_index(uint64_t place, uint64_t table, uint64_t rows)
{
    const uint64_t none = 0;
    const struct column c[] = {{CF_OFFSET, CF_U64, CF_RAW, 0, &place, 8},
                               {CF_ID, CF_U32, CF_RAW, 0, &table, 4},
                               {CF_ROWS, CF_U64, CF_RAW, 0, &rows, 8},
                               {CF_FIRST, CF_U64, CF_RAW, 0, &none, 8},
                               {CF_LAST, CF_U64, CF_RAW, 0, &none, 8}};

    indexed = used;
    put_frame(CF_INDEX, 1, c, 5);
}

/* What the reader says of the stream, or "", and how many frames of accesses it gives. */
static const char *problem(int ranged, unsigned *accesses)
{
    static char text[1024];
    char *files[] = {name};
    FILE *out = fopen(name, "wb");
    struct cf_reader *r;
    struct cf_frame *f;
    const char *why;

    if (!out || fwrite(stream, 1, used, out) != used || fclose(out) != 0)
        abort();
    r = cf_reader_open(files, 1);
    if (!r)
        abort();
    if (ranged)
        cf_reader_range(r, 0, UINT64_MAX);
    cf_reader_check_index(r);
    for (*accesses = 0; cf_reader_next(r, &f);)
        *accesses += f->table == CF_ACCESS;
    used = 0;
    why = cf_reader_problem(r);
    snprintf(text, sizeof(text), "%s", why ? why : "");
    cf_reader_close(r);
    return text;
}

static void lists(void)
{
    static const uint64_t counts[] = {2, 0}, twice[] = {2, 2};
    static const uint32_t good[] = {CF_ACCESS, CF_MAP}, same[] = {CF_ACCESS, CF_ACCESS};
    static const uint32_t none[] = {CF_ACCESS, CF_ACCESS + 65536};
    unsigned frames;

    put_header();
    put_accesses();
    put_end(2, good, counts);
    ok(!*problem(0, &frames), "a table without rows may be listed");

    put_header();
    put_accesses();
    put_end(2, same, twice);
    ok(strstr(problem(0, &frames), "table access had 2 rows when it was written, but 0 came") !=
           NULL,
       "a table that is listed twice is damage");

    put_header();
    put_accesses();
    put_end(2, none, twice);
    ok(strstr(problem(0, &frames), "table unknown had 2 rows") != NULL,
       "a table that is none has no rows");
}

static void index_rows(void)
{
    static const struct {
        uint64_t table, rows;
        const char *what;
    } list[] = {{CF_ACCESS, 2, ""},
                {CF_ACCESS, 3, "row 1 of the index: is not what the frame is"},
                {CF_ACCESS, 2 + (UINT64_C(1) << 32), "row 1 of the index: cannot be read"},
                {CF_ACCESS + 65536, 2, "row 1 of the index: cannot be read"}};
    static const uint64_t counts[] = {2, 0};
    static const uint32_t id[] = {CF_ACCESS, CF_MAP};
    unsigned frames;

    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        const char *why;
        size_t place;

        put_header();
        place = used - segment;
        put_accesses();
        put_index(place, list[i].table, list[i].rows);
        put_end(2, id, counts);
        why = problem(0, &frames);
        ok(*list[i].what ? strstr(why, list[i].what) != NULL : !*why,
           "index of table %u, %llu rows", (unsigned)list[i].table,
           (unsigned long long)list[i].rows);
    }
}

/* Processor time of a reading in which nothing may be wrong; NAN where something is. */
static double cost(int ranged, unsigned *frames)
{
    const clock_t begin = clock();
    const char *why = problem(ranged, frames);

    if (*why)
        note("%s", why);
    return *why ? NAN : (double)(clock() - begin);
}

static double many_frames(unsigned tables, uint32_t rows)
{
    unsigned frames;

    put_header();
    for (unsigned i = 0; i < MINE; i++)
        put_frame(FIRST + i % tables, 0, NULL, 0);
    put_end(rows, NULL, NULL);
    return cost(0, &frames);
}

static void many(void)
{
    const double one = many_frames(1, 1), few = many_frames(MINE, 1);

    ok(few < 8 * one, "frames of many tables cost as those of one do");
    ok(many_frames(MINE, CF_FILE_ROWS) < 8 * few, "many rows behind many tables cost as few do");
}

static double many_segments(int ranged, unsigned *frames)
{
    static const uint64_t counts[] = {2, 0};
    static const uint32_t id[] = {CF_ACCESS, CF_MAP};

    for (unsigned i = 0; i < SEGMENTS; i++) {
        put_header();
        put_accesses();
        put_end(2, id, counts);
    }
    return cost(ranged, frames);
}

static void segments(void)
{
    unsigned frames;
    const double all = many_segments(0, &frames);

    ok(many_segments(1, &frames) < 8 * all, "a range of many segments costs as all of them do");
    is_u64(frames, SEGMENTS, "and all of them come");
}

int main(void)
{
    const int fd = mkstemp(name);

    if (fd < 0)
        abort();
    close(fd);
    lists();
    index_rows();
    many();
    segments();
    unlink(name);
    return done();
}
