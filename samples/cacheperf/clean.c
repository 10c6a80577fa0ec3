/* SPDX-License-Identifier: BSD-2-Clause */
/* clean - a program without a defect: products of matrices that fit the cache. */
#include "mini.h"

enum { SIDE = 32 };

static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 50);

    for (unsigned r = 0; r < rounds; r++)
        for (int i = 0; i < SIDE; i++)
            for (int k = 0; k < SIDE; k++)
                for (int j = 0; j < SIDE; j++)
                    c[i][j] += a[i][k] * b[k][j];
    USE(c[1][1] > 0);
    return 0;
}
