/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams: strings over segments, programs in a chain, ranges by the index, and names of columns
 * and tables.
 */
#include <sys/stat.h>

#include "stream.h"

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

/* ---- names ---- */

static void test_names(void)
{
    unsigned wrong = 0, columns = 0, tables = 0, ops = 0, classes = 0;

    for (unsigned i = 0; i < 70000; i++) {
        const char *c = cf_column_name(i), *t = cf_table_name(i), *o = cf_op_name(i);
        const char *class = cf_class_name(i);

        if (c)
            columns++, wrong += cf_column_find(c) != i || !cf_column_type(i);
        else
            wrong += cf_column_type(i) != 0;
        if (t)
            tables++, wrong += cf_table_find(t) != i && i != CF_HEADER;
        if (o)
            ops++, wrong += cf_op_find(o) != i;
        if (class)
            classes++, wrong += cf_class_find(class) != i;
    }
    is_u64(wrong, 0, "names and numbers of %u columns, %u tables, %u ops, %u classes agree",
           columns, tables, ops, classes);
    ok(columns > 50 && tables > 12 && ops == 12 && classes == 9, "none is missing");
    ok(!cf_class_name(CF_CLASSES) && cf_class_find("x") == CF_CLASSES,
       "what is no class is found to be none");
    ok(!cf_column_find("") && !cf_column_find("nonsense") && !cf_table_find("") && !cf_op_find("x"),
       "what is no name is found to be none");
    is_text(cf_column_name(CF_STOP), "end", "the name of CF_STOP");
    is_text(cf_column_name(CF_LABEL), "label", "the name of CF_LABEL");
    is_u64(cf_type_width(CF_U64) + cf_type_width(CF_STR) + cf_type_width(CF_BLOB), 12, "widths");
}

int main(void)
{
    begin_streams();
    test_names();
    test_segments();
    test_chain();
    test_range();
    return end_streams();
}
