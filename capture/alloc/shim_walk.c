/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_walk.c - the call stack of a thread. One is mostly the last one again, or that from some
 * frame on: where pc, stack pointer and frame pointer of a frame are those of a frame of the last
 * stack, and what was read for the frames beyond stands where it stood, these are the same. Only
 * frames before are left by rules.
 *
 * Wrong unwind information must not end the program: a page is asked for before it is first read.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/* The code of what is interposed: one such function may call another, through the next allocator.
   */
extern const char __start_shim_calls[] __attribute__((visibility("hidden")));
extern const char __stop_shim_calls[] __attribute__((visibility("hidden")));

enum { BETWEEN = 3 }; /* frames at most from one to the other */

static int is_ours(uintptr_t pc)
{
    return pc >= (uintptr_t)__start_shim_calls && pc < (uintptr_t)__stop_shim_calls;
}

/* Whether memory can be read: the kernel reads the set before it refuses what is to be done with
   it. */
__attribute__((noinline, cold)) static int ask(struct shim_walker *w, uintptr_t at)
{
    const uintptr_t page = at / CFA_PAGE;
    const int error = errno;
    int readable;

    readable = syscall(SYS_rt_sigprocmask, -1, page * CFA_PAGE, NULL, 8) == 0 || errno == EINVAL;
    errno = error;
    if (readable)
        w->page[page % SHIM_PAGES] = page;
    return readable;
}

static inline int readable(struct shim_walker *w, uintptr_t at)
{
    const uintptr_t page = at / CFA_PAGE;

    return SHIM_LIKELY(at % sizeof(uintptr_t) == 0) &&
           (SHIM_LIKELY(w->page[page % SHIM_PAGES] == page) || ask(w, at));
}

static uintptr_t code_address(uintptr_t pc)
{
#ifdef __aarch64__
    return pc & ((1ULL << 48) - 1); /* without its signature */
#else
    return pc;
#endif
}

/* Where a frame ends, or 0. */
__attribute__((noinline)) static uintptr_t other_end(struct shim_walker *w, struct shim_chain *c,
                                                     uint32_t i, uint64_t rule)
{
    const struct shim_frame *f = &c->frame[i];
    uintptr_t slot;

    switch (shim_step(rule)) {
    case SHIM_BY_SLOT:
        slot = f->fp + (uintptr_t)shim_end(rule);
        if (slot < f->sp || !readable(w, slot))
            return 0;
        c->sp_at[i] = (const uintptr_t *)slot;
        c->slots = 1;
        return *(const uintptr_t *)slot;
    case SHIM_BY_CHAIN:
        return f->fp + 2 * sizeof(uintptr_t);
    default:
        return 0;
    }
}

/* Frame i + 1 from frame i, and where from. 0 where there is none. */
__attribute__((always_inline)) static inline int go_on(struct shim_walker *w, struct shim_chain *c,
                                                       uint32_t i)
{
    const struct shim_frame *f = &c->frame[i];
    struct shim_frame *next = &c->frame[i + 1];
    const uint64_t rule = shim_rule(f->pc);
    uintptr_t end, ra_at, fp_at = 0, fp = f->fp;

    c->sp_at[i] = NULL;
    if (SHIM_LIKELY(shim_step(rule) <= SHIM_BY_FP))
        end = (shim_step(rule) == SHIM_BY_FP ? fp : f->sp) + (uintptr_t)shim_end(rule);
    else
        end = other_end(w, c, i, rule);
    ra_at = end + (uintptr_t)shim_ra(rule);
    if (end <= f->sp || ra_at < f->sp || !readable(w, ra_at))
        return 0;
    if (shim_fp_saved(rule)) {
        fp_at = (shim_fp_saved(rule) == 2 ? fp : end) + (uintptr_t)shim_fp(rule);
        if (fp_at < f->sp || !readable(w, fp_at))
            return 0;
        fp = *(const uintptr_t *)fp_at;
    }
    *next = (struct shim_frame){code_address(*(const uintptr_t *)ra_at), end, fp};
    c->ra_at[i] = (const uintptr_t *)ra_at;
    c->fp_at[i] = (const uintptr_t *)fp_at;
    /* What seems to be the caller of code of which nothing is known may be anything. */
    return next->pc && (SHIM_LIKELY(shim_step(rule) != SHIM_BY_CHAIN) ||
                        shim_step(shim_rule(next->pc)) != SHIM_BY_CHAIN);
}

/* The first frame after frame i that is not as it was; the count where all are. */
static uint32_t changed(const struct shim_chain *c, uint32_t i)
{
    for (; i + 1 < c->count; i++)
        if (code_address(*c->ra_at[i]) != c->frame[i + 1].pc ||
            (c->fp_at[i] && *c->fp_at[i] != c->frame[i + 1].fp) ||
            (c->slots && c->sp_at[i] && *c->sp_at[i] != c->frame[i + 1].sp))
            break;
    return i + 1;
}

/* Takes frames after old's frame j over after frame n of c; the last one's number. */
static uint32_t take_over(struct shim_chain *c, uint32_t n, const struct shim_chain *old,
                          uint32_t j, uint32_t end, uint32_t depth)
{
    for (; j + 1 < end && n + 1 < depth; j++, n++) {
        c->frame[n + 1] = old->frame[j + 1];
        c->ra_at[n] = old->ra_at[j];
        c->fp_at[n] = old->fp_at[j];
        c->sp_at[n] = old->sp_at[j];
    }
    c->slots |= old->slots;
    return n;
}

static int same_frame(const struct shim_frame *a, const struct shim_frame *b)
{
    return a->pc == b->pc && a->sp == b->sp && a->fp == b->fp;
}

/* The first frame becomes the one that called interposed functions, of which frame n is one. */
__attribute__((noinline)) static int step_out(struct shim_walker *w, struct shim_chain *c,
                                              uint32_t n)
{
    w->within = 1;
    c->frame[0] = c->frame[n];
    do {
        if (!go_on(w, c, 0))
            return 0;
        c->frame[0] = c->frame[1];
    } while (is_ours(c->frame[0].pc));
    return 1;
}

int shim_walk(struct shim_walker *w, const struct shim_frame *from, uint32_t depth)
{
    struct shim_chain *old = &w->chain[w->now], *c = &w->chain[!w->now];
    uint32_t n = 0, j = 0, end;
    int ended = 0;

    if (SHIM_UNLIKELY(w->age != __atomic_load_n(&shim_code_age, __ATOMIC_RELAXED))) {
        w->age = __atomic_load_n(&shim_code_age, __ATOMIC_RELAXED);
        old->count = 0;
    }
    c->frame[0] = *from;
    c->slots = 0;
    w->within = 0;
    for (;;) {
        while (j < old->count && old->frame[j].sp < c->frame[n].sp)
            j++;
        if (j < old->count && same_frame(&old->frame[j], &c->frame[n])) {
            end = changed(old, j);
            if (!n && !j && end == old->count)
                return 1;
            n = take_over(c, n, old, j, end, depth);
            ended = end == old->count && old->ended && n + 1 < depth;
            j = end;
        }
        if (ended || n + 1 >= depth)
            break;
        if (!go_on(w, c, n)) {
            ended = 1;
            break;
        }
        if (++n <= BETWEEN && is_ours(c->frame[n].pc)) {
            ended = !step_out(w, c, n);
            n = j = 0;
        }
    }
    c->count = n + 1;
    c->ended = ended;
    w->now = !w->now;
    return 0;
}
