/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile headers: YAML bombs, deep nesting, a chain that cannot be appended to, other versions.
 * Each stands before a good segment, which must still come; none may cost time or memory.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "formats/stream/cf.h"
#include "tests/unit/reseal.h"
#include "tests/unit/tap.h"

static char folder[] = "/tmp/cf-headers-XXXXXX";
static char good[64], bad[64];
static uint8_t segment[1 << 16];
static size_t segment_bytes;

static void make_good(void)
{
    const struct cf_header h = {.clock_unit = "records", .source = "test_headers"};
    const uint64_t addr[] = {0x1000, 0x2000};
    const struct cf_values columns[] = {{CF_ADDR, addr, 0}, {CF_OP, NULL, CF_LOAD}};
    struct cf_writer *w = cf_writer_open(good, "test_headers");
    char problem[256];
    FILE *in;

    ok(w && !cf_writer_header(w, &h) && !cf_writer_rows(w, CF_ACCESS, 2, columns, 2, NULL) &&
           !cf_writer_close(w, 1, problem, sizeof(problem)),
       "a good segment is written");
    in = fopen(good, "rb");
    segment_bytes = in ? fread(segment, 1, sizeof(segment), in) : 0;
    if (in)
        fclose(in);
}

/* A segment with this YAML and nothing else, then the good one. */
static void make_bad(const char *yaml, size_t bytes, unsigned version)
{
    size_t n = RESEAL_SEGMENT + ((bytes + 7) & ~(size_t)7);
    uint8_t *p = calloc(1, n);
    FILE *out = fopen(bad, "wb");

    if (!p || !out)
        abort();
    memcpy(p,
           "\x89"
           "CFL\r\n\x1a\n",
           8);
    p[8] = (uint8_t)version;
    for (int i = 0; i < 4; i++)
        p[12 + i] = (uint8_t)(bytes >> 8 * i);
    memcpy(p + RESEAL_SEGMENT, yaml, bytes);
    reseal_one(p, n);
    fwrite(p, 1, n, out);
    fwrite(segment, 1, segment_bytes, out);
    fclose(out);
    free(p);
}

static void refused(const char *what, const char *yaml, size_t bytes, unsigned version,
                    const char *expected)
{
    char *const files[] = {bad};
    struct cf_reader *r;
    struct cf_frame *f;
    uint64_t rows = 0;
    clock_t begin = clock();

    make_bad(yaml, bytes, version);
    r = cf_reader_open(files, 1);
    while (r && cf_reader_next(r, &f) > 0)
        rows += f->table == CF_ACCESS ? f->rows : 0;
    ok(r && cf_reader_damages(r) && strstr(cf_reader_problem(r), expected) && rows == 2 &&
           clock() - begin < 2 * CLOCKS_PER_SEC,
       "%s: told, and the next segment comes: %s", what,
       r && cf_reader_problem(r) ? cf_reader_problem(r) : "no problem");
    cf_reader_close(r);
}

static void text(const char *what, const char *yaml, const char *expected)
{
    refused(what, yaml, strlen(yaml), 1, expected);
}

/* Taken; what is wrong then is that nothing follows it. */
static void passed(const char *what, const char *yaml)
{
    char *const files[] = {bad};
    struct cf_reader *r;
    struct cf_frame *f;
    uint64_t rows = 0;

    make_bad(yaml, strlen(yaml), 1);
    r = cf_reader_open(files, 1);
    while (r && cf_reader_next(r, &f) > 0)
        rows += f->table == CF_ACCESS ? f->rows : 0;
    ok(r && rows == 2 && cf_reader_damages(r) == 1 && strstr(cf_reader_problem(r), "no end frame"),
       "%s: read: %s", what, r && cf_reader_problem(r) ? cf_reader_problem(r) : "no problem");
    cf_reader_close(r);
}

static void documents(void)
{
    static char deep[4096];
    size_t n;

    text("a YAML bomb",
         "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
         "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
         "chain:\n  - \"x\"\n",
         "anchors (&) and aliases (*) are not allowed");
    text("an anchor of a mapping", "a: &a {}\nchain:\n  - \"x\"\n",
         "anchors (&) and aliases (*) are not allowed");
    text("a second document", "a: b\n---\nchain:\n  - \"x\"\n",
         "header line 2: a second document begins here");
    text("a tag", "a: !!binary YQ==\nchain:\n  - \"x\"\n", "tags (!) are not allowed");
    text("an alias", "a: *a\nchain:\n  - \"x\"\n", "anchors (&) and aliases (*) are not allowed");
    n = (size_t)snprintf(deep, sizeof(deep), "a: ");
    for (int i = 0; i < 1000; i++)
        deep[n++] = '[';
    for (int i = 0; i < 1000; i++)
        deep[n++] = ']';
    snprintf(deep + n, sizeof(deep) - n, "\nchain:\n  - \"x\"\n");
    text("deep nesting", deep, "nested more than 15 deep");
    text("a chain that is not last", "chain:\n  - \"x\"\nsource: \"y\"\n", "must be the last key");
    text("two chains", "chain:\n  - \"x\"\nchain:\n  - \"y\"\n",
         "header line 3: 'chain' must be the last key");
    text("a chain in one line", "source: \"y\"\nchain: [x]\n", "'chain'");
    text("no chain", "source: \"y\"\n", "must be the last key");
    text("no newline at the end", "chain:\n  - \"x\"", "does not end");
    text("no mapping", "- a\n- b\n", "no mapping");
    text("no YAML", "chain:\n  - \"x\n", "header line");
    text("a line size that is no number", "line_size: abc\nchain:\n  - \"x\"\n", "number");
    refused("no YAML at all", "", 0, 1, "header");
    refused("a zero byte", "a: \0\nchain:\n  - x\n", 17, 1, "header");
    refused("another version", "chain:\n  - \"x\"\n", 15, 2, "version 2");
}

