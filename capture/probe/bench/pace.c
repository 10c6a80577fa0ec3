/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.c - see pace.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/base/cf_clock.h"
#include "capture/probe/bench/pace.h"

enum {
    REFERENCE = 2000, /* dependent multiplications and additions */
    CALIBRATE = 200,  /* times that the clock is read for its step and cost */
    STEPS_A_SECOND = 1000000,
};

static uint64_t loop(unsigned times)
{
    uint64_t ticks = cf_clock(), x = ticks | 1;

    for (unsigned i = 0; i < times; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x)); /* each waits for the one before */
    }
    return cf_clock() - ticks;
}

uint64_t pace_loop(void)
{
    return loop(REFERENCE);
}

/* Ticks by which a clock advances that shows none in a reference loop; UINT64_MAX: it stands. */
static uint64_t wait_for_step(void)
{
    const uint64_t begin = cf_clock();
    struct timespec now, end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    do {
        const uint64_t ticks = cf_clock() - begin;

        if (ticks)
            return ticks;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    return UINT64_MAX;
}

static int order_of_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The clock's step: what times of loops of many lengths differ by at least, where it is more than
   one tick. A clock may count in ticks shorter than it advances by, and then in two numbers of them
   by turns: that of an AMD EPYC by 24 and by 25. Three numbers one after the other are of a clock
   that advances by one. 0: all are alike. */
static uint64_t step_of(uint64_t *time, size_t count)
{
    uint64_t step = 0;
    unsigned ones = 0;

    qsort(time, count, sizeof *time, order_of_times);
    for (size_t i = 1; i < count && ones < 2; i++) {
        const uint64_t by = time[i] - time[i - 1];

        ones = by > 1 ? 0 : ones + (unsigned)by;
        if (by > 1 ? step <= 1 || by < step : by && !step)
            step = by;
    }
    return ones < 2 ? step : 1;
}

void pace_take(struct pace *p)
{
    uint64_t time[CALIBRATE];

    p->best = p->overhead = UINT64_MAX;
    for (unsigned i = 0; i < CALIBRATE; i++) {
        const uint64_t whole = pace_loop(), begin = cf_clock();
        const uint64_t ticks = cf_clock() - begin;

        p->best = whole < p->best ? whole : p->best;
        p->overhead = ticks < p->overhead ? ticks : p->overhead;
        time[i] = loop(i);
    }
    p->step = step_of(time, CALIBRATE);
    if (!p->step)
        p->step = wait_for_step();
}

int pace_check(const struct pace *p, char *why, size_t size)
{
    const uint64_t hz = cf_clock_hz();

    if (p->step == UINT64_MAX)
        snprintf(why, size, "the clock %s stands still", cf_clock_name());
    else if (p->step > hz / STEPS_A_SECOND)
        snprintf(why, size,
                 "the clock %s advances by %.0f ns at once: too coarse to measure caches",
                 cf_clock_name(), (double)p->step * 1e9 / (double)hz);
    else
        return 0;
    return -1;
}
