/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adi - rows 6 and 7 of CachePerf's Table 2, after ADI of PolyBench.
 *
 * Both sweeps go down the columns of matrices whose rows are as far apart as a way is large: all
 * lines of a column fall on one set. In the second sweep the next access after the one that misses
 * goes along a row, so that a profiler that names the instruction after (skid) takes it for a
 * capacity miss, as in the paper (section 4.2). Mended: rows are padded by a line.
 */
#include "mini.h"

enum { ROWS = 64, USED = 16, COLUMNS = WAY / (int)sizeof(double) + (MENDED ? 3 * LINE / 8 : 0) };

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 400);
    double(*p)[COLUMNS] = BLOCK(2 * ROWS * sizeof *p); /* OBJECT */
    double(*q)[COLUMNS] = p + ROWS;
    double *along = calloc(ROWS, sizeof *along);

    for (int i = 0; i < 2 * ROWS; i++)
        memset(p[i], 0, USED * sizeof **p);
    for (unsigned r = 0; r < rounds; r++) {
        for (int j = 0; j < USED; j++)
            for (int i = 1; i < ROWS; i++)
                q[i][j] = q[i][j] * 0.5 + 1; /* MISS 6 */
        for (int j = 0; j < USED; j++)
            for (int i = 1; i < ROWS; i++)
                along[i] += p[i][j]; /* MISS 7 */
    }
    USE(along[1]);
    free(along);
    free(p);
    return 0;
}
