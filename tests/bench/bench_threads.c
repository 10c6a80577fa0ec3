/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_threads: a program to be traced: two threads that each walk an array of their own and add
 * to a shared counter now and then, about 30 million accesses. Prints a sum, always the same.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { CELLS = 1 << 15, ROUNDS = 120 };

static uint64_t array[2][CELLS], shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *walk(void *arg)
{
    volatile uint64_t *mine = array[(intptr_t)arg];

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 1; i < CELLS; i++)
            mine[i] = mine[i - 1] + i + round;
        pthread_mutex_lock(&lock);
        shared += mine[CELLS - 1];
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    for (intptr_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, walk, (void *)i))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)shared);
    return 0;
}
