/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_parts.h - what the files of cache.h share.
 *
 * A way holds the line number, with CF_CACHE_DIRTY, or CF_CACHE_NONE. An ordered cache (LRU, FIFO)
 * has the ways of a set in the order of age, the newest first, invalid ones last; it needs nothing
 * else. A physical cache keeps a line in its way and the policy's state beside: `rank` is the
 * place of each way in the order of age, 0 the newest, and `word` is bits, whose meaning stands
 * where the policy does, in cache_ways_simd.c.
 */
#ifndef CF_CACHE_PARTS_H
#define CF_CACHE_PARTS_H

#include "filters/engine/cache/cache.h"
#include "filters/engine/rows/sets.h"
#include "formats/cpu/cf_cpu.h"

struct cf_cache;

/* As cf_cache_batch(), without flushes, and where no store fails to allocate. */
typedef uint32_t cf_cache_runner(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                                 uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim);

struct cf_cache {
    uint64_t *line; /* sets x ways */
    uint16_t *rank; /* sets x ways */
    uint64_t *word; /* sets x words */
    uint32_t sets, ways;
    uint8_t *emptied; /* of a large cache, by block of sets: whether it was; NULL: all were */
    uint32_t block;   /* log2 of its sets */
    uint32_t words;   /* of policy state a set */
    uint32_t bits;    /* words that hold a bit for each way */
    struct cf_sets index;
    uint64_t random;  /* state of the generator */
    uint64_t invalid; /* ways of a physical cache that hold no line */
    cf_cache_runner *run;
    uint64_t way_mask[CF_MAX_WAYS / 64];    /* the ways that exist */
    uint64_t touch_keep[64], touch_set[64]; /* tree-PLRU up to 64 ways: the path to a way */
    enum cf_replacement policy;
    uint32_t leaves; /* of the tree: ways, rounded up to a power of two */
    uint8_t physical, through, allocate;
    uint8_t settled;     /* few references of the last batch missed */
    uint8_t fetch_ahead; /* the lines do not stay in the processor's own cache */
};

static inline uint32_t cf_cache_index(const struct cf_cache *c, uint64_t line)
{
    return cf_sets_index(&c->index, line);
}

/* A large cache is emptied block by block, each when it is first reached: to write all of a last
   level, most of which short programs never see, takes longer than they run. Code that reads
   or changes a set calls cf_cache_reach() before. */
void cf_cache_empty_block(const struct cf_cache *c, uint32_t block);
static inline void cf_cache_reach(const struct cf_cache *c, uint32_t set)
{
    if (c->emptied && !c->emptied[set >> c->block])
        cf_cache_empty_block(c, set >> c->block);
}

/* What is compiled for each processor: batches, of an ordered cache of at most CF_WAYS_MOST ways or
   of a physical one; and what a policy learns, of which cache_steps.h is the rest. */
typedef cf_cache_runner *cf_cache_choice(struct cf_cache *c);
typedef void cf_ways_toucher(struct cf_cache *c, uint32_t set, uint32_t way);
typedef uint64_t cf_ways_inserter(struct cf_cache *c, uint32_t set, uint64_t entry, uint64_t ways);
CF_SIMD512_CODE(cf_cache_choice, cf_ordered_runner);
CF_SIMD_CODE(cf_cache_choice, cf_ways_runner);
CF_SIMD_CODE(cf_ways_toucher, cf_ways_touch);
CF_SIMD_CODE(cf_ways_inserter, cf_ways_insert);

#endif
