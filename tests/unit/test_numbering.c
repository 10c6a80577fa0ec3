/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_numbering.c - rows as numbers of their kinds, as a slow search has them, in more frames than
 * there are numbers of frames. Memory: 64 hints.
 */
#include <stdint.h>

#include "formats/codec/cf_codec.h"
#include "tests/unit/tap.h"

enum { HINTS = 64, ROWS = 6, NUMBERS = (1 << 16) - 1, FRAMES = NUMBERS + 100 };

static uint32_t upto(uint32_t n)
{
    static uint64_t state = 7;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* Whether the codes of a frame number its hints as they come; how many there are, too. */
static int right(const uint32_t *hint, const uint16_t *code, int32_t kinds)
{
    uint32_t of[ROWS] = {0}, n = 0, k;

    for (uint32_t i = 0; i < ROWS; i++) {
        for (k = 0; k < n && of[k] != hint[i]; k++)
            ;
        if (k == n)
            of[n++] = hint[i];
        if (code[i] != k)
            return 0;
    }
    return kinds == (int32_t)n;
}

int main(void)
{
    struct cf_numbering *n = cf_numbering_new();
    const struct cf_kinds all = {.end = HINTS};
    uint32_t hint[ROWS], frames = 0;
    uint16_t code[ROWS];

    for (uint32_t f = 0; n && f < FRAMES; f++) {
        /* some hints come only where the numbers of frames begin, and at another place each time */
        const uint32_t turn = f / NUMBERS, place = f % NUMBERS;

        for (uint32_t i = 0; i < ROWS; i++)
            hint[i] = HINTS / 2 + upto(HINTS / 2);
        if (place < HINTS / 2)
            hint[turn] = place;
        frames += (uint32_t)right(hint, code, cf_numbering_rows(n, &all, hint, ROWS, ROWS, code));
    }
    is_u64(frames, FRAMES, "each frame numbers its kinds from 0");
    for (uint32_t i = 0; i < ROWS; i++)
        hint[i] = i;
    is_u64((uint64_t)cf_numbering_rows(n, &all, hint, ROWS, ROWS - 1, code), 0, "too many kinds");
    cf_numbering_free(n);
    return done();
}
