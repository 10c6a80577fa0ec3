/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_events.c - what a process reports between its records: contexts, heap blocks, tasks,
 * mappings, and which thread runs.
 */
#include <stdio.h>
#include <string.h>

#include "decode_parts.h"
#include "formats/base/cf_memory.h"

static struct cf_decode_thread *find_thread(struct cf_decode *t, struct cf_decode_process *p,
                                            uint32_t tid)
{
    struct cf_decode_thread *th = NULL;

    for (int i = p->n_threads - 1; i >= 0; i--) {
        if (p->threads[i].tid == tid)
            return &p->threads[i];
        if (p->n_threads >= CF_DECODE_THREADS && !p->threads[i].alive && i != p->running)
            th = &p->threads[i];
    }
    if (!th &&
        cf_array_room(&p->threads, &p->threads_room, (size_t)p->n_threads + 1, sizeof(*th)) != 0) {
        cf_decode_no_memory(t);
        return NULL;
    }
    if (th)
        cf_calls_thread_free(&th->calls);
    else
        th = &p->threads[p->n_threads++];
    memset(th, 0, sizeof(*th));
    th->tid = tid;
    if (p->first.stacks) {
        th->calls = p->first;
        memset(&p->first, 0, sizeof(p->first));
    } else if (t->options.calls && cf_calls_thread_init(&th->calls) != 0) {
        cf_decode_no_memory(t);
        return NULL;
    }
    return th;
}

/* Events. Functions return 0; -1: stop; -2: invalid. */

static int new_block(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                     uint32_t bytes)
{
    struct cf_rows_block *b;
    int r = cf_rows_describe(&t->rows, &p->code, event, bytes);

    if (r != 0)
        return r == -1 ? -2 : cf_decode_no_memory(t);
    b = p->code.blocks[p->code.n_blocks - 1];
    b->left_out = cf_decode_is_left_out(&p->left_out, cf_rows_pc(b, 0));
    if (!b->left_out)
        return 0;
    b->repeat = 0;
    if (b->end.kind == CF_WIRE_CALLS)
        b->end.kind = CF_WIRE_MOVES; /* as if its caller had called */
    return 0;
}

static int new_context(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                       uint32_t bytes)
{
    struct cf_wire_context wire;
    uint32_t n;

    if (bytes != sizeof(wire))
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (wire.id != p->n_contexts || wire.parent >= wire.id || t->last_context == UINT32_MAX)
        return -2;
    if (cf_array_room(&p->contexts, &p->contexts_room, p->n_contexts + 1, sizeof(*p->contexts)) !=
        0)
        return cf_decode_no_memory(t);
    if (t->n_contexts == CF_DECODE_CONTEXTS && cf_decode_flush(t) != 0)
        return -1;
    n = t->n_contexts++;
    t->context_pid[n] = p->pid;
    t->context_id[n] = p->contexts[p->n_contexts++] = ++t->last_context;
    t->context_parent[n] = p->contexts[wire.parent];
    t->context_pc[n] = wire.pc;
    return 0;
}

static int new_object(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                      uint32_t bytes)
{
    struct cf_wire_object wire;
    uint32_t n;

    if (bytes != sizeof(wire))
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (wire.context >= p->n_contexts)
        return -2;
    if ((t->n_objects == CF_DECODE_OBJECTS || (t->n_objects && t->objects_pid != p->pid)) &&
        cf_decode_flush(t) != 0)
        return -1;
    n = t->n_objects++;
    t->objects_pid = p->pid;
    t->object_time[n] = t->time;
    t->object_tid[n] = p->running == CF_DECODE_NO_THREAD ? p->pid : p->threads[p->running].tid;
    t->object_op[n] = wire.header.type == CF_WIRE_ALLOC ? CF_ALLOC : CF_FREE;
    t->object_addr[n] = wire.addr;
    t->object_bytes[n] = wire.size;
    t->object_stack[n] = p->contexts[wire.context];
    return 0;
}

/* The text behind an event's fixed part. -2 when it is too long. */
static int copy_name(char *name, const uint8_t *event, size_t fixed, uint32_t bytes)
{
    if (bytes < fixed || bytes - fixed > CF_WIRE_MAX_NAME)
        return -2;
    memcpy(name, event + fixed, bytes - fixed);
    name[bytes - fixed] = 0;
    return 0;
}

static int task_starts(struct cf_decode *t, struct cf_decode_process *p,
                       struct cf_decode_thread *th, const char *name)
{
    th->alive = 1;
    /* A thread's number may be used again. */
    if (!(p->running != CF_DECODE_NO_THREAD && th == &p->threads[p->running]))
        th->count = 0;
    return cf_decode_task(t, p, th->tid, p->execed && th->tid == p->pid ? CF_NAMED : CF_BEGIN,
                          name);
}

int cf_decode_begin(struct cf_decode *t, struct cf_decode_process *p, uint32_t tid,
                    const char *name)
{
    struct cf_decode_thread *th = find_thread(t, p, tid);

    return !th ? -1 : th->alive ? 0 : task_starts(t, p, th, name);
}