static void facts(void)
{
    text("facts that are no mapping", "columns: 1\nchain:\n  - \"x\"\n", "is no mapping");
    text("a list of facts", "columns: [dist]\nchain:\n  - \"x\"\n", "is no mapping");
    text("a column without facts", "columns: {dist: 1}\nchain:\n  - \"x\"\n", "is no mapping");
    text("a list as facts", "columns: {dist: [1]}\nchain:\n  - \"x\"\n", "is no mapping");
    text("a fact that is a list", "columns: {dist: {a: [1]}}\nchain:\n  - \"x\"\n",
         "is no mapping");
    text("a fact that is a mapping", "columns: {dist: {a: {b: 1}}}\nchain:\n  - \"x\"\n",
         "is no mapping");
    text("a fact twice", "columns: {dist: {a: 1, a: 2}}\nchain:\n  - \"x\"\n", "stands twice");
    text("a fact twice, of a column that stands twice",
         "columns: {dist: {a: 1}, dist: {a: 1}}\nchain:\n  - \"x\"\n", "stands twice");
    text("facts twice", "columns: {}\na: b\ncolumns: {}\nchain:\n  - \"x\"\n", "stands twice");
    text("a clock twice", "clock: {unit: a}\nclock: {unit: b}\nchain:\n  - \"x\"\n",
         "header line 2: a key stands twice");
    text("a frequency twice", "clock: {hz: 1, hz: 2}\nchain:\n  - \"x\"\n", "a key stands twice");
    text("a line size twice", "line_size: 1\nline_size: 2\nchain:\n  - \"x\"\n",
         "header line 2: a key stands twice");
    text("a column without a name", "columns: {\"\": {a: 1}}\nchain:\n  - \"x\"\n", "empty");
    text("a fact without a name", "columns: {dist: {\"\": 1}}\nchain:\n  - \"x\"\n", "empty");
    text("a name of 64 bytes",
         "columns: {dist: {a123456789b123456789c123456789d123456789e123456789f123456789g123: 1}}\n"
         "chain:\n  - \"x\"\n",
         "too long");
    text("a name that goes on behind a zero byte",
         "columns: {\"dist\\0x\": {a: 1}}\nchain:\n  - \"x\"\n", "zero byte");
    text("a key that goes on behind a zero byte", "\"chain\\0x\":\n  - \"x\"\n", "zero byte");
    text("a fact that goes on behind a zero byte",
         "columns: {dist: {a: \"1\\0x\"}}\nchain:\n  - \"x\"\n", "zero byte");
    text("facts within a line", "? columns\n: {}\nchain:\n  - \"x\"\n", "begin a line");
    text("a chain within a line", "? chain\n:\n  - \"x\"\n", "begin a line");
    text("what follows facts within a line", "columns: {}\n? a\n: b\nchain:\n  - \"x\"\n",
         "begin a line");
    text("facts behind which there is no chain", "columns: {dist: {a: 1}}\n",
         "must be the last key");
}

static void limits(void)
{
    static char wide[(1 << 20) + 64];
    size_t n;

    n = (size_t)snprintf(wide, sizeof(wide), "columns:\n");
    for (int i = 0; i <= CF_MAX_FACTS; i++)
        n += (size_t)snprintf(wide + n, sizeof(wide) - n, "  c%d: {a: 1}\n", i);
    snprintf(wide + n, sizeof(wide) - n, "chain:\n  - \"x\"\n");
    text("facts over their limit", wide, "more than 1024 facts");
    n = (size_t)snprintf(wide, sizeof(wide), "a:\n");
    for (int i = 0; i < 65536 - 6; i++) /* the document, a, its list, chain, its list, "x" */
        n += (size_t)snprintf(wide + n, sizeof(wide) - n, "- 1\n");
    snprintf(wide + n, sizeof(wide) - n, "chain:\n  - \"x\"\n");
    passed("as many values as may be", wide);
    snprintf(wide + n, sizeof(wide) - n, "- 1\nchain:\n  - \"x\"\n");
    text("values over their limit", wide, "header line 65534: more than 65536 values");
    /* libyaml compares each directive with all others */
    n = (size_t)snprintf(wide, sizeof(wide), "# what follows is slow\n");
    for (int i = 0; n < (1 << 20) - 64; i++)
        n += (size_t)snprintf(wide + n, sizeof(wide) - n, "%%TAG !%x! b\n", i);
    snprintf(wide + n, sizeof(wide) - n, "---\nchain:\n  - \"x\"\n");
    text("directives", wide, "header line 2: directives (%) are not allowed");
    text("a directive", "%YAML 1.1\n---\nchain:\n  - \"x\"\n", "directives (%) are not allowed");
    memset(wide, 'a', sizeof(wide));
    refused("a header over its limit", wide, sizeof(wide), 1, "claims");
}

int main(void)
{
    const struct rlimit memory = {1u << 30, 1u << 30};

    /* the sanitizers reserve more than any limit that would mean something */
#ifndef CF_SANITIZED
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    if (!mkdtemp(folder))
        abort();
    snprintf(good, sizeof(good), "%s/good.cf", folder);
    snprintf(bad, sizeof(bad), "%s/bad.cf", folder);
    make_good();

    documents();
    facts();
    limits();

    unlink(good);
    unlink(bad);
    rmdir(folder);
    return done();
}
