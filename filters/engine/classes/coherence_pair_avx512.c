/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_pair_avx512.c - steps 3 and 4 of coherence.c by vectors, for two cores whose sets are a
 * power of two in number and of up to 8 ways.
 *
 * A set of both cores is one vector of slots: comparing all its lanes tells a hit, its place, and
 * whether the other core has the line. One permutation then moves the ways of the one core up to
 * that place by one, which brings the line to the front whether it was there or not, and takes it
 * out of the other's if it is written. So nothing need be kept of who holds a line, nor changed for
 * the line that is put out, and no step has a branch that depends on what is found. While a block
 * passes through the sets, what is known of its lines comes from memory.
 *
 * Next, each run swaps the state of its line for the new one, which depends on nothing else.
 *
 * Last, 64 runs at a time, what was swapped out tells the classes. The fully associative caches are
 * those of full.c with one clock for both, so that a bit a run says of which core it is, and these
 * bits are what a cache's bits become for the new times. With a time below T when the 64 begin, a
 * run misses; their number says where T is at their end, if it moves for these alone; with a time
 * from there on a run hits. Where a time lies between, which is seldom, the 64 go one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence_parts.h"
#include "formats/base/cf_memory.h"

#ifdef HAVE_AVX512_COHERENCE
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { CORES = 2, WAYS = 8, GROUP = 64, LANES = 16, VECTORS = GROUP / LANES };
enum { NEVER = 0, LONG_AGO = 1, FIRST_TIME = 2, LEAST_BITS = 1 << 10, MORE_WORDS = 2 };
static const uint64_t most_bits = (uint64_t)1 << 31;

/* A fully associative cache: see full.c. */
struct full {
    uint64_t *bits;  /* bit t: t is the time of a line in it */
    uint32_t *rank;  /* set bits before each word, when times begin anew */
    uint32_t oldest; /* time of the oldest line; `now` when there is none */
    uint32_t live;   /* lines in it */
};

struct cf_pair {
    uint32_t *ways; /* of a set: those of core 0, then those of core 1 */
    struct full full[CORES];
    uint32_t lines; /* that each can hold */
    uint32_t now;
    uint64_t span;                  /* number of bits, a multiple of 64 */
    uint64_t missed[BLOCK / GROUP]; /* a bit a run */
};

/* The state of a line. */
struct known {
    uint32_t news; /* a bit a word that the other core wrote: 16 bits a core */
    uint32_t unused;
    uint32_t time[CORES];
};

/* 64 runs: a bit each, and what was known of their lines. */
struct group {
    uint64_t all;
    uint64_t of[CORES];
    uint64_t never, gone; /* times: NEVER; before that of the oldest line */
    uint32_t time[GROUP] __attribute__((aligned(64)));
    uint32_t news[GROUP] __attribute__((aligned(64)));
};

/* ---- memory ---- */

static uint64_t span_for(const struct cf_pair *p, uint32_t slots)
{
    const uint64_t lines = (uint64_t)p->lines * 16, all = (uint64_t)slots * 8;
    uint64_t span = (lines < all || lines > most_bits / 4) ? all : lines;

    span = span < LEAST_BITS ? LEAST_BITS : (span + 63) / 64 * 64;
    return span > most_bits ? most_bits : span;
}

/* Bits and ranks for a span, bits 0. */
static int take_bits(struct full *f, uint64_t span)
{
    const size_t bytes = (span / 64 + MORE_WORDS) * sizeof(*f->bits);
    uint64_t *bits = cf_memory_take(bytes);
    uint32_t *rank = malloc(span / 64 * sizeof(*rank));

    if (!bits || !rank) {
        free(bits);
        free(rank);
        return -1;
    }
    memset(bits, 0, bytes);
    free(f->bits);
    free(f->rank);
    f->bits = bits;
    f->rank = rank;
    return 0;
}

