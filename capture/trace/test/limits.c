/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What works natively and once failed when recorded:
 *
 *     threads N   N threads at a time
 *     stack N     N MiB of the main thread's stack
 *     self, pid   runs itself again by /proc/self/exe, by /proc/PID/exe; then exits with 5
 *     heap        blocks of sizes that nobody else allocates, by each function of C
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t all;
static void *volatile kept; /* so that the compiler leaves allocations in */

static void *thread(void *p)
{
    pthread_barrier_wait(&all);
    return p;
}

static int threads(int n)
{
    pthread_t *t = calloc((size_t)n, sizeof(*t));
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i], &small, thread, NULL) != 0)
            return 1;
    pthread_barrier_wait(&all);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    return 0;
}

static int deep(int n)
{
    volatile char here[65536];

    here[0] = (char)n;
    return n ? deep(n - 1) + here[0] : 0;
}

static __attribute__((noinline)) void heap(void)
{
    void *p = NULL, *q;

    kept = p = malloc(1001);
    kept = q = realloc(p, 100002); /* in another place */
    kept = p = realloc(q, 100003); /* perhaps in the same */
    free(p);
    kept = p = calloc(7, 1004);
    kept = q = realloc(NULL, 1005);
    free(p);
    free(q);
    if (posix_memalign(&p, 64, 1006) == 0)
        free(p);
    kept = p = aligned_alloc(64, 1024 + 64);
    free(p);
    kept = malloc(1007); /* and never released */
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    char path[64] = "/proc/self/exe";

    if (strcmp(what, "threads") == 0)
        return threads(n);
    if (strcmp(what, "stack") == 0)
        return deep(16 * n) == 1;
    if (strcmp(what, "again") == 0)
        return 5;
    if (strcmp(what, "heap") == 0) {
        heap();
        return 0;
    }
    if (strcmp(what, "pid") == 0)
        snprintf(path, sizeof(path), "/proc/%d/exe", (int)getpid());
    execl(path, argv[0], "again", (char *)NULL);
    perror(path);
    return 1;
}
