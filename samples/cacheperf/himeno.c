/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * himeno - row 8 of CachePerf's Table 2, after the stencil of HimenoBMT.
 *
 * Several grids, each a multiple of a way apart, are read at the same place: more lines of one set
 * than it has ways. Mended: a line between the grids.
 */
#include "mini.h"

enum { GRIDS = 12, CELLS = 128, APART = (WAY + (MENDED ? 3 * LINE : 0)) / (int)sizeof(float) };

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 3000);
    float *grids = BLOCK(GRIDS * APART * sizeof *grids); /* OBJECT */

    memset(grids, 0, GRIDS * APART * sizeof *grids);
    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < CELLS; i += 2) {
            float sum = 0;
            for (int g = 0; g < GRIDS; g++)
                sum += grids[g * APART + i]; /* MISS */
            note((unsigned)i, sum > 1);
        }
    free(grids);
    return 0;
}
