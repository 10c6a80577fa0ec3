/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regression - row 4 of CachePerf's Table 2, after linear_regression of Phoenix (Fig. 8).
 *
 * The sums of each thread stand in an array of structures smaller than a line, so that those of two
 * threads share one. Mended: each structure on lines of its own.
 */
#include "mini.h"

enum { POINTS = 2048 };

struct point {
    int8_t x, y;
};

/* 24 bytes, so that wherever they begin at a multiple of 16, two neighbours share a line. */
struct sums {
    volatile int sx, sxx, sy, syy, sxy;
#if MENDED
    char apart[2 * LINE - 5 * sizeof(int)];
#else
    int unused;
#endif
};

static unsigned rounds;
static struct sums *all;
static struct point points[POINTS];

static void *work(void *arg)
{
    struct sums *s = &all[(intptr_t)arg];

    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < POINTS; i++) {
            s->sx += points[i].x;                /* MISS */
            s->sxx += points[i].x * points[i].x; /* MISS */
            s->sy += points[i].y;                /* MISS */
            s->syy += points[i].y * points[i].y; /* MISS */
            s->sxy += points[i].x * points[i].y; /* MISS */
        }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 20);
    for (int i = 0; i < POINTS; i++)
        points[i] = (struct point){(int8_t)i, (int8_t)(i / 3)};
    all = calloc(THREADS, sizeof *all); /* OBJECT */
    run_threads(work, THREADS);
    free(all);
    return 0;
}
