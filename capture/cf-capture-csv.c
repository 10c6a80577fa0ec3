/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-csv - imports CSV whose header row names our columns; every table can be written so.
 *
 * In: one CSV for the main table (access unless --table says otherwise) and one for each --with
 * TABLE=FILE, each in time order. Out: a stream with their rows, merged by time; of rows with the
 * same time, tasks, mappings, objects and the like come before lines, and these before accesses.
 * Lines follow the row of their snapshot, and the next snapshot follows them.
 * A bad cell drops its row, is told with file, line and cell, and the rest is still imported.
 * Memory: for each input a batch of rows and one row that waits for its turn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <csv.h>

#include "capture/cf_lines.h"
#include "formats/stream/cf.h"
#include "formats/base/cf_number.h"
#include "formats/program/cf_tool.h"

enum { BATCH = 4096, MAX_INPUTS = 16, TOLD = 10, LAST_COLUMN = CF_ID - 1 };

static const char usage[] =
    "Usage: cf-capture csv [options] [FILE]\n"
    "Import CSV as a stream. The header row names columns of the stream: time,pid,tid,op,\n"
    "size,addr,pc,... ; operations by name, hex numbers with 0x. FILE (or standard input)\n"
    "holds accesses and must have column addr; without column time, the time of an access\n"
    "is the number of its row.\n"
    "\n"
    "  -w, --with TABLE=FILE  add the rows of another table, merged by time; repeatable\n"
    "  -t, --table TABLE      FILE holds rows of this table [access]\n"
    "  -c, --clock UNIT       unit of time: instructions, cycles, nanoseconds [records]\n"
    "      --hz N             ticks of that clock per second\n"
    "  -o, --output FILE      write a packed file instead of standard output\n"
    "      --probe            report whether this source can be used here, and exit\n"
    "  -q, --quiet            no progress\n"
    "  -h, --help             show this text\n"
    "      --version          show the version\n"
    "\n"
    "Example: printf 'op,addr,size\\nload,0x1000,8\\n' | cf-capture csv | cf-cat --csv\n";

struct input {
    struct importer *m;
    unsigned table;
    struct cf_lines lines;
    struct csv_parser csv;
    int open;     /* the parser exists */
    int ended;    /* no row comes any more */
    int headed;   /* the header row was read and is good */
    int useless;  /* the header row is bad */
    int row_bad;  /* a cell of the row that is read was bad */
    unsigned at;  /* cell of that row, from 0 */
    int have_row; /* `cell` holds the next row */
    uint64_t row; /* number of that row in its file, from 1 */
    uint64_t last_time;
    unsigned columns;
    uint16_t id[CF_MAX_COLUMNS];
    uint64_t cell[CF_MAX_COLUMNS];
    int time_at, snap_at; /* columns of time and snapshot, or -1 */
    void *batch[CF_MAX_COLUMNS];
    uint64_t *times; /* of the batch, where the file has no time */
    uint32_t rows;
};

struct importer {
    struct cf_tool tool;
    struct cf_writer *out;
    struct input *input[MAX_INPUTS];
    unsigned inputs;
    int failed; /* the output does not take more */
    uint64_t snapshot_time;
};

/* ---- cells ---- */

static int op_fits(unsigned table, unsigned op)
{
    switch (table) {
    case CF_ACCESS:
        return op >= CF_LOAD && op <= CF_FLUSH;
    case CF_MAP:
        return op == CF_MAPPED || op == CF_UNMAPPED;
    case CF_OBJECT:
        return op == CF_ALLOC || op == CF_FREE;
    case CF_TASK:
        return op == CF_BEGIN || op == CF_EXIT || op == CF_NAMED;
    default:
        return 1;
    }
}

/* "r-xp" as in /proc/PID/maps, in any order and with any left out. */
static int scan_perms(const char *s, uint64_t *value)
{
    *value = 0;
    for (; *s; s++)
        *value |= *s == 'r'   ? CF_PERM_R
                  : *s == 'w' ? CF_PERM_W
                  : *s == 'x' ? CF_PERM_X
                  : *s == 's' ? CF_PERM_SHARED
                              : 0;
    return 0;
}

