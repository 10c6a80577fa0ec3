/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_line_codec.c - the codecs that the columns of cache lines get in a pipe (cf-stream(5)).
 *
 * A snapshot of 2 MB of cache has 32,768 lines. Their addresses are multiples of the line's size
 * and spread over all memory, their sets ascend by small steps. Written as such, a line with its
 * owner takes 15 bytes where the general codecs take 21, so that a snapshot with all that is known
 * fits 512 KB.
 */
#include <string.h>

#include "cf_codec.h"

enum { LINE = 64 };

/* 0, or -1 where a value is no multiple of LINE. */
static int span_of_lines(const uint64_t *v, size_t rows, uint64_t *base, uint64_t *span)
{
    uint64_t low = v[0], high = v[0], all = 0;

    for (size_t i = 0; i < rows; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
        all |= v[i];
    }
    *base = low;
    *span = (high - low) / LINE;
    return all % LINE ? -1 : 0;
}

static void encode_lines(const uint64_t *v, size_t rows, void *scratch, struct cf_coded *out)
{
    uint64_t base, span;
    uint32_t *low = scratch;
    uint16_t *high = (uint16_t *)(void *)(low + rows);

    if (span_of_lines(v, rows, &base, &span) != 0 || span >> 48)
        return;
    for (size_t i = 0; i < rows; i++)
        low[i] = (uint32_t)((v[i] - base) / LINE);
    for (size_t i = 0; i < rows && span >> 32; i++)
        high[i] = (uint16_t)((v[i] - base) / LINE >> 32);
    out->codec = span >> 32 ? CF_LINES48 : CF_LINES32;
    out->base = base;
    out->bytes = (uint32_t)(rows * (span >> 32 ? 6 : 4));
    out->data = scratch;
}

static void encode_rising(const uint32_t *v, size_t rows, uint8_t *scratch, struct cf_coded *out)
{
    uint32_t most = 0;

    for (size_t i = 1; i < rows; i++)
        most = v[i] - v[i - 1] > most ? v[i] - v[i - 1] : most;
    if (most > UINT8_MAX)
        return;
    scratch[0] = 0;
    for (size_t i = 1; i < rows; i++)
        scratch[i] = (uint8_t)(v[i] - v[i - 1]);
    out->codec = CF_RISE8;
    out->base = v[0];
    out->bytes = (uint32_t)rows;
    out->data = scratch;
}

void cf_encode_line(enum cf_type type, const void *values, size_t rows, void *scratch,
                    struct cf_coded *out)
{
    cf_encode_wire(type, values, rows, scratch, out);
    if (!rows || out->codec == CF_CONST || out->codec == CF_NARROW8)
        return;
    if (type == CF_U32)
        encode_rising(values, rows, scratch, out);
    else if (type == CF_U64 && out->codec == CF_RAW)
        encode_lines(values, rows, scratch, out);
}

const char *cf_decode_line(const struct cf_coded *c, size_t rows, void *values)
{
    const size_t width = c->codec == CF_RISE8 ? 1 : c->codec == CF_LINES32 ? 4 : 6;
    const uint8_t *low = c->data, *high = c->data + rows * 4;
    uint64_t *out = values;

    if (cf_type_width((enum cf_type)c->type) != (width == 1 ? 4 : 8))
        return "codec does not fit the type";
    if (c->bytes != rows * width)
        return "length of a column does not fit its rows";
    if (width == 1) {
        uint32_t *rising = values, value = (uint32_t)c->base;

        if (rows && c->data[0])
            return "a column that rises before its first row";
        for (size_t i = 0; i < rows; i++)
            rising[i] = value += c->data[i];
        return NULL;
    }
    for (size_t i = 0; i < rows; i++) {
        uint32_t v;

        memcpy(&v, low + i * 4, 4);
        out[i] = c->base + (uint64_t)v * LINE;
    }
    for (size_t i = 0; i < rows && width == 6; i++) {
        uint16_t v;

        memcpy(&v, high + i * 2, 2);
        out[i] += ((uint64_t)v << 32) * LINE;
    }
    return NULL;
}
