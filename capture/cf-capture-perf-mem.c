/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-perf-mem - imports the text that `perf mem report -D` prints.
 *
 * In: a line "# PID, TID, IP, ADDR, [PHYS ADDR,] [DATA PAGE SIZE,] LOCAL WEIGHT, DSRC, SYMBOL" and
 * a line a sample with these values, separated by commas (-x ,) or blanks. Out: the table access,
 * a row for each sample that has an address and an operation. The text has neither times nor
 * periods: time is the number of the sample.
 * Memory: one batch of rows.
 */
#include <string.h>
#include <strings.h>

#include "capture/base/cf_lines.h"
#include "capture/base/cf_samples.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture perf-mem [options] [FILE...]\n"
    "Import the text that 'perf mem report -D -x ,' prints.\n"
    "\n"
    "      --period N       events a sample stands for, which the text does not state [1]\n"
    "      --op OP          operation of samples that state none: load, store, ... [left out]\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help           show this text\n"
    "      --version        show the version\n"
    "\n"
    "Example: perf mem report -D -x , | cf-capture perf-mem -o ls.cf\n";

enum column { PID, TID, IP, ADDR, PHYS, PAGE_SIZE, WEIGHT, DSRC, SYMBOL, COLUMNS_MOST = 16 };

static const char *const names[] = {
    "PID", "TID", "IP", "ADDR", "PHYS ADDR", "DATA PAGE SIZE", "LOCAL WEIGHT", "DSRC", "SYMBOL"};

struct mem {
    struct cf_samples rows;
    uint64_t period, records;
    unsigned columns;
    uint8_t column[COLUMNS_MOST]; /* what stands in each */
};

static int blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* "# PID, TID, ...": 1 where it names the columns; -1, and none, where one is not known or a second
   one. */
static int take_header(struct mem *m, const char *line, size_t length)
{
    const char *p = line, *end = line + length;
    unsigned seen = 0;

    while (p < end && (*p == '#' || blank(*p)))
        p++;
    if (end - p < 4 || strncasecmp(p, "PID,", 4) != 0)
        return 0;
    for (m->columns = 0; p < end && m->columns < COLUMNS_MOST; m->columns++) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *to = comma ? comma : end;
        unsigned c = 0;

        while (to > p && blank(to[-1]))
            to--;
        while (c <= SYMBOL && (strlen(names[c]) != (size_t)(to - p) ||
                               strncasecmp(names[c], p, (size_t)(to - p)) != 0))
            c++;
        if (c > SYMBOL || seen >> c & 1) {
            m->columns = 0;
            return -1;
        }
        seen |= 1u << c;
        m->column[m->columns] = (uint8_t)c;
        m->rows.has |= c == PHYS ? CF_SAMPLES_PHYS : 0;
        for (p = comma ? comma + 1 : end; p < end && blank(*p);)
            p++;
    }
    return 1;
}

static int decimal(const char *p, const char *end, uint64_t *value)
{
    uint64_t v = 0;

    if (p == end || end - p > 19)
        return 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return 0;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *value = v;
    return 1;
}

static int hex(const char *p, const char *end, uint64_t *value)
{
    if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    return p < end && cf_lines_hex(p, value) == end;
}

/* A process: -1 is one that is not known. */
static int process(const char *p, const char *end, uint32_t *value)
{
    uint64_t v = UINT32_MAX;

    if (!(end - p == 2 && p[0] == '-' && p[1] == '1') && (!decimal(p, end, &v) || v > UINT32_MAX))
        return 0;
    *value = (uint32_t)v;
    return 1;
}

static int take_value(struct cf_sample *s, unsigned column, const char *p, const char *end,
                      int spaced)
{
    switch (column) {
    case PID:
        return process(p, end, &s->pid);
    case TID:
        return process(p, end, &s->tid);
    case IP:
        return hex(p, end, &s->pc);
    case ADDR:
        /* perf 6.1 prints so before the first address, without -x; no other has a zero there */
        if (spaced && end - p > 5 && memcmp(p, "0x016", 5) == 0)
            p += 5;
        return hex(p, end, &s->addr);
    case PHYS:
        return hex(p, end, &s->phys);
    case WEIGHT:
        return decimal(p, end, &s->latency);
    case DSRC:
        return hex(p, end, &s->data_src);
    default:
        return 1;
    }
}

static int take_row(const struct mem *m, const char *line, size_t length, struct cf_sample *s)
{
    const char *p = line, *end = line + length;
    const int spaced = !memchr(line, ',', length < 24 ? length : 24);

    for (unsigned i = 0; i < m->columns && m->column[i] != SYMBOL; i++) {
        const char *from, *to;

        while (p < end && blank(*p))
            p++;
        from = to = p;
        while (to < end && *to != ',' && !blank(*to))
            to++;
        if (!take_value(s, m->column[i], from, to, spaced))
            return 0;
        for (p = to; p < end && blank(*p);)
            p++;
        if (!spaced && p < end && *p == ',')
            p++;
        else if (!spaced && i + 1 < m->columns)
            return 0;
    }
    return m->columns > 0;
}

static void import(struct mem *m, struct cf_lines *l)
{
    const char *line;
    size_t length;

    while (!m->rows.failed && cf_lines_next(l, &line, &length)) {
        struct cf_sample sample = {.period = m->period};
        size_t blanks = 0;

        while (blanks < length && blank(line[blanks]))
            blanks++;
        if (blanks == length)
            continue;
        if (line[blanks] == '#') {
            if (take_header(m, line, length) < 0)
                cf_lines_bad(l, 0,
                             "a column that is not known or stands there a second time: "
                             "the lines behind it are left out");
            continue;
        }
        sample.time = ++m->records;
        if (take_row(m, line, length, &sample))
            cf_samples_add(&m->rows, &sample);
        else
            cf_lines_bad(l, 0, "'%.*s' has not the columns of perf mem report -D -x ,",
                         (int)(length < 80 ? length : 80), line);
    }
    cf_samples_send(&m->rows);
}

int main(int argc, char **argv)
{
    static struct mem m = {
        .period = 1, .columns = 7, .column = {PID, TID, IP, ADDR, WEIGHT, DSRC, SYMBOL}};
    const struct cf_header header = {.clock_unit = (char *)"records",
                                     .source = (char *)"cf-capture-perf-mem"};
    struct cf_tool t;
    struct cf_lines lines;
    const char *output = NULL;
    const struct cf_option options[] = {
        {"period", 0, CF_NUMBER(&m.period, 1, UINT64_MAX)},
        {"op", 0, CF_CALL(cf_samples_set_op, &m.rows)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads text, needs nothing of this machine")},
        CF_END_OPTIONS,
    };
    int bad;

    cf_tool_init(&t, argc, argv, "cf-capture-perf-mem", usage);
    cf_options_read(&t, argc, argv, options);
    m.rows.has = CF_SAMPLES_PC | CF_SAMPLES_TASK | CF_SAMPLES_DATA_SRC | CF_SAMPLES_COST;
    cf_lines_open(&lines, &t, argv + optind, argc - optind);
    m.rows.out = cf_tool_recording(&t, output);
    (void)cf_writer_header(m.rows.out, &header); /* a failure shows when the writer is closed */
    cf_lines_idle(&lines, cf_samples_idle, &m.rows);
    import(&m, &lines);
    bad = cf_lines_finish(&lines);
    cf_samples_report(&m.rows, &t);
    return cf_lines_close(&t, m.rows.out, bad,
                          m.rows.taken ? NULL
                                       : "the input holds no sample with an address and an "
                                         "operation, as perf mem report -D -x , prints them");
}
