/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srad - rows 13 and 18 of CachePerf's Table 2, after SRAD of Rodinia (Fig. 5).
 *
 * Row 13: a region of a picture is summed with the loops in the wrong order: the inner one goes
 * from column to column, which are a way apart. Row 18: an array larger than the cache is gone
 * through again and again, where part after part would do; it shows only when the first defect is
 * mended. MENDED=1: the loops are switched, and columns padded by a line, so that the region stays
 * in the cache. MENDED=2: the second one as well, tile by tile.
 */
#include "mini.h"

enum { COLUMNS = 64, ROWS = WAY + (MENDED ? LINE : 0), REGION = 64, SUMS = 500, CELLS = 12288 };

static unsigned sum_region(const uint8_t *image)
{
    unsigned sum = 0;

    for (int a = 0; a < (MENDED ? COLUMNS : REGION); a++)
        for (int b = 0; b < (MENDED ? REGION : COLUMNS); b++)
            sum += image[MENDED ? b + ROWS * a : a + ROWS * b]; /* MISS 13 */
    return sum;
}

static void derive(float *north, unsigned sum)
{
    const int tile = MENDED == 2 ? CELLS / 12 : CELLS;

    for (int t = 0; t < CELLS; t += tile)
        for (int pass = 0; pass < 20; pass++)
            for (int i = t; i < t + tile; i++)
                ((volatile float *)north)[i] = (float)(sum + (unsigned)(i + pass)); /* MISS 18 */
}

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 6);
    uint8_t *image = BLOCK(COLUMNS * ROWS); /* OBJECT 13 */
    float *north = BLOCK(CELLS * 4);        /* OBJECT 18 */
    unsigned sum = 0;

    for (int c = 0; c < COLUMNS; c++)
        memset(image + c * ROWS, 1, REGION);
    for (unsigned r = 0; r < rounds; r++) {
        for (int k = 0; k < SUMS; k++)
            sum += sum_region(image);
        derive(north, sum);
    }
    USE(sum);
    free(north);
    free(image);
    return 0;
}