struct cf_pair *cf_pair_new(const struct cf_coherence_geometry *g)
{
    const uint64_t lines = (uint64_t)g->sets * g->ways;
    const size_t bytes = (size_t)g->sets * CORES * WAYS * sizeof(uint32_t);
    struct cf_pair *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->lines = lines > CF_SLOTS_MOST ? CF_SLOTS_MOST : (uint32_t)lines;
    p->now = p->full[0].oldest = p->full[1].oldest = FIRST_TIME;
    p->span = span_for(p, 0);
    p->ways = cf_memory_take(bytes);
    if (!p->ways || take_bits(&p->full[0], p->span) != 0 || take_bits(&p->full[1], p->span) != 0) {
        cf_pair_free(p);
        return NULL;
    }
    memset(p->ways, 0xff, bytes); /* CF_NO_SLOT */
    return p;
}

void cf_pair_free(struct cf_pair *p)
{
    if (!p)
        return;
    for (unsigned k = 0; k < CORES; k++) {
        free(p->full[k].bits);
        free(p->full[k].rank);
    }
    free(p->ways);
    free(p);
}

static inline struct known *known_of(const struct cf_coherence *c, uint32_t slot)
{
    return (struct known *)c->state + slot;
}

/* Gives the times FIRST_TIME, ... to the lines in the caches, so that the clock can go on. -1 when
   it cannot for lack of memory. */
TARGET static int begin_anew(struct cf_coherence *c)
{
    struct cf_pair *const p = c->pair;
    const uint64_t want = span_for(p, c->room);

    for (unsigned k = 0; k < CORES; k++) {
        struct full *const f = &p->full[k];
        uint32_t rank = FIRST_TIME;

        f->bits[f->oldest / 64] &= UINT64_MAX << f->oldest % 64;
        for (uint32_t w = f->oldest / 64; w < (p->now + 63) / 64; w++) {
            f->rank[w] = rank;
            rank += (uint32_t)__builtin_popcountll(f->bits[w]);
        }
    }
    for (uint32_t s = 0; s < c->room; s++)
        for (unsigned k = 0; k < CORES; k++) {
            const struct full *const f = &p->full[k];
            uint32_t *const time = &known_of(c, s)->time[k];
            const uint32_t t = *time, w = t / 64;

            if (t >= f->oldest)
                *time = f->rank[w] + (uint32_t)__builtin_popcountll(_bzhi_u64(f->bits[w], t % 64));
            else
                *time = t != NEVER;
        }
    /* without memory it goes on as it is, only slower */
    if (want > p->span && take_bits(&p->full[0], want) == 0 && take_bits(&p->full[1], want) == 0)
        p->span = want;
    p->now = FIRST_TIME;
    for (unsigned k = 0; k < CORES; k++) {
        struct full *const f = &p->full[k];
        const uint32_t end = FIRST_TIME + f->live;

        memset(f->bits, 0, (p->span / 64 + MORE_WORDS) * sizeof(*f->bits));
        memset(f->bits, 0xff, end / 64 * sizeof(*f->bits));
        f->bits[end / 64] = ((uint64_t)1 << end % 64) - 1;
        f->bits[0] &= UINT64_MAX << FIRST_TIME;
        p->now = end > p->now ? end : p->now;
    }
    for (unsigned k = 0; k < CORES; k++)
        p->full[k].oldest = p->full[k].live ? FIRST_TIME : p->now;
    return p->now + GROUP <= p->span ? 0 : -1;
}

/* ---- the sets ---- */

/* Of a core: the half of a set that is its own, the last of its ways, and where ways come from when
   those of the own half move up and those of the other down: 16 is the line, 17 none. */
struct side {
    uint32_t order[2 * WAYS] __attribute__((aligned(64)));
    uint32_t own, last;
};

/* A bit a run: whether it writes. */
INLINE uint64_t writes(const struct cf_coherence *c, uint32_t from)
{
    uint64_t result = 0;

    for (unsigned k = 0; k < GROUP / WAYS; k++) {
        const __m512i write = _mm512_loadu_si512(c->write + from + WAYS * k);

        result |= (uint64_t)_mm512_test_epi64_mask(write, write) << WAYS * k;
    }
    return result;
}

