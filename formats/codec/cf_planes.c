/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_planes.c - values from their planes: all lowest bytes, then all second bytes, and so on.
 *
 * In: the planes of n values, perhaps of their low bytes alone. Out: the values. Sixteen values at
 * a time: bytes of neighbouring planes are brought together, then pairs, then fours, by
 * instructions that every x86-64 has. What is left over, and other processors, go value by value.
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

/* `planes` is a constant where this is called, so that what is zero costs nothing. */
static inline __attribute__((always_inline)) size_t blocks_64(const uint8_t *in, size_t n,
                                                              unsigned planes, uint64_t *out)
{
    const __m128i zero = _mm_setzero_si128();
    size_t i = 0;

    for (; i + BLOCK <= n; i += BLOCK) {
        __m128i one[8], two[8], four[8], low, high;

        for (unsigned p = 0; p < 8; p++)
            one[p] = p < planes ? load(in + p * n + i) : zero;
        for (unsigned p = 0; p < 8; p += 2)
            interleave(one[p], one[p + 1], 0, &two[p], &two[p + 1]);
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

static size_t blocks_64(const uint8_t *in, size_t n, unsigned planes, uint64_t *out)
{
    (void)in;
    (void)n;
    (void)planes;
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

static size_t blocks_of(const uint8_t *in, size_t n, unsigned planes, uint64_t *out)
{
    switch (planes) {
    case 1:
        return blocks_64(in, n, 1, out);
    case 2:
        return blocks_64(in, n, 2, out);
    case 3:
        return blocks_64(in, n, 3, out);
    case 4:
        return blocks_64(in, n, 4, out);
    case 5:
        return blocks_64(in, n, 5, out);
    case 6:
        return blocks_64(in, n, 6, out);
    case 7:
        return blocks_64(in, n, 7, out);
    case 8:
        return blocks_64(in, n, 8, out);
    default:
        return 0;
    }
}

void cf_from_planes_64(const uint8_t *in, size_t n, unsigned planes, uint64_t *out)
{
    for (size_t i = blocks_of(in, n, planes, out); i < n; i++) {
        out[i] = 0;
        for (unsigned b = 0; b < planes; b++)
            out[i] |= (uint64_t)in[b * n + i] << 8 * b;
    }
}
