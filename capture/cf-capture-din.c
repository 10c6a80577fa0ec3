/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-din - imports traces in the "din" format of the cache simulator Dinero III.
 *
 * In: lines "LABEL ADDRESS [SIZE]": label 0 is a read, 1 a write, 2 an instruction fetch, 3 an
 * escape (skipped), 4 a flush; the address is in hex with or without 0x; the size in bytes is
 * decimal, or hex after 0x. What stands after these in a line is a comment, as in Dinero.
 * Out: the table access. Time is the number of the record, from 1; the pc of data is the address of
 * the fetch before it.
 * Memory: one batch of rows.
 */
#include <stdlib.h>

#include "capture/base/cf_lines.h"
#include "formats/program/cf_options.h"
#include "formats/program/cf_tool.h"
#include "formats/stream/cf.h"

enum { BATCH = 4096 };

static const char usage[] =
    "Usage: cf-capture din [options] [FILE...]\n"
    "Import traces in the din format of Dinero: lines 'LABEL ADDRESS [SIZE]', where LABEL\n"
    "is 0 read, 1 write, 2 instruction fetch, 3 escape (skipped) or 4 flush.\n"
    "\n"
    "  -s, --size BYTES     size of an access whose line states none [4]\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help           show this text\n"
    "      --version        show the version\n"
    "\n"
    "Example: zcat cc1.din.gz | cf-capture din -o cc1.cf\n";

struct din {
    struct cf_tool *tool;
    struct cf_writer *out;
    uint32_t default_size;
    int failed; /* the output does not take more */
    uint64_t records, accesses;
    uint64_t pc;
    uint32_t rows;
    uint64_t time[BATCH], addr[BATCH], at[BATCH]; /* at: pc */
    uint32_t size[BATCH], insns[BATCH];
    uint8_t op[BATCH];
};

static void send_rows(struct din *m)
{
    const struct cf_values columns[] = {
        {CF_TIME, m->time, 0}, {CF_OP, m->op, 0}, {CF_SIZE, m->size, 0},
        {CF_ADDR, m->addr, 0}, {CF_PC, m->at, 0}, {CF_INSNS, m->insns, 0},
    };

    if (m->rows && cf_writer_rows(m->out, CF_ACCESS, m->rows, columns, 6, NULL) < 0)
        m->failed = 1; /* reported when the writer is closed */
    m->rows = 0;
}

static void idle(void *arg)
{
    struct din *m = arg;

    send_rows(m);
    (void)cf_writer_flush(m->out);
}

static inline const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static inline const char *scan_hex(const char *p, uint64_t *value)
{
    return cf_lines_hex(p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p, value);
}

static inline int ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline int is_number(const char *p)
{
    p += *p == '-' || *p == '+';
    return *p >= '0' && *p <= '9';
}

/* What stands where a size may: 1 and the size, or 0 when it is a comment. */
static inline int scan_size(const char *p, uint32_t *size)
{
    uint64_t v = 0;

    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        p = scan_hex(p, &v);
    } else {
        const char *start = p;

        while (*p >= '0' && *p <= '9' && p - start < 10)
            v = v * 10 + (uint64_t)(*p++ - '0');
        if (p == start)
            p = NULL;
    }
    if (!p || !ends_word(*p) || v == 0 || v > 1U << 20)
        return 0;
    *size = (uint32_t)v;
    return 1;
}

static void import(struct din *m, struct cf_lines *l)
{
    static const uint8_t ops[] = {CF_LOAD, CF_STORE, CF_IFETCH, 0, CF_FLUSH};
    const char *line;
    size_t length;

    while (!m->failed && cf_lines_next(l, &line, &length)) {
        const char *p = skip_blanks(line);
        uint32_t size = m->default_size;
        uint64_t addr;
        unsigned label = (unsigned)(*p - '0');
        uint32_t i;

        if (label > 4 || (p[1] != ' ' && p[1] != '\t')) {
            if (*p == '\n' || (*p == '\r' && p[1] == '\n'))
                continue;
            cf_lines_bad(l, 0, "'%.*s' does not begin with a label from 0 to 4",
                         (int)(length < 60 ? length : 60), line);
            continue;
        }
        p = scan_hex(skip_blanks(p + 1), &addr);
        if (!p || !ends_word(*p)) {
            cf_lines_bad(l, 0, "'%.*s' has no hex address after its label",
                         (int)(length < 60 ? length : 60), line);
            continue;
        }
        p = skip_blanks(p);
        if (is_number(p) && !scan_size(p, &size)) {
            cf_lines_bad(l, 0, "'%.*s': the size after the address must be from 1 to 1048576",
                         (int)(length < 60 ? length : 60), line);
            continue;
        }
        m->records++;
        if (label == 3)
            continue;
        if (label == 2)
            m->pc = addr;
        m->accesses++;
        i = m->rows++;
        m->time[i] = m->records;
        m->addr[i] = addr;
        m->at[i] = m->pc;
        m->size[i] = size;
        m->insns[i] = label == 2;
        m->op[i] = ops[label];
        if (m->rows == BATCH)
            send_rows(m);
    }
    send_rows(m);
}

int main(int argc, char **argv)
{
    static struct din m = {.default_size = 4};
    const struct cf_header header = {.clock_unit = (char *)"records",
                                     .source = (char *)"cf-capture-din"};
    struct cf_tool t;
    struct cf_lines lines;
    const char *output = NULL;
    const struct cf_option options[] = {
        {"size", 's', CF_NUMBER(&m.default_size, 1, 1 << 20)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads text, needs nothing of this machine")},
        CF_END_OPTIONS,
    };
    int bad;

    cf_tool_init(&t, argc, argv, "cf-capture-din", usage);
    cf_options_read(&t, argc, argv, options);
    m.tool = &t;
    cf_lines_open(&lines, &t, argv + optind, argc - optind);
    m.out = cf_tool_recording(&t, output);
    (void)cf_writer_header(m.out, &header); /* a failure shows when the writer is closed */
    cf_lines_idle(&lines, idle, &m);
    import(&m, &lines);
    bad = cf_lines_finish(&lines);
    return cf_lines_close(&t, m.out, bad,
                          m.accesses  ? NULL
                          : m.records ? "the input holds no access, but escapes alone"
                                      : "the input holds no line 'LABEL ADDRESS'");
}
