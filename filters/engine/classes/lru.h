/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lru.h - lines from the newest to the oldest, as a set of a cache or an LRU stack has them: where
 * one is, how it becomes the newest, and how it leaves.
 *
 * A line is a slot (slots.h). Eight are looked at and moved in one go: an array has room for a
 * multiple of eight, with CF_NO_SLOT behind its last line.
 */
#ifndef CF_LRU_H
#define CF_LRU_H

#include "formats/base/cf_simd.h"

#define CF_NO_SLOT UINT32_MAX /* a way without a line */

#if CF_SIMD_AVX512 || CF_SIMD_AVX2
enum { CF_LRU_UNIT = 8, CF_LRU_LANES = 8 };
typedef int32_t cf_lru_vec __attribute__((vector_size(32)));
#define CF_LRU_LANE ((cf_lru_vec){0, 1, 2, 3, 4, 5, 6, 7})
#else
enum { CF_LRU_UNIT = 8, CF_LRU_LANES = 4 };
typedef int32_t cf_lru_vec __attribute__((vector_size(16)));
#define CF_LRU_LANE ((cf_lru_vec){0, 1, 2, 3})
#endif

static inline uint64_t cf_lru_room(uint64_t ways)
{
    return (ways + CF_LRU_UNIT - 1) / CF_LRU_UNIT * CF_LRU_UNIT;
}

CF_INLINE cf_lru_vec cf_lru_load(const uint32_t *way)
{
#if CF_SIMD_AVX512 || CF_SIMD_AVX2
    return (cf_lru_vec)_mm256_loadu_si256((const __m256i *)(const void *)way);
#elif defined(__x86_64__)
    return (cf_lru_vec)_mm_loadu_si128((const __m128i *)(const void *)way);
#else
    cf_lru_vec v;

    memcpy(&v, way, sizeof(v));
    return v;
#endif
}

/* A bit for each lane in which a and b are equal. */
CF_INLINE uint32_t cf_lru_equal(cf_lru_vec a, cf_lru_vec b)
{
#if CF_SIMD_AVX512
    return _mm256_cmpeq_epi32_mask((__m256i)a, (__m256i)b);
#elif CF_SIMD_AVX2
    return (uint32_t)_mm256_movemask_ps((__m256)(a == b));
#elif defined(__x86_64__)
    return (uint32_t)_mm_movemask_ps((__m128)(a == b));
#else
    const cf_lru_vec bits = (a == b) & (cf_lru_vec){1, 2, 4, 8};

    return (uint32_t)(bits[0] | bits[1] | bits[2] | bits[3]);
#endif
}

/* Each from the one before it, the first from the last of `before`. */
CF_INLINE cf_lru_vec cf_lru_up(cf_lru_vec before, cf_lru_vec v)
{
#if CF_SIMD_AVX512
    return (cf_lru_vec)_mm256_alignr_epi32((__m256i)v, (__m256i)before, 7);
#elif CF_SIMD_AVX2
    return (cf_lru_vec)_mm256_alignr_epi8(
        (__m256i)v, _mm256_permute2x128_si256((__m256i)before, (__m256i)v, 0x21), 12);
#elif defined(__x86_64__)
    return (cf_lru_vec)_mm_or_si128(_mm_slli_si128((__m128i)v, 4),
                                    _mm_srli_si128((__m128i)before, 12));
#else
    return __builtin_shufflevector(before, v, 3, 4, 5, 6);
#endif
}

/* Each from the one behind it, the last from the first of `behind`. */
CF_INLINE cf_lru_vec cf_lru_down(cf_lru_vec v, cf_lru_vec behind)
{
#if CF_SIMD_AVX512
    return (cf_lru_vec)_mm256_alignr_epi32((__m256i)behind, (__m256i)v, 1);
#elif CF_SIMD_AVX2
    return (cf_lru_vec)_mm256_alignr_epi8(
        _mm256_permute2x128_si256((__m256i)v, (__m256i)behind, 0x21), (__m256i)v, 4);
#elif defined(__x86_64__)
    return (cf_lru_vec)_mm_or_si128(_mm_srli_si128((__m128i)v, 4),
                                    _mm_slli_si128((__m128i)behind, 12));
#else
    return __builtin_shufflevector(v, behind, 1, 2, 3, 4);
#endif
}

/* Ways become `to`, but for the lanes behind `last`, or those up to it. */
CF_INLINE void cf_lru_put(uint32_t *way, cf_lru_vec old, cf_lru_vec to, int32_t last, int behind)
{
#if CF_SIMD_AVX512
    const __mmask8 stay = _mm256_cmpgt_epi32_mask((__m256i)CF_LRU_LANE, _mm256_set1_epi32(last));

    to = (cf_lru_vec)_mm256_mask_mov_epi32((__m256i)(behind ? to : old), stay,
                                           (__m256i)(behind ? old : to));
#else
    const cf_lru_vec stay = CF_LRU_LANE > last;

    to = behind ? (old & stay) | (to & ~stay) : (to & stay) | (old & ~stay);
#endif
    memcpy(way, &to, sizeof(to));
}

/* Whether `slot` is in one of the ways: *at is the first such, or the last way of all. */
CF_INLINE int cf_lru_find(const uint32_t *way, uint32_t ways, uint32_t slot, uint32_t *at)
{
    const cf_lru_vec wanted = (cf_lru_vec){0} + (int32_t)slot;

    for (uint32_t from = 0;; from += CF_LRU_UNIT) {
        uint32_t bits = 0;

#pragma GCC unroll 2
        for (unsigned k = 0; k < CF_LRU_UNIT; k += CF_LRU_LANES)
            bits |= cf_lru_equal(cf_lru_load(way + from + k), wanted) << k;
        /* no branch on what is found where there are up to eight ways */
        if (ways - from <= CF_LRU_UNIT) {
            *at = from + (uint32_t)__builtin_ctz(bits | 1u << (ways - from - 1));
            return bits != 0;
        }
        if (bits) {
            *at = from + (uint32_t)__builtin_ctz(bits);
            return 1;
        }
    }
}

/* Makes `slot` the newest; way `at` is where it was, or what goes for it. */
CF_INLINE void cf_lru_push(uint32_t *way, uint32_t at, uint32_t slot)
{
    cf_lru_vec before = (cf_lru_vec){0} + (int32_t)slot;

    for (;; way += CF_LRU_UNIT, at -= CF_LRU_UNIT) {
#pragma GCC unroll 2
        for (unsigned k = 0; k < CF_LRU_UNIT; k += CF_LRU_LANES) {
            const cf_lru_vec v = cf_lru_load(way + k);

            cf_lru_put(way + k, v, cf_lru_up(before, v), (int32_t)(at - k), 1);
            before = v;
        }
        if (at < CF_LRU_UNIT)
            return;
    }
}

/* Takes out what is in way `at` of `ways`, or nothing where that is `ways`. */
CF_INLINE void cf_lru_drop(uint32_t *way, uint32_t at, uint32_t ways)
{
    const cf_lru_vec none = (cf_lru_vec){0} + (int32_t)CF_NO_SLOT;

    for (uint32_t k = 0; k < ways; k += CF_LRU_LANES) {
        const uint32_t next = k + CF_LRU_LANES;
        const cf_lru_vec v = cf_lru_load(way + k);

        cf_lru_put(way + k, v, cf_lru_down(v, next < ways ? cf_lru_load(way + next) : none),
                   (int32_t)(at - k) - 1, 0);
    }
}

#endif
