/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_rows_simd.c - the plain rows of coherence.c, 64 at a time: loads and stores of one line
 * each. Vectors make masks with a bit a row, which say where runs begin; then what is known of
 * those rows is put together.
 */
#include "filters/engine/classes/coherence_parts.h"
#include "formats/base/cf_simd.h"

enum { ROWS = COHERENCE_ROWS };

/* 64 rows: a bit each, and their lines. */
struct rows {
    uint64_t begins, stores, plain;
    uint64_t line[ROWS] __attribute__((aligned(64)));
};

/* Asks for the rows AHEAD behind `row`: the processor by itself does not look far enough ahead in
   three columns at once, least of all while what is known of lines comes at random. */
CF_INLINE void ask(const struct cf_coherence_rows *in, uint32_t row)
{
    enum { AHEAD = 256 };

#pragma GCC unroll 8
    for (unsigned k = 0; k < ROWS; k += 8)
        __builtin_prefetch(in->addr + row + AHEAD + k);
#pragma GCC unroll 4
    for (unsigned k = 0; k < ROWS; k += 16)
        __builtin_prefetch(in->size + row + AHEAD + k);
    __builtin_prefetch(in->op + row + AHEAD);
}

/* A bit for each row that is of another core than the one before. */
CF_INLINE uint64_t core_changes(const uint8_t *core)
{
    uint64_t same = 0;

#ifdef __x86_64__
#pragma GCC unroll 4
    for (unsigned k = 0; k < ROWS; k += 16) {
        const __m128i now = _mm_loadu_si128((const __m128i *)(const void *)(core + k));
        const __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(core + k - 1));

        same |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(now, last)) << k;
    }
#else
    for (unsigned k = 0; k < ROWS; k++)
        same |= (uint64_t)(core[k] == *(core + k - 1)) << k;
#endif
    return ~same;
}

#if defined(CF_SIMD_AVX512) || defined(CF_SIMD_AVX2)
/* Bytes behind the first that rows access; an access of no bytes counts as one of one byte. */
CF_INLINE cf_vec more_bytes(const uint32_t *size)
{
    typedef uint32_t half __attribute__((vector_size(CF_LANES * sizeof(*size))));
    half v;

    memcpy(&v, size, sizeof(v));
    v += (half) ~(v == 0);
    return __builtin_convertvector(v, cf_vec);
}

/* Which rows access one line alone, and in `same` which that of the row before, a bit each. */
CF_INLINE uint64_t one_line(struct rows *r, const struct cf_coherence_rows *in, uint32_t row,
                            unsigned shift, uint64_t last, uint64_t *same)
{
    cf_vec before = cf_vec_all(last);
    uint64_t one = 0;

    *same = 0;
#pragma GCC unroll 8
    for (unsigned k = 0; k < ROWS; k += CF_LANES) {
        const cf_vec addr = cf_vec_load(in->addr + row + k), first = addr >> shift;
        const cf_vec end = (addr + more_bytes(in->size + row + k)) >> shift;
        const cf_vec line = first ^ cf_vec_load(in->space + row + k);

        one |= (uint64_t)cf_vec_equal(first, end) << k;
        *same |= (uint64_t)cf_vec_equal(line, cf_vec_shift(before, line)) << k;
        cf_vec_store(r->line + k, line);
        before = line;
    }
    return one;
}
#else
/* The same: vectors of two would not be faster. */
CF_INLINE uint64_t one_line(struct rows *r, const struct cf_coherence_rows *in, uint32_t row,
                            unsigned shift, uint64_t before, uint64_t *same)
{
    uint64_t one = 0, equal = 0;

    for (unsigned k = 0; k < ROWS; k++) {
        const uint64_t addr = in->addr[row + k], size = in->size[row + k];
        const uint64_t first = addr >> shift, line = first ^ in->space[row + k];

        one |= (uint64_t)(first == (addr + (size - (size != 0))) >> shift) << k;
        equal |= (uint64_t)(line == before) << k;
        r->line[k] = before = line;
    }
    *same = equal;
    return one;
}
#endif

CF_INLINE void look(struct rows *r, const struct cf_coherence *c,
                    const struct cf_coherence_rows *in, uint32_t row, uint64_t before)
{
    uint64_t same, one = one_line(r, in, row, c->g.line_shift, before, &same);

    r->stores = cf_bytes_equal(in->op + row, CF_STORE);
    r->begins = ~same | core_changes(in->core + row);
    r->plain = one & (r->stores | cf_bytes_equal(in->op + row, CF_LOAD));
}

/* Words that a row of one line touches. */
CF_INLINE uint64_t touched(const struct cf_coherence *c, const struct cf_coherence_rows *in,
                           uint32_t row)
{
    const uint64_t bytes = ((uint64_t)1 << c->g.line_shift) - 1, from = in->addr[row] & bytes;
    const uint32_t size = in->size[row];

    return bits_of(from >> c->unit_shift, (from + (size - (size != 0))) >> c->unit_shift);
}

