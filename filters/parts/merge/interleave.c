/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interleave.c - lets threads that ran one at a time run side by side.
 *
 * The time of a row becomes the moment at which its thread, on its processor, has executed as many
 * instructions as it had when the row was recorded. A thread starts when its creator is where it
 * was when it created the thread. Each processor runs one thread at a time; threads that share one
 * take turns of a quantum. Events (rows, births, ends of turns) are taken in the order of time,
 * and rows of one thread that come before anything else go out in one run.
 *
 * Every thread reads the input for itself through a reader of its own, which skips what is not the
 * thread's. Memory: a part of a frame and its dictionary for each thread that lives, bounded by
 * --memory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "filters/parts/merge/merge.h"

enum event { BIRTH, OTHER_ROW, ACCESSES, END };

/* A thread that lives. */
struct runner {
    struct source source;
    const uint64_t *time; /* of the waiting accesses */
    const uint32_t *pid, *tid;
    uint32_t stop;  /* the rows of the thread from part.at on end here: its clock is steady there */
    uint64_t shift; /* own clock - time, for these rows */
    size_t stretch; /* the next one */
    size_t born;    /* children so far */
    enum event next; /* the thread's next event, and its clock then */
    uint64_t next_own;
    uint64_t own;   /* its clock now */
    uint64_t turn;  /* its clock when its turn began */
    uint64_t ahead; /* time - own clock, while it runs */
    struct fifo *fifo;
    size_t memory; /* that its reader holds */
};

struct cpu {
    struct thread *running;      /* NULL: idle */
    struct thread *first, *last; /* of the others that could run */
    size_t waiting;              /* how many these are */
    uint64_t clock;              /* when it became free */
    /* while it runs a thread: */
    uint64_t next; /* when that does something next */
    int turn_ends; /* and whether that is the end of its turn */
};

struct play {
    struct merge *merge;
    struct threads *threads;
    struct cpu *cpu;
    uint32_t cpus;
    struct cpu **order; /* those that run a thread, the next event first */
    size_t busy;
    size_t memory; /* that the readers hold */
    size_t lives;  /* threads that live */
    size_t roots;  /* threads without creator that were looked at so far */
    uint64_t now;  /* time of the last row */
};

/* ---- what a thread that lives does next: its rows and accesses, read for itself alone ---- */

/* Every thread that lives reads for itself, so what that takes is bounded as a whole. */
static void count_memory(struct play *p, struct runner *r)
{
    size_t now = cf_reader_memory(r->source.reader);

    p->memory += now - r->memory;
    r->memory = now;
    if (p->memory > p->merge->o.memory)
        cf_die(
            &p->merge->tool, CF_EXIT_ENVIRONMENT,
            "to read %zu threads at once takes more than %llu bytes: interleave fewer inputs, or "
            "raise --memory",
            p->lives, (unsigned long long)p->merge->o.memory);
}

/* Queues the rows of a frame that are the thread's own doing, and what was lost of no known one
   with the first. */
static void queue_rows(struct play *p, struct thread *th, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    const int lost = f->table == CF_LOST && th->passes;
    uint32_t *row, rows = 0;
    uint64_t *key;

    if (!time && lost)
        source_pass(&th->runner->source, f);
    if (!time || (!pid && !lost))
        return;
    row = merge_alloc(p->merge, f->rows, sizeof(*row));
    key = merge_alloc(p->merge, f->rows, sizeof(*key));
    for (uint32_t i = 0; i < f->rows; i++) {
        struct thread *by = NULL;

        if (!lost && pid[i] != th->pid)
            continue;
        /* an exit is recorded when another thread runs already */
        if (pid && tid && f->table != CF_MAP)
            by = threads_get(p->threads, th->input, pid[i], tid[i]);
        if (!by && pid)
            by = threads_running(p->threads, th->input, pid[i], time[i]);
        if (by ? by != th : !lost)
            continue;
        row[rows] = i;
        key[rows] = thread_clock(th, time[i]);
        rows++;
    }
    source_queue(&th->runner->source, f, row, rows, key);
    free(row);
    free(key);
}

