/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_alloc [-n COUNT] [-d DEPTH] [-p PATHS] [-w WORK] [-t THREADS] [-l LIVE]: a program that
 * allocates COUNT times, each from the bottom of DEPTH calls of one of PATHS ways through its
 * functions, and releases the oldest of LIVE objects [1000]. WORK is done in between: rounds of a
 * multiplication, some nanoseconds each; 0: the rounds that make a million allocations a second,
 * which it prints first.
 *
 * Prints nanoseconds of CPU an allocation, and the most memory that was resident, in KiB.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static unsigned long count = 1000000, depth = 16, paths = 1, work, threads = 1, live = 1000;
static volatile uint64_t sink;

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work_for(unsigned long rounds)
{
    uint64_t x = rounds;

    for (unsigned long i = 0; i < rounds; i++) {
        x = x * 0x9e3779b97f4a7c15ULL + i;
        __asm__ volatile("" : "+r"(x));
    }
    sink = x;
}

static void *go_down(unsigned long left, unsigned long way, size_t bytes);

#define WAY(name)                                                                                  \
    __attribute__((noinline)) static void *name(unsigned long left, unsigned long way,             \
                                                size_t bytes)                                      \
    {                                                                                              \
        void *p = go_down(left, way, bytes);                                                       \
                                                                                                   \
        __asm__ volatile("" ::: "memory");                                                         \
        return p;                                                                                  \
    }

WAY(left_way)
WAY(right_way)

/* Two frames a step, and one at the end. */
__attribute__((noinline)) static void *go_down(unsigned long left, unsigned long way, size_t bytes)
{
    void *p = left == 0 ? malloc(bytes)
              : way & 1 ? left_way(left - 1, way >> 1, bytes)
                        : right_way(left - 1, way >> 1, bytes);

    __asm__ volatile("" ::: "memory");
    return p;
}

static void *run(void *unused)
{
    char **window = calloc(live, sizeof(*window));
    uint64_t random = 1;

    (void)unused;
    for (unsigned long i = 0; i < count / threads; i++) {
        size_t bytes;

        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        bytes = 16 + (random >> 60) * 16;
        free(window[i % live]);
        window[i % live] = go_down(depth / 2, (random >> 33) % paths, bytes);
        window[i % live][0] = 1;
        work_for(work);
    }
    for (unsigned long i = 0; i < live; i++)
        free(window[i]);
    free(window);
    return NULL;
}

/* Rounds of work for which one allocation takes a microsecond. */
static void calibrate(void)
{
    const unsigned long all = count;
    double begun, alone, rounds;

    count = 200000;
    run(NULL);
    begun = cpu();
    run(NULL);
    alone = (cpu() - begun) / 200000;
    begun = cpu();
    work_for(10000000);
    rounds = (cpu() - begun) / 10000000;
    printf("%.0f\n", alone < 1000 ? (1000 - alone) / rounds : 0);
    count = all;
}

int main(int argc, char **argv)
{
    pthread_t thread[256];
    struct rusage usage;
    double begun;
    int c, given = 0;

    while ((c = getopt(argc, argv, "n:d:p:w:t:l:")) != -1) {
        const unsigned long v = optarg ? strtoul(optarg, NULL, 0) : 0;

        given |= c == 'w';
        *(c == 'n'   ? &count
          : c == 'd' ? &depth
          : c == 'p' ? &paths
          : c == 'w' ? &work
          : c == 't' ? &threads
                     : &live) = v;
    }
    if (!threads || threads > 256 || !paths || !live)
        return 2;
    if (!given) {
        calibrate();
        return 0;
    }
    begun = cpu();
    for (unsigned long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            return 3;
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    getrusage(RUSAGE_SELF, &usage);
    printf("%.1f %ld\n", (cpu() - begun) / (double)count, usage.ru_maxrss);
    return 0;
}
