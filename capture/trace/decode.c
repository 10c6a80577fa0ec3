/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tokens, rings, processes and events; the rows themselves are expanded in decode_rows.c.
 *
 * Memory: per process 4 MiB of ring, the descriptions and templates of all superblocks that it ever
 * translated, and 4 bytes a context; given back some time after it ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"
#include "decode_rows.h"
#include "protocol.h"

enum {
    TOKENS = 64,    /* read at once */
    OBJECTS = 4096, /* kept back at most */
    CONTEXTS = 1024,
    ENDED_KEPT = 8, /* ended processes whose descriptions a late child may still inherit */
    NO_THREAD = -1,
};

struct thread {
    uint32_t tid;
    int alive;
    uint64_t count; /* instructions */
    char name[64];
};

struct process {
    uint32_t pid, ring_number, parent;
    int alive;  /* its tokens are expected */
    int execed; /* the pid ran another image before */
    struct cf_wire_ring *ring;
    uint32_t sequence; /* of the block that is due */
    uint32_t consumed; /* bytes of it that were decoded as published */
    struct cf_rows_code code;
    uint32_t *contexts; /* by its own id: ours */
    uint32_t n_contexts, contexts_room;
    struct thread *threads;
    int n_threads, threads_room, running;
    struct process *next; /* newest first */
};

struct cf_trace {
    char directory[PATH_MAX];
    struct cf_trace_options options;
    struct cf_trace_handler handler;
    int fd;
    int begun;
    int stopping; /* no more recording is wanted */
    int stopped;  /* by the handler, or without memory: nothing is called any more */
    unsigned dropped;
    char problem[512];

    struct cf_rows rows;
    struct cf_rows_output out; /* room 0: no place is open */
    uint64_t time, total;
    uint64_t run_from; /* when the running thread began to run */
    struct process *processes, *current;
    uint32_t last_context;

    uint32_t n_objects, objects_pid;
    uint64_t object_time[OBJECTS], object_addr[OBJECTS], object_bytes[OBJECTS];
    uint32_t object_tid[OBJECTS], object_stack[OBJECTS];
    uint8_t object_kind[OBJECTS];
    uint32_t n_contexts;
    struct cf_trace_context context[CONTEXTS];
};

