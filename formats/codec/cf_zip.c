/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_zip.c - what zstd compresses in a file: packets and tables of packed frames, and plain columns
 * as values, differences or planes (cf-stream(5), "CODECS"). cf_unpack.c is the way back.
 */
#include "cf_pack.h"

enum { SMALL_COLUMN = 64 /* bytes that are not worth a compressor */ };

int cf_zip_packet(struct cf_zip *z, struct cf_bytes *out, const void *data, size_t bytes)
{
    enum { LENGTHS = 10 }; /* most bytes of two lengths below 2^35 */
    size_t bound = ZSTD_compressBound(bytes);
    if (cf_bytes_room(out, 2 * LENGTHS + bound) < 0)
        return -1;
    uint8_t *at = out->data + out->used, *body = at + LENGTHS;
    size_t n = bytes;
    if (bytes > SMALL_COLUMN)
        n = ZSTD_compress2(z->zstd, body, bound, data, bytes);
    if (ZSTD_isError(n))
        return -1;
    at = cf_put_varint(at, bytes);
    if (n >= bytes) {
        at = cf_put_varint(at, bytes);
        if (bytes)
            memcpy(at, data, bytes);
        n = bytes;
    } else {
        at = cf_put_varint(at, n);
        memmove(at, body, n);
    }
    out->used = (size_t)(at - out->data) + n;
    return 0;
}

int cf_zip_table(struct cf_zip *z, struct cf_bytes *out, uint64_t *values, size_t n,
                 bool differences)
{
    uint64_t last = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = values[i];
        if (differences)
            values[i] = cf_zigzag(v - last);
        last = v;
        all |= values[i];
    }
    unsigned planes = all ? 1 + cf_more_bytes(all) : 0;
    z->plain.used = 0;
    if (cf_bytes_room(out, 1) < 0 || cf_bytes_room(&z->plain, planes * n) < 0)
        return -1;
    out->data[out->used++] = (uint8_t)(planes | (differences ? CF_DIFFERENCES : 0));
    uint8_t *at = z->plain.data;
    for (unsigned b = 0; b < planes; b++)
        for (size_t i = 0; i < n; i++)
            *at++ = (uint8_t)(values[i] >> 8 * b);
    return cf_zip_packet(z, out, z->plain.data, planes * n);
}

#define PLAIN(type, bits)                                                                          \
    static void to_planes_##bits(const type *v, size_t n, uint8_t *out)                            \
    {                                                                                              \
        for (unsigned b = 0; b < sizeof(type); b++)                                                \
            for (size_t i = 0; i < n; i++)                                                         \
                out[b * n + i] = (uint8_t)(v[i] >> 8 * b);                                         \
    }                                                                                              \
    static void to_differences_##bits(const type *v, size_t n, type base, type *out)               \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            type d = (type)(v[i] - base);                                                          \
            base = v[i];                                                                           \
            out[i] = (type)(d << 1 ^ (type)(0 - (d >> (bits - 1))));                               \
        }                                                                                          \
    }                                                                                              \
    static void transform_##bits(int codec, const type *v, size_t n, uint64_t base, type *space)   \
    {                                                                                              \
        if (codec == CF_ZDELTA || codec == CF_ZDPLANES) {                                          \
            to_differences_##bits(v, n, (type)base, space);                                        \
            v = space;                                                                             \
        }                                                                                          \
        if (codec == CF_ZPLANES || codec == CF_ZDPLANES)                                           \
            to_planes_##bits(v, n, (uint8_t *)(space + n));                                        \
    }

CF_WIDTHS(PLAIN)

int cf_zip_values(struct cf_zip *z, struct cf_bytes *out, int codec, unsigned width,
                  const void *values, size_t n, uint64_t base)
{
    size_t bytes = n * width, bound = ZSTD_compressBound(bytes);
    if (bytes <= SMALL_COLUMN)
        codec = CF_RAW;
    if (cf_bytes_room(out, bound) < 0)
        return -1;
    if (codec != CF_RAW) {
        const void *plain = values;
        if (codec != CF_ZSTD) {
            z->plain.used = 0;
            if (cf_bytes_room(&z->plain, 2 * bytes) < 0)
                return -1;
            void *space = z->plain.data;
            CF_OF_WIDTH(transform, width, codec, values, n, base, space);
            plain = codec == CF_ZDELTA ? z->plain.data : z->plain.data + bytes;
        }
        size_t used = ZSTD_compress2(z->zstd, out->data + out->used, bound, plain, bytes);
        if (ZSTD_isError(used))
            return -1;
        if (used < bytes) {
            out->used += used;
            return codec;
        }
    }
    if (bytes)
        memcpy(out->data + out->used, values, bytes);
    out->used += bytes;
    return CF_RAW;
}
