/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_avx512.c - step 1 of coherence.c by vectors.
 *
 * Rows become runs 64 at a time. Eight rows a vector, lines and the words that are touched stay in
 * registers until masks with a bit a row say where runs begin; then those of the beginning rows are
 * packed together. Only stores that are not the first of their run are then taken one by one.
 */
#include "filters/engine/classes/coherence_parts.h"

#ifdef HAVE_AVX512_COHERENCE
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { ROWS = 64, LANES = 8, VECTORS = ROWS / LANES };

/* 64 rows: a bit a row, and vectors of the rows' lines and of the words that they touch. */
struct rows {
    uint64_t begins, stores, plain;
    __m512i line[VECTORS], touch[VECTORS];
};

/* Asks for the rows AHEAD behind `row`: the processor by itself does not look far enough ahead in
   three columns at once, least of all while what is known of lines comes at random. */
INLINE void ask(const struct cf_coherence_rows *in, uint32_t row)
{
    enum { AHEAD = 256, LINE = 64 };
    const char *const addr = (const char *)(in->addr + row + AHEAD);
    const char *const size = (const char *)(in->size + row + AHEAD);

    for (unsigned k = 0; k < ROWS * sizeof(*in->addr) / LINE; k++)
        _mm_prefetch(addr + LINE * k, _MM_HINT_T0);
    for (unsigned k = 0; k < ROWS * sizeof(*in->size) / LINE; k++)
        _mm_prefetch(size + LINE * k, _MM_HINT_T0);
    _mm_prefetch((const char *)(in->op + row + AHEAD), _MM_HINT_T0);
}

INLINE void look(struct rows *r, const struct cf_coherence *c, const struct cf_coherence_rows *in,
                 uint32_t row, __m512i before)
{
    const __m128i shift = _mm_cvtsi32_si128((int)c->g.line_shift);
    const __m128i unit = _mm_cvtsi32_si128((int)c->unit_shift);
    const __m512i bytes = _mm512_set1_epi64((1 << c->g.line_shift) - 1);
    const __m512i all = _mm512_set1_epi64(-1);
    const __m512i ops = _mm512_loadu_si512(in->op + row);
    const uint64_t loads = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_LOAD));
    uint64_t straddles = 0;

    r->stores = _mm512_cmpeq_epi8_mask(ops, _mm512_set1_epi8(CF_STORE));
    r->begins = _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(in->core + row),
                                        _mm512_loadu_si512(in->core + row - 1));
    for (unsigned k = 0; k < VECTORS; k++) {
        const __m512i addr = _mm512_loadu_si512(in->addr + row + LANES * k);
        const __m256i size =
            _mm256_loadu_si256((const __m256i *)(const void *)(in->size + row + LANES * k));
        /* an access of no bytes counts as one of one byte */
        const __m256i less =
            _mm256_sub_epi32(_mm256_max_epu32(size, _mm256_set1_epi32(1)), _mm256_set1_epi32(1));
        const __m512i last = _mm512_add_epi64(addr, _mm512_cvtepu32_epi64(less));
        const __m512i line = _mm512_srl_epi64(addr, shift);
        const __m512i from = _mm512_srl_epi64(_mm512_and_si512(addr, bytes), unit);
        const __m512i to = _mm512_srl_epi64(_mm512_and_si512(last, bytes), unit);

        straddles |= (uint64_t)_mm512_cmpneq_epi64_mask(line, _mm512_srl_epi64(last, shift))
                     << LANES * k;
        r->line[k] = _mm512_xor_si512(line, _mm512_loadu_si512(in->space + row + LANES * k));
        r->touch[k] =
            _mm512_and_si512(_mm512_sllv_epi64(all, from),
                             _mm512_srlv_epi64(all, _mm512_xor_si512(to, _mm512_set1_epi64(63))));
        r->begins |= (uint64_t)_mm512_cmpneq_epi64_mask(
                         r->line[k], _mm512_alignr_epi64(r->line[k], before, LANES - 1))
                     << LANES * k;
        before = r->line[k];
    }
    r->plain = (loads | r->stores) & ~straddles;
}