/* Takes a block through the sets: which runs miss, and which copies are lost. */
TARGET static void through_sets(struct cf_coherence *c)
{
    struct cf_pair *const p = c->pair;
    const uint32_t last = (uint32_t)1 << (c->g.ways - 1);
    const struct side side[CORES] = {
        {{16, 0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 17}, 0x00ff, last},
        {{1, 2, 3, 4, 5, 6, 7, 17, 16, 8, 9, 10, 11, 12, 13, 14}, 0xff00, last << WAYS},
    };
    const __m512i none = _mm512_set1_epi32((int)CF_NO_SLOT);
    const uint64_t set_mask = c->g.sets - 1;
    uint32_t *const first = p->ways;
    const struct known *const known = known_of(c, 0);
    const uint32_t runs = c->runs;

    for (uint32_t from = 0; from < runs; from += GROUP) {
        const uint64_t stores = writes(c, from);
        const uint32_t count = runs - from < GROUP ? runs - from : GROUP;
        uint16_t where[GROUP] __attribute__((aligned(64)));
        uint64_t has[CORES] = {0}, one; /* a bit a run: a core has the line; its core is 1 */
        __m512i core;

        for (uint32_t i = 0; i < count; i++) {
            const struct side *const s = &side[c->core[from + i]];
            const __m512i slot = _mm512_broadcastd_epi32(_mm_loadu_si32(c->slot + from + i));
            uint32_t *const set = first + (c->line[from + i] & set_mask) * (CORES * WAYS);
            const __m512i ways = _mm512_load_si512(set);
            const uint32_t there = _mm512_cmpeq_epi32_mask(ways, slot);
            const uint32_t taken = there & ~s->own & -(uint32_t)(stores >> i & 1);
            const uint32_t moves =
                (_blsmsk_u32((there & s->own) | s->last) & s->own) | (-taken & ~s->own);

            __builtin_prefetch(known + c->slot[from + i], 1);
            where[i] = (uint16_t)there;
            _mm512_store_si512(set, _mm512_mask_permutex2var_epi32(
                                        ways, (__mmask16)moves, _mm512_load_si512(s->order),
                                        _mm512_mask_mov_epi32(slot, 0xfffe, none)));
        }
        for (unsigned k = 0; k < 2; k++) {
            const __m512i half = _mm512_load_si512(where + GROUP / 2 * k);

            has[0] |= (uint64_t)_mm512_test_epi16_mask(half, _mm512_set1_epi16(0xff))
                      << GROUP / 2 * k;
            has[1] |= (uint64_t)_mm512_test_epi16_mask(half, _mm512_set1_epi16((short)0xff00))
                      << GROUP / 2 * k;
        }
        core = _mm512_loadu_si512(c->core + from);
        one = _mm512_test_epi8_mask(core, core);
        p->missed[from / GROUP] = _bzhi_u64(~((has[0] & ~one) | (has[1] & one)), count);
        c->invalidations += (unsigned)__builtin_popcountll(
            _bzhi_u64(((has[0] & one) | (has[1] & ~one)) & stores, count));
    }
}

/* ---- what is known of lines ---- */

INLINE uint64_t lanes(uint32_t mask, unsigned k)
{
    return (uint64_t)mask << LANES * k;
}

/* Swaps what is known of the lines of runs `from` to `to` for what is to be known. */
TARGET static void swap(const struct cf_coherence *c, uint32_t from, uint32_t to, struct group *g)
{
    const uint32_t now = c->pair->now;

    for (uint32_t i = from; i < to; i++) {
        const unsigned core = c->core[i], mine = 16 * core;
        struct known *const at = known_of(c, c->slot[i]);
        const uint32_t news = at->news;

        g->time[i - from] = at->time[core];
        g->news[i - from] = news;
        at->time[core] = now + (i - from);
        at->news = (news & 0xffff0000u >> mine) | (uint32_t)c->write[i] << (16 - mine);
    }
}

/* ---- the fully associative caches ---- */