static int new_task(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                    uint32_t bytes)
{
    char name[CF_WIRE_MAX_NAME + 1];
    struct cf_wire_task wire;
    struct cf_decode_thread *th;
    int known = 0;

    if (copy_name(name, event, sizeof(wire), bytes) != 0)
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (!wire.tid)
        return -2;
    for (int i = 0; i < p->n_threads; i++)
        known |= p->threads[i].tid == wire.tid;
    if (wire.kind == CF_WIRE_TASK_MADE && known)
        return 0;
    th = find_thread(t, p, wire.tid);
    if (!th)
        return -1;
    snprintf(th->name, sizeof(th->name), "%.*s", (int)sizeof(th->name) - 1, name);
    if (known && !th->alive && p->running != th - p->threads)
        cf_calls_unknown(&th->calls); /* its number is used again */
    switch (wire.kind) {
    case CF_WIRE_TASK_START:
    case CF_WIRE_TASK_MADE:
        return task_starts(t, p, th, name);
    case CF_WIRE_TASK_NAME:
        return cf_decode_task(t, p, wire.tid, CF_NAMED, name);
    case CF_WIRE_TASK_EXIT:
        th->alive = 0;
        return cf_decode_task(t, p, wire.tid, CF_EXIT, name);
    default:
        return -2;
    }
}

static int new_map(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                   uint32_t bytes)
{
    char name[CF_WIRE_MAX_NAME + 1];
    struct cf_wire_map wire;

    if (copy_name(name, event, sizeof(wire), bytes) != 0)
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (wire.start >= wire.end)
        return -2;
    return cf_decode_flush(t) ? -1 : cf_decode_called(t, t->map(t, p->pid, &wire, name));
}

int cf_decode_run(struct cf_decode *t, struct cf_decode_process *p, uint32_t tid, uint32_t cpu)
{
    struct cf_decode_thread *th = find_thread(t, p, tid);

    if (!th)
        return -1;
    if (p->running == th - p->threads)
        return 0;
    if (cf_decode_end_repeat(t) != 0)
        return -1;
    cf_decode_pause(t);
    p->running = (int)(th - p->threads);
    th->cpu = cpu;
    th->start = t->time;
    th->step = 0;
    return cf_decode_resume(t);
}

static int new_thread(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                      uint32_t bytes)
{
    struct cf_wire_thread wire;

    if (bytes != sizeof(wire))
        return -2;
    memcpy(&wire, event, sizeof(wire));
    return cf_decode_run(t, p, wire.tid, 0);
}

/* What happens to the running thread's stack without a call or return. */
static int change_stack(struct cf_decode *t, struct cf_decode_process *p, const uint8_t *event,
                        const struct cf_wire_event_header *header)
{
    const struct cf_rows_thread thread = cf_decode_running(t);
    struct cf_wire_signal signal;
    struct cf_wire_fork fork;
    int r = 0;

    if (header->bytes != (header->type == CF_WIRE_SIGNAL  ? sizeof(signal)
                          : header->type == CF_WIRE_FORKS ? sizeof(fork)
                                                          : sizeof(*header)))
        return -2;
    if (!thread.thread)
        return 0;
    cf_rows_stack(&t->out, cf_calls_now(thread.calls, thread.thread));
    if (header->type == CF_WIRE_SIGNAL) {
        memcpy(&signal, event, sizeof(signal));
        r = cf_calls_signal(thread.calls, thread.thread, thread.image, &signal);
    } else if (header->type == CF_WIRE_FORKS) {
        memcpy(&fork, event, sizeof(fork));
        r = cf_calls_fork(thread.calls, &p->forks, fork.number, thread.thread);
    } else if (header->type == CF_WIRE_HANDLED) {
        cf_calls_handled(thread.thread);
    } else {
        cf_calls_unknown(thread.thread);
    }
    return r == 0 ? 0 : cf_decode_no_memory(t);
}

int cf_decode_event(struct cf_decode *t, struct cf_decode_process *p, const uint8_t **from,
                    const uint8_t *end)
{
    struct cf_wire_event_header header;
    const uint8_t *e = *from;

    if ((size_t)(end - e) < sizeof(header))
        return -2;
    memcpy(&header, e, sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes > (size_t)(end - e))
        return -2;
    *from += header.bytes;
    /* Its iterations are translated once it has begun. */
    if (header.type != CF_WIRE_PAD && header.type != CF_WIRE_BLOCK && cf_decode_end_repeat(t) != 0)
        return -1;
    switch (header.type) {
    case CF_WIRE_PAD:
        return 0;
    case CF_WIRE_BLOCK:
        return new_block(t, p, e, header.bytes);
    case CF_WIRE_THREAD:
        return new_thread(t, p, e, header.bytes);
    case CF_WIRE_TASK:
        return new_task(t, p, e, header.bytes);
    case CF_WIRE_MAP:
    case CF_WIRE_UNMAP:
        return new_map(t, p, e, header.bytes);
    case CF_WIRE_ALLOC:
    case CF_WIRE_FREE:
        return new_object(t, p, e, header.bytes);
    case CF_WIRE_CONTEXT:
        return new_context(t, p, e, header.bytes);
    case CF_WIRE_SIGNAL:
    case CF_WIRE_HANDLED:
    case CF_WIRE_UNKNOWN:
    case CF_WIRE_FORKS:
        return change_stack(t, p, e, &header);
    case CF_WIRE_GONE:
        if (t->options.calls && header.bytes == sizeof(header))
            p->image = cf_calls_image(&t->calls, p->pid, 0, 0);
        return header.bytes != sizeof(header)  ? -2
               : p->image || !t->options.calls ? 0
                                               : cf_decode_no_memory(t);
    case CF_WIRE_NO_HEAP:
        t->heapless++;
        return header.bytes == sizeof(header) ? 0 : -2;
    case CF_WIRE_LOST:
        cf_decode_problem(t, "process %u ran more different code than can be recorded", p->pid);
        return 0;
    default:
        return -2;
    }
}
