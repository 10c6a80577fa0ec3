/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader_parts.h - private to the reader: reader.c has tokens and what the caller does, processes.c
 * the processes and their rings.
 */
#ifndef CF_TRACE_READER_PARTS_H
#define CF_TRACE_READER_PARTS_H

#include <limits.h>

#include "capture/record/decode_parts.h"
#include "protocol.h"
#include "reader.h"

struct cf_trace_process {
    struct cf_decode_process record; /* first */
    uint32_t ring_number;
    int alive;               /* its tokens are expected */
    uint32_t execs;          /* it is about to run another image: enum cf_wire_exec, 0: not */
    char runs[CF_WIRE_COMM]; /* then that one's name */
    int coming;              /* children that have not sent their start yet */
    uint32_t blocks;         /* of the ring */
    struct cf_wire_ring *ring;
    uint32_t sequence;             /* of the block that is due */
    uint32_t consumed;             /* bytes of it that were decoded as published */
    struct cf_trace_process *next; /* newest first */
};

struct cf_trace {
    struct cf_decode decode;
    char directory[PATH_MAX], spare[PATH_MAX];
    int follow;
    int fd;
    int begun;
    unsigned dropped; /* processes, for what they sent */
    unsigned seen, unrecorded, killed;
    uint32_t unrecorded_error; /* errno of the first; 0: by an exec */
    uint32_t unrecorded_pid[CF_TRACE_LISTED];
    struct cf_trace_process *processes;
    struct cf_trace_left *left;
    size_t lefts, left_room;
};

/* Functions that return an int return 0, or -1 when nothing more is to be called. */

/* The process of this number that has not ended; the one with this ring. Or NULL. */
struct cf_trace_process *cf_trace_alive_process(const struct cf_trace *t, uint32_t pid);
struct cf_trace_process *cf_trace_find(struct cf_trace *t, uint32_t pid, uint32_t ring_number);

/* A process begins with a ring; or without one: if it came to that by exec, it has ended for us. */
int cf_trace_start(struct cf_trace *t, const struct cf_wire_token *token);
int cf_trace_start_without(struct cf_trace *t, const struct cf_wire_token *token);
int cf_trace_end(struct cf_trace *t, struct cf_trace_process *p);

/* It waits for a block that is free now. */
void cf_trace_wake(struct cf_trace_process *p);

/* What this process still sends is not looked at. */
void cf_trace_refuse(struct cf_trace_process *p);

/* What it sent cannot be decoded: `what` says why. */
void cf_trace_drop(struct cf_trace *t, struct cf_trace_process *p, const char *what);

/* Counts a process that is not recorded; `error` is an errno, 0: by an exec. */
void cf_trace_not_recorded(struct cf_trace *t, uint32_t pid, uint32_t error);

/* Notes that a process runs a program that is not recorded, or another one than before. */
void cf_trace_leave(struct cf_trace *t, uint32_t pid, uint32_t why, const char *name);

/* Whether it is about to run a program that is not recorded. */
static inline int cf_trace_leaves(const struct cf_trace_process *p)
{
    return p->execs > CF_WIRE_EXEC_RECORDED;
}

/* Frees it; it is in no list any more. */
void cf_trace_forget(struct cf_trace_process *p);

#endif
