/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline (hierarchy_pipe.c) once more, for machines whose levels are all LRU caches of up to
 * 16 ways that write back, allocate and have lines of one size, as long as nobody watches. The
 * sets of a first level are a power of two; those of a last level often are not.
 *
 * Then all events behind the first level are reads, or dirty lines given back; and an entry of a
 * set, which is a line with CF_CACHE_DIRTY, says which it is. So dirty victims are handed on as
 * they were found. A level takes two loops:
 *   - run() searches and changes the sets, without a branch that depends on the outcome: the ways
 *     up to the one that holds the line, or up to the last where none does, take the entry of their
 *     left neighbour, and the line goes in front. The entry that this overwrites is the line's own
 *     or the victim. What missed is listed with it. Where misses are few, two branches that are
 *     usually foreseen save the most of this.
 *   - emit() makes of eight misses at a time the list of the next level, each read followed by its
 *     dirty victim.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/cache/cache_parts.h"
#include "filters/engine/cache/hierarchy_parts.h"

#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 8, AHEAD = 16, FEW = 8, STEP = 1024 };

/* What missed of STEP events. In one struct, so that the loop needs one pointer for it. */
struct cfh_misses {
    uint64_t line[STEP + LANES];
    uint64_t victim[STEP + LANES]; /* as in cf_cache_batch() */
    uint64_t row[STEP + LANES];
};

/* A level, and what arrives there. */
struct stage {
    uint64_t *sets;
    const struct cf_cache *cache;
    uint64_t low, ways; /* bits of a line's number that tell its set; ways of a set */
    const uint64_t *line;
    const uint32_t *row;
    const uint8_t *flags; /* of runs, NULL behind the first level */
};

INLINE uint64_t equal(__m512i v, __m512i line)
{
    const __m512i no_dirty = _mm512_set1_epi64((long long)~CF_CACHE_DIRTY);

    return _mm512_testn_epi64_mask(_mm512_xor_si512(v, line), no_dirty);
}

/* odd: the sets are no power of two. */
INLINE uint64_t *set_of(const struct stage *s, uint64_t *sets, uint64_t entry, uint64_t low,
                        uint64_t ways, const int odd)
{
    return sets + (odd ? cf_cache_index(s->cache, entry & ~CF_CACHE_DIRTY) : entry & low) * ways;
}

/* Returns the number of misses. Whole vectors are stored, since the processor hands on what was
   stored to a load that follows only if it was not masked: what lies behind a set is stored as it
   was. */
INLINE uint32_t run(const struct stage *s, uint32_t count, struct cfh_misses *misses,
                    const unsigned known, const int first, const int calm, const int far,
                    const int odd)
{
    uint64_t *const sets = s->sets;
    const uint64_t *const lines = s->line, low = s->low, ways = known ? known : s->ways;
    const uint64_t last = (uint64_t)1 << (ways - 1), exist = last | (last - 1);
    const uint32_t *const rows = s->row;
    const uint8_t *const flags = s->flags;
    const int wide = known != LANES;
    uint64_t n = 0;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t l = first ? lines[i] | (uint64_t)(flags[i] & CF_RUN_STORE) << 63 : lines[i];
        uint64_t *const set = set_of(s, sets, l, low, ways, odd);
        uint64_t m, old, upto, hits;
        __m512i wanted, front, v0, v1;

        if (far)
            for (unsigned k = 0; k < 2; k++)
                __builtin_prefetch(set_of(s, sets, lines[i + AHEAD], low, ways, odd) + LANES * k,
                                   1);
        if (calm && (set[0] ^ l) << 1 == 0) {
            if (l > set[0]) /* a store to a clean line */
                set[0] = l;
            continue;
        }
        wanted = _mm512_set1_epi64((long long)l);
        v0 = _mm512_loadu_si512(set);
        v1 = wide ? _mm512_loadu_si512(set + LANES) : v0;
        m = equal(v0, wanted);
        if (wide)
            m |= equal(v1, wanted) << LANES;
        if (!known)
            m &= exist;
        upto = _blsmsk_u64(m | last);
        old = set[_tzcnt_u64(m | last)];
        hits = m != 0;
        if (!calm || __builtin_expect(!hits, 0)) {
            misses->line[n] = first ? lines[i] : l;
            misses->row[n] = rows[i];
            misses->victim[n] = old;
            n += hits ^ 1;
        }
        front = _mm512_set1_epi64((long long)(l | (old & hits << 63)));
        _mm512_storeu_si512(set,
                            _mm512_mask_alignr_epi64(v0, (__mmask8)upto, v0, front, LANES - 1));
        if (wide)
            _mm512_storeu_si512(set + LANES, _mm512_mask_alignr_epi64(v1, (__mmask8)(upto >> LANES),
                                                                      v1, v0, LANES - 1));
    }
    return (uint32_t)n;
}

