/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interleave.c - lets threads that ran one at a time run side by side.
 *
 * The time of a row becomes the moment at which its thread, on its processor, has executed as many
 * instructions as it had when the row was recorded. A thread starts when its creator is where it
 * was when it created the thread. Each processor runs one thread at a time; threads that share one
 * take turns of a quantum. Events (rows, births, ends of turns) are taken in the order of time,
 * and rows of one thread that come before anything else go out in one run. What a thread does next
 * is found in runner.c; whose turn it is on a processor, in turns.c.
 *
 * Every thread reads the input for itself through a reader of its own, which skips what is not the
 * thread's. Memory: a part of a frame and its dictionary for each thread that lives, bounded by
 * --memory.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "filters/parts/merge/interleave.h"

/* The thread can run from `time` on. -1 when output failed. */
static int start(struct play *p, struct thread *th, uint64_t time)
{
    struct cpu *c = &p->cpu[th->index % p->cpus];
    struct runner *r = merge_alloc(p->merge, 1, sizeof(*r));
    uint64_t quantum = p->merge->o.quantum;

    th->runner = r;
    source_open(&r->source, p->merge, th->input, th->first, th->last);
    cf_reader_want_all(r->source.reader);
    r->own = thread_clock(th, th->born);
    p->lives++;
    if (runner_look(p, th) != 0)
        return -1;
    if (!c->running) {
        if (turn_begin(p, th, time > c->clock ? time : c->clock) != 0)
            return -1;
        cpu_reorder(p, c);
        return 0;
    }
    if (!c->waiting) {
        /* turns were not counted as long as the running thread was alone */
        struct runner *other = c->running->runner;
        uint64_t since = time - other->ahead - other->turn;

        if (time - other->ahead > other->turn)
            other->turn += since / quantum * quantum;
    }
    turn_wait(c, th);
    cpu_reorder(p, c);
    return 0;
}

static int end(struct play *p, struct cpu *c)
{
    struct thread *th = c->running;

    c->clock = th->runner->own + th->runner->ahead;
    output_settle(p->merge->out);
    source_check_again(&th->runner->source);
    p->memory -= th->runner->memory;
    p->lives--;
    source_close(&th->runner->source);
    free(th->runner);
    th->runner = NULL;
    c->running = NULL;
    return c->waiting ? turn_begin(p, turn_next(c), c->clock) : 0;
}

/* Sends the accesses of the thread that come before anything else. */
static int play_accesses(struct play *p, struct cpu *c, uint64_t limit)
{
    struct thread *th = c->running;
    struct runner *r = th->runner;
    struct part *part = &r->source.part;
    uint64_t own = UINT64_MAX, shift = r->shift + r->ahead, first;
    uint32_t to = part->at + 1;

    if (c->waiting)
        own = r->turn + p->merge->o.quantum - 1;
    if (r->fifo && fifo_key(r->fifo) - 1 < own)
        own = fifo_key(r->fifo) - 1;
    if (r->born < th->children && th->child[r->born].own - 1 < own)
        own = th->child[r->born].own - 1;
    while (to < r->stop && r->time[to] + r->shift <= own && r->time[to] + shift <= limit)
        to++;
    first = r->time[part->at] + shift;
    if (first < p->now)
        shift += p->now - first;
    r->own = r->next_own;
    if (r->time[to - 1] + r->shift > r->own)
        r->own = r->time[to - 1] + r->shift;
    p->now = r->time[to - 1] + shift;
    first = part->at;
    part->at = to;
    return output_rows(p->merge->out, &r->source, part, (uint32_t)first, to - (uint32_t)first,
                       shift, th->index % p->cpus, 1);
}

static int play_other(struct play *p, struct cpu *c)
{
    struct runner *r = c->running->runner;
    struct block *b = r->fifo->first;
    struct part *part = &b->part;
    const uint64_t *was = part_values(part, CF_TIME);
    uint64_t time = r->next_own + r->ahead;
    int bad;

    time = time > p->now ? time : p->now;
    p->now = time;
    r->own = r->next_own;
    bad = output_rows(p->merge->out, &r->source, part, part->at, 1, time - was[part->at], KEEP_CPU,
                      0);
    fifo_advance(r->fifo, 1);
    return bad;
}

/* The next event. 1, or 0 when there is none, -1 when output failed. */
static int step(struct play *p)
{
    struct threads *t = p->threads;
    struct cpu *c = p->busy ? p->order[0] : NULL;
    const struct cpu *second = p->busy > 1 ? p->order[1] : NULL;
    uint64_t time = c ? c->next : UINT64_MAX, limit = UINT64_MAX;
    int bad = 0;
    struct runner *r;

    /* at equal times the older thread goes first, so its time is later than ours */
    if (second)
        limit = second->next - (second->running->index < c->running->index);
    while (p->roots < t->count && t->thread[p->roots].creator >= 0)
        p->roots++;
    if (p->roots < t->count) {
        struct thread *root = &t->thread[p->roots];

        if (!c || root->born <= time) {
            p->roots++;
            return start(p, root, root->born) != 0 ? -1 : 1;
        }
        limit = root->born - 1 < limit ? root->born - 1 : limit;
    }
    if (!c)
        return 0;
    r = c->running->runner;
    if (c->turn_ends) {
        bad = turn_rotate(p, c, limit);
        cpu_reorder(p, c);
        return bad ? -1 : 1;
    }
    switch (r->next) {
    case ACCESSES:
        bad = play_accesses(p, c, limit);
        break;
    case OTHER_ROW:
        bad = play_other(p, c);
        break;
    case BIRTH:
        r->own = r->next_own;
        bad = start(p, &t->thread[c->running->child[r->born++].thread], time);
        break;
    default:
        bad = end(p, c);
        cpu_reorder(p, c);
        return bad ? -1 : 1;
    }
    if (bad || runner_look(p, c->running) != 0)
        return -1;
    cpu_reorder(p, c);
    return 1;
}

/* Each thread that lives has the file open: as many as the system lets us. */
static void allow_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int merge_interleaved(struct merge *m)
{
    struct play p = {.merge = m};
    int result = 1;

    p.threads = threads_find(m);
    if (p.threads->count == 0) {
        threads_free(p.threads);
        return merge_by_time(m);
    }
    p.cpus = m->o.cpus ? m->o.cpus : (uint32_t)p.threads->count;
    p.cpu = merge_alloc(m, p.cpus, sizeof(*p.cpu));
    p.order = merge_alloc(m, p.cpus, sizeof(struct cpu *));
    allow_files();
    while (result > 0)
        result = step(&p);
    if (result == 0)
        result = output_flush(m->out);
    free(p.cpu);
    free(p.order);
    for (size_t i = 0; i < p.threads->count; i++) {
        struct runner *r = p.threads->thread[i].runner;

        if (r) {
            source_close(&r->source);
            free(r);
        }
    }
    threads_free(p.threads);
    return result;
}
