/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts of columns: what a writer states comes back, takes the place of what earlier programs
 * stated of the same column and of nothing else, and leaves the rest of the document alone, however
 * that is written.
 */
#include "formats/stream/cf.h"
#include "tests/unit/reseal.h"
#include "tests/unit/stream.h"

/* A stream of one header and nothing in it, from `w`, which is closed. */
static int close_header(struct cf_writer *w, const struct cf_header *h)
{
    const int bad = cf_writer_header(w, h);

    return cf_writer_close(w, 1, problem, sizeof(problem)) | bad;
}

/* A reader of the stream that stands at its first header, whose frame comes in *f. */
static struct cf_reader *first(const char *name, struct cf_frame **f)
{
    struct cf_reader *in = open_one(name);

    if (cf_reader_next(in, f) <= 0 || (*f)->table != CF_HEADER) {
        note("%s", cf_reader_problem(in));
        abort();
    }
    return in;
}

/* The number of a fact; -1 where there is none, -2 where it is none. */
static int64_t number(const struct cf_header *h, const char *column, const char *key)
{
    uint64_t n = 0;
    const int stated = cf_header_number(h, column, key, &n);

    return stated > 0 ? (int64_t)n : stated - 1;
}

static void test_round(void)
{
    static const char nasty[] = "a \"b\" \\ \n # {x: y}, [z] \x01 \xc3\xa9 'q': - ~";
    struct cf_writer *w = cf_writer_open(file_of("a.cf"), "first");
    struct cf_frame *f;
    struct cf_reader *in;

    cf_writer_fact(w, "dist", "by", "test");
    cf_writer_number(w, "dist", "line_size", 32);
    cf_writer_number(w, "dist", "line_size", 64);
    cf_writer_fact(w, "their \"column\"", "A key: of theirs", nasty);
    cf_writer_number(w, "dist", "most", UINT64_MAX);
    cf_writer_fact(w, "dist", "digits", "64");
    cf_writer_fact(w, "gone", "a", "b");
    cf_writer_forget(w, "gone");
    ok(close_header(w, &plain_header) == 0, "facts of two columns are written");
    in = first("a.cf", &f);
    is_u64(f->header->facts.count, 5, "they are all there");
    is_text(cf_header_fact(f->header, "dist", "by"), "test", "a text");
    is_u64((uint64_t)number(f->header, "dist", "line_size"), 64,
           "a number, the last that was said");
    is_text(cf_header_fact(f->header, "dist", "most"), "18446744073709551615", "as a text");
    is_u64((uint64_t)number(f->header, "dist", "most"), UINT64_MAX, "the largest number");
    is_u64((uint64_t)number(f->header, "dist", "digits"), (uint64_t)-2,
           "a text of digits is no number");
    is_text(cf_header_fact(f->header, "their \"column\"", "A key: of theirs"), nasty, "any text");
    ok(!cf_header_fact(f->header, "dist", "line") && !cf_header_fact(f->header, "gone", "a") &&
           number(f->header, "hit", "line_size") == -1,
       "what was not stated, or forgotten, is not there");
    is_text(f->header->command, "prog 'a b' \"c\"", "the header's other keys are");
    cf_reader_close(in);
}

/* Hands a file on; the writer has its facts. */
static void hand_on(const char *from, struct cf_writer *w)
{
    struct cf_frame *f;
    struct cf_reader *in = open_one(from);

    while (cf_reader_next(in, &f) > 0)
        if (cf_writer_frame(w, f) != 0)
            break;
    cf_reader_close(in);
}