/* Whose time is before that of its core. */
INLINE uint64_t before(const struct group *g, uint32_t time0, uint32_t time1)
{
    const __m512i a = _mm512_set1_epi32((int)time0), b = _mm512_set1_epi32((int)time1);
    uint64_t result = 0;

    for (unsigned k = 0; k < VECTORS; k++)
        result |= lanes(_mm512_cmplt_epu32_mask(
                            _mm512_load_si512(g->time + LANES * k),
                            _mm512_mask_mov_epi32(a, (__mmask16)(g->of[1] >> LANES * k), b)),
                        k);
    return result & g->all;
}

/* The first set bit from `time` on, or that with `skip` others before it. */
INLINE uint32_t set_bit(const uint64_t *bits, uint32_t time, uint32_t skip)
{
    uint32_t word = time / 64, count;
    uint64_t b = bits[word] & UINT64_MAX << time % 64;

    while ((count = (uint32_t)__builtin_popcountll(b)) <= skip) {
        skip -= count;
        b = bits[++word];
    }
    return word * 64 + (uint32_t)_tzcnt_u64(_pdep_u64((uint64_t)1 << skip, b));
}

INLINE void clear_bit(struct full *f, uint32_t time)
{
    f->bits[time / 64] &= ~((uint64_t)1 << time % 64);
}

/* The runs of a core, one by one: which are gone. */
TARGET static uint64_t one_by_one(struct full *f, const struct group *g, uint64_t runs,
                                  uint32_t lines)
{
    uint64_t gone = 0;

    for (; runs; runs &= runs - 1) {
        const uint32_t t = g->time[_tzcnt_u64(runs)];

        if (t >= f->oldest) {
            clear_bit(f, t);
        } else {
            gone |= _blsi_u64(runs);
            if (f->live == lines)
                clear_bit(f, f->oldest);
            else
                f->live++;
        }
        f->oldest = set_bit(f->bits, f->oldest, 0);
    }
    return gone;
}

/* Both caches take the group: `gone` and `never`. */
TARGET static void through_full(struct cf_pair *p, struct group *g)
{
    const unsigned shift = p->now % 64;
    uint32_t bound[CORES], enter[CORES];
    uint64_t gone = before(g, p->full[0].oldest, p->full[1].oldest), doubt;

    g->never = 0;
    for (unsigned k = 0; k < VECTORS; k++) {
        const __m512i time = _mm512_load_si512(g->time + LANES * k);

        g->never |= lanes(_mm512_testn_epi32_mask(time, time), k);
    }
    for (unsigned k = 0; k < CORES; k++) {
        struct full *const f = &p->full[k];
        uint64_t *const word = f->bits + p->now / 64;
        const uint32_t misses = (uint32_t)__builtin_popcountll(gone & g->of[k]);

        word[0] |= g->of[k] << shift;
        word[1] |= g->of[k] >> 1 >> (63 - shift);
        enter[k] = p->lines - f->live < misses ? p->lines - f->live : misses;
        bound[k] = misses > enter[k] ? set_bit(f->bits, f->oldest, misses - enter[k]) : f->oldest;
    }
    doubt = before(g, bound[0], bound[1]) & ~gone;
    for (unsigned k = 0; k < CORES; k++) {
        struct full *const f = &p->full[k];

        if (!g->of[k])
            continue;
        if (doubt & g->of[k]) {
            gone = (gone & ~g->of[k]) | one_by_one(f, g, g->of[k], p->lines);
            continue;
        }
        for (uint64_t hits = g->of[k] & ~gone; hits; hits &= hits - 1)
            clear_bit(f, g->time[_tzcnt_u64(hits)]);
        f->live += enter[k];
        f->oldest = set_bit(f->bits, bound[k], 0);
    }
    g->gone = gone;
}

/* ---- the classes ---- */

INLINE void count_misses(struct cf_class_counts *counts, __m512i op, __m512i class, uint64_t missed)
{
    for (unsigned o = 0; missed; o++) {
        const uint64_t those = _mm512_mask_cmpeq_epi8_mask(missed, op, _mm512_set1_epi8((char)o));

        missed &= ~those;
        for (unsigned k = 1; those && k < CF_CLASSES; k++)
            counts->misses[o][k] += (unsigned)__builtin_popcountll(
                _mm512_mask_cmpeq_epi8_mask(those, class, _mm512_set1_epi8((char)k)));
    }
}