/* Names that stand for a number in some columns. */
static int scan_name(const struct input *in, unsigned column, const char *s, uint64_t *value)
{
    static const char states[] = "MOES";

    switch (column) {
    case CF_OP:
        *value = cf_op_find(s);
        return *value && op_fits(in->table, (unsigned)*value) ? 0 : -1;
    case CF_PERMS:
        return s[strspn(s, "rwxps-")] ? -1 : scan_perms(s, value);
    case CF_STATE:
        if (!strchr(states, *s) || s[1])
            return -1;
        *value = (uint64_t)(strchr(states, *s) - states) + 1;
        return 0;
    case CF_LEVEL:
    case CF_HIT:
        *value = CF_FROM_MEMORY;
        return strcmp(s, "memory");
    case CF_DIST:
        *value = CF_DIST_COLD;
        return strcmp(s, "inf");
    default:
        return -1;
    }
}

static uint64_t largest(enum cf_type type)
{
    return type == CF_U8    ? UINT8_MAX
           : type == CF_U16 ? UINT16_MAX
           : type == CF_U32 ? UINT32_MAX
                            : UINT64_MAX;
}

/* What the columns of a kind want, for a message. */
static const char *wanted(unsigned column)
{
    switch (column) {
    case CF_OP:
        return "the name of an operation of this table";
    case CF_PERMS:
        return "letters of rwxps, or a number";
    case CF_STATE:
        return "M, O, E or S, or a number";
    case CF_LEVEL:
    case CF_HIT:
        return "a level from 0 to 255, or memory";
    default:
        return "a number, hex with 0x";
    }
}

static void read_cell(struct input *in, const char *text, size_t length)
{
    unsigned column = in->id[in->at];
    enum cf_type type = cf_column_type(column);
    uint64_t v = 0;

    if (memchr(text, '\0', length) || length > CF_MAX_TEXT) {
        cf_lines_bad(&in->lines, in->at + 1, "%s: a text with a zero byte, or over %d bytes long",
                     cf_column_name(column), CF_MAX_TEXT);
        in->row_bad = 1;
        return;
    }
    if (type == CF_STR) {
        v = cf_writer_string(in->m->out, text);
    } else if (length == 0) {
        if (column == CF_ADDR && in->table == CF_ACCESS) {
            cf_lines_bad(&in->lines, in->at + 1, "addr is empty: give an address with 0x");
            in->row_bad = 1;
        }
    } else if (cf_read_number(text, CF_READ_NUMBER, UINT64_MAX, &v) < 0
                   ? scan_name(in, column, text, &v) != 0
                   : v > largest(type)) {
        cf_lines_bad(&in->lines, in->at + 1, "%s '%.60s': give %s", cf_column_name(column), text,
                     v > largest(type) ? "a smaller number" : wanted(column));
        in->row_bad = 1;
    }
    in->cell[in->at] = v;
}

/* ---- the header row ---- */

static unsigned find_column(const char *name)
{
    unsigned column = cf_column_find(name);

    /* What a mapping or task is called; the stream's own name for the column is longer known. */
    if (!column && strcmp(name, "name") == 0)
        column = CF_LABEL;
    return column <= LAST_COLUMN ? column : 0;
}

static void bad_header(struct input *in, const char *name)
{
    char known[1024] = "";
    size_t at = 0;

    for (unsigned i = 1; i <= LAST_COLUMN && at < sizeof known; i++)
        if (cf_column_name(i))
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "",
                                   cf_column_name(i));
    cf_lines_bad(&in->lines, in->at + 1, "unknown column '%.60s': known are %s", name, known);
    in->useless = 1;
}

static void read_name(struct input *in, const char *name)
{
    unsigned column = find_column(name);

    if (in->useless)
        return;
    if (!column) {
        bad_header(in, name);
        return;
    }
    for (unsigned i = 0; i < in->columns; i++) {
        if (in->id[i] == column) {
            cf_lines_bad(&in->lines, in->at + 1, "column '%s' stands here a second time", name);
            in->useless = 1;
            return;
        }
    }
    /* One is kept for a time of our own. */
    if (in->columns == CF_MAX_COLUMNS - 1) {
        cf_lines_bad(&in->lines, in->at + 1, "more than %d columns", CF_MAX_COLUMNS - 1);
        in->useless = 1;
        return;
    }
    if (column == CF_TIME)
        in->time_at = (int)in->columns;
    if (column == CF_SNAP)
        in->snap_at = (int)in->columns;
    in->id[in->columns++] = (uint16_t)column;
}

