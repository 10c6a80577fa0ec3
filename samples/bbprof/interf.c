/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interf - INTERF of BBProf's section 7.1: a program that takes the shared cache from others.
 *
 * Stores to one word of each line of a buffer, round after round. The paper's interferes most with
 * a buffer of 420 KB on each of three cores, whose shared level has 1 MB.
 */
#include "payload.h"

enum { LINE = 64, WORDS = LINE / (int)sizeof(uint32_t) };

static const char arguments[] = "interf [KIB [420 [ROUNDS [1000]]]]";
static volatile uint32_t *buffer;
static unsigned lines, rounds;

uint32_t observed(void)
{
    volatile uint32_t *const words = buffer;

    for (unsigned r = 1; r <= rounds; r++)
        for (unsigned l = 0; l < lines; l++)
            words[l * WORDS] = r + l;
    return mix(words[0], words[(lines - 1) * WORDS]);
}

int main(int argc, char **argv)
{
    const unsigned kib = number(argc, argv, 1, 420, 1 << 20, arguments);

    rounds = number(argc, argv, 2, 1000, 100000000, arguments);
    lines = kib * (1024 / LINE);
    buffer = block((size_t)kib * 1024);
    printf("%08x\n", (unsigned)observe());
    return 0;
}
