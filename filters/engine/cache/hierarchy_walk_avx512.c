/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The serial model (hierarchy_serial.c) once more, for machines whose levels all keep their sets in
 * the order of age, write back, allocate and have lines of one size, none of them exclusive, and
 * nobody watching: inclusive levels, and private caches that are kept coherent.
 *
 * There a miss is one way out, until a level has the line, and one way back, on which each level
 * takes the line in and its victim, if dirty, goes to the level behind. All that is ever done to a
 * set is to find a line in it, and to move some ways down by one and put a line in front: both with
 * eight ways in a vector, and inlined. What the caches of other cores are asked for is left to the
 * serial model.
 *
 * Where nothing is to be kept coherent and all levels are LRU caches of up to 16 ways, the
 * functions lean_...() do it without the branches that nobody foresees: where a line is found, and
 * whether a victim is dirty, changes masks only. What is rare is left to the others.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/cache/cache_parts.h"
#include "filters/engine/cache/hierarchy_parts.h"

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,bmi,bmi2,lzcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 8, AHEAD = 4, LEAN_STOPS = 3, LOOKS = 2 };

/* A cache of the core at hand. */
struct stop {
    uint64_t *line;
    uint64_t low, ways; /* bits of a line's number that tell its set; ways of a set */
    uint64_t exist;     /* a bit for each way */
    uint64_t last;      /* that of the last one */
    /* Caches that may hold a line which this one loses, if it is inclusive; those before an
       inclusive one of them do not count. More than LOOKS: they are not all listed. */
    unsigned looks;
    const struct stop *look[LOOKS];
    unsigned depth;
    struct cf_cache *cache;
    struct tier *tier;
};

/* The caches on the way outward for one kind of access, and all of the core. */
struct walk {
    struct cf_hierarchy *h;
    unsigned stops;
    const struct stop *stop[CF_MAX_LEVELS];
    const struct stop *own; /* by level */
};

INLINE uint64_t *set_of(const struct stop *s, uint64_t line)
{
    if (__builtin_expect(s->cache->inverse != 0, 0))
        return s->line + cf_cache_index(s->cache, line) * s->ways;
    return s->line + (line & s->low) * s->ways;
}

INLINE __mmask8 equal(const uint64_t *set, __m512i twice)
{
    const __m512i v = _mm512_loadu_si512(set);

    /* without the top bit, which is CF_CACHE_DIRTY */
    return _mm512_cmpeq_epi64_mask(_mm512_add_epi64(v, v), twice);
}

/* A bit for the way that holds the line; 0 where none does. Two vectors at a time, since usual
   caches have up to 16 ways. */
INLINE uint64_t find(const struct stop *s, const uint64_t *set, uint64_t line)
{
    const __m512i twice = _mm512_set1_epi64((long long)(line << 1));
    uint64_t found = _mm512_kunpackb(equal(set + LANES, twice), equal(set, twice));

    for (uint32_t w = 2 * LANES; w < s->ways; w += 2 * LANES)
        found |= (uint64_t)_mm512_kunpackb(equal(set + w + LANES, twice), equal(set + w, twice))
                 << w;
    return found & s->exist;
}

/* The ways of `which`, from the first on, move down by one, over the last of them, and `entry` goes
   in front. Whole vectors are stored, since the processor hands on what was stored to a load that
   follows only if it was not masked: what lies behind the set is stored as it was. */
INLINE void push(const struct stop *s, uint64_t *set, uint64_t which, uint64_t entry)
{
    __m512i left = _mm512_set1_epi64((long long)entry);

    for (uint32_t w = 0; w < s->ways; w += LANES) {
        const __m512i v = _mm512_loadu_si512(set + w);

        _mm512_storeu_si512(
            set + w, _mm512_mask_alignr_epi64(v, (__mmask8)(which >> w), v, left, LANES - 1));
        left = v;
    }
}

/* Moves the ways up to that of bit m; all ways where m is 0. */
INLINE void front(const struct stop *s, uint64_t *set, uint64_t m, uint64_t entry)
{
    push(s, set, (m ^ (m - 1)) & s->exist, entry);
}

