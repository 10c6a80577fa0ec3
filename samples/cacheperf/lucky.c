/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lucky - the defect of histogram in a layout that hides it: counters of threads lie one behind the
 * other without anything between, but each thread's begin and end where a line does. Nothing is to
 * be reported.
 */
#include "mini.h"

enum { PIXELS = 4096 };

static unsigned rounds;
static unsigned (*counters)[3][256];
static uint8_t picture[THREADS][PIXELS][3];

static void *work(void *arg)
{
    volatile unsigned(*own)[256] = counters[(intptr_t)arg];
    const uint8_t(*pixel)[3] = picture[(intptr_t)arg];

    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < PIXELS; i++) {
            own[2][pixel[i][0]]++;
            own[1][pixel[i][1]]++;
            own[0][pixel[i][2]]++;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 20);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < PIXELS; i++) {
            picture[t][i][0] = 255;
            picture[t][i][1] = (uint8_t)(64 + i % 128);
        }
    counters = BLOCK(THREADS * sizeof *counters);
    memset(counters, 0, THREADS * sizeof *counters);
    run_threads(work, THREADS);
    free(counters);
    return 0;
}