typedef uint32_t runner(const struct stage *s, uint32_t count, struct cfh_misses *misses);

#define RUNNER(name, ways, first, calm, far, odd)                                                  \
    static TARGET uint32_t name(const struct stage *s, uint32_t count, struct cfh_misses *misses)  \
    {                                                                                              \
        return run(s, count, misses, ways, first, calm, far, odd);                                 \
    }

RUNNER(first_8, 8, 1, 0, 0, 0)
RUNNER(first_16, 16, 1, 0, 0, 0)
RUNNER(first_any, 0, 1, 0, 1, 0)
RUNNER(first_8_calm, 8, 1, 1, 0, 0)
RUNNER(first_16_calm, 16, 1, 1, 0, 0)
RUNNER(first_any_calm, 0, 1, 1, 0, 0)
RUNNER(behind_8, 8, 0, 0, 1, 0)
RUNNER(behind_16, 16, 0, 0, 0, 0)
RUNNER(behind_16_far, 16, 0, 0, 1, 0)
RUNNER(behind_any, 0, 0, 0, 1, 0)
RUNNER(behind_odd, 0, 0, 0, 1, 1)

/* What emit() counted. */
struct outcome {
    uint32_t reads, evictions, dirty;
};

/* Of n misses: adds events to `to` unless that is NULL, and lists the rows of the reads. */
INLINE struct outcome emit(const struct cfh_misses *misses, uint32_t n, struct cf_cache_list *to,
                           uint32_t *reader)
{
    const __m512i none = _mm512_set1_epi64((long long)CF_CACHE_NONE);
    const __m512i lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    struct outcome o = {0};
    uint32_t count = to ? to->count : 0;

    for (uint32_t k = 0; k < n; k += LANES) {
        const __mmask8 there = (__mmask8)(n - k < LANES ? _bzhi_u32(0xff, n - k) : 0xff);
        const __m512i line = _mm512_loadu_si512(misses->line + k);
        const __m512i victim = _mm512_loadu_si512(misses->victim + k);
        const __m512i row = _mm512_loadu_si512(misses->row + k);
        const unsigned reads = there & ~(unsigned)_mm512_movepi64_mask(line);
        const unsigned valid = _mm512_mask_cmpneq_epi64_mask(there, victim, none);
        const unsigned dirty = valid & _mm512_movepi64_mask(victim);

        _mm256_storeu_si256(
            (__m256i *)(void *)(reader + o.reads),
            _mm256_maskz_compress_epi32((__mmask8)reads, _mm512_cvtepi64_epi32(row)));
        o.reads += (uint32_t)__builtin_popcount(reads);
        o.evictions += (uint32_t)__builtin_popcount(valid);
        o.dirty += (uint32_t)__builtin_popcount(dirty);
        if (to) {
            const unsigned both = _pdep_u32(reads, 0x5555) | _pdep_u32(dirty, 0xaaaa);
            const __m512i twice = _mm512_or_si512(row, _mm512_slli_epi64(row, 32));

            _mm512_storeu_si512(to->row + count,
                                _mm512_maskz_compress_epi32((__mmask16)both, twice));
            _mm512_storeu_si512(
                to->line + count,
                _mm512_maskz_compress_epi64((__mmask8)both,
                                            _mm512_permutex2var_epi64(line, lower, victim)));
            count += (uint32_t)__builtin_popcount(both & 0xff);
            _mm512_storeu_si512(
                to->line + count,
                _mm512_maskz_compress_epi64((__mmask8)(both >> LANES),
                                            _mm512_permutex2var_epi64(line, upper, victim)));
            count += (uint32_t)__builtin_popcount(both >> LANES);
        }
    }
    if (to)
        to->count = count;
    return o;
}

