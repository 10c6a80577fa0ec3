/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_avx512.c - runs_avx2.c with eight rows in a vector: lines stay in registers from where they
 * are compared until those that begin runs are packed together, by one instruction.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/runs_parts.h"
#include "formats/cf.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { ROWS = 64, LANES = 8, VECTORS = ROWS / LANES };

/* A bit a row. */
struct masks {
    uint64_t begins, stores, plain;
};

INLINE struct masks look(const uint64_t *addr, const uint8_t *op, const uint32_t *size,
                         unsigned shift, uint64_t before, __m512i *line)
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m512i ops = _mm512_loadu_si512(op);
    const uint64_t loads = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_LOAD));
    __m512i last = _mm512_set1_epi64((long long)before);
    struct masks m = {.stores = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_STORE))};
    uint64_t straddles = 0;

    for (unsigned k = 0; k < VECTORS; k++) {
        const __m512i a = _mm512_loadu_si512(addr + LANES * k);
        const __m256i s = _mm256_loadu_si256((const __m256i *)(const void *)(size + LANES * k));
        /* an access of no bytes counts as one of one byte */
        const __m256i less =
            _mm256_sub_epi32(_mm256_max_epu32(s, _mm256_set1_epi32(1)), _mm256_set1_epi32(1));
        const __m512i end = _mm512_srl_epi64(_mm512_add_epi64(a, _mm512_cvtepu32_epi64(less)), by);

        line[k] = _mm512_srl_epi64(a, by);
        m.begins |= (uint64_t)_mm512_cmpneq_epi64_mask(
                        line[k], _mm512_alignr_epi64(line[k], last, LANES - 1))
                    << LANES * k;
        straddles |= (uint64_t)_mm512_cmpneq_epi64_mask(line[k], end) << LANES * k;
        last = line[k];
    }
    m.plain = (loads | m.stores) & ~straddles;
    return m;
}

/* Lines and rows of those that begin runs, packed together. */
INLINE void put(struct cf_runs *r, const __m512i *line, uint32_t row, uint64_t begins,
                uint64_t space)
{
    const __m512i key = _mm512_set1_epi64((long long)space);
    const __m256i eight = _mm256_set1_epi32(LANES);
    __m256i number =
        _mm256_add_epi32(_mm256_set1_epi32((int)row), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    uint64_t *lines = r->line + r->count;
    uint32_t *rows = r->row + r->count;

    for (unsigned k = 0; k < VECTORS; k++) {
        const __mmask8 those = (__mmask8)(begins >> LANES * k);
        const unsigned count = (unsigned)__builtin_popcount(those);

        _mm512_storeu_si512(lines,
                            _mm512_maskz_compress_epi64(those, _mm512_xor_si512(line[k], key)));
        _mm256_storeu_si256((__m256i *)(void *)rows, _mm256_maskz_compress_epi32(those, number));
        number = _mm256_add_epi32(number, eight);
        lines += count;
        rows += count;
    }
}

TARGET uint32_t cf_runs_blocks_avx512(struct cf_runs *r, const struct cf_runs_input *in,
                                      uint32_t from, uint32_t rows, uint64_t *before)
{
    const uint64_t alone = r->options & CF_RUNS_STORES ? UINT64_MAX : 0;
    uint32_t done = 0;

    while (rows - done >= ROWS && r->count + ROWS <= r->capacity) {
        const uint64_t *addr = in->addr + from + done;
        __m512i line[VECTORS];
        const struct masks m =
            look(addr, in->op + from + done, in->size + from + done, r->shift, *before, line);
        const unsigned taken = ~m.plain ? (unsigned)_tzcnt_u64(~m.plain) : ROWS;

        if (!taken)
            break;
        const uint64_t begins = cf_runs_flags(r, m.begins, m.stores, m.stores & alone, taken);
        put(r, line, from + done, begins, in->space);
        r->count += (unsigned)__builtin_popcountll(begins);
        *before = (m.stores & alone) >> (taken - 1) & 1 ? UINT64_MAX : addr[taken - 1] >> r->shift;
        done += taken;
        r->references += taken;
        if (taken < ROWS)
            break;
    }
    return done;
}
#endif