static void end_header(struct input *in)
{
    if (in->useless)
        return;
    if (in->table == CF_ACCESS) {
        int found = 0;

        for (unsigned i = 0; i < in->columns; i++)
            found |= in->id[i] == CF_ADDR;
        if (!found) {
            cf_lines_bad(&in->lines, 0, "no column 'addr', which accesses need");
            in->useless = 1;
            return;
        }
    }
    in->headed = 1;
    for (unsigned i = 0; i < in->columns; i++) {
        in->batch[i] =
            cf_need(&in->m->tool, calloc(BATCH, cf_type_width(cf_column_type(in->id[i]))));
    }
    in->times = cf_need(&in->m->tool, calloc(BATCH, sizeof *in->times));
}

/* ---- rows ---- */

static void on_cell(void *text, size_t length, void *arg)
{
    struct input *in = arg;

    /* With CSV_APPEND_NULL the text ends with a zero byte. A second row in the same line, after a
       lone CR, must not touch the one that waits. */
    if (!in->headed && !in->useless)
        read_name(in, text);
    else if (in->headed && !in->have_row && in->at < in->columns)
        read_cell(in, text, length);
    in->at++;
}

static uint64_t own_time(const struct input *in)
{
    if (!(cf_table_traits(in->table) & CF_TABLE_TIMED))
        return 0;
    if (in->time_at >= 0)
        return in->cell[in->time_at];
    return in->table == CF_ACCESS ? in->row : 0;
}

static void on_row(int end, void *arg)
{
    struct input *in = arg;
    unsigned cells = in->at;

    (void)end;
    in->at = 0;
    if (in->useless)
        return;
    if (!in->headed) {
        end_header(in);
        return;
    }
    in->row++;
    if (in->have_row) {
        cf_lines_bad(&in->lines, 0, "a CR inside a line: end lines with LF or CR LF");
        return;
    }
    if (!in->row_bad && cells != in->columns) {
        cf_lines_bad(&in->lines, 0, "%u cells where the header names %u", cells, in->columns);
        in->row_bad = 1;
    }
    if (!in->row_bad) {
        uint64_t time = own_time(in);

        in->have_row = 1;
        if (time < in->last_time)
            cf_lines_bad(&in->lines, (unsigned)in->time_at + 1,
                         "time %" PRIu64 " comes after %" PRIu64
                         ": sort the file by time; the row is kept",
                         time, in->last_time);
        in->last_time = time;
    }
    in->row_bad = 0;
}

static void feed(struct input *in, const char *text, size_t length)
{
    if (csv_parse(&in->csv, text, length, on_cell, on_row, in) != length)
        cf_die(&in->m->tool, CF_EXIT_ENVIRONMENT, "%s:%" PRIu64 ": %s", in->lines.name,
               in->lines.number, csv_strerror(csv_error(&in->csv)));
    /* Within quotes a cell may go on over many lines, but not for ever. */
    if (in->csv.entry_pos > CF_MAX_TEXT) {
        cf_lines_bad(&in->lines, in->at + 1,
                     "a cell of more than %d bytes: is a quote not closed? The rest of the file is "
                     "left out",
                     CF_MAX_TEXT);
        in->ended = 1;
    }
}

/* Reads until the next good row is in `cell`, or the file has ended. */
static void next_row(struct input *in)
{
    const char *line;
    size_t length;

    in->have_row = 0;
    while (!in->have_row && !in->ended && !in->useless) {
        if (!cf_lines_next(&in->lines, &line, &length)) {
            in->ended = 1;
            if (in->csv.quoted && !in->lines.failed)
                cf_lines_bad(&in->lines, in->at + 1, "a quote is not closed before the end");
            break;
        }
        length++; /* with the newline */
        if (in->lines.number == 1 && length > 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
            line += 3;
            length -= 3;
        }
        feed(in, line, length);
    }
}

/* ---- merging ---- */

static unsigned rank(unsigned table)
{
    return table == CF_ACCESS ? 1000 : table == CF_LINE ? 999 : table;
}

static const struct input *waiting(const struct importer *m, unsigned table)
{
    for (unsigned i = 0; i < m->inputs; i++)
        if (m->input[i]->table == table && m->input[i]->have_row)
            return m->input[i];
    return NULL;
}

static uint64_t snapshot_of(const struct input *in)
{
    return in->snap_at >= 0 ? in->cell[in->snap_at] : 0;
}

