/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * harmless - row 5 of CachePerf's Table 2, after work_mem of streamcluster.
 *
 * Threads write results that lie side by side, but once in many thousand accesses: false sharing
 * that costs nothing, and that is not to be reported (section 4.2.4). Mended: a line each.
 */
#include "mini.h"

enum { ITEMS = 2048, APART = MENDED ? LINE / (int)sizeof(double) : 1 };

static unsigned rounds;
static double *results;
static double items[THREADS][ITEMS / 2];

static void *work(void *arg)
{
    const intptr_t me = (intptr_t)arg;

    for (unsigned r = 0; r < rounds; r++) {
        double sum = 0;
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < ITEMS / 2; i++)
                note(0, (unsigned)(sum += ((volatile double *)items[me])[i]));
        *(volatile double *)&results[me * APART] += sum;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 100);
    results = calloc((size_t)THREADS * APART, sizeof *results);
    run_threads(work, THREADS);
    free(results);
    return 0;
}
