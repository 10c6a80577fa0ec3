/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_csv.h - a file of CSV with the names of its columns in the first row, such as programs of
 * the suite print, read row by row (RFC 4180, by libcsv).
 *
 * Memory: one row, of at most CF_CSV_BYTES bytes.
 */
#ifndef CF_CSV_H
#define CF_CSV_H

#include "formats/program/cf_tool.h"

enum { CF_CSV_FIELDS = 64, CF_CSV_BYTES = 1 << 18 };

struct cf_csv;
typedef void cf_csv_taker(const struct cf_csv *row, void *arg);

/* Calls take(row, arg) for each row of the file ("-": standard input) behind the first. Exits where
   it cannot be read, or where row 1 lacks one of the columns `needs`, which end with NULL, or a row
   is too long; what is no CSV from some row on is reported, and its status noted. */
void cf_csv_read(struct cf_tool *t, const char *file, const char *const *needs, cf_csv_taker *take,
                 void *arg);

/* Text of a column in this row, NULL where the file or the row lacks it. */
const char *cf_csv_field(const struct cf_csv *row, const char *name);

/* Number of the row in the file, for messages: the first one is that of the names. */
uint64_t cf_csv_row(const struct cf_csv *row);

#endif
