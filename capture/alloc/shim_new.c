/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_new.c - C++: operators new and delete. Those of an allocator give memory of their own;
 * those of the C++ library call malloc and free, which record that: so here what was not recorded
 * within is. An exception passes through, past what is to be done behind the call. The names
 * are those of the Itanium C++ ABI, with the 64-bit size_t.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include "shim_next.h"

enum form { PLAIN, NOTHROW, ALIGN, ALIGN_NOTHROW, SIZED, SIZED_ALIGN };

/* A library that was loaded for itself alone is not among the next ones, though its calls come
   here. */
static void *find(const char *name)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"};
    void *f = dlsym(RTLD_NEXT, name);

    for (size_t i = 0; !f && i < sizeof(libraries) / sizeof(*libraries); i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        /* It stays open: what is found in it is called. */
        if (library)
            f = dlsym(library, name);
    }
    return f;
}

static void *next_of(void **known, const char *name)
{
    void *f = __atomic_load_n(known, __ATOMIC_ACQUIRE);

    if (SHIM_UNLIKELY(!f)) {
        f = find(name);
        __atomic_store_n(known, f, __ATOMIC_RELEASE);
    }
    return f;
}

/* Without a C++ library: as it would do, but for the exception. */
static void *without(enum form form, size_t bytes, size_t align)
{
    void *p = form == ALIGN || form == ALIGN_NOTHROW ? memalign(align, bytes ? bytes : 1)
                                                     : malloc(bytes ? bytes : 1);

    if (!p && (form == PLAIN || form == ALIGN))
        abort();
    return p;
}

static inline __attribute__((always_inline)) void *obtain(void *next, enum form form, size_t bytes,
                                                          size_t align, const void *nothrow,
                                                          struct shim_frame from)
{
    struct shim_thread *t = &shim_thread;
    const size_t asked = t->asked, asked_more = t->asked_more;
    const uint32_t calls = t->calls;
    void *p;

    /* The C++ library makes it a multiple of the alignment, and 1 of 0. */
    t->asked = bytes;
    t->asked_more = align > 2 ? align - 1 : 1;
    if (!next)
        p = without(form, bytes, align);
    else if (form == PLAIN)
        p = ((void *(*)(size_t))next)(bytes);
    else if (form == NOTHROW)
        p = ((void *(*)(size_t, const void *))next)(bytes, nothrow);
    else if (form == ALIGN)
        p = ((void *(*)(size_t, size_t))next)(bytes, align);
    else
        p = ((void *(*)(size_t, size_t, const void *))next)(bytes, align, nothrow);
    t->asked = asked;
    t->asked_more = asked_more;
    if (p && !shim_known(calls, p))
        shim_allocated(p, bytes, &from);
    return p;
}

static inline __attribute__((always_inline)) void
give_back(void *next, enum form form, void *p, size_t bytes, size_t align, const void *nothrow)
{
    struct shim_thread *t = &shim_thread;

    if (!p)
        return;
    shim_released(p);
    t->releasing = p;
    if (!next)
        free(p);
    else if (form == PLAIN)
        ((void (*)(void *))next)(p);
    else if (form == SIZED)
        ((void (*)(void *, size_t))next)(p, bytes);
    else if (form == NOTHROW)
        ((void (*)(void *, const void *))next)(p, nothrow);
    else if (form == ALIGN)
        ((void (*)(void *, size_t))next)(p, align);
    else if (form == SIZED_ALIGN)
        ((void (*)(void *, size_t, size_t))next)(p, bytes, align);
    else
        ((void (*)(void *, size_t, const void *))next)(p, align, nothrow);
    t->releasing = NULL;
}

#define NEXT_OF(name)                                                                              \
    ({                                                                                             \
        static void *known;                                                                        \
        next_of(&known, #name);                                                                    \
    })

#define NEW(name, form, arguments, align, nothrow)                                                 \
    SHIM_EXPORT void *name arguments;                                                              \
    SHIM_EXPORT void *name arguments                                                               \
    {                                                                                              \
        return obtain(NEXT_OF(name), form, bytes, align, nothrow, SHIM_CALLER);                    \
    }

NEW(_Znwm, PLAIN, (size_t bytes), 0, NULL)
NEW(_Znam, PLAIN, (size_t bytes), 0, NULL)
NEW(_ZnwmRKSt9nothrow_t, NOTHROW, (size_t bytes, const void *nothrow), 0, nothrow)
NEW(_ZnamRKSt9nothrow_t, NOTHROW, (size_t bytes, const void *nothrow), 0, nothrow)
NEW(_ZnwmSt11align_val_t, ALIGN, (size_t bytes, size_t align), align, NULL)
NEW(_ZnamSt11align_val_t, ALIGN, (size_t bytes, size_t align), align, NULL)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, ALIGN_NOTHROW,
    (size_t bytes, size_t align, const void *nothrow), align, nothrow)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, ALIGN_NOTHROW,
    (size_t bytes, size_t align, const void *nothrow), align, nothrow)

#define DELETE(name, form, arguments, bytes, align, nothrow)                                       \
    SHIM_EXPORT void name arguments;                                                               \
    SHIM_EXPORT void name arguments                                                                \
    {                                                                                              \
        give_back(NEXT_OF(name), form, p, bytes, align, nothrow);                                  \
    }

DELETE(_ZdlPv, PLAIN, (void *p), 0, 0, NULL)
DELETE(_ZdaPv, PLAIN, (void *p), 0, 0, NULL)
DELETE(_ZdlPvm, SIZED, (void *p, size_t bytes), bytes, 0, NULL)
DELETE(_ZdaPvm, SIZED, (void *p, size_t bytes), bytes, 0, NULL)
DELETE(_ZdlPvRKSt9nothrow_t, NOTHROW, (void *p, const void *nothrow), 0, 0, nothrow)
DELETE(_ZdaPvRKSt9nothrow_t, NOTHROW, (void *p, const void *nothrow), 0, 0, nothrow)
DELETE(_ZdlPvSt11align_val_t, ALIGN, (void *p, size_t align), 0, align, NULL)
DELETE(_ZdaPvSt11align_val_t, ALIGN, (void *p, size_t align), 0, align, NULL)
DELETE(_ZdlPvmSt11align_val_t, SIZED_ALIGN, (void *p, size_t bytes, size_t align), bytes, align,
       NULL)
DELETE(_ZdaPvmSt11align_val_t, SIZED_ALIGN, (void *p, size_t bytes, size_t align), bytes, align,
       NULL)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, ALIGN_NOTHROW,
       (void *p, size_t align, const void *nothrow), 0, align, nothrow)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, ALIGN_NOTHROW,
       (void *p, size_t align, const void *nothrow), 0, align, nothrow)