/* As cf_cache_touch(): what the entry of the line was, or CF_CACHE_NONE. */
INLINE uint64_t touch(const struct stop *s, uint64_t line, uint64_t dirty)
{
    uint64_t *set = set_of(s, line), was;
    const uint64_t m = find(s, set, line);

    if (!m)
        return CF_CACHE_NONE;
    was = set[_tzcnt_u64(m)];
    if (s->cache->policy == CF_LRU)
        front(s, set, m, was | dirty);
    else
        set[_tzcnt_u64(m)] = was | dirty;
    return was;
}

/* As cf_cache_remove(). */
INLINE enum cf_cache_state take(const struct stop *s, uint64_t line)
{
    uint64_t *set = set_of(s, line), was;
    const uint64_t m = find(s, set, line);

    if (__builtin_expect(!m, 1))
        return CF_CACHE_ABSENT;
    was = set[_tzcnt_u64(m)];
    cf_ordered_remove(s->cache, set, (int)_tzcnt_u64(m));
    s->tier->n.back_invalidations++;
    s->tier->n.writebacks += was >> 63;
    return was & CF_CACHE_DIRTY ? CF_CACHE_MODIFIED : CF_CACHE_CLEAN;
}

/* Apart, so that the loop keeps its registers. */
static __attribute__((noinline, cold)) int take_before_several(const struct walk *w,
                                                               const struct tier *t, uint64_t line)
{
    return cfh_take_before(w->h, (int)(t - w->h->tier), t->at, line, t->shift);
}

/* An inclusive level lost the line: whether one that it serves held it dirty. */
INLINE int take_before(const struct walk *w, const struct tier *t, uint64_t line)
{
    int dirty = 0;

    if (__builtin_expect(w->h->several, 0))
        return take_before_several(w, t, line);
    for (uint32_t before = t->before; before;) {
        const uint32_t j = 31 - _lzcnt_u32(before);
        const struct stop *s = &w->own[j];
        const enum cf_cache_state was = take(s, line);

        dirty |= was == CF_CACHE_MODIFIED;
        before = _bzhi_u32(before, j);
        /* where an inclusive level does not have it, those before that one do not, either */
        if (was == CF_CACHE_ABSENT && s->tier->inclusive)
            before &= ~s->tier->before;
    }
    return dirty;
}

/* Stop k takes a line in. A dirty victim is written behind, where it may put out another one. */
INLINE void fill(const struct walk *w, unsigned k, uint64_t entry)
{
    for (;;) {
        const struct stop *s = w->stop[k];
        uint64_t *set = set_of(s, entry & ~CF_CACHE_DIRTY);
        const uint64_t victim = set[s->ways - 1], line = victim & ~CF_CACHE_DIRTY;
        int dirty = (victim & CF_CACHE_DIRTY) != 0;

        front(s, set, 0, entry);
        if (victim == CF_CACHE_NONE)
            return;
        s->tier->n.evictions++;
        if (s->tier->inclusive)
            dirty |= take_before(w, s->tier, line);
        if (!dirty)
            return;
        s->tier->n.writebacks++;
        if (++k == w->stops) {
            w->h->memory_writes++;
            return;
        }
        s = w->stop[k];
        s->tier->n.writes++;
        if (touch(s, line, CF_CACHE_DIRTY) != CF_CACHE_NONE)
            return;
        s->tier->n.write_misses++;
        entry = line | CF_CACHE_DIRTY;
    }
}

/* The first stop misses: returns the depth that serves it. */
static TARGET unsigned missed(const struct walk *w, enum class class, uint64_t line, uint64_t dirty)
{
    struct cf_hierarchy *h = w->h;
    unsigned k = 0, served = CF_FROM_MEMORY;

    for (;;) {
        struct tier *t = w->stop[k]->tier;
        uint64_t was;

        t->missed[class]++;
        if (h->coherent)
            cfh_snoop(h, (int)(t - h->tier), line, dirty != 0);
        if (++k == w->stops) {
            h->memory[class]++;
            break;
        }
        t = w->stop[k]->tier;
        t->arrived[class]++;
        was = touch(w->stop[k], line, 0);
        if (was == CF_CACHE_NONE)
            continue;
        if (h->coherent && dirty && !(was & CF_CACHE_DIRTY))
            cfh_take_all(h, (int)(t - h->tier), line);
        served = t->spec.depth;
        break;
    }
    while (--k)
        fill(w, k, line);
    fill(w, 0, line | dirty);
    return served;
}

