/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf-cost RUNS COMMAND [ARGUMENT]... - runs a command so often, drops what it prints, and
 * prints the milliseconds of the run in the middle and the KiB of the largest process that it was.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
    const long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    double *took = runs > 0 && runs < 1000000 ? calloc((size_t)runs, sizeof *took) : NULL;
    struct rusage all;

    if (!took) {
        fputs("usage: cacheperf-cost RUNS COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    for (long i = 0; i < runs; i++) {
        const double begun = now();
        const pid_t child = fork();
        int status;

        if (child == 0) {
            const int null = open("/dev/null", O_RDWR);

            if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
                _exit(3);
            execvp(argv[2], argv + 2);
            perror(argv[2]);
            _exit(3);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 0) {
            fprintf(stderr, "cacheperf-cost: %s failed\n", argv[2]);
            return 1;
        }
        took[i] = now() - begun;
    }
    qsort(took, (size_t)runs, sizeof *took, by_size);
    if (getrusage(RUSAGE_CHILDREN, &all) != 0)
        return 3;
    printf("%.1f %ld\n", took[(runs - 1) / 2], all.ru_maxrss);
    free(took);
    return 0;
}
