/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The definition of the hierarchy: one run after the other, through all levels that it concerns.
 *
 * A read that misses is served by the next level before a place is made for the line, so that
 * the levels fill from the outside in: first the outer level evicts its victim, then the inner
 * one, whose victim, if dirty, is then written to the outer one.
 *
 * inclusive    a line that such a level loses is taken from all caches before it that it serves;
 *              if one of them held it dirty, it is written back by this level.
 * exclusive    a line that is read from such a level moves to the one before it; it gets all
 *              victims of that one, the clean ones too, and brings in nothing itself. What it has
 *              dirty goes to the next level before an instruction cache gets the line.
 * write-back   a store makes the line dirty. Write-through: the line stays clean and the store
 *              goes on to the next level, as no demand access there.
 * allocate     a store that misses reads the line. Else it goes on to the next level. A dirty
 *              line from the level before is taken in without a read if it is a whole line here;
 *              where stores allocate nothing, it goes on too.
 * coherence    MESI between the data caches that serve different cores (Papamarcos and Patel, "A
 *              Low-Overhead Coherence Solution for Multiprocessors with Private Cache Memories",
 *              ISCA 1984). A miss on its way to a level first looks into the other caches before
 *              that level: a dirty copy is written to the level, and then stays clean (load) or
 *              goes (store, or a load from an exclusive level). A store to a clean line takes all
 *              other copies. So a dirty line has no other copy; whether a clean one has is not
 *              noted but looked for, which makes the states shared and exclusive-clean one: they
 *              differ in the traffic on a bus only. Instruction caches take no part; what they
 *              evict goes into no exclusive level while another core holds it dirty.
 * flush        takes the line from all caches of all cores; memory gets it if a copy was dirty.
 */
#include "filters/engine/cache/hierarchy_others.h"

enum { AHEAD = 8 };

static unsigned read_line(struct cf_hierarchy *h, int level, uint64_t line, int own, int *dirty);
static void write_line(struct cf_hierarchy *h, int level, uint64_t line, unsigned shift);
static unsigned store_line(struct cf_hierarchy *h, int level, uint64_t line);

static const uint8_t flags_of_class[CLASSES] = {0, 0, CF_RUN_FETCH, CF_RUN_PREFETCH};

static inline void note(struct cf_hierarchy *h, struct tier *t, uint64_t line, unsigned flags,
                        int missed)
{
    if (t->watch)
        cfh_note(t, line, h->row, t->at,
                 flags | h->marks | (flags & CF_REF_WRITE ? 0 : flags_of_class[h->class]), missed);
}

/* Before a line comes to a cache of `level`: those of other cores write it back, and lose it where
   it is to be owned. */
static void snoop(struct cf_hierarchy *h, int level, uint64_t line, int own)
{
    struct tier *t = &h->tier[level];
    int next = t->next[KIND_DATA];

    if (!t->data || t->shared == h->cores || (next != MEMORY && h->tier[next].shared == t->shared))
        return;
    /* an exclusive level hands a dirty line on as it is, so that no other cache may keep it */
    if (!own && next != MEMORY && h->tier[next].exclusive)
        own = take_others(h, level, next, line, LOOK) ||
              step_probe(h->tier[next].cache[h->tier[next].at], line) == CF_CACHE_MODIFIED;
    if (take_others(h, level, next, line, own ? TAKE : CLEAN))
        write_line(h, next, outward(h, t, next, line), t->shift);
}

static void take_all(struct cf_hierarchy *h, int level, uint64_t line)
{
    /* behind a cache that holds it dirty there are no copies */
    for (;;) {
        struct tier *t = &h->tier[level];
        int next = t->next[KIND_DATA];

        snoop(h, level, line, 1);
        if (!t->data || next == MEMORY)
            return;
        line = outward(h, t, next, line);
        t = &h->tier[next];
        if (step_probe(t->cache[t->at], line) == CF_CACHE_MODIFIED)
            return;
        level = next;
    }
}

