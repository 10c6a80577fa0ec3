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

#include <stddef.h>
#include <stdint.h>

enum cf_record_op { CF_RECORD_LOAD = 1, CF_RECORD_STORE = 2, CF_RECORD_IFETCH = 3 };

struct cf_record_options {
    int instructions;    /* also rows for instruction runs */
    uint32_t fetch_line; /* bytes, a power of two from 1 on; 0: 64 */
    uint64_t limit;      /* access rows after which nothing more is decoded; 0: none */
};

/* What accesses of one origin have in common; numbered by hints from 1. */
struct cf_record_origin {
    uint64_t pc;    /* of the instruction; of a run, of its first */
    uint32_t size;  /* bytes */
    uint32_t insns; /* instructions in a run, 0 for data */
    uint8_t op;     /* enum cf_record_op */
};

/* Places for accesses, all of the same length:
 * time      instructions before it
 * addr      virtual address; of a run that of its first instruction
 * hint      its origin */
struct cf_record_columns {
    uint64_t *time;
    uint64_t *addr;
    uint32_t *hint;
};

enum cf_record_kind {
    CF_RECORD_BEGIN = 1, /* task: a process or thread begins */
    CF_RECORD_NAMED,     /* task: gets a name (a process: by exec) */
    CF_RECORD_EXIT,      /* task */
    CF_RECORD_MAPPED,    /* map: replaces what was there */
    CF_RECORD_UNMAPPED,  /* map: from exec, of everything: 0 .. UINT64_MAX */
    CF_RECORD_ALLOC,     /* object; a forked child begins with those of all its parent's blocks */
    CF_RECORD_FREE,      /* object */
};

struct cf_record_task {
    uint64_t time;
    uint32_t pid, tid, parent; /* parent process, 0 if not known */
    enum cf_record_kind kind;
    const char *name;
};

struct cf_record_map {
    uint64_t time;
    uint32_t pid;
    enum cf_record_kind kind;
    uint32_t perms;      /* 1 read, 2 write, 4 execute, 8 shared */
    uint64_t start, end; /* end: first byte after it */
    uint64_t offset;     /* in the file, bytes */
    const char *name;    /* file, "[heap]", "[stack]", "[shm]", "" */
};

/* Rows of heap blocks; all of one process. */
struct cf_record_objects {
    uint32_t rows, pid;
    const uint64_t *time;
    const uint32_t *tid;
    const uint8_t *kind; /* enum cf_record_kind */
    const uint64_t *addr;
    const uint64_t *bytes;
    const uint32_t *stack; /* context of the allocation, 0 unknown; of a release the block's */
};

/* A node of the calling-context tree. Ids are unique in the trace and rise; the innermost frame is
 * the leaf, its caller the parent; parent 0: the outermost frame that was recorded. */
struct cf_record_context {
    uint32_t pid, stack, parent;
    uint64_t pc; /* return address */
};

/* What the caller gets. Functions return 0, or anything else to stop: then nothing more is called.
 * Strings and arrays are valid during the call. */
struct cf_record_handler {
    void *arg;
    /* A new origin, before the first access with that hint. */
    int (*origin)(void *arg, uint32_t hint, const struct cf_record_origin *origin);
    /* Places for accesses of one thread: fills in *columns and *rows (at least 1). */
    int (*place)(void *arg, uint32_t pid, uint32_t tid, uint32_t cpu,
                 struct cf_record_columns *columns, uint32_t *rows);
    /* The first `rows` of them are filled in. Always follows before any other call. */
    int (*placed)(void *arg, uint32_t rows);
    /* tid runs on cpu from time on, after count instructions of its own. */
    int (*switched)(void *arg, uint64_t time, uint32_t pid, uint32_t tid, uint32_t cpu,
                    uint64_t count);
    int (*task)(void *arg, const struct cf_record_task *task);
    int (*map)(void *arg, const struct cf_record_map *map);
    int (*objects)(void *arg, const struct cf_record_objects *objects);
    int (*context)(void *arg, const struct cf_record_context *context);
};

/* A decoder, of which each reader has one. */
struct cf_decode;

/* Hands over what was decoded but waits for a place to fill; cheap. For callers that flush by time.
 * 0, or -1 when nothing more is to be called. */
int cf_decode_flush(struct cf_decode *t);

uint64_t cf_decode_time(const struct cf_decode *t); /* instructions so far */
uint64_t cf_decode_rows(const struct cf_decode *t); /* accesses and runs so far */

/* The first thing that went wrong, or NULL; and whether memory or descriptors were wanting: then
 * the record is not to blame. */
const char *cf_decode_trouble(const struct cf_decode *t);
int cf_decode_was_refused(const struct cf_decode *t);

#endif
