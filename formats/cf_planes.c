/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_planes.c - values from their planes: all lowest bytes, then all second bytes, and so on.
 *
 * In: the planes of n values. Out: the values. Sixteen values at a time: bytes of neighbouring
 * planes are brought together, then pairs, then fours, by instructions that every x86-64 has. What
 * is left over, and other processors, go value by value.
 */
#include "cf_pack.h"

#ifdef __SSE2__
#include <emmintrin.h>

enum { BLOCK = 16 };

/* Interleaves 16 units of 1 << log2 bytes of a with those of b into two vectors. */
static inline void interleave(__m128i a, __m128i b, unsigned log2, __m128i *low, __m128i *high)
{
    switch (log2) {
    case 0:
        *low = _mm_unpacklo_epi8(a, b);
        *high = _mm_unpackhi_epi8(a, b);
        break;
    case 1:
        *low = _mm_unpacklo_epi16(a, b);
        *high = _mm_unpackhi_epi16(a, b);
        break;
    default:
        *low = _mm_unpacklo_epi32(a, b);
        *high = _mm_unpackhi_epi32(a, b);
        break;
    }
}

static inline __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void store(void *p, unsigned vector, __m128i v)
{
    _mm_storeu_si128((__m128i *)p + vector, v);
}

static size_t blocks_32(const uint8_t *in, size_t n, uint32_t *out)
{
    size_t i = 0;

    for (; i + BLOCK <= n; i += BLOCK) {
        __m128i two[4], four[4];

        /* two[0]: planes 0 and 1 of values 0 to 7; two[1]: of 8 to 15; two[2], two[3]: 2 and 3 */
        interleave(load(in + i), load(in + n + i), 0, &two[0], &two[1]);
        interleave(load(in + 2 * n + i), load(in + 3 * n + i), 0, &two[2], &two[3]);
        interleave(two[0], two[2], 1, &four[0], &four[1]);
        interleave(two[1], two[3], 1, &four[2], &four[3]);
        for (unsigned k = 0; k < 4; k++)
            store(out + i, k, four[k]);
    }
    return i;
}

static size_t blocks_64(const uint8_t *in, size_t n, uint64_t *out)
{
    size_t i = 0;

    for (; i + BLOCK <= n; i += BLOCK) {
        __m128i two[8], four[8], low, high;

        for (unsigned p = 0; p < 4; p++)
            interleave(load(in + 2 * p * n + i), load(in + (2 * p + 1) * n + i), 0, &two[2 * p],
                       &two[2 * p + 1]);
        /* four[0..3]: planes 0 to 3 of four values each; four[4..7]: planes 4 to 7 */
        for (unsigned h = 0; h < 2; h++) {
            interleave(two[4 * h], two[4 * h + 2], 1, &four[4 * h], &four[4 * h + 1]);
            interleave(two[4 * h + 1], two[4 * h + 3], 1, &four[4 * h + 2], &four[4 * h + 3]);
        }
        for (unsigned k = 0; k < 4; k++) {
            interleave(four[k], four[k + 4], 2, &low, &high);
            store(out + i, 2 * k, low);
            store(out + i, 2 * k + 1, high);
        }
    }
    return i;
}
#else
static size_t blocks_32(const uint8_t *in, size_t n, uint32_t *out)
{
    (void)in;
    (void)n;
    (void)out;
    return 0;
}

static size_t blocks_64(const uint8_t *in, size_t n, uint64_t *out)
{
    (void)in;
    (void)n;
    (void)out;
    return 0;
}
#endif

void cf_from_planes_32(const uint8_t *in, size_t n, uint32_t *out)
{
    for (size_t i = blocks_32(in, n, out); i < n; i++) {
        out[i] = 0;
        for (unsigned b = 0; b < sizeof *out; b++)
            out[i] |= (uint32_t)in[b * n + i] << 8 * b;
    }
}

void cf_from_planes_64(const uint8_t *in, size_t n, uint64_t *out)
{
    for (size_t i = blocks_64(in, n, out); i < n; i++) {
        out[i] = 0;
        for (unsigned b = 0; b < sizeof *out; b++)
            out[i] |= (uint64_t)in[b * n + i] << 8 * b;
    }
}
