/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * staircase - STAIRCASE of BBProf's section 7.2: pages whose importance is known.
 *
 * A buffer of 100 heap pages is read again and again. In the first fifth of the iterations all of
 * it is read, in the second fifth the first 20 pages are skipped, then 40, 60 and 80. So the
 * second group of 20 pages is read twice as often as the first, the third three times, ...
 */
#include "payload.h"

enum { PAGES = 100, STEPS = 5, WORDS = PAGE / (int)sizeof(uint64_t) };

static const char arguments[] = "staircase [ITERATIONS, a multiple of 5 [1000]]";
static const volatile uint64_t *buffer;
static unsigned iterations;

uint32_t observed(void)
{
    const volatile uint64_t *const words = buffer;
    uint64_t sum = 0;

    for (unsigned i = 0; i < iterations; i++)
        for (unsigned w = i / (iterations / STEPS) * (PAGES / STEPS) * WORDS; w < PAGES * WORDS;
             w++)
            sum += words[w];
    return (uint32_t)sum;
}

int main(int argc, char **argv)
{
    uint64_t *memory = block(PAGES * PAGE);

    iterations = number(argc, argv, 1, 1000, 1000000, arguments);
    if (iterations % STEPS != 0)
        usage(arguments);
    for (unsigned w = 0; w < PAGES * WORDS; w++)
        memory[w] = w;
    buffer = memory;
    printf("%08x\n", (unsigned)observe());
    return 0;
}
