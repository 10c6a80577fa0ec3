/* SPDX-License-Identifier: BSD-2-Clause */
/* export.h - the parts of cf-export: one file for each form. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdio.h>

#include "formats/stream/cf.h"
#include "formats/program/cf_tool.h"
#include "formats/base/cf_strings.h"

struct export
{
    struct cf_tool *tool;
    struct cf_reader *reader;
    const char *output; /* file or folder; NULL: standard output */
    const char *table;  /* as given; NULL: not given */
};

/* Each reads all of the input and writes its form. The exit status, where that is not the
   reader's. */
int export_jsonl(struct export *e);
int export_npy(struct export *e);

/* ---- export_text.c ---- */

/* A text in quotes, as JSON (RFC 8259). What commands a terminal is an escape, and a byte that is
   no UTF-8 one of \udc80 to \udcff, as Python's error handler "surrogateescape" (PEP 383) has it:
   so nothing is lost. */
void export_text(FILE *out, const char *text);
/* Name of a table or column, "table_N" and "column_N" where there is none. In `room`. */
enum { EXPORT_NAME = 256 };
const char *export_column_name(const struct cf_reader *r, unsigned column, char *room);
const char *export_table_name(const struct cf_reader *r, unsigned table, char *room);
/* Says that the table that was asked for is not there. An exit status. */
int export_no_table(const struct export *e);
/* The word for a value of a column of codes (op, class, ...), NULL where there is none. */
const char *export_word(unsigned column, unsigned value);

#endif