/* Where one misses, those to come may miss as well. */
INLINE void prefetch(const struct walk *w, uint64_t line)
{
    for (unsigned k = 1; k < w->stops; k++) {
        const struct stop *s = w->stop[k];
        const uint64_t *set = set_of(s, line);

        for (uint32_t way = 0; s->cache->far && way < s->ways; way += LANES)
            __builtin_prefetch(set + way, 1);
    }
}

static struct stop make_stop(struct tier *t, unsigned core)
{
    struct cf_cache *c = t->cache[core / t->shared];

    return (struct stop){.line = c->line,
                         .low = c->sets - 1,
                         .ways = c->ways,
                         .exist = UINT64_MAX >> (64 - c->ways),
                         .last = UINT64_C(1) << (c->ways - 1),
                         .depth = t->spec.depth,
                         .cache = c,
                         .tier = t};
}

/* What is counted by stop: misses by class (one_of()), victims, and dirty ones of them. */
struct tally {
    uint64_t missed[LEAN_STOPS], lost[LEAN_STOPS], gone[LEAN_STOPS];
};

INLINE uint64_t *lean_set(const struct stop *s, uint64_t line)
{
    return s->line + (line & s->low) * s->ways;
}

INLINE uint64_t lean_find(const uint64_t *set, uint64_t line, uint64_t exist,
                          const unsigned vectors)
{
    const __m512i twice = _mm512_set1_epi64((long long)(line << 1));

    if (vectors == 1)
        return equal(set, twice) & exist;
    return _mm512_kunpackb(equal(set + LANES, twice), equal(set, twice)) & exist;
}

INLINE void lean_push(uint64_t *set, uint64_t which, uint64_t entry, const unsigned vectors)
{
    const __m512i left = _mm512_set1_epi64((long long)entry), v = _mm512_loadu_si512(set);

    if (vectors > 1) {
        const __m512i u = _mm512_loadu_si512(set + LANES);

        _mm512_storeu_si512(
            set + LANES, _mm512_mask_alignr_epi64(u, (__mmask8)(which >> LANES), u, v, LANES - 1));
    }
    _mm512_storeu_si512(set, _mm512_mask_alignr_epi64(v, (__mmask8)which, v, left, LANES - 1));
}

/* A dirty line is written to stop k if `gone`, else nothing changes. */
INLINE void write_back(const struct walk *w, unsigned k, uint64_t entry, uint64_t gone)
{
    const struct stop *s = w->stop[k];
    uint64_t *set = lean_set(s, entry);
    const uint64_t m = lean_find(set, entry, s->exist, 2);

    if (__builtin_expect(gone & (m == 0), 0)) {
        s->tier->n.write_misses++;
        fill(w, k, entry);
        return;
    }
    lean_push(set, _blsmsk_u64(m) & -gone, entry, 2);
}

/* As missed(), without a branch that depends on the outcome, except where an inclusive level loses
   a line that a level before it holds, or one writes a line that the next does not hold, which are
   rare. `one`: what is added to the misses of the class. 0 when nothing was done. */
INLINE int lean_miss(const struct walk *w, struct tally *n, uint64_t one, uint64_t line,
                     uint64_t dirty, uint8_t *hit, const unsigned stops, const unsigned vectors)
{
    uint64_t m[LEAN_STOPS], old[LEAN_STOPS], *set[LEAN_STOPS];
    uint64_t need[LEAN_STOPS + 1], back = 0;
    unsigned served = CF_FROM_MEMORY;

    need[1] = 1;
#pragma GCC unroll 3
    for (unsigned k = 1; k < stops; k++) {
        const struct stop *s = w->stop[k];

        set[k] = lean_set(s, line);
        m[k] = lean_find(set[k], line, s->exist, 2);
        old[k] = set[k][_tzcnt_u64(m[k] | s->last)];
        served = (need[k] & (m[k] != 0)) ? s->depth : served;
        need[k + 1] = need[k] & (m[k] == 0);
        for (unsigned j = 0; j < s->looks; j++)
            back |= lean_find(lean_set(s->look[j], old[k]), old[k], s->look[j]->exist,
                              k == 1 ? vectors : 2) &
                    -(need[k + 1] & (old[k] != CF_CACHE_NONE));
    }
    if (__builtin_expect(back != 0, 0))
        return 0;
#pragma GCC unroll 3
    for (unsigned k = stops - 1; k > 0; k--) {
        const uint64_t lost = need[k + 1] & (old[k] != CF_CACHE_NONE), gone = lost & old[k] >> 63;

        n->missed[k] += one & -need[k + 1];
        n->lost[k] += lost;
        n->gone[k] += gone;
        lean_push(set[k], _blsmsk_u64(m[k] | w->stop[k]->last) & -need[k],
                  line | (old[k] & (need[k + 1] ^ 1) << 63), 2);
        if (k + 1 < stops)
            write_back(w, k + 1, old[k], gone);
    }
    {
        const struct stop *s = w->stop[0];
        uint64_t *first = lean_set(s, line);
        const uint64_t victim = first[s->ways - 1], lost = victim != CF_CACHE_NONE;
        const uint64_t gone = lost & victim >> 63;

        n->missed[0] += one;
        n->lost[0] += lost;
        n->gone[0] += gone;
        lean_push(first, s->exist, line | dirty, vectors);
        write_back(w, 1, victim, gone);
    }
    *hit = served > *hit ? (uint8_t)served : *hit;
    return 1;
}

