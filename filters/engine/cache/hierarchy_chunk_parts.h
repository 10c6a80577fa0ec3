/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hierarchy_chunk_parts.h - what the files of hierarchy_chunk.h share. Not for others.
 */
#ifndef CF_HIERARCHY_CHUNK_PARTS_H
#define CF_HIERARCHY_CHUNK_PARTS_H

#include "filters/engine/cache/cache_parts.h"
#include "filters/engine/cache/hierarchy_chunk.h"
#include "filters/engine/cache/hierarchy_parts.h"

/* Of a first level. A slot is a set and a number below that of its ways. */
struct first {
    uint64_t *line; /* by slot, while it has been there since its first use; else NO_LINE */
    uint8_t *dirty; /* by slot: it was, before; when it is settled */
    uint16_t *used; /* by set: distinct lines, at most its ways */
    uint64_t *may;  /* by set: a bit for each line of its slots, which others may share */
    uint32_t left;  /* all slots that have one, */
    uint32_t full;  /* and sets whose `used` is that of their ways */
    struct cf_chunk_mark *mark;
    size_t marks, room, listed; /* `listed`: of which `at` is known */
};

struct cf_chunk {
    struct cf_hierarchy *h; /* its first levels */
    struct first first[KINDS];
    struct cf_cache_list list[2], batch; /* the list of stage s is list[s % 2] */
    int refused;
    size_t taken; /* slots whose lines at the end were taken up, see hierarchy_written.c */
};

/* The kinds of first levels, one where both are the same. */
static inline int has_first(const struct cf_hierarchy *h, unsigned kind)
{
    return h->first[kind] != MEMORY && (kind == KIND_DATA || h->first[0] != h->first[1]);
}

static inline struct cf_cache *first_cache(const struct cf_hierarchy *h, unsigned kind)
{
    const struct tier *t = &h->tier[h->first[kind]];

    return t->cache[t->at];
}

/* The level behind the first. */
static inline int behind_first(const struct cf_hierarchy *h)
{
    return h->tier[h->first[KIND_DATA] != MEMORY ? h->first[KIND_DATA] : h->first[KIND_FETCH]]
        .onward;
}

static inline uint64_t first_bit(uint64_t line)
{
    return UINT64_C(1) << ((line * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
}

/* A first use: its slot. */
static inline int64_t use_first(struct first *f, const struct cf_cache *cache, uint64_t line)
{
    const uint32_t set = cf_cache_index(cache, line);
    const size_t slot = (size_t)set * cache->ways + f->used[set];

    f->may[set] |= first_bit(line);
    f->full += ++f->used[set] == cache->ways;
    f->left++;
    f->line[slot] = line;
    f->dirty[slot] = 0;
    return (int64_t)slot;
}

/* The line of a slot has not been there since its first use any more. */
static inline void leave_first(struct first *f, const struct cf_cache *cache, uint32_t slot)
{
    const uint32_t set = slot / cache->ways;

    f->line[slot] = NO_LINE;
    f->left--;
    f->may[set] = 0;
    for (uint32_t i = 0; i < f->used[set]; i++)
        if (f->line[(size_t)set * cache->ways + i] != NO_LINE)
            f->may[set] |= first_bit(f->line[(size_t)set * cache->ways + i]);
}

/* Settles the marks at hand on what the chunk before has left, and with `last` leaves what it
   holds, with its counts; what memory saw; and takes what missed through a level behind. -1 without
   memory. */
void cfh_chunk_settle(struct cf_chunk *c, struct cf_hierarchy *h, unsigned core, int last);
void cfh_chunk_memory(const struct cf_chunk *c, struct cf_hierarchy *h);
int cfh_chunk_behind(struct cf_chunk *c, struct cf_hierarchy *h, unsigned stage);

#endif
