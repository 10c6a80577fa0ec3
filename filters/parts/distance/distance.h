/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * distance.h - what the parts of cf-distance share: the stacks of one thread that takes frames, a
 * stream that is taken by several threads, and partial results, which are made and joined.
 */
#ifndef CF_DISTANCE_H
#define CF_DISTANCE_H

#include "filters/engine/distance/stack.h"
#include "filters/engine/distance/stack_join.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/rows/groups.h"
#include "formats/together/cf_partial.h"
#include "formats/together/cf_processes.h"

enum per { PER_ALL, PER_PROCESS, PER_THREAD };

/* What is asked for. */
struct settings {
    struct cf_stack_config config;
    enum per per;
    unsigned what;  /* enum cf_runs_option */
    unsigned shift; /* log2 of the line size */
    int sampling;
    unsigned jobs; /* threads */
};

/* Rows up to `to` are in one space, that of the process pid, or of none. */
struct piece {
    uint32_t to, pid;
    uint64_t space;
    int of_process;
    uint32_t unit; /* partial.c's: 0 of no process */
};

struct pieces {
    struct piece *piece;
    size_t count, room;
};

/* What one thread finds distances with. The arrays are of a frame. */
struct stacks {
    const struct settings *set;
    struct cf_stack *stack;
    struct cf_runs *runs;
    struct cf_groups *units;
    struct cf_stack_part *part; /* where a part of the stream is taken, or NULL */
    uint64_t *dist;
    double *weight;
    uint32_t *unit;
    uint64_t *thread;
    /* rows of one unit out of many */
    uint32_t *index;
    uint64_t *addr, *dist_of_unit;
    uint32_t *size;
    uint8_t *op;
    /* of all rows so far, see stacks_mix(); kept where processes are spaces */
    uint64_t keys, edges;
    unsigned pids; /* for cf_pids_check() */
};

/* What a function returns that cannot go on. */
enum trouble { FINE = 0, NO_MEMORY, MANY_UNITS };

/* Makes all but the stack. Exits without memory. */
void stacks_prepare(const struct cf_tool *t, struct stacks *k, const struct settings *set);
void stacks_release(struct stacks *k);

/* Appends the spaces of a frame's rows, which processes have by the order of their first rows. The
   frame's column pid need not be decoded yet. 0; 1 where it does not decode, -1 without memory. */
int find_pieces(struct cf_cores *c, const struct cf_frame *f, struct pieces *p) CF_MUST_CHECK;

/* Distances of a frame into k->dist, weights into k->weight. `piece`: of its spaces; not needed
   where there is a stack a process or thread. Its rows are those from `first` on of the part, if
   one is taken. */
enum trouble stacks_frame(struct stacks *k, const struct cf_frame *f, const struct piece *piece,
                          uint64_t first) CF_MUST_CHECK;

/* Notes that there are lines of these addresses, of a process that has that key. */
static inline void stacks_note(struct stacks *k, uint64_t addr, uint64_t key)
{
    k->keys |= key;
    k->edges |= addr ^ addr << 1;
}

/* Whether lines of several processes may have been taken for one. With lines of 64 bytes the keys
   of more than 32 processes (cf_space_key()) reach into the bits of addresses. Where an address has
   these and the next lower one all alike, as those of user space and of a kernel do, no two lines
   meet. */
static inline int stacks_mix(const struct stacks *k)
{
    return (k->edges & k->keys << k->set->shift) != 0;
}

/* What is to be said then, with numbers for two %u: processes that are never too many, and bytes of
   a line. */
#define STACKS_MIX                                                                                 \
    "more than %u processes, which lines of %u bytes do not allow at such addresses: give "        \
    "--per process"

/* Ends the program. */
void report(const struct cf_tool *t, enum trouble what) __attribute__((noreturn));

/* Part of the lines that is sampled, from the beginning to the end. */
double stacks_rate(const struct stacks *k);
/* What rows of k->dist stand for at that rate; NULL without samples. */
const double *stacks_weigh(struct stacks *k, uint32_t rows, double rate);

/* Sets the columns in the frame, weights unless NULL, and hands it on. As cf_writer_frame(). */
int hand_on(const struct cf_tool *t, const struct stacks *k, struct cf_frame *f,
            const double *weight, struct cf_writer *w);

/* The next frame, of which cf_partial_frame() knows; NULL at the end. */
static inline struct cf_frame *next_frame(struct cf_partial *p, struct stacks *k)
{
    struct cf_frame *f;

    if (cf_tool_next(p->tool, p->reader, &f) <= 0 || cf_partial_frame(p, f) < 0)
        return NULL;
    if (k->set->per == PER_ALL)
        cf_pids_check(&k->pids, p->tool, f);
    return f;
}

/* ---- all frames from the first one, `f`, on, or NULL ---- */

/* By set->jobs threads; what comes out is the same. `all` has the stacks of all parts then. */
struct share {
    uint64_t parts;
    double joins, all; /* seconds of processor time: of the joins, and of all threads */
};
void take_in_parts(struct cf_tool *t, struct stacks *all, struct cf_cores *cores,
                   struct cf_partial *partial, struct cf_writer *w, struct share *share,
                   struct cf_frame *f);

/* What a row of a partial result is, in cf-stream(5), "Partial results". */
enum entry { ENTRY_FIRST = 1, ENTRY_LAST, ENTRY_UNIT, ENTRY_SAMPLED, ENTRY_END };

/* As a partial result, to partial->out. */
void write_partial(struct cf_tool *t, struct stacks *stacks, struct cf_cores *cores,
                   struct cf_partial *partial, struct cf_frame *f);
/* Of partial results, which are joined. `all` has the stacks of all parts then. */
void join_partials(struct cf_tool *t, struct stacks *all, struct cf_cores *cores,
                   struct cf_partial *partial, struct cf_writer *w, struct cf_frame *f);

#endif
