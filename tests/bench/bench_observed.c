/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_observed FILE - a program for cf-capture pages to time: observed() goes on for 500,000
 * ticks of the clock that such a capture reads, and then the program adds to FILE how long that
 * was, in ticks and in nanoseconds. So what the capture adds to the time is known.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "capture/base/cf_clock.h"

static char area[2 * 4096] __attribute__((aligned(4096))) = {1};
static uint64_t took;

__attribute__((noinline)) void observed(uint64_t ticks)
{
    const uint64_t begin = cf_clock();

    while ((took = cf_clock() - begin) < ticks)
        ((volatile char *)area)[4096]++;
}

static uint64_t nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
    uint64_t begin, ns;
    FILE *f;

    took = cf_clock(); /* what it asks the system the first time comes before */
    begin = nanoseconds();
    observed(500000);
    ns = nanoseconds() - begin;
    f = fopen(argc > 1 ? argv[1] : "/dev/null", "a");
    return !f || fprintf(f, "%" PRIu64 " %" PRIu64 "\n", took, ns) < 0 || fclose(f) != 0;
}