/* An exclusive level takes a line from the one before it. */
static void place(struct cf_hierarchy *h, int level, uint64_t line, int dirty);

/* A line has left a cache of `level` to make room. */
static void evicted(struct cf_hierarchy *h, int level, uint64_t victim)
{
    struct tier *t = &h->tier[level];
    uint64_t line = victim & ~CF_CACHE_DIRTY;
    int dirty = (victim & CF_CACHE_DIRTY) != 0, next = t->onward;
    unsigned cache = t->at;

    t->n.evictions++;
    if (t->prefetcher)
        cfh_prefetcher_lost(t->prefetcher[cache], line);
    if (t->inclusive)
        dirty |= take_before(h, level, cache, line, t->shift);
    if (next != MEMORY && h->tier[next].exclusive) {
        /* no old copy was taken from an instruction cache */
        if (h->coherent && !t->data && h->tier[next].data && dirty_elsewhere(h, line, t->shift))
            return;
        t->n.writebacks += dirty;
        place(h, next, line, dirty);
    } else if (dirty) {
        t->n.writebacks++;
        write_line(h, next, outward(h, t, next, line), t->shift);
    }
}

static void fill(struct cf_hierarchy *h, int level, uint64_t line, int dirty)
{
    struct tier *t = &h->tier[level];
    uint64_t victim = step_insert(t->cache[t->at], line, dirty, t->ways[h->core]);

    if (victim != CF_CACHE_NONE)
        evicted(h, level, victim);
}

/* A level takes in a dirty line: an older copy in an exclusive one behind it must not come to light
   again. */
static void drop_older(struct cf_hierarchy *h, int next, uint64_t line)
{
    if (next != MEMORY && h->tier[next].exclusive)
        step_remove(h->tier[next].cache[h->tier[next].at], line);
}

static void place(struct cf_hierarchy *h, int level, uint64_t line, int dirty)
{
    struct tier *t = &h->tier[level];
    int missed = step_touch(t->cache[t->at], line, dirty) == CF_CACHE_ABSENT;

    t->n.writes++;
    t->n.write_misses += (unsigned)missed;
    note(h, t, line, CF_RUN_STORE | CF_REF_WRITE, missed);
    if (missed && dirty)
        drop_older(h, t->onward, line);
    if (missed)
        fill(h, level, line, dirty);
}

/* A dirty line of 1 << shift bytes comes from the level before. */
static void write_line(struct cf_hierarchy *h, int level, uint64_t line, unsigned shift)
{
    struct tier *t;
    int missed;

    if (level == MEMORY) {
        h->memory_writes++;
        return;
    }
    t = &h->tier[level];
    if (t->exclusive) {
        place(h, level, line, 1);
        return;
    }
    missed = step_touch(t->cache[t->at], line, 1) == CF_CACHE_ABSENT;
    t->n.writes++;
    t->n.write_misses += (unsigned)missed;
    note(h, t, line, CF_RUN_STORE | CF_REF_WRITE, missed);
    if (missed && t->spec.write_allocate) {
        int dirty = t->spec.write_back, next = t->onward;

        if (shift != t->shift) {
            unsigned kind = h->kind;

            h->kind = t->data ? KIND_DATA : KIND_FETCH;
            read_line(h, next, outward(h, t, next, line), 0, &dirty);
            h->kind = kind;
        }
        if (shift == t->shift)
            drop_older(h, next, line);
        fill(h, level, line, dirty);
    }
    if (!t->spec.write_back || (missed && !t->spec.write_allocate)) {
        t->n.writebacks++;
        write_line(h, t->onward, outward(h, t, t->onward, line), shift);
    }
}

