/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots_avx512.c - the lookup of slots.c for eight lines at once, as far as their regions are found
 * in the first place that is asked and their pages are known: three gathers, and nothing to
 * predict.
 */
#include "filters/engine/rows/slots_parts.h"

#ifdef HAVE_AVX512_SLOTS
#include <immintrin.h>

enum { LANES = 8 };

__attribute__((target("avx512f,avx512dq,avx512vl"))) size_t
cf_slots_known_avx512(const struct cf_slots *s, const uint64_t *line, size_t count, uint32_t *slot)
{
    const __m512i factor = _mm512_set1_epi64((long long)s->factor);
    const __m512i pages = _mm512_set1_epi64((1 << (CF_SLOTS_REGION_BITS - CF_SLOTS_PAGE_BITS)) - 1);
    const __m512i one = _mm512_set1_epi64(1);
    const __m128i shift = _mm_cvtsi32_si128((int)s->shift);
    size_t i;

    for (i = 0; i + LANES <= count; i += LANES) {
        const __m512i lines = _mm512_loadu_si512(line + i);
        const __m512i region = _mm512_srli_epi64(lines, CF_SLOTS_REGION_BITS);
        const __m512i home = _mm512_srl_epi64(_mm512_mullo_epi64(region, factor), shift);
        /* entries are of two words, the number in the second */
        const __m512i at = _mm512_add_epi64(home, home);
        const __m512i named = _mm512_i64gather_epi64(at, s->table, 8);
        const __m512i number = _mm512_i64gather_epi64(at, (const uint64_t *)s->table + 1, 8);
        /* element of `page`, if the region is there */
        const __m512i of_page =
            _mm512_or_si512(_mm512_slli_epi64(_mm512_sub_epi64(number, one),
                                              CF_SLOTS_REGION_BITS - CF_SLOTS_PAGE_BITS),
                            _mm512_and_si512(_mm512_srli_epi64(lines, CF_SLOTS_PAGE_BITS), pages));
        __m256i page, first, in_page;

        if (_mm512_cmpneq_epi64_mask(named, region) | _mm512_testn_epi64_mask(number, number))
            break;
        page = _mm512_i64gather_epi32(of_page, s->page, 4);
        if (_mm256_testn_epi32_mask(page, page))
            break;
        first = _mm256_slli_epi32(_mm256_sub_epi32(page, _mm256_set1_epi32(1)), CF_SLOTS_PAGE_BITS);
        in_page =
            _mm256_and_si256(_mm512_cvtepi64_epi32(lines), _mm256_set1_epi32(CF_SLOTS_PAGE - 1));
        _mm256_storeu_si256((__m256i *)(void *)(slot + i), _mm256_or_si256(first, in_page));
    }
    return i;
}
#endif
