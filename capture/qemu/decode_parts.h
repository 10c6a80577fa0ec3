/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_parts.h - what the parts of the decoder share: decode.c has queue, threads and what the
 * caller does, decode_words.c what stands in the blocks.
 */
#ifndef CF_QEMU_DECODE_PARTS_H
#define CF_QEMU_DECODE_PARTS_H

#include "capture/cf_repeat.h"
#include "decode.h"
#include "decode_code.h"
#include "protocol.h"

enum { NAME_BYTES = 4096, KNOWN_THREADS = 1024 /* remembered after their end at least */ };

struct thread {
    uint32_t pid, tid, cpu;
    int alive;
    uint64_t count; /* instructions */
    uint32_t block; /* its last execution, */
    uint64_t start; /* the time of that, */
    uint32_t step;  /* and what an instruction's index counts for: nothing, after an interruption */
    int repeats;    /* the last instruction of that is a string instruction that may go on: */
    uint32_t repeat; /* its number, */
    uint64_t repeat_time;
    struct cf_repeat joined; /* and its accesses that may yet grow */
};

struct cfq_decoder {
    struct cfq_options options;
    struct cf_writer *writer;
    struct cfq_shared *shared;
    int descriptor;
    int failed;   /* nothing is written any more */
    int stopping; /* no more rows of access */
    char problem[512];
    int refused; /* it is what the system did not give, such as memory */
    struct code code;
    uint64_t now, rows, run_from;
    uint64_t bias; /* of the program's addresses to those of its file, */
    int loaded;    /* if this is known */
    struct thread *threads;
    unsigned n_threads, threads_room, begun;
    unsigned current; /* threads from 1 on; 0: none */
    /* The open place; room 0: none. */
    uint32_t row, room;
    uint64_t *time, *addr;
    uint32_t *hint;
    uint64_t words[CFQ_WORDS];
};

/* The first problem is kept; recording stops. -1. */
int cfq_no_memory(struct cfq_decoder *d);
int cfq_unreadable(struct cfq_decoder *d, const char *path); /* by errno */
int cfq_problem(struct cfq_decoder *d, const char *format, ...) CF_PRINTF(2, 3);

/* The result of a call to the writer, which has its own message: 0, or -1 and recording stops. */
int cfq_written(struct cfq_decoder *d, int result);

/* Rows of accesses go into an open place; everything else closes it first. 0 or -1. */
int cfq_close_place(struct cfq_decoder *d);
int cfq_open_place(struct cfq_decoder *d);

/* The thread's string instruction does not go on. The thread is the current one. */
int cfq_end_repeat(struct cfq_decoder *d, struct thread *t);

/* A row of task. */
int cfq_put_task(struct cfq_decoder *d, const struct thread *t, unsigned op, const char *name);

/* A thread has made another. That may have run, and even ended, before its maker came to say so:
   one is known by its number as long as it is remembered. */
int cfq_thread_made(struct cfq_decoder *d, const struct thread *maker, uint32_t tid);

/* Words w..end of a block, which thread t has written (NULL: descriptions). 0 or -1. */
int cfq_decode(struct cfq_decoder *d, const struct cfq_block *b, struct thread *t,
               const uint64_t *w, const uint64_t *end);

#endif
