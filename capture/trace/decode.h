/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode.h - turns what the Valgrind tool cftrace leaves behind (protocol.h) into columns.
 *
 *     struct cf_trace *t = cf_trace_open(directory, &options, &handler, problem, sizeof problem);
 *     start the program under the tool with --directory=<directory>
 *     while ((r = cf_trace_read(t, 100)) > 0)
 *         if (r == CF_TRACE_IDLE)
 *             flush what the handler holds back
 *     cf_trace_finish(t);
 *     cf_trace_close(t);
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
 * What is read is not trusted: ids, counts and sizes are checked, and a process that sends nonsense
 * is dropped with a problem. Nothing is global; one thread uses one decoder.
 */
#ifndef CF_TRACE_DECODE_H
#define CF_TRACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum cf_trace_op { CF_TRACE_LOAD = 1, CF_TRACE_STORE = 2, CF_TRACE_IFETCH = 3 };

struct cf_trace_options {
    int instructions;    /* also rows for instruction runs */
    int follow;          /* children and what processes turn into by exec are traced too */
    uint32_t fetch_line; /* bytes, a power of two from 1 on; 0: 64 */
    const char *spare;   /* a second directory, or NULL */
    uint64_t limit;      /* access rows after which recording stops; 0: none */
};

/* What accesses of one origin have in common; numbered by hints from 1. */
struct cf_trace_origin {
    uint64_t pc;    /* of the instruction; of a run, of its first */
    uint32_t size;  /* bytes */
    uint32_t insns; /* instructions in a run, 0 for data */
    uint8_t op;     /* enum cf_trace_op */
};

/* Places for accesses, all of the same length:
 * time      instructions before it
 * addr      virtual address; of a run that of its first instruction
 * hint      its origin */
struct cf_trace_columns {
    uint64_t *time;
    uint64_t *addr;
    uint32_t *hint;
};

enum cf_trace_kind {
    CF_TRACE_BEGIN = 1, /* task: a process or thread begins */
    CF_TRACE_NAMED,     /* task: gets a name (a process: by exec) */
    CF_TRACE_EXIT,      /* task */
    CF_TRACE_MAPPED,    /* map: replaces what was there */
    CF_TRACE_UNMAPPED,  /* map: from exec, of everything: 0 .. UINT64_MAX */
    CF_TRACE_ALLOC,     /* object; a forked child begins with those of all its parent's blocks */
    CF_TRACE_FREE,      /* object */
};

struct cf_trace_task {
    uint64_t time;
    uint32_t pid, tid, parent; /* parent process, 0 if not known */
    enum cf_trace_kind kind;
    const char *name;
};

struct cf_trace_map {
    uint64_t time;
    uint32_t pid;
    enum cf_trace_kind kind;
    uint32_t perms;      /* 1 read, 2 write, 4 execute */
    uint64_t start, end; /* end: first byte after it */
    uint64_t offset;     /* in the file, bytes */
    const char *name;    /* file, "[heap]", "[stack]", "[shm]", "" */
};

/* Rows of heap blocks; all of one process. */
struct cf_trace_objects {
    uint32_t rows, pid;
    const uint64_t *time;
    const uint32_t *tid;
    const uint8_t *kind; /* enum cf_trace_kind */
    const uint64_t *addr;
    const uint64_t *bytes;
    const uint32_t *stack; /* context of the allocation, 0 unknown; of a release the block's */
};

/* A node of the calling-context tree. Ids are unique in the trace and rise; the innermost frame is
 * the leaf, its caller the parent; parent 0: the outermost frame that was recorded. */
struct cf_trace_context {
    uint32_t pid, stack, parent;
    uint64_t pc; /* return address */
};

/* What the caller gets. Functions return 0, or anything else to stop: then nothing more is called
 * and cf_trace_read() returns CF_TRACE_STOPPED. Strings and arrays are valid during the call. */
struct cf_trace_handler {
    void *arg;
    /* A new origin, before the first access with that hint. */
    int (*origin)(void *arg, uint32_t hint, const struct cf_trace_origin *origin);
    /* Places for accesses of one thread: fills in *columns and *rows (at least 1). */
    int (*place)(void *arg, uint32_t pid, uint32_t tid, struct cf_trace_columns *columns,
                 uint32_t *rows);
    /* The first `rows` of them are filled in. Always follows before any other call. */
    int (*placed)(void *arg, uint32_t rows);
    /* tid runs from time on, after count instructions of its own. */
    int (*switched)(void *arg, uint64_t time, uint32_t pid, uint32_t tid, uint64_t count);
    int (*task)(void *arg, const struct cf_trace_task *task);
    int (*map)(void *arg, const struct cf_trace_map *map);
    int (*objects)(void *arg, const struct cf_trace_objects *objects);
    int (*context)(void *arg, const struct cf_trace_context *context);
};

struct cf_trace;

/* Makes the FIFO in the directory. NULL when that fails; `problem` then tells. Rings may also be in
 * options->spare. */
struct cf_trace *cf_trace_open(const char *directory, const struct cf_trace_options *options,
                               const struct cf_trace_handler *handler, char *problem, size_t size);

enum {
    CF_TRACE_END = 0,      /* all traced processes are gone */
    CF_TRACE_WORKED = 1,   /* something was decoded */
    CF_TRACE_IDLE = 2,     /* nothing came in the time given, all that is known was handed over */
    CF_TRACE_STOPPED = -1, /* the handler said so, or no memory */
};

/* Waits up to `milliseconds` for blocks and decodes what is there. */
int cf_trace_read(struct cf_trace *t, int milliseconds);

/* Hands over what was decoded but waits for a place to fill; cheap. For callers that flush by time.
 */
int cf_trace_flush(struct cf_trace *t);

/* The file descriptor to poll, if the caller waits for something else too. */
int cf_trace_fd(const struct cf_trace *t);

/* Whether a process ever announced itself. */
int cf_trace_begun(const struct cf_trace *t);

/* At CF_TRACE_END: whether this process ended without a word, and did not go on as another program:
 * it was killed, or Valgrind failed. */
int cf_trace_silent(const struct cf_trace *t, uint32_t pid);

/* Processes that are being recorded. */
unsigned cf_trace_alive(const struct cf_trace *t);

/* No more recording: the program runs on, as fast as it can. */
void cf_trace_stop(struct cf_trace *t);

/* Hands over the rest, and ends the processes that could not say so. As cf_trace_read(). */
int cf_trace_finish(struct cf_trace *t);

uint64_t cf_trace_time(const struct cf_trace *t); /* instructions so far */
uint64_t cf_trace_rows(const struct cf_trace *t); /* accesses and runs so far */

/* The first thing that went wrong, or NULL; and how many processes were dropped for it. */
const char *cf_trace_problem(const struct cf_trace *t);
/* Whether memory or descriptors were wanting; then the trace is not to blame. */
int cf_trace_refused(const struct cf_trace *t);
unsigned cf_trace_dropped(const struct cf_trace *t);

/* What became of the processes: how many there were, of which some were not recorded at all (the
 * first CF_TRACE_TOLD of them, and why: errno of the first, 0 if what it went on as by exec cannot
 * be), and some were killed, so that what they did last is missing. */
enum { CF_TRACE_TOLD = 8 };
struct cf_trace_census {
    unsigned all, unrecorded, killed;
    const uint32_t *unrecorded_pid;
    int why;
};
struct cf_trace_census cf_trace_census(const struct cf_trace *t);

/* Frees; what is still traced runs on without being recorded. Removes the FIFO. */
void cf_trace_close(struct cf_trace *t);

#endif
