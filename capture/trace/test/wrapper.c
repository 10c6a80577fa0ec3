/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocator on top of another one, to be preloaded: each block has before it where that of the
 * other begins, and its length. Reallocation is an allocation and a release.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct header {
    void *base;
    size_t bytes;
};

static void *other(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *memalign(size_t align, size_t n)
{
    static void *(*obtain)(size_t);
    char *base, *p;

    if (!obtain)
        obtain = (void *(*)(size_t))(uintptr_t)other("malloc");
    if (n > SIZE_MAX / 8 || !(base = obtain(n + align + sizeof(struct header)))) {
        errno = ENOMEM;
        return NULL;
    }
    p = base + sizeof(struct header);
    p += -(uintptr_t)p % align;
    ((struct header *)p)[-1] = (struct header){base, n};
    return p;
}

void *malloc(size_t n)
{
    return memalign(16, n);
}

void free(void *p)
{
    static void (*release)(void *);

    if (!release)
        release = (void (*)(void *))(uintptr_t)other("free");
    if (p)
        release(((struct header *)p)[-1].base);
}

void *calloc(size_t count, size_t size)
{
    size_t n;
    void *p = __builtin_mul_overflow(count, size, &n) ? NULL : malloc(n);

    return p ? memset(p, 0, n) : NULL;
}

void *realloc(void *p, size_t n)
{
    const size_t old = p ? ((struct header *)p)[-1].bytes : 0;
    void *q = malloc(n);

    if (p && q) {
        memcpy(q, p, n < old ? n : old);
        free(p);
    }
    return q;
}

void *reallocarray(void *p, size_t count, size_t size)
{
    size_t n;

    return __builtin_mul_overflow(count, size, &n) ? NULL : realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

void *valloc(size_t n)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    void *q = align < sizeof(void *) || align & (align - 1) ? NULL : memalign(align, n);

    if (!q)
        return ENOMEM;
    *p = q;
    return 0;
}
