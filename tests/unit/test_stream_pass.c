/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stream_pass: filters pass on what they do not know: frames with a column that was set or
 * dropped, blobs beside packed columns, columns whose type changes, and times at either end.
 * Memory: some thousand rows, and the bytes of small streams.
 */
#include "reseal.h"
#include "stream.h"

static uint64_t dist[CF_FILE_ROWS];

static void test_annotate(void)
{
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
}

/* A frame has places for 64 columns, and says so when they are used up; setting one again takes no
   place. Of the file that test_annotate() made. */
static void test_full(void)
{
    struct cf_reader *in = open_one("plain.cf");
    struct cf_frame *f;
    int status = 0;

    while (cf_reader_next(in, &f) > 0 && f->table != CF_ACCESS)
        ;
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

/* Columns of a large packed frame go to a file as they came, unless what they were packed with is
   gone. */
static void test_drop_packed(void)
{
    enum { ROWS = 150000 };
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
    reseal_put64(made + n + COLUMN + 8 - 24,
                 n + COLUMN + 8); /* the trailer: bytes of the segment */
    reseal(made, n + COLUMN + 8);
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
    /* the first that falls begins a frame */
    const uint64_t time[] = {6, 5, UINT64_MAX, 0, 1ull << 63, (1ull << 63) - 1, 5};
    const struct cf_values column = {CF_TIME, time, 0};

    for (int packed = 0; packed < 2; packed++) {
        struct cf_writer *w = start("times.cf", packed, "test_stream");
        struct cf_reader *in;
        struct cf_frame *f;
        int status = cf_writer_header(w, &plain_header), good = 0;

        status |= cf_writer_rows(w, CF_ACCESS, 7, &column, 1, NULL) | finish(w, 1);
        in = open_one("times.cf");
        while (cf_reader_next(in, &f) > 0)
            good |= f->table == CF_ACCESS && f->first == 0 && f->last == UINT64_MAX;
        ok(!status && good, "%s: first and last of times far apart", packed ? "packed" : "raw");
        cf_reader_close(in);
    }
}

/* Makes a byte of each column `column` of accesses wrong, behind right checksums. */
static unsigned hurt_column(const char *name, unsigned column)
{
    enum { ROOM = 1 << 20 };
    static uint8_t bytes[ROOM];
    const size_t n = bytes_of(name, bytes, ROOM);
    unsigned hurt = 0;
    size_t size;

    for (size_t at = 0; at < n && (size = reseal_size(bytes + at, n - at)); at += size) {
        uint8_t *p = bytes + at, *d = p + RESEAL_FRAME;
        const size_t columns = p[10] | (size_t)p[11] << 8;
        size_t place = RESEAL_FRAME + columns * RESEAL_COLUMN;

        if (p[0] != 'C' || (p[8] | p[9] << 8) != CF_ACCESS)
            continue;
        for (size_t i = 0; i < columns; i++, d += RESEAL_COLUMN) {
            if ((d[0] | (unsigned)d[1] << 8) == column) {
                p[place] ^= 0x70; /* of a table, bits that must be 0; else of what zstd made */
                hurt++;
            }
            place += ((size_t)reseal_u32(d + 4) + 7) & ~(size_t)7;
        }
        reseal_one(p, size);
    }
    put_bytes(name, bytes, n);
    return hurt;
}

/* A column that no one wants and that does not decode is damage of the input, told with its place
   by who decodes it: the one that packs it anew, or behind a pipe, which it passes as it came, and
   behind a file where the frame is large, the next one that wants it. What else there is gets into
   the output. */
static void test_damage_passed(void)
{
    enum { SMALL = 5000, LARGE = 150000 };
    static const struct {
        const char *what;
        uint32_t rows;
        int packed, passed;
    } way[] = {{"raw", SMALL, 0, 1}, {"packed", SMALL, 1, 0}, {"large packed", LARGE, 1, 1}};
    static uint64_t other[LARGE];
    const struct cf_values map[] = {
        {CF_TIME, NULL, 0}, {CF_PID, NULL, 1}, {CF_OP, NULL, CF_MAPPED}};

    for (unsigned i = 0; i < sizeof way / sizeof *way; i++) {
        const int passed = way[i].passed;
        const char *what = way[i].what;
        struct cf_writer *w = start("sound.cf", 1, "test_stream");
        int status =
            cf_writer_header(w, &plain_header) | cf_writer_rows(w, CF_MAP, 1, map, 3, NULL);
        struct cf_reader *in;
        struct cf_frame *f;
        unsigned maps = 0, accesses = 0, hurt;
        char why[256] = "";

        fill(LOOPS, way[i].rows);
        status |= write_rows(w, way[i].rows) | finish(w, 1);
        hurt = hurt_column("sound.cf", CF_PC);
        in = open_one("sound.cf");
        w = start("passed.cf", way[i].packed, "test_stream");
        while (cf_reader_next(in, &f) > 0) {
            if (f->table == CF_ACCESS)
                status |= cf_frame_set(f, CF_ADDR, other);
            status |= cf_writer_frame(w, f);
        }
        ok(!finish(w, 1) && !status, "%s: that is no problem of the output", what);
        if (passed) {
            is_u64(cf_reader_damages(in), 0, "what nobody decodes is passed on");
            cf_reader_close(in);
            in = open_one("passed.cf");
            cf_reader_want(in, CF_ACCESS, CF_PC, CF_REQUIRED);
            while (cf_reader_next(in, &f) > 0)
                accesses += f->table == CF_ACCESS;
            is_u64(accesses, 0, "who wants it gets no row of that frame");
        }
        if (cf_reader_problem(in))
            snprintf(why, sizeof(why), "%s", cf_reader_problem(in));
        ok(hurt == 1 && cf_reader_damages(in) == 1 && strstr(why, "byte") &&
               strstr(why, "column pc"),
           "%s: a damaged column is told by who decodes it: %s", what, why);
        cf_reader_close(in);
        in = open_one("passed.cf");
        while (cf_reader_next(in, &f) > 0) {
            maps += f->table == CF_MAP;
            accesses += f->table == CF_ACCESS;
        }
        ok(maps == 1 && accesses == (unsigned)passed && !cf_reader_damages(in),
           "%s: the others are there", what);
        cf_reader_close(in);
    }
}

/* A column that is a filter's own: it is declared after the header, and whoever reads finds it. */
static void test_own_column(void)
{
    enum { ROWS = 100, MINE = 40001 };
    static uint32_t mine[ROWS];
    struct cf_writer *w = start("other.cf", 1, "test_stream");
    const struct cf_values column = {CF_ADDR, g_addr, 0};
    int status = cf_writer_header(w, &plain_header);
    uint64_t rows = 0, wrong = 0;
    struct cf_reader *in;
    struct cf_frame *f;

    for (uint32_t i = 0; i < ROWS; i++)
        mine[i] = i * i;
    status |= cf_writer_rows(w, CF_ACCESS, ROWS, &column, 1, NULL) | finish(w, 1);
    in = open_one("other.cf");
    w = start("own.cf", 1, "test_stream own");
    while (cf_reader_next(in, &f) > 0) {
        if (f->table == CF_ACCESS)
            status |= cf_frame_set_as(f, MINE, CF_U32, mine);
        status |= cf_writer_frame(w, f);
        if (f->table == CF_HEADER)
            status |= cf_writer_name(w, MINE, CF_U32, "mine");
    }
    cf_reader_close(in);
    ok(!(finish(w, 1) | status), "a column of its own is set");
    in = open_one("own.cf");
    cf_reader_want_all(in);
    while (cf_reader_next(in, &f) > 0) {
        const uint32_t *got = f->table == CF_ACCESS ? cf_values(f, MINE) : NULL;

        for (uint32_t i = 0; got && i < f->rows; i++, rows++)
            wrong += got[i] != mine[i] || cf_u64(f, CF_ADDR)[i] != g_addr[i];
    }
    ok(rows == ROWS && !wrong && !cf_reader_damages(in), "and read: %llu rows",
       (unsigned long long)rows);
    cf_reader_close(in);
}

int main(void)
{
    begin_streams();
    test_annotate();
    test_full();
    test_own_column();
    test_drop_packed();
    test_blob_beside_packed();
    test_types_change();
    test_extreme_times();
    test_damage_passed();
    return end_streams();
}
