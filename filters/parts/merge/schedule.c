/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.c - runs stored traces as the tasks of one machine.
 *
 * Each input is one task, with all its threads. A task that has a processor advances by one tick of
 * its own clock in each tick of the machine's; one that waits does not. So the time of a row is
 * that of its own trace plus what its task has waited so far. All tasks are ready from time 0 on.
 * Waiting tasks stand in one queue for all processors: under `fair` a task that used up its slice
 * goes to its end, under `fifo` (SCHED_FIFO with priorities in the order of the inputs) no task
 * gives way before its end. Events (rows, ends of slices) are taken in the order of time, at equal
 * times by processor; rows of one task that come before anything else go out in one run.
 *
 * Memory: of each task that has begun, a frame and the other rows that came before it.
 */
#include <stdlib.h>

#include "filters/parts/merge/merge.h"

enum state { FRESH, READY, ENDED };

struct job {
    const struct input *input;
    struct source source;
    enum state state;
    const uint64_t *time; /* of the waiting accesses */
    uint64_t base;        /* the trace's time of the first access: the task's clock is 0 there */
    uint64_t own;         /* its clock now */
    uint64_t next_own;    /* its clock at the next row, or where it ends */
    uint64_t ahead;       /* machine's time - own clock, while it runs */
    uint64_t slice_end;   /* its clock when it has to give way */
    struct fifo *fifo;    /* where the next row comes from; NULL: accesses */
    int has_rows;         /* there is a next row */
    int accesses;         /* there were some */
    int time_warned;      /* that there are accesses without a time */
    /* who runs, by its table switch, and since when */
    int knows_thread;
    uint32_t pid, tid; /* as in the output */
    uint64_t count, since;
};

struct machine {
    struct merge *merge;
    struct job *job;
    struct job **cpu;   /* who runs there, NULL: idle */
    struct job **queue; /* a ring of all jobs' size */
    size_t head, waiting;
    uint64_t now; /* time of the last row */
};

/* ---- what a task does next ---- */

/* Notes which thread runs, so that a row can say so where the task goes on. */
static void note_switches(struct job *j, const struct part *p, uint32_t row)
{
    /* translated already */
    const uint32_t *pid = part_values(p, CF_PID), *tid = part_values(p, CF_TID);
    const uint64_t *time = part_values(p, CF_TIME), *count = part_values(p, CF_COUNT);

    j->since = time ? time[row] : j->since;
    j->pid = pid ? pid[row] : j->pid;
    j->tid = tid ? tid[row] : j->tid;
    j->count = count ? count[row] : j->count;
    j->knows_thread = 1;
}

/* Reads until accesses wait, or the input ends. */
static void load(struct machine *m, struct job *j)
{
    struct source *s = &j->source;
    struct cf_frame *f;

    output_settle(m->merge->out); /* what is read now takes the place of what waited */
    while (source_next(s, &f)) {
        const uint64_t *time = cf_u64(f, CF_TIME);

        cf_tool_progress(&m->merge->tool, s->reader);
        source_check_clash(s, f);
        if (!f->rows)
            continue;
        switch (f->table) {
        case CF_SNAPSHOT:
        case CF_LINE:
            source_leave_out(s, f->table, "task");
            break;
        case CF_ACCESS:
            if (!time) {
                if (!j->time_warned)
                    cf_fail(&m->merge->tool, CF_EXIT_INPUT,
                            "%s: frame %llu: accesses without column 'time' are left out",
                            j->input->name, (unsigned long long)f->number);
                j->time_warned = 1;
                break;
            }
            (void)source_order(s, f);
            source_take(s, f);
            source_translate(s, 0, f->rows);
            output_map(m->merge->out, s, &s->part);
            j->accesses = 1;
            j->time = time;
            return;
        default:
            if (time && f->table != CF_PROBE)
                source_queue(s, f, NULL, f->rows, time);
            else
                source_pass(s, f);
        }
    }
    s->part.rows = s->part.at = 0;
}