/* Those that begin runs, packed together. */
INLINE void put(struct cf_coherence *c, const struct cf_coherence_rows *in, uint32_t row,
                const struct rows *r)
{
    const __m256i eight = _mm256_set1_epi32(LANES);
    __m256i number =
        _mm256_add_epi32(_mm256_set1_epi32((int)row), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    uint32_t n = c->runs;

    for (unsigned k = 0; k < VECTORS; k++) {
        const uint64_t eight_begin = r->begins >> LANES * k & 0xff;
        const __mmask8 those = (__mmask8)eight_begin;
        const __m512i write =
            _mm512_maskz_mov_epi64((__mmask8)(r->stores >> LANES * k), r->touch[k]);
        const uint64_t bytes = _pdep_u64(eight_begin, 0x0101010101010101u) * 0xff;
        uint64_t core, op;

        __builtin_memcpy(&core, in->core + row + LANES * k, sizeof(core));
        __builtin_memcpy(&op, in->op + row + LANES * k, sizeof(op));
        core = _pext_u64(core, bytes);
        op = _pext_u64(op, bytes);
        __builtin_memcpy(c->core + n, &core, sizeof(core));
        __builtin_memcpy(c->op + n, &op, sizeof(op));
        _mm512_storeu_si512(c->line + n, _mm512_maskz_compress_epi64(those, r->line[k]));
        _mm512_storeu_si512(c->touch + n, _mm512_maskz_compress_epi64(those, r->touch[k]));
        _mm512_storeu_si512(c->write + n, _mm512_maskz_compress_epi64(those, write));
        _mm256_storeu_si256((__m256i *)(void *)(c->row + n),
                            _mm256_maskz_compress_epi32(those, number));
        number = _mm256_add_epi32(number, eight);
        n += (unsigned)__builtin_popcount(those);
    }
}

TARGET uint32_t cf_coherence_rows_avx512(struct cf_coherence *c, const struct cf_coherence_rows *in,
                                         uint32_t row, uint32_t rows)
{
    const uint64_t apart = c->g.no_allocate ? UINT64_MAX : 0;
    uint64_t first = 1; /* always begins a run, as does what follows a store that is apart */
    __m512i before = _mm512_setzero_si512();

    while (rows - row >= ROWS && c->runs + ROWS <= BLOCK) {
        struct rows r;
        unsigned taken;
        uint64_t valid, alone;

        ask(in, row);
        look(&r, c, in, row, before);
        taken = ~r.plain ? (unsigned)_tzcnt_u64(~r.plain) : ROWS;
        if (!taken)
            break;
        valid = _bzhi_u64(UINT64_MAX, taken);
        alone = r.stores & apart;
        r.begins |= first | alone | alone << 1;
        if (in->missed) {
            const __m512i missed = _mm512_loadu_si512(in->missed + row);

            r.begins |= _mm512_test_epi8_mask(missed, missed);
        }
        r.begins &= valid;
        r.stores &= valid;
        put(c, in, row, &r);
        for (uint64_t more = r.stores & ~r.begins; more; more &= more - 1) {
            const unsigned i = (unsigned)_tzcnt_u64(more);
            const unsigned began = (unsigned)__builtin_popcountll(_bzhi_u64(r.begins, i));

            c->write[c->runs + began - 1] |= ((const uint64_t *)r.touch)[i];
        }
        c->runs += (unsigned)__builtin_popcountll(r.begins);
        c->counts.references[CF_STORE] += (unsigned)__builtin_popcountll(r.stores);
        c->counts.references[CF_LOAD] += (unsigned)__builtin_popcountll(valid & ~r.stores);
        row += taken;
        if (taken < ROWS)
            break;
        first = alone >> (ROWS - 1);
        before = r.line[VECTORS - 1];
    }
    return row;
}
#endif
