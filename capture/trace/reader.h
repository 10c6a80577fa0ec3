/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.h - reads what the Valgrind tool cftrace leaves behind (protocol.h) and has it decoded.
 *
 *     struct cf_trace *t = cf_trace_open(directory, &options, writer, problem, sizeof problem);
 *     start the program under the tool with --directory=<directory>
 *     while ((r = cf_trace_read(t, 100)) > 0)
 *         if (r == CF_TRACE_IDLE)
 *             cf_decode_flush(cf_trace_decoder(t)), and what the writer holds back
 *     cf_trace_finish(t);
 *     cf_trace_close(t);
 *
 * What is read is not trusted: a process that sends what is invalid is dropped with a problem.
 * Memory: up to 4 MiB of ring a process, and the decoder's, given back some time after it ended.
 */
#ifndef CF_TRACE_READER_H
#define CF_TRACE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "capture/record/decode.h"

struct cf_trace_options {
    struct cf_decode_options decode;
    int follow;        /* children and what processes turn into by exec are traced too */
    const char *spare; /* a second directory, or NULL */
};

struct cf_trace;

/* Makes the FIFO in the directory. NULL when that fails; `problem` then says why. Rings may also be
 * in options->spare. */
struct cf_trace *cf_trace_open(const char *directory, const struct cf_trace_options *options,
                               struct cf_writer *writer, char *problem, size_t size);

enum {
    CF_TRACE_END = 0,      /* all traced processes are gone */
    CF_TRACE_WORKED = 1,   /* something was decoded */
    CF_TRACE_IDLE = 2,     /* nothing came in the time given, all that is known was handed over */
    CF_TRACE_STOPPED = -1, /* the writer takes no more, or no memory */
};

/* Waits up to `milliseconds` for blocks and decodes what is there. */
int cf_trace_read(struct cf_trace *t, int milliseconds);

/* Whether a process ever announced itself. */
int cf_trace_begun(const struct cf_trace *t);

/* At CF_TRACE_END: whether this process ended without a word, and did not go on as another program:
 * it was killed, or Valgrind failed. */
int cf_trace_silent(const struct cf_trace *t, uint32_t pid);

/* A process that is silent, or the only one and not announced, was ended before anything ran of
 * what it has become: no records of it are missing, and where that is the first that it was, none
 * ever announced itself. */
void cf_trace_early(struct cf_trace *t, uint32_t pid);

/* Processes that are being recorded, without those that are gone and could not say so. */
unsigned cf_trace_alive(const struct cf_trace *t);

/* Hands over the rest, and ends the processes that could not say so. As cf_trace_read(). */
int cf_trace_finish(struct cf_trace *t);

/* What decodes it. */
struct cf_decode *cf_trace_decoder(struct cf_trace *t);

/* What became of the processes: how many there were, of which some were not recorded at all (the
 * first CF_TRACE_LISTED of them, and why: errno of the first, 0 if what it went on as by exec
 * cannot be), and some were killed, so that what they did last is missing. */
enum { CF_TRACE_LISTED = 8 };
struct cf_trace_census {
    unsigned all, unrecorded, killed;
    const uint32_t *unrecorded_pid;
    int why;
};
struct cf_trace_census cf_trace_census(const struct cf_trace *t);

/* Processes that were left alone, by the last program that each is known to have run: in the order
 * in which that was noted; `why` as in protocol.h (enum cf_wire_exec). Valid until the next call.
 */
struct cf_trace_left {
    uint32_t pid, why;
    char name[16];
};
const struct cf_trace_left *cf_trace_left(const struct cf_trace *t, size_t *count);

/* Frees; what is still traced runs on without being recorded. Removes the FIFO. */
void cf_trace_close(struct cf_trace *t);

#endif
