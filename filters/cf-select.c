/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-select - keeps the accesses (and cache lines) that fulfil all of the given conditions.
 *
 * In: any stream. Out: the same with fewer rows of the tables access and line; all columns, also
 * those that we do not know; every other table untouched, so that what is left still resolves.
 *
 * Per frame a mask of one byte a row is made without branches, then the row numbers, then each
 * column is gathered. Frames that are kept whole go on as they came, and rows of the others are
 * collected until they fill a frame. Memory: one frame, its shorter copy, the frame that is being
 * filled, and 256 KiB for verdicts on strings.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "formats/program/cf_options.h"
#include "filters/engine/rows/gather.h"

static const char usage[] =
    "Usage: cf-select [OPTION]... [FILE]...\n"
    "Keep only the accesses that meet all conditions. An option that is given again adds an\n"
    "alternative. With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --op LIST         load, store, ifetch, prefetch, flush; several with commas\n"
    "      --pid LIST        processes\n"
    "      --tid LIST        threads\n"
    "      --cpu LIST        processors\n"
    "      --addr A-B        virtual address (of the first byte) from A to B, both included;\n"
    "                        also A+LENGTH, A-, -B, A\n"
    "      --pc A-B          address of the instruction\n"
    "      --time A-B        time, in units of the stream's clock\n"
    "      --size A-B        bytes accessed\n"
    "      --region GLOB     mapping, such as '*libc*'  (after cf-resolve)\n"
    "      --function GLOB   function of the instruction  (after cf-resolve)\n"
    "      --invert          keep only the accesses that do not meet the conditions\n"
    "  -o, --output FILE     write a packed file instead of standard output\n"
    "  -q, --quiet           no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-select --op store --region '*heap*' resolved.cf | cf-rank --by source\n"
    "  cf-select --addr 0x1000-0x1fff --addr 0x8000+4096 trace.cf -o two-pages.cf\n";

enum { MAX_TESTS = 256, MEMO = 1 << 14 };

/* One alternative of a condition: a range of a number, or a pattern of a string. */
struct test {
    unsigned column;
    uint64_t from, to;
    const char *glob;
};

struct memo {
    uint32_t id;
    uint8_t known, verdict;
};

struct select {
    struct cf_tool tool;
    const char *output;
    int invert;
    struct test test[MAX_TESTS]; /* those of one column stand together */
    unsigned tests;
    struct cf_reader *reader;
    struct cf_writer *writer;
    struct cf_gather *access, *line; /* rows that are being collected */
    uint8_t *any;                    /* rows for which one of the alternatives holds */
    struct memo memo[2][MEMO];       /* of region and of function */
    uint64_t rows, kept;             /* of table access and line */
    int blob_warned;
};

static void add_test(struct select *s, struct test new)
{
    unsigned at = s->tests;

    if (s->tests == MAX_TESTS)
        cf_die(&s->tool, CF_EXIT_USAGE, "more than %d conditions", MAX_TESTS);
    for (unsigned i = 0; i < s->tests; i++)
        if (s->test[i].column == new.column)
            at = i;
    memmove(&s->test[at + 1], &s->test[at], (s->tests - at) * sizeof(new));
    s->test[at] = new;
    s->tests++;
}

/* The option is called as the column. */
static void add_condition(const struct cf_tool *t, void *select, const char *option, char *text)
{
    struct select *s = select;
    struct test new = {.column = cf_column_find(option + strlen("--"))};
    char *part;

    if (new.column == CF_REGION || new.column == CF_FUNCTION) {
        new.glob = text;
        add_test(s, new);
        return;
    }
    while ((part = strsep(&text, ","))) {
        if (new.column == CF_OP)
            new.from = new.to = cf_parse_op(t, option, part);
        else
            cf_parse_range(t, option, part, &new.from, &new.to);
        add_test(s, new);
    }
}

static void parse(struct select *s, int argc, char **argv)
{
    const struct cf_option table[] = {
        {"op", 0, CF_CALL(add_condition, s)},
        {"pid", 0, CF_CALL(add_condition, s)},
        {"tid", 0, CF_CALL(add_condition, s)},
        {"cpu", 0, CF_CALL(add_condition, s)},
        {"addr", 0, CF_CALL(add_condition, s)},
        {"pc", 0, CF_CALL(add_condition, s)},
        {"time", 0, CF_CALL(add_condition, s)},
        {"size", 0, CF_CALL(add_condition, s)},
        {"region", 0, CF_CALL(add_condition, s)},
        {"function", 0, CF_CALL(add_condition, s)},
        {"invert", 0, CF_FLAG(&s->invert)},
        {"output", 'o', CF_TEXT(&s->output)},
        CF_END_INPUT_OPTIONS,
    };

    cf_options_read(&s->tool, argc, argv, table);
    if (s->tests == 0)
        cf_die(&s->tool, CF_EXIT_USAGE, "no condition: give one, such as --op load");
}

/* any[i] |= from <= value[i] <= to, as one unsigned comparison. */
#define OR_RANGE(type)                                                                             \
    do {                                                                                           \
        const type *v = values;                                                                    \
        type low = (type)from, span = (type)(to - from);                                           \
        for (uint32_t i = 0; i < rows; i++)                                                        \
            any[i] |= (type)(v[i] - low) <= span;                                                  \
    } while (0)

static void or_range(uint8_t *any, const void *values, size_t width, uint32_t rows, uint64_t from,
                     uint64_t to)
{
    uint64_t most = width == 1 ? UINT8_MAX : width == 4 ? UINT32_MAX : UINT64_MAX;

    if (from > most)
        return;
    to = to > most ? most : to;
    if (width == 1)
        OR_RANGE(uint8_t);
    else if (width == 4)
        OR_RANGE(uint32_t);
    else
        OR_RANGE(uint64_t);
}