/* Where one misses, those to come may miss as well: their sets, and in the last level, which is the
   largest, also the set of what they put out of the level before it. */
INLINE void lean_prefetch(const struct walk *w, const uint64_t *line, const unsigned stops)
{
    const struct stop *s = w->stop[stops - 1], *before = w->stop[stops - 2];
    const uint64_t *set = lean_set(s, line[AHEAD]);

    __builtin_prefetch(set, 1);
    __builtin_prefetch(set + LANES, 1);
    if (stops > 2) {
        const uint64_t *other = lean_set(before, line[AHEAD]);

        __builtin_prefetch(other, 1);
        __builtin_prefetch(other + LANES, 1);
        set = lean_set(s, lean_set(before, line[AHEAD / 2])[before->ways - 1]);
        __builtin_prefetch(set, 1);
        __builtin_prefetch(set + LANES, 1);
    }
}

static void add_tally(const struct walk *w, const struct tally *n)
{
    struct cf_hierarchy *h = w->h;

    for (unsigned k = 0; k < w->stops; k++) {
        struct tier *t = w->stop[k]->tier, *next = k + 1 < w->stops ? w->stop[k + 1]->tier : NULL;

        add_counts(t->missed, n->missed[k]);
        add_counts(next ? next->arrived : h->memory, n->missed[k]);
        t->n.evictions += n->lost[k];
        t->n.writebacks += n->gone[k];
        *(next ? &next->n.writes : &h->memory_writes) += n->gone[k];
    }
}

INLINE void lean_walk(const struct walk *walk, const struct cf_runs *runs, const uint8_t *op,
                      uint8_t *hit, const unsigned stops, const unsigned vectors)
{
    const uint64_t *const lines = runs->line;
    const uint8_t *const flags = runs->flags;
    const uint32_t count = runs->count;
    struct tally n[KINDS] = {0};

    /* stretches of one kind, so that what is known of the first level stays in registers */
    for (uint32_t i = 0; i < count;) {
        const unsigned fetch = flags[i] & CF_RUN_FETCH, kind = fetch != 0;
        const struct walk *w = &walk[kind];
        uint64_t *const sets = w->stop[0]->line;
        const uint64_t low = w->stop[0]->low, ways = w->stop[0]->ways, exist = w->stop[0]->exist;

        for (; i < count && (flags[i] & CF_RUN_FETCH) == fetch; i++) {
            const uint64_t line = lines[i];
            const uint64_t dirty = (uint64_t)(flags[i] & CF_RUN_STORE) << 63;
            uint64_t *set = sets + (line & low) * ways, m;
            uint8_t *served;

            if ((set[0] ^ line) << 1 == 0) {
                if (dirty & ~set[0])
                    set[0] |= dirty;
                continue;
            }
            m = lean_find(set, line, exist, vectors);
            if (__builtin_expect(m != 0, 1)) {
                lean_push(set, _blsmsk_u64(m), set[_tzcnt_u64(m)] | dirty, vectors);
                continue;
            }
            lean_prefetch(w, lines + i, stops);
            served = hit + runs->row[i];
            if (!lean_miss(w, &n[kind], one_of(op, runs->row[i]), line, dirty, served, stops,
                           vectors)) {
                const unsigned by = missed(w, class_of_op(op, runs->row[i]), line, dirty);

                *served = by > *served ? (uint8_t)by : *served;
            }
        }
    }
    for (unsigned kind = 0; kind < KINDS; kind++)
        add_tally(&walk[kind], &n[kind]);
}