static inline void demand(struct cf_hierarchy *h, int level, uint64_t line, int hit)
{
    struct tier *t = &h->tier[level];
    uint64_t wanted;
    int useful = 0;

    if (!t->prefetcher || h->class == CLASS_PREFETCH)
        return;
    if (cfh_prefetcher_demand(t->prefetcher[t->at], line, hit, &useful, &wanted) &&
        h->pending < PENDING) {
        h->prefetch[h->pending].level = level;
        h->prefetch[h->pending].kind = h->kind;
        h->prefetch[h->pending++].line = wanted;
    }
    t->n.prefetches_useful += (unsigned)useful;
}

/* What the next level has to say to a read that missed at `level`: its depth. */
static unsigned read_behind(struct cf_hierarchy *h, int level, uint64_t line, int own, int *dirty)
{
    struct tier *t = &h->tier[level];
    const int next = t->next[h->kind];
    uint64_t wider = line;

    if (h->coherent)
        snoop(h, level, line, own);
    /* a fetch that leaves the way of data behind a unified level asks on the rest of that, too */
    for (int i = level; h->coherent && t->data && next != t->next[KIND_DATA];) {
        const int data = h->tier[i].next[KIND_DATA];

        if (data == MEMORY)
            break;
        wider = outward(h, &h->tier[i], data, wider);
        i = data;
        snoop(h, i, wider, own);
    }
    return read_line(h, next, outward(h, t, next, line), own, dirty);
}

static void store_behind(struct cf_hierarchy *h, int level, uint64_t line, unsigned *served)
{
    struct tier *t = &h->tier[level];
    int next = t->next[KIND_DATA];

    if (h->coherent)
        snoop(h, level, line, 1);
    *served = store_line(h, next, outward(h, t, next, line));
}

static unsigned read_missed(struct cf_hierarchy *h, int level, uint64_t line, int own)
{
    int given = 0;
    unsigned served;

    h->tier[level].missed[h->class]++;
    served = read_behind(h, level, line, own, h->tier[level].data ? &given : NULL);
    fill(h, level, line, given);
    return served;
}

/* A read that comes from the level before; own: for a store. *dirty is set where an exclusive level
   gives away a dirty line; NULL for an instruction cache, which must not hold one, since no
   lookup would find it there. Returns the depth that serves it. */
static unsigned read_line(struct cf_hierarchy *h, int level, uint64_t line, int own, int *dirty)
{
    struct tier *t;
    enum cf_cache_state was;
    struct cf_cache *cache;

    if (level == MEMORY) {
        h->memory[h->class]++;
        return CF_FROM_MEMORY;
    }
    t = &h->tier[level];
    cache = t->cache[t->at];
    t->arrived[h->class]++;
    was = t->exclusive ? step_remove(cache, line) : step_touch(cache, line, 0);
    note(h, t, line, 0, was == CF_CACHE_ABSENT);
    demand(h, level, line, was != CF_CACHE_ABSENT);
    if (was == CF_CACHE_ABSENT && t->exclusive) {
        t->missed[h->class]++;
        return read_behind(h, level, line, own, dirty);
    }
    if (was == CF_CACHE_ABSENT)
        return read_missed(h, level, line, own);
    if (own && h->coherent && was != CF_CACHE_MODIFIED)
        take_all(h, level, line);
    if (t->exclusive && was == CF_CACHE_MODIFIED && dirty) {
        *dirty = 1;
    } else if (t->exclusive && was == CF_CACHE_MODIFIED) {
        t->n.writebacks++;
        write_line(h, t->onward, outward(h, t, t->onward, line), t->shift);
    }
    return t->spec.depth;
}

static void store_found(struct cf_hierarchy *h, int level, uint64_t line, enum cf_cache_state was)
{
    unsigned served;

    if (!h->tier[level].spec.write_back)
        store_behind(h, level, line, &served);
    else if (h->coherent && was != CF_CACHE_MODIFIED)
        take_all(h, level, line);
}

