/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reseal.h - finds the frames of a stream in memory and makes their checksums right again after
 * bytes were changed, so that a test reaches the code behind the checksums. Written from
 * cf-stream(5) "LAYOUT", and not by the library's own code, whose errors it would share.
 */
#ifndef RESEAL_H
#define RESEAL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { RESEAL_SEGMENT = 32, RESEAL_FRAME = 40, RESEAL_COLUMN = 24 };

static inline uint32_t reseal_u32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void reseal_put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Bytes of the segment head or frame at p, of which `left` bytes follow; 0 when none stands there
   or it does not end in time. */
static inline size_t reseal_size(const uint8_t *p, size_t left)
{
    size_t n = 0;

    if (left >= RESEAL_SEGMENT && p[0] == 0x89 && !memcmp(p + 1, "CFL", 3))
        n = RESEAL_SEGMENT + (((size_t)reseal_u32(p + 12) + 7) & ~(size_t)7);
    else if (left >= RESEAL_FRAME && !memcmp(p, "CFfr", 4))
        n = reseal_u32(p + 4);
    return n >= RESEAL_SEGMENT && n <= left ? n : 0;
}

/* Makes right the sums of what stands at p and takes n bytes, as far as its counts make sense. */
static inline void reseal_one(uint8_t *p, size_t n)
{
    XXH3_state_t *state = XXH3_createState();
    const size_t columns = p[10] | p[11] << 8;

    if (!state)
        return;
    XXH3_64bits_reset(state);
    if (p[0] == 0x89) {
        XXH3_64bits_update(state, p, 24);
        XXH3_64bits_update(state, p + RESEAL_SEGMENT, n - RESEAL_SEGMENT);
        reseal_put64(p + 24, XXH3_64bits_digest(state));
    } else if (RESEAL_FRAME + columns * RESEAL_COLUMN <= n) {
        size_t at = RESEAL_FRAME + columns * RESEAL_COLUMN;

        for (size_t i = 0; i < columns; i++) {
            uint8_t *c = p + RESEAL_FRAME + i * RESEAL_COLUMN;
            const size_t bytes = ((size_t)reseal_u32(c + 4) + 7) & ~(size_t)7;

            if (bytes > n - at)
                break;
            reseal_put64(c + 16, XXH3_64bits(p + at, bytes));
            at += bytes;
        }
        XXH3_64bits_update(state, p, 32);
        XXH3_64bits_update(state, p + RESEAL_FRAME, columns * RESEAL_COLUMN);
        reseal_put64(p + 32, XXH3_64bits_digest(state));
    }
    XXH3_freeState(state);
}

/* The whole stream, as far as it can be walked. Returns the number of heads and frames found. */
static inline size_t reseal(uint8_t *p, size_t bytes)
{
    size_t count = 0;

    for (size_t at = 0, n; at < bytes && (n = reseal_size(p + at, bytes - at)); at += n, count++)
        reseal_one(p + at, n);
    return count;
}

#endif