/* The task's clock at a time of its trace; a clock that goes back is damage. */
static uint64_t own_at(const struct job *j, uint64_t time)
{
    uint64_t own = time > j->base ? time - j->base : 0;

    /* sums of clocks must not overflow */
    own = own < (uint64_t)1 << 61 ? own : (uint64_t)1 << 61;
    return own > j->own ? own : j->own;
}

/* Looks what the task does next. */
static void look(struct machine *m, struct job *j)
{
    struct part *part = &j->source.part;
    uint64_t key;

    if (part->at == part->rows)
        load(m, j);
    j->has_rows = part->at < part->rows;
    j->fifo = source_first(&j->source);
    if (!j->has_rows && !j->fifo) {
        /* the last instruction takes its tick, too */
        j->next_own = j->own + (j->state == READY);
        return;
    }
    key = j->fifo ? fifo_key(j->fifo) : 0;
    if (j->state == FRESH) {
        j->base = j->has_rows ? j->time[part->at] : key;
        j->state = READY;
    }
    /* what explains an access goes before it */
    if (j->has_rows && (!j->fifo || key > j->time[part->at])) {
        j->fifo = NULL;
        key = j->time[part->at];
    }
    /* what comes after the last access, such as the end of a program that was recorded to a limit,
       takes that moment */
    if (!j->has_rows && j->accesses)
        key = 0;
    j->has_rows = 1;
    j->next_own = own_at(j, key);
}

/* ---- processors ---- */

/* The task has the processor from `time` on. */
static void dispatch(struct machine *m, uint32_t cpu, struct job *j, uint64_t time)
{
    int fresh = j->state == FRESH;

    m->cpu[cpu] = j;
    if (fresh) {
        source_open(&j->source, m->merge, j->input, 0, UINT64_MAX);
        cf_reader_want_all(j->source.reader);
        look(m, j);
    }
    j->ahead = time - j->own;
    j->slice_end = j->own + m->merge->o.slice;
    if (!fresh && j->knows_thread) {
        /* its count went on with the time of the trace, which stood still meanwhile */
        uint64_t at = time > m->now ? time : m->now, ran = j->own + j->base;
        uint64_t count = j->count + (ran > j->since ? ran - j->since : 0);

        m->now = at;
        output_switch(m->merge->out, &j->source, at, j->pid, j->tid, cpu, count);
    }
}

static void wait_turn(struct machine *m, struct job *j)
{
    m->queue[(m->head + m->waiting++) % m->merge->inputs] = j;
}

static struct job *next_turn(struct machine *m)
{
    struct job *j = m->queue[m->head];

    m->head = (m->head + 1) % m->merge->inputs;
    m->waiting--;
    return j;
}

static int gives_way(const struct machine *m, const struct job *j)
{
    return m->merge->o.schedule == SCHEDULE_FAIR && m->waiting && j->next_own >= j->slice_end &&
           j->has_rows;
}

/* When something happens next on the processor. */
static uint64_t next_time(const struct machine *m, uint32_t cpu)
{
    const struct job *j = m->cpu[cpu];

    return (gives_way(m, j) ? j->slice_end : j->next_own) + j->ahead;
}

/* Accesses of the task that come before anything else happens. */
static void play_accesses(struct machine *m, uint32_t cpu, uint64_t limit)
{
    struct job *j = m->cpu[cpu];
    struct part *part = &j->source.part;
    struct fifo *other = source_first(&j->source);
    uint64_t shift = j->ahead - j->base, time = j->next_own + j->ahead, most = limit - j->ahead;
    uint32_t from = part->at, to = from + 1;

    if (m->waiting && m->merge->o.schedule == SCHEDULE_FAIR && j->slice_end - 1 < most)
        most = j->slice_end - 1;
    most = most < UINT64_MAX - j->base ? most + j->base : UINT64_MAX;
    if (other && fifo_key(other) - 1 < most)
        most = fifo_key(other) - 1;
    if (j->time[from] + shift != time)
        shift = time - j->time[from]; /* back in time: alone, at the moment that it is */
    else
        while (to < part->rows && j->time[to] <= most && j->time[to] >= j->time[to - 1])
            to++;
    j->own = own_at(j, j->time[to - 1]);
    j->own = j->next_own > j->own ? j->next_own : j->own;
    m->now = j->own + j->ahead;
    part->at = to;
    output_rows(m->merge->out, &j->source, part, from, to - from, shift, cpu, 1);
}

