/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.h - turns what a producer records (protocol.h) into columns, which emit.h makes rows of.
 * The readers capture/trace/reader.h and capture/qemu/reader.h fetch the blocks and hand them to
 * the decoder; decode_parts.h is what they share with it.
 *
 * Time is the number of instructions that all processes and threads executed before, in the order
 * in which their blocks arrive; an access has the time of its instruction. Rows of each kind come
 * in the order of time. Before accesses of a time are handed over by placed(), all other rows up to
 * that time were, unless they happened between two calls of placed() for parts of one superblock.
 *
 * Instruction runs, if wanted: one row for a straight line of code, at the time of its first
 * instruction and before the data of its instructions. A run ends at a taken branch, at the end of
 * a superblock, and before an instruction that reaches into another fetch line if data was accessed
 * since the run began: so the order of instruction lines and data is exact.
 *
 * What is read is not trusted: ids, counts and sizes are checked, and of a process that sends what
 * is invalid nothing more is decoded. Nothing is global; one thread uses one decoder.
 */
#ifndef CF_RECORD_DECODE_H
#define CF_RECORD_DECODE_H

#include <stdint.h>

#include "formats/stream/cf.h"

enum { CF_DECODE_DEPTH = 65534 };

struct cf_decode_options {
    int instructions;    /* also rows for instruction runs, and column insns */
    int processors;      /* accesses have column cpu */
    uint32_t calls;      /* column stack: the outermost so many calls, at most CF_DECODE_DEPTH */
    uint32_t fetch_line; /* bytes, a power of two from 1 on; 0: 64 */
    uint64_t limit;      /* access rows after which nothing more is decoded; 0: none */
};

/* A decoder, of which each reader has one. */
struct cf_decode;

/* Writes the rows that wait for a place to fill; cheap. For callers that flush by time.
 * 0, or -1 when the writer takes no more. */
int cf_decode_flush(struct cf_decode *t) CF_MUST_CHECK;

uint64_t cf_decode_rows(const struct cf_decode *t); /* accesses and runs so far */

/* Processes of whose program no allocation function is known. */
uint64_t cf_decode_heapless(const struct cf_decode *t);

/* With calls: those without a context of their own, since there were too many contexts; those that
 * were deeper than is kept; and threads whose stack was not known from some point on. */
uint64_t cf_decode_calls_cut(const struct cf_decode *t);
uint64_t cf_decode_calls_deeper(const struct cf_decode *t);
uint64_t cf_decode_stacks_lost(const struct cf_decode *t);

/* The first thing that went wrong, or NULL; and whether memory or descriptors were wanting: then
 * the record is not to blame. */
const char *cf_decode_trouble(const struct cf_decode *t);
int cf_decode_was_refused(const struct cf_decode *t);

#endif
