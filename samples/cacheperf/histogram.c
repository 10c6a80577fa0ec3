/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram - row 3 of CachePerf's Table 2, after the program of Phoenix.
 *
 * Each thread counts the colours of its part of a picture in counters of its own, which lie one
 * behind the other. In the picture red is always 0 and blue 255, as in the paper (section 4.1): the
 * last counter of a thread and the first one of the next are on one line. Mended: a line between.
 */
#include "mini.h"

enum { PIXELS = 4096 };

struct counters {
    int thread;
    unsigned red[256], green[256], blue[256];
#if MENDED
    char apart[2 * LINE - sizeof(int)];
#endif
};

static unsigned rounds;
static struct counters *counters;
static uint8_t picture[THREADS][PIXELS][3];

static void *work(void *arg)
{
    volatile struct counters *own = &counters[(intptr_t)arg];
    const uint8_t(*pixel)[3] = picture[(intptr_t)arg];

    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < PIXELS; i++) {
            own->blue[pixel[i][0]]++; /* MISS */
            own->green[pixel[i][1]]++;
            own->red[pixel[i][2]]++; /* MISS */
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
    counters = calloc(THREADS, sizeof *counters); /* OBJECT */
    run_threads(work, THREADS);
    free(counters);
    return 0;
}
