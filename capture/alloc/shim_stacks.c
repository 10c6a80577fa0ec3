/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_stacks.c - numbers of the stacks of a process, by a hash of 64 bits of their return
 * addresses: that two of 100,000 stacks have the same is as likely as 1 to 3 thousand millions.
 * The table is read without a lock; one that is full is replaced by one twice as large and stays
 * for its readers, so that all take at most twice the memory of the last.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

enum {
    FIRST = 1024, /* entries */
    MOST = (1 << CFA_STACK_BITS) - 1,
    /* Times to try for the lock, which a signal handler may keep by a jump: at once, and each ms.
       */
    SPINS = 32,
    PATIENCE = 1000,
};

struct entry {
    uint64_t hash; /* 0: free */
    uint64_t number;
};

struct shim_stacks {
    uint64_t mask;
    struct entry entry[];
};

static struct entry *find(struct shim_stacks *s, uint64_t hash)
{
    uint64_t i = (hash ^ hash >> 32) & s->mask;
    uint64_t there;

    while ((there = __atomic_load_n(&s->entry[i].hash, __ATOMIC_ACQUIRE)) != 0 && there != hash)
        i = (i + 1) & s->mask;
    return &s->entry[i];
}

static struct shim_stacks *larger(const struct shim_stacks *old)
{
    const uint64_t entries = old ? 2 * (old->mask + 1) : FIRST;
    struct shim_stacks *s = mmap(NULL, sizeof(*s) + entries * sizeof(struct entry),
                                 /* cppcheck-suppress invalidFunctionArg */
                                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (s == MAP_FAILED)
        return NULL;
    s->mask = entries - 1;
    for (uint64_t i = 0; old && i <= old->mask; i++)
        if (old->entry[i].hash)
            *find(s, old->entry[i].hash) = old->entry[i];
    return s;
}

static int lock(uint32_t *l)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    const int error = errno;
    uint32_t none = 0;
    unsigned tries = 0;

    while (!__atomic_compare_exchange_n(l, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) &&
           tries++ < PATIENCE) {
        none = 0;
        if (tries < SPINS)
            sched_yield();
        else
            syscall(SYS_futex, l, FUTEX_WAIT_PRIVATE, 1, &moment, NULL, 0);
    }
    errno = error;
    return tries <= PATIENCE;
}

/* The record goes out before another thread can use the number. */
static void announce(struct shim_thread *t, uint32_t number)
{
    const struct shim_chain *c = &t->walker.chain[t->walker.now];

    __atomic_store_n(&t->ring->open, 1, __ATOMIC_SEQ_CST);
    shim_put(t, 0,
             (uint64_t)CFA_STACK << 56 | (uint64_t)(uint16_t)t->walker.age << 40 |
                 (uint64_t)c->count << 32 | number);
    shim_put(t, 1, shim_now());
    for (uint32_t i = 0; i < c->count; i++)
        shim_put(t, 2 + i, c->frame[i].pc);
    shim_commit(t, 2 + c->count);
    __atomic_store_n(&t->ring->open, 0, __ATOMIC_RELEASE);
}

/* With the lock. */
static uint32_t add(struct shim_thread *t, struct shim_process *p, uint64_t hash)
{
    struct shim_stacks *s = p->stacks;
    struct entry *e = s ? find(s, hash) : NULL;

    if (e && e->hash)
        return (uint32_t)e->number;
    if (p->stack_count == MOST)
        return 0;
    if (!s || 4 * (uint64_t)p->stack_count > 3 * s->mask) {
        s = larger(s);
        if (!s)
            return 0;
        __atomic_store_n(&p->stacks, s, __ATOMIC_RELEASE);
        e = find(s, hash);
    }
    announce(t, ++p->stack_count);
    e->number = p->stack_count;
    __atomic_store_n(&e->hash, hash, __ATOMIC_RELEASE);
    return p->stack_count;
}

/* By their age: where code was unmapped, the same addresses may be other code's. */
static uint64_t hash_of(const struct shim_chain *c, uint32_t age)
{
    uint64_t h = c->count | (uint64_t)age << 32, factor = 0x9e3779b97f4a7c15ULL;

    /* Factors that are odd and do not depend on what is before, so that products are independent.
       */
    for (uint32_t i = 0; i < c->count; i++) {
        h += c->frame[i].pc * factor;
        factor *= 0xd1342543de82ef95ULL;
    }
    h ^= h >> 31;
    h *= 0xbf58476d1ce4e5b9ULL;
    return h ? h : 1;
}

uint32_t shim_stack_number(struct shim_thread *t)
{
    struct shim_process *p = shim_process;
    const struct shim_chain *c = &t->walker.chain[t->walker.now];
    struct shim_stacks *s = __atomic_load_n(&p->stacks, __ATOMIC_ACQUIRE);
    const uint64_t hash = hash_of(c, t->walker.age);
    struct entry *e = s ? find(s, hash) : NULL;
    uint32_t number = 0;

    /* What was free when it was found may be another stack's by now. */
    if (e && __atomic_load_n(&e->hash, __ATOMIC_ACQUIRE) == hash)
        return (uint32_t)e->number;
    if (shim_room(t, 2 + c->count) && lock(&p->stacks_lock)) {
        number = add(t, p, hash);
        __atomic_store_n(&p->stacks_lock, 0, __ATOMIC_RELEASE);
    }
    if (!number)
        __atomic_add_fetch(&p->place->unknown, 1, __ATOMIC_RELAXED);
    return number;
}
