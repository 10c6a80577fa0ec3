/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns.c - processors: which of their threads runs, and which of them does something first.
 */
#include <stdlib.h>
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

static void put(struct play *p, size_t place, struct cpu *c)
{
    p->heap[place] = c;
    c->place = place;
}

static void sift_up(struct play *p, struct cpu *c, size_t place)
{
    for (; place > 1 && cpu_before(c, p->heap[place / 2]); place /= 2)
        put(p, place, p->heap[place / 2]);
    put(p, place, c);
}

static void sift_down(struct play *p, struct cpu *c, size_t place)
{
    for (size_t child; (child = 2 * place) <= p->heaped; place = child) {
        child += child < p->heaped && cpu_before(p->heap[child + 1], p->heap[child]);
        if (!cpu_before(p->heap[child], c))
            break;
        put(p, place, p->heap[child]);
    }
    put(p, place, c);
}

void cpu_reorder(struct play *p, struct cpu *c)
{
    if (c->running) {
        c->next = next_time(p, c, &c->turn_ends);
        sift_up(p, c, c->place ? c->place : ++p->heaped);
        sift_down(p, c, c->place);
    } else if (c->place) {
        struct cpu *last = p->heap[p->heaped--];
        size_t place = c->place;

        c->place = 0;
        if (last == c)
            return;
        sift_up(p, last, place);
        sift_down(p, last, last->place);
    }
}

int turn_begin(struct play *p, struct thread *th, uint64_t time)
{
    struct runner *r = th->runner;
    uint32_t cpu = th->index % p->cpus, pid, tid;
    struct source names = {.merge = p->merge, .input = th->input};
    const struct part_column column[] = {
        {CF_TIME, CF_U64, &time}, {CF_PID, CF_U32, &th->pid},  {CF_TID, CF_U32, &th->tid},
        {CF_CPU, CF_U32, &cpu},   {CF_COUNT, CF_U64, &r->own},
    };
    struct part row = {.table = CF_SWITCH, .rows = 1, .columns = 5};

    time = time > p->now ? time : p->now;
    p->now = time;
    memcpy(row.column, column, sizeof(column));
    source_values(&names, CF_SWITCH, &column[1], 0, 1, &pid);
    source_values(&names, CF_SWITCH, &column[2], 0, 1, &tid);
    row.column[1].values = &pid;
    row.column[2].values = &tid;
    p->cpu[cpu].running = th;
    r->turn = r->own;
    r->ahead = time - r->own;
    return output_rows(p->merge->out, &r->source, &row, 0, 1, 0, KEEP_CPU, 0);
}

void turn_wait(struct play *p, struct cpu *c, struct thread *th)
{
    if (c->waiting == c->room) {
        size_t room = 2 * c->room + 4;
        struct thread **queue = merge_alloc(p->merge, room, sizeof(struct thread *));

        for (size_t i = 0; i < c->waiting; i++)
            queue[i] = c->queue[(c->head + i) % c->room];
        free(c->queue);
        c->queue = queue;
        c->head = 0;
        c->room = room;
    }
    c->queue[(c->head + c->waiting++) % c->room] = th;
}

struct thread *turn_next(struct cpu *c)
{
    struct thread *th = c->queue[c->head];

    c->head = (c->head + 1) % c->room;
    c->waiting--;
    return th;
}

int turn_rotate(struct play *p, struct cpu *c, uint64_t limit)
{
    struct runner *r = c->running->runner;
    uint64_t quantum = p->merge->o.quantum, time = r->turn + quantum + r->ahead, rounds;

    r->own = r->turn + quantum;
    turn_wait(p, c, c->running);
    rounds = limit > time ? (limit - time) / quantum / c->waiting : 0;
    for (size_t i = 0; i < c->waiting && rounds; i++) {
        const struct runner *w = c->queue[(c->head + i) % c->room]->runner;
        uint64_t idle = (w->next_own - w->own) / quantum;

        rounds = idle < rounds ? idle : rounds;
    }
    for (size_t i = 0; i < c->waiting && rounds; i++)
        c->queue[(c->head + i) % c->room]->runner->own += rounds * quantum;
    return turn_begin(p, turn_next(c), time + rounds * quantum * c->waiting);
}