#define LEAN(name, stops, vectors)                                                                 \
    static TARGET void name(const struct walk *walk, const struct cf_runs *runs,                   \
                            const uint8_t *op, uint8_t *hit)                                       \
    {                                                                                              \
        lean_walk(walk, runs, op, hit, stops, vectors);                                            \
    }

LEAN(lean_2_8, 2, 1)
LEAN(lean_2_16, 2, 2)
LEAN(lean_3_8, 3, 1)
LEAN(lean_3_16, 3, 2)

/* LRU caches of up to 16 ways, two or three for each access, with nothing to keep coherent. */
static int lean(const struct walk *walk)
{
    const struct cf_hierarchy *h = walk[0].h;

    if (h->several || walk[0].stops != walk[1].stops || walk[0].stops < 2 ||
        walk[0].stops > LEAN_STOPS)
        return 0;
    for (unsigned i = 0; i < h->levels; i++) {
        const struct stop *s = &walk[0].own[i];

        if (s->cache->policy != CF_LRU || s->cache->inverse || s->ways > 2 * LANES ||
            s->looks > LOOKS)
            return 0;
    }
    return 1;
}

/* Where a victim of inclusive levels must be looked for. */
static void make_looks(const struct cf_hierarchy *h, struct stop *own)
{
    for (unsigned i = 0; i < h->levels; i++) {
        uint32_t before = h->tier[i].inclusive ? h->tier[i].before : 0;

        for (unsigned j = i; j-- > 0;)
            if ((before >> j & 1) && h->tier[j].inclusive)
                before &= ~h->tier[j].before;
        for (; before; before &= before - 1) {
            if (own[i].looks < LOOKS)
                own[i].look[own[i].looks] = &own[__builtin_ctz(before)];
            own[i].looks++;
        }
    }
}

TARGET void cfh_walk_avx512(struct cf_hierarchy *h, const struct cf_runs *runs, const uint8_t *op,
                            unsigned core, uint8_t *hit)
{
    struct stop own[CF_MAX_LEVELS];
    struct walk walk[KINDS];

    h->core = core;
    h->forget = 1;
    for (unsigned i = 0; i < h->levels; i++)
        own[i] = make_stop(&h->tier[i], core);
    /* the victims that follow came this way themselves */
    for (unsigned i = 0; i < h->levels; i++)
        cf_cache_reach_all(own[i].cache, runs->line, runs->count);
    make_looks(h, own);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        walk[kind] = (struct walk){.h = h, .own = own};
        for (int i = h->first[kind]; i != MEMORY; i = h->tier[i].next[kind])
            walk[kind].stop[walk[kind].stops++] = &own[i];
    }
    if (lean(walk)) {
        const int wide =
            walk[KIND_DATA].stop[0]->ways > LANES || walk[KIND_FETCH].stop[0]->ways > LANES;

        (walk[0].stops == 2 ? wide ? lean_2_16 : lean_2_8
         : wide             ? lean_3_16
                            : lean_3_8)(walk, runs, op, hit);
        return;
    }
    for (uint32_t i = 0; i < runs->count; i++) {
        const uint64_t line = runs->line[i];
        const uint64_t dirty = (uint64_t)(runs->flags[i] & CF_RUN_STORE) << 63;
        const uint32_t row = runs->row[i];
        const struct walk *w = &walk[(runs->flags[i] & CF_RUN_FETCH) != 0];
        const struct stop *first = w->stop[0];
        uint64_t was;
        unsigned served;

        was = touch(first, line, dirty);
        if (__builtin_expect(was != CF_CACHE_NONE, 1)) {
            if (h->coherent && dirty && !(was & CF_CACHE_DIRTY))
                cfh_take_all(h, (int)(first->tier - h->tier), line);
            continue;
        }
        if (i + AHEAD < runs->count)
            prefetch(w, runs->line[i + AHEAD]);
        served = missed(w, class_of_op(op, row), line, dirty);
        if (served > hit[row])
            hit[row] = (uint8_t)served;
    }
}
#endif
