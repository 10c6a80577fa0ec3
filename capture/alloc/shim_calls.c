/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_calls.c - malloc and its kin, as the program calls them: each calls the next allocator,
 * that of another preloaded library or the C library's. dlsym(), which finds it, may allocate
 * itself: what comes before it is found is taken from a buffer, and stays there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "shim_next.h"

struct shim_next shim_next;

enum { EARLY = 1 << 16, ALIGNED = 16 };

static char early[EARLY] __attribute__((aligned(64)));
static size_t early_used;

static int is_early(const void *p)
{
    return (uintptr_t)p - (uintptr_t)early < EARLY;
}

/* Its size stands before it. Memory that was never used is zero. */
static void *early_malloc(size_t bytes, size_t align)
{
    size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED), from;

    do {
        from = ((uintptr_t)early + used + ALIGNED + align - 1) / align * align - (uintptr_t)early;
        if (bytes > EARLY || from > EARLY - bytes) {
            errno = ENOMEM;
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&early_used, &used, from + bytes, 1, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    memcpy(early + from - sizeof(bytes), &bytes, sizeof(bytes));
    return early + from;
}

static int find_next(void)
{
    static const char *const names[] = {SHIM_NEXT_NAMES};
    static int finding;
    void **next = (void **)&shim_next;
    const int error = errno;

    if (__atomic_exchange_n(&finding, 1, __ATOMIC_ACQUIRE))
        return 0;
    /* malloc comes last: where it is there, all are. */
    for (size_t i = sizeof(names) / sizeof(*names); i-- > 0;)
        __atomic_store_n(&next[i], dlsym(RTLD_NEXT, names[i]), __ATOMIC_RELEASE);
    finding = 0;
    errno = error;
    return shim_next.malloc != NULL;
}

static inline int found(void)
{
    return SHIM_LIKELY(__atomic_load_n(&shim_next.malloc, __ATOMIC_ACQUIRE) != NULL) || find_next();
}

int shim_own_malloc(void)
{
    static int own = -1;

    if (own < 0)
        own = dlsym(RTLD_DEFAULT, "malloc") != (void *)malloc;
    return own;
}

__attribute__((constructor)) static void start(void)
{
    struct shim_thread *t = &shim_thread;

    (void)found();
    (void)shim_own_malloc();
    if (!t->busy) {
        t->busy = 1;
        (void)shim_ready(t);
        t->busy = 0;
    }
}

/* What the next allocator gave, recorded unless that was done within. */
static inline void *got(void *p, size_t bytes, uint32_t calls, struct shim_frame from)
{
    if (p && !shim_known(calls, p))
        shim_allocated(p, bytes, &from);
    return p;
}

SHIM_EXPORT void *malloc(size_t bytes)
{
    const uint32_t calls = shim_thread.calls;

    return found() ? got(shim_next.malloc(bytes), bytes, calls, SHIM_CALLER)
                   : early_malloc(bytes, ALIGNED);
}

SHIM_EXPORT void *calloc(size_t count, size_t bytes)
{
    const uint32_t calls = shim_thread.calls;
    size_t all;

    if (found())
        return got(shim_next.calloc(count, bytes), count * bytes, calls, SHIM_CALLER);
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : early_malloc(all, ALIGNED);
}

SHIM_EXPORT void free(void *p)
{
    if (!p || is_early(p))
        return;
    shim_released(p);
    if (found())
        shim_next.free(p);
}

/* What was taken from the buffer moves to the next allocator. */
static void *early_realloc(void *old, size_t bytes)
{
    size_t was;
    void *p = malloc(bytes);

    memcpy(&was, (char *)old - sizeof(was), sizeof(was));
    if (p)
        memcpy(p, old, was < bytes ? was : bytes);
    return p;
}

static inline __attribute__((always_inline)) void *moved(void *old, size_t bytes,
                                                         struct shim_frame from)
{
    const uint32_t calls = shim_thread.calls;
    struct shim_move move;
    void *p;

    if (is_early(old))
        return early_realloc(old, bytes);
    if (!found())
        return old ? NULL : early_malloc(bytes, ALIGNED);
    if (!old)
        return got(shim_next.realloc(NULL, bytes), bytes, calls, from);
    move = shim_before_move();
    p = shim_next.realloc(old, bytes);
    shim_moved(&move, old, p, bytes, &from);
    return p;
}

SHIM_EXPORT void *realloc(void *old, size_t bytes)
{
    return moved(old, bytes, SHIM_CALLER);
}

SHIM_EXPORT void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;

    if (!__builtin_mul_overflow(count, bytes, &all))
        return moved(old, all, SHIM_CALLER);
    errno = ENOMEM;
    return NULL;
}

SHIM_EXPORT void *memalign(size_t align, size_t bytes)
{
    const uint32_t calls = shim_thread.calls;

    return found() ? got(shim_next.memalign(align, bytes), bytes, calls, SHIM_CALLER)
                   : early_malloc(bytes, align < ALIGNED ? ALIGNED : align);
}

SHIM_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    const uint32_t calls = shim_thread.calls;

    return found() ? got(shim_next.aligned_alloc(align, bytes), bytes, calls, SHIM_CALLER)
                   : early_malloc(bytes, align < ALIGNED ? ALIGNED : align);
}

SHIM_EXPORT int posix_memalign(void **to, size_t align, size_t bytes)
{
    const uint32_t calls = shim_thread.calls;
    int error = ENOMEM;

    if (found())
        error = shim_next.posix_memalign(to, align, bytes);
    if (!error)
        (void)got(*to, bytes, calls, SHIM_CALLER);
    return error;
}

SHIM_EXPORT void *valloc(size_t bytes)
{
    const uint32_t calls = shim_thread.calls;

    return found() ? got(shim_next.valloc(bytes), bytes, calls, SHIM_CALLER) : NULL;
}

SHIM_EXPORT void *pvalloc(size_t bytes)
{
    const uint32_t calls = shim_thread.calls;

    return found() ? got(shim_next.pvalloc(bytes), bytes, calls, SHIM_CALLER) : NULL;
}

static int get_unloaded(struct dl_phdr_info *info, size_t bytes, void *unloaded)
{
    (void)bytes;
    *(unsigned long long *)unloaded = info->dlpi_subs;
    return 1;
}

/* How many libraries the process has unloaded. */
static unsigned long long unloaded_ever(void)
{
    unsigned long long unloaded = 0;

    (void)dl_iterate_phdr(get_unloaded, &unloaded);
    return unloaded;
}

/* Where it has unloaded something, and not only dropped a reference, other code may come to stand
   there. No frame of what its destructors allocate is ours. */
__attribute__((visibility("default"))) int dlclose(void *library)
{
    int r = -1;

    if (found() && shim_next.dlclose) {
        const unsigned long long before = unloaded_ever();

        r = shim_next.dlclose(library);
        if (unloaded_ever() != before)
            shim_rules_forget();
    }
    return r;
}
