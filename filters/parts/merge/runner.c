/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runner.c - what a thread that lives does next: its rows and accesses, read for itself alone.
 */
#include <stdlib.h>

#include "filters/parts/merge/interleave.h"

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

/* Queues the rows of a frame that are the thread's own doing. */
static void queue_rows(struct play *p, struct thread *th, const struct cf_frame *f)
{
    const uint64_t *time = cf_u64(f, CF_TIME);
    const uint32_t *pid = cf_u32(f, CF_PID), *tid = cf_u32(f, CF_TID);
    uint32_t *row, rows = 0;
    uint64_t *key;

    if (!time || !pid)
        return;
    row = merge_alloc(p->merge, f->rows, sizeof(*row));
    key = merge_alloc(p->merge, f->rows, sizeof(*key));
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

int runner_look(struct play *p, struct thread *th)
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
        own = fifo_key(r->fifo);
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
