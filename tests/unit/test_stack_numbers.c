/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of stacks, where another thread adds one between two reads of the table by this one,
 * which does not have the lock: after each read in its turn, a stack whose place in the table is
 * the same.
 */
#include "tap.h"

static void after_read(void);

#define __atomic_load_n(at, order)                                                                 \
    __extension__({                                                                                \
        __typeof__(*(at)) read_ = *(at);                                                           \
        after_read();                                                                              \
        read_;                                                                                     \
    })
#include "capture/alloc/shim_stacks.c"
#undef __atomic_load_n

enum { WORDS = 1 << 16 };

__thread struct shim_thread shim_thread __attribute__((tls_model("initial-exec")));
struct shim_process *shim_process;
struct cfa_header *shim_shared;

static struct shim_process process;
static struct cfa_process place;
static struct cfa_ring ring[2];
static struct shim_thread thread[2]; /* this one, and the one that comes between */
static uint64_t words[2][WORDS];
static uint32_t left, between; /* reads until it comes; its number, once it came */

int shim_wait(struct shim_thread *t, uint32_t n)
{
    (void)t;
    (void)n;
    return 0;
}

uint64_t shim_now(void)
{
    static uint64_t now;

    return ++now;
}

static void after_read(void)
{
    if (left && !process.stacks_lock && --left == 0)
        between = shim_stack_number(&thread[1]);
}

static uint64_t set(struct shim_thread *t, uintptr_t pc)
{
    struct shim_chain *c = &t->walker.chain[t->walker.now];

    c->count = 1;
    c->frame[0].pc = pc;
    return hash_of(c, 0);
}

/* One that has its first place in a table of that mask where `hash` has it. */
static uintptr_t same_place(uint64_t hash, uint64_t mask, uintptr_t from)
{
    uint64_t other;

    do
        other = set(&thread[1], ++from);
    while (((other ^ other >> 32) & mask) != ((hash ^ hash >> 32) & mask));
    return from;
}

/* The return address that was announced with a number, by either thread; 0: none was. */
static uint64_t announced(uint32_t number)
{
    for (unsigned k = 0; k < 2; k++)
        for (uint64_t i = 0; i < thread[k].head; i += 3)
            if ((uint32_t)words[k][i] == number)
                return words[k][i + 2];
    return 0;
}

int main(void)
{
    unsigned came = 0, wrong = 0;
    uintptr_t next = 0x10000;

    shim_process = &process;
    process.place = &place;
    for (unsigned k = 0; k < 2; k++) {
        thread[k].ring = &ring[k];
        thread[k].words = words[k];
        thread[k].mask = WORDS - 1;
    }
    set(&thread[0], 1);
    is_u64(shim_stack_number(&thread[0]), 1, "the first has number 1");
    set(&thread[1], 1);
    is_u64(shim_stack_number(&thread[1]), 1, "and the same one in another thread");
    for (unsigned at = 1; at <= 4; at++)
        for (unsigned i = 0; i < 100; i++) {
            const uintptr_t pc = ++next, other = same_place(set(&thread[0], pc), 1023, next);
            uint32_t number;

            next = other;
            left = at;
            between = 0;
            number = shim_stack_number(&thread[0]);
            left = 0;
            came += between != 0;
            wrong += announced(number) != pc || (between && announced(between) != other);
        }
    ok(came >= 200, "another came between, %u times", came);
    is_u64(wrong, 0, "each number is that of its own stack");
    is_u64(place.unknown, 0, "none is unknown");
    for (uint32_t n = 1; n <= process.stack_count; n++)
        wrong += announced(n) == 0;
    is_u64(wrong, 0, "no number is left out");
    return done();
}
