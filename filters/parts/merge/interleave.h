/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interleave.h - what the parts of the interleaving of threads share.
 */
#ifndef MERGE_INTERLEAVE_H
#define MERGE_INTERLEAVE_H

#include "filters/parts/merge/merge.h"

enum event { BIRTH, OTHER_ROW, ACCESSES, END };

/* A thread that lives. */
struct runner {
    struct source source;
    const uint64_t *time; /* of the waiting accesses */
    const uint32_t *pid, *tid;
    uint32_t stop;  /* the rows of the thread from part.at on end here: its clock is steady there */
    uint64_t shift; /* own clock - time, for these rows */
    size_t stretch; /* the next one */
    size_t born;    /* children so far */
    enum event next; /* the thread's next event, and its clock then */
    uint64_t next_own;
    uint64_t own;   /* its clock now */
    uint64_t turn;  /* its clock when its turn began */
    uint64_t ahead; /* time - own clock, while it runs */
    struct fifo *fifo;
    size_t memory; /* that its reader holds */
};

struct cpu {
    struct thread *running;      /* NULL: idle */
    struct thread *first, *last; /* of the others that could run */
    size_t waiting;              /* how many these are */
    uint64_t clock;              /* when it became free */
    /* while it runs a thread: */
    uint64_t next; /* when that does something next */
    int turn_ends; /* and whether that is the end of its turn */
};

struct play {
    struct merge *merge;
    struct threads *threads;
    struct cpu *cpu;
    uint32_t cpus;
    struct cpu **order; /* those that run a thread, the next event first */
    size_t busy;
    size_t memory; /* that the readers hold */
    size_t lives;  /* threads that live */
    size_t roots;  /* threads without creator that were looked at so far */
    uint64_t now;  /* time of the last row */
};

/* ---- runner.c ---- */

/* Looks what the thread does next. -1 when output failed. */
int runner_look(struct play *p, struct thread *th) CF_MUST_CHECK;

/* ---- turns.c; of what returns a number, -1 says that output failed ---- */

/* At equal times the older thread goes first. */
static inline int cpu_before(const struct cpu *a, const struct cpu *b)
{
    return a->next < b->next || (a->next == b->next && a->running->index < b->running->index);
}

/* Something about what the processor runs has changed. */
void cpu_reorder(struct play *p, struct cpu *c);
/* The thread runs from `time` on, as a row of table switch says. */
int turn_begin(struct play *p, struct thread *th, uint64_t time) CF_MUST_CHECK;
/* Puts a thread after those that wait for the processor; takes the first of them. */
void turn_wait(struct cpu *c, struct thread *th);
struct thread *turn_next(struct cpu *c);
/* The turn of the running thread is over at `time`. Where no thread of this processor does anything
   for whole rounds, and nothing else happens before `limit`, these are skipped. */
int turn_rotate(struct play *p, struct cpu *c, uint64_t limit) CF_MUST_CHECK;

#endif