static void test_pass(void)
{
    struct cf_writer *w = cf_writer_open(file_of("b.cf"), "second");
    struct cf_frame *f;
    struct cf_reader *in;
    char was[4096];

    hand_on("a.cf", w);
    hand_on("a.cf", w);
    ok(cf_writer_close(w, 1, problem, sizeof(problem)) == 0,
       "a program without facts, two segments");
    in = first("a.cf", &f);
    snprintf(was, sizeof(was), "%s  - \"second\"\n", f->header->yaml);
    cf_reader_close(in);
    in = first("b.cf", &f);
    is_text(f->header->yaml, was, "hands the document on byte by byte");
    cf_reader_close(in);

    w = cf_writer_open(file_of("c.cf"), "third");
    cf_writer_number(w, "dist", "sets", 4);
    cf_writer_number(w, "hit", "cores", 2);
    hand_on("b.cf", w);
    ok(cf_writer_close(w, 1, problem, sizeof(problem)) == 0, "one that adds dist again, and hit");
    in = first("c.cf", &f);
    for (int segment = 1; segment <= 2; segment++) {
        ok(number(f->header, "dist", "sets") == 4 && !cf_header_fact(f->header, "dist", "by") &&
               number(f->header, "dist", "line_size") == -1,
           "segment %d: nothing is left of the facts of the dist before", segment);
        ok(number(f->header, "hit", "cores") == 2 &&
               cf_header_fact(f->header, "their \"column\"", "A key: of theirs") &&
               f->header->facts.count == 3 && f->header->chain == 3,
           "segment %d: the facts of other columns stay", segment);
        while (cf_reader_next(in, &f) > 0 && f->table != CF_HEADER)
            ;
    }
    cf_reader_close(in);
}

static void test_refused(void)
{
    struct cf_writer *w = cf_writer_open(file_of("d.cf"), "x");
    char name[CF_MAX_FACT_NAME + 1];
    struct cf_frame *f;
    struct cf_reader *in;

    memset(name, 'a', sizeof(name));
    name[CF_MAX_FACT_NAME - 1] = 0;
    ok(cf_writer_fact(w, name, name, "x") == 0, "names of 63 bytes");
    ok(close_header(w, &plain_header) == 0, "are written");
    in = first("d.cf", &f);
    is_text(cf_header_fact(f->header, name, name), "x", "and read");
    cf_reader_close(in);
    name[CF_MAX_FACT_NAME - 1] = 'a';
    name[CF_MAX_FACT_NAME] = 0;
    for (int i = 0; i < 4; i++) {
        w = cf_writer_open(file_of("d.cf"), "x");
        ok(cf_writer_fact(w,
                          i == 0   ? ""
                          : i == 1 ? name
                                   : "x",
                          i == 2   ? ""
                          : i == 3 ? name
                                   : "x",
                          "x") == -1 &&
               close_header(w, &plain_header) != 0 && strstr(problem, "too long"),
           "an empty or longer name is refused, and told at the end: %s", problem);
    }
    w = cf_writer_open(file_of("e.cf"), "x");
    for (unsigned i = 0; i < CF_MAX_FACTS; i++) {
        snprintf(name, sizeof(name), "c%u", i);
        cf_writer_number(w, name, "n", i);
    }
    ok(close_header(w, &plain_header) == 0, "as many facts as may be");
    in = first("e.cf", &f);
    is_u64(f->header->facts.count, CF_MAX_FACTS, "are read");
    cf_reader_close(in);
    w = cf_writer_open(file_of("f.cf"), "x");
    cf_writer_number(w, "c7", "n", 7);
    hand_on("e.cf", w);
    ok(cf_writer_close(w, 1, problem, sizeof(problem)) == 0, "one of them anew");
    w = cf_writer_open(file_of("f.cf"), "x");
    cf_writer_number(w, "one more", "n", 7);
    hand_on("e.cf", w);
    ok(cf_writer_close(w, 1, problem, sizeof(problem)) != 0 && strstr(problem, "1024 facts"),
       "one more: %s", problem);
    w = cf_writer_open(file_of("f.cf"), "x");
    for (unsigned i = 0; i < CF_MAX_FACTS; i++) {
        snprintf(name, sizeof(name), "c%u", i);
        cf_writer_number(w, name, "n", i);
    }
    ok(cf_writer_number(w, "c", "n", 1) == -1 && cf_writer_close(w, 0, problem, sizeof(problem)) &&
           strstr(problem, "1024 facts"),
       "one more of one program: %s", problem);
}

/* style.cf, of a header alone, whose document is three pieces of text. */
static void write_document(const char *a, const char *b, const char *c)
{
    static uint8_t bytes[4096];
    FILE *out = fopen(file_of("style.cf"), "wb");
    size_t n;

    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes,
           "\x89"
           "CFL\r\n\x1a\n\x01",
           9);
    n = (size_t)snprintf((char *)bytes + RESEAL_SEGMENT, sizeof(bytes) - RESEAL_SEGMENT, "%s%s%s",
                         a, b, c);
    bytes[12] = (uint8_t)n;
    bytes[13] = (uint8_t)(n >> 8);
    n = RESEAL_SEGMENT + ((n + 7) & ~(size_t)7);
    reseal_one(bytes, n);
    if (!out || fwrite(bytes, 1, n, out) != n || fclose(out))
        abort();
}