static unsigned store_missed(struct cf_hierarchy *h, int level, uint64_t line)
{
    struct tier *t = &h->tier[level];
    unsigned served, ignored;
    int given = 0;

    t->missed[h->class]++;
    if (!t->spec.write_allocate || t->exclusive) {
        store_behind(h, level, line, &served);
        return served;
    }
    served = read_behind(h, level, line, 1, &given);
    fill(h, level, line, given || t->spec.write_back);
    if (!t->spec.write_back)
        store_behind(h, level, line, &ignored);
    return served;
}

/* A store that a level before it did not keep. */
static unsigned store_line(struct cf_hierarchy *h, int level, uint64_t line)
{
    struct tier *t;
    enum cf_cache_state was;

    if (level == MEMORY) {
        h->memory_writes++;
        return CF_FROM_MEMORY;
    }
    t = &h->tier[level];
    was = step_touch(t->cache[t->at], line, 1);
    t->arrived[h->class]++;
    note(h, t, line, CF_RUN_STORE, was == CF_CACHE_ABSENT);
    demand(h, level, line, was != CF_CACHE_ABSENT);
    if (was == CF_CACHE_ABSENT)
        return store_missed(h, level, line);
    store_found(h, level, line, was);
    return t->spec.depth;
}

/* What the prefetchers asked for, after the run that made them ask. */
static void bring(struct cf_hierarchy *h)
{
    h->class = CLASS_PREFETCH;
    h->marks = CF_REF_HARDWARE;
    for (unsigned i = 0; i < h->pending; i++) {
        int level = h->prefetch[i].level, dirty = 0;
        struct tier *t = &h->tier[level];
        unsigned cache = t->at;
        uint64_t line = h->prefetch[i].line;

        if (step_probe(t->cache[cache], line) != CF_CACHE_ABSENT)
            continue;
        h->kind = h->prefetch[i].kind;
        t->n.prefetches_issued++;
        read_behind(h, level, line, 0, t->data ? &dirty : NULL);
        fill(h, level, line, dirty);
        cfh_prefetcher_brought(t->prefetcher[cache], line);
    }
    h->pending = 0;
    h->marks = 0;
}

/* Where one misses, those to come may miss as well: asks for their sets. */
static void fetch_ahead(const struct cf_hierarchy *h, unsigned kind, uint64_t line)
{
    for (int level = h->first[kind]; level != MEMORY; level = h->tier[level].next[kind]) {
        const struct tier *t = &h->tier[level];
        const struct cf_cache *c = t->cache[t->at];
        const uint64_t *set = c->line + (size_t)cf_cache_index(c, line) * c->ways;

        for (uint32_t w = 0; c->fetch_ahead && w < c->ways; w += 8)
            __builtin_prefetch(set + w, 1);
        line = outward(h, t, t->next[kind], line);
    }
}

