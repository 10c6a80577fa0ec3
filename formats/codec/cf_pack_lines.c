/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pack_lines.c - packs the addresses and owners of cache lines (cf-stream(5), "PACKED LINES").
 *
 * Lines come by set and way. A page's lines are in neighbouring sets, each in any way: so a row
 * has, as a rule, the page of a row shortly before it. Which one that is takes a byte before zstd
 * and half a one after it, and gives page frame, virtual page and process at once. What is left of
 * an address is its place in the page, which the set all but determines.
 */
#include "cf_pack.h"

enum { HASH_BITS = 12, MOST = 255 };

/* Rows of one page, by what is present. */
static bool same_page(const struct cf_line_columns *c, size_t i, size_t j)
{
    return (!c->phys || c->phys[i] >> CF_PAGE_BITS == c->phys[j] >> CF_PAGE_BITS) &&
           (!c->addr || c->addr[i] >> CF_PAGE_BITS == c->addr[j] >> CF_PAGE_BITS) &&
           (!c->pid || c->pid[i] == c->pid[j]);
}

size_t cf_pack_near(const struct cf_line_columns *c, size_t rows, uint8_t *near)
{
    uint32_t last[1 << HASH_BITS] = {0}; /* row with this hash, plus one */
    const uint64_t *by = c->phys ? c->phys : c->addr;
    size_t literals = 0;

    for (size_t i = 0; i < rows; i++) {
        uint32_t *slot = &last[(by[i] >> CF_PAGE_BITS) * 0x9e3779b97f4a7c15u >> (64 - HASH_BITS)];
        const size_t j = *slot ? *slot - 1 : i;

        near[i] = i - j <= MOST && j < i && same_page(c, i, j) ? (uint8_t)(i - j) : 0;
        literals += !near[i];
        *slot = (uint32_t)i + 1;
    }
    return literals;
}

int cf_pack_pages(struct cf_zip *z, struct cf_bytes *out, const uint64_t *values,
                  const uint8_t *near, size_t rows, uint64_t *space)
{
    size_t n = 0;

    for (size_t i = 0; i < rows; i++)
        space[i] = values[i] & ((1 << CF_PAGE_BITS) - 1);
    if (cf_zip_table(z, out, space, rows, true) < 0)
        return -1;
    for (size_t i = 0; i < rows; i++)
        if (!near[i])
            space[n++] = values[i] >> CF_PAGE_BITS;
    return cf_zip_table(z, out, space, n, false);
}

int cf_pack_like(struct cf_zip *z, struct cf_bytes *out, const uint32_t *values,
                 const uint8_t *near, size_t rows, uint64_t *space)
{
    size_t n = 0;

    for (size_t i = 0; i < rows; i++)
        if (!near[i])
            space[n++] = values[i];
    return cf_zip_table(z, out, space, n, false);
}
