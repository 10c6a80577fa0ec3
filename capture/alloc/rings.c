/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings.c - what the rings hold, up to when they are complete, and whose thread or process has
 * gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "parts.h"

enum {
    MS = 1000000,
    SLACK = 200000,    /* what a processor has stored is seen by others within that time, in ns */
    SUSPECT = 20 * MS, /* a record takes so long: its thread may have been killed */
    PATIENCE = 1000 * MS, /* or be stopped: others go on without it */
    BURY = 100 * MS,
};

/* Whether the process of a place runs another program now, or is another process. */
static int superseded(const struct cf_alloc *a, unsigned process)
{
    const struct cfa_process *p = alloc_process_of(a, process);

    for (unsigned i = 0; i < CFA_PROCESSES; i++) {
        const struct cfa_process *other = alloc_process_of(a, i);

        if (i != process && other->pid == p->pid &&
            __atomic_load_n(&other->ready, __ATOMIC_ACQUIRE) && other->began > p->began)
            return 1;
    }
    return 0;
}

/* `process` from 1; 0: it is not known yet. */
static int thread_gone(const struct cf_alloc *a, uint64_t owner, uint32_t process)
{
    if (process && process <= CFA_PROCESSES && superseded(a, process - 1))
        return 1;
    return syscall(SYS_tgkill, (pid_t)(owner >> 32), (pid_t)(uint32_t)owner, 0) != 0 &&
           errno == ESRCH;
}

static void empty(const struct cf_alloc *a, size_t at, size_t bytes)
{
    if (fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes) != 0)
        memset(a->base + at, 0, bytes);
}

void alloc_was_read(struct cf_alloc *a, unsigned ring)
{
    struct cfa_ring *r = alloc_ring_of(a, ring);

    if (a->ring[ring].owner)
        __atomic_store_n(&r->tail, a->ring[ring].tail, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&r->waiting, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&r->waiting, 0, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &r->waiting, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}

/* Its thread has gone, and all that it wrote has been read: the next one can have it. */
static void free_ring(struct cf_alloc *a, unsigned i)
{
    struct cfa_ring *r = alloc_ring_of(a, i);

    empty(a, cfa_words_at(i, a->ring_words), 8 * (size_t)a->ring_words);
    r->head = r->tail = r->open = 0;
    r->waiting = 0;
    r->process = 0;
    a->ring[i] = (struct alloc_ring){0};
    __atomic_store_n(&r->owner, 0, __ATOMIC_RELEASE);
}

void alloc_bury(struct cf_alloc *a, unsigned process)
{
    struct cfa_process *p = alloc_process_of(a, process);

    if (!p->pid)
        return;
    a->result.processes += p->ready != 0;
    a->result.lost += p->lost;
    a->result.nested += p->nested;
    a->result.left_out += p->left_out;
    a->result.unknown += p->unknown;
    a->result.own += p->flags & CFA_OWN_MALLOC ? 1 : 0;
    if (a->sites)
        sites_ended(a->sites, p->pid);
    free(a->process[process].node);
    a->process[process] = (struct alloc_process){0};
    empty(a, cfa_sites_at(process), CFA_SITES / 8);
    memset((char *)p + sizeof(p->pid), 0, sizeof(*p) - sizeof(p->pid));
    __atomic_store_n(&p->pid, 0, __ATOMIC_RELEASE);
}

/* Rings of threads that have gone, and then processes without rings. */
static void bury(struct cf_alloc *a)
{
    uint8_t used[CFA_PROCESSES] = {0};

    for (unsigned i = 0; i < CFA_RINGS; i++) {
        struct cfa_ring *r = alloc_ring_of(a, i);
        const uint64_t owner = __atomic_load_n(&r->owner, __ATOMIC_ACQUIRE);
        const uint32_t process = __atomic_load_n(&r->process, __ATOMIC_ACQUIRE);

        if (owner && thread_gone(a, owner, process) &&
            __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) ==
                (a->ring[i].owner ? a->ring[i].tail : r->tail))
            free_ring(a, i);
        else if (owner && process && process <= CFA_PROCESSES)
            used[process - 1] = 1;
    }
    for (unsigned i = 0; i < CFA_PROCESSES; i++) {
        const struct cfa_process *p = alloc_process_of(a, i);
        const uint32_t pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);

        if (pid && !used[i] &&
            ((kill((pid_t)pid, 0) != 0 && errno == ESRCH) || (p->ready && superseded(a, i))))
            alloc_bury(a, i);
    }
}

/* Takes in how far a ring is, and until when it is complete. */
static void look(struct cf_alloc *a, unsigned i, uint64_t now)
{
    struct cfa_ring *shared = alloc_ring_of(a, i);
    struct alloc_ring *r = &a->ring[i];
    const uint64_t owner = __atomic_load_n(&shared->owner, __ATOMIC_ACQUIRE);
    const uint32_t process = __atomic_load_n(&shared->process, __ATOMIC_ACQUIRE);
    uint64_t open, head;

    if (!owner || !process)
        return;
    if (r->owner != owner)
        *r = (struct alloc_ring){.owner = owner,
                                 .bound = r->owner ? r->bound : a->scanned,
                                 .head = shared->tail,
                                 .tail = shared->tail};
    /* In this order: what `open` announced is before `head` once `open` is 0 again. */
    open = __atomic_load_n(&shared->open, __ATOMIC_ACQUIRE);
    head = __atomic_load_n(&shared->head, __ATOMIC_ACQUIRE);
    if (head - r->tail > a->ring_words || process > CFA_PROCESSES) {
        a->result.damaged++;
        r->tail = head;
    }
    r->head = head;
    if (head - r->tail > a->fullest)
        a->fullest = (uint32_t)(head - r->tail);
    if (!open || now - r->bound > PATIENCE ||
        (now - r->bound > SUSPECT && thread_gone(a, owner, process)))
        r->bound = now - SLACK;
    else if (open > r->bound && open < now)
        r->bound = open - 1;
    if (r->bound < a->known)
        a->known = r->bound;
}

uint64_t cf_alloc_known(struct cf_alloc *a)
{
    const uint64_t now = alloc_now(), before = a->known;

    if (now - a->buried > BURY) {
        a->buried = now;
        bury(a);
    }
    a->known = now - SLACK;
    a->fullest = 0;
    for (unsigned i = 0; i < CFA_RINGS; i++)
        look(a, i, now);
    a->scanned = now - SLACK;
    if (a->known < before)
        a->known = before;
    return a->known;
}

int cf_alloc_pause(const struct cf_alloc *a)
{
    const uint32_t words = a->ring_words;

    return a->fullest > words / 8 ? 1 : a->fullest > words / 64 ? 2 : 10;
}
