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
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "filters/engine/cache_parts.h"
#include "filters/engine/hierarchy_parts.h"

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,bmi,bmi2,lzcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { LANES = 8, AHEAD = 4 };

/* A cache of the core at hand. */
struct stop {
    uint64_t *line;
    uint64_t low, ways; /* bits of a line's number that tell its set; ways of a set */
    uint64_t exist;     /* a bit for each way */
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

/* Moves the ways up to that of bit m down by one, over the last of them, and puts `entry` in front;
   all ways where m is 0. Whole vectors are stored, since the processor hands on what was stored to
   a load that follows only if it was not masked: what lies behind the set is stored as it was. */
INLINE void front(const struct stop *s, uint64_t *set, uint64_t m, uint64_t entry)
{
    const uint64_t which = (m ^ (m - 1)) & s->exist;
    __m512i left = _mm512_set1_epi64((long long)entry);

    for (uint32_t w = 0; w < s->ways; w += LANES) {
        const __m512i v = _mm512_loadu_si512(set + w);

        _mm512_storeu_si512(
            set + w, _mm512_mask_alignr_epi64(v, (__mmask8)(which >> w), v, left, LANES - 1));
        left = v;
    }
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

/* An inclusive level lost the line: whether one that it serves held it dirty. */
INLINE int take_before(const struct walk *w, const struct tier *t, uint64_t line)
{
    int dirty = 0;

    if (__builtin_expect(w->h->several, 0))
        return cfh_take_before(w->h, (int)(t - w->h->tier), line);
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
                         .cache = c,
                         .tier = t};
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
    for (unsigned kind = 0; kind < KINDS; kind++) {
        walk[kind] = (struct walk){.h = h, .own = own};
        for (int i = h->first[kind]; i != MEMORY; i = h->tier[i].next[kind])
            walk[kind].stop[walk[kind].stops++] = &own[i];
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