/* Of those of the runs from `from` on that missed. */
TARGET static void tell_classes(struct cf_coherence *c, uint32_t from, const struct group *g,
                                uint64_t missed, uint8_t *class)
{
    uint64_t shared = 0, fresh = 0;
    uint8_t found[GROUP] __attribute__((aligned(64)));
    __m512i f = _mm512_set1_epi8(CF_CLASS_CONFLICT);

    for (unsigned k = 0; k < VECTORS; k++) {
        const uint64_t *const touch = c->touch + from + LANES * k;
        const __m512i both = _mm512_load_si512(g->news + LANES * k);
        const __m512i low = _mm512_and_si512(both, _mm512_set1_epi32(0xffff));
        const __m512i news =
            _mm512_mask_srli_epi32(low, (__mmask16)(g->of[1] >> LANES * k), both, 16);
        const __m512i touched = _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_loadu_si512(touch))),
            _mm512_cvtepi64_epi32(_mm512_loadu_si512(touch + LANES / 2)), 1);

        shared |= lanes(_mm512_test_epi32_mask(news, news), k);
        fresh |= lanes(_mm512_test_epi32_mask(news, touched), k);
    }
    f = _mm512_mask_mov_epi8(f, g->gone, _mm512_set1_epi8(CF_CLASS_CAPACITY));
    f = _mm512_mask_mov_epi8(f, shared, _mm512_set1_epi8(CF_CLASS_FALSE_SHARING));
    f = _mm512_mask_mov_epi8(f, fresh, _mm512_set1_epi8(CF_CLASS_TRUE_SHARING));
    f = _mm512_mask_mov_epi8(f, g->never, _mm512_set1_epi8(CF_CLASS_COMPULSORY));
    _mm512_store_si512(found, f);
    count_misses(&c->counts, _mm512_loadu_si512(c->op + from), f, missed);
    for (; missed; missed &= missed - 1) {
        const unsigned i = (unsigned)_tzcnt_u64(missed);

        cf_class_raise(&class[c->row[from + i]], found[i]);
    }
}

TARGET int cf_pair_block(struct cf_coherence *c, uint8_t *class)
{
    struct cf_pair *const p = c->pair;
    struct group g;

    through_sets(c);
    for (uint32_t i = 0; i < c->runs; i += GROUP) {
        const uint32_t end = c->runs - i < GROUP ? c->runs : i + GROUP;
        const __m512i core = _mm512_loadu_si512(c->core + i);

        if (p->now + GROUP > p->span && begin_anew(c) != 0)
            return -1;
        g.all = _bzhi_u64(UINT64_MAX, end - i);
        g.of[1] = _mm512_test_epi8_mask(core, core) & g.all;
        g.of[0] = g.all & ~g.of[1];
        swap(c, i, end, &g);
        through_full(p, &g);
        p->now += end - i;
        /* a cache without lines */
        for (unsigned k = 0; k < CORES; k++)
            p->full[k].oldest = p->full[k].live ? p->full[k].oldest : p->now;
        if (p->missed[i / GROUP])
            tell_classes(c, i, &g, p->missed[i / GROUP], class);
    }
    return 0;
}

TARGET void cf_pair_flush(struct cf_coherence *c)
{
    struct cf_pair *const p = c->pair;
    const uint32_t slot = c->slot[0];

    for (unsigned k = 0; k < CORES; k++) {
        struct full *const f = &p->full[k];
        uint32_t *const way = p->ways + ((c->line[0] & (c->g.sets - 1)) * CORES + k) * WAYS;
        uint32_t *const time = &known_of(c, slot)->time[k];

        for (unsigned i = 0; i < WAYS; i++)
            if (way[i] == slot)
                take_out(way, WAYS, slot);
        if (*time >= f->oldest) {
            clear_bit(f, *time);
            f->live--;
            f->oldest = f->live ? set_bit(f->bits, f->oldest, 0) : p->now;
            *time = LONG_AGO;
        }
    }
}
#endif
