/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fine.h - which instruction has the breakpoint: the fine stage of "CachePerf: A Unified Cache Miss
 * Classifier via Hybrid Hardware Sampling", section 3.3, on modelled time.
 *
 * There is one breakpoint for all threads. An instruction of a process wants it when its coarse
 * samples missed several times in a row, or when a sampled miss of it is one of many on the same
 * set of the first-level data cache, among the last sampled misses of its thread. It then waits its
 * turn: the next one to get it is that with the most sampled misses, and of several the one that
 * was sampled first. (So what a program does once, as when it starts, holds up what it goes on to
 * do for one turn at most.) A turn ends after so many accesses, or after so many in succession that
 * change from line to line of one set, or when another instruction waits and the turn has lasted
 * for the expiry time. An access to the line of the one before neither counts as a
 * further one on the set nor ends the succession: that is how a sequential walk begins, too.
 *
 * The paper has each instruction keep its pattern of access, so one turn says what there is to see.
 * An instruction that had a turn gets another only when none waits, and none had the breakpoint,
 * for the expiry time.
 *
 * Memory: 75 to 150 bytes an instruction that was sampled, 16 to 32 for each that waits, and
 * four bytes a miss of the window for each thread.
 */
#ifndef CF_FINE_H
#define CF_FINE_H

#include <stdint.h>

#include "filters/engine/rows/sets.h"
#include "formats/base/cf_queue.h"
#include "formats/stream/cf.h"

struct cf_fine_options {
    uint32_t most;     /* accesses of a turn; 0: there is no fine stage */
    uint32_t same_set; /* in succession on one set end a turn; 0: they do not */
    uint32_t misses;   /* sampled misses of an instruction in a row that make it want a turn */
    uint32_t set_misses, set_window; /* so many on one set, of so many; window 0: no matter */
    uint32_t sets, line_size;        /* of the first-level data cache; with one set it is no matter
                                        on which set an access is */
};

struct cf_counts;

/* All but the first fields is for fine.c alone. */
struct cf_fine {
    int armed;             /* an instruction has the breakpoint: */
    uint32_t pid;          /* its process, */
    uint64_t pc;           /* its address, */
    uint64_t since;        /* and since when; else since when none has it */
    uint64_t expire;       /* ticks */
    struct cf_queue queue; /* instructions that wait, by their numbers from 0 */

    struct cf_fine_options o;
    struct cf_sets sets;
    uint32_t count, run, set;  /* of the turn: accesses, those in succession on the set */
    uint64_t line;             /* of its last access */
    struct cf_counts *numbers; /* of instructions, from 1 */
    struct cf_fine_code *code;
    size_t code_room;
    uint32_t *window; /* of each thread: where the next miss goes, and the sets + 1 */
    size_t window_room;
};

/* -1 without memory. */
int cf_fine_begin(struct cf_fine *f, const struct cf_fine_options *o) CF_MUST_CHECK;
void cf_fine_end(struct cf_fine *f);

/* Whether a turn may end since another instruction waits. */
static inline int cf_fine_expired(const struct cf_fine *f, uint64_t time)
{
    return time >= f->since && time - f->since >= f->expire;
}

/* Gives the breakpoint to the first of those that wait; f->queue.waiting is not 0. */
void cf_fine_next(struct cf_fine *f, uint64_t time);

/* Takes an access of the instruction that has the breakpoint. */
void cf_fine_access(struct cf_fine *f, uint64_t addr, uint64_t time);

/* Takes a coarse sample of a thread (a number from 0): the instruction that it names, 0 where that
   is not known, the address, and whether it missed. -1 without memory. */
int cf_fine_sample(struct cf_fine *f, uint32_t thread, uint32_t pid, uint64_t pc, uint64_t addr,
                   int missed, uint64_t time) CF_MUST_CHECK;

#endif
