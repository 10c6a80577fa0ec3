/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - events inside programs, without a change to them: the execution of an instruction
 * and accesses to data, by ptrace.
 *
 * The paper leaves them for later ("Observing the Invisible", section 6.2). An instruction is
 * watched by a trap instruction in its place, data by the debug registers of the CPU, in all
 * processes and threads that come of the commands. What is traced is also stopped by ptrace and
 * not by SIGSTOP, since the tracer would only see that as one more event.
 */
#ifndef CF_WATCH_H
#define CF_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "formats/program/cf_tool.h"

enum { CF_WATCH_POINTS = 16, CF_WATCH_DATA_MOST = 4 };
enum cf_watch_kind { CF_WATCH_BREAK, CF_WATCH_WRITE, CF_WATCH_ACCESS };

struct cf_watch_point {
    enum cf_watch_kind kind;
    const char *symbol; /* NULL: `offset` is an address, 0: the trap comes by cf_watch_move() */
    uint64_t offset;
    int linked;     /* that address is one of the program's file, wherever it was loaded */
    unsigned bytes; /* of data: 1, 2, 4 or 8; 0: what fits the symbol */
};

struct cf_watch;

/* "break:WHERE", "write:WHERE[:BYTES]", "access:WHERE[:BYTES]" with WHERE a SYMBOL[+OFFSET] or a
   number: 0, or -1 where it is no such thing. The symbol's name is taken over from `text`, which
   is changed. */
int cf_watch_parse(char *text, struct cf_watch_point *p);

/* Why this cannot be had here at all, or NULL. Whether debug registers stop anything is tried in a
   child, and where that cannot be tried taken for granted. */
const char *cf_watch_unable(const struct cf_watch_point *point, unsigned points);

/* NULL without memory. `point` must stay; `option` is the one that asks for it, in messages. */
struct cf_watch *cf_watch_new(struct cf_tool *tool, const char *option,
                              const struct cf_watch_point *point, unsigned points);
void cf_watch_free(struct cf_watch *w);

/* Takes a command over that has not run its program yet. -1 with errno. */
int cf_watch_seize(struct cf_watch *w, pid_t pid);

/* Handles what has happened until then, up to the first hit of a point; never waits. Returns 1 for
   a hit: its thread stands still until cf_watch_continue(). To be called again after that, until it
   returns 0. Ended children are given to `ended`. */
unsigned cf_watch_handle(struct cf_watch *w, void (*ended)(void *arg, pid_t pid, int status),
                         void *arg);

/* Stops all threads; returns how many did not within 100 ms. */
unsigned cf_watch_stop(struct cf_watch *w, void (*ended)(void *arg, pid_t pid, int status),
                       void *arg);
void cf_watch_continue(struct cf_watch *w);
/* Does beforehand what of that takes time, but for letting go. */
void cf_watch_pass(struct cf_watch *w);

/* Instead of cf_watch_continue(): lets all go untraced, and no point is hit any more. Who does not
   stand yet is let go by cf_watch_handle() when it does. */
void cf_watch_release(struct cf_watch *w);

/* Lets all go that are left, since who is traced ends with us. Waits for them ten seconds at most
   and returns the number of threads that did not stop. */
size_t cf_watch_end(struct cf_watch *w, void (*ended)(void *arg, pid_t pid, int status), void *arg);

/* ---- for one who measures: the thread that has hit, and where traps are ---- */

struct cf_watch_hit {
    pid_t tid, pid;
    unsigned point; /* its number */
};

/* Returns when a child has something to report, which it leaves there: 0, or -1 with errno. */
int cf_watch_wait(void);

/* From now on cf_watch_handle() handles one event, so that the time when cf_watch_wait() returned
   is that event's. */
void cf_watch_single(struct cf_watch *w);

/* The thread whose hit of a trap is to be served, after cf_watch_handle() returned 1. -1: none. */
int cf_watch_get_hit(const struct cf_watch *w, struct cf_watch_hit *hit);

/* Puts the trap of a point of the thread's process elsewhere, or with 0 takes it out. Others must
   stand still, see cf_watch_stop(). -1 with errno. */
int cf_watch_move(struct cf_watch *w, pid_t tid, unsigned point, uint64_t addr);

/* How long it takes a thread to go on, hit the trap at which it stands, and have it reported: the
   least of so many tries, in units of `clock`. UINT64_MAX where none was like that. */
uint64_t cf_watch_least(struct cf_watch *w, pid_t tid, unsigned tries, uint64_t (*clock)(void));

struct cf_watch_call {
    pid_t pid;
    uint64_t number, argument[6];
    int64_t result; /* -errno where it failed */
};

/* From now on, `returned` is given each system call that has returned; NULL ends that. */
void cf_watch_calls(struct cf_watch *w,
                    void (*returned)(void *arg, const struct cf_watch_call *call), void *arg);

/* How many programs have begun. */
unsigned cf_watch_begun(const struct cf_watch *w);

/* How many places a point was found at in one program: 0, 1, or 2 for several. */
unsigned cf_watch_found(const struct cf_watch *w, unsigned point);

/* What the environment refused, so that a point may have a place that was not found: an errno, or
   0. */
int cf_watch_refused(const struct cf_watch *w);

/* Where the first point is that is in several: words that end a message. */
const char *cf_watch_places(const struct cf_watch *w);

/* Warns of symbols that were found nowhere, or at several places, and what was missed. */
void cf_watch_tell(struct cf_watch *w);

#endif
