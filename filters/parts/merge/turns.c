/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns.c - processors: which of their threads runs, and which of them does something first.
 */
#include <string.h>

#include "filters/parts/merge/interleave.h"

/* When the processor's thread does something next. A turn ends only if another thread waits. */
static uint64_t next_time(const struct play *p, const struct cpu *c, int *turn_ends)
{
    const struct runner *r = c->running->runner;
    uint64_t quantum = p->merge->o.quantum;

    *turn_ends = c->waiting && r->next != END && r->next_own - r->turn >= quantum;
    return (*turn_ends ? r->turn + quantum : r->next_own) + r->ahead;
}

void cpu_reorder(struct play *p, struct cpu *c)
{
    size_t at = 0;

    while (at < p->busy && p->order[at] != c)
        at++;
    if (!c->running) {
        if (at < p->busy)
            memmove(&p->order[at], &p->order[at + 1], (--p->busy - at) * sizeof(*p->order));
        return;
    }
    c->next = next_time(p, c, &c->turn_ends);
    p->busy += at == p->busy;
    for (; at + 1 < p->busy && cpu_before(p->order[at + 1], c); at++)
        p->order[at] = p->order[at + 1];
    for (; at && cpu_before(c, p->order[at - 1]); at--)
        p->order[at] = p->order[at - 1];
    p->order[at] = c;
}

int turn_begin(struct play *p, struct thread *th, uint64_t time)
{
    struct runner *r = th->runner;
    const struct source *s = &r->source;
    uint32_t cpu = th->index % p->cpus;

    time = time > p->now ? time : p->now;
    p->now = time;
    p->cpu[cpu].running = th;
    r->turn = r->own;
    r->ahead = time - r->own;
    return output_switch(p->merge->out, s, time, source_process(s, th->pid),
                         source_process(s, th->tid), cpu, r->own);
}

void turn_wait(struct cpu *c, struct thread *th)
{
    th->after = NULL;
    if (c->waiting++)
        c->last->after = th;
    else
        c->first = th;
    c->last = th;
}

struct thread *turn_next(struct cpu *c)
{
    struct thread *th = c->first;

    c->first = th->after;
    c->waiting--;
    return th;
}

int turn_rotate(struct play *p, struct cpu *c, uint64_t limit)
{
    struct runner *r = c->running->runner;
    uint64_t quantum = p->merge->o.quantum, time = r->turn + quantum + r->ahead, rounds;

    r->own = r->turn + quantum;
    turn_wait(c, c->running);
    rounds = limit > time ? (limit - time) / quantum / c->waiting : 0;
    for (const struct thread *th = c->first; th && rounds; th = th->after) {
        uint64_t idle = (th->runner->next_own - th->runner->own) / quantum;

        rounds = idle < rounds ? idle : rounds;
    }
    for (const struct thread *th = c->first; th && rounds; th = th->after)
        th->runner->own += rounds * quantum;
    return turn_begin(p, turn_next(c), time + rounds * quantum * c->waiting);
}
