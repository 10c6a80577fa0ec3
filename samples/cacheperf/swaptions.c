/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swaptions - row 14 of CachePerf's Table 2, after the program of PARSEC.
 *
 * Paths are simulated in a matrix whose rows are a way apart, a column after the other; most of the
 * work is elsewhere, so that little is to be gained. Mended: rows are padded by a line.
 */
#include "mini.h"

enum { STEPS = 16, USED = 16, FACTORS = 8, COLUMNS = WAY / 8 + (MENDED ? 3 * LINE / 8 : 0) };

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 1500);
    double(*path)[COLUMNS] = BLOCK(STEPS * sizeof *path); /* OBJECT */
    double factor[FACTORS] = {1, 2, 3, 4, 5, 6, 7, 8};

    memset(path, 0, STEPS * sizeof *path);
    for (unsigned r = 0; r < rounds; r++)
        for (int b = 0; b < USED; b++)
            for (int j = 1; j < STEPS; j++) {
                double drift = 0;
                for (int f = 0; f < FACTORS; f++)
                    drift += ((volatile double *)factor)[f];
                path[j][b] = path[j][b] * 0.5 + drift; /* MISS */
            }
    free(path);
    return 0;
}
