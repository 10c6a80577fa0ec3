/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_rows.h - CSV on standard output in other forms: a table for people, or JSON, an object a row.
 * A program prints CSV in any case.
 */
#ifndef CF_ROWS_H
#define CF_ROWS_H

#include "formats/program/cf_tool.h"

/* From here on what is printed to stdout is CSV, the names of the columns first. It goes out as
   --csv, --term or --json says, the last of them; without them as a table where standard output is
   a terminal, else as it is. Ends with cf_tool_finish(), and with the program. */
void cf_rows_begin(const struct cf_tool *t);

/* Whether rows are JSON: programs that print something else for people print CSV then. */
int cf_rows_json(const struct cf_tool *t);

/* For cf_csv_text(): whether texts are told from numbers there, so that each is in quotes. */
int cf_rows_quote(const FILE *out);

/* What was printed is laid out and goes out, such as before a message. Returns 0, or -1 with
   errno. */
int cf_rows_flush(void);

/* No rows come after this: stdout is what it was before. Returns 0, or -1 with errno. */
int cf_rows_end(void);

#endif
