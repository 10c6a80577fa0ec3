/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preload.c - makes the Nth allocation or the Nth close of a process fail, as struct faults says.
 * Other calls are the driver's: the kernel hands it those of libraries and of stdio too, where a
 * preloaded function sees only what is called from outside of the C library. A close that fails
 * must close all the same, so it is done here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/faults/faults.h"

static struct faults *page;

/* The allocator's own names in the GNU C library: dlsym() would allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static int (*real_close)(int);
static int (*real_fclose)(FILE *);

__attribute__((constructor)) static void arm(void)
{
    const char *name = getenv("CF_FAULTS");
    int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    if (p == MAP_FAILED)
        return;
    if (((struct faults *)p)->pid != getpid()) {
        munmap(p, 4096);
        return;
    }
    page = p;
    page->armed = 1;
    unsetenv("LD_PRELOAD"); /* what we start is left alone */
}

/* Whether this call is the one. A forked child has the page too. */
static int fails(enum fault_kind kind)
{
    if (!page || page->kind != kind || (page->pid == getpid()) == (page->started != 0))
        return 0;
    return __atomic_add_fetch(&page->count, 1, __ATOMIC_RELAXED) == page->nth;
}

static int no_memory(void)
{
    if (!fails(FAULT_MALLOC))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    return no_memory() ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t count, size_t size)
{
    size_t all;

    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, all);
}

void *memalign(size_t alignment, size_t size)
{
    return no_memory() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *got = memalign(alignment, size);

    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

/* As a network file system does that finds no room for what it had taken. */
int close(int fd)
{
    if (!real_close)
        real_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
    if (!fails(FAULT_CLOSE))
        return real_close(fd);
    (void)real_close(fd);
    errno = ENOSPC;
    return -1;
}

int fclose(FILE *f)
{
    if (!real_fclose)
        real_fclose = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
    /* one that is memory alone has nothing that could fail */
    if (fileno(f) < 0 || !fails(FAULT_CLOSE))
        return real_fclose(f);
    (void)real_fclose(f);
    errno = ENOSPC;
    return EOF;
}
