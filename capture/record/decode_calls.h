/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_calls.h - private to the decoder: the call stack of each thread, and the tree of calling
 * contexts.
 *
 * A call or return shows in the stack pointer that it leaves (struct cf_wire_end): a frame is on
 * the stack as long as the pointer is below where it was before the frame's call. So what leaves
 * frames without a return - longjmp(), an exception, a handler that does not return - is found as
 * soon as the stack pointer is known again, and a jump in place of a call and return (a tail call)
 * changes nothing, as on the real stack. The idea is callgrind's (Weidendorfer, Kowarschik,
 * Trinitis: A Tool Suite for Simulation Based Analysis of Memory Access Behavior, ICCS 2004).
 *
 * A pointer that is not near the frames is on another stack. Where one of that stack's calls
 * returns to, its context goes on; else one begins, below the current context, and what was there
 * is over. So it needs no notice of stacks that are freed, and none of contexts that end.
 *
 * The tree is the calling context tree of Ammons, Ball and Larus, "Exploiting Hardware Performance
 * Counters with Flow and Context Sensitive Profiling" (PLDI 1997), with call sites for procedures:
 * recursion is folded, so that a call site stands on a path once, and the context of a call from
 * there again is the one that it had before.
 *
 * Memory: 24 bytes a frame on a stack; 24 a context and 48 a pair of context and call site, up to
 * CF_CALLS_NODES contexts, and as many that stand for all that are called from a context when
 * these are used up.
 */
#ifndef CF_RECORD_DECODE_CALLS_H
#define CF_RECORD_DECODE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

enum {
    CF_CALLS_NODES = 1 << 20,
    CF_CALLS_STACKS = 256, /* of one thread that are remembered */
    CF_CALLS_FORKS = 256,  /* stacks kept for children that have not begun */
};

/* A process, as long as it runs one program. */
struct cf_calls_image {
    uint32_t pid;
    uint32_t parent; /* the image that forked it, 0: none */
    uint32_t nodes;  /* it shares that one's nodes below this */
};

struct cf_calls_node {
    uint64_t pc; /* return address; 0: it stands for all that is called from its parent */
    uint32_t parent, id;
    uint32_t image;
    uint16_t depth;
};

struct cf_calls {
    uint32_t depth;             /* nodes of a path, most */
    uint32_t *ids;              /* the last id given out, of any node */
    struct cf_calls_node *node; /* 0 is the root of all */
    struct cf_calls_image *image;
    struct cf_calls_edge *edge; /* a hash table */
    size_t nodes, nodes_room, images, images_room, edges, edges_room;
    size_t stubs;         /* nodes without a pc */
    size_t written;       /* nodes that are written */
    uint64_t cut;         /* calls without a context of their own since nodes were used up, */
    uint64_t deeper;      /* and those that were deeper than is kept */
    uint64_t lost_stacks; /* threads and processes whose stack was not known */
};

struct cf_calls_frame {
    uint64_t sp;   /* it is left when the stack pointer is not below */
    uint32_t node; /* the context before it */
    int signal;    /* no call: a signal was delivered */
};

/* One stack; a thread may have several, for signals and coroutines. */
struct cf_calls_stack {
    struct cf_calls_frame *frame;
    size_t frames, room;
    uint64_t top;   /* the highest that its pointer was known to be; 0: not known */
    uint64_t begin; /* where a context that was switched to began; 0: none did */
    uint32_t node;  /* the current context */
    int handler;   /* it is a signal handler's: the number of the stack that this interrupted + 1 */
    int live;      /* or it may be forgotten */
    uint64_t used; /* when last */
};

struct cf_calls_thread {
    struct cf_calls_stack *stack;
    size_t stacks, stacks_room, now; /* which is in use */
    uint64_t switches;
};

/* What a process keeps for its children. */
struct cf_calls_fork {
    uint32_t number, nodes;
    struct cf_calls_thread thread;
};

struct cf_calls_forks {
    struct cf_calls_fork *fork;
    size_t count, room;
};

/* Functions return 0, or -1 without memory. */

int cf_calls_init(struct cf_calls *c, uint32_t depth, uint32_t *ids);
void cf_calls_free(struct cf_calls *c);

/* Number of a new image, from 1; 0 without memory. `parent` 0: none. */
uint32_t cf_calls_image(struct cf_calls *c, uint32_t pid, uint32_t parent, uint32_t nodes);

int cf_calls_thread_init(struct cf_calls_thread *t);
void cf_calls_thread_free(struct cf_calls_thread *t);

/* The end of a superblock, which leaves this stack pointer; a signal and its end; nothing is known
 * of the stack. */
int cf_calls_end(struct cf_calls *c, struct cf_calls_thread *t, uint32_t image,
                 const struct cf_wire_end *end, uint64_t sp);
int cf_calls_signal(struct cf_calls *c, struct cf_calls_thread *t, uint32_t image,
                    const struct cf_wire_signal *signal);
void cf_calls_handled(struct cf_calls_thread *t);
void cf_calls_unknown(struct cf_calls_thread *t);

/* A fork; and the child's thread, which is zero: 1 if its stack is known. */
int cf_calls_fork(const struct cf_calls *c, struct cf_calls_forks *f, uint32_t number,
                  const struct cf_calls_thread *t);
int cf_calls_forked(struct cf_calls_forks *f, uint32_t number, struct cf_calls_thread *t,
                    uint32_t *nodes);
void cf_calls_forks_free(struct cf_calls_forks *f);

/* The current context's id. */
static inline uint32_t cf_calls_now(const struct cf_calls *c, const struct cf_calls_thread *t)
{
    return t->stacks ? c->node[t->stack[t->now].node].id : 0;
}

#endif
