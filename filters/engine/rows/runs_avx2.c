/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs_avx2.c - the plain rows of runs.c, 64 at a time.
 *
 * Vectors make masks with a bit a row: its line differs from that of the row before, it is a
 * load, a store or a fetch, it touches a second line. What is not plain ends the block before it.
 * Then lines and row numbers of the rows that begin runs are packed together, and the flags are
 * found with arithmetic on the masks. Where rows touch two lines, each of 32 rows gets two bits and
 * two places, of which the second takes part where there is a second line.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/rows/runs_parts.h"
#include "formats/stream/cf.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

enum { ROWS = 64 };

/* Four lanes packed to the left by their mask, as halves for _mm256_permutevar8x32_epi32(). */
static const uint32_t pack[16][8] = {
    {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0}, {2, 3, 0, 0, 0, 0, 0, 0},
    {0, 1, 2, 3, 0, 0, 0, 0}, {4, 5, 0, 0, 0, 0, 0, 0}, {0, 1, 4, 5, 0, 0, 0, 0},
    {2, 3, 4, 5, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 0, 0}, {6, 7, 0, 0, 0, 0, 0, 0},
    {0, 1, 6, 7, 0, 0, 0, 0}, {2, 3, 6, 7, 0, 0, 0, 0}, {0, 1, 2, 3, 6, 7, 0, 0},
    {4, 5, 6, 7, 0, 0, 0, 0}, {0, 1, 4, 5, 6, 7, 0, 0}, {2, 3, 4, 5, 6, 7, 0, 0},
    {0, 1, 2, 3, 4, 5, 6, 7},
};

static inline TARGET uint64_t lanes(__m256i v)
{
    return (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(v));
}

/* What 64 rows do. */
static inline TARGET struct cf_runs_masks look_at_ops(const uint8_t *op)
{
    const __m256i load = _mm256_set1_epi8(CF_LOAD), store = _mm256_set1_epi8(CF_STORE);
    const __m256i fetch = _mm256_set1_epi8(CF_IFETCH);
    struct cf_runs_masks m = {0};

#pragma GCC unroll 2
    for (unsigned half = 0; half < 2; half++) {
        const __m256i o = _mm256_loadu_si256((const __m256i *)(const void *)(op + 32 * half));
        const uint32_t l = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(o, load));
        const uint32_t s = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(o, store));
        const uint32_t f = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(o, fetch));

        m.loads |= (uint64_t)l << 32 * half;
        m.stores |= (uint64_t)s << 32 * half;
        m.fetches |= (uint64_t)f << 32 * half;
    }
    return m;
}

static inline TARGET struct cf_runs_masks
look(const uint64_t *addr, const uint8_t *op, const uint32_t *size, unsigned shift, uint64_t before)
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    struct cf_runs_masks m = look_at_ops(op);
    uint64_t same = 0;
    __m256i last = _mm256_set1_epi64x((long long)before);

#pragma GCC unroll 4
    for (unsigned i = 0; i < ROWS; i += 4) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(addr + i));
        const __m128i s = _mm_loadu_si128((const __m128i *)(const void *)(size + i));
        const __m128i less = _mm_add_epi32(
            s, _mm_cmpgt_epi32(_mm_min_epu32(s, _mm_set1_epi32(1)), _mm_setzero_si128()));
        const __m256i line = _mm256_srl_epi64(a, by);
        const __m256i end = _mm256_srl_epi64(_mm256_add_epi64(a, _mm256_cvtepu32_epi64(less)), by);
        /* the line before each: the last one of the four before, then three of these */
        const __m256i prior = _mm256_blend_epi32(_mm256_permute4x64_epi64(line, 0x90),
                                                 _mm256_permute4x64_epi64(last, 0xff), 3);

        same |= lanes(_mm256_cmpeq_epi64(line, prior)) << i;
        m.straddles |= (lanes(_mm256_cmpeq_epi64(line, end)) ^ 15) << i;
        last = line;
    }
    m.begins = ~same;
    return m;
}