/* What the reads mean for the rows that wait for them, and for the counts of their classes. */
static void serve(struct cf_hierarchy *h, struct tier *t, const uint32_t *reader, uint32_t reads,
                  const uint8_t *op, uint8_t *hit)
{
    const uint8_t behind = (uint8_t)depth_of(h, t->onward);
    uint64_t *arrived = t->onward == MEMORY ? h->memory : h->tier[t->onward].arrived;
    uint64_t counts = 0, n[CLASSES] = {0};

    for (uint32_t k = 0; k < reads; k++) {
        const uint32_t at = reader[k];

        counts += one_of(op, at);
        hit[at] = hit[at] > behind ? hit[at] : behind;
    }
    add_counts(n, counts);
    for (unsigned c = 0; c < CLASSES; c++) {
        t->missed[c] += n[c];
        arrived[c] += n[c];
    }
}

/* Both lists are in the order of their rows. No row is in both. */
static int merge(struct cf_cache_list *to, const struct cf_cache_list *a,
                 const struct cf_cache_list *b)
{
    uint32_t i = 0, k = 0, n = 0;

    if (cf_cache_list_room(to, a->count + b->count) != 0)
        return -1;
    while (i < a->count || k < b->count) {
        const int first = k == b->count || (i < a->count && a->row[i] < b->row[k]);

        to->line[n] = first ? a->line[i] : b->line[k];
        to->row[n++] = first ? a->row[i] : b->row[k];
        i += (uint32_t)first;
        k += (uint32_t)!first;
    }
    to->count = n;
    return 0;
}

static runner *runner_of(const struct cf_cache *c, int first, int calm)
{
    static runner *const firsts[2][3] = {{first_8, first_16, first_any},
                                         {first_8_calm, first_16_calm, first_any_calm}};
    const unsigned ways = c->ways == LANES ? 0 : c->ways == 2 * LANES ? 1 : 2;

    if (first)
        return firsts[calm][ways];
    if (c->inverse)
        return behind_odd;
    return ways == 0 ? behind_8 : ways == 2 ? behind_any : c->far ? behind_16_far : behind_16;
}

static TARGET int run_level(struct cf_hierarchy *h, struct tier *t, struct stage *s, uint32_t count,
                            const uint8_t *op, uint8_t *hit)
{
    struct cf_cache *c = t->cache[t->at];
    runner *const run_step = runner_of(c, s->flags != NULL, t->calm);
    const int next = t->onward;
    struct cf_cache_list *in = next == MEMORY ? NULL : &h->in[next];
    struct cf_cache_list *to = in && in->count ? &h->out : in;
    struct cf_cache_list swap;
    struct cfh_misses misses;
    uint32_t reader[STEP + LANES], missed = 0;

    if (to && cf_cache_list_room(to, 2 * count) != 0)
        return -1;
    if (to)
        to->count = 0;
    cf_cache_reach_all(c, s->line, count);
    s->sets = c->line;
    s->cache = c;
    s->low = c->sets - 1;
    s->ways = c->ways;
    for (uint32_t left = count; left;) {
        const uint32_t step = left < STEP ? left : STEP;
        const uint32_t n = run_step(s, step, &misses);
        const struct outcome o = emit(&misses, n, to, reader);

        serve(h, t, reader, o.reads, op, hit);
        t->n.evictions += o.evictions;
        t->n.writebacks += o.dirty;
        t->n.write_misses += n - o.reads;
        *(next == MEMORY ? &h->memory_writes : &h->tier[next].n.writes) += o.dirty;
        missed += n;
        left -= step;
        s->line += step;
        s->row += step;
        if (s->flags)
            s->flags += step;
    }
    t->calm = missed < count / FEW;
    if (to == in)
        return 0;
    if (merge(&h->merged, in, to) != 0)
        return -1;
    swap = *in;
    *in = h->merged;
    h->merged = swap;
    return 0;
}

int cfh_pipe_avx512(struct cf_hierarchy *h, const struct cf_runs *data,
                    const struct cf_runs *fetches, const uint8_t *op, uint8_t *hit)
{
    for (unsigned i = 0; i < h->levels; i++) {
        struct cf_cache_list *in = &h->in[i];
        const struct cf_runs *first = h->first[KIND_DATA] == (int)i    ? data
                                      : h->first[KIND_FETCH] == (int)i ? fetches
                                                                       : NULL;
        struct stage s = {.line = in->line, .row = in->row};
        uint32_t count = in->count;

        if (first) {
            s = (struct stage){.line = first->line, .row = first->row, .flags = first->flags};
            count = first->count;
        }
        if (count && run_level(h, &h->tier[i], &s, count, op, hit) != 0)
            return -1;
        in->count = 0;
    }
    return 0;
}
#endif
