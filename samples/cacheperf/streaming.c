/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streaming - row 19 of CachePerf's Table 2, after dist() of streamcluster.
 *
 * All points are read in sequence, again and again, and do not fit the cache. Mended: a block of
 * points is compared with all centres before the next one.
 */
#include "mini.h"

enum { FLOATS = 64 << 10, BLOCKS = MENDED ? 32 : 1, SOME = 16 };

static float distance(const float *point, int count, float centre)
{
    float sum = 0;

    for (int i = 0; i < count; i += SOME) {
        for (int k = i; k < i + SOME; k++)
            sum += (point[k] - centre) * (point[k] - centre); /* MISS */
        notes(SOME, sum > 1);
    }
    return sum;
}

int main(int argc, char **argv)
{
    const unsigned centres = repeats(argc, argv, 60);
    float *points = BLOCK(FLOATS * sizeof *points); /* OBJECT */
    float sum = 0;

    memset(points, 0, FLOATS * sizeof *points);
    for (int b = 0; b < BLOCKS; b++)
        for (unsigned c = 0; c < centres; c++)
            sum += distance(points + b * (FLOATS / BLOCKS), FLOATS / BLOCKS, (float)c);
    USE(sum > 1);
    free(points);
    return 0;
}
