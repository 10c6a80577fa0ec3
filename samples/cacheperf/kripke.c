/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kripke - row 9 of CachePerf's Table 2, after Kripke (Fig. 2).
 *
 * The loops are in the wrong order: the inner one goes from row to row, which are a way apart. All
 * sets miss alike, so that counts by set do not show the conflict. Mended: the loops are switched.
 */
#include "mini.h"

enum { ROWS = 32 };

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 40);
    uint8_t(*m)[WAY] = BLOCK(ROWS * sizeof *m); /* OBJECT */
    unsigned sum = 0;

    memset(m, 1, ROWS * sizeof *m);
    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < (MENDED ? ROWS : WAY); i++)
            for (int j = 0; j < (MENDED ? WAY : ROWS); j++) {
                sum += MENDED ? m[i][j] : m[j][i]; /* MISS */
                if (j % ROWS == ROWS - 1)
                    notes(ROWS, sum);
            }
    USE(sum);
    free(m);
    return 0;
}