/* Finds the next rows of the thread in the waiting frame: from part.at to stop. */
static int find_rows(struct thread *th)
{
    struct runner *r = th->runner;
    struct part *part = &r->source.part;
    uint32_t i = part->at;
    uint64_t until;

    while (i < part->rows && (r->tid[i] != th->tid || r->pid[i] != th->pid))
        i++;
    part->at = i;
    if (i == part->rows)
        return 0;
    while (r->stretch < th->stretches && th->stretch[r->stretch].time <= r->time[i])
        r->stretch++;
    /* the clock is steady up to the next switch, and is looked at again after a long gap */
    until = r->time[i] < UINT64_MAX - (1u << 31) ? r->time[i] + (1u << 31) : UINT64_MAX;
    if (r->stretch < th->stretches && th->stretch[r->stretch].time < until)
        until = th->stretch[r->stretch].time;
    r->shift = thread_clock(th, r->time[i]) - r->time[i];
    do
        i++;
    while (i < part->rows && r->tid[i] == th->tid && r->pid[i] == th->pid && r->time[i] < until &&
           r->time[i] >= r->time[i - 1]);
    r->stop = i;
    source_translate(&r->source, part->at, i - part->at);
    return 1;
}

/* Makes accesses of the thread wait, or finds that there are none any more. */
static void load(struct play *p, struct thread *th)
{
    struct runner *r = th->runner;
    struct source *s = &r->source;
    struct cf_frame *f;

    if (r->stop > s->part.at || (s->part.at < s->part.rows && find_rows(th)))
        return;
    output_settle(p->merge->out); /* what is read now takes the place of what waited */
    while (source_next(s, &f)) {
        switch (f->table) {
        case CF_STACK:  /* went out before */
        case CF_SWITCH: /* written anew */
        case CF_SNAPSHOT:
        case CF_LINE:
        case CF_UNPLACED:
        case CF_BUS:
            break;
        case CF_TASK:
        case CF_MAP:
        case CF_OBJECT:
        case CF_LOST:
            queue_rows(p, th, f);
            break;
        case CF_ACCESS:
            source_take(s, f);
            count_memory(p, r);
            r->stop = 0;
            r->time = cf_u64(f, CF_TIME);
            r->pid = cf_u32(f, CF_PID);
            r->tid = cf_u32(f, CF_TID);
            if (!r->time || !r->pid || !r->tid)
                s->part.rows = 0; /* was reported at the first reading */
            if (find_rows(th))
                return;
            break;
        default:
            /* what we do not know goes out once, as it is */
            if (th->passes)
                source_pass(s, f);
        }
    }
    s->part.rows = s->part.at = r->stop = 0;
}

/* Looks what the thread does next. */
static void runner_look(struct play *p, struct thread *th)
{
    struct runner *r = th->runner;

    load(p, th);
    r->next = END;
    r->next_own = r->own;
    if (r->stop > r->source.part.at) {
        r->next = ACCESSES;
        r->next_own = r->time[r->source.part.at] + r->shift;
    }
    r->fifo = source_first(&r->source);
    if (r->fifo && (r->next == END || fifo_key(r->fifo) <= r->next_own)) {
        r->next = OTHER_ROW;
        r->next_own = fifo_key(r->fifo);
    }
    if (r->born < th->children && (r->next == END || th->child[r->born].own <= r->next_own)) {
        r->next = BIRTH;
        r->next_own = th->child[r->born].own;
    }
    /* a clock that goes back is damage; time never does */
    r->next_own = r->next_own > r->own ? r->next_own : r->own;
}

/* ---- processors: which of their threads runs, and which of them does something first ---- */

/* At equal times the older thread goes first. */
static int cpu_before(const struct cpu *a, const struct cpu *b)
{
    return a->next < b->next || (a->next == b->next && a->running->index < b->running->index);
}

/* Something about what the processor runs has changed. */
static void cpu_reorder(struct play *p, struct cpu *c)
{
    const struct runner *r;
    size_t at = 0;

    while (at < p->busy && p->order[at] != c)
        at++;
    if (!c->running) {
        if (at < p->busy)
            memmove(&p->order[at], &p->order[at + 1], (--p->busy - at) * sizeof(*p->order));
        return;
    }
    /* a turn ends only if another thread waits */
    r = c->running->runner;
    c->turn_ends = c->waiting && r->next != END && r->next_own - r->turn >= p->merge->o.quantum;
    c->next = (c->turn_ends ? r->turn + p->merge->o.quantum : r->next_own) + r->ahead;
    p->busy += at == p->busy;
    for (; at + 1 < p->busy && cpu_before(p->order[at + 1], c); at++)
        p->order[at] = p->order[at + 1];
    for (; at && cpu_before(c, p->order[at - 1]); at--)
        p->order[at] = p->order[at - 1];
    p->order[at] = c;
}

/* The thread runs from `time` on, as a row of table switch says. */
static void turn_begin(struct play *p, struct thread *th, uint64_t time)
{
    struct runner *r = th->runner;
    const struct source *s = &r->source;
    uint32_t cpu = th->index % p->cpus;

    time = time > p->now ? time : p->now;
    p->now = time;
    p->cpu[cpu].running = th;
    r->turn = r->own;
    r->ahead = time - r->own;
    output_switch(p->merge->out, s, time, source_process(s, th->pid), source_process(s, th->tid),
                  cpu, r->own);
}

