/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_avx512.c - runs_avx2.c with eight rows in a vector: lines stay in registers from where they
 * are compared until those that begin runs are packed together, by one instruction.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/rows/runs_parts.h"
#include "formats/stream/cf.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { ROWS = 64, LANES = 8, VECTORS = ROWS / LANES };

INLINE struct cf_runs_masks look(const uint64_t *addr, const uint8_t *op, const uint32_t *size,
                                 unsigned shift, uint64_t before, __m512i *line)
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m512i bytes = _mm512_set1_epi32(1 << shift),
                  inside = _mm512_set1_epi32((1 << shift) - 1);
    const __m512i low = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i ops = _mm512_loadu_si512(op);
    __m512i last = _mm512_set1_epi64((long long)before);
    struct cf_runs_masks m = {
        .loads = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_LOAD)),
        .stores = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_STORE)),
        .fetches = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_IFETCH)),
    };

#pragma GCC unroll 4
    for (unsigned k = 0; k < VECTORS; k += 2) {
        const __m512i a = _mm512_loadu_si512(addr + LANES * k);
        const __m512i b = _mm512_loadu_si512(addr + LANES * k + LANES);
        const __m512i s = _mm512_loadu_si512(size + LANES * k);
        /* bytes from the address to the end of its line */
        const __m512i room =
            _mm512_sub_epi32(bytes, _mm512_and_si512(_mm512_permutex2var_epi32(a, low, b), inside));

        line[k] = _mm512_srl_epi64(a, by);
        line[k + 1] = _mm512_srl_epi64(b, by);
        m.begins |= (uint64_t)_mm512_cmpneq_epi64_mask(
                        line[k], _mm512_alignr_epi64(line[k], last, LANES - 1))
                    << LANES * k;
        m.begins |= (uint64_t)_mm512_cmpneq_epi64_mask(
                        line[k + 1], _mm512_alignr_epi64(line[k + 1], line[k], LANES - 1))
                    << LANES * (k + 1);
        m.straddles |= (uint64_t)_mm512_cmpgt_epu32_mask(s, room) << LANES * k;
        last = line[k + 1];
    }
    return m;
}

/* Each of the first 32 lines, and the one behind it. */
INLINE void double_lines(__m512i *line)
{
    const __m512i low = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    const __m512i high = _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7);
    const __m512i second = _mm512_setr_epi64(0, 1, 0, 1, 0, 1, 0, 1);

#pragma GCC unroll 4
    for (unsigned k = VECTORS / 2; k-- > 0;) {
        const __m512i l = line[k];

        line[2 * k] = _mm512_add_epi64(_mm512_permutexvar_epi64(low, l), second);
        line[2 * k + 1] = _mm512_add_epi64(_mm512_permutexvar_epi64(high, l), second);
    }
}

/* Lines and rows of those that begin runs, packed together. */
INLINE void put(struct cf_runs *r, const __m512i *line, uint32_t row, uint64_t begins,
                uint64_t space, int doubled)
{
    const __m512i key = _mm512_set1_epi64((long long)space);
    const __m256i next = _mm256_set1_epi32(LANES >> doubled);
    __m256i number =
        _mm256_add_epi32(_mm256_set1_epi32((int)row),
                         _mm256_srli_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), doubled));
    uint64_t *lines = r->line + r->count;
    uint32_t *rows = r->row + r->count;

#pragma GCC unroll 8
    for (unsigned k = 0; k < VECTORS; k++) {
        const __mmask8 those = (__mmask8)(begins >> LANES * k);
        const unsigned count = (unsigned)__builtin_popcount(those);

        _mm512_storeu_si512(lines,
                            _mm512_maskz_compress_epi64(those, _mm512_xor_si512(line[k], key)));
        _mm256_storeu_si256((__m256i *)(void *)rows, _mm256_maskz_compress_epi32(those, number));
        number = _mm256_add_epi32(number, next);
        lines += count;
        rows += count;
    }
}

INLINE void put_flags(uint8_t *flags, const struct cf_runs_found *f)
{
    const __m512i store = _mm512_maskz_set1_epi8(f->store, CF_RUN_STORE);
    const __m512i again = _mm512_maskz_set1_epi8(f->again, CF_RUN_AGAIN);
    const __m512i fetch = _mm512_maskz_set1_epi8(f->fetch, CF_RUN_FETCH);
    const __m512i second = _mm512_maskz_set1_epi8(f->second, CF_RUN_PART);

    _mm512_storeu_si512(
        flags, _mm512_or_si512(_mm512_or_si512(store, again), _mm512_or_si512(fetch, second)));
}

TARGET uint32_t cf_runs_blocks_avx512(struct cf_runs *r, const struct cf_runs_input *in,
                                      uint32_t from, uint32_t rows, struct cf_runs_before *before)
{
    uint32_t done = 0;

    while (rows - done >= ROWS && r->count + ROWS <= r->capacity) {
        const uint32_t row = from + done;
        __m512i line[VECTORS];
        struct cf_runs_masks m;
        unsigned taken;
        int doubled;

        cf_runs_ask(in, row);
        m = look(in->addr + row, in->op + row, in->size + row, r->shift, before->line, line);
        taken = cf_runs_plain(r, in->addr + row, before->line, &m);
        doubled = m.straddles != 0;
        if (doubled) {
            taken = cf_runs_double(r, in->addr + row, in->size + row, &m, taken);
            double_lines(line);
        }
        if (taken) {
            const struct cf_runs_found f =
                cf_runs_find(r, in->addr + row, m, taken, doubled, before);

            put(r, line, row, f.rows, in->space, doubled);
            put_flags(r->flags + r->count, &f);
            r->count += f.count;
        }
        done += taken;
        if (taken < (unsigned)ROWS >> doubled)
            break;
    }
    return done;
}
#endif
