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

enum { BYTES = MENDED ? LINE : 8, OBJECTS = 4, WRITES = 1000 };

static unsigned rounds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static pthread_barrier_t all_there;

/* Allocates when it is this thread's turn: every two threads have objects side by side. */
static void *object(int thread)
{
    void *made;

    pthread_mutex_lock(&lock);
    while ((turn + turn / THREADS) % THREADS != thread)
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
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < OBJECTS; i++)
        own[i] = object((int)(intptr_t)arg);
    pthread_barrier_wait(&all_there);
    for (unsigned r = 0; r < rounds * WRITES; r++)
        for (int i = 0; i < OBJECTS; i++)
            own[i][r & 7]++; /* MISS */
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < OBJECTS; i++)
        free((void *)own[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 60);
    mallopt(M_ARENA_MAX, 1);
    pthread_barrier_init(&all_there, NULL, THREADS);
    run_threads(work, THREADS);
    return 0;
}
