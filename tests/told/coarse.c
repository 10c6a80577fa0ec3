/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coarse.c - in place of capture/base/cf_clock.c, for tests: a clock that advances by CF_TOLD_STEP
 * nanoseconds at once; 0, and it stands still.
 */
#include <stdlib.h>
#include <time.h>

#include "capture/base/cf_clock.h"

uint64_t cf_clock(void)
{
    static uint64_t step = UINT64_MAX;
    struct timespec now;

    if (step == UINT64_MAX)
        step = strtoull(getenv("CF_TOLD_STEP"), NULL, 10);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return step ? ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / step * step : 0;
}

const char *cf_clock_name(void)
{
    return "told";
}

uint64_t cf_clock_hz(void)
{
    return 1000000000;
}
