/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irs - row 17 of CachePerf's Table 2, after the statement of IRS in Fig. 7.
 *
 * One statement multiplies elements of many arrays, which together exceed the cache. Mended: a part
 * of all arrays that fits is gone through for all rounds before the next one.
 */
#include "mini.h"

enum { ARRAYS = 6, CELLS = 4096 + 24, TILE = MENDED ? 256 : CELLS };

static void multiply(double *b, double **d, int from, int to)
{
    for (int i = from; i < to; i++)
        b[i] = d[0][i] * d[1][i] + d[2][i] * d[3][i] + d[4][i] * d[5][i]; /* MISS */
}

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 300);
    double *b = calloc(CELLS, sizeof *b), *d[ARRAYS];

    for (int k = 0; k < ARRAYS; k++) {
        d[k] = calloc(CELLS, sizeof *b); /* OBJECT */
        memset(d[k], 0, CELLS * sizeof *b);
    }
    for (int from = 0; from < CELLS; from += TILE)
        for (unsigned r = 0; r < rounds; r++)
            multiply(b, d, from, from + TILE < CELLS ? from + TILE : CELLS);
    USE(b[1] > 0);
    for (int k = 0; k < ARRAYS; k++)
        free(d[k]);
    free(b);
    return 0;
}
