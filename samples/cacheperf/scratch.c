/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scratch - row 1 of CachePerf's Table 2, after cache-scratch of the Hoard benchmarks.
 *
 * The main thread allocates a small object for each thread, from one run of memory. Each thread
 * releases its own and allocates another: an allocator that hands the same memory out again gives
 * objects of several threads that lie on one line. Mended: objects of a whole line.
 */
#include "mini.h"

enum { BYTES = MENDED ? LINE : 8, WRITES = 400 };

static unsigned rounds;
static char *first[THREADS];

static void *object(void)
{
    return MENDED ? aligned_alloc(LINE, BYTES) : malloc(BYTES); /* OBJECT */
}

static void *work(void *arg)
{
    free(first[(intptr_t)arg]);
    for (unsigned r = 0; r < rounds; r++) {
        volatile char *own = object();
        for (int w = 0; w < WRITES; w++)
            for (int k = 0; k < 8; k++)
                own[k] = (char)(own[k] + k); /* MISS */
        free((void *)own);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 60);
    for (int i = 0; i < THREADS; i++)
        first[i] = object();
    run_threads(work, THREADS);
    return 0;
}