static void problem(struct cf_trace *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void problem(struct cf_trace *t, const char *format, ...)
{
    va_list args;

    if (t->problem[0])
        return;
    va_start(args, format);
    vsnprintf(t->problem, sizeof(t->problem), format, args);
    va_end(args);
}

static int called(struct cf_trace *t, int result)
{
    if (result != 0)
        t->stopped = 1;
    return t->stopped ? -1 : 0;
}

static int no_memory(struct cf_trace *t)
{
    problem(t, "out of memory");
    t->stopped = 1;
    return -1;
}

/* Places, and rows that wait for their turn. */

static int close_place(struct cf_trace *t)
{
    uint32_t rows = t->out.rows;
    int open = t->out.room > 0;

    t->out.rows = t->out.room = 0;
    if (!open || t->stopped)
        return t->stopped ? -1 : 0;
    t->total += rows;
    if (called(t, t->handler.placed(t->handler.arg, rows)) != 0)
        return -1;
    if (t->options.limit && t->total >= t->options.limit)
        cf_trace_stop(t);
    return 0;
}

static int flush_rows(struct cf_trace *t)
{
    struct cf_trace_objects objects = {
        .rows = t->n_objects,
        .pid = t->objects_pid,
        .time = t->object_time,
        .tid = t->object_tid,
        .kind = t->object_kind,
        .addr = t->object_addr,
        .bytes = t->object_bytes,
        .stack = t->object_stack,
    };

    if (close_place(t) != 0)
        return -1;
    for (uint32_t i = 0; i < t->n_contexts; i++)
        if (called(t, t->handler.context(t->handler.arg, &t->context[i])) != 0)
            return -1;
    t->n_contexts = 0;
    t->n_objects = 0;
    return objects.rows ? called(t, t->handler.objects(t->handler.arg, &objects)) : 0;
}

static int open_place(struct cf_trace *t)
{
    struct process *p = t->current;
    uint32_t tid = p->running == NO_THREAD ? p->pid : p->threads[p->running].tid;
    uint32_t rows = 0;

    memset(&t->out, 0, sizeof(t->out));
    if (called(t, t->handler.place(t->handler.arg, p->pid, tid, &t->out.columns, &rows)) != 0)
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

static int put_staged(struct cf_trace *t, uint32_t staged)
{
    const struct cf_trace_columns *s = &t->rows.staging;
    uint32_t done = 0;

    /* A full place may go on its way at once: what was kept back must go before it. */
    if (staged >= t->out.room - t->out.rows && (t->n_objects || t->n_contexts) &&
        flush_rows(t) != 0)
        return -1;
    while (done < staged) {
        const struct cf_trace_columns *c = &t->out.columns;
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
        if (t->out.rows == t->out.room && close_place(t) != 0)
            return -1;
    }
    return 0;
}

/* Threads. */

static struct thread *find_thread(struct cf_trace *t, struct process *p, uint32_t tid)
{
    struct thread *th;

    for (int i = p->n_threads - 1; i >= 0; i--)
        if (p->threads[i].tid == tid)
            return &p->threads[i];
    if (p->n_threads == p->threads_room) {
        int room = p->threads_room ? 2 * p->threads_room : 8;

        th = realloc(p->threads, (size_t)room * sizeof(*th));
        if (!th) {
            no_memory(t);
            return NULL;
        }
        p->threads = th;
        p->threads_room = room;
    }
    th = &p->threads[p->n_threads++];
    memset(th, 0, sizeof(*th));
    th->tid = tid;
    return th;
}

static void stop_running(struct cf_trace *t)
{
    if (t->current && t->current->running != NO_THREAD)
        t->current->threads[t->current->running].count += t->time - t->run_from;
    t->run_from = t->time;
}

/* The current process's running thread runs from now on. */
static int start_running(struct cf_trace *t)
{
    struct process *p = t->current;
    struct thread *th;

    t->run_from = t->time;
    if (p->running == NO_THREAD)
        return close_place(t);
    th = &p->threads[p->running];
    if (close_place(t) != 0)
        return -1;
    return called(t, t->handler.switched(t->handler.arg, t->time, p->pid, th->tid, th->count));
}

static int report_task(struct cf_trace *t, struct process *p, uint32_t tid, enum cf_trace_kind kind,
                       const char *name)
{
    struct cf_trace_task task = {.time = t->time, .pid = p->pid, .tid = tid, .parent = p->parent};

    task.kind = kind;
    task.name = name;
    return flush_rows(t) ? -1 : called(t, t->handler.task(t->handler.arg, &task));
}

/* Processes. */

static struct process *find_process(struct cf_trace *t, uint32_t pid, uint32_t ring_number)
{
    for (struct process *p = t->processes; p; p = p->next)
        if (p->pid == pid && p->ring_number == ring_number)
            return p;
    return NULL;
}

static void forget(struct process *p)
{
    cf_rows_code_free(&p->code);
    free(p->contexts);
    free(p->threads);
    p->contexts = NULL;
    p->threads = NULL;
    p->n_contexts = 0;
    p->n_threads = 0;
    p->running = NO_THREAD;
}

static void unmap_ring(struct process *p)
{
    if (p->ring)
        munmap(p->ring, CF_WIRE_RING_BYTES);
    p->ring = NULL;
}

static void wake(struct process *p)
{
    syscall(SYS_futex, &p->ring->freed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* What this process still sends is not looked at. */
static void refuse(struct process *p)
{
    if (!p->ring)
        return;
    __atomic_store_n(&p->ring->stop, 1, __ATOMIC_SEQ_CST);
    wake(p);
}

static void drop(struct cf_trace *t, struct process *p, const char *what)
{
    problem(t, "process %u: %s: its trace ends here", p->pid, what);
    t->dropped++;
    refuse(p);
    p->alive = 0;
    unmap_ring(p);
}

static int end_process(struct cf_trace *t, struct process *p)
{
    struct process **link = &t->processes, *q;
    unsigned ended = 0;

    p->alive = 0;
    for (int i = 0; i < p->n_threads; i++)
        if (p->threads[i].alive &&
            report_task(t, p, p->threads[i].tid, CF_TRACE_EXIT, p->threads[i].name) != 0)
            return -1;
    if (t->current == p) {
        if (close_place(t) != 0)
            return -1;
        stop_running(t);
        t->current = NULL;
    }
    unmap_ring(p);
    while ((q = *link))
        if (!q->alive && ++ended > ENDED_KEPT) {
            *link = q->next;
            forget(q);
            free(q);
        } else {
            link = &q->next;
        }
    return 0;
}

static int map_ring(struct cf_trace *t, struct process *p)
{
    char path[PATH_MAX + 40];
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "%s/ring.%u.%u", t->directory, p->pid, p->ring_number);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        problem(t, "%s: %s", path, strerror(errno));
        return -1;
    }
    unlink(path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= CF_WIRE_RING_BYTES)
        p->ring = mmap(NULL, CF_WIRE_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    else
        p->ring = MAP_FAILED;
    close(fd);
    if (p->ring == MAP_FAILED) {
        p->ring = NULL;
        return -1;
    }
    if (p->ring->magic != CF_WIRE_MAGIC || p->ring->version != CF_WIRE_VERSION ||
        p->ring->block_bytes != CF_WIRE_BLOCK_BYTES || p->ring->blocks != CF_WIRE_BLOCKS)
        return -1;
    return 0;
}

/* What a forked child knows from its parent. 0, -1: nonsense, -2: no memory. */
static int inherit(struct process *p, const struct process *parent,
                   const struct cf_wire_token *token)
{
    if (token->outcomes < 1 || token->outcomes > parent->code.outcomes || token->contexts < 1 ||
        token->contexts > parent->n_contexts)
        return -1;
    p->contexts = malloc(token->contexts * sizeof(*p->contexts));
    if (!p->contexts || cf_rows_code_inherit(&p->code, &parent->code, token->outcomes) != 0)
        return -2;
    memcpy(p->contexts, parent->contexts, token->contexts * sizeof(*p->contexts));
    p->n_contexts = p->contexts_room = token->contexts;
    return 0;
}

static int start_process(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct process *p, *old, *parent = NULL;
    int r = 0;

    t->begun = 1;
    for (old = t->processes; old; old = old->next)
        if (old->pid == token->pid)
            break;
    for (parent = t->processes; parent; parent = parent->next)
        if (parent->pid == token->parent)
            break;
    p = calloc(1, sizeof(*p));
    if (!p)
        return no_memory(t);
    p->pid = token->pid;
    p->ring_number = token->ring;
    p->parent = parent ? token->parent : 0;
    p->alive = 1;
    p->running = NO_THREAD;
    if (old && old->alive && token->origin == CF_WIRE_FIRST) {
        struct cf_trace_map all = {.time = t->time, .pid = p->pid, .kind = CF_TRACE_UNMAPPED};

        all.end = UINT64_MAX;
        all.name = "";
        p->execed = 1;
        p->parent = old->parent;
        for (int i = 0; i < old->n_threads; i++)
            if (old->threads[i].tid == old->pid)
                old->threads[i].alive = 0; /* lives on */
        if (end_process(t, old) != 0 || flush_rows(t) != 0 ||
            called(t, t->handler.map(t->handler.arg, &all)) != 0) {
            free(p);
            return -1;
        }
    }
    p->next = t->processes;
    t->processes = p;
    if (token->origin == CF_WIRE_FORK)
        r = parent ? inherit(p, parent, token) : -1;
    else {
        p->contexts_room = 1024;
        p->contexts = malloc(p->contexts_room * sizeof(*p->contexts));
        if (!p->contexts || cf_rows_code_init(&p->code) != 0)
            r = -2;
        else
            p->contexts[0] = 0;
        p->n_contexts = 1;
    }
    if (r == -2)
        return no_memory(t);
    if (r != 0 || map_ring(t, p) != 0)
        drop(t, p, "a start that makes no sense");
    else if (t->stopping)
        refuse(p);
    return 0;
}

/* Events. Functions return 0; -1: stop; -2: nonsense. */

static int new_context(struct cf_trace *t, struct process *p, const uint8_t *event, uint32_t bytes)
{
    struct cf_wire_context wire;
    struct cf_trace_context *c;

    if (bytes != sizeof(wire))
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (wire.id != p->n_contexts || wire.parent >= wire.id || t->last_context == UINT32_MAX)
        return -2;
    if (p->n_contexts == p->contexts_room) {
        uint32_t room = 2 * p->contexts_room;
        uint32_t *more = realloc(p->contexts, room * sizeof(*more));

        if (!more)
            return no_memory(t);
        p->contexts = more;
        p->contexts_room = room;
    }
    if (t->n_contexts == CONTEXTS && flush_rows(t) != 0)
        return -1;
    c = &t->context[t->n_contexts++];
    c->pid = p->pid;
    c->stack = ++t->last_context;
    c->parent = p->contexts[wire.parent];
    c->pc = wire.pc;
    p->contexts[p->n_contexts++] = c->stack;
    return 0;
}

static int new_object(struct cf_trace *t, struct process *p, const uint8_t *event, uint32_t bytes)
{
    struct cf_wire_object wire;
    uint32_t n;

    if (bytes != sizeof(wire))
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (wire.context >= p->n_contexts)
        return -2;
    if ((t->n_objects == OBJECTS || (t->n_objects && t->objects_pid != p->pid)) &&
        flush_rows(t) != 0)
        return -1;
    n = t->n_objects++;
    t->objects_pid = p->pid;
    t->object_time[n] = t->time;
    t->object_tid[n] = p->running == NO_THREAD ? p->pid : p->threads[p->running].tid;
    t->object_kind[n] = wire.header.type == CF_WIRE_ALLOC ? CF_TRACE_ALLOC : CF_TRACE_FREE;
    t->object_addr[n] = wire.addr;
    t->object_bytes[n] = wire.size;
    t->object_stack[n] = p->contexts[wire.context];
    return 0;
}

/* The text behind an event's fixed part. -2 when there is too much. */
static int copy_name(char *name, const uint8_t *event, size_t fixed, uint32_t bytes)
{
    if (bytes < fixed || bytes - fixed > CF_WIRE_MAX_NAME)
        return -2;
    memcpy(name, event + fixed, bytes - fixed);
    name[bytes - fixed] = 0;
    return 0;
}

static int new_task(struct cf_trace *t, struct process *p, const uint8_t *event, uint32_t bytes)
{
    char name[CF_WIRE_MAX_NAME + 1];
    struct cf_wire_task wire;
    struct thread *th;
    enum cf_trace_kind kind;

    if (copy_name(name, event, sizeof(wire), bytes) != 0)
        return -2;
    memcpy(&wire, event, sizeof(wire));
    th = find_thread(t, p, wire.tid);
    if (!th)
        return -1;
    snprintf(th->name, sizeof(th->name), "%.*s", (int)sizeof(th->name) - 1, name);
    if (wire.kind == CF_WIRE_TASK_START)
        kind = p->execed && wire.tid == p->pid ? CF_TRACE_NAMED : CF_TRACE_BEGIN;
    else if (wire.kind == CF_WIRE_TASK_NAME)
        kind = CF_TRACE_NAMED;
    else if (wire.kind == CF_WIRE_TASK_EXIT)
        kind = CF_TRACE_EXIT;
    else
        return -2;
    if (wire.kind == CF_WIRE_TASK_START) {
        th->alive = 1;
        /* A thread's number may be used again. */
        if (!(p->running != NO_THREAD && th == &p->threads[p->running]))
            th->count = 0;
    } else if (kind == CF_TRACE_EXIT) {
        th->alive = 0;
    }
    return report_task(t, p, wire.tid, kind, name);
}

static int new_map(struct cf_trace *t, struct process *p, const uint8_t *event, uint32_t bytes)
{
    char name[CF_WIRE_MAX_NAME + 1];
    struct cf_wire_map wire;
    struct cf_trace_map map = {.time = t->time, .pid = p->pid, .name = name};

    if (copy_name(name, event, sizeof(wire), bytes) != 0)
        return -2;
    memcpy(&wire, event, sizeof(wire));
    if (wire.start >= wire.end)
        return -2;
    map.kind = wire.header.type == CF_WIRE_MAP ? CF_TRACE_MAPPED : CF_TRACE_UNMAPPED;
    map.perms = wire.perms & 7;
    map.start = wire.start;
    map.end = wire.end;
    map.offset = wire.offset;
    return flush_rows(t) ? -1 : called(t, t->handler.map(t->handler.arg, &map));
}

static int new_thread(struct cf_trace *t, struct process *p, const uint8_t *event, uint32_t bytes)
{
    struct cf_wire_thread wire;
    struct thread *th;

    if (bytes != sizeof(wire))
        return -2;
    memcpy(&wire, event, sizeof(wire));
    th = find_thread(t, p, wire.tid);
    if (!th)
        return -1;
    stop_running(t);
    p->running = (int)(th - p->threads);
    return start_running(t);
}

static int event(struct cf_trace *t, struct process *p, const uint8_t **from, const uint8_t *end)
{
    struct cf_wire_event_header header;
    const uint8_t *e = *from;
    int r;

    if ((size_t)(end - e) < sizeof(header))
        return -2;
    memcpy(&header, e, sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes > (size_t)(end - e))
        return -2;
    *from += header.bytes;
    switch (header.type) {
    case CF_WIRE_PAD:
        return 0;
    case CF_WIRE_BLOCK:
        r = cf_rows_describe(&p->code, e, header.bytes);
        return r == 0 ? 0 : r == -1 ? -2 : no_memory(t);
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
    case CF_WIRE_LOST:
        problem(t, "process %u ran more different code than can be recorded", p->pid);
        return 0;
    default:
        return -2;
    }
}

/* Decodes the block that is due from where it was left up to `bytes`. */
static int decode(struct cf_trace *t, struct process *p, uint32_t bytes)
{
    const uint8_t *block = (const uint8_t *)p->ring + CF_WIRE_HEADER_BYTES +
                           (size_t)(p->sequence % CF_WIRE_BLOCKS) * CF_WIRE_BLOCK_BYTES;
    const uint8_t *from = block + p->consumed, *end = block + bytes;
    int r = 0;

    if (bytes < p->consumed || bytes > CF_WIRE_BLOCK_BYTES - CF_ROWS_TAIL) {
        drop(t, p, "a block of an impossible size");
        return 0;
    }
    if (t->current != p) {
        stop_running(t);
        t->current = p;
        if (start_running(t) != 0)
            return -1;
    }
    while (r == 0 && from < end && !t->stopping) {
        uint32_t staged = 0;

        switch (cf_rows_expand(&t->rows, &p->code, &from, end, &t->out, &t->time, &staged)) {
        case CF_ROWS_DONE:
            break;
        case CF_ROWS_EVENT:
            r = event(t, p, &from, end);
            break;
        case CF_ROWS_STAGED:
            r = put_staged(t, staged);
            break;
        case CF_ROWS_BAD:
            r = -2;
            break;
        case CF_ROWS_MEMORY:
            r = no_memory(t);
            break;
        }
    }
    p->consumed = bytes;
    if (r == -2) {
        drop(t, p, "its records make no sense");
        r = 0;
    }
    return r;
}

static int take_token(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct process *p;

    if (token->type == CF_WIRE_TOKEN_START)
        return start_process(t, token);
    p = find_process(t, token->pid, token->ring);
    if (!p || !p->alive)
        return 0;
    if (token->type == CF_WIRE_TOKEN_END)
        return end_process(t, p);
    if (t->stopping)
        return 0;
    if (token->type != CF_WIRE_TOKEN_BLOCK || token->sequence != p->sequence) {
        drop(t, p, "a message that makes no sense");
        return 0;
    }
    if (decode(t, p, token->bytes) != 0)
        return -1;
    p->sequence++;
    p->consumed = 0;
    if (p->ring) {
        __atomic_store_n(&p->ring->freed, p->sequence, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&p->ring->waiting, __ATOMIC_SEQ_CST))
            wake(p);
    }
    return 0;
}

/* What processes have recorded without having filled a block. */
static int take_published(struct cf_trace *t)
{
    for (struct process *p = t->processes; p; p = p->next) {
        uint64_t published;

        if (!p->alive || !p->ring || t->stopping)
            continue;
        published = __atomic_load_n(&p->ring->published, __ATOMIC_ACQUIRE);
        if (published >> 32 == p->sequence && (uint32_t)published > p->consumed &&
            decode(t, p, (uint32_t)published) != 0)
            return -1;
    }
    return flush_rows(t);
}

/* Whether a process that did not say goodbye is still there: between two images, as it were. */
static int between_images(const struct cf_trace *t)
{
    for (const struct process *p = t->processes; p; p = p->next) {
        char path[64], text[512], *state;
        ssize_t n;
        int fd;

        if (!p->alive)
            continue;
        snprintf(path, sizeof(path), "/proc/%u/stat", p->pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[n < 0 ? 0 : n] = 0;
        state = strrchr(text, ')'); /* "pid (name) state ..." */
        if (state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X')
            return 1;
    }
    return 0;
}

int cf_trace_read(struct cf_trace *t, int milliseconds)
{
    struct cf_wire_token tokens[TOKENS];
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    ssize_t n;

    if (t->stopped)
        return CF_TRACE_STOPPED;
    n = poll(&p, 1, milliseconds);
    if (n < 0 && errno != EINTR) {
        problem(t, "poll: %s", strerror(errno));
        return CF_TRACE_STOPPED;
    }
    if (n <= 0)
        return take_published(t) == 0 ? CF_TRACE_IDLE : CF_TRACE_STOPPED;
    if (!(p.revents & POLLIN)) {
        struct timespec pause = {.tv_nsec = 10000000};

        if (!t->options.follow || !between_images(t))
            return CF_TRACE_END;
        nanosleep(&pause, NULL); /* poll() does not wait now */
        return take_published(t) == 0 ? CF_TRACE_IDLE : CF_TRACE_STOPPED;
    }
    n = read(t->fd, tokens, sizeof(tokens));
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? CF_TRACE_WORKED : CF_TRACE_STOPPED;
    if (n % (ssize_t)sizeof(*tokens) != 0) {
        problem(t, "a foreign message in %s/tokens", t->directory);
        return CF_TRACE_STOPPED;
    }
    for (ssize_t i = 0; i < n / (ssize_t)sizeof(*tokens); i++)
        if (take_token(t, &tokens[i]) != 0)
            return CF_TRACE_STOPPED;
    return CF_TRACE_WORKED;
}

int cf_trace_flush(struct cf_trace *t)
{
    return t->stopped || flush_rows(t) != 0 ? CF_TRACE_STOPPED : CF_TRACE_WORKED;
}

int cf_trace_finish(struct cf_trace *t)
{
    if (t->stopped || take_published(t) != 0)
        return CF_TRACE_STOPPED;
    for (struct process *p = t->processes; p; p = p->next)
        if (p->alive) {
            if (end_process(t, p) != 0)
                return CF_TRACE_STOPPED;
            p = t->processes; /* the list may have changed; ended ones are passed over */
            if (!p)
                break;
        }
    return flush_rows(t) == 0 ? CF_TRACE_END : CF_TRACE_STOPPED;
}

void cf_trace_stop(struct cf_trace *t)
{
    t->stopping = 1;
    for (struct process *p = t->processes; p; p = p->next)
        if (p->alive)
            refuse(p);
}

struct cf_trace *cf_trace_open(const char *directory, const struct cf_trace_options *options,
                               const struct cf_trace_handler *handler, char *text, size_t size)
{
    struct cf_trace *t = calloc(1, sizeof(*t));
    char path[PATH_MAX + 16];

    if (!t || cf_rows_init(&t->rows, options, &t->handler) != 0) {
        snprintf(text, size, "out of memory");
        free(t);
        return NULL;
    }
    t->options = *options;
    t->handler = *handler;
    snprintf(t->directory, sizeof(t->directory), "%s", directory);
    snprintf(path, sizeof(path), "%s/tokens", t->directory);
    t->fd = -1;
    if (strlen(directory) >= sizeof(t->directory) || mkfifo(path, 0600) != 0 ||
        (t->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        snprintf(text, size, "%s: %s", path, strerror(errno));
        cf_rows_free(&t->rows);
        free(t);
        return NULL;
    }
    return t;
}

void cf_trace_close(struct cf_trace *t)
{
    char path[PATH_MAX + 16];

    if (!t)
        return;
    t->stopped = 1;
    cf_trace_stop(t);
    close(t->fd);
    snprintf(path, sizeof(path), "%s/tokens", t->directory);
    unlink(path);
    while (t->processes) {
        struct process *p = t->processes;

        t->processes = p->next;
        unmap_ring(p);
        forget(p);
        free(p);
    }
    cf_rows_free(&t->rows);
    free(t);
}

int cf_trace_fd(const struct cf_trace *t)
{
    return t->fd;
}

int cf_trace_begun(const struct cf_trace *t)
{
    return t->begun;
}

uint64_t cf_trace_time(const struct cf_trace *t)
{
    return t->time;
}

uint64_t cf_trace_rows(const struct cf_trace *t)
{
    return t->total + t->out.rows;
}

const char *cf_trace_problem(const struct cf_trace *t)
{
    return t->problem[0] ? t->problem : NULL;
}

unsigned cf_trace_dropped(const struct cf_trace *t)
{
    return t->dropped;
}
