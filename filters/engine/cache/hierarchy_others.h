/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_others.h - of hierarchy_serial_simd.c alone, for each processor: what the other caches
 * hold of a line, those before a level and those of other cores, and how it is taken from them.
 */
#ifndef CF_HIERARCHY_OTHERS_H
#define CF_HIERARCHY_OTHERS_H

#include "filters/engine/cache/cache_steps.h"
#include "filters/engine/cache/hierarchy_parts.h"

static inline unsigned cores_before(const struct cf_hierarchy *h, unsigned cache, unsigned shared)
{
    unsigned end = (cache + 1) * shared;

    return end < h->cores ? end : h->cores;
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

/* Whether a data cache that the core at hand does not use holds a line of 1 << shift bytes dirty. */
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

#endif
