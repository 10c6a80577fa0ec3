/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "capture/base/cf_clock.h"

#if !defined(__aarch64__)
static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}
#endif

#if defined(__x86_64__)

static int steady(void)
{
    static int known = -1;
    char line[8192];
    FILE *f;

    if (known >= 0)
        return known;
    known = 0;
    f = fopen("/proc/cpuinfo", "re");
    while (f && !known && fgets(line, sizeof line, f))
        known = !strncmp(line, "flags", 5) && strstr(line, " constant_tsc") &&
                strstr(line, " nonstop_tsc");
    if (f)
        fclose(f);
    return known;
}

uint64_t cf_clock(void)
{
    uint64_t ticks;

    if (!steady())
        return now_ns();
    /* after all that comes before (Intel SDM, volume 2B, RDTSC); not every processor has RDTSCP */
    _mm_lfence();
    ticks = __rdtsc();
    _mm_lfence();
    return ticks;
}

const char *cf_clock_name(void)
{
    return steady() ? "tsc" : "clock_monotonic";
}

uint64_t cf_clock_hz(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t ns, ticks;

    if (!steady())
        return 1000000000;
    ns = now_ns();
    ticks = cf_clock();
    nanosleep(&pause, NULL);
    ns = now_ns() - ns;
    ticks = cf_clock() - ticks;
    return (uint64_t)((double)ticks * 1e9 / (double)ns / 1e5 + 0.5) * 100000;
}

#elif defined(__aarch64__)

uint64_t cf_clock(void)
{
    uint64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
    return ticks;
}

const char *cf_clock_name(void)
{
    return "cntvct";
}

uint64_t cf_clock_hz(void)
{
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

#else

uint64_t cf_clock(void)
{
    return now_ns();
}

const char *cf_clock_name(void)
{
    return "clock_monotonic";
}

uint64_t cf_clock_hz(void)
{
    return 1000000000;
}

#endif
