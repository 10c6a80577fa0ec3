/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_strings.c - the bound on the strings of an input: what goes beyond is told once a segment
 * and reads as empty, all rows are handed out, and the memory for ids counts like that for texts.
 *
 * Memory: 3 MiB of strings.
 */
#include "reseal.h"
#include "stream.h"

enum { TEXTS = 48, LENGTH = 60000, IDS = 300000, BOUND = 1 << 20 };

/* TEXTS long strings, each with an access to its region; twice, as two segments. */
static void write_texts(const char *name, int packed)
{
    static char text[LENGTH + 1];
    struct cf_writer *w = start(name, packed, "test_strings");
    int bad = 0;

    for (int segment = 0; segment < 2; segment++) {
        bad |= cf_writer_header(w, &plain_header);
        for (uint64_t i = 0; i < TEXTS; i++) {
            struct cf_values v[] = {{CF_TIME, &i, 0}, {CF_REGION, NULL, 0}};

            memset(text, 'x', LENGTH);
            snprintf(text, sizeof(text), "%d %d", segment, (int)i);
            text[strlen(text)] = ' '; /* the rest is still there */
            v[1].constant = cf_writer_string(w, text);
            (void)!cf_writer_rows(w, CF_ACCESS, 1, v, 2, NULL);
        }
    }
    bad |= finish(w, 1);
    need(!bad, "written: %s", problem);
}

/* Many short strings. */
static void write_ids(const char *name)
{
    struct cf_writer *w = start(name, 0, "test_strings");
    const struct cf_values none[] = {{CF_TIME, NULL, 5}};
    char text[16];
    int bad;

    bad = cf_writer_header(w, &plain_header);
    for (uint32_t i = 0; i < IDS; i++) {
        snprintf(text, sizeof(text), "%u", i);
        (void)cf_writer_string(w, text);
    }
    (void)!cf_writer_rows(w, CF_ACCESS, 1, none, 1, NULL);
    bad |= finish(w, 1);
    need(!bad, "written: %s", problem);
}

static void read_texts(const char *name, int unified, uint64_t bound)
{
    struct cf_reader *in = open_one(name);
    struct cf_frame *f;
    unsigned rows = 0, named = 0, wrong = 0, segment = 0, last = 0;
    int lost = 0;

    if (unified)
        cf_reader_unify(in);
    if (bound)
        cf_reader_max_strings(in, bound);
    cf_reader_want(in, CF_ACCESS, CF_TIME, CF_REQUIRED);
    cf_reader_want(in, CF_ACCESS, CF_REGION, CF_REQUIRED);
    while (cf_reader_next(in, &f) > 0) {
        segment += f->table == CF_HEADER;
        for (uint32_t i = 0; f->table == CF_ACCESS && i < f->rows; i++) {
            const char *text = cf_reader_text(in, cf_u32(f, CF_REGION)[i]);
            char want[32];

            rows++;
            named += *text != 0;
            snprintf(want, sizeof(want), "%u %u ", segment - 1, (unsigned)cf_u64(f, CF_TIME)[i]);
            wrong += *text && strncmp(text, want, strlen(want)) != 0;
            lost |= *text && rows > last + 1 && segment == 1;
            last = *text ? rows : last;
        }
    }
    ok(rows == 2 * TEXTS && !wrong, "%s%s: all rows, no name is another's", name,
       unified ? ", unified" : "");
    if (!bound)
        ok(named == 2 * TEXTS && !cf_reader_damages(in), "no bound that these come near to");
    else
        ok(named >= TEXTS / 4 && named < 2 * TEXTS && !lost && cf_reader_damages(in) == 2 &&
               strstr(cf_reader_problem(in), "more than 1 MiB") &&
               strstr(cf_reader_problem(in), "--max-strings") &&
               strstr(cf_reader_problem(in), "byte "),
           "%u are named, and each segment is told once: %s", named,
           cf_reader_problem(in) ? cf_reader_problem(in) : "no problem");
    cf_reader_close(in);
}

static void read_ids(const char *name)
{
    struct cf_reader *in = open_one(name);
    struct cf_frame *f;
    unsigned rows = 0;

    cf_reader_max_strings(in, BOUND);
    while (cf_reader_next(in, &f) > 0)
        rows += f->table == CF_ACCESS ? f->rows : 0;
    ok(rows == 1 && cf_reader_damages(in) == 1 && strstr(cf_reader_problem(in), "1 MiB"),
       "short strings and their ids count too");
    cf_reader_close(in);
}

/* Two strings whose lengths become 0 and that of both. An empty string is no other than none: as a
   second name of nothing it would make two keys of one. */
static void empty_text(void)
{
    static uint8_t bytes[1 << 16];
    const uint64_t time = 1;
    struct cf_values v[] = {{CF_TIME, &time, 0}, {CF_REGION, NULL, 0}};
    struct cf_writer *w = start("empty.cf", 0, "test_strings");
    struct cf_reader *in;
    struct cf_frame *f;
    size_t n, size, at, base;
    unsigned named = 0;
    FILE *file;
    int bad = cf_writer_header(w, &plain_header);

    v[1].constant = cf_writer_string(w, "a");
    (void)cf_writer_string(w, "bcd");
    bad |= cf_writer_rows(w, CF_ACCESS, 1, v, 2, NULL) | finish(w, 1);
    file = fopen(file_of("empty.cf"), "r+b");
    need(!bad && file, "written: %s", problem);
    n = fread(bytes, 1, sizeof bytes, file);
    for (at = 0; (size = reseal_size(bytes + at, n - at)); at += size)
        if (bytes[at] == 'C' && bytes[at + 8] == CF_STRING)
            break;
    need(size != 0, "a frame of strings");
    /* the lengths, as bytes that are added to a base: its descriptor is the second */
    base = at + RESEAL_FRAME + RESEAL_COLUMN + 8;
    at += RESEAL_FRAME + 3 * RESEAL_COLUMN + 8;
    need(bytes[base] == 1 && bytes[at] == 0 && bytes[at + 1] == 2, "lengths of 1 and 3");
    bytes[base] = 0;
    bytes[at + 1] = 4;
    reseal(bytes, n);
    rewind(file);
    need(fwrite(bytes, 1, n, file) == n && fclose(file) == 0, "changed");
    in = open_one("empty.cf");
    cf_reader_unify(in);
    cf_reader_want(in, CF_ACCESS, CF_REGION, CF_REQUIRED);
    while (cf_reader_next(in, &f) > 0)
        named += f->table == CF_ACCESS && cf_u32(f, CF_REGION)[0] != 0;
    ok(named == 0 && cf_reader_damages(in) == 1, "a string of no bytes is refused: %s",
       cf_reader_problem(in) ? cf_reader_problem(in) : "no problem");
    cf_reader_close(in);
    unlink(file_of("empty.cf"));
}

int main(void)
{
    need(mkdtemp(dir) != NULL, "a directory");
    for (int packed = 0; packed < 2; packed++) {
        const char *const name = packed ? "s.packed.cf" : "s.cf";

        write_texts(name, packed);
        for (int unified = 0; unified < 2; unified++) {
            read_texts(name, unified, BOUND);
            read_texts(name, unified, 0);
        }
        unlink(file_of(name));
    }
    write_ids("ids.cf");
    read_ids("ids.cf");
    unlink(file_of("ids.cf"));
    empty_text();
    rmdir(dir);
    return done();
}
