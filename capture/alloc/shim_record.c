/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_record.c - what the program allocates and releases, as records. A release has its time
 * before the memory is given back, an allocation after it was obtained: so an address belongs to
 * one object at a time, whichever threads give it to each other.
 *
 * A signal handler that allocates amidst a record is let through, and counted.
 */
#include "shim.h"

enum { LEFT_OUT = 4096 }; /* addresses */

/* Addresses from sites that are left out, whose release needs no record either. One that was
   replaced by another only costs a record. */
static const void *left_out[LEFT_OUT];

static const void **left_out_at(const void *p)
{
    return &left_out[((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15ULL >> 52];
}

/* Whether what happens now is to be recorded; then leave() must follow. */
static inline int enter(struct shim_thread *t)
{
    struct shim_process *p = shim_process;

    if (SHIM_UNLIKELY(t->busy)) {
        if (p->place)
            __atomic_add_fetch(&p->place->nested, 1, __ATOMIC_RELAXED);
        return 0;
    }
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (SHIM_LIKELY(t->generation == p->generation && t->ring && !shim_shared->closed && !p->off))
        return 1;
    if (shim_ready(t))
        return 1;
    t->busy = 0;
    return 0;
}

static inline void leave(struct shim_thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

/* The time of a record that will follow. */
static inline uint64_t begin(struct shim_thread *t)
{
    __atomic_store_n(&t->ring->open, 1, __ATOMIC_RELEASE);
    return shim_now();
}

static inline void done(struct shim_thread *t, uint32_t words)
{
    shim_commit(t, words);
    __atomic_store_n(&t->ring->open, 0, __ATOMIC_RELEASE);
}

static int is_left_out(struct shim_thread *t, const void *p)
{
    const char *sites = (const char *)shim_shared + cfa_sites_at(shim_process->number);

    if (t->stack >= CFA_SITES ||
        !(__atomic_load_n((const uint8_t *)sites + t->stack / 8, __ATOMIC_RELAXED) &
          1 << t->stack % 8))
        return 0;
    __atomic_store_n(left_out_at(p), p, __ATOMIC_RELAXED);
    __atomic_add_fetch(&shim_process->place->left_out, 1, __ATOMIC_RELAXED);
    return 1;
}

static void put_allocation(struct shim_thread *t, const void *p, size_t bytes)
{
    const int large = bytes >> CFA_SIZE_BITS != 0;

    if (!shim_room(t, 4))
        return;
    shim_put(t, 1, begin(t));
    shim_put(t, 0, (uint64_t)(large ? CFA_LARGE : CFA_ALLOC) << 56 | ((uintptr_t)p & CFA_WHAT));
    shim_put(t, 2, large ? t->stack : (uint64_t)t->stack << CFA_SIZE_BITS | bytes);
    if (large)
        shim_put(t, 3, bytes);
    done(t, large ? 4 : 3);
}

/* What the program has asked for. */
static size_t asked(const struct shim_thread *t, size_t bytes)
{
    return bytes >= t->asked && bytes - t->asked <= t->asked_more ? t->asked : bytes;
}

static inline void note_allocation(struct shim_thread *t, const void *p, size_t bytes,
                                   const struct shim_frame *from)
{
    if (!shim_walk(&t->walker, from, shim_shared->depth) || !t->stack)
        t->stack = shim_stack_number(t);
    if (t->walker.within) {
        bytes = asked(t, bytes);
        t->inner = p;
    }
    if (SHIM_UNLIKELY(shim_shared->throttled) && is_left_out(t, p))
        return;
    put_allocation(t, p, bytes);
}

void shim_allocated(const void *p, size_t bytes, const struct shim_frame *from)
{
    struct shim_thread *t = &shim_thread;

    t->last[t->calls++ % SHIM_LAST] = p;
    if (!enter(t))
        return;
    note_allocation(t, p, bytes, from);
    leave(t);
}

/* `time` 0: now. */
static void put_release(struct shim_thread *t, const void *p, uint64_t time)
{
    if (SHIM_UNLIKELY(shim_shared->throttled)) {
        const void *expected = p;

        if (__atomic_compare_exchange_n(left_out_at(p), &expected, NULL, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
    if (!shim_room(t, 2))
        return;
    shim_put(t, 1, time ? time : begin(t));
    shim_put(t, 0, (uint64_t)CFA_FREE << 56 | ((uintptr_t)p & CFA_WHAT));
    done(t, 2);
}

void shim_released(const void *p)
{
    struct shim_thread *t = &shim_thread;

    if (p == t->releasing)
        return;
    t->releases++;
    t->last_released = p;
    if (!enter(t))
        return;
    put_release(t, p, 0);
    leave(t);
}

struct shim_move shim_before_move(void)
{
    struct shim_thread *t = &shim_thread;
    struct shim_move m = {.calls = t->calls, .releases = t->releases};

    if (!enter(t))
        return m;
    m.time = begin(t);
    m.head = t->head;
    __atomic_store_n(&t->ring->open, m.time, __ATOMIC_RELEASE);
    leave(t);
    return m;
}

void shim_moved(const struct shim_move *m, const void *old, const void *p, size_t bytes,
                const struct shim_frame *from)
{
    struct shim_thread *t = &shim_thread;
    const int released = t->releases != m->releases && t->last_released == old,
              allocated = p && shim_known(m->calls, p);

    if (!enter(t))
        return;
    if (!p && bytes) {
        /* It failed, and all is as it was. */
        __atomic_store_n(&t->ring->open, 0, __ATOMIC_RELEASE);
        leave(t);
        return;
    }
    /* Where something was recorded meanwhile, the earlier time would be out of order. */
    if (!released)
        put_release(t, old, m->head == t->head ? m->time : 0);
    __atomic_store_n(&t->ring->open, 0, __ATOMIC_RELEASE);
    if (p && !allocated) {
        t->last[t->calls++ % SHIM_LAST] = p;
        note_allocation(t, p, bytes, from);
    }
    leave(t);
}
