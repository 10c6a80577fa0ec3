/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tokens, rings, processes and places; events are taken in by decode_events.c, and the rows
 * themselves are expanded in decode_rows.c.
 *
 * Memory: per process up to 4 MiB of ring, the descriptions and templates of all superblocks that
 * it ever translated, and 4 bytes a context; given back some time after it ended.
 */
#include <dirent.h>
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

#include "decode_parts.h"
#include "formats/stream/cf.h"

enum {
    TOKENS = 64,    /* read at once */
    ENDED_KEPT = 8, /* ended processes whose descriptions a late child may still inherit */
};

void cf_decode_problem(struct cf_trace *t, const char *format, ...)
{
    va_list args;

    if (t->problem[0])
        return;
    va_start(args, format);
    vsnprintf(t->problem, sizeof(t->problem), format, args);
    va_end(args);
}

int cf_decode_called(struct cf_trace *t, int result)
{
    if (result != 0)
        t->stopped = 1;
    return t->stopped ? -1 : 0;
}

int cf_decode_no_memory(struct cf_trace *t)
{
    cf_decode_problem(t, "out of memory");
    t->stopped = t->refused = 1;
    return -1;
}

/* What the system refused us is no fault of the trace. */
static void refused(struct cf_trace *t, const char *what, int error)
{
    cf_decode_problem(t, "%s: %s: the trace ends here", what, strerror(error));
    t->refused = 1;
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
    if (cf_decode_called(t, t->handler.placed(t->handler.arg, rows)) != 0)
        return -1;
    if (t->options.limit && t->total >= t->options.limit)
        cf_trace_stop(t);
    return 0;
}

int cf_decode_flush(struct cf_trace *t)
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
        if (cf_decode_called(t, t->handler.context(t->handler.arg, &t->context[i])) != 0)
            return -1;
    t->n_contexts = 0;
    t->n_objects = 0;
    return objects.rows ? cf_decode_called(t, t->handler.objects(t->handler.arg, &objects)) : 0;
}

static int open_place(struct cf_trace *t)
{
    struct cf_decode_process *p = t->current;
    uint32_t tid = p->running == CF_DECODE_NO_THREAD ? p->pid : p->threads[p->running].tid;
    uint32_t rows = 0;

    memset(&t->out, 0, sizeof(t->out));
    if (cf_decode_called(
            t, t->handler.place(t->handler.arg, p->pid, tid, &t->out.columns, &rows)) != 0)
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
        cf_decode_flush(t) != 0)
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

int cf_decode_end_repeat(struct cf_trace *t)
{
    uint32_t staged = 0;

    if (!t->current || !t->current->code.repeat.pc)
        return 0;
    if (cf_rows_repeat_end(&t->rows, &t->current->code, &staged) == CF_ROWS_MEMORY)
        return cf_decode_no_memory(t);
    return put_staged(t, staged);
}

/* Threads. */

void cf_decode_pause(struct cf_trace *t)
{
    if (t->current && t->current->running != CF_DECODE_NO_THREAD)
        t->current->threads[t->current->running].count += t->time - t->run_from;
    t->run_from = t->time;
}

/* The current process's running thread runs from now on. */
int cf_decode_resume(struct cf_trace *t)
{
    struct cf_decode_process *p = t->current;
    struct cf_decode_thread *th;

    t->run_from = t->time;
    if (p->running == CF_DECODE_NO_THREAD)
        return close_place(t);
    th = &p->threads[p->running];
    if (close_place(t) != 0)
        return -1;
    return cf_decode_called(
        t, t->handler.switched(t->handler.arg, t->time, p->pid, th->tid, th->count));
}

int cf_decode_task(struct cf_trace *t, struct cf_decode_process *p, uint32_t tid,
                   enum cf_trace_kind kind, const char *name)
{
    struct cf_trace_task task = {.time = t->time, .pid = p->pid, .tid = tid, .parent = p->parent};

    task.kind = kind;
    task.name = name;
    return cf_decode_flush(t) ? -1 : cf_decode_called(t, t->handler.task(t->handler.arg, &task));
}

/* Processes. */

static struct cf_decode_process *alive(const struct cf_trace *t, uint32_t pid)
{
    struct cf_decode_process *p = t->processes;

    while (p && (p->pid != pid || !p->alive))
        p = p->next;
    return p;
}

static struct cf_decode_process *find_process(struct cf_trace *t, uint32_t pid,
                                              uint32_t ring_number)
{
    for (struct cf_decode_process *p = t->processes; p; p = p->next)
        if (p->pid == pid && p->ring_number == ring_number)
            return p;
    return NULL;
}