/* Puts a thread after those that wait for the processor. */
static void turn_wait(struct cpu *c, struct thread *th)
{
    th->after = NULL;
    if (c->waiting++)
        c->last->after = th;
    else
        c->first = th;
    c->last = th;
}

/* The turn of the first that waits. */
static void turn_next(struct play *p, struct cpu *c, uint64_t time)
{
    struct thread *th = c->first;

    c->first = th->after;
    c->waiting--;
    turn_begin(p, th, time);
}

/* The turn of the running thread is over at `time`. Where no thread of this processor does anything
   for whole rounds, and nothing else happens before `limit`, these are skipped. */
static void turn_rotate(struct play *p, struct cpu *c, uint64_t limit)
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
    turn_next(p, c, time + rounds * quantum * c->waiting);
}

/* ---- events ---- */

/* The thread can run from `time` on. */
static void start(struct play *p, struct thread *th, uint64_t time)
{
    struct cpu *c = &p->cpu[th->index % p->cpus];
    struct runner *r = merge_alloc(p->merge, 1, sizeof(*r));
    uint64_t quantum = p->merge->o.quantum;

    th->runner = r;
    source_open(&r->source, p->merge, th->input, th->first, th->last);
    cf_reader_want_all(r->source.reader);
    r->own = thread_clock(th, th->born);
    p->lives++;
    runner_look(p, th);
    if (!c->running) {
        turn_begin(p, th, time > c->clock ? time : c->clock);
        cpu_reorder(p, c);
        return;
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
}

static void end(struct play *p, struct cpu *c)
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
    if (c->waiting)
        turn_next(p, c, c->clock);
}

/* Sends the accesses of the thread that come before anything else. */
static void play_accesses(struct play *p, struct cpu *c, uint64_t limit)
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
    output_rows(p->merge->out, &r->source, part, (uint32_t)first, to - (uint32_t)first, shift,
                th->index % p->cpus, 1);
}

static void play_other(struct play *p, struct cpu *c)
{
    struct runner *r = c->running->runner;
    struct block *b = r->fifo->first;
    struct part *part = &b->part;
    const uint64_t *was = part_values(part, CF_TIME);
    uint64_t time = r->next_own + r->ahead;

    time = time > p->now ? time : p->now;
    p->now = time;
    r->own = r->next_own;
    output_rows(p->merge->out, &r->source, part, part->at, 1, time - was[part->at], KEEP_CPU, 0);
    fifo_advance(r->fifo, 1);
}

/* The next event. 1, or 0 when there is none. */
static int step(struct play *p)
{
    struct threads *t = p->threads;
    struct cpu *c = p->busy ? p->order[0] : NULL;
    const struct cpu *second = p->busy > 1 ? p->order[1] : NULL;
    uint64_t time = c ? c->next : UINT64_MAX, limit = UINT64_MAX;
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
            start(p, root, root->born);
            return 1;
        }
        limit = root->born - 1 < limit ? root->born - 1 : limit;
    }
    if (!c)
        return 0;
    r = c->running->runner;
    if (c->turn_ends) {
        turn_rotate(p, c, limit);
    } else if (r->next == END) {
        end(p, c);
    } else {
        r->own = r->next == BIRTH ? r->next_own : r->own;
        if (r->next == ACCESSES)
            play_accesses(p, c, limit);
        else if (r->next == OTHER_ROW)
            play_other(p, c);
        else
            start(p, &t->thread[c->running->child[r->born++].thread], time);
        runner_look(p, c->running);
    }
    cpu_reorder(p, c);
    return 1;
}

void merge_interleaved(struct merge *m)
{
    struct play p = {.merge = m};
    struct rlimit files;

    p.threads = threads_find(m);
    if (p.threads->count == 0 || (m->left_out && !p.threads->accesses)) {
        if (m->left_out)
            cf_warn(&m->tool, "no thread has accesses in any input: they are merged as without "
                              "--interleave, and nothing is left out");
        merge_by_time(m);
        threads_free(p.threads); /* the output began with one of its readers */
        return;
    }
    p.cpus = m->o.cpus ? m->o.cpus : (uint32_t)p.threads->count;
    p.cpu = cf_tool_room(&m->tool, p.cpus, sizeof(*p.cpu));
    p.order = cf_tool_room(&m->tool, p.cpus, sizeof(struct cpu *));
    /* each thread that lives has the file open: as many as the system lets us */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    while (step(&p))
        ;
    output_flush(m->out);
    threads_free(p.threads);
}
