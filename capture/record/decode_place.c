/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_place.c - what is handed over: places for accesses, rows that wait for their turn, and the
 * thread that runs.
 */
#include <string.h>

#include "decode_parts.h"

int cf_decode_close_place(struct cf_decode *t)
{
    uint32_t rows = t->out.rows;
    int open = t->out.room > 0;

    t->out.rows = t->out.room = 0;
    if (!open || t->stopped)
        return t->stopped ? -1 : 0;
    t->total += rows;
    if (cf_decode_called(t, t->handler.placed(t->handler.arg, rows)) != 0)
        return -1;
    if (t->options.limit && t->total >= t->options.limit)
        t->stopping = 1;
    return 0;
}

int cf_decode_flush(struct cf_decode *t)
{
    struct cf_record_objects objects = {
        .rows = t->n_objects,
        .pid = t->objects_pid,
        .time = t->object_time,
        .tid = t->object_tid,
        .kind = t->object_kind,
        .addr = t->object_addr,
        .bytes = t->object_bytes,
        .stack = t->object_stack,
    };

    if (cf_decode_close_place(t) != 0)
        return -1;
    for (uint32_t i = 0; i < t->n_contexts; i++)
        if (cf_decode_called(t, t->handler.context(t->handler.arg, &t->context[i])) != 0)
            return -1;
    t->n_contexts = 0;
    t->n_objects = 0;
    return objects.rows ? cf_decode_called(t, t->handler.objects(t->handler.arg, &objects)) : 0;
}

static int open_place(struct cf_decode *t)
{
    const struct cf_decode_process *p = t->current;
    const struct cf_decode_thread none = {.tid = p->pid}, *th = p->running == CF_DECODE_NO_THREAD
                                                                    ? &none
                                                                    : &p->threads[p->running];
    uint32_t rows = 0;

    memset(&t->out, 0, sizeof(t->out));
    if (cf_decode_called(t, t->handler.place(t->handler.arg, p->pid, th->tid, th->cpu,
                                             &t->out.columns, &rows)) != 0)
        return -1;
    if (rows == 0) {
        t->stopped = 1;
        return -1;
    }
    if (t->options.limit && rows > t->options.limit - t->total)
        rows = (uint32_t)(t->options.limit - t->total);
    t->out.room = rows;
    return 0;
}

int cf_decode_put_staged(struct cf_decode *t, uint32_t staged)
{
    const struct cf_record_columns *s = &t->rows.staging;
    uint32_t done = 0;

    /* A full place may go on its way at once: what was kept back must go before it. */
    if (staged >= t->out.room - t->out.rows && (t->n_objects || t->n_contexts) &&
        cf_decode_flush(t) != 0)
        return -1;
    while (done < staged) {
        const struct cf_record_columns *c = &t->out.columns;
        uint32_t row = t->out.rows, n;

        if (t->stopping)
            return 0;
        if (t->out.room == 0) {
            if (open_place(t) != 0)
                return -1;
            continue;
        }
        n = staged - done < t->out.room - row ? staged - done : t->out.room - row;
        memcpy(c->time + row, s->time + done, n * sizeof(*c->time));
        memcpy(c->addr + row, s->addr + done, n * sizeof(*c->addr));
        memcpy(c->hint + row, s->hint + done, n * sizeof(*c->hint));
        t->out.rows += n;
        done += n;
        if (t->out.rows == t->out.room && cf_decode_close_place(t) != 0)
            return -1;
    }
    return 0;
}

int cf_decode_end_repeat(struct cf_decode *t)
{
    uint32_t staged = 0;

    if (!t->current || !t->current->code.repeat.pc)
        return 0;
    if (cf_rows_repeat_end(&t->rows, &t->current->code, &staged) == CF_ROWS_MEMORY)
        return cf_decode_no_memory(t);
    return cf_decode_put_staged(t, staged);
}

/* Threads. */

int cf_decode_leave(struct cf_decode *t, const struct cf_decode_process *p)
{
    if (t->current != p)
        return 0;
    if (!t->stopped && cf_decode_end_repeat(t) != 0)
        return -1;
    cf_decode_pause(t);
    t->current = NULL;
    return cf_decode_close_place(t);
}

void cf_decode_pause(struct cf_decode *t)
{
    if (t->current && t->current->running != CF_DECODE_NO_THREAD)
        t->current->threads[t->current->running].count += t->time - t->run_from;
    t->run_from = t->time;
}

/* The current process's running thread runs from now on. */
int cf_decode_resume(struct cf_decode *t)
{
    struct cf_decode_process *p = t->current;
    struct cf_decode_thread *th;

    t->run_from = t->time;
    if (p->running == CF_DECODE_NO_THREAD)
        return cf_decode_close_place(t);
    th = &p->threads[p->running];
    if (cf_decode_close_place(t) != 0)
        return -1;
    return cf_decode_called(
        t, t->handler.switched(t->handler.arg, t->time, p->pid, th->tid, th->cpu, th->count));
}

int cf_decode_task(struct cf_decode *t, struct cf_decode_process *p, uint32_t tid,
                   enum cf_record_kind kind, const char *name)
{
    struct cf_record_task task = {.time = t->time, .pid = p->pid, .tid = tid, .parent = p->parent};

    task.kind = kind;
    task.name = name;
    return cf_decode_flush(t) ? -1 : cf_decode_called(t, t->handler.task(t->handler.arg, &task));
}
