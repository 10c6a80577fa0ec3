/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pipe_codec_simd.c - constant and narrow columns (cf_pipe_codec.c).
 *
 * A pipe wants codecs at the speed of memory: a column becomes a base and narrow offsets, found by
 * one pass that gives up at the first block that cannot fit. The oldest x86-64 cannot compare or
 * narrow vectors of 64 bits: with AVX2 cf-select takes 0.124 s for samples/sqlite.cf to a pipe,
 * without 0.144 (1.16 times), for cc1.cf and gzip.cf 1.08 times as long.
 */
#include "cf_pack.h"

enum { BLOCK = 64 /* values that a loop handles at once; constant, so that it is vectorised */ };

#define INLINE static inline __attribute__((always_inline))

/* Whether all values are within 2^31 of the first, and then the smallest and largest of their
   differences to it. Signed differences in 32 bits keep the loop narrow enough for vectors. */
INLINE bool span_64(const uint64_t *v, size_t n, int32_t *least, int32_t *most)
{
    uint64_t first = v[0];
    int32_t low = 0, high = 0;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        uint64_t far = 0;
        for (size_t q = 0; q < BLOCK; q++)
            far |= v[i + q] - first + 0x80000000u;
        if (far >> 32)
            return false;
        for (size_t q = 0; q < BLOCK; q++) {
            int32_t d = (int32_t)(uint32_t)(v[i + q] - first);
            low = d < low ? d : low;
            high = d > high ? d : high;
        }
    }
    for (; i < n; i++) {
        uint64_t d = v[i] - first;
        if ((d + 0x80000000u) >> 32)
            return false;
        low = (int32_t)d < low ? (int32_t)d : low;
        high = (int32_t)d > high ? (int32_t)d : high;
    }
    *least = low;
    *most = high;
    return true;
}

INLINE void span_32(const uint32_t *v, size_t n, uint32_t *least, uint32_t *most)
{
    uint32_t low = v[0], high = v[0];
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        for (size_t q = 0; q < BLOCK; q++) {
            low = v[i + q] < low ? v[i + q] : low;
            high = v[i + q] > high ? v[i + q] : high;
        }
    for (; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    *least = low;
    *most = high;
}

#define NARROW(from, to, bits, less)                                                               \
    INLINE void narrow_##bits##_##less(const from *restrict v, size_t n, uint64_t base,            \
                                       to *restrict out)                                           \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + BLOCK <= n; i += BLOCK)                                                         \
            for (size_t q = 0; q < BLOCK; q++)                                                     \
                out[i + q] = (to)(v[i + q] - (from)base);                                          \
        for (; i < n; i++)                                                                         \
            out[i] = (to)(v[i] - (from)base);                                                      \
    }

NARROW(uint32_t, uint8_t, 32, 8)
NARROW(uint64_t, uint8_t, 64, 8)
NARROW(uint32_t, uint16_t, 32, 16)
NARROW(uint64_t, uint16_t, 64, 16)
NARROW(uint64_t, uint32_t, 64, 32)

INLINE void narrow(unsigned width, const void *v, size_t n, uint64_t base, unsigned to, void *out)
{
    if (width == 4 && to == 1)
        narrow_32_8(v, n, base, out);
    else if (width == 4)
        narrow_32_16(v, n, base, out);
    else if (to == 1)
        narrow_64_8(v, n, base, out);
    else if (to == 2)
        narrow_64_16(v, n, base, out);
    else
        narrow_64_32(v, n, base, out);
}

/* Range of a column as base and span; false where the span needs more than 32 bits. */
INLINE bool column_span(unsigned width, const void *values, size_t rows, uint64_t *base,
                        uint64_t *span)
{
    if (width == 8) {
        int32_t low, high;
        if (!span_64(values, rows, &low, &high))
            return false;
        *base = cf_load64(values) + (uint64_t)(int64_t)low;
        *span = (uint64_t)((int64_t)high - low);
    } else if (width == 4) {
        uint32_t low, high;
        span_32(values, rows, &low, &high);
        *base = low;
        *span = high - low;
    } else { /* no listed column has 2 bytes: in short ones only what is constant counts */
        const uint8_t *v = values;
        *base = 0;
        memcpy(base, v, width);
        *span = memcmp(v, v + width, (rows - 1) * width) ? UINT32_MAX : 0;
    }
    return true;
}

void CF_SIMD(cf_encode_pipe)(unsigned width, const void *values, size_t rows, void *scratch,
                             struct cf_coded *out)
{
    uint64_t base, span;
    if (!rows || !column_span(width, values, rows, &base, &span))
        return;
    unsigned to = span == 0 ? 0 : span < 1u << 8 ? 1 : span < 1u << 16 ? 2 : 4;
    if (to >= width)
        return;
    out->codec = to == 0 ? CF_CONST : to == 1 ? CF_NARROW8 : to == 2 ? CF_NARROW16 : CF_NARROW32;
    out->base = base;
    out->bytes = (uint32_t)(rows * to);
    out->data = to ? scratch : NULL;
    if (to)
        narrow(width, values, rows, base, to, scratch);
}
