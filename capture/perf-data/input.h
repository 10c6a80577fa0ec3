/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.h - the bytes of a perf.data file, from a file or a pipe, with their place for messages.
 */
#ifndef PERF_DATA_INPUT_H
#define PERF_DATA_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "formats/program/cf_tool.h"

struct perf_input {
    struct cf_tool *tool;
    const char *name; /* in messages */
    int fd;
    int seekable;
    int failed;           /* it could not be read: reported */
    int ended;            /* no more bytes come */
    uint64_t at;          /* offset of the byte that is taken next */
    size_t start, end;    /* what the buffer holds */
    void (*idle)(void *); /* called when no input came for 100 ms */
    void *arg;
    uint8_t *buffer;
};

/* "-" is standard input, which must not be a terminal. -1 when it cannot be opened, which is then
   reported. The signals that ask captures to end (cf_command.h) end the input from now on. */
int perf_input_open(struct perf_input *in, struct cf_tool *t, const char *file) CF_MUST_CHECK;
void perf_input_close(struct perf_input *in);

/* The next n bytes, at most 65536, until the next call; NULL where there are not so many, and
   *left is how many there are. Only the second one goes past them. */
const uint8_t *perf_input_peek(struct perf_input *in, size_t n, size_t *left);
const uint8_t *perf_input_take(struct perf_input *in, size_t n, size_t *left);

/* Passes over n bytes: 0, or -1 where there are not so many. */
int perf_input_skip(struct perf_input *in, uint64_t n) CF_MUST_CHECK;

/* n bytes from `offset` on of an input that is seekable: 0, or -1 where they are not there, or
   cannot be read, which is reported. */
int perf_input_at(const struct perf_input *in, uint64_t offset, void *bytes,
                  size_t n) CF_MUST_CHECK;

/* The signal that ended the input, or 0. */
int perf_input_caught(void);

#endif
