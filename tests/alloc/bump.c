/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocator that never takes memory back and that signal handlers may call: to be preloaded
 * where the one of the C library would not bear what a test does.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 30, HEAD = 16 };

static char room[ROOM] __attribute__((aligned(4096)));
static atomic_size_t used;

static void *take(size_t align, size_t bytes)
{
    size_t from;
    char *p;

    align = align < HEAD ? HEAD : align;
    if (bytes > ROOM) {
        errno = ENOMEM;
        return NULL;
    }
    from = atomic_fetch_add(&used, bytes + align + HEAD);
    if (from > ROOM - bytes - align - HEAD)
        abort();
    p = (char *)(((uintptr_t)room + from + HEAD + align - 1) / align * align);
    memcpy(p - sizeof(bytes), &bytes, sizeof(bytes));
    return p;
}

void *memalign(size_t align, size_t bytes)
{
    return take(align, bytes);
}

void *malloc(size_t bytes)
{
    return take(HEAD, bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return bytes && count > SIZE_MAX / bytes ? NULL : take(HEAD, count * bytes);
}

void free(void *p)
{
    (void)p;
}

void *realloc(void *old, size_t bytes)
{
    void *p = take(HEAD, bytes);
    size_t was = 0;

    if (old)
        memcpy(&was, (char *)old - sizeof(was), sizeof(was));
    if (p && old)
        memcpy(p, old, was < bytes ? was : bytes);
    return p;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return take(align, bytes);
}

void (*bump_between)(void);

/* By another of its functions, as allocators do, and then what a signal handler might do. */
int posix_memalign(void **to, size_t align, size_t bytes)
{
    *to = memalign(align, bytes);
    if (bump_between)
        bump_between();
    return *to ? 0 : ENOMEM;
}
