/* SPDX-License-Identifier: BSD-2-Clause */
/* programs.h - the programs that are compared with the model: what compare.c asks of programs.c. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "formats/stream/cf.h"
#include "tests/reference/reference.h"

/* Zeroed; ends the program without memory. */
void *array(unsigned count, size_t size);

/* Writes machine and stream into files. */
void write_run(const struct run *r);
/* Runs cf-cache, or cf-classify, over them. -1 when it did not end well; `what` then says how. */
int run_one(const struct run *r, int classify, char *what, size_t size);
/* Runs a program with these arguments, up to a NULL; the same. Input and output are theirs too. */
int run_other(const char *program, const char *const *options, char *what, size_t size);
const char *output_file(void);
/* Calls f for each frame of what it wrote. 0 where that is not whole. */
int read_frames(void (*f)(void *arg, const struct cf_frame *frame), void *arg);
/* A column of what it wrote, malloc'ed; NULL when it is not there in every row. */
uint8_t *read_column(unsigned column, unsigned rows);
/* A number of the summary that it printed: of the row that begins with `key`, in the column of that
   name. 0 when there is none. */
int summary_number(const char *key, const char *column, uint64_t *value);
/* The command lines. */
void print_commands(FILE *out, const struct run *r);

#endif