/* When the row that waits in `in` may go; 0 if a snapshot's lines or row must go before it. */
static int may_go(const struct importer *m, const struct input *in, uint64_t *time)
{
    const struct input *other;

    *time = own_time(in);
    if (in->table == CF_SNAPSHOT) {
        other = waiting(m, CF_LINE);
        return !other || snapshot_of(other) >= snapshot_of(in);
    }
    if (in->table == CF_LINE) {
        other = waiting(m, CF_SNAPSHOT);
        *time = m->snapshot_time;
        return !other || snapshot_of(other) > snapshot_of(in);
    }
    return 1;
}

static struct input *choose(struct importer *m)
{
    struct input *best = NULL;
    uint64_t best_time = 0, time;

    for (unsigned i = 0; i < m->inputs; i++) {
        struct input *in = m->input[i];

        if (!in->have_row || !may_go(m, in, &time))
            continue;
        if (!best || time < best_time ||
            (time == best_time && rank(in->table) < rank(best->table))) {
            best = in;
            best_time = time;
        }
    }
    return best;
}

static void send_batch(struct importer *m, struct input *in)
{
    struct cf_values columns[CF_MAX_COLUMNS];
    unsigned count = 0;

    if (in->rows == 0)
        return;
    if (cf_table_traits(in->table) & CF_TABLE_TIMED && in->time_at < 0)
        columns[count++] =
            (struct cf_values){CF_TIME, in->table == CF_ACCESS ? in->times : NULL, 0};
    for (unsigned i = 0; i < in->columns; i++)
        columns[count++] = (struct cf_values){in->id[i], in->batch[i], 0};
    if (cf_writer_rows(m->out, in->table, in->rows, columns, count, NULL) < 0)
        m->failed = 1; /* told when the writer is closed */
    in->rows = 0;
}

static void take_row(struct importer *m, struct input *in)
{
    uint32_t row = in->rows++;

    for (unsigned i = 0; i < in->columns; i++) {
        switch (cf_type_width(cf_column_type(in->id[i]))) {
        case 1:
            ((uint8_t *)in->batch[i])[row] = (uint8_t)in->cell[i];
            break;
        case 2:
            ((uint16_t *)in->batch[i])[row] = (uint16_t)in->cell[i];
            break;
        case 4:
            ((uint32_t *)in->batch[i])[row] = (uint32_t)in->cell[i];
            break;
        default:
            ((uint64_t *)in->batch[i])[row] = in->cell[i];
        }
    }
    in->times[row] = in->row;
    if (in->table == CF_SNAPSHOT)
        m->snapshot_time = own_time(in);
    if (in->rows == BATCH)
        send_batch(m, in);
}

static void idle(void *arg)
{
    struct importer *m = arg;

    for (unsigned i = 0; i < m->inputs; i++)
        send_batch(m, m->input[i]);
    (void)cf_writer_flush(m->out);
}

static void merge(struct importer *m)
{
    struct input *in, *before = NULL;

    for (unsigned i = 0; i < m->inputs; i++)
        next_row(m->input[i]);
    while (!m->failed && (in = choose(m))) {
        /* Only the table that is being read has rows in its batch, so that the order is kept. */
        if (before && before != in)
            send_batch(m, before);
        take_row(m, in);
        before = in;
        next_row(in);
    }
    if (before)
        send_batch(m, before);
}

/* ---- start and end ---- */

static unsigned find_table(struct importer *m, const char *option, const char *name)
{
    unsigned table = cf_table_find(name);

    if (table < CF_TASK || table == CF_END)
        cf_die(&m->tool, CF_EXIT_USAGE,
               "%s: no table '%s': give access, line, snapshot, map, object, task, stack, switch, "
               "page or probe",
               option, name);
    return table;
}

static void add_input(struct importer *m, unsigned table, const char *file)
{
    struct input *in = calloc(1, sizeof *in);

    for (unsigned i = 0; i < m->inputs; i++)
        if (m->input[i]->table == table)
            cf_die(&m->tool, CF_EXIT_USAGE, "two files for the table %s: join them first",
                   cf_table_name(table));
    if (!in || csv_init(&in->csv, CSV_APPEND_NULL) != 0)
        cf_out_of_memory(&m->tool);
    in->m = m;
    in->table = table;
    in->time_at = in->snap_at = -1;
    /* The list of names must live as long as the lines. */
    in->lines.name = file;
    m->input[m->inputs++] = in;
}

