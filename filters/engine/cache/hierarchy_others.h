/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_others.h - of hierarchy_serial_simd.c alone, for each processor: what the other caches
 * hold of a line, those before a level and those of other cores, and how it is taken from them;
 * and flushes, which take it from all.
 */
#ifndef CF_HIERARCHY_OTHERS_H
#define CF_HIERARCHY_OTHERS_H

#include "filters/engine/cache/cache_steps.h"
#include "filters/engine/cache/hierarchy_parts.h"

static inline unsigned cores_before(const struct cf_hierarchy *h, unsigned cache, unsigned shared)
{
    unsigned end = (cache + 1) * shared;

    return end < h->used ? end : h->used;
}

/* A line number of one level in another whose lines are at least as long. */
static inline uint64_t outward(const struct cf_hierarchy *h, const struct tier *t, int to,
                               uint64_t line)
{
    return to == MEMORY ? line : line >> (h->tier[to].shift - t->shift);
}

static inline uint64_t *recent_of(const struct tier *t, unsigned cache, uint64_t line)
{
    return &t->recent[(size_t)cache * t->groups + (line & (t->groups - 1))];
}

enum take { LOOK, CLEAN, TAKE };

/* Finds in one cache the lines that lie in `line` of a level with lines of 1 << shift bytes, or in
   which that lies; looks, makes them clean, or takes them out, which *lost counts. Returns whether
   one was dirty. */
static inline int take_lines(struct tier *t, unsigned cache, uint64_t line, unsigned shift,
                             enum take how, uint64_t *lost)
{
    uint64_t first = shift > t->shift ? line << (shift - t->shift) : line >> (t->shift - shift);
    uint64_t count = shift > t->shift ? UINT64_C(1) << (shift - t->shift) : 1;
    int dirty = 0;

    for (uint64_t k = 0; k < count; k++) {
        struct cf_cache *c = t->cache[cache];
        enum cf_cache_state was = how == LOOK    ? step_probe(c, first + k)
                                  : how == CLEAN ? step_clean(c, first + k)
                                                 : step_remove(c, first + k);

        if (was == CF_CACHE_ABSENT)
            continue;
        dirty |= was == CF_CACHE_MODIFIED;
        if (how == LOOK)
            continue;
        if (t->recent)
            recent_of(t, cache, first + k)[0] = NO_LINE;
        t->n.writebacks += was == CF_CACHE_MODIFIED;
        if (how == TAKE) {
            (*lost)++;
            if (t->prefetcher)
                cfh_prefetcher_lost(t->prefetcher[cache], first + k);
        }
    }
    return dirty;
}

/* The same, TAKE, in all caches before one of `level`. */
static inline int take_before(struct cf_hierarchy *h, int level, unsigned cache, uint64_t line,
                              unsigned shift)
{
    const struct tier *t = &h->tier[level];
    const unsigned high = cores_before(h, cache, t->shared);
    int dirty = 0;

    for (int j = 0; j < level; j++) {
        struct tier *s = &h->tier[j];

        if (!(t->before >> j & 1))
            continue;
        for (unsigned c = cache * t->shared / s->shared; c * s->shared < high; c++)
            dirty |= take_lines(s, c, line, shift, TAKE, &s->n.back_invalidations);
    }
    return dirty;
}

/* The same in all caches of other cores that meet our way to `next` there. */
static inline int take_others(struct cf_hierarchy *h, int level, int next, uint64_t line,
                              enum take how)
{
    struct tier *t = &h->tier[level];
    unsigned outer = next == MEMORY ? h->cores : h->tier[next].shared;
    unsigned low = h->core / outer * outer, high = cores_before(h, h->core / outer, outer);
    int dirty = 0;