/* Lines of the first 32 rows, each and the one behind it. */
static inline TARGET void double_lines(const uint64_t *addr, unsigned shift, uint64_t *slot)
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m256i second = _mm256_setr_epi64x(0, 1, 0, 1);

    for (unsigned i = 0; i < ROWS / 2; i += 4) {
        const __m256i line =
            _mm256_srl_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(addr + i)), by);

        _mm256_storeu_si256((__m256i *)(void *)(slot + 2 * i),
                            _mm256_add_epi64(_mm256_permute4x64_epi64(line, 0x50), second));
        _mm256_storeu_si256((__m256i *)(void *)(slot + 2 * i + 4),
                            _mm256_add_epi64(_mm256_permute4x64_epi64(line, 0xfa), second));
    }
}

/* Lines and rows of those that begin runs, packed together; lines are address >> shift. */
static inline TARGET void put(struct cf_runs *r, const uint64_t *addr, unsigned shift, uint32_t row,
                              uint64_t begins, uint64_t space, int doubled)
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m256i key = _mm256_set1_epi64x((long long)space);
    uint64_t *line = r->line + r->count;
    uint32_t *rows = r->row + r->count;

    for (unsigned i = 0; i < ROWS; i += 8) {
        const uint64_t eight = begins >> i & 0xff;
        /* a byte for each row that begins a run: its number in the eight */
        const uint64_t which =
            _pext_u64(0x0706050403020100u, _pdep_u64(eight, 0x0101010101010101u) * 0xff);
        const __m256i number =
            _mm256_srli_epi32(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)which)), doubled);

        if (!eight)
            continue;
        _mm256_storeu_si256(
            (__m256i *)(void *)rows,
            _mm256_add_epi32(number, _mm256_set1_epi32((int)(row + (i >> doubled)))));
        rows += __builtin_popcountll(eight);
        for (unsigned k = 0; k < 8; k += 4) {
            const uint64_t four = eight >> k & 15;
            const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(addr + i + k));
            const __m256i order = _mm256_loadu_si256((const __m256i *)(const void *)pack[four]);

            _mm256_storeu_si256(
                (__m256i *)(void *)line,
                _mm256_permutevar8x32_epi32(_mm256_xor_si256(_mm256_srl_epi64(a, by), key), order));
            line += __builtin_popcountll(four);
        }
    }
}

static inline TARGET void put_flags(uint8_t *flags, const struct cf_runs_found *f)
{
    const uint64_t bytes = 0x0101010101010101u;

    for (unsigned k = 0; k < f->count; k += 8) {
        const uint64_t eight = _pdep_u64(f->store >> k, CF_RUN_STORE * bytes) |
                               _pdep_u64(f->again >> k, CF_RUN_AGAIN * bytes) |
                               _pdep_u64(f->fetch >> k, CF_RUN_FETCH * bytes) |
                               _pdep_u64(f->second >> k, CF_RUN_PART * bytes);

        __builtin_memcpy(flags + k, &eight, 8);
    }
}

TARGET uint32_t cf_runs_blocks_avx2(struct cf_runs *r, const struct cf_runs_input *in,
                                    uint32_t from, uint32_t rows, struct cf_runs_before *before)
{
    uint32_t done = 0;

    while (rows - done >= ROWS && r->count + ROWS <= r->capacity) {
        const uint32_t row = from + done;
        const uint64_t *value = in->addr + row;
        uint64_t slot[ROWS];
        struct cf_runs_masks m;
        unsigned taken;
        int doubled;

        cf_runs_ask(in, row);
        m = look(in->addr + row, in->op + row, in->size + row, r->shift, before->line);
        taken = cf_runs_plain(r, in->addr + row, before->line, &m);
        doubled = m.straddles != 0;
        if (doubled) {
            taken = cf_runs_double(r, in->addr + row, in->size + row, &m, taken);
            double_lines(in->addr + row, r->shift, slot);
            value = slot;
        }
        if (taken) {
            const struct cf_runs_found f =
                cf_runs_find(r, in->addr + row, m, taken, doubled, before);

            put(r, value, doubled ? 0 : r->shift, row, f.rows, in->space, doubled);
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
