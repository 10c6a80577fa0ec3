/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to the decoder: the state that its parts share.
 */
#ifndef CF_TRACE_DECODE_PARTS_H
#define CF_TRACE_DECODE_PARTS_H

#include <limits.h>

#include "decode.h"
#include "decode_rows.h"
#include "protocol.h"

enum {
    CF_DECODE_OBJECTS = 4096, /* kept back at most */
    CF_DECODE_CONTEXTS = 1024,
    CF_DECODE_NO_THREAD = -1,
};

struct cf_decode_thread {
    uint32_t tid;
    int alive;
    uint64_t count; /* instructions */
    char name[64];
};

struct cf_decode_process {
    uint32_t pid, ring_number, parent;
    int alive;       /* its tokens are expected */
    int execed;      /* the pid ran another image before */
    int execs;       /* it is about to run another */
    int coming;      /* children that have not sent their start yet */
    uint32_t blocks; /* of the ring */
    struct cf_wire_ring *ring;
    uint32_t sequence; /* of the block that is due */
    uint32_t consumed; /* bytes of it that were decoded as published */
    struct cf_rows_code code;
    uint32_t *contexts; /* by its own id: ours */
    uint32_t n_contexts, contexts_room;
    struct cf_decode_thread *threads;
    int n_threads, threads_room, running;
    struct cf_decode_process *next; /* newest first */
};

struct cf_trace {
    char directory[PATH_MAX], spare[PATH_MAX];
    struct cf_trace_options options;
    struct cf_trace_handler handler;
    int fd;
    int begun;
    int stopping; /* no more recording is wanted */
    int stopped;  /* by the handler, or without memory: nothing is called any more */
    int refused;  /* memory or descriptors were wanting */
    unsigned dropped, seen, unrecorded, killed;
    uint32_t unrecorded_error; /* errno of the first; 0: by an exec */
    uint32_t unrecorded_pid[CF_TRACE_TOLD];
    char problem[512];

    struct cf_rows rows;
    struct cf_rows_output out; /* room 0: no place is open */
    uint64_t time, total;
    uint64_t run_from; /* when the running thread began to run */
    struct cf_decode_process *processes, *current;
    uint32_t last_context;

    uint32_t n_objects, objects_pid;
    uint64_t object_time[CF_DECODE_OBJECTS], object_addr[CF_DECODE_OBJECTS],
        object_bytes[CF_DECODE_OBJECTS];
    uint32_t object_tid[CF_DECODE_OBJECTS], object_stack[CF_DECODE_OBJECTS];
    uint8_t object_kind[CF_DECODE_OBJECTS];
    uint32_t n_contexts;
    struct cf_trace_context context[CF_DECODE_CONTEXTS];
};

/* Functions that return an int return 0, or -1 when nothing more is to be called. */

/* ---- decode.c ---- */

/* Keeps the first problem. */
void cf_decode_problem(struct cf_trace *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the system refused us is no fault of the trace. */
void cf_decode_refused(struct cf_trace *t, const char *what, int error);

/* What a handler returned: remembers that it wants no more. */
int cf_decode_called(struct cf_trace *t, int result);
int cf_decode_no_memory(struct cf_trace *t);

/* ---- decode_place.c ---- */

/* The accesses so far are handed over; what comes next gets a place of its own. */
int cf_decode_close_place(struct cf_trace *t);

/* Hands over the rows that were kept back, in their order. */
int cf_decode_flush(struct cf_trace *t);

/* Takes over the accesses that were expanded into the staging area. */
int cf_decode_put_staged(struct cf_trace *t, uint32_t staged);

/* The running thread stops, and the current process's running thread runs from now on. */
void cf_decode_pause(struct cf_trace *t);
int cf_decode_resume(struct cf_trace *t);

/* What is known of the current process's string instruction is handed over: it does not go on. */
int cf_decode_end_repeat(struct cf_trace *t);

int cf_decode_task(struct cf_trace *t, struct cf_decode_process *p, uint32_t tid,
                   enum cf_trace_kind kind, const char *name);

/* ---- decode_process.c ---- */

/* The process of this number that has not ended; the one with this ring. Or NULL. */
struct cf_decode_process *cf_decode_alive(const struct cf_trace *t, uint32_t pid);
struct cf_decode_process *cf_decode_find(struct cf_trace *t, uint32_t pid, uint32_t ring_number);

/* A process begins with a ring; or without one: if it came to that by exec, it has ended for us. */
int cf_decode_start(struct cf_trace *t, const struct cf_wire_token *token);
int cf_decode_start_without(struct cf_trace *t, const struct cf_wire_token *token);
int cf_decode_end(struct cf_trace *t, struct cf_decode_process *p);

/* It waits for a block that is free now. */
void cf_decode_wake(struct cf_decode_process *p);

/* What this process still sends is not looked at. */
void cf_decode_refuse(struct cf_decode_process *p);

/* What it sent cannot be decoded: `what` says why. */
void cf_decode_drop(struct cf_trace *t, struct cf_decode_process *p, const char *what);

/* Counts a process that is not recorded; `error` is an errno, 0: by an exec. */
void cf_decode_not_recorded(struct cf_trace *t, uint32_t pid, uint32_t error);

/* Frees it; it is in no list any more. */
void cf_decode_forget(struct cf_decode_process *p);

/* ---- decode_events.c ---- */

/* Takes in the event at *from, which ends before `end`, and leaves it behind. 0; -1: stop; -2:
 * nonsense. */
int cf_decode_event(struct cf_trace *t, struct cf_decode_process *p, const uint8_t **from,
                    const uint8_t *end);

#endif
