/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_stub.h - code of ours in a program, which reads the counter of cycles right before a
 * function and right behind it, so that no stop is in the time between.
 *
 * It is in two pages of its own, which the program is made to map. A thread that stands at the
 * function's first instruction is sent there; the code waits until what a stop leaves behind is
 * over, reads the counter and jumps to the function, which returns into the code, since the return
 * address on the stack is exchanged, as by return probes of the Linux kernel (uretprobes). There it
 * reads the counter again, and comes to a trap. Once the trap is out, whoever comes by returns to
 * where the function was called from: a child of the program, too, which has a copy.
 * What walks the stack meanwhile finds no caller behind the function.
 */
#ifndef CF_WATCH_STUB_H
#define CF_WATCH_STUB_H

#include "capture/watch/watch.h"

struct cf_watch_stub {
    uint64_t page;     /* where it is; 0: nowhere */
    uint64_t trap;     /* where it stops behind the function */
    uint64_t function; /* where that begins, and where it was called from */
    uint64_t to;
};

/* Maps it in the process of a thread that stands at the first instruction of a function, at which
   there is no trap, while others stand still. NULL, or why that cannot be: then nothing has
   changed. */
const char *cf_watch_stub_map(struct cf_watch *w, pid_t tid, struct cf_watch_stub *s);

/* Has the function return into it. The trap is to be put in by cf_watch_move(). -1 with errno. */
int cf_watch_stub_enter(pid_t tid, struct cf_watch_stub *s);

/* Ticks that it has read around nothing, a function that returns at once; then the thread stands
   where it stood. UINT64_MAX where something else came between. */
uint64_t cf_watch_stub_empty(struct cf_watch *w, pid_t tid, const struct cf_watch_stub *s);

/* When the thread goes on, it does so in the stub, to the function. -1 with errno. */
int cf_watch_stub_go(pid_t tid, const struct cf_watch_stub *s);

/* Ticks between the readings before and behind. -1 with errno. */
int cf_watch_stub_read(pid_t tid, const struct cf_watch_stub *s, uint64_t *ticks);

#endif
