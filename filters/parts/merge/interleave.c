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

enum event { NOTHING, BIRTH, OTHER_ROW, ACCESSES, END };

/* A thread that lives. */
struct runner {
    struct source source;
    const uint64_t *time; /* of the waiting accesses */
    const uint32_t *pid, *tid;
    uint32_t stop;   /* the rows of the thread from part.at on end here: its clock is even there */
    uint64_t shift;  /* own clock - time, for these rows */
    size_t stretch;  /* the next one */
    size_t born;     /* children so far */
    enum event next; /* the thread's next event, and its clock then */
    uint64_t next_own;
    uint64_t own;   /* its clock now */
    uint64_t turn;  /* its clock when its turn began */
    uint64_t ahead; /* time - own clock, while it runs */
    struct fifo *fifo;
    size_t memory; /* that its reader holds */
};

struct cpu {
    struct thread *running; /* NULL: idle */
    struct thread **queue;  /* the others that could run; a ring */
    size_t head, waiting, room;
    uint64_t clock; /* when it became free */
    /* while it runs a thread: */
    uint64_t next; /* when that does something next */
    int turn_ends; /* and whether that is the end of its turn */
    size_t place;  /* in the heap, from 1; 0: idle */
};

struct play {
    struct merge *merge;
    struct threads *threads;
    struct cpu *cpu;
    uint32_t cpus;
    struct cpu **heap; /* those that run a thread, the next event first */
    size_t heaped;
    size_t memory; /* that the readers hold */
    size_t lives;  /* threads that live */
    size_t roots;  /* threads without creator that were looked at so far */
    uint64_t now;  /* time of the last row */
};

/* ---- memory ---- */

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

/* ---- what a thread does next ---- */