/* TABLE=FILE */
static void add_with(struct importer *m, char *text)
{
    char *equals = strchr(text, '=');
    char name[32];

    if (!equals || equals == text || !equals[1] || (size_t)(equals - text) >= sizeof name)
        cf_die(&m->tool, CF_EXIT_USAGE, "--with '%s': give TABLE=FILE, such as map=maps.csv", text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    if (m->inputs == MAX_INPUTS)
        cf_die(&m->tool, CF_EXIT_USAGE, "more than %d files", MAX_INPUTS);
    add_input(m, find_table(m, "--with", name), equals + 1);
}

static int finish_inputs(struct importer *m)
{
    int status = CF_EXIT_OK, headed = 0;

    for (unsigned i = 0; i < m->inputs; i++) {
        struct input *in = m->input[i];
        int bad = cf_lines_finish(&in->lines);

        status |= bad; /* 0, 1 or 3 */
        headed |= in->headed | in->useless;
        for (unsigned k = 0; k < in->columns; k++)
            free(in->batch[k]);
        free(in->times);
        csv_free(&in->csv);
        free(in);
    }
    if (!headed) {
        cf_warn(&m->tool, "no records: the input is empty; it begins with a row of column names");
        cf_writer_cut(m->out);
        status |= CF_EXIT_INPUT;
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"with", required_argument, NULL, 'w'},
                                            {"table", required_argument, NULL, 't'},
                                            {"clock", required_argument, NULL, 'c'},
                                            {"hz", required_argument, NULL, 257},
                                            {"output", required_argument, NULL, 'o'},
                                            {"probe", no_argument, NULL, 256},
                                            CF_COMMON_OPTIONS};
    static struct importer m;
    static char *files[MAX_INPUTS];
    struct cf_header header = {.clock_unit = (char *)"records", .source = (char *)"cf-capture-csv"};
    unsigned table = CF_ACCESS;
    const char *output = NULL;
    int c, status, bad, covered = 0, readers = 0;

    cf_tool_init(&m.tool, argc, argv, "cf-capture-csv", usage);
    while ((c = getopt_long(argc, argv, "w:t:c:o:" CF_COMMON_LETTERS, options, NULL)) != -1) {
        switch (c) {
        case 'w':
            add_with(&m, optarg);
            break;
        case 't':
            table = find_table(&m, "--table", optarg);
            break;
        case 'c':
            header.clock_unit = optarg;
            break;
        case 257:
            header.clock_hz = cf_parse_u64(&m.tool, "--hz", optarg, 1, UINT64_MAX);
            break;
        case 'o':
            output = optarg;
            break;
        case 256:
            puts("ready: reads text, needs nothing of this machine");
            return cf_tool_finish(&m.tool, NULL, NULL);
        default:
            cf_common_option(&m.tool, c);
        }
    }
    if (argc - optind > 1)
        cf_die(&m.tool, CF_EXIT_USAGE, "more than one FILE: use --with for other tables");
    for (unsigned i = 0; i < m.inputs; i++)
        covered |= m.input[i]->table == table;
    /* Standard input is not asked for where --with has given all that there is. */
    if (optind < argc)
        add_input(&m, table, argv[optind]);
    else if (!covered && !(m.inputs && isatty(STDIN_FILENO)))
        add_input(&m, table, "-");
    for (unsigned i = 0; i < m.inputs; i++)
        readers += strcmp(m.input[i]->lines.name, "-") == 0;
    if (readers > 1)
        cf_die(&m.tool, CF_EXIT_USAGE, "standard input can be read for one table only");
    m.out = cf_tool_recording(&m.tool, output);
    (void)cf_writer_header(m.out, &header); /* a failure shows when the writer is closed */
    for (unsigned i = 0; i < m.inputs; i++) {
        files[i] = (char *)m.input[i]->lines.name;
        cf_lines_open(&m.input[i]->lines, &m.tool, files + i, 1);
        m.input[i]->lines.told = TOLD;
        cf_lines_idle(&m.input[i]->lines, idle, &m);
    }
    merge(&m);
    bad = finish_inputs(&m);
    status = cf_tool_finish(&m.tool, NULL, m.out);
    cf_lines_raise();
    return status | bad; /* 0, 1 or 3 */
}
