/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_process.c - processes and their rings: how they start, what they inherit, how they end or
 * are dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "decode_parts.h"
#include "formats/stream/cf.h"

enum { ENDED_KEPT = 8 }; /* ended processes whose descriptions a late child may still inherit */

struct cf_decode_process *cf_decode_alive(const struct cf_trace *t, uint32_t pid)
{
    struct cf_decode_process *p = t->processes;

    while (p && (p->pid != pid || !p->alive))
        p = p->next;
    return p;
}

struct cf_decode_process *cf_decode_find(struct cf_trace *t, uint32_t pid, uint32_t ring_number)
{
    for (struct cf_decode_process *p = t->processes; p; p = p->next)
        if (p->pid == pid && p->ring_number == ring_number)
            return p;
    return NULL;
}

static void unmap_ring(struct cf_decode_process *p)
{
    if (p->ring)
        munmap(p->ring, CF_WIRE_RING(p->blocks));
    p->ring = NULL;
}

void cf_decode_forget(struct cf_decode_process *p)
{
    unmap_ring(p);
    cf_rows_code_free(&p->code);
    free(p->contexts);
    free(p->threads);
    free(p);
}

void cf_decode_wake(struct cf_decode_process *p)
{
    syscall(SYS_futex, &p->ring->freed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void cf_decode_refuse(struct cf_decode_process *p)
{
    if (!p->ring)
        return;
    __atomic_store_n(&p->ring->stop, 1, __ATOMIC_SEQ_CST);
    cf_decode_wake(p);
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
    return cf_decode_close_place(t);
}

/* What the handler says to its last rows is remembered. */
void cf_decode_drop(struct cf_trace *t, struct cf_decode_process *p, const char *what)
{
    cf_decode_problem(t, "process %u: %s: its trace ends here", p->pid, what);
    t->dropped++;
    (void)leave_process(t, p);
    cf_decode_refuse(p);
    p->alive = 0;
    unmap_ring(p);
}

int cf_decode_end(struct cf_trace *t, struct cf_decode_process *p)
{
    struct cf_decode_process **link = &t->processes, *q;
    unsigned ended = 0;

    uint32_t lost = p->ring ? __atomic_load_n(&p->ring->lost, __ATOMIC_ACQUIRE) : 0;

    if (lost)
        cf_decode_refused(t, "the pipe from the program", (int)lost);
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
            cf_decode_forget(q);
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
            cf_decode_refused(t, path, errno);
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

void cf_decode_not_recorded(struct cf_trace *t, uint32_t pid, uint32_t error)
{
    if (t->unrecorded == 0)
        t->unrecorded_error = error;
    if (t->unrecorded < CF_TRACE_TOLD)
        t->unrecorded_pid[t->unrecorded] = pid;
    t->unrecorded++;
}

int cf_decode_start_without(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_decode_process *old = cf_decode_alive(t, token->pid), *parent = find_parent(t, token);

    t->begun = 1;
    cf_decode_not_recorded(t, token->pid, token->value ? token->value : EIO);
    if (token->origin == CF_WIRE_FORK && parent)
        parent->coming--;
    if (old && token->origin == CF_WIRE_FIRST)
        return cf_decode_end(t, old);
    t->seen++;
    return 0;
}

int cf_decode_start(struct cf_trace *t, const struct cf_wire_token *token)
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
        if (cf_decode_end(t, old) != 0 || cf_decode_flush(t) != 0 ||
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
        cf_decode_drop(t, p, "a start that makes no sense");
    else if (t->stopping)
        cf_decode_refuse(p);
    return 0;
}