static void forget(struct cf_decode_process *p)
{
    cf_rows_code_free(&p->code);
    free(p->contexts);
    free(p->threads);
    p->contexts = NULL;
    p->threads = NULL;
    p->n_contexts = 0;
    p->n_threads = 0;
    p->running = CF_DECODE_NO_THREAD;
}

static void unmap_ring(struct cf_decode_process *p)
{
    if (p->ring)
        munmap(p->ring, CF_WIRE_RING(p->blocks));
    p->ring = NULL;
}

static void wake(struct cf_decode_process *p)
{
    syscall(SYS_futex, &p->ring->freed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* What this process still sends is not looked at. */
static void refuse(struct cf_decode_process *p)
{
    if (!p->ring)
        return;
    __atomic_store_n(&p->ring->stop, 1, __ATOMIC_SEQ_CST);
    wake(p);
}

/* A process that may be forgotten must not be the current one. */
static int leave_process(struct cf_trace *t, const struct cf_decode_process *p)
{
    if (t->current != p)
        return 0;
    if (!t->stopped && cf_decode_end_repeat(t) != 0)
        return -1;
    cf_decode_pause(t);
    t->current = NULL;
    return close_place(t);
}

/* What the handler says to its last rows is remembered. */
static void drop(struct cf_trace *t, struct cf_decode_process *p, const char *what)
{
    cf_decode_problem(t, "process %u: %s: its trace ends here", p->pid, what);
    t->dropped++;
    (void)leave_process(t, p);
    refuse(p);
    p->alive = 0;
    unmap_ring(p);
}

static int end_process(struct cf_trace *t, struct cf_decode_process *p)
{
    struct cf_decode_process **link = &t->processes, *q;
    unsigned ended = 0;

    uint32_t lost = p->ring ? __atomic_load_n(&p->ring->lost, __ATOMIC_ACQUIRE) : 0;

    if (lost)
        refused(t, "the pipe from the program", (int)lost);
    p->alive = 0;
    for (int i = 0; i < p->n_threads; i++)
        if (p->threads[i].alive &&
            cf_decode_task(t, p, p->threads[i].tid, CF_TRACE_EXIT, p->threads[i].name) != 0)
            return -1;
    if (leave_process(t, p) != 0)
        return -1;
    unmap_ring(p);
    while ((q = *link))
        if (!q->alive && q->coming <= 0 && ++ended > ENDED_KEPT) {
            *link = q->next;
            forget(q);
            free(q);
        } else {
            link = &q->next;
        }
    return 0;
}

/* What is not mapped cannot be told to stop: the process would wait for us for ever. */
static void refuse_file(int fd)
{
    const uint32_t stop = 1;

    (void)!pwrite(fd, &stop, sizeof(stop), offsetof(struct cf_wire_ring, stop));
}

static int map_ring(struct cf_trace *t, struct cf_decode_process *p, int spare)
{
    char path[PATH_MAX + 40];
    struct cf_wire_ring head;
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "%s/ring.%u.%u", spare ? t->spare : t->directory, p->pid,
             p->ring_number);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        t->refused |= cf_is_refusal(errno);
        cf_decode_problem(t, "%s: %s", path, strerror(errno));
        return -1;
    }
    unlink(path);
    errno = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        pread(fd, &head, sizeof(head), 0) == sizeof(head) && head.magic == CF_WIRE_MAGIC &&
        head.version == CF_WIRE_VERSION && head.block_bytes == CF_WIRE_BLOCK_BYTES &&
        head.blocks >= CF_WIRE_BLOCKS_LEAST && head.blocks <= CF_WIRE_BLOCKS &&
        (uint64_t)st.st_size >= CF_WIRE_RING(head.blocks))
        p->ring = mmap(NULL, CF_WIRE_RING(head.blocks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    else
        p->ring = MAP_FAILED;
    p->blocks = head.blocks;
    if (p->ring == MAP_FAILED) {
        if (cf_is_refusal(errno))
            refused(t, path, errno);
        p->ring = NULL;
        refuse_file(fd);
    }
    close(fd);
    return p->ring ? 0 : -1;
}

/* What a forked child knows from its parent. 0, -1: nonsense, -2: no memory. */
static int inherit(struct cf_decode_process *p, const struct cf_decode_process *parent,
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

/* The image that forked, which may have ended or gone on as another. */
static struct cf_decode_process *find_parent(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_decode_process *found = NULL;

    for (struct cf_decode_process *p = t->processes; p; p = p->next)
        if (p->pid == token->parent && (!found || p->coming > 0))
            found = p;
    return found;
}

static void not_recorded(struct cf_trace *t, uint32_t pid, uint32_t error)
{
    if (t->unrecorded == 0)
        t->unrecorded_error = error;
    if (t->unrecorded < CF_TRACE_TOLD)
        t->unrecorded_pid[t->unrecorded] = pid;
    t->unrecorded++;
}

/* A process without a ring. One that came to it by exec has ended for us. */
static int start_without(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_decode_process *old = alive(t, token->pid), *parent = find_parent(t, token);

    t->begun = 1;
    not_recorded(t, token->pid, token->value ? token->value : EIO);
    if (token->origin == CF_WIRE_FORK && parent)
        parent->coming--;
    if (old && token->origin == CF_WIRE_FIRST)
        return end_process(t, old);
    t->seen++;
    return 0;
}

static int start_process(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_decode_process *p, *old, *parent = NULL;
    int r = 0;

    t->begun = 1;
    for (old = t->processes; old; old = old->next)
        if (old->pid == token->pid)
            break;
    parent = find_parent(t, token);
    p = calloc(1, sizeof(*p));
    if (!p)
        return cf_decode_no_memory(t);
    p->pid = token->pid;
    p->ring_number = token->ring;
    p->parent = parent ? token->parent : 0;
    p->alive = 1;
    p->running = CF_DECODE_NO_THREAD;
    if (old && old->alive && token->origin == CF_WIRE_FIRST) {
        struct cf_trace_map all = {.time = t->time, .pid = p->pid, .kind = CF_TRACE_UNMAPPED};

        all.end = UINT64_MAX;
        all.name = "";
        p->execed = 1;
        p->parent = old->parent;
        for (int i = 0; i < old->n_threads; i++)
            if (old->threads[i].tid == old->pid)
                old->threads[i].alive = 0; /* lives on */
        if (end_process(t, old) != 0 || cf_decode_flush(t) != 0 ||
            cf_decode_called(t, t->handler.map(t->handler.arg, &all)) != 0) {
            free(p);
            return -1;
        }
    }
    p->next = t->processes;
    t->processes = p;
    if (token->origin == CF_WIRE_FORK && parent)
        parent->coming--;
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
        return cf_decode_no_memory(t);
    t->seen += !p->execed;
    if (map_ring(t, p, t->spare[0] && token->value == 1) != 0 || r != 0)
        drop(t, p, "a start that makes no sense");
    else if (t->stopping)
        refuse(p);
    return 0;
}

/* Decodes the block that is due from where it was left up to `bytes`. */
static int decode(struct cf_trace *t, struct cf_decode_process *p, uint32_t bytes)
{
    const uint8_t *block = (const uint8_t *)p->ring + CF_WIRE_HEADER_BYTES +
                           (size_t)(p->sequence % p->blocks) * CF_WIRE_BLOCK_BYTES;
    const uint8_t *from = block + p->consumed, *end = block + bytes;
    int r = 0;

    if (bytes < p->consumed || bytes > CF_WIRE_BLOCK_BYTES - CF_ROWS_TAIL) {
        drop(t, p, "a block of an impossible size");
        return 0;
    }
    if (t->current != p) {
        if (cf_decode_end_repeat(t) != 0)
            return -1;
        cf_decode_pause(t);
        t->current = p;
        if (cf_decode_resume(t) != 0)
            return -1;
    }
    while (r == 0 && from < end && !t->stopping) {
        uint32_t staged = 0;

        switch (cf_rows_expand(&t->rows, &p->code, &from, end, &t->out, &t->time, &staged)) {
        case CF_ROWS_DONE:
            break;
        case CF_ROWS_EVENT:
            r = cf_decode_event(t, p, &from, end);
            break;
        case CF_ROWS_STAGED:
            r = put_staged(t, staged);
            break;
        case CF_ROWS_BAD:
            r = -2;
            break;
        case CF_ROWS_MEMORY:
            r = cf_decode_no_memory(t);
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
    struct cf_decode_process *p;

    if (token->type == CF_WIRE_TOKEN_START)
        return start_process(t, token);
    if (token->type == CF_WIRE_TOKEN_UNRECORDED)
        return start_without(t, token);
    p = find_process(t, token->pid, token->ring);
    if (p && token->type == CF_WIRE_TOKEN_FORKED)
        p->coming++;
    if (p && token->type == CF_WIRE_TOKEN_EXEC)
        p->execs = token->value == 1;
    if (!p || !p->alive || token->type == CF_WIRE_TOKEN_FORKED || token->type == CF_WIRE_TOKEN_EXEC)
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
    for (struct cf_decode_process *p = t->processes; p; p = p->next) {
        uint64_t published;

        if (!p->alive || !p->ring || t->stopping)
            continue;
        published = __atomic_load_n(&p->ring->published, __ATOMIC_ACQUIRE);
        if (published >> 32 == p->sequence && (uint32_t)published > p->consumed &&
            decode(t, p, (uint32_t)published) != 0)
            return -1;
    }
    return cf_decode_flush(t);
}

/* Whether a process that did not say goodbye is still there: between two images, as it were. */
static int between_images(const struct cf_trace *t)
{
    for (const struct cf_decode_process *p = t->processes; p; p = p->next) {
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

/* A ring that lies there still: its process could not send the message that it is there. One that
   came to it by exec is known, and counted as such. */
static void count_unannounced(struct cf_trace *t, const char *directory)
{
    DIR *d = directory[0] ? opendir(directory) : NULL;
    const struct dirent *e;
    unsigned pid, number;

    while (d && (e = readdir(d)) != NULL)
        if (sscanf(e->d_name, "ring.%u.%u", &pid, &number) == 2 && !alive(t, pid)) {
            not_recorded(t, pid, EIO);
            t->seen++;
        }
    if (d)
        closedir(d);
}

/* Processes that are gone without a word. */
static void count_silent(struct cf_trace *t)
{
    count_unannounced(t, t->directory);
    count_unannounced(t, t->spare);
    for (const struct cf_decode_process *p = t->processes; p; p = p->next)
        if (p->alive && p->execs && t->options.follow)
            not_recorded(t, p->pid, 0);
        else if (p->alive && !p->execs && !t->stopping)
            t->killed++;
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
        refused(t, "poll", errno);
        return CF_TRACE_STOPPED;
    }
    if (n <= 0)
        return take_published(t) == 0 ? CF_TRACE_IDLE : CF_TRACE_STOPPED;
    if (!(p.revents & POLLIN)) {
        struct timespec pause = {.tv_nsec = 10000000};

        if (!t->options.follow || !between_images(t)) {
            count_silent(t);
            return CF_TRACE_END;
        }
        nanosleep(&pause, NULL); /* poll() does not wait now */
        return take_published(t) == 0 ? CF_TRACE_IDLE : CF_TRACE_STOPPED;
    }
    n = read(t->fd, tokens, sizeof(tokens));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return CF_TRACE_WORKED;
    if (n < 0) {
        refused(t, "the pipe from the program", errno);
        return CF_TRACE_STOPPED;
    }
    if (n % (ssize_t)sizeof(*tokens) != 0) {
        cf_decode_problem(t, "a foreign message in %s/tokens", t->directory);
        return CF_TRACE_STOPPED;
    }
    for (ssize_t i = 0; i < n / (ssize_t)sizeof(*tokens); i++)
        if (take_token(t, &tokens[i]) != 0)
            return CF_TRACE_STOPPED;
    return CF_TRACE_WORKED;
}

int cf_trace_flush(struct cf_trace *t)
{
    return t->stopped || cf_decode_flush(t) != 0 ? CF_TRACE_STOPPED : CF_TRACE_WORKED;
}

int cf_trace_finish(struct cf_trace *t)
{
    if (t->stopped || take_published(t) != 0)
        return CF_TRACE_STOPPED;
    for (struct cf_decode_process *p = t->processes; p; p = p->next)
        if (p->alive) {
            refuse(p); /* it may run on */
            if (end_process(t, p) != 0)
                return CF_TRACE_STOPPED;
            p = t->processes; /* the list may have changed; ended ones are passed over */
            if (!p)
                break;
        }
    return cf_decode_flush(t) == 0 ? CF_TRACE_END : CF_TRACE_STOPPED;
}

void cf_trace_stop(struct cf_trace *t)
{
    t->stopping = 1;
    for (struct cf_decode_process *p = t->processes; p; p = p->next)
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
    snprintf(t->spare, sizeof(t->spare), "%s", options->spare ? options->spare : "");
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
    snprintf(path, sizeof(path), "%s/tokens", t->directory);
    unlink(path); /* first: a FIFO that nobody reads means that we were killed */
    close(t->fd);
    while (t->processes) {
        struct cf_decode_process *p = t->processes;

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

struct cf_trace_census cf_trace_census(const struct cf_trace *t)
{
    return (struct cf_trace_census){t->seen, t->unrecorded, t->killed, t->unrecorded_pid,
                                    (int)t->unrecorded_error};
}

int cf_trace_silent(const struct cf_trace *t, uint32_t pid)
{
    for (const struct cf_decode_process *p = t->processes; p; p = p->next)
        if (p->pid == pid && p->alive && !p->execs)
            return 1;
    return 0;
}

unsigned cf_trace_alive(const struct cf_trace *t)
{
    unsigned n = 0;

    for (const struct cf_decode_process *p = t->processes; p; p = p->next)
        n += p->alive != 0;
    return n;
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

int cf_trace_refused(const struct cf_trace *t)
{
    return t->refused;
}

unsigned cf_trace_dropped(const struct cf_trace *t)
{
    return t->dropped;
}