/* Those that begin runs. */
CF_INLINE void put(struct cf_coherence *c, const struct cf_coherence_rows *in, uint32_t row,
                   const struct rows *r)
{
    uint32_t n = c->runs;

#ifdef CF_SIMD_AVX512
    const uint64_t bytes = ((uint64_t)1 << c->g.line_shift) - 1;
    const cf_vec all = cf_vec_all(UINT64_MAX);
    const __m256i eight = _mm256_set1_epi32(CF_LANES);
    __m256i number =
        _mm256_add_epi32(_mm256_set1_epi32((int)row), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));

    for (unsigned k = 0; k < ROWS / CF_LANES; k++) {
        const uint32_t at = row + CF_LANES * k;
        const __mmask8 those = (__mmask8)(r->begins >> CF_LANES * k);
        const uint64_t lanes = _pdep_u64(those, 0x0101010101010101u) * 0xff;
        const cf_vec addr = cf_vec_load(in->addr + at), last = addr + more_bytes(in->size + at);
        const cf_vec from = (addr & bytes) >> c->unit_shift, to = (last & bytes) >> c->unit_shift;
        const cf_vec touch = (all << from) & (all >> (63 - to));
        const cf_vec write = cf_vec_pick(r->stores >> CF_LANES * k & 0xff, touch, all - all);
        uint64_t core, op;

        memcpy(&core, in->core + at, sizeof(core));
        memcpy(&op, in->op + at, sizeof(op));
        core = _pext_u64(core, lanes);
        op = _pext_u64(op, lanes);
        memcpy(c->core + n, &core, sizeof(core));
        memcpy(c->op + n, &op, sizeof(op));
        _mm512_storeu_si512(c->line + n, _mm512_maskz_compress_epi64(
                                             those, (__m512i)cf_vec_load(r->line + CF_LANES * k)));
        _mm512_storeu_si512(c->touch + n, _mm512_maskz_compress_epi64(those, (__m512i)touch));
        _mm512_storeu_si512(c->write + n, _mm512_maskz_compress_epi64(those, (__m512i)write));
        _mm256_storeu_si256((__m256i *)(void *)(c->row + n),
                            _mm256_maskz_compress_epi32(those, number));
        number = _mm256_add_epi32(number, eight);
        n += (unsigned)__builtin_popcount(those);
    }
#else
    for (uint64_t left = r->begins; left; left &= left - 1, n++) {
        const unsigned i = (unsigned)__builtin_ctzll(left);

        c->line[n] = r->line[i];
        c->touch[n] = touched(c, in, row + i);
        c->write[n] = c->touch[n] & -(r->stores >> i & 1);
        c->row[n] = row + i;
        c->core[n] = in->core[row + i];
        c->op[n] = in->op[row + i];
    }
#endif
}

uint32_t CF_SIMD(cf_coherence_plain_rows)(struct cf_coherence *c,
                                          const struct cf_coherence_rows *in, uint32_t row,
                                          uint32_t rows)
{
    const uint64_t apart = c->g.no_allocate ? UINT64_MAX : 0;
    uint64_t first = 1; /* always begins a run, as does what follows a store that is apart */
    uint64_t before = 0;

    while (rows - row >= ROWS && c->runs + ROWS <= BLOCK) {
        struct rows r;
        unsigned taken;
        uint64_t valid, alone;

        ask(in, row);
        look(&r, c, in, row, before);
        taken = ~r.plain ? (unsigned)__builtin_ctzll(~r.plain) : ROWS;
        if (!taken)
            break;
        valid = UINT64_MAX >> (ROWS - taken);
        alone = r.stores & apart;
        r.begins |= first | alone | alone << 1;
        if (in->missed)
            r.begins |= ~cf_bytes_equal(in->missed + row, 0);
        r.begins &= valid;
        r.stores &= valid;
        put(c, in, row, &r);
        for (uint64_t more = r.stores & ~r.begins; more; more &= more - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(more);
            const uint64_t began = r.begins & (((uint64_t)1 << i) - 1);

            c->write[c->runs + (unsigned)__builtin_popcountll(began) - 1] |=
                touched(c, in, row + i);
        }
        c->runs += (unsigned)__builtin_popcountll(r.begins);
        c->counts.references[CF_STORE] += (unsigned)__builtin_popcountll(r.stores);
        c->counts.references[CF_LOAD] += (unsigned)__builtin_popcountll(valid & ~r.stores);
        row += taken;
        if (taken < ROWS)
            break;
        first = alone >> (ROWS - 1);
        before = r.line[ROWS - 1];
    }
    return row;
}
