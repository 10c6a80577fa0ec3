/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bodytrack - row 15 of CachePerf's Table 2, after the program of PARSEC.
 *
 * Points are looked up all over a picture that is larger than the cache. Mended: the points of one
 * tile after those of another.
 */
#include "mini.h"

enum { BYTES = 512 << 10, POINTS = 1 << 14, SOME = 8, TILE = MENDED ? 16 << 10 : BYTES };

int main(int argc, char **argv)
{
    const unsigned rounds = repeats(argc, argv, 200);
    uint8_t *picture = BLOCK(BYTES); /* OBJECT */
    unsigned sum = 0, random = 1;

    memset(picture, 1, BYTES);
    for (unsigned r = 0; r < rounds; r++) {
        const unsigned begin = r * TILE % BYTES;
        for (int i = 0; i < POINTS; i += SOME) {
            for (int k = 0; k < SOME; k++) {
                random = random * 1664525 + 1013904223;
                sum += picture[begin + (random >> 8) % TILE]; /* MISS */
            }
            notes(SOME, sum);
        }
    }
    USE(sum);
    free(picture);
    return 0;
}
