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

/* 40 bytes, so that wherever they begin at a multiple of 16 no line ends between two of them. */
struct sums {
    const struct point *points;
    long count;
    int sx, sxx, sy, syy, sxy;
#if MENDED
    char apart[2 * LINE - 36];
#endif
};

static unsigned rounds;
static struct sums *all;
static struct point points[POINTS];

static void *work(void *arg)
{
    volatile struct sums *s = &all[(intptr_t)arg];

    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < s->count; i++) {
            s->sx += s->points[i].x;                   /* MISS */
            s->sxx += s->points[i].x * s->points[i].x; /* MISS */
            s->sy += s->points[i].y;                   /* MISS */
            s->syy += s->points[i].y * s->points[i].y; /* MISS */
            s->sxy += s->points[i].x * s->points[i].y; /* MISS */
        }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = repeats(argc, argv, 20);
    for (int i = 0; i < POINTS; i++)
        points[i] = (struct point){(int8_t)i, (int8_t)(i / 3)};
    all = calloc(THREADS, sizeof *all); /* OBJECT */
    for (int t = 0; t < THREADS; t++) {
        all[t].points = points;
        all[t].count = POINTS;
    }
    run_threads(work, THREADS);
    free(all);
    return 0;
}
