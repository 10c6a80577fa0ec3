/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.h - turns what the plugin leaves in shared memory (protocol.h) into rows of a stream.
 *
 *     struct cfq_decoder *d = cfq_decoder_open(&options, writer, problem, sizeof problem);
 *     start the emulator with the plugin and cfq_decoder_descriptor(d)
 *     while (the emulator lives)
 *         if (cfq_decoder_read(d, 100) < 0)
 *             break;
 *     cfq_decoder_finish(d);
 *     cfq_decoder_close(d);
 *
 * Time is the number of instructions that all threads began before, in the order in which their
 * words were queued; an access has the time of its instruction. An instruction run, if wanted, is
 * a row for a straight line of code, at the time of its first instruction and before the data of
 * its instructions; it ends at the end of a translation block, and before an instruction that
 * reaches into another fetch line if data was accessed since the run began.
 *
 * What is read is not trusted: numbers, counts and sizes are checked. Memory: a description of
 * each instruction ever translated (80 bytes) and of each translation block (16 bytes and 4 an
 * instruction).
 */
#ifndef CF_QEMU_DECODE_H
#define CF_QEMU_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/stream/cf.h"

struct cfq_options {
    int instructions;    /* also rows for instruction runs */
    uint32_t fetch_line; /* bytes, a power of two */
    uint64_t limit;      /* rows of access after which recording stops; 0: none */
    int system;          /* rows tell the processor; there is one process, 1 */
    const char *name;    /* of the first task */
    const char *path;    /* of the program's file; NULL for a system */
};

struct cfq_decoder;

/* Makes the shared memory. NULL when that fails; `problem` then tells. */
struct cfq_decoder *cfq_decoder_open(const struct cfq_options *options, struct cf_writer *writer,
                                     char *problem, size_t size);

/* What the emulator inherits. */
int cfq_decoder_descriptor(const struct cfq_decoder *d);

/* Waits up to `milliseconds` for blocks and decodes what is there. 1 when something was, 0 when
   nothing came, -1 when the writer failed or what came makes no sense: then recording stops. */
int cfq_decoder_read(struct cfq_decoder *d, int milliseconds) CF_MUST_CHECK;

/* After the emulator has ended: decodes what it left, and ends the tasks. */
void cfq_decoder_finish(struct cfq_decoder *d);

/* No more recording; the program runs on. */
void cfq_decoder_stop(struct cfq_decoder *d);

/* Hands over what waits for a place to fill. For callers that flush by time; -1 as above. */
int cfq_decoder_flush(struct cfq_decoder *d) CF_MUST_CHECK;

int cfq_decoder_begun(const struct cfq_decoder *d);           /* the plugin was loaded */
int cfq_decoder_ran(const struct cfq_decoder *d);             /* and the program began to run */
uint64_t cfq_decoder_rows(const struct cfq_decoder *d);       /* accesses and runs so far */
const char *cfq_decoder_problem(const struct cfq_decoder *d); /* or NULL */
int cfq_decoder_refused(const struct cfq_decoder *d);         /* the problem is the system's */
void cfq_decoder_close(struct cfq_decoder *d);

/* A mapping that is known otherwise (from an ELF file), at the time of now. */
int cfq_decoder_map(struct cfq_decoder *d, uint32_t pid, uint64_t start, uint64_t end,
                    uint64_t offset, uint32_t perms, const char *name) CF_MUST_CHECK;

#endif
