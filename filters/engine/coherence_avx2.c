/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_avx2.c - step 4 of coherence.c for two cores and sets of 8 ways.
 *
 * A set is one vector of slots. Comparing all ways at once tells a hit and its place, a permutation
 * brings the line to the front whether it was there or not, and a comparison in the other core's
 * set tells whether a store takes it away there. So nothing need be kept of who holds a line, nor
 * changed for the line that is put out, and branches remain only where sharing happens.
 */
#include "filters/engine/coherence_parts.h"

#ifdef HAVE_AVX2_COHERENCE
#include <immintrin.h>

enum { WAYS = 8 };

/* What goes to each way when the line at way k goes to the front: the ways before k move by one. */
static const uint32_t moves[WAYS][WAYS] __attribute__((aligned(32))) = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 3, 4, 5, 6, 7}, {2, 0, 1, 3, 4, 5, 6, 7},
    {3, 0, 1, 2, 4, 5, 6, 7}, {4, 0, 1, 2, 3, 5, 6, 7}, {5, 0, 1, 2, 3, 4, 6, 7},
    {6, 0, 1, 2, 3, 4, 5, 7}, {7, 0, 1, 2, 3, 4, 5, 6},
};

__attribute__((target("avx2,bmi,bmi2"))) void
cf_coherence_pair_avx2(struct cf_coherence *c, const struct cf_coherence_rows *in, uint8_t *class)
{
    uint32_t *const state = c->pair;
    const ptrdiff_t apart = (ptrdiff_t)c->g.sets * WAYS;
    /* two, since neighbours often count the same */
    uint64_t count[2][CF_CLASS_OPS * 8] = {{0}};

    for (uint32_t i = 0; i < c->runs; i++) {
        const unsigned core = c->core[i], mine = 16 * core;
        const uint32_t slot = c->slot[i], row = c->row[i];
        const uint32_t later = i + AHEAD < c->runs ? i + AHEAD : i;
        uint32_t *const set = c->set[i], *const other = set + (core ? -apart : apart);
        const __m256i key = _mm256_set1_epi32((int)slot);
        const __m256i ways = _mm256_loadu_si256((const __m256i *)set);
        const __m256i theirs = _mm256_loadu_si256((const __m256i *)other);
        const unsigned there =
            (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(ways, key)));
        const unsigned taken =
            (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(theirs, key)));
        const __m256i move =
            _mm256_load_si256((const __m256i *)moves[__builtin_ctz(there | 1 << (WAYS - 1))]);
        const uint32_t before = state[slot], write = (uint32_t)c->write[i];
        const uint32_t news = before >> mine & 0xffff;
        unsigned found = c->found[i] == CF_FULL_HIT ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY;

        __builtin_prefetch(&state[c->slot[later]], 1);
        _mm256_storeu_si256((__m256i *)set,
                            _mm256_blend_epi32(_mm256_permutevar8x32_epi32(ways, move), key, 1));
        found = c->found[i] == CF_FULL_NEVER_SEEN ? CF_CLASS_COMPULSORY : found;
        if (news && found != CF_CLASS_COMPULSORY) {
            const uint64_t line = c->line[i] ^ (in->space ? in->space[row] : 0);
            const uint64_t touched = words_of(c, in->addr[row], last_byte(in, row), line);

            found = news & touched ? CF_CLASS_TRUE_SHARING : CF_CLASS_FALSE_SHARING;
        }
        found = there ? CF_CLASS_NONE : found;
        cf_class_raise(&class[row], (uint8_t)found);
        count[i & 1][op_of(in, row) * 8 + found]++;
        if (write && taken) {
            take_out(other, WAYS, slot);
            c->invalidations++;
        }
        /* the other core is told the words that are written */
        state[slot] = (before & 0xffff0000u >> mine) | write << (16 - mine);
    }
    for (unsigned op = 0; op < CF_CLASS_OPS; op++)
        for (unsigned k = CF_CLASS_COMPULSORY; k < CF_CLASSES; k++)
            c->counts.misses[op][k] += count[0][op * 8 + k] + count[1][op * 8 + k];
}
#endif
