/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-csv - imports CSV whose header row names our columns; every table can be written so.
 *
 * In: one CSV for the main table (access unless --table says otherwise) and one for each --with
 * TABLE=FILE, each in time order. Out: a stream with their rows, merged by time; of rows with the
 * same time, tasks, mappings, objects and the like come before lines, and these before accesses.
 * Lines follow the row of their snapshot, and the next snapshot follows them.
 * A bad cell drops its row, is reported with file, line and cell, and the rest is still imported.
 * Memory: for each input a batch of rows and one row that waits for its turn.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/csv/import.h"
#include "formats/program/cf_options.h"

enum { REPORTED = 10 };

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

static unsigned find_table(struct cf_csv_import *m, const char *option, const char *name)
{
    unsigned table = cf_table_find(name);

    if (table < CF_TASK || table == CF_END) {
        char list[256] = "";
        size_t at = 0;

        for (unsigned i = CF_TASK; i < 64; i++)
            if (i != CF_END && cf_table_name(i))
                at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "",
                                       cf_table_name(i));
        cf_die(&m->tool, CF_EXIT_USAGE, "%s: no table '%s': give one of %s", option, name, list);
    }
    return table;
}

static void add_input(struct cf_csv_import *m, unsigned table, const char *file)
{
    struct cf_csv_input *in = calloc(1, sizeof *in);

    for (unsigned i = 0; i < m->inputs; i++)
        if (m->input[i]->table == table)
            cf_die(&m->tool, CF_EXIT_USAGE, "two files for the table %s: join them first",
                   cf_table_name(table));
    if (!in || csv_init(&in->csv, CF_CSV_OPTIONS) != 0)
        cf_out_of_memory(&m->tool);
    in->m = m;
    in->table = table;
    in->time_at = in->snap_at = -1;
    /* The list of names must live as long as the lines. */
    in->lines.name = file;
    m->input[m->inputs++] = in;
}

/* --with TABLE=FILE */
static void add_with(const struct cf_tool *t, void *import, const char *option, char *text)
{
    struct cf_csv_import *m = import;
    char *equals = strchr(text, '=');
    char name[32];

    if (!equals || equals == text || !equals[1] || (size_t)(equals - text) >= sizeof name)
        cf_die(t, CF_EXIT_USAGE, "%s '%s': give TABLE=FILE, such as map=maps.csv", option, text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    if (m->inputs == CF_CSV_INPUTS)
        cf_die(t, CF_EXIT_USAGE, "more than %d files", CF_CSV_INPUTS);
    add_input(m, find_table(m, option, name), equals + 1);
}

/* Closes all; returns the exit status. */
static int finish(struct cf_csv_import *m)
{
    int status = CF_EXIT_OK, headed = 0, useless = 0;

    for (unsigned i = 0; i < m->inputs; i++)
        headed |= m->input[i]->headed;
    for (unsigned i = 0; i < m->inputs; i++) {
        struct cf_csv_input *in = m->input[i];
        int bad = cf_lines_finish(&in->lines);

        status |= bad; /* 0, 1 or 3 */
        useless |= in->useless;
        if (headed && !in->headed && !in->useless && !bad &&
            strcmp(in->lines.name, "/dev/null") != 0)
            cf_fail(&m->tool, CF_EXIT_INPUT, "%s is empty; it begins with a row of column names",
                    strcmp(in->lines.name, "-") == 0 ? "standard input" : in->lines.name);
        for (unsigned k = 0; k < in->columns; k++)
            free(in->batch[k]);
        free(in->times);
        csv_free(&in->csv);
        free(in);
    }
    /* of a file whose header row is bad all is missing, which readers of the stream must know */
    if (useless)
        cf_tool_note(&m->tool, CF_EXIT_INPUT);
    if (useless && !headed)
        cf_writer_cut(m->out);
    return cf_lines_close(&m->tool, m->out, status,
                          headed || useless ? NULL
                          : status          ? "no input could be read"
                                   : "the input is empty; it begins with a row of column names");
}

/* What stands behind the options. */
static void add_file(struct cf_csv_import *m, unsigned table, char **file, int files)
{
    int covered = 0, readers = 0;

    if (files > 1)
        cf_die(&m->tool, CF_EXIT_USAGE, "more than one FILE: use --with for other tables");
    for (unsigned i = 0; i < m->inputs; i++)
        covered |= m->input[i]->table == table;
    /* Standard input is not asked for where --with has given all that there is. */
    if (files)
        add_input(m, table, *file);
    else if (!covered && !(m->inputs && isatty(STDIN_FILENO)))
        add_input(m, table, "-");
    for (unsigned i = 0; i < m->inputs; i++)
        readers += strcmp(m->input[i]->lines.name, "-") == 0;
    if (readers > 1)
        cf_die(&m->tool, CF_EXIT_USAGE, "standard input can be read for one table only");
}

int main(int argc, char **argv)
{
    static struct cf_csv_import m;
    static char *files[CF_CSV_INPUTS];
    struct cf_header header = {.clock_unit = (char *)"records", .source = (char *)"cf-capture-csv"};
    const char *output = NULL, *of = "access";
    const struct cf_option options[] = {
        {"with", 'w', CF_CALL(add_with, &m)},
        {"table", 't', CF_TEXT(&of)},
        {"clock", 'c', CF_TEXT((const char **)&header.clock_unit)},
        {"hz", 0, CF_NUMBER(&header.clock_hz, 1, UINT64_MAX)},
        {"output", 'o', CF_FILE(&output)},
        {"probe", 0, CF_READY("ready: reads text, needs nothing of this machine")},
        CF_END_OPTIONS,
    };

    cf_tool_init(&m.tool, argc, argv, "cf-capture-csv", usage);
    cf_options_read(&m.tool, argc, argv, options);
    add_file(&m, find_table(&m, "--table", of), argv + optind, argc - optind);
    for (unsigned i = 0; i < m.inputs; i++)
        cf_tool_apart(&m.tool, output ? output : "-", m.input[i]->lines.name);
    m.out = cf_tool_recording(&m.tool, output);
    (void)cf_writer_header(m.out, &header); /* a failure shows when the writer is closed */
    for (unsigned i = 0; i < m.inputs; i++) {
        files[i] = (char *)m.input[i]->lines.name;
        cf_lines_open(&m.input[i]->lines, &m.tool, files + i, 1);
        m.input[i]->lines.reported = REPORTED;
        cf_lines_idle(&m.input[i]->lines, cf_csv_import_idle, &m);
    }
    cf_csv_import_merge(&m);
    return finish(&m);
}
