/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bomb - the benchmark BOMB of "Observing the Invisible", section 7.6.
 *
 * Reads a buffer of 2.5 MB, more than the cache has, from its beginning to its end, again and
 * again: whatever runs beside it on a shared cache loses lines to it.
 *
 *   bomb [BYTES [TIMES]]     bytes of the buffer [2621440], how often it is read [400]
 *
 * Of each line of 64 bytes one word is read, which is the most that it can do to a cache in a time.
 */
#include "kernel.h"

enum { LINE = 64 };

int main(int argc, char **argv)
{
    size_t bytes = argument(argc, argv, 1, 2560 << 10), times = argument(argc, argv, 2, 400);
    /* of memory that was only read, all pages are one, Linux's page of zeros: so it is asked for */
    volatile uint64_t *buffer = memory(argv[0], NULL, bytes, MAP_POPULATE);
    uint64_t sum = 0;

    for (size_t t = 0; t < times; t++)
        for (size_t i = 0; i + LINE <= bytes; i += LINE)
            sum += buffer[i / sizeof(uint64_t)];
    return sum != 0;
}
