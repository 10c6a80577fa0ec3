/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_parts.h - the decoder's state, which its parts share with the readers: a reader embeds a
 * struct cf_decode, has a struct cf_decode_process for each process whose blocks it reads, and
 * hands these to cf_decode_block().
 */
#ifndef CF_RECORD_DECODE_PARTS_H
#define CF_RECORD_DECODE_PARTS_H

#include "capture/base/cf_builds.h"
#include "decode.h"
#include "decode_calls.h"
#include "decode_rows.h"
#include "protocol.h"

enum {
    CF_DECODE_OBJECTS = 4096,  /* kept back at most */
    CF_DECODE_CONTEXTS = 1024, /* and these, about */
    CF_DECODE_THREADS = 1024,  /* of a process, remembered after their end at least */
    CF_DECODE_NO_THREAD = -1,
    CF_DECODE_LEFT_OUT = 16, /* ranges of a process */
};

struct cf_decode_thread {
    uint32_t tid, cpu;
    int alive;
    uint64_t count; /* instructions */
    char name[64];
    /* Its last translation block or NULL, the time of that, and what an instruction's index counts
     * for: nothing, after another thread ran. */
    struct cf_rows_block *listed;
    uint64_t start;
    uint32_t step;
    struct cf_calls_thread calls; /* zero where they are not followed */
};

/* Memory that belongs to the recorder: code in it is not recorded, nor are accesses to it. */
struct cf_decode_left_out {
    unsigned ranges;
    uint64_t start[CF_DECODE_LEFT_OUT], end[CF_DECODE_LEFT_OUT];
};

struct cf_decode_process {
    uint32_t pid, parent;
    int execed; /* the pid ran another image before */
    struct cf_rows_code code;
    struct cf_decode_left_out left_out;
    uint32_t *contexts; /* by its own id: ours */
    size_t n_contexts, contexts_room;
    struct cf_decode_thread *threads;
    size_t threads_room;
    int n_threads, running;
    /* Where calls are followed: */
    uint32_t image;
    struct cf_calls_forks forks;
    struct cf_calls_thread first; /* the stack of its first thread, from before the fork */
};

struct cf_decode {
    struct cf_decode_options options;
    struct cf_writer *writer;
    /* Takes a MAP or UNMAP event; cf_decode_map() unless the reader knows more of mappings. */
    int (*map)(struct cf_decode *t, uint32_t pid, const struct cf_wire_map *map, const char *name);
    int stopping; /* no more records are wanted */
    int stopped;  /* by the writer, or without memory: nothing is written any more */
    int refused;  /* memory or descriptors were wanting */
    char problem[512];

    struct cf_rows rows;
    struct cf_rows_output out;                 /* room 0: no place is open */
    struct cf_stretches *stretches;            /* NULL: none are open either */
    struct cf_stretches stretched;             /* as far as they were looked through */
    uint32_t counted;                          /* rows of them that are in `total` */
    const struct cf_decode_left_out *left_out; /* of the process that it is open for */
    uint64_t time, total;
    uint64_t run_from; /* when the running thread began to run */
    struct cf_decode_process *current;
    uint32_t last_context;
    struct cf_calls calls;
    struct cf_builds builds;

    uint32_t n_objects, objects_pid;
    uint64_t object_time[CF_DECODE_OBJECTS], object_addr[CF_DECODE_OBJECTS],
        object_bytes[CF_DECODE_OBJECTS];
    uint32_t object_tid[CF_DECODE_OBJECTS], object_stack[CF_DECODE_OBJECTS];
    uint8_t object_op[CF_DECODE_OBJECTS];
    uint32_t n_contexts;
    uint32_t context_pid[CF_DECODE_CONTEXTS], context_id[CF_DECODE_CONTEXTS],
        context_parent[CF_DECODE_CONTEXTS];
    uint64_t context_pc[CF_DECODE_CONTEXTS], heapless;
};

/* Functions that return an int return 0, or -1 when nothing more is to be written. */

