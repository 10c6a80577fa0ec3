/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pipe_codec.c - the codecs that columns get in a pipe: raw, constant and narrow (cf-stream(5),
 * "CODECS"). cf_line_codec.c has those that only columns of cache lines get.
 */
#include "cf_pack.h"

void cf_encode_wire(enum cf_type type, const void *values, size_t rows, void *scratch,
                    struct cf_coded *out)
{
    const unsigned width = (unsigned)cf_type_width(type);

    out->type = (uint8_t)type;
    out->codec = CF_RAW;
    out->base = 0;
    out->bytes = (uint32_t)(rows * width);
    out->data = values;
    CF_SIMD_CHOICE(cf_encode_pipe)(width, values, rows, scratch, out);
}
