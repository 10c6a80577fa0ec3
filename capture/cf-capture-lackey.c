/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-lackey - imports the text that Valgrind's example tool writes with
 * `valgrind --tool=lackey --trace-mem=yes`.
 *
 * In: lines "I  addr,size", " L addr,size", " S addr,size" and " M addr,size" (addresses in hex,
 * sizes decimal), and Valgrind's own lines "==pid== ...", which give process and command.
 * Out: the table access. Time is the number of the instruction, from 1; a modify is a load and then
 * a store; the pc of data is the instruction's before it. With -i also runs of instructions: a run
 * is one record and stands before the data of its instructions. It ends where the next instruction
 * does not follow in memory, and where that would bring in a further 64-byte line while data was
 * recorded in between, so that the order of line accesses stays right.
 * Memory: one batch of rows. A run stays open inside it until its length is known.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/base/cf_lines.h"
#include "formats/program/cf_options.h"
#include "formats/program/cf_tool.h"
#include "formats/stream/cf.h"

enum { BATCH = 4096, RUN_LINE = 64 };

static const char usage[] =
    "Usage: cf-capture lackey [options] [FILE...]\n"
    "Import the text that 'valgrind --tool=lackey --trace-mem=yes' prints.\n"
    "\n"
    "  -i, --instructions   record instruction fetches too, as straight-line runs\n"
    "  -o, --output FILE    write a packed file instead of standard output\n"
    "      --probe          report whether this source can be used here, and exit\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help           show this text\n"
    "      --version        show the version\n"
    "\n"
    "Example: valgrind --tool=lackey --trace-mem=yes --log-fd=9 ls 9>&1 >/dev/null |\n"
    "             cf-capture lackey -i -o ls.cf\n";

struct lackey {
    struct cf_tool *tool;
    struct cf_writer *out;
    int instructions;  /* -i */
    int begun;         /* the header was written */
    int failed;        /* the output does not take more */
    uint64_t pid;      /* 0 = not known */
    int pid_of;        /* input that pid came from */
    int mixed;         /* the last input that has lines of another, too */
    char *command;     /* of the first process, or NULL */
    int commands;      /* it was said that there are others */
    uint64_t executed; /* instructions so far */
    uint64_t pc;
    int run;          /* row of the run that is open, or -1 */
    uint64_t run_end; /* address after its last instruction */
    int data;         /* data was recorded since the run began */
    uint32_t rows;
    uint64_t time[BATCH], addr[BATCH], at[BATCH]; /* at: pc */
    uint32_t size[BATCH], insns[BATCH];
    uint8_t op[BATCH];
};

static void begin(struct lackey *m)
{
    struct cf_header h = {.clock_unit = (char *)"instructions",
                          .source = (char *)"cf-capture-lackey",
                          .command = m->command};

    if (!m->begun)
        (void)cf_writer_header(m->out, &h); /* a failure shows when the writer is closed */
    m->begun = 1;
}

static void send_rows(struct lackey *m, uint32_t rows)
{
    struct cf_values columns[9] = {
        {CF_TIME, m->time, 0}, {CF_OP, m->op, 0}, {CF_SIZE, m->size, 0},
        {CF_ADDR, m->addr, 0}, {CF_PC, m->at, 0},
    };
    unsigned count = 5;

    if (m->instructions)
        columns[count++] = (struct cf_values){CF_INSNS, m->insns, 0};
    if (m->pid) {
        columns[count++] = (struct cf_values){CF_PID, NULL, m->pid};
        columns[count++] = (struct cf_values){CF_TID, NULL, m->pid};
    }
    begin(m);
    if (cf_writer_rows(m->out, CF_ACCESS, rows, columns, count, NULL) < 0)
        m->failed = 1; /* reported when the writer is closed */
}

