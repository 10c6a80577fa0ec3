/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.c - threads that all call the observed function without a rest: where the call of one is
 * measured, others are about to hit the trap that is taken out for that.
 *
 *   crowd THREADS [f] CLOCK
 *
 * With f each has children now and then, which call it once and end. Ends with 5 when each made all
 * its calls. A call takes 1000 of the clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 100, MOST = 64 };

static char area[4096 * 3] = {1};
static _Atomic uint64_t *now;
static _Atomic int calls, lost;
static int with_children;
static pthread_barrier_t all;

__attribute__((noipa)) static void observed(void)
{
    for (volatile int i = 0; with_children && i < 3000; i++)
        ; /* it is not over at once: stops of others come between */
    *now += 1000;
    calls++;
}

static void bear(void)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        observed();
        _exit(0);
    }
    lost += waitpid(child, &status, 0) != child || status != 0;
}

static void *call(void *arg)
{
    pthread_barrier_wait(&all); /* stacks are there from then on, */
    for (int i = 0; i < CALLS; i++) {
        observed();
        if (with_children && i % 10 == 5)
            bear();
    }
    pthread_barrier_wait(&all); /* and until then */
    return arg;
}

int main(int argc, char **argv)
{
    const int threads = argc > 2 ? atoi(argv[1]) : 1;
    pthread_t t[MOST];

    with_children = argc > 3;
    area[4096] = (char)threads;
    now = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[argc - 1], O_RDWR), 0);
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int i = 0; i < threads && i < MOST; i++)
        if (pthread_create(&t[i], NULL, call, NULL) != 0)
            return 1;
    for (int i = 0; i < threads && i < MOST; i++)
        pthread_join(t[i], NULL);
    return calls == threads * CALLS && !lost ? 5 : 2;
}
