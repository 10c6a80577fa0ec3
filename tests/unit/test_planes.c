/* SPDX-License-Identifier: BSD-2-Clause */
/* Values from their planes against the planes that a loop takes them apart into, of all lengths. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/codec/cf_pack.h"
#include "tap.h"

enum { MOST = 300 };

int main(void)
{
    static uint64_t v[MOST], got[MOST];
    static uint32_t half[MOST];
    uint64_t state = 3, wrong_64 = 0, wrong_32 = 0, wrong_few = 0;

    for (size_t n = 0; n < MOST; n++) {
        /* exactly as long as it may be read: a sanitizer sees what goes beyond */
        uint8_t *planes = malloc(8 * n + 1), *four = malloc(4 * n + 1);

        if (!planes || !four)
            return 1;
        for (size_t i = 0; i < n; i++) {
            v[i] = state = state * 6364136223846793005u + 1442695040888963407u;
            for (unsigned b = 0; b < 8; b++)
                planes[b * n + i] = (uint8_t)(v[i] >> 8 * b);
            for (unsigned b = 0; b < 4; b++)
                four[b * n + i] = (uint8_t)(v[i] >> 8 * b);
        }
        cf_from_planes_64(planes, n, n, 8, got);
        cf_from_planes_32(four, n, n, half);
        for (size_t i = 0; i < n; i++) {
            wrong_64 += got[i] != v[i];
            wrong_32 += half[i] != (uint32_t)v[i];
        }
        for (unsigned few = 0; few < 8; few++) {
            cf_from_planes_64(planes, n, n, few, got);
            for (size_t i = 0; i < n; i++)
                wrong_few += got[i] != (v[i] & (((uint64_t)1 << 8 * few) - 1));
        }
        free(planes);
        free(four);
    }
    is_u64(wrong_64, 0, "values of 8 bytes, up to %d of them", MOST - 1);
    is_u64(wrong_32, 0, "values of 4 bytes");
    is_u64(wrong_few, 0, "values whose high bytes have no planes");
    return done();
}