/* One reference of the core at hand, or one run of them. Returns whether the first level missed. */
CF_INLINE int refer(struct cf_hierarchy *h, uint64_t line, uint32_t row, unsigned flags,
                    const uint8_t *op, uint8_t *hit)
{
    const unsigned kind = (flags & CF_RUN_FETCH) != 0, store = flags & CF_RUN_STORE;
    const int level = h->first[kind];
    struct tier *t = level == MEMORY ? NULL : &h->tier[level];
    uint64_t none = NO_LINE; /* for levels that do not keep what is recent */
    unsigned served;

    h->row = row;
    h->kind = kind;
    if (__builtin_expect(flags & CF_RUN_FLUSH, 0)) {
        const unsigned shift = h->runs[KIND_DATA]->shift;

        served = 0;
        if (!(flags & CF_RUN_PART))
            hit[row] = (uint8_t)flush_finds(h, line, row, shift);
        flush_line(h, line, shift);
    } else if (!t) {
        served = CF_FROM_MEMORY;
    } else {
        const unsigned index = t->at;
        const uint64_t dirty = store ? CF_CACHE_DIRTY : 0;
        uint64_t *recent = t->recent ? recent_of(t, index, line) : &none;
        enum cf_cache_state was;

        if ((*recent | CF_CACHE_DIRTY) == (line | CF_CACHE_DIRTY) && (*recent & dirty) == dirty &&
            !t->sees_hits)
            return 0;
        was = step_touch(t->cache[index], line, store != 0);
        *recent = NO_LINE;
        /* all that a hit in a simple cache needs */
        if (was != CF_CACHE_ABSENT && !t->sees_hits && !t->prefetcher &&
            (!store || (t->spec.write_back && (was == CF_CACHE_MODIFIED || !h->coherent)))) {
            *recent = line;
            if (t->spec.write_back && (store || was == CF_CACHE_MODIFIED))
                *recent |= CF_CACHE_DIRTY;
            return 0;
        }
        h->class = class_of_op(op, row);
        if (t->watch)
            cfh_note(t, line, row, index, flags, was == CF_CACHE_ABSENT);
        demand(h, level, line, was != CF_CACHE_ABSENT);
        served = t->spec.depth;
        if (was != CF_CACHE_ABSENT && store) {
            store_found(h, level, line, was);
        } else if (was == CF_CACHE_ABSENT) {
            served = store ? store_missed(h, level, line) : read_missed(h, level, line, 0);
            if (flags & CF_RUN_AGAIN)
                step_touch(t->cache[index], line, 0);
        }
    }
    if (served > hit[row])
        hit[row] = (uint8_t)served;
    if (h->pending)
        bring(h);
    return 1;
}

static void begin(struct cf_hierarchy *h, unsigned core)
{
    h->core = core;
    for (unsigned k = 0; h->forget && k < h->levels; k++) {
        struct tier *t = &h->tier[k];

        for (size_t i = 0; t->recent && i < (size_t)t->caches * t->groups; i++)
            t->recent[i] = NO_LINE;
    }
    h->forget = 0;
}

void CF_SIMD(cfh_serial)(struct cf_hierarchy *h, const struct cf_runs *runs, const uint8_t *op,
                         unsigned core, uint8_t *hit)
{
    begin(h, core);
    for (uint32_t i = 0; i < runs->count; i++)
        if (refer(h, runs->line[i], runs->row[i], runs->flags[i], op, hit) &&
            i + AHEAD < runs->count)
            fetch_ahead(h, (runs->flags[i + AHEAD] & CF_RUN_FETCH) != 0, runs->line[i + AHEAD]);
}

void CF_SIMD(cfh_serial_rows)(struct cf_hierarchy *h, const uint64_t *addr, const uint8_t *op,
                              const uint32_t *size, uint32_t from, uint32_t to, unsigned core,
                              const uint64_t *space, uint8_t *hit)
{
    static const uint8_t flags_of_op[CF_FLUSH + 1] = {
        0, 0, CF_RUN_STORE, CF_RUN_FETCH, CF_RUN_PREFETCH, CF_RUN_FLUSH};

    begin(h, core);
    for (uint32_t i = from; i < to; i++) {
        const unsigned flags = op && op[i] <= CF_FLUSH ? flags_of_op[op[i]] : 0;
        const unsigned kind = (flags & CF_RUN_FETCH) != 0, shift = h->runs[kind]->shift;
        const uint64_t end = addr[i] + (size && size[i] ? size[i] - 1 : 0);
        const uint64_t last = (end < addr[i] ? UINT64_MAX : end) >> shift;
        uint64_t line = addr[i] >> shift;

        refer(h, line ^ space[kind], i, flags, op, hit);
        while (__builtin_expect(line < last, 0)) {
            if (!(flags & CF_RUN_FLUSH))
                cfh_arrived(h, class_of_op(op, i), 1);
            refer(h, ++line ^ space[kind], i, flags | CF_RUN_PART, op, hit);
        }
    }
}