/* Documents as others may write them: what stands in the place of `columns` goes, and no other
   byte. */
static void test_styles(void)
{
    static const struct {
        const char *what, *before, *columns, *after;
    } styles[] = {
        {"no columns", "source: \"y\"\n", "", "chain:\n  - \"x\"\n"},
        {"nothing but a chain", "", "", "chain:\n  - \"x\"\n"},
        {"lines", "", "columns:\n  dist:\n    line_size: 32\n    by: me\n  old:\n    a: 'b'\n",
         "chain:\n  - \"x\"\n"},
        {"braces over lines", "a: 1\n",
         "columns: {dist: {line_size: 32,\n by: me}, old:\n {a: b}}\n",
         "source: z\nchain:\n  - \"x\"\n"},
        {"quotes and comments", "# one\n",
         "\"columns\": # two\n  dist: {\"line_size\": 32} # 3\n  old: {a: b}\n# four\n",
         "\"chain\":\n  - \"x\"\n"},
        {"characters of several bytes before it",
         "command: \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n",
         "columns:\n  dist: {by: \"\xc3\xa9\", line_size: 32}\n  old: {a: b}\n",
         "b: \xc3\xa9\nchain:\n  - \"x\"\n"},
        {"a byte order mark",
         "\xef\xbb\xbf"
         "a: b\n",
         "columns:\n  dist: {line_size: 32}\n  old: {a: b}\n", "chain:\n  - \"x\"\n"},
        {"a text that looks like it", "a: |\n  x\n  columns: {dist: {line_size: 16}}\n  chain:\n",
         "columns: {dist: {line_size: 32}, old: {a: b}}\n", "chain:\n  - \"x\"\n"},
        {"DOS lines", "a: b\r\n", "columns:\r\n  dist: {line_size: 32}\r\n  old: {a: b}\r\n",
         "chain:\n  - \"x\"\n"},
        {"empty", "", "columns: {}\n", "chain:\n  - \"x\"\n"},
    };

    for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
        const int has = strstr(styles[i].columns, "dist") != NULL;
        char expected[4096];
        struct cf_writer *w;
        struct cf_frame *f;
        struct cf_reader *in;

        write_document(styles[i].before, styles[i].columns, styles[i].after);
        in = first("style.cf", &f);
        ok(number(f->header, "dist", "line_size") == (has ? 32 : -1) &&
               !cf_header_fact(f->header, "old", "a") == !has,
           "%s: facts are read", styles[i].what);
        cf_reader_close(in);
        w = cf_writer_open(file_of("new.cf"), "y");
        cf_writer_number(w, "dist", "line_size", 128);
        hand_on("style.cf", w);
        if (cf_writer_close(w, 1, problem, sizeof(problem)) != 0)
            abort();
        snprintf(expected, sizeof(expected),
                 "%scolumns:\n%s  dist: {line_size: 128}\n%s  - \"y\"\n", styles[i].before,
                 has ? "  old: {a: \"b\"}\n" : "", styles[i].after);
        in = first("new.cf", &f);
        is_text(f->header->yaml, expected, "%s: facts are replaced", styles[i].what);
        cf_reader_close(in);
    }
}

