/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - the header row of a file, and its rows one by one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/csv/import.h"

enum { LAST_COLUMN = CF_ID - 1 };

/* ---- the header row ---- */

static unsigned find_column(const char *name)
{
    unsigned column = cf_column_find(name);

    /* What a mapping or task is called; the stream's own name for the column is longer known. */
    if (!column && strcmp(name, "name") == 0)
        column = CF_LABEL;
    return column <= LAST_COLUMN ? column : 0;
}

static void bad_header(struct cf_csv_input *in, const char *name)
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

static void read_name(struct cf_csv_input *in, const char *name)
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
    in->type[in->columns] = cf_column_type(column);
    in->id[in->columns++] = (uint16_t)column;
}

static void end_header(struct cf_csv_input *in)
{
    /* whether an object is allocated or released, nothing else says */
    unsigned needed = in->table == CF_ACCESS ? CF_ADDR : in->table == CF_OBJECT ? CF_OP : 0;

    if (in->useless)
        return;
    for (unsigned i = 0; needed && i < in->columns; i++)
        if (in->id[i] == needed)
            needed = 0;
    if (needed) {
        cf_lines_bad(&in->lines, 0, "no column '%s', which rows of table %s need",
                     cf_column_name(needed), cf_table_name(in->table));
        in->useless = 1;
        return;
    }
    in->headed = 1;
    for (unsigned i = 0; i < in->columns; i++) {
        in->batch[i] = cf_need(&in->m->tool, calloc(CF_CSV_BATCH, cf_type_width(in->type[i])));
    }
    in->times = cf_need(&in->m->tool, calloc(CF_CSV_BATCH, sizeof *in->times));
}

/* ---- rows ---- */

static void on_cell(void *text, size_t length, void *arg)
{
    struct cf_csv_input *in = arg;

    /* With CSV_APPEND_NULL the text ends with a zero byte. A second row in the same line, after a
       lone CR, must not touch the one that waits. */
    if (!in->headed && !in->useless)
        read_name(in, text);
    else if (in->headed && !in->have_row && in->at < in->columns)
        cf_csv_input_cell(in, text, length);
    in->at++;
}

uint64_t cf_csv_input_time(const struct cf_csv_input *in)
{
    if (!(cf_table_traits(in->table) & CF_TABLE_TIMED))
        return 0;
    if (in->time_at >= 0)
        return in->cell[in->time_at];
    return in->table == CF_ACCESS ? in->row : 0;
}

/* Cell of that column of the row, which need not have it: else `missing`. */
static uint64_t cell_of(const struct cf_csv_input *in, unsigned column, uint64_t missing)
{
    for (unsigned i = 0; i < in->columns; i++)
        if (in->id[i] == column)
            return in->cell[i];
    return missing;
}

/* Whether the cells can be so, and the row where it stands; if not, that is reported. */
static int row_fits(struct cf_csv_input *in)
{
    const uint64_t snapshot = in->snap_at >= 0 ? in->cell[in->snap_at] : 0;

    if (in->table == CF_MAP && cell_of(in, CF_STOP, UINT64_MAX) < cell_of(in, CF_START, 0)) {
        cf_lines_bad(&in->lines, 0, "end is before start");
        return 0;
    }
    if (snapshot < in->last_snapshot) {
        cf_lines_bad(&in->lines, (unsigned)in->snap_at + 1,
                     "snapshot %" PRIu64 " comes after %" PRIu64
                     ": sort the file by snapshot; the row is left out",
                     snapshot, in->last_snapshot);
        return 0;
    }
    in->last_snapshot = snapshot;
    return 1;
}

static void on_row(int end, void *arg)
{
    struct cf_csv_input *in = arg;
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
    if (!in->row_bad && row_fits(in)) {
        uint64_t time = cf_csv_input_time(in);

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

/* A row that ends here, wherever its quotes are: it is left out, and the next line begins one. */
static void drop_row(struct cf_csv_input *in, const char *why)
{
    cf_lines_bad(&in->lines, in->at + 1, "%s", why);
    csv_free(&in->csv);
    if (csv_init(&in->csv, CF_CSV_OPTIONS) != 0)
        cf_out_of_memory(&in->m->tool);
    in->useless |= !in->headed;
    in->row++;
    in->at = 0;
    in->row_bad = 0;
}

/* With CSV_STRICT the parser stops at text behind a closing quote, and at a quote in a cell that
   does not begin with one: that is a part of its text. */
static void feed(struct cf_csv_input *in, const char *text, size_t length)
{
    size_t n = csv_parse(&in->csv, text, length, on_cell, on_row, in);

    while (n != length) {
        if (csv_error(&in->csv) != CSV_EPARSE)
            cf_die(&in->m->tool, CF_EXIT_ENVIRONMENT, "%s:%" PRIu64 ": %s", in->lines.name,
                   in->lines.number, csv_strerror(csv_error(&in->csv)));
        if (in->csv.quoted) {
            drop_row(in,
                     "text behind the closing quote of a cell: a quote within one stands twice");
            return;
        }
        csv_set_opts(&in->csv, CSV_APPEND_NULL);
        n += csv_parse(&in->csv, text + n, 1, on_cell, on_row, in);
        csv_set_opts(&in->csv, CF_CSV_OPTIONS);
        n += csv_parse(&in->csv, text + n, length - n, on_cell, on_row, in);
    }
    /* Within quotes a cell may go on over many lines, but not for ever. */
    if (in->csv.entry_pos > CF_MAX_TEXT) {
        cf_lines_bad(&in->lines, in->at + 1,
                     "a cell of more than %d bytes: is a quote not closed? The rest of the file is "
                     "left out",
                     CF_MAX_TEXT);
        in->ended = 1;
    }
}

void cf_csv_input_next(struct cf_csv_input *in)
{
    const char *line;
    size_t length;

    in->have_row = 0;
    while (!in->have_row && !in->ended && !in->useless) {
        const uint64_t before = in->lines.number;

        if (!cf_lines_next(&in->lines, &line, &length)) {
            in->ended = 1;
            if (in->csv.quoted && !in->lines.failed)
                cf_lines_bad(&in->lines, in->at + 1, "a quote is not closed before the end");
            break;
        }
        length++; /* with the newline */
        if (in->csv.quoted && in->lines.number != before + 1)
            drop_row(in, "a line within quotes was too long and is missing");
        feed(in, line, length);
    }
}