/* Sends what is complete: all rows before the run that is open. */
static void send_complete(struct lackey *m)
{
    uint32_t rows = m->run >= 0 ? (uint32_t)m->run : m->rows, rest = m->rows - rows;

    if (rows == 0)
        return;
    send_rows(m, rows);
    memmove(m->time, m->time + rows, rest * sizeof *m->time);
    memmove(m->addr, m->addr + rows, rest * sizeof *m->addr);
    memmove(m->at, m->at + rows, rest * sizeof *m->at);
    memmove(m->size, m->size + rows, rest * sizeof *m->size);
    memmove(m->insns, m->insns + rows, rest * sizeof *m->insns);
    memmove(m->op, m->op + rows, rest * sizeof *m->op);
    m->rows = rest;
    if (m->run >= 0)
        m->run = 0;
}

static void idle(void *arg)
{
    struct lackey *m = arg;

    send_complete(m);
    (void)cf_writer_flush(m->out);
}

static inline void add_row(struct lackey *m, uint8_t op, uint64_t addr, uint32_t size,
                           uint32_t insns)
{
    uint32_t i;

    if (m->rows == BATCH) {
        send_complete(m);
        /* A run with a whole batch of data comes from no real program. */
        if (m->rows == BATCH) {
            m->run = -1;
            send_complete(m);
        }
    }
    i = m->rows++;
    m->time[i] = m->executed;
    m->addr[i] = addr;
    m->at[i] = m->pc;
    m->size[i] = size;
    m->insns[i] = insns;
    m->op[i] = op;
}

static inline void add_instruction(struct lackey *m, uint64_t addr, uint32_t size)
{
    m->executed++;
    m->pc = addr;
    if (!m->instructions)
        return;
    if (m->run >= 0 && addr == m->run_end &&
        !(m->data && (addr + size - 1) / RUN_LINE != (addr - 1) / RUN_LINE)) {
        m->size[m->run] += size;
        m->insns[m->run]++;
        m->run_end += size;
        /* So that the sums above cannot overflow. */
        if (m->size[m->run] > 1U << 30)
            m->run = -1;
        return;
    }
    m->run = -1;
    add_row(m, CF_IFETCH, addr, size, 1);
    m->run = (int)m->rows - 1;
    m->run_end = addr + size;
    m->data = 0;
}

/* "addr,size" up to the end of the line; 0 when it is no such thing. The newline at the end stops
   the loops. */
static inline int scan_access(const char *p, uint64_t *addr, uint32_t *size)
{
    const char *start;
    uint32_t n = 0;

    p = cf_lines_hex(p, addr);
    if (!p || *p != ',')
        return 0;
    start = ++p;
    while (*p >= '0' && *p <= '9' && p - start < 8)
        n = n * 10 + (uint32_t)(*p++ - '0');
    if (*p == '\r')
        p++;
    if (p == start || *p != '\n' || n == 0)
        return 0;
    *size = n;
    return 1;
}

/* The first line of an input that says whose it is, or is an access: of whom, is not known. */
static void begin_input(struct lackey *m, const struct cf_lines *l, uint64_t pid)
{
    if (m->pid != pid) {
        m->run = -1;
        send_complete(m);
    }
    m->pid = pid;
    m->pid_of = l->input;
}

/* The header, which has room for one, may be written already. */
static void take_command(struct lackey *m, const struct cf_lines *l, const char *text,
                         size_t length)
{
    length -= length && text[length - 1] == '\r';
    if (!m->command && !m->begun) {
        m->command = cf_need(m->tool, strndup(text, length));
    } else if (!m->commands && (!m->command || strlen(m->command) != length ||
                                memcmp(m->command, text, length) != 0)) {
        m->commands = 1;
        cf_warn(m->tool,
                "%s:%llu: '%.*s' is a further command, which the stream does not state: import "
                "each log alone and join the streams by cf-cat, which keeps the command of each",
                l->name, (unsigned long long)l->number, (int)(length < 60 ? length : 60), text);
    }
}