/* ---- decode.c ---- */

/* Of a decoder that is zero. -1 without memory. */
int cf_decode_init(struct cf_decode *t, const struct cf_decode_options *options,
                   struct cf_writer *writer);
void cf_decode_free(struct cf_decode *t);

/* Decodes what stands in a block of the process from `from` up to `end`, behind which CF_ROWS_TAIL
 * bytes are readable. -2: it is invalid. */
int cf_decode_block(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *from,
                    const uint8_t *end);

/* A process that has a pid and is zero else: a new one, or a child that knows its parent's outcomes
 * and contexts below these, and begins with the stack of this FORKS event. -1 without memory, -2:
 * the parent knows no such. To be freed in any case. */
int cf_decode_process_init(struct cf_decode *t, struct cf_decode_process *p);
int cf_decode_process_inherit(struct cf_decode *t, struct cf_decode_process *p,
                              struct cf_decode_process *parent, uint32_t outcomes,
                              uint32_t contexts, uint32_t fork);
void cf_decode_process_free(struct cf_decode_process *p);

/* Keeps the first problem. */
void cf_decode_problem(struct cf_decode *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the system refused us is no fault of the record. */
void cf_decode_refused(struct cf_decode *t, const char *what, int error);

/* What the writer returned: remembers that it takes no more. */
int cf_decode_called(struct cf_decode *t, int result);
int cf_decode_no_memory(struct cf_decode *t);

/* ---- decode_place.c ---- */

/* Where the current process's accesses go as stretches; NULL where they go as rows. */
struct cf_stretches *cf_decode_stretches(struct cf_decode *t);
/* Looks through what came to them. */
int cf_decode_gathered(struct cf_decode *t);
int cf_decode_stretches_full(struct cf_decode *t);

/* Takes over the accesses that were expanded into the staging area. */
int cf_decode_put_staged(struct cf_decode *t, uint32_t staged);

/* The running thread stops, and the current process's running thread runs from now on. */
void cf_decode_pause(struct cf_decode *t);
int cf_decode_resume(struct cf_decode *t);

/* A process that may be forgotten must not be the current one. */
int cf_decode_leave(struct cf_decode *t, const struct cf_decode_process *p);

/* What is known of the current process's string instruction is written: it does not go on. */
int cf_decode_end_repeat(struct cf_decode *t);

/* Rows: `op` is CF_BEGIN, CF_NAMED or CF_EXIT; the type of the event says whether it is mapped. */
int cf_decode_task(struct cf_decode *t, const struct cf_decode_process *p, uint32_t tid,
                   unsigned op, const char *name);
int cf_decode_map(struct cf_decode *t, uint32_t pid, const struct cf_wire_map *map,
                  const char *name);

/* Leaves a range of the current process out from now on, or does so no more. What was recorded of
 * it must be written. */
void cf_decode_leave_out(struct cf_decode *t, uint64_t start, uint64_t end, int out);
int cf_decode_is_left_out(const struct cf_decode_left_out *l, uint64_t addr);

/* Whose rows are made now: of the current process's running thread. */
struct cf_rows_thread cf_decode_running(struct cf_decode *t);

/* ---- decode_listed.c ---- */

/* Takes in words of translation blocks up to an event or the end. -2: they are invalid. */
int cf_decode_listed(struct cf_decode *t, struct cf_decode_process *p, const uint8_t **from,
                     const uint8_t *end);

/* ---- decode_events.c ---- */

/* Takes in the event at *from, which ends before `end`, and leaves it behind. -2: it is invalid. */
int cf_decode_event(struct cf_decode *t, struct cf_decode_process *p, const uint8_t **from,
                    const uint8_t *end);

/* A thread that is not known to be alive begins with this name; and it runs from now on. */
int cf_decode_begin(struct cf_decode *t, struct cf_decode_process *p, uint32_t tid,
                    const char *name);
int cf_decode_run(struct cf_decode *t, struct cf_decode_process *p, uint32_t tid, uint32_t cpu);

#endif
