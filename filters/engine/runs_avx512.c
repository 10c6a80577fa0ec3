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

INLINE struct cf_runs_masks look(const uint64_t *addr, const uint8_t *op, const uint32_t *size,
                                 unsigned shift, uint64_t before, __m512i *line)
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m512i ops = _mm512_loadu_si512(op);
    __m512i last = _mm512_set1_epi64((long long)before);
    struct cf_runs_masks m = {
        .loads = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_LOAD)),
        .stores = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_STORE)),
        .fetches = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_IFETCH)),
    };

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
        m.straddles |= (uint64_t)_mm512_cmpneq_epi64_mask(line[k], end) << LANES * k;
        last = line[k];
    }
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

INLINE void put_flags(uint8_t *flags, const struct cf_runs_found *f)
{
    const __m512i store = _mm512_maskz_set1_epi8(f->store, CF_RUN_STORE);
    const __m512i again = _mm512_maskz_set1_epi8(f->again, CF_RUN_AGAIN);
    const __m512i fetch = _mm512_maskz_set1_epi8(f->fetch, CF_RUN_FETCH);

    _mm512_storeu_si512(flags, _mm512_or_si512(_mm512_or_si512(store, again), fetch));
}

TARGET uint32_t cf_runs_blocks_avx512(struct cf_runs *r, const struct cf_runs_input *in,
                                      uint32_t from, uint32_t rows, struct cf_runs_before *before)
{
    uint32_t done = 0;

    while (rows - done >= ROWS && r->count + ROWS <= r->capacity) {
        const uint32_t row = from + done;
        __m512i line[VECTORS];
        struct cf_runs_masks m =
            look(in->addr + row, in->op + row, in->size + row, r->shift, before->line, line);
        const unsigned taken = cf_runs_plain(r, &m);

        if (!taken)
            break;
        const struct cf_runs_found f = cf_runs_find(r, in->addr + row, m, taken, before);
        put(r, line, row, f.rows, in->space);
        put_flags(r->flags + r->count, &f);
        r->count += f.count;
        done += taken;
        if (taken < ROWS)
            break;
    }
    return done;
}
#endif
