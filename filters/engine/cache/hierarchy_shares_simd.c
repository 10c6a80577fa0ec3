/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_shares_simd.c - references to the lists of their shares.
 *
 * With AVX-512 eight at a time, by compressing those of each share: at most a fourth of the time
 * where shares are two. Where they are many, most of eight are of different ones.
 */
#include "filters/engine/cache/hierarchy_shares_parts.h"
#include "formats/base/cf_simd.h"

static void deal_one(const struct cf_runs *r, uint32_t i, uint32_t row, unsigned kind,
                     const struct dealing *d)
{
    const uint64_t line = r->line[i];
    const unsigned share = cfh_share_of(d, line);
    struct cf_share_list *l = &d->refs[share].list[kind];
    const size_t n = l->count;

    if (d->drops && n > d->begin[share][kind] &&
        cfh_repeats(line, r->flags[i], l->line[n - 1], l->flags[n - 1]))
        return;
    l->count++;
    l->line[n] = line;
    l->row[n] = row;
    l->flags[n] = r->flags[i];
}

#if defined(CF_SIMD_AVX512)
enum { FEW_SHARES = 8 };

/* Those of `mask` that are no repeated references, of references that were compressed. */
CF_INLINE unsigned not_repeated(const struct cf_share_list *l, unsigned mask, __m512i line,
                                __m512i flags, int any_before)
{
    const __m512i apart = _mm512_set1_epi64(CF_RUN_FETCH | CF_RUN_PREFETCH | CF_RUN_FLUSH);
    const __m512i never = _mm512_set1_epi64(CF_RUN_PREFETCH | CF_RUN_FLUSH);
    const size_t last = l->count - (any_before != 0);
    const __m512i line_before = _mm512_alignr_epi64(
        line, _mm512_set1_epi64((int64_t)(any_before ? l->line[last] : CF_NO_LINE)), 7);
    const __m512i flags_before =
        _mm512_alignr_epi64(flags, _mm512_set1_epi64(any_before ? l->flags[last] : 0), 7);
    const __m512i differs =
        _mm512_or_si512(_mm512_and_si512(_mm512_xor_si512(flags, flags_before), apart),
                        _mm512_and_si512(flags, never));
    const __m512i stores =
        _mm512_and_si512(_mm512_andnot_si512(flags_before, flags), _mm512_set1_epi64(CF_RUN_STORE));

    return mask & ~(unsigned)(_mm512_cmpeq_epi64_mask(line, line_before) &
                              _mm512_testn_epi64_mask(_mm512_or_si512(differs, stores),
                                                      _mm512_or_si512(differs, stores)));
}

/* Appends those of eight references that a mask has, to lists with room for eight. */
CF_INLINE void put_some(struct cf_share_list *l, unsigned mask, __m512i line, __m512i row_flags,
                        int drops, size_t begin)
{
    unsigned kept = (1u << __builtin_popcount(mask)) - 1;

    line = _mm512_maskz_compress_epi64((__mmask8)mask, line);
    row_flags = _mm512_maskz_compress_epi64((__mmask8)mask, row_flags);
    if (drops) {
        kept = not_repeated(l, kept, line, _mm512_srli_epi64(row_flags, 32), l->count > begin);
        line = _mm512_maskz_compress_epi64((__mmask8)kept, line);
        row_flags = _mm512_maskz_compress_epi64((__mmask8)kept, row_flags);
    }
    _mm512_storeu_si512(l->line + l->count, line);
    _mm256_storeu_si256((__m256i *)(l->row + l->count), _mm512_cvtepi64_epi32(row_flags));
    _mm_storel_epi64((__m128i *)(l->flags + l->count),
                     _mm512_cvtepi64_epi8(_mm512_srli_epi64(row_flags, 32)));
    l->count += (unsigned)__builtin_popcount(kept);
}

static uint32_t deal_eights(const struct cf_runs *r, uint32_t first, int numbered, unsigned kind,
                            const struct dealing *d)
{
    const __m512i groups = _mm512_set1_epi64(d->groups - 1), shares = _mm512_set1_epi64(d->shares);
    /* group / shares, exactly, since groups are at most 256 */
    const __m512i inverse = _mm512_set1_epi64((65536 + d->shares - 1) / d->shares);
    const __m128i shift = _mm_cvtsi32_si128((int)d->shift);
    const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    uint32_t i = 0;

    for (; i + 8 <= r->count; i += 8) {
        const __m512i line = _mm512_loadu_si512(r->line + i);
        const __m512i flags =
            _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(r->flags + i)));
        const __m512i group = _mm512_and_si512(_mm512_srl_epi64(line, shift), groups);
        const __m512i quotient = _mm512_srli_epi64(_mm512_mul_epu32(group, inverse), 16);
        const __m512i share = _mm512_sub_epi64(group, _mm512_mul_epu32(quotient, shares));
        const __m256i base = _mm256_set1_epi32((int)(numbered ? first + i : first));
        const __m256i row = _mm256_add_epi32(
            base, numbered ? steps : _mm256_loadu_si256((const __m256i *)(r->row + i)));

        for (unsigned s = 0; s < d->shares; s++)
            put_some(&d->refs[s].list[kind], _mm512_cmpeq_epi64_mask(share, _mm512_set1_epi64(s)),
                     line,
                     _mm512_or_si512(_mm512_cvtepu32_epi64(row), _mm512_slli_epi64(flags, 32)),
                     d->drops, d->begin[s][kind]);
    }
    return i;
}
#endif

void CF_SIMD(cfh_deal)(const struct cf_runs *r, uint32_t first, int numbered, unsigned kind,
                       const struct dealing *d)
{
    uint32_t i = 0;

#if defined(CF_SIMD_AVX512)
    if (d->shares <= FEW_SHARES)
        i = deal_eights(r, first, numbered, kind, d);
#endif
    for (; i < r->count; i++)
        deal_one(r, i, numbered ? first + i : r->row[i] + first, kind, d);
}
