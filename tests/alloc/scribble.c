/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scribble SEED: writes what it likes into the memory that it shares with a capture, amidst
 * allocations.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    unsigned long from = 0, to = 0;
    char line[4096];
    FILE *f = fopen("/proc/self/maps", "r");

    while (f && fgets(line, sizeof(line), f))
        if (strstr(line, "memfd:cf-alloc"))
            (void)sscanf(line, "%lx-%lx", &from, &to);
    if (!from)
        return 2;
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < 200; k++) {
            uint64_t at, what;

            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            /* Mostly where something stands: places of processes and rings, and the first ring. */
            at = (seed >> 20) % (k % 2 ? 4096 + 33 * 4096 : to - from);
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            what = k % 3 ? seed >> (seed >> 58) : (uint64_t)(seed >> 62) << 56 | (seed >> 40);
            /* Not the page of the head: it says whether there is a capture. */
            if (at >= 4096)
                memcpy((void *)(from + at / 8 * 8), &what, sizeof(what));
        }
        usleep(500);
    }
    _exit(0);
}