static void play_other(struct machine *m, uint32_t cpu)
{
    struct job *j = m->cpu[cpu];
    struct part *part = &j->fifo->first->part;
    uint64_t was = j->fifo->first->key[part->at];
    int switches = part->table == CF_SWITCH;

    j->own = j->next_own;
    m->now = j->own + j->ahead > m->now ? j->own + j->ahead : m->now;
    if (switches)
        note_switches(j, part, part->at);
    output_rows(m->merge->out, &j->source, part, part->at, 1, m->now - was,
                switches || part->table == CF_UNPLACED ? (int64_t)cpu : KEEP_CPU, 0);
    fifo_advance(j->fifo, 1);
}

/* The task has ended, and the next one in the queue gets its processor. */
static void end(struct machine *m, uint32_t cpu)
{
    struct job *j = m->cpu[cpu];
    uint64_t time = j->next_own + j->ahead;

    output_settle(m->merge->out);
    source_warn(&j->source);
    if (!output_needs(m->merge->out, j->source.reader))
        source_close(&j->source);
    j->state = ENDED;
    m->cpu[cpu] = NULL;
    if (m->waiting)
        dispatch(m, cpu, next_turn(m), time);
}

/* The next event. 1, or 0 when there is none. */
static int step(struct machine *m)
{
    uint64_t time = UINT64_MAX, limit = UINT64_MAX;
    uint32_t cpu = UINT32_MAX;
    struct job *j;

    for (uint32_t i = 0; i < m->merge->o.cpus; i++) {
        uint64_t at = m->cpu[i] ? next_time(m, i) : UINT64_MAX;

        if (m->cpu[i] && (cpu == UINT32_MAX || at < time)) {
            time = at;
            cpu = i;
        }
    }
    if (cpu == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < m->merge->o.cpus; i++) {
        uint64_t at = m->cpu[i] && i != cpu ? next_time(m, i) : UINT64_MAX;

        /* at equal times the lower processor goes first, so its time is later than ours */
        at -= i < cpu;
        limit = at < limit ? at : limit;
    }
    j = m->cpu[cpu];
    if (gives_way(m, j)) {
        j->own = j->slice_end;
        wait_turn(m, j);
        dispatch(m, cpu, next_turn(m), time);
        return 1;
    }
    if (!j->has_rows) {
        end(m, cpu);
        return 1;
    }
    if (j->fifo)
        play_other(m, cpu);
    else
        play_accesses(m, cpu, limit);
    look(m, j);
    return 1;
}

void merge_scheduled(struct merge *merge)
{
    struct machine m = {.merge = merge};
    uint32_t cpus = merge->o.cpus ? merge->o.cpus : 1;
    int accesses = 0;

    merge->o.cpus = cpus;
    m.job = cf_tool_room(&merge->tool, merge->inputs, sizeof(*m.job));
    m.queue = cf_tool_room(&merge->tool, merge->inputs, sizeof(struct job *));
    m.cpu = cf_tool_room(&merge->tool, cpus, sizeof(struct job *));
    for (unsigned i = 0; i < merge->inputs; i++) {
        m.job[i].input = &merge->input[i];
        wait_turn(&m, &m.job[i]);
    }
    for (uint32_t i = 0; i < cpus && m.waiting; i++)
        dispatch(&m, i, next_turn(&m), 0);
    while (step(&m))
        ;
    output_flush(merge->out);
    for (unsigned i = 0; i < merge->inputs; i++) {
        accesses |= m.job[i].accesses;
        if (m.job[i].source.reader)
            source_close(&m.job[i].source);
    }
    if (merge->left_out && !accesses)
        cf_fail(&merge->tool, CF_EXIT_INPUT,
                "no input has accesses: there is nothing to schedule; without --schedule they are "
                "merged by time");
}
