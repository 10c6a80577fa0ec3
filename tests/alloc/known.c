/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known LOG THREADS COUNT: a program that says what it allocates, by each function of the C
 * library that does, and from which calls. LOG gets a line an event, with the thread:
 *
 *     TID alloc ADDRESS BYTES RETURN-ADDRESS...
 *     TID free ADDRESS
 *
 * The return addresses are those of the function that allocates and of its callers, by
 * backtrace(). Sizes are 33 more than a multiple of 64, so that they can be told from those of the
 * C library itself.
 */
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIVE = 500, FRAMES = 16, LOG = 1 << 26, KINDS = 9 };

struct thread {
    char *log;
    size_t used;
    uint32_t tid;
    uint64_t random;
    void *live[LIVE];
    size_t bytes[LIVE];
    pthread_t handle;
};

static unsigned long count;

__attribute__((format(printf, 2, 3))) static void say(struct thread *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    t->used += (size_t)vsnprintf(t->log + t->used, LOG - t->used, format, args);
    va_end(args);
}

static uint64_t next(struct thread *t)
{
    t->random = t->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return t->random >> 33;
}

static inline __attribute__((always_inline)) void *obtain(unsigned kind, size_t bytes, void *old)
{
    void *p = NULL;

    switch (kind) {
    case 0:
        return malloc(bytes);
    case 1:
        return calloc(1, bytes);
    case 2:
        return memalign(64, bytes);
    case 3:
        return aligned_alloc(32, bytes);
    case 4:
        return posix_memalign(&p, 256, bytes) == 0 ? p : NULL;
    case 5:
        return valloc(bytes);
    case 6:
        return reallocarray(old, bytes, 1);
    case 7:
        return malloc(bytes + ((size_t)1 << 20)); /* by mmap() */
    default:
        return realloc(old, bytes);
    }
}

/* Whatever the compiler makes of these, return addresses are where the calls return to. */
__attribute__((noinline)) static void allocate(struct thread *t)
{
    const unsigned kind = (unsigned)(next(t) % KINDS), i = (unsigned)(next(t) % LIVE);
    const size_t bytes = next(t) % 40 * 64 + 33;
    void *frame[FRAMES + 1];
    void *old = t->live[i];
    int n = backtrace(frame, FRAMES + 1);

    if (old && kind != 6 && kind != 8) {
        say(t, "%u free %p\n", t->tid, old);
        free(old);
        old = NULL;
    }
    if (old)
        say(t, "%u free %p\n", t->tid, old);
    t->live[i] = obtain(kind, bytes, old);
    t->bytes[i] = kind == 7 ? bytes + ((size_t)1 << 20) : bytes;
    if (!t->live[i])
        abort();
    say(t, "%u alloc %p %zu", t->tid, t->live[i], t->bytes[i]);
    for (int k = 1; k < n; k++)
        say(t, " %p", frame[k]);
    say(t, "\n");
}

static void go_down(struct thread *t, unsigned left);

__attribute__((noinline)) static void plain(struct thread *t, unsigned left)
{
    go_down(t, left);
    __asm__ volatile("" ::: "memory");
}

/* Its frame has no size that is known beforehand. */
__attribute__((noinline)) static void sized(struct thread *t, unsigned left)
{
    char p[next(t) % 5000 + 1];

    p[0] = 0;
    __asm__ volatile("" ::"r"(p) : "memory");
    go_down(t, left);
    __asm__ volatile("" ::"r"(p) : "memory");
}

/* Its stack pointer is aligned, and has no known distance from where it was. */
__attribute__((noinline)) static void aligned(struct thread *t, unsigned left)
{
    char room[64] __attribute__((aligned(128)));
    char p[next(t) % 500 + 1];

    room[0] = p[0] = 0;
    __asm__ volatile("" ::"r"(room), "r"(p) : "memory");
    go_down(t, left);
    __asm__ volatile("" ::"r"(room), "r"(p) : "memory");
}

static __thread struct thread *sorting;
static __thread unsigned sorting_left;

static int compare(const void *a, const void *b)
{
    struct thread *t = sorting;

    sorting = NULL;
    if (t)
        go_down(t, sorting_left);
    return *(const char *)a - *(const char *)b;
}

/* Through the C library. */
__attribute__((noinline)) static void library(struct thread *t, unsigned left)
{
    char pair[2] = {1, 0};

    sorting = t;
    sorting_left = left;
    qsort(pair, 2, 1, compare);
}

__attribute__((noinline)) static void go_down(struct thread *t, unsigned left)
{
    static void (*const ways[])(struct thread *, unsigned) = {plain, sized, aligned, library};

    if (left == 0)
        allocate(t);
    else
        ways[next(t) % 4](t, left - 1);
    __asm__ volatile("" ::: "memory");
}

static void *run(void *arg)
{
    struct thread *t = arg;

    t->tid = (uint32_t)syscall(SYS_gettid);
    for (unsigned long i = 0; i < count; i++)
        go_down(t, (unsigned)(next(t) % 12));
    for (unsigned i = 0; i < LIVE; i++)
        if (t->live[i]) {
            say(t, "%u free %p\n", t->tid, t->live[i]);
            free(t->live[i]);
        }
    return NULL;
}

int main(int argc, char **argv)
{
    const unsigned threads = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
    struct thread *t = mmap(NULL, (threads + 1) * sizeof(*t), PROT_READ | PROT_WRITE,
                            /* cppcheck-suppress invalidFunctionArg */
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = argc > 3 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

    if (fd < 0 || t == MAP_FAILED)
        return 2;
    count = strtoul(argv[3], NULL, 0);
    for (unsigned i = 0; i < threads; i++) {
        t[i].random = i + 1;
        /* cppcheck-suppress invalidFunctionArg */
        t[i].log = mmap(NULL, LOG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (t[i].log == MAP_FAILED || pthread_create(&t[i].handle, NULL, run, &t[i]) != 0)
            return 3;
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(t[i].handle, NULL);
        if (write(fd, t[i].log, t[i].used) != (ssize_t)t[i].used)
            return 3;
    }
    return 0;
}
