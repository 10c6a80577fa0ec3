/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lineset_simd.c - adding keys to lineset.c, as long as their buckets have room.
 */
#include "filters/engine/snapshot/lineset_parts.h"
#include "formats/base/cf_simd.h"

typedef uint32_t halves __attribute__((vector_size(CF_LANES * 8)));

CF_INLINE halves load(const uint32_t *from)
{
    halves v;

    memcpy(&v, from, sizeof v);
    return v;
}

CF_INLINE uint8_t bucket_has(const struct bucket *b, uint64_t key)
{
    const halves low = (halves){0} + (uint32_t)key, high = (halves){0} + (uint32_t)(key >> 32);
    halves same = {0};

#pragma GCC unroll 4
    for (unsigned k = 0; k < CF_LINESET_PLACES; k += 2 * CF_LANES)
        same |= (halves)((load(b->low + k) == low) & (load(b->high + k) == high));
    return cf_vec_top((cf_vec)same | (cf_vec)same << 32) != 0;
}

uint32_t CF_SIMD(cf_lineset_fill)(struct half *now, const struct half *last, size_t mask,
                                  const uint64_t *key, uint32_t count, uint8_t *before)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t k = key[i];
        const size_t b = k & mask;
        const unsigned n = now->count[b];

        before[i] = bucket_has(&last->bucket[b], k);
        if (n == CF_LINESET_PLACES ||
            (!before[i] && last->count[b] == CF_LINESET_PLACES && last->spill))
            return i;
        cf_lineset_put(&now->bucket[b], n, k);
        now->count[b] = (uint8_t)(n + 1);
    }
    return count;
}
