/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.h - reads what the plugin leaves in shared memory (protocol.h), and has it decoded into
 * rows of a stream.
 *
 *     struct cfq_reader *d = cfq_reader_open(&options, writer, problem, sizeof problem);
 *     start the emulator with the plugin and cfq_reader_descriptor(d)
 *     while (the emulator lives)
 *         if (cfq_reader_read(d, 100) < 0)
 *             break;
 *     cfq_reader_finish(d);
 *     cfq_reader_close(d);
 *
 * Of threads that run side by side, time is in the order in which their words were queued. What is
 * read is not trusted: the trace ends, with a problem, where it is invalid.
 */
#ifndef CF_QEMU_READER_H
#define CF_QEMU_READER_H

#include <stddef.h>
#include <stdint.h>

#include "capture/record/decode.h"
#include "formats/stream/cf.h"

struct cfq_options {
    struct cf_decode_options decode;
    const char *name; /* of the first task */
    const char *path; /* of the program's file; NULL for a system */
};

struct cfq_reader;

/* Makes the shared memory. NULL when that fails; `problem` then says why. */
struct cfq_reader *cfq_reader_open(const struct cfq_options *options, struct cf_writer *writer,
                                   char *problem, size_t size);

/* What the emulator inherits. */
int cfq_reader_descriptor(const struct cfq_reader *d);

/* Waits up to `milliseconds` for blocks and decodes what is there. 1 when something was, 0 when
   nothing came, -1 when the writer failed or what came is invalid: then recording stops. */
int cfq_reader_read(struct cfq_reader *d, int milliseconds) CF_MUST_CHECK;

/* After the emulator has ended: decodes what it left, and ends the tasks. */
void cfq_reader_finish(struct cfq_reader *d);

int cfq_reader_begun(const struct cfq_reader *d);         /* the plugin was loaded */
int cfq_reader_ran(const struct cfq_reader *d);           /* and the program began to run */
unsigned cfq_reader_children(const struct cfq_reader *d); /* which are not recorded */
int cfq_reader_left(const struct cfq_reader *d);          /* another program took its place */
void cfq_reader_close(struct cfq_reader *d);

/* A mapping that is known otherwise (from an ELF file), before the emulator runs. */
int cfq_reader_map(struct cfq_reader *d, uint64_t start, uint64_t end, uint64_t offset,
                   uint32_t perms, const char *name) CF_MUST_CHECK;

/* What decodes it. */
struct cf_decode *cfq_reader_decoder(struct cfq_reader *d);

#endif
