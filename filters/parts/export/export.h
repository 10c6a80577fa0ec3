/* SPDX-License-Identifier: BSD-2-Clause */
/* export.h - the parts of cf-export: one file for each form. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdio.h>

#include "formats/stream/cf.h"
#include "formats/program/cf_tool.h"
#include "formats/base/cf_strings.h"

#include "filters/ranking/ranking.h"

struct export
{
    struct cf_tool *tool;
    struct cf_reader *reader;
    const char *output; /* file or folder; NULL: standard output */
    const char *table;  /* as given; NULL: not given */
};

/* Each reads all of the input and writes its form. The exit status, where that is not the
   reader's. */
int export_callgrind(struct export *e);
int export_jsonl(struct export *e);
int export_npy(struct export *e);

/* ---- callgrind_calls.c ---- */

#define EXPORT_ROOT "(root)" /* calls what no function of a path calls */

struct export_calls;

struct export_call {
    const char *caller, *callee; /* as they stand in paths */
    const uint64_t *sum;         /* of what the callee did, with all that it called */
};

/* The calls on these paths, with `sums` sums each; ends the program without memory. */
struct export_calls *export_calls_new(const struct cf_tool *t, const struct cf_ranked *paths,
                                      unsigned sums);
void export_calls_free(struct export_calls *c);
/* How many there are, and the one with this number. */
size_t export_calls_get(const struct export_calls *c, size_t i, struct export_call *call);

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
