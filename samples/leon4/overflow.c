/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overflow: a program made to overflow LEON's instruction cache, as the third test case of the
 * LEON4 profiling tool's paper. First it runs once through 24 KiB of straight code, more than the
 * cache of 16 KiB holds: cold misses. Then it calls six functions that stand 4 KiB apart, the size
 * of a way, again and again: their lines compete for the four ways of the same sets while half of
 * the cache has room: conflict misses. At last it sweeps 20 KiB of data twice (capacity, as far as
 * the data cache goes) and touches six words 4 KiB apart in turn (conflicts there).
 */
#include <stdint.h>

enum { WAY = 4096, LINE = 32, SWEEP = 20 * 1024, ROUNDS = 6, TURNS = 8 };

volatile uint32_t result;
/* Not cleared at the start, which would take more time than all the rest. */
static uint32_t data[6 * WAY / 4] __attribute__((section(".bss.noinit"), aligned(4096)));

/* Straight code: instructions that no compiler takes out or folds. */
#define STRAIGHT(instructions)                                                                     \
    __asm__ volatile(".rept " #instructions " / 4\n"                                               \
                     "add  %0, 13, %0\n"                                                           \
                     "xor  %0, 0x155, %0\n"                                                        \
                     "srl  %0, 1, %%g1\n"                                                          \
                     "sub  %0, %%g1, %0\n"                                                         \
                     ".endr"                                                                       \
                     : "+r"(x)                                                                     \
                     :                                                                             \
                     : "g1")

static __attribute__((noinline, aligned(4096))) uint32_t once(uint32_t x)
{
    STRAIGHT(6144);
    return x;
}

/* The number keeps the compiler from making one function of them all. */
#define COMPETING(name, number)                                                                    \
    static __attribute__((noinline, aligned(4096))) uint32_t name(uint32_t x)                      \
    {                                                                                              \
        x ^= number;                                                                               \
        STRAIGHT(128);                                                                             \
        return x;                                                                                  \
    }

COMPETING(first, 1)
COMPETING(second, 2)
COMPETING(third, 3)
COMPETING(fourth, 4)
COMPETING(fifth, 5)
COMPETING(sixth, 6)

static __attribute__((noinline)) uint32_t sweep(void)
{
    uint32_t sum = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < SWEEP / 4; i += LINE / 4)
            sum += data[i];
    return sum;
}

static __attribute__((noinline)) uint32_t compete(void)
{
    uint32_t sum = 0;

    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < 6; i++) {
            volatile uint32_t *word = &data[i * WAY / 4 + 5];

            *word = *word + (uint32_t)turn;
            sum += *word;
        }
    return sum;
}

int main(void)
{
    uint32_t x = once(1);

    for (int i = 0; i < ROUNDS; i++) {
        x = first(x);
        x = second(x);
        x = third(x);
        x = fourth(x);
        x = fifth(x);
        x = sixth(x);
    }
    result = x + sweep() + compete();
    return 0;
}
