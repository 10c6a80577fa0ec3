/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack_lines.c - packed cache lines back to values; cf_pack_lines.c explains the idea.
 * Distances are checked once for all columns: none reaches before the first row.
 */
#include "cf_unpack.h"

int cf_unpack_near(struct unpacker *u, const struct cf_coded *c, size_t rows, struct cf_bytes *b,
                   size_t *literals)
{
    struct cf_input in = cfu_input(c);
    size_t n = 0;

    if (cfu_packet(u, &in, rows, b) < 0)
        return -1;
    if (b->used != rows || in.at != in.end)
        return cfu_fail(u, "distances do not fit the rows");
    for (size_t i = 0; i < rows; i++) {
        if (b->data[i] > i)
            return cfu_fail(u, "a distance reaches before the first row");
        n += !b->data[i];
    }
    *literals = n;
    return 0;
}

int cf_unpack_pages(struct unpacker *u, const struct cf_coded *c, const uint8_t *near, size_t rows,
                    size_t literals, uint64_t *out)
{
    const uint64_t inside = ((uint64_t)1 << CF_PAGE_BITS) - 1;
    struct cf_input in = cfu_input(c);
    const uint64_t *table;
    uint64_t low = 0, high = 0;

    if (cfu_values(u, &in, rows, 8, out) < 0 || cfu_table(u, &in, literals, 8, &u->values) < 0)
        return -1;
    if (in.at != in.end)
        return cfu_fail(u, "bytes behind a column");
    table = u->table;
    for (size_t i = 0; i < literals; i++)
        high |= table[i];
    for (size_t i = 0; i < rows; i++) {
        low |= out[i];
        out[i] |= near[i] ? out[i - near[i]] & ~inside : *table++ << CF_PAGE_BITS;
    }
    return low & ~inside || high >> (64 - CF_PAGE_BITS)
               ? cfu_fail(u, "an address does not fit its page")
               : 0;
}

int cf_unpack_like(struct unpacker *u, const struct cf_coded *c, const uint8_t *near, size_t rows,
                   size_t literals, uint32_t *out)
{
    struct cf_input in = cfu_input(c);
    const uint64_t *table;

    if (cfu_table(u, &in, literals, 4, &u->values) < 0)
        return -1;
    if (in.at != in.end)
        return cfu_fail(u, "bytes behind a column");
    table = u->table;
    for (size_t i = 0; i < rows; i++)
        out[i] = near[i] ? out[i - near[i]] : (uint32_t)*table++;
    return 0;
}
