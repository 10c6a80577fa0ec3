/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.h - CSV of several tables to one stream: cells to numbers, rows of one file, rows of all
 * files in the order of time.
 */
#ifndef CF_CSV_IMPORT_H
#define CF_CSV_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include <csv.h>

#include "capture/base/cf_lines.h"
#include "formats/program/cf_tool.h"
#include "formats/stream/cf.h"

enum { CF_CSV_BATCH = 4096, CF_CSV_INPUTS = 16 }; /* rows; files */
enum { CF_CSV_OPTIONS = CSV_STRICT | CSV_APPEND_NULL };

struct cf_csv_input {
    struct cf_csv_import *m;
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
    uint64_t last_time, last_snapshot;
    unsigned columns;
    uint16_t id[CF_MAX_COLUMNS];
    enum cf_type type[CF_MAX_COLUMNS]; /* of these */
    uint64_t cell[CF_MAX_COLUMNS];
    int time_at, snap_at; /* columns of time and snapshot, or -1 */
    void *batch[CF_MAX_COLUMNS];
    uint64_t *times; /* of the batch, where the file has no time */
    uint32_t rows;
};

struct cf_csv_import {
    struct cf_tool tool;
    struct cf_writer *out;
    struct cf_csv_input *input[CF_CSV_INPUTS];
    unsigned inputs;
    int failed;                       /* the output does not take more */
    uint64_t snapshot, snapshot_time; /* of the last row of table snapshot, */
    int snapshots;                    /* if there was one */
};

/* ---- cells.c ---- */

/* Takes in the cell that is read, as its column has it; a bad one is reported, its row is bad. */
void cf_csv_input_cell(struct cf_csv_input *in, const char *text, size_t length);

/* ---- rows.c ---- */

/* Reads until the next good row is in `cell`, or the file has ended. */
void cf_csv_input_next(struct cf_csv_input *in);

/* Of the row that waits. */
uint64_t cf_csv_input_time(const struct cf_csv_input *in);

/* ---- merge.c ---- */

/* Writes the rows of all inputs, until they have ended or the output does not take more. */
void cf_csv_import_merge(struct cf_csv_import *m);

/* Hands over what is held back; for cf_lines_idle(), with the import. */
void cf_csv_import_idle(void *arg);

#endif
