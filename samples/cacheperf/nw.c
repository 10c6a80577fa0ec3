/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nw - row 11 of CachePerf's Table 2, after Needleman-Wunsch of Rodinia.
 *
 * A tile of a large matrix is worked on along its diagonals. Rows are a multiple of a way apart, so
 * that the tile has all its lines on a few sets. Mended: rows are padded by a line.
 */
#include "mini.h"

enum { TILE = 64, COLUMNS = WAY / (int)sizeof(int) + (MENDED ? 5 * LINE / 4 : 0) };

static int largest(int a, int b, int c)
{
    const int d = a > b ? a : b;

    return d > c ? d : c;
}

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 400);
    int(*m)[COLUMNS] = BLOCK((TILE + 1) * sizeof *m); /* OBJECT */

    memset(m, 0, (TILE + 1) * sizeof *m);
    for (unsigned r = 0; r < rounds; r++) {
        for (int d = 0; d < 2 * TILE - 1; d++)
            for (int i = d < TILE ? 0 : d - TILE + 1; i <= d && i < TILE; i++) {
                const int j = d - i;
                const int from_left = m[i + 1][j] - 10;                              /* MISS */
                m[i + 1][j + 1] = largest(m[i][j] + 1, from_left, m[i][j + 1] - 10); /* MISS */
            }
        USE(m);
    }
    free(m);
    return 0;
}
