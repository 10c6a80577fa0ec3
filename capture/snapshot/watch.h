/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - events inside the commands, without a change to them: the execution of an instruction
 * and accesses to data, by ptrace.
 *
 * The paper leaves them for later ("Observing the Invisible", section 6.2). An instruction is
 * watched by a trap instruction in its place, data by the debug registers of the CPU, in all
 * processes and threads that come of the commands. Whoever is traced is also stopped by ptrace and
 * not by SIGSTOP, since the tracer would only see that as one more event.
 */
#ifndef CF_SNAPSHOT_WATCH_H
#define CF_SNAPSHOT_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "formats/program/cf_tool.h"

enum { WATCH_POINTS = 16, WATCH_DATA_MOST = 4 };
enum watch_kind { WATCH_BREAK, WATCH_WRITE, WATCH_ACCESS };

struct watch_point {
    enum watch_kind kind;
    const char *symbol; /* NULL: `offset` is an address */
    uint64_t offset;
    unsigned bytes; /* of data: 1, 2, 4 or 8; 0: what fits the symbol */
};

struct watch;

/* "break:WHERE", "write:WHERE[:BYTES]", "access:WHERE[:BYTES]" with WHERE a SYMBOL[+OFFSET] or a
   number: 0, or -1 where it is no such thing. The symbol's name is taken over from `text`, which
   is changed. */
int watch_parse(char *text, struct watch_point *p);

/* Why this cannot be had here at all, or NULL. */
const char *watch_unable(const struct watch_point *point, unsigned points);

/* NULL without memory. `point` must stay. */
struct watch *watch_new(struct cf_tool *tool, const struct watch_point *point, unsigned points);
void watch_free(struct watch *w);

/* Takes a command over that has not run its program yet. -1 with errno. */
int watch_seize(struct watch *w, pid_t pid);

/* Handles what has happened until then, up to the first hit of a point; never waits. Returns 1 for
   a hit: its thread stands still until watch_continue(). To be called again after that, until it
   returns 0. Ended children are given to `ended`. */
unsigned watch_handle(struct watch *w, void (*ended)(void *arg, pid_t pid, int status), void *arg);

/* Stops all threads; returns how many did not within 100 ms. */
unsigned watch_stop(struct watch *w, void (*ended)(void *arg, pid_t pid, int status), void *arg);
void watch_continue(struct watch *w);

/* Instead of watch_continue(): lets all go untraced, and no point is hit any more. Who does not
   stand yet is let go by watch_handle() when it does. */
void watch_release(struct watch *w);

/* Lets all go that are left, since who is traced ends with us. Waits for them ten seconds at most
   and returns the number of threads that did not stop. */
size_t watch_end(struct watch *w, void (*ended)(void *arg, pid_t pid, int status), void *arg);

/* Tells of symbols that were found nowhere, and what was missed. */
void watch_tell(struct watch *w);

#endif
