/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_process.c - the shared memory, and the places in it of this process and its threads. A child
 * of fork() begins anew at its first record; one of vfork() is its parent, whose memory it uses.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

enum {
    RETRY = 1024,      /* records until a thread without a ring looks for one again */
    WAIT_MS = 10,      /* until a thread that waits for the capture looks whether it is there, */
    WAITS = 100,       /* and how often before it loses records */
    WIPE_ON_FORK = 18, /* MADV_WIPEONFORK, which not every header has */
};

__thread struct shim_thread shim_thread __attribute__((tls_model("initial-exec")));
static struct shim_process none;
struct shim_process *shim_process = &none;
struct cfa_header *shim_shared;
static char *base;

uint64_t shim_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Maps the capture's memory. System calls are made as such: what the C library has for open() and
   close() are points at which a thread may be cancelled. */
static char *attach(const char *path)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    struct cfa_header *h = MAP_FAILED;
    struct stat st;
    char *all = NULL;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size >= CFA_PAGE)
        h = mmap(NULL, CFA_PAGE, PROT_READ, MAP_SHARED, fd, 0);
    if (h != MAP_FAILED && h->magic == CFA_MAGIC && h->depth && h->depth <= CFA_DEPTH_MOST &&
        h->ring_words >= CFA_RING_LEAST && h->ring_words <= CFA_RING_MOST &&
        !(h->ring_words & (h->ring_words - 1)) && !h->closed &&
        (uint64_t)st.st_size == cfa_bytes(h->ring_words)) {
        all = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (all == MAP_FAILED)
            all = NULL;
    }
    if (h != MAP_FAILED)
        munmap(h, CFA_PAGE);
    syscall(SYS_close, fd);
    return all;
}

/* The page of what is of one process. */
static struct shim_process *make_process(void)
{
    struct shim_process *p = mmap(NULL, CFA_PAGE, PROT_READ | PROT_WRITE,
                                  /* cppcheck-suppress invalidFunctionArg */
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                        *expected = &none;

    if (p == MAP_FAILED)
        return NULL;
    if (madvise(p, CFA_PAGE, WIPE_ON_FORK) != 0 ||
        !__atomic_compare_exchange_n(&shim_process, &expected, p, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        munmap(p, CFA_PAGE);
    return shim_process == &none ? NULL : shim_process;
}

static struct cfa_process *take_place(uint32_t pid, uint32_t *number)
{
    for (uint32_t i = 0; i < CFA_PROCESSES; i++) {
        struct cfa_process *place = (struct cfa_process *)(base + cfa_process_at(i));
        uint32_t expected = 0;

        if (__atomic_load_n(&place->pid, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&place->pid, &expected, pid, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            *number = i;
            return place;
        }
    }
    __atomic_add_fetch(&shim_shared->unplaced, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Whether its numbers or times are not those of the capture. */
static int is_foreign(void)
{
    uint64_t own[2];

    cfa_namespaces(own);
    return (own[0] && own[0] != shim_shared->namespaces[0]) ||
           (own[1] && own[1] != shim_shared->namespaces[1]);
}

static void set_up(struct shim_process *p)
{
    const uint32_t pid = (uint32_t)syscall(SYS_getpid);
    uint32_t nobody = 0;

    if (!__atomic_compare_exchange_n(&p->setting_up, &nobody, 1, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    if (!base) {
        const char *path = getenv(CFA_VARIABLE);

        base = path ? attach(path) : NULL;
        __atomic_store_n(&shim_shared, (struct cfa_header *)base, __ATOMIC_RELEASE);
    }
    if (base && is_foreign()) {
        __atomic_add_fetch(&shim_shared->foreign, 1, __ATOMIC_RELAXED);
        p->off = 1;
        return;
    }
    if (!base || !(p->place = take_place(pid, &p->number))) {
        p->off = 1;
        return;
    }
    p->place->parent = (uint32_t)syscall(SYS_getppid);
    p->place->began = shim_now();
    p->place->flags = shim_own_malloc() ? CFA_OWN_MALLOC : 0;
    __atomic_store_n(&p->place->ready, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&p->generation, pid, __ATOMIC_RELEASE);
}

/* A ring for the thread; one that its number had before in this process serves on. */
static int take_ring(struct shim_thread *t, const struct shim_process *p)
{
    const uint64_t owner = (uint64_t)p->generation << 32 | (uint32_t)syscall(SYS_gettid);

    for (unsigned i = 0; i < CFA_RINGS; i++) {
        struct cfa_ring *r = (struct cfa_ring *)(base + cfa_ring_at(i));
        uint64_t there = __atomic_load_n(&r->owner, __ATOMIC_RELAXED);

        if ((there == owner && r->process == p->number + 1) ||
            (!there && __atomic_compare_exchange_n(&r->owner, &there, owner, 0, __ATOMIC_ACQUIRE,
                                                   __ATOMIC_RELAXED))) {
            t->words = (uint64_t *)(base + cfa_words_at(i, shim_shared->ring_words));
            t->mask = shim_shared->ring_words - 1;
            t->head = r->head;
            t->tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
            t->lossy = 0;
            t->ring = r;
            __atomic_store_n(&r->process, p->number + 1, __ATOMIC_RELEASE);
            return 1;
        }
    }
    t->retry = RETRY;
    return 0;
}

int shim_ready(struct shim_thread *t)
{
    struct shim_process *p = __atomic_load_n(&shim_process, __ATOMIC_ACQUIRE);
    const int error = errno;
    int ready = 0;

    /* What allocates before the C library is set up is not recorded. */
    if (p == &none && environ)
        p = make_process();
    if (!p || p == &none || p->off)
        return 0;
    if (!p->generation)
        set_up(p);
    if (p->generation && !p->off && !shim_shared->closed) {
        if (t->generation != p->generation) {
            t->generation = p->generation;
            t->ring = NULL;
            t->retry = 0;
            t->walker.chain[t->walker.now].count = 0;
        }
        if (t->ring)
            ready = 1;
        else if (t->retry)
            t->retry--;
        else
            ready = take_ring(t, p);
        if (!ready)
            __atomic_add_fetch(&p->place->lost, 1, __ATOMIC_RELAXED);
    }
    errno = error;
    return ready;
}

static int has_room(struct shim_thread *t, uint32_t words)
{
    t->tail = __atomic_load_n(&t->ring->tail, __ATOMIC_ACQUIRE);
    return t->head + words - t->tail <= t->mask + 1;
}

int shim_wait(struct shim_thread *t, uint32_t words)
{
    const struct timespec wait = {.tv_nsec = WAIT_MS * 1000000};
    const int error = errno;
    int room = has_room(t, words);

    for (unsigned i = 0; !room && !t->lossy && i < WAITS && !shim_shared->closed; i++) {
        __atomic_store_n(&t->ring->waiting, 1, __ATOMIC_SEQ_CST);
        room = has_room(t, words);
        if (room)
            break;
        syscall(SYS_futex, &t->ring->waiting, FUTEX_WAIT, 1, &wait, NULL, 0);
        room = has_room(t, words);
        if (!room && syscall(SYS_kill, shim_shared->capture, 0) != 0 && errno == ESRCH)
            shim_process->off = 1;
        if (shim_process->off)
            break;
    }
    errno = error;
    t->lossy = !room;
    if (!room)
        __atomic_add_fetch(&shim_process->place->lost, 1, __ATOMIC_RELAXED);
    return room;
}
