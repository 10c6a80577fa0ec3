/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stream: what libcf promises in cf.h: rows come back as they were written, raw and packed,
 * whatever their values; frames keep their bounds and their order; segments, dictionaries, ranges,
 * indexes and problems work as the header says. test_stream_pass has the filters' side,
 * test_stream_live what depends on time.
 * Memory: the rows of the largest case, 600,000 accesses, twice.
 */
#include <sys/stat.h>

#include "stream.h"

static const char *const shape_names[] = {"loops", "noise", "extremes", "constant", "backwards"};

/* ---- rows come back ---- */

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

    /* Blanks beside what ends a line in YAML, in a value, and as the key of a fact. */
    for (unsigned i = 0; i < 5; i++) {
        static const char *const ends[] = {"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
        struct cf_header header = plain_header;
        struct cf_writer *w = start("text.cf", 0, "test_stream");
        struct cf_reader *in;
        struct cf_frame *f;
        int status;

        snprintf(text, sizeof(text), " a %s b%s", ends[i], ends[i]);
        header.command = header.clock_unit = text;
        status = cf_writer_fact(w, "dist", text, text);
        status |= cf_writer_header(w, &header) | finish(w, 1);
        in = open_one("text.cf");
        ok(!status && cf_reader_next(in, &f) == 1 && !cf_reader_damages(in) &&
               cf_header_fact(f->header, "dist", text) && strcmp(f->header->command, text) == 0 &&
               strcmp(f->header->clock_unit, text) == 0 &&
               strcmp(cf_header_fact(f->header, "dist", text), text) == 0,
           "an end of a line between blanks goes through a header, too: %u", i);
        cf_reader_close(in);
    }
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

/* Rows that no frame can hold. */
static void test_refused_rows(void)
{
    static const uint64_t values[1];
    struct cf_values many[CF_MAX_COLUMNS + 1];

    for (unsigned i = 0; i <= CF_MAX_COLUMNS; i++)
        many[i] = (struct cf_values){i ? 40000 + i : CF_ADDR, values, 0};
    for (unsigned count = 1; count <= CF_MAX_COLUMNS + 1; count += CF_MAX_COLUMNS) {
        struct cf_writer *w = start("refused.cf", 1, "test_stream");
        const int status = cf_writer_header(w, &plain_header) ||
                           cf_writer_rows(w, CF_ACCESS, 1, many, count, NULL) != 0;

        problem[0] = '\0';
        if (count == 1)
            ok(!finish(w, 1) && !status, "rows of one column");
        else
            ok(finish(w, 1) && status && strstr(problem, "columns"),
               "rows of more columns than a frame holds are refused: %s", problem);
    }
}

/* Rows of which no reader would take the frame. */
static void test_unreadable_rows(void)
{
    static const uint64_t values[1];
    static const struct {
        unsigned table, column, further;
        const char *text;
    } of[] = {{CF_HEADER, CF_ADDR, CF_PC, "table 0 cannot"},
              {CF_END, CF_ADDR, CF_PC, "table 1 cannot"},
              {CF_INDEX, CF_ADDR, CF_PC, "table 2 cannot"},
              {CF_STRING, CF_ADDR, CF_PC, "table 3 cannot"},
              {70000, CF_ADDR, CF_PC, "table 70000 cannot"},
              {CF_ACCESS, CF_ADDR, CF_ADDR, "column 7 is given twice"},
              {CF_ACCESS, CF_ADDR, CF_TEXT, "column 98 cannot"},
              {CF_ACCESS, CF_ADDR, 40000, "column 40000 cannot"},
              {CF_ACCESS, CF_ADDR, 65536 + CF_ADDR, "column 65543 cannot"},
              {CF_ACCESS, CF_ADDR, 65536 + CF_PC, "column 65545 cannot"}};

    for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        const struct cf_values two[] = {{of[i].column, values, 0}, {of[i].further, NULL, 1}};
        struct cf_place place = {of[i].column, NULL};
        uint32_t rows;

        for (int placed = 0; placed < 2; placed++) {
            struct cf_writer *w = start("refused.cf", placed, "test_stream");
            int status = cf_writer_header(w, &plain_header);

            problem[0] = '\0';
            if (placed)
                status |= cf_writer_place(w, of[i].table, &two[1], 1, &place, 1, NULL, &rows) == 0;
            else
                status |= cf_writer_rows(w, of[i].table, 1, two, 2, NULL) == 0;
            ok(finish(w, 1) && !status && strstr(problem, of[i].text), "refused: %s", problem);
        }
    }
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

int main(void)
{
    begin_streams();
    test_round_trips();
    test_hints();
    test_order();
    test_header();
    test_header_text();
    test_complete();
    test_problems();
    test_refused_rows();
    test_unreadable_rows();
    test_output_file();
    return end_streams();
}