/* Patterns are tried once a string, as long as it stays in a direct-mapped memory of verdicts. */
static void or_globs(struct select *s, const struct test *test, unsigned tests, const uint32_t *id,
                     uint32_t rows)
{
    struct memo *memo = s->memo[test->column == CF_FUNCTION];

    for (uint32_t i = 0; i < rows; i++) {
        struct memo *m = &memo[(id[i] ^ id[i] >> 24) & (MEMO - 1)];

        if (m->id != id[i] || !m->known) {
            const char *text = cf_reader_text(s->reader, id[i]);

            *m = (struct memo){.id = id[i], .known = 1};
            for (unsigned k = 0; k < tests; k++)
                m->verdict |= fnmatch(test[k].glob, text, 0) == 0;
        }
        s->any[i] |= m->verdict;
    }
}

/* The mask of the frame's rows; NULL when no condition concerns the frame. */
static uint8_t *make_mask(struct select *s, struct cf_gather *g, const struct cf_frame *f)
{
    uint8_t *mask = cf_need(&s->tool, cf_gather_mask(g, f->rows));
    unsigned applied = 0, tests;

    memset(mask, 1, f->rows);
    for (unsigned at = 0; at < s->tests; at += tests) {
        const struct test *test = &s->test[at];
        const void *values = cf_values(f, test->column);

        for (tests = 1; at + tests < s->tests && test[tests].column == test->column;)
            tests++;
        if (!values)
            continue;
        applied++;
        memset(s->any, 0, f->rows);
        if (test->glob)
            or_globs(s, test, tests, values, f->rows);
        else
            for (unsigned k = 0; k < tests; k++)
                or_range(s->any, values, cf_type_width(cf_column_type(test->column)), f->rows,
                         test[k].from, test[k].to);
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] &= s->any[i];
    }
    if (s->invert)
        for (uint32_t i = 0; i < f->rows; i++)
            mask[i] ^= 1;
    return applied ? mask : NULL;
}

static int select_rows(struct select *s, struct cf_frame *f)
{
    struct cf_gather *g = f->table == CF_ACCESS ? s->access : s->line;
    uint8_t *mask = make_mask(s, g, f);
    uint32_t kept = mask ? cf_gather_count(mask, f->rows) : f->rows;

    s->rows += f->rows;
    s->kept += kept;
    if (kept == f->rows)
        return cf_gather_flush(g) != 0 ? -1 : cf_writer_frame(s->writer, f);
    for (unsigned i = 0; i < f->columns && kept && !s->blob_warned; i++) {
        if (f->column[i].type == CF_BLOB && f->column[i].id != CF_CODE) {
            cf_warn(&s->tool, "column %u is no value a row: left out where rows are dropped",
                    f->column[i].id);
            s->blob_warned = 1;
        }
    }
    return cf_gather_rows(g, f, mask);
}

static int send(void *writer, struct cf_frame *f)
{
    return cf_writer_frame(writer, f);
}

static int flush(struct select *s)
{
    return cf_gather_flush(s->access) != 0 || cf_gather_flush(s->line) != 0 ? -1 : 0;
}

/* Nothing comes at the moment. A failure shows again when the writer is closed. */
static void idle(void *arg)
{
    struct select *s = arg;

    if (flush(s) == 0)
        (void)cf_writer_flush(s->writer);
}

static void run(struct select *s)
{
    struct cf_frame *f;
    int bad = 0;

    errno = 0;
    while (!bad && cf_reader_next(s->reader, &f) > 0) {
        cf_tool_progress(&s->tool, s->reader);
        if (f->table == CF_HEADER) {
            bad = flush(s);
            memset(s->memo, 0, sizeof(s->memo)); /* ids mean other strings now */
        }
        if (f->table == CF_ACCESS || f->table == CF_LINE)
            bad = select_rows(s, f);
        else if (!bad)
            bad = cf_writer_frame(s->writer, f);
    }
    if (!bad)
        bad = flush(s);
    if (bad && errno == ENOMEM)
        cf_out_of_memory(&s->tool);
    if (!bad && s->rows && !s->kept && !s->tool.quiet)
        cf_warn(&s->tool, "nothing was selected out of %llu rows", (unsigned long long)s->rows);
}

int main(int argc, char **argv)
{
    static struct select s;
    int status;

    cf_tool_init(&s.tool, argc, argv, "cf-select", usage);
    parse(&s, argc, argv);
    s.any = cf_column_room(&s.tool, sizeof *s.any);
    s.reader = cf_tool_reader(&s.tool, argv + optind, argc - optind);
    s.writer = cf_tool_writer(&s.tool, s.output);
    s.access = cf_need(&s.tool, cf_gather_new(send, s.writer));
    s.line = cf_need(&s.tool, cf_gather_new(send, s.writer));
    /* a row that is kept takes all of its columns along */
    cf_reader_want_all(s.reader);
    for (unsigned i = 0; i < s.tests; i++)
        cf_reader_want(s.reader, CF_ACCESS, s.test[i].column, CF_REQUIRED);
    cf_reader_want(s.reader, CF_LINE, 0, CF_REQUIRED); /* is chosen from, too */
    cf_reader_idle(s.reader, idle, &s);
    run(&s);
    status = cf_tool_finish(&s.tool, s.reader, s.writer);
    cf_gather_free(s.access);
    cf_gather_free(s.line);
    return status;
}
