/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scratch - row 1 of CachePerf's Table 2, after cache-scratch of the Hoard benchmarks.
 *
 * The main thread allocates small objects for each thread, from one run of memory. Each thread
 * releases its own and allocates others: an allocator that hands the same memory out again gives
 * objects of several threads that lie on one line. Mended: objects of a whole line.
 */
#include "mini.h"

enum { BYTES = MENDED ? LINE : 8, OBJECTS = 3, WRITES = 1000 };

static unsigned rounds;
static char *first[THREADS][OBJECTS];

static void *object(void)
{
    return MENDED ? aligned_alloc(LINE, BYTES) : malloc(BYTES); /* OBJECT */
}

static void *work(void *arg)
{
    volatile char *own[OBJECTS];

    for (int i = 0; i < OBJECTS; i++)
        free(first[(intptr_t)arg][i]);
    for (unsigned r = 0; r < rounds; r++) {
        for (int i = 0; i < OBJECTS; i++)
            own[i] = object();
        for (int w = 0; w < WRITES; w++)
            for (int i = 0; i < OBJECTS; i++)
                own[i][w & 7]++; /* MISS */
        for (int i = 0; i < OBJECTS; i++)
            free((void *)own[i]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 60);
    /* neighbours of every two threads */
    for (int i = 0; i < THREADS * OBJECTS; i++)
        first[(i + i / THREADS) % THREADS][i / THREADS] = object();
    run_threads(work, THREADS);
    return 0;
}
