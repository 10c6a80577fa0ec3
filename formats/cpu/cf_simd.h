/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_simd.h - vectors of 64-bit values for sources named _simd.c and _simd512.c: the compiler's
 * vector types, of the length that the processor has that it compiles for, and what these cannot
 * say. Arithmetic, logic and shifts by the same number are the operators of C.
 */
#ifndef CF_SIMD_H
#define CF_SIMD_H

#include <stdint.h>
#include <string.h>

#include "formats/cpu/cf_cpu.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define CF_SIMD_AVX512 1
enum { CF_LANES = 8 };
#elif defined(__AVX2__)
#define CF_SIMD_AVX2 1
enum { CF_LANES = 4 };
#else
#define CF_SIMD_HALVES 1 /* and no comparison of 64 bits that is worth it */
enum { CF_LANES = 2 };
#endif

#define CF_INLINE static inline __attribute__((always_inline, unused))

typedef uint64_t cf_vec __attribute__((vector_size(CF_LANES * 8), may_alias));

CF_INLINE cf_vec cf_vec_load(const uint64_t *from)
{
    cf_vec v;

    memcpy(&v, from, sizeof v);
    return v;
}

CF_INLINE void cf_vec_store(uint64_t *to, cf_vec v)
{
    memcpy(to, &v, sizeof v);
}

CF_INLINE cf_vec cf_vec_all(uint64_t value)
{
    return (cf_vec){0} + value;
}

#ifdef CF_SIMD_HALVES
typedef uint32_t cf_half __attribute__((vector_size(16), may_alias));

/* A bit for each of four lanes of 32 bits. */
CF_INLINE unsigned cf_half_equal(cf_half a, cf_half b)
{
#ifdef __x86_64__
    return (unsigned)_mm_movemask_ps((__m128)(a == b));
#else
    const cf_half m = (cf_half)(a == b) & (cf_half){1, 2, 4, 8};

    return m[0] | m[1] | m[2] | m[3];
#endif
}
#endif

/* A bit for each lane in which a and b are equal. */
CF_INLINE unsigned cf_vec_equal(cf_vec a, cf_vec b)
{
#if defined(CF_SIMD_AVX512)
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
#elif defined(CF_SIMD_AVX2)
    return (unsigned)_mm256_movemask_pd((__m256d)(a == b));
#elif defined(__x86_64__)
    return (unsigned)_mm_movemask_pd((__m128d)(a == b));
#else
    return (a[0] == b[0]) | (unsigned)(a[1] == b[1]) << 1;
#endif
}

/* Each lane from its left neighbour, the first from the last of `left`. */
CF_INLINE cf_vec cf_vec_shift(cf_vec left, cf_vec v)
{
#if defined(CF_SIMD_AVX512)
    return (cf_vec)_mm512_alignr_epi64((__m512i)v, (__m512i)left, 7);
#elif defined(CF_SIMD_AVX2)
    return __builtin_shufflevector(left, v, 3, 4, 5, 6);
#else
    return __builtin_shufflevector(left, v, 1, 2);
#endif
}

/* Lanes of `yes` where the mask is all ones, of `no` where it is 0. */
CF_INLINE cf_vec cf_vec_blend(cf_vec mask, cf_vec yes, cf_vec no)
{
#if defined(CF_SIMD_AVX2)
    return (cf_vec)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)mask);
#else
    return (yes & mask) | (no & ~mask);
#endif
}

#if defined(CF_SIMD_AVX512)
/* Lane k of `yes` where bit k is set, else of `no`. */
CF_INLINE cf_vec cf_vec_pick(unsigned bits, cf_vec yes, cf_vec no)
{
    return (cf_vec)_mm512_mask_mov_epi64((__m512i)no, (__mmask8)bits, (__m512i)yes);
}
#endif

/* A bit for each of 64 bytes that is `value`. */
CF_INLINE uint64_t cf_bytes_equal(const uint8_t *byte, uint8_t value)
{
    uint64_t mask = 0;

#ifdef __x86_64__
#pragma GCC unroll 4
    for (unsigned k = 0; k < 64; k += 16) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(byte + k));
        const __m128i same = _mm_cmpeq_epi8(v, _mm_set1_epi8((char)value));

        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(same) << k;
    }
#else
    const uint64_t ones = 0x0101010101010101u, low = 0x7f * ones;

    for (unsigned k = 0; k < 64; k += 8) {
        uint64_t v;

        memcpy(&v, byte + k, 8);
        v ^= value * ones;
        v = ~(((v & low) + low) | v | low) >> 7; /* 1 in each byte that was the value */
        mask |= (v * 0x0102040810204080u >> 56) << k;
    }
#endif
    return mask;
}

#endif
