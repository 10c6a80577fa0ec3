/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * synth - the benchmark SYNTH of "Observing the Invisible", section 7.2.
 *
 * Two buffers, 512 KiB each: a full write and then a full read of the first one, then of the
 * second. Snapshots that flush show four bands, one a pass; transparent ones show that the first
 * buffer stays, since both together are smaller than the cache.
 *
 *   synth [BYTES]     bytes of a buffer [524288]
 *
 * The buffers follow each other in one mapping, as those of the paper do, which malloc() gave.
 * Words are accessed one by one in the order of their addresses.
 */
#include "kernel.h"

static void pass_write(volatile uint64_t *buffer, size_t words)
{
    for (size_t i = 0; i < words; i++)
        buffer[i] = i;
}

static uint64_t pass_read(const volatile uint64_t *buffer, size_t words)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < words; i++)
        sum += buffer[i];
    return sum;
}

int main(int argc, char **argv)
{
    size_t words = argument(argc, argv, 1, 512 << 10) / sizeof(uint64_t);
    volatile uint64_t *buffer = memory(argv[0], NULL, 2 * words * sizeof(uint64_t), 0);
    uint64_t want = words ? (uint64_t)words * (words - 1) / 2 : 0;

    for (int which = 0; which < 2; which++) {
        pass_write(buffer + which * words, words);
        if (pass_read(buffer + which * words, words) != want)
            return 1;
    }
    return 0;
}
