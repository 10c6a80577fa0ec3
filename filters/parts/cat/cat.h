/* SPDX-License-Identifier: BSD-2-Clause */
/* cat.h - the parts of cf-cat: rows of a slice, printing as CSV, dump, check and overview. */
#ifndef CAT_H
#define CAT_H

#include <stdio.h>

#include "formats/stream/cf.h"
#include "formats/base/cf_text.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/rows/gather.h"

/* ---- slice.c ---- */

struct slice;

/* Rows with from <= time <= to, as frames that are handed to send(arg, frame); where that returns
   -1, so does the function that called it. NULL without memory. */
struct slice *slice_new(uint64_t from, uint64_t to, cf_gather_send send, void *arg) CF_MUST_CHECK;
void slice_free(struct slice *s);

/* Takes the frame, with every column decoded. -1 without memory too, with errno ENOMEM. */
int slice_frame(struct slice *s, struct cf_frame *f) CF_MUST_CHECK;

/* Hands on what is held back. */
int slice_flush(struct slice *s) CF_MUST_CHECK;

/* ---- cat_csv.c ---- */

/* Value `row` of a decoded column as a CSV field: addresses in hex unless `decimal`, operations by
   name, strings as text, all else as decimal numbers. */
void print_field(FILE *out, int first, const struct cf_reader *r, const struct cf_data *c,
                 uint32_t row, int decimal);

/* Text made safe as by cf_text_safe(), in double quotes, with a backslash before those inside. */
void print_quoted(FILE *out, const char *text, size_t length);

/* "name" or, for a column without a name, "column_N"; tables likewise. In a static buffer. */
const char *print_column_name(const struct cf_reader *r, unsigned column);
const char *print_table_name(const struct cf_reader *r, unsigned table);

/* A table as CSV. The columns are those of its first frame, or `wanted`: names with commas. */
struct csv;
struct csv *csv_new(struct cf_tool *t, const char *table, const char *wanted,
                    int decimal) CF_MUST_CHECK;
void csv_frame(struct csv *c, const struct cf_reader *r, const struct cf_frame *f);
/* Frees; fails with a message when the input has no such table. */
void csv_end(struct csv *c);

/* ---- order.c ---- */

/* Takes every frame of an input, with all columns decoded and strings not unified, and checks the
   order that cf-stream(5) promises. Ends the program without memory. */
struct order;
struct order *order_new(struct cf_tool *t) CF_MUST_CHECK;
void order_frame(struct order *o, const struct cf_reader *r, const struct cf_frame *f);
/* The first place where it is broken, as "byte ...", or NULL. */
const char *order_problem(const struct order *o);
void order_free(struct order *o);

/* ---- processes.c ---- */

/* What each process did: asks the reader for what that takes, takes each frame of a segment, and
   prints a list where there are several, and begins again. */
struct processes;
struct processes *processes_new(struct cf_tool *t, struct cf_reader *r) CF_MUST_CHECK;
void processes_header(struct processes *p, const struct cf_header *h);
void processes_frame(struct processes *p, const struct cf_frame *f);
void processes_print(struct processes *p, const struct cf_reader *r);
void processes_free(struct processes *p);

/* ---- inspect.c ---- */

/* Prints one frame in full, at most `rows` of its rows. */
void dump_frame(const struct cf_reader *r, const struct cf_frame *f, uint64_t rows);

/* One line or one YAML document a file on standard output; notes the exit status. */
void verify_file(struct cf_tool *t, char *const *file);
void info_file(struct cf_tool *t, char *const *file);

#endif
