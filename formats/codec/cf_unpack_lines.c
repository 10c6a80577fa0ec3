/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack_lines.c - packed cache lines back to values; cf_pack_lines.c tells the idea. Distances
 * are checked once for all columns: none reaches before the first row.
 */
#include "cf_unpack.h"

int cf_unpack_near(struct unpacker *u, const struct cf_coded *c, size_t rows, struct cf_bytes *b,
                   size_t *literals)
{
    const uint8_t *at = c->data, *end = c->data + c->bytes;
    size_t n = 0;

    if (cfu_packet(u, &at, end, rows, b) < 0)
        return -1;
    if (b->used != rows || at != end)
        return cfu_fail(u, "distances do not fit the rows");
    for (size_t i = 0; i < rows; i++) {
        if (b->data[i] > i)
            return cfu_fail(u, "a distance reaches before the first row");
        n += !b->data[i];
    }
    *literals = n;
    return 0;
}

/* What a table of n values has to be, after it was read. */
static int of_length(struct unpacker *u, int64_t got, size_t n)
{
    if (got >= 0 && (size_t)got != n)
        return cfu_fail(u, "length of a table is wrong");
    return got < 0 ? -1 : 0;
}

int cf_unpack_pages(struct unpacker *u, const struct cf_coded *c, const uint8_t *near, size_t rows,
                    size_t literals, uint64_t *out)
{
    const uint64_t inside = ((uint64_t)1 << CF_PAGE_BITS) - 1;
    const uint8_t *at = c->data, *end = c->data + c->bytes;
    const uint64_t *table;
    uint64_t low = 0, high = 0;

    if (of_length(u, cfu_values(u, &at, end, rows, 8, out), rows) < 0 ||
        of_length(u, cfu_table(u, &at, end, literals, 8, &u->values), literals) < 0)
        return -1;
    if (at != end)
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
    const uint8_t *at = c->data, *end = c->data + c->bytes;
    const uint64_t *table;

    if (of_length(u, cfu_table(u, &at, end, literals, 4, &u->values), literals) < 0)
        return -1;
    if (at != end)
        return cfu_fail(u, "bytes behind a column");
    table = u->table;
    for (size_t i = 0; i < rows; i++)
        out[i] = near[i] ? out[i - near[i]] : (uint32_t)*table++;
    return 0;
}