/* Queues the rows of a frame that are the thread's own doing. */
static void queue_rows(struct play *p, struct thread *th, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    uint32_t *row, rows = 0;
    uint64_t *key;

    if (!time || !pid)
        return;
    row = merge_alloc(p->merge, NULL, f->rows * sizeof(*row));
    key = merge_alloc(p->merge, NULL, f->rows * sizeof(*key));
    for (uint32_t i = 0; i < f->rows; i++) {
        struct thread *by = NULL;

        if (pid[i] != th->pid)
            continue;
        /* an exit is recorded when another thread runs already */
        if (tid && f->table != CF_MAP)
            by = threads_get(p->threads, th->input, pid[i], tid[i]);
        if (!by)
            by = threads_running(p->threads, th->input, pid[i], time[i]);
        if (by != th)
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
    /* the clock is even up to the next switch, and is looked at again after a long gap */
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

/* Makes accesses of the thread wait, or finds that there are none any more. -1 when output
   failed. */
static int load(struct play *p, struct thread *th)
{
    struct runner *r = th->runner;
    struct source *s = &r->source;
    struct cf_frame *f;

    if (r->stop > s->part.at)
        return 0;
    if (s->part.at < s->part.rows && find_rows(th))
        return 0;
    output_settle(p->merge->out); /* what is read now takes the place of what waited */
    while (source_next(s, &f)) {
        switch (f->table) {
        case CF_HEADER:
            source_header(s, f);
            break;
        case CF_STRING:
        case CF_NAME:
        case CF_STACK:  /* went out before */
        case CF_SWITCH: /* written anew */
        case CF_SNAPSHOT:
        case CF_LINE:
            break;
        case CF_TASK:
        case CF_MAP:
        case CF_OBJECT:
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
                s->part.rows = 0; /* was told at the first reading */
            if (find_rows(th))
                return 0;
            break;
        default:
            /* what we do not know goes out once, as it is */
            if (!th->passes)
                break;
            if (source_pass(s, f) != 0)
                return -1;
        }
    }
    s->part.rows = s->part.at = r->stop = 0;
    return 0;
}

/* Looks what the thread does next. -1 when output failed. */
static int look(struct play *p, struct thread *th)
{
    struct runner *r = th->runner;
    uint64_t own;

    if (load(p, th) != 0)
        return -1;
    r->next = END;
    r->next_own = r->own;
    if (r->stop > r->source.part.at) {
        r->next = ACCESSES;
        r->next_own = r->time[r->source.part.at] + r->shift;
    }
    r->fifo = source_first(&r->source);
    if (r->fifo) {
        own = r->fifo->first->key[r->fifo->first->part.at];
        if (r->next == END || own <= r->next_own) {
            r->next = OTHER_ROW;
            r->next_own = own;
        }
    }
    if (r->born < th->children && (r->next == END || th->child[r->born].own <= r->next_own)) {
        r->next = BIRTH;
        r->next_own = th->child[r->born].own;
    }
    /* a clock that goes back is damage; time never does */
    r->next_own = r->next_own > r->own ? r->next_own : r->own;
    return 0;
}

/* ---- the next event ---- */

/* When the processor's thread does something next. A turn ends only if another thread waits. */
static uint64_t next_time(const struct play *p, const struct cpu *c, int *turn_ends)
{
    const struct runner *r = c->running->runner;
    uint64_t quantum = p->merge->o.quantum;

    *turn_ends = c->waiting && r->next != END && r->next_own - r->turn >= quantum;
    return (*turn_ends ? r->turn + quantum : r->next_own) + r->ahead;
}

/* At equal times the older thread goes first. */
static int before(const struct cpu *a, const struct cpu *b)
{
    return a->next < b->next || (a->next == b->next && a->running->index < b->running->index);
}

static void put(struct play *p, size_t place, struct cpu *c)
{
    p->heap[place] = c;
    c->place = place;
}

static void sift_up(struct play *p, struct cpu *c, size_t place)
{
    for (; place > 1 && before(c, p->heap[place / 2]); place /= 2)
        put(p, place, p->heap[place / 2]);
    put(p, place, c);
}

static void sift_down(struct play *p, struct cpu *c, size_t place)
{
    for (size_t child; (child = 2 * place) <= p->heaped; place = child) {
        child += child < p->heaped && before(p->heap[child + 1], p->heap[child]);
        if (!before(p->heap[child], c))
            break;
        put(p, place, p->heap[child]);
    }
    put(p, place, c);
}

/* Something about what the processor runs has changed. */
static void reorder(struct play *p, struct cpu *c)
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

/* ---- processors ---- */

/* Tells that the thread runs from `time` on. */
static int begin_turn(struct play *p, struct thread *th, uint64_t time)
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

static void wait_turn(struct play *p, struct cpu *c, struct thread *th)
{
    if (c->waiting == c->room) {
        size_t room = 2 * c->room + 4;
        struct thread **queue = merge_alloc(p->merge, NULL, room * sizeof(*queue));

        for (size_t i = 0; i < c->waiting; i++)
            queue[i] = c->queue[(c->head + i) % c->room];
        free(c->queue);
        c->queue = queue;
        c->head = 0;
        c->room = room;
    }
    c->queue[(c->head + c->waiting++) % c->room] = th;
}

static struct thread *next_turn(struct cpu *c)
{
    struct thread *th = c->queue[c->head];

    c->head = (c->head + 1) % c->room;
    c->waiting--;
    return th;
}

/* The thread can run from `time` on. -1 when output failed. */
static int start(struct play *p, struct thread *th, uint64_t time)
{
    struct cpu *c = &p->cpu[th->index % p->cpus];
    struct runner *r = merge_alloc(p->merge, NULL, sizeof(*r));
    uint64_t quantum = p->merge->o.quantum;

    memset(r, 0, sizeof(*r));
    th->runner = r;
    source_open(&r->source, p->merge, th->input, th->first, th->last);
    cf_reader_want_all(r->source.reader);
    r->own = thread_clock(th, th->born);
    p->lives++;
    if (look(p, th) != 0)
        return -1;
    if (!c->running) {
        if (begin_turn(p, th, time > c->clock ? time : c->clock) != 0)
            return -1;
        reorder(p, c);
        return 0;
    }
    if (!c->waiting) {
        /* nobody has counted turns as long as the running thread was alone */
        struct runner *other = c->running->runner;
        uint64_t since = time - other->ahead - other->turn;

        if (time - other->ahead > other->turn)
            other->turn += since / quantum * quantum;
    }
    wait_turn(p, c, th);
    reorder(p, c);
    return 0;
}

static int end(struct play *p, struct cpu *c)
{
    struct thread *th = c->running;

    c->clock = th->runner->own + th->runner->ahead;
    output_settle(p->merge->out);
    source_tell_again(&th->runner->source);
    p->memory -= th->runner->memory;
    p->lives--;
    source_close(&th->runner->source);
    free(th->runner);
    th->runner = NULL;
    c->running = NULL;
    return c->waiting ? begin_turn(p, next_turn(c), c->clock) : 0;
}

/* The turn of the running thread is over at `time`. Where nobody on this processor does anything
   for whole rounds, and nothing else happens before `limit`, these are skipped. */
static int rotate(struct play *p, struct cpu *c, uint64_t limit)
{
    struct runner *r = c->running->runner;
    uint64_t quantum = p->merge->o.quantum, time = r->turn + quantum + r->ahead, rounds;

    r->own = r->turn + quantum;
    wait_turn(p, c, c->running);
    rounds = limit > time ? (limit - time) / quantum / c->waiting : 0;
    for (size_t i = 0; i < c->waiting && rounds; i++) {
        const struct runner *w = c->queue[(c->head + i) % c->room]->runner;
        uint64_t idle = (w->next_own - w->own) / quantum;

        rounds = idle < rounds ? idle : rounds;
    }
    for (size_t i = 0; i < c->waiting && rounds; i++)
        c->queue[(c->head + i) % c->room]->runner->own += rounds * quantum;
    return begin_turn(p, next_turn(c), time + rounds * quantum * c->waiting);
}

/* ---- the play ---- */

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
    if (r->fifo && r->fifo->first->key[r->fifo->first->part.at] - 1 < own)
        own = r->fifo->first->key[r->fifo->first->part.at] - 1;
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
    uint64_t time = r->next_own + r->ahead, was = 0;
    int bad;

    for (unsigned i = 0; i < part->columns; i++)
        if (part->column[i].id == CF_TIME)
            was = ((const uint64_t *)part->column[i].values)[part->at];
    time = time > p->now ? time : p->now;
    p->now = time;
    r->own = r->next_own;
    bad = output_rows(p->merge->out, &r->source, part, part->at, 1, time - was, KEEP_CPU, 0);
    fifo_advance(r->fifo, 1);
    return bad;
}

/* The next event. 1, or 0 when there is none, -1 when output failed. */
static int step(struct play *p)
{
    struct threads *t = p->threads;
    struct cpu *c = p->heaped ? p->heap[1] : NULL;
    const struct cpu *second = p->heaped > 1 ? p->heap[2] : NULL;
    uint64_t time = c ? c->next : UINT64_MAX, limit = UINT64_MAX;
    int bad = 0;
    struct runner *r;

    if (p->heaped > 2 && before(p->heap[3], second))
        second = p->heap[3];
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
        bad = rotate(p, c, limit);
        reorder(p, c);
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
        reorder(p, c);
        return bad ? -1 : 1;
    }
    if (bad || look(p, c->running) != 0)
        return -1;
    reorder(p, c);
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
    p.cpu = merge_alloc(m, NULL, p.cpus * sizeof(*p.cpu));
    memset(p.cpu, 0, p.cpus * sizeof(*p.cpu));
    p.heap = merge_alloc(m, NULL, (p.cpus + (size_t)1) * sizeof(struct cpu *));
    allow_files();
    while (result > 0)
        result = step(&p);
    if (result == 0)
        result = output_flush(m->out);
    for (uint32_t i = 0; i < p.cpus; i++)
        free(p.cpu[i].queue);
    free(p.cpu);
    free(p.heap);
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
