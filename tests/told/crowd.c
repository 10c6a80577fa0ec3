/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.c - threads that all call the observed function without a rest: where the call of one is
 * measured, others are about to hit the trap that is taken out for that.
 *
 *   crowd THREADS CLOCK
 *
 * Ends with 5 when each made all its calls. A call takes 1000 of the clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { CALLS = 100, MOST = 64 };

static char area[4096 * 3] = {1};
static _Atomic uint64_t *now;
static _Atomic int calls;
static pthread_barrier_t all;

__attribute__((noipa)) static void observed(void)
{
    *now += 1000;
    calls++;
}

static void *call(void *arg)
{
    pthread_barrier_wait(&all); /* stacks are there from then on, */
    for (int i = 0; i < CALLS; i++)
        observed();
    pthread_barrier_wait(&all); /* and until then */
    return arg;
}

int main(int argc, char **argv)
{
    const int threads = argc > 2 ? atoi(argv[1]) : 1;
    pthread_t t[MOST];

    area[4096] = (char)threads;
    now = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[argc - 1], O_RDWR), 0);
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int i = 0; i < threads && i < MOST; i++)
        if (pthread_create(&t[i], NULL, call, NULL) != 0)
            return 1;
    for (int i = 0; i < threads && i < MOST; i++)
        pthread_join(t[i], NULL);
    return calls == threads * CALLS ? 5 : 2;
}
