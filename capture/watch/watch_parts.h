/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_parts.h - private to the watch: the state that watch.c, watch_threads.c and watch_traps.c
 * share.
 */
#ifndef CF_WATCH_PARTS_H
#define CF_WATCH_PARTS_H

#include "capture/watch/watch.h"
#include "capture/watch/watch_arch.h"

enum hit { NO_HIT, HIT_TRAP, HIT_DATA, HIT_NEXT /* data, while it passed another point */ };
enum { CF_WATCH_WAIT_MS = 100 }; /* for a thread to stop, or to make a step */
enum step { NO_STEP, STEP_TO_MAKE, STEP_MADE /* its SIGTRAP is to come */ };

struct trap {
    uint64_t addr; /* 0: not put in */
    long word;     /* what stood there */
    int in;        /* stands there; not so as long as a thread passes */
    int out;       /* was taken out for good; who had hit it before that is still to be told */
};

enum { ENDED_KEPT = 32 };

struct process {
    pid_t pid;
    uint64_t program; /* see cf_watch_program() */
    struct trap trap[CF_WATCH_POINTS];
    struct trap entry; /* while symbols may be those of libraries that are not loaded yet */
    unsigned placed;   /* bits of points */
    struct cf_watch_data data[CF_WATCH_DATA_MOST];
    unsigned data_count;
};

struct thread {
    pid_t tid, pid;
    int fresh;   /* has not stopped yet: its debug registers are not set */
    int stopped; /* stands still and is ours to let go */
    int group;   /* by a SIGSTOP of its own world */
    int signal;  /* to hand over when it goes on */
    int halted;  /* went on although its process was stopped: it has yet to join that */
    enum hit hit;
    enum step step;   /* one that it was left alone with, since it waits in the kernel meanwhile */
    uint64_t from;    /* its program counter before that */
    int masked;       /* signals wait while it makes a step */
    uint64_t mask;    /* what it blocks itself */
    uint64_t entered; /* the point at a system call in which it may be, which may be restarted */
    int calls;        /* is in the system call of number and arguments `call` */
    struct cf_watch_call call;
};

struct cf_watch {
    struct cf_tool *tool;
    const char *option; /* that asked for the points, for messages */
    const struct cf_watch_point *point;
    unsigned points;
    struct process *process;
    struct thread *thread;
    size_t processes, process_room, threads, thread_room;
    struct process ended[ENDED_KEPT]; /* of whose children the first stop may be to come */
    size_t ends;
    int stopping;
    int single;                      /* see cf_watch_single() */
    unsigned begun;                  /* programs */
    int refused;                     /* see cf_watch_refused() */
    int released;                    /* nothing is watched any more: who stops is detached */
    unsigned found, several, warned; /* bits of points */
    char places[1024];               /* of the first point that is in several */
    void (*returned)(void *arg, const struct cf_watch_call *call); /* of system calls, or NULL */
    void *returned_arg;
    uint64_t shared; /* accesses that another one's snapshot has to serve */
};

/* ---- watch_threads.c; processes are known as long as they have a thread ---- */

struct process *cf_watch_find_process(struct cf_watch *w, pid_t pid);
struct thread *cf_watch_find_thread(struct cf_watch *w, pid_t tid);

/* The same in all processes that have come by fork of one that began a program, and hardly in any
   other: of the addresses and random bytes that the kernel gave it then. 0: it cannot be read. */
uint64_t cf_watch_program(pid_t pid);

/* Adds it, unless it is known, and its process. Like cf_watch_drop_thread() it moves the lists. */
struct thread *cf_watch_add_thread(struct cf_watch *w, pid_t tid);
void cf_watch_drop_thread(struct cf_watch *w, pid_t tid);

/* Adds what the thread's stop says that it brought forth, unless that has ended already: its stops
   may come first. */
void cf_watch_add_born(struct cf_watch *w, pid_t tid);

/* ---- watch.c ---- */

/* Whether a SIGTRAP is on its way to the thread, which would kill it untraced. */
int cf_watch_has_trap(pid_t tid);

/* A system call begins or has returned. */
void cf_watch_on_call(struct cf_watch *w, struct thread *t);

/* ---- watch_step.c ---- */

int64_t cf_watch_now_ms(void);
void cf_watch_rest(void); /* 20 us */

/* Signals wait, in the kernel, while a thread does something for us, but those that faults bring
   about. -1 with errno. */
int cf_watch_mask(struct thread *t);
void cf_watch_unmask(struct thread *t);

/* A thread stands that was left alone with a step: 1 where this stop is the step's own. */
int cf_watch_late(struct cf_watch *w, struct thread *t, int status);

/* ---- watch_traps.c ---- */

/* Puts the trap in, or what stood there back unless another point has its trap there, by a thread
   of the process that stands. -1 with errno. */
int cf_watch_poke(const struct process *p, pid_t tid, struct trap *trap, int in);

/* For a thread that stands at its beginning: sets its debug registers, and puts the traps in that a
   process lacks which is a copy of another: they were out while that one made a step. */
void cf_watch_complete(struct cf_watch *w, const struct thread *t);

/* For cf_watch_refused(), where errno is of that kind. */
void cf_watch_note_refusal(struct cf_watch *w);

/* A program begins in this process. */
void cf_watch_begin(struct cf_watch *w, struct process *p, pid_t tid);

/* 0 where a child whose debug registers watch a word writes to it untold, as in some virtual
   machines; 1 where it stops, or that cannot be tried. */
int cf_watch_data_stops(void);

/* Sets the thread's debug registers, or clears them. */
void cf_watch_arm(struct cf_watch *w, const struct thread *t, int on);

/* Its libraries are there: 1 when this is the program's first instruction. */
int cf_watch_on_entry(struct cf_watch *w, struct thread *t);

/* The trap behind which a thread stands, or NULL. */
struct trap *cf_watch_trap_of(struct cf_watch *w, const struct thread *t, uint64_t *pc);

#endif
