/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * processes.c - processes and their rings: how they start, what they inherit, how they end or
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

#include "reader_parts.h"
#include "formats/base/cf_memory.h"
#include "formats/stream/cf.h"

enum {
    ENDED_KEPT = 8,    /* ended processes whose descriptions a late child may still inherit */
    LEFT_MOST = 10000, /* processes left alone that are noted */
};

struct cf_trace_process *cf_trace_alive_process(const struct cf_trace *t, uint32_t pid)
{
    struct cf_trace_process *p = t->processes;

    while (p && (p->record.pid != pid || !p->alive))
        p = p->next;
    return p;
}

struct cf_trace_process *cf_trace_find(struct cf_trace *t, uint32_t pid, uint32_t ring_number)
{
    for (struct cf_trace_process *p = t->processes; p; p = p->next)
        if (p->record.pid == pid && p->ring_number == ring_number)
            return p;
    return NULL;
}

static void unmap_ring(struct cf_trace_process *p)
{
    if (p->ring)
        munmap(p->ring, CF_WIRE_RING(p->blocks));
    p->ring = NULL;
}

void cf_trace_forget(struct cf_trace_process *p)
{
    unmap_ring(p);
    cf_decode_process_free(&p->record);
    free(p);
}

void cf_trace_wake(struct cf_trace_process *p)
{
    syscall(SYS_futex, &p->ring->freed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void cf_trace_refuse(struct cf_trace_process *p)
{
    if (!p->ring)
        return;
    __atomic_store_n(&p->ring->stop, 1, __ATOMIC_SEQ_CST);
    cf_trace_wake(p);
}

/* What the writer says to its last rows is remembered. */
void cf_trace_drop(struct cf_trace *t, struct cf_trace_process *p, const char *what)
{
    cf_decode_problem(&t->decode, "process %u: %s: its trace ends here%s", p->record.pid, what,
                      t->follow ? ", and children are missing that it forks from now on" : "");
    t->dropped++;
    (void)cf_decode_leave(&t->decode, &p->record);
    cf_trace_refuse(p);
    p->alive = 0;
    unmap_ring(p);
}

int cf_trace_end(struct cf_trace *t, struct cf_trace_process *p)
{
    struct cf_trace_process **link = &t->processes, *q;
    unsigned ended = 0;

    uint32_t lost = p->ring ? __atomic_load_n(&p->ring->lost, __ATOMIC_ACQUIRE) : 0;

    if (lost)
        cf_decode_refused(&t->decode, "the pipe from the program", (int)lost);
    p->alive = 0;
    for (int i = 0; i < p->record.n_threads; i++) {
        const struct cf_decode_thread *th = &p->record.threads[i];

        if (th->alive && cf_decode_task(&t->decode, &p->record, th->tid, CF_EXIT, th->name) != 0)
            return -1;
    }
    if (cf_decode_leave(&t->decode, &p->record) != 0)
        return -1;
    unmap_ring(p);
    while ((q = *link))
        if (!q->alive && q->coming <= 0 && ++ended > ENDED_KEPT) {
            *link = q->next;
            cf_trace_forget(q);
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

static int map_ring(struct cf_trace *t, struct cf_trace_process *p, int spare)
{
    char path[PATH_MAX + 40];
    struct cf_wire_ring head;
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "%s/ring.%u.%u", spare ? t->spare : t->directory, p->record.pid,
             p->ring_number);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        t->decode.refused |= cf_is_refusal(errno);
        cf_decode_problem(&t->decode, "%s: %s", path, strerror(errno));
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
            cf_decode_refused(&t->decode, path, errno);
        p->ring = NULL;
        refuse_file(fd);
    }
    close(fd);
    return p->ring ? 0 : -1;
}

/* The image that forked, which may have ended or gone on as another. */
static struct cf_trace_process *find_parent(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_trace_process *found = NULL;

    for (struct cf_trace_process *p = t->processes; p; p = p->next)
        if (p->record.pid == token->parent && (!found || p->coming > 0))
            found = p;
    return found;
}

void cf_trace_not_recorded(struct cf_trace *t, uint32_t pid, uint32_t error)
{
    if (t->unrecorded == 0)
        t->unrecorded_error = error;
    if (t->unrecorded < CF_TRACE_LISTED)
        t->unrecorded_pid[t->unrecorded] = pid;
    t->unrecorded++;
}

void cf_trace_leave(struct cf_trace *t, uint32_t pid, uint32_t why, const char *name)
{
    struct cf_trace_left *l = NULL;

    for (size_t i = t->lefts; i > 0 && !l; i--)
        if (t->left[i - 1].pid == pid)
            l = &t->left[i - 1];
    if (!l) {
        if (t->lefts == LEFT_MOST ||
            cf_array_cleared(&t->left, &t->left_room, t->lefts + 1, sizeof(*t->left)) != 0)
            return;
        l = &t->left[t->lefts++];
    }
    l->pid = pid;
    l->why = why < CF_WIRE_EXEC_KINDS ? why : CF_WIRE_EXEC_ALONE;
    snprintf(l->name, sizeof(l->name), "%.*s", CF_WIRE_COMM - 1, name);
}

int cf_trace_start_without(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_trace_process *old = cf_trace_alive_process(t, token->pid),
                            *parent = find_parent(t, token);

    t->begun = 1;
    cf_trace_not_recorded(t, token->pid, token->value ? token->value : EIO);
    if (token->origin == CF_WIRE_FORK && parent)
        parent->coming--;
    if (old && token->origin == CF_WIRE_FIRST)
        return cf_trace_end(t, old);
    t->seen++;
    return 0;
}

int cf_trace_start(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_trace_process *p, *old, *parent = NULL;
    int r = 0;

    t->begun = 1;
    for (old = t->processes; old; old = old->next)
        if (old->record.pid == token->pid)
            break;
    parent = find_parent(t, token);
    p = calloc(1, sizeof(*p));
    if (!p)
        return cf_decode_no_memory(&t->decode);
    p->record.pid = token->pid;
    p->ring_number = token->ring;
    p->record.parent = parent ? token->parent : 0;
    p->alive = 1;
    if (old && old->alive && token->origin == CF_WIRE_FIRST) {
        const struct cf_wire_map all = {.header.type = CF_WIRE_UNMAP, .end = UINT64_MAX};

        p->record.execed = 1;
        p->record.parent = old->record.parent;
        for (int i = 0; i < old->record.n_threads; i++)
            if (old->record.threads[i].tid == old->record.pid)
                old->record.threads[i].alive = 0; /* lives on */
        if (cf_trace_end(t, old) != 0 || cf_decode_flush(&t->decode) != 0 ||
            cf_decode_map(&t->decode, p->record.pid, &all, "") != 0) {
            free(p);
            return -1;
        }
    }
    p->next = t->processes;
    t->processes = p;
    if (token->origin == CF_WIRE_FORK && parent)
        parent->coming--;
    if (token->origin != CF_WIRE_FORK || t->decode.stopping) /* its parent was not read on */
        r = cf_decode_process_init(&t->decode, &p->record);
    else
        r = parent ? cf_decode_process_inherit(&t->decode, &p->record, &parent->record,
                                               token->outcomes, token->contexts, token->fork)
                   : -2;
    if (r == -1)
        return cf_decode_no_memory(&t->decode);
    t->seen += !p->record.execed;
    if (map_ring(t, p, t->spare[0] && token->value == 1) != 0 || r != 0)
        cf_trace_drop(t, p, "an invalid start");
    else if (t->decode.stopping)
        cf_trace_refuse(p);
    return 0;
}