/* "==pid== text" and "--pid-- text": 0 when it is no such line. */
static int own_line(struct lackey *m, const struct cf_lines *l, const char *line, size_t length)
{
    static const char command[] = " Command: ";
    uint64_t pid = 0;
    size_t i = 2;

    if (length < 5 || (line[0] != '=' && line[0] != '-') || line[1] != line[0])
        return 0;
    while (i < length && i < 12 && line[i] >= '0' && line[i] <= '9')
        pid = pid * 10 + (uint64_t)(line[i++] - '0');
    if (i == 2 || i + 2 > length || line[i] != line[0] || line[i + 1] != line[0] || pid > INT32_MAX)
        return 0;
    i += 2;
    if (m->pid_of != l->input || !m->pid)
        begin_input(m, l, pid);
    else if (pid != m->pid && m->mixed != l->input) {
        cf_fail(m->tool, CF_EXIT_INPUT,
                "%s:%llu: lines of a second process, %llu: lackey does not say whose accesses are, "
                "so all are given to process %llu: trace with --log-file=NAME.%%p, a file for each",
                l->name, (unsigned long long)l->number, (unsigned long long)pid,
                (unsigned long long)m->pid);
        m->mixed = l->input;
    }
    if (length - i > sizeof command - 1 && memcmp(line + i, command, sizeof command - 1) == 0) {
        i += sizeof command - 1;
        take_command(m, l, line + i, length - i);
    }
    return 1;
}

static int is_superblock(const char *line, size_t length)
{
    return length > 3 && memcmp(line, "SB ", 3) == 0; /* --trace-superblocks=yes */
}

static void import(struct lackey *m, struct cf_lines *l)
{
    const char *line;
    size_t length;

    while (!m->failed && cf_lines_next(l, &line, &length)) {
        uint64_t addr;
        uint32_t size;

        if (length > 4 && line[2] == ' ' && line[0] == ' ' &&
            (line[1] == 'L' || line[1] == 'S' || line[1] == 'M')) {
            if (scan_access(line + 3, &addr, &size)) {
                if (m->pid_of != l->input)
                    begin_input(m, l, 0);
                if (line[1] != 'S')
                    add_row(m, CF_LOAD, addr, size, 0);
                if (line[1] != 'L')
                    add_row(m, CF_STORE, addr, size, 0);
                m->data = 1;
                continue;
            }
        } else if (length > 4 && line[2] == ' ' && line[0] == 'I' && line[1] == ' ') {
            if (scan_access(line + 3, &addr, &size)) {
                if (m->pid_of != l->input)
                    begin_input(m, l, 0);
                add_instruction(m, addr, size);
                continue;
            }
        } else if (length == 0 || own_line(m, l, line, length) || is_superblock(line, length)) {
            continue;
        }
        cf_lines_bad(l, 0,
                     "no line of lackey's trace: '%.*s': trace with --log-file or --log-fd, so "
                     "that the program's own output stays apart",
                     (int)(length < 60 ? length : 60), line);
    }
    m->run = -1;
    send_complete(m);
}

int main(int argc, char **argv)
{
    static struct lackey m = {.run = -1};
    struct cf_tool t;
    struct cf_lines lines;
    const char *output = NULL, *none = NULL;
    const struct cf_option options[] = {
        {"instructions", 'i', CF_FLAG(&m.instructions)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads text, needs nothing of this machine")},
        CF_END_OPTIONS,
    };
    int bad;

    cf_tool_init(&t, argc, argv, "cf-capture-lackey", usage);
    cf_options_read(&t, argc, argv, options);
    m.tool = &t;
    cf_lines_open(&lines, &t, argv + optind, argc - optind);
    m.out = cf_tool_recording(&t, output);
    cf_lines_idle(&lines, idle, &m);
    import(&m, &lines);
    bad = cf_lines_finish(&lines);
    if (!m.begun)
        none = m.executed ? "the input holds instructions alone, which -i records"
                          : "the input holds no line of lackey's trace; trace with "
                            "--trace-mem=yes";
    begin(&m);
    free(m.command);
    return cf_lines_close(&t, m.out, bad, none);
}
