/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fft - row 10 of CachePerf's Table 2, after the two-dimensional transform of MKL.
 *
 * Butterflies down the columns of a matrix whose side is a power of two. Mended: rows are padded.
 */
#include "mini.h"

enum { SIDE = 64, USED = 8, COLUMNS = WAY / 16 + (MENDED ? 4 : 0) };

struct number {
    double re, im;
};

static void butterfly(struct number *a, struct number *b)
{
    const struct number was = *a; /* MISS */

    a->re = was.re + b->re; /* MISS */
    a->im = was.im + b->im;
    b->re = was.re - b->re;
    b->im = was.im - b->im;
}

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 150);
    struct number(*m)[COLUMNS] = BLOCK(SIDE * sizeof *m); /* OBJECT */

    for (int i = 0; i < SIDE; i++)
        memset(m[i], 0, USED * sizeof **m);
    for (unsigned r = 0; r < rounds; r++) {
        for (int column = 0; column < USED; column++)
            for (int half = SIDE / 2; half >= 1; half /= 2)
                for (int i = 0; i < SIDE; i += 2 * half)
                    for (int k = i; k < i + half; k++)
                        butterfly(&m[k][column], &m[k + half][column]);
        USE(m);
    }
    free(m);
    return 0;
}
