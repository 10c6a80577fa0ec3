/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thrash - row 2 of CachePerf's Table 2, after cache-thrash of the Hoard benchmarks.
 *
 * Threads allocate small objects in turn. An allocator that serves all threads from one place, as
 * TCMalloc's in the paper does and the C library's here with one arena, puts objects of several
 * threads on one line. Mended: objects of a whole line.
 */
#include <malloc.h>

#include "mini.h"

enum { BYTES = MENDED ? LINE : 8, OBJECTS = 4, WRITES = 100 };

static unsigned rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* Allocates when it is this thread's turn, so that the objects of the threads alternate. */
static void *object(int thread)
{
    void *made;

    pthread_mutex_lock(&lock);
    while (turn % THREADS != thread)
        pthread_cond_wait(&changed, &lock);
    made = MENDED ? aligned_alloc(LINE, BYTES) : malloc(BYTES); /* OBJECT */
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return made;
}

static void *work(void *arg)
{
    volatile char *own[OBJECTS];

    free(malloc(1000)); /* what the allocator keeps for a thread comes before the objects */
    for (int i = 0; i < OBJECTS; i++)
        own[i] = object((int)(intptr_t)arg);
    for (unsigned r = 0; r < rounds * WRITES; r++)
        for (int i = 0; i < OBJECTS; i++)
            for (int k = 0; k < 8; k++)
                own[i][k] = (char)(own[i][k] + k); /* MISS */
    for (int i = 0; i < OBJECTS; i++)
        free((void *)own[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 60);
    mallopt(M_ARENA_MAX, 1);
    run_threads(work, THREADS);
    return 0;
}
