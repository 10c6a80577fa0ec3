/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cacheperf-cost RUNS COMMAND [ARGUMENT]... - runs a command so often, drops what it prints, and
 * prints the milliseconds of processor time of the run in the middle, those by the clock of the run
 * in the middle, and the KiB of the largest process.
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

static double milliseconds(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* Of all runs so far. */
static struct rusage used(void)
{
    struct rusage all;

    if (getrusage(RUSAGE_CHILDREN, &all) != 0)
        exit(3);
    return all;
}

static int by_size(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* 0 when the command succeeds. */
static int run(char **command)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        const int null = open("/dev/null", O_RDWR);

        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
            _exit(3);
        execvp(*command, command);
        perror(*command);
        _exit(3);
    }
    return child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    const long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    double *took, before = 0;

    if (runs < 1 || runs > 1000000 || !(took = calloc((size_t)runs, 2 * sizeof *took))) {
        fputs("usage: cacheperf-cost RUNS COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    for (long i = 0; i < runs; i++) {
        const double begun = now();

        if (run(argv + 2) != 0) {
            fprintf(stderr, "cacheperf-cost: %s failed\n", argv[2]);
            return 1;
        }
        took[runs + i] = now() - begun;
        took[i] = milliseconds(used().ru_utime) + milliseconds(used().ru_stime) - before;
        before += took[i];
    }
    qsort(took, (size_t)runs, sizeof *took, by_size);
    qsort(took + runs, (size_t)runs, sizeof *took, by_size);
    printf("%.1f %.1f %ld\n", took[(runs - 1) / 2], took[runs + (runs - 1) / 2], used().ru_maxrss);
    free(took);
    return 0;
}