/* A command that is stated anew, wherever the old one stands; with facts, and without. */
static void test_commands(void)
{
    static const char *const documents[][2] = {
        {"a: 1\ncolumns: {hit: {by: x}}\nchain:\n  - \"x\"\n",
         "a: 1\nFACTScommand: \"new\"\nchain:\n  - \"x\"\n"},
        {"command: old\na: 1\ncolumns: {hit: {by: x}}\nb: 2\nchain:\n  - \"x\"\n",
         "command: \"new\"\na: 1\nFACTSb: 2\nchain:\n  - \"x\"\n"},
        {"columns: {hit: {by: x}}\n'command': old and\n  more\nb: 2\nchain:\n  - \"x\"\n",
         "FACTScommand: \"new\"\nb: 2\nchain:\n  - \"x\"\n"},
        {"b: {command: old}\nchain:\n  - \"x\"\n",
         "b: {command: old}\ncommand: \"new\"\nFACTSchain:\n  - \"x\"\n"},
    };

    for (size_t i = 0; i < 2 * sizeof(documents) / sizeof(*documents); i++) {
        const char *old = documents[i / 2][0], *new = documents[i / 2][1];
        const char *hit = strstr(old, "columns: ") ? "columns: {hit: {by: x}}\n" : "";
        const char *facts = i % 2 ? "columns:\n  hit: {by: \"y\"}\n" : hit;
        char expected[256];
        struct cf_writer *w = cf_writer_open(file_of("new.cf"), "y");
        struct cf_frame *f;
        struct cf_reader *in;

        write_document(old, "", "");
        if (i % 2)
            cf_writer_fact(w, "hit", "by", "y");
        cf_writer_command(w, "once");
        cf_writer_command(w, "new");
        hand_on("style.cf", w);
        if (cf_writer_close(w, 1, problem, sizeof(problem)) != 0)
            abort();
        snprintf(expected, sizeof(expected), "%.*s%s%s  - \"y\"\n",
                 (int)(strstr(new, "FACTS") - new), new, facts, strstr(new, "FACTS") + 5);
        in = first("new.cf", &f);
        is_text(f->header->yaml, expected, "the command is replaced");
        is_text(f->header->command, "new", "and read");
        cf_reader_close(in);
    }
}

/* A clock that is stated anew, with the other edits; each stands where it stood, else before the
   chain. */
static void test_clocks(void)
{
    static const char *const documents[][2] = {
        {"a: 1\nclock: {unit: old, hz: 5}\ncommand: old\nb: 2\nchain:\n  - \"x\"\n",
         "a: 1\nCLOCKcommand: \"new\"\nb: 2\nchain:\n  - \"x\"\n"},
        {"columns: {hit: {by: x}}\ncommand: old\nclock:\n  unit: old\nchain:\n  - \"x\"\n",
         "FACTScommand: \"new\"\nCLOCKchain:\n  - \"x\"\n"},
        {"chain:\n  - \"x\"\n", "CLOCKcommand: \"new\"\nFACTSchain:\n  - \"x\"\n"},
        {"b: {clock: old}\nchain:\n  - \"x\"\n",
         "b: {clock: old}\nCLOCKcommand: \"new\"\nFACTSchain:\n  - \"x\"\n"},
    };

    for (size_t i = 0; i < 2 * sizeof(documents) / sizeof(*documents); i++) {
        const char *clock =
            i % 2 ? "clock: {unit: \"cycles\", hz: 7}\n" : "clock: {unit: \"cycles\"}\n";
        char expected[256] = "";
        struct cf_writer *w = cf_writer_open(file_of("new.cf"), "y");
        struct cf_frame *f;
        struct cf_reader *in;

        write_document(documents[i / 2][0], "", "");
        cf_writer_command(w, "new");
        cf_writer_clock(w, "once", 9);
        cf_writer_clock(w, "cycles", i % 2 ? 7 : 0);
        if (strstr(documents[i / 2][1], "FACTS"))
            cf_writer_fact(w, "hit", "by", "y");
        hand_on("style.cf", w);
        if (cf_writer_close(w, 1, problem, sizeof(problem)) != 0)
            abort();
        for (const char *at = documents[i / 2][1]; *at;) {
            const int is_clock = !strncmp(at, "CLOCK", 5), facts = !strncmp(at, "FACTS", 5);
            const size_t n = strlen(expected);

            snprintf(expected + n, sizeof(expected) - n, "%s",
                     is_clock ? clock
                     : facts  ? "columns:\n  hit: {by: \"y\"}\n"
                              : "");
            if (!is_clock && !facts)
                snprintf(expected + n, sizeof(expected) - n, "%c", *at);
            at += is_clock || facts ? 5 : 1;
        }
        strcat(expected, "  - \"y\"\n");
        in = first("new.cf", &f);
        is_text(f->header->yaml, expected, "the clock is replaced");
        is_text(f->header->clock_unit, "cycles", "and read");
        is_u64(f->header->clock_hz, i % 2 ? 7 : 0, "with its frequency");
        cf_reader_close(in);
    }
}

int main(void)
{
    begin_streams();
    test_round();
    test_pass();
    test_refused();
    test_styles();
    test_commands();
    test_clocks();
    return end_streams();
}