    for (int j = 0; j <= level; j++) {
        struct tier *s = &h->tier[j];

        if (!s->data || (j != level && !(t->before >> j & 1)))
            continue;
        for (unsigned c = low / s->shared; c * s->shared < high; c++) {
            const uint64_t before = s->n.invalidations;

            if (c * s->shared / t->shared == t->at)
                continue;
            dirty |= take_lines(s, c, line, t->shift, how, &s->n.invalidations);
            /* what is left before it are instruction caches */
            if (s->inclusive && s->n.invalidations > before)
                dirty |= take_before(h, j, c, line, t->shift);
        }
    }
    return dirty;
}

/* The depth of the first level that holds a line of 1 << shift bytes, or a part of it, for some
   core. */
static inline unsigned held_at(const struct cf_hierarchy *h, uint64_t line, unsigned shift)
{
    unsigned found = CF_FROM_MEMORY;

    for (unsigned j = 0; j < h->levels; j++) {
        const struct tier *t = &h->tier[j];
        const unsigned inner = t->shift < shift ? shift - t->shift : 0;
        const uint64_t first = t->shift > shift ? line >> (t->shift - shift) : line << inner;

        for (unsigned c = 0; c < t->caches && t->spec.depth < found; c++)
            for (uint64_t k = 0; k < UINT64_C(1) << inner; k++)
                if (step_probe(t->cache[c], first + k) != CF_CACHE_ABSENT)
                    found = t->spec.depth;
    }
    return found;
}

/* Whether a data cache that the core at hand does not use holds a line of 1 << shift bytes
   dirty. */
static inline int dirty_elsewhere(struct cf_hierarchy *h, uint64_t line, unsigned shift)
{
    for (unsigned j = 0; j < h->levels; j++) {
        struct tier *s = &h->tier[j];

        for (unsigned c = 0; s->data && c < s->caches; c++)
            if (c != s->at && take_lines(s, c, line, shift, LOOK, NULL))
                return 1;
    }
    return 0;
}

/* The greatest depth at which a flush finds one of its lines, of which `line` is the first. It is
   called before any is taken, because a longer line takes others along. */
static inline unsigned flush_finds(const struct cf_hierarchy *h, uint64_t line, uint32_t row,
                                   unsigned shift)
{
    const uint32_t size = h->size && h->size[row] ? h->size[row] : 1;
    const uint64_t first = h->addr[row] >> shift, end = h->addr[row] + size - 1;
    const uint64_t more = ((end < h->addr[row] ? UINT64_MAX : end) >> shift) - first;
    unsigned found = 0;

    for (uint64_t i = 0; i <= more && found < CF_FROM_MEMORY; i++) {
        const unsigned depth = held_at(h, (first + i) ^ (line ^ first), shift);

        found = depth > found ? depth : found;
    }
    return found;
}

static inline void flush_line(struct cf_hierarchy *h, uint64_t line, unsigned shift)
{
    int dirty = 0;

    for (unsigned j = 0; j < h->levels; j++) {
        struct tier *t = &h->tier[j];
        uint64_t lost = 0, here = t->shift > shift ? line >> (t->shift - shift) : line;
        const unsigned parts = t->shift < shift ? shift - t->shift : 0;

        for (unsigned c = 0; c < t->caches; c++) {
            uint64_t before = lost;

            dirty |= take_lines(t, c, line, shift, TAKE, &lost);
            /* lines here are longer: the caches before it hold the other parts */
            for (unsigned k = 0; lost > before && t->inclusive && k < j; k++)
                for (unsigned d = 0; d < h->tier[k].caches && t->before >> k & 1; d++)
                    dirty |= take_lines(&h->tier[k], d, here, t->shift, TAKE,
                                        &h->tier[k].n.back_invalidations);
            for (uint64_t k = 0; t->watch && k < UINT64_C(1) << parts; k++)
                cfh_note(t, (here << parts) + k, h->row, c, CF_RUN_FLUSH, lost == before);
        }
        t->n.flushes += lost;
    }
    h->memory_writes += (unsigned)dirty;
}

#endif
