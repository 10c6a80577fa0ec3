/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.h - one cache: which references miss, and which lines they evict.
 *
 * A cache is `sets` sets of `ways` lines; line number L belongs to set L mod sets. Two ways to use
 * it: batches of references, for a single cache or for a hierarchy that runs as a pipeline, each
 * level taking the whole list of events of the level above; and single steps, for a hierarchy in
 * which lower levels act on upper ones. Both have the same results.
 *
 * Line numbers are below 2^63 (see runs.h), and one of them is none: CF_CACHE_NONE. A cache may
 * keep every line in its physical way (CF_CACHE_PHYSICAL); else LRU and FIFO keep the ways of a set
 * in the order of age, which is faster, and "way" then means the place in that order, 0 the newest.
 *
 * An invalid way is filled before any line is replaced, the lowest one first. The policies: see
 * CF_POLICIES in cf_machine.h. random draws from a generator that begins with `seed`.
 */
#ifndef CF_CACHE_H
#define CF_CACHE_H

#include <stdint.h>

#include "filters/engine/rows/runs.h"
#include "formats/machine/cf_machine.h"

/* A number below `below` by the generator splitmix64 (Steele, Lea, Flood, OOPSLA 2014), whose state
   is any number. */
static inline uint32_t cf_random_below(uint64_t *state, uint32_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * below >> 32);
}

enum cf_cache_option {
    CF_CACHE_WRITE_THROUGH = 1,
    CF_CACHE_NO_ALLOCATE = 2, /* a store that misses brings no line in */
    CF_CACHE_PHYSICAL = 4,    /* keep lines in their ways: for masks of ways and snapshots */
};

struct cf_cache_geometry {
    uint32_t sets; /* from 1, any number */
    uint32_t ways; /* 1 to CF_MAX_WAYS */
    enum cf_replacement policy;
    uint32_t options; /* enum cf_cache_option */
    uint64_t seed;    /* of the policy random */
};

struct cf_cache;

/* NULL without memory, or for a geometry that is out of bounds. Memory: 8 to 10 bytes a line and up
   to 16 a set, never more than 16 bytes a line. */
struct cf_cache *cf_cache_new(const struct cf_cache_geometry *g);
void cf_cache_free(struct cf_cache *c);

/* Takes out all lines, of a cache whose ways stand in the order of age. */
void cf_cache_clear(struct cf_cache *c);

/* The ways in which lines may be placed: bit i stands for way i and, in caches of more than 64
   ways, also for i + 64, i + 128, ... LRU and FIFO heed it only with CF_CACHE_PHYSICAL. A mask that
   holds none of the ways means all of them. */
#define CF_CACHE_ALL_WAYS UINT64_MAX

/* The mask for master-index: way `core` mod ways. */
uint64_t cf_cache_master(const struct cf_cache *c, uint32_t core);

/* ---- batches ---- */

/* What a reference can be beside enum cf_run_flag. */
enum cf_cache_flag {
    CF_CACHE_WHOLE = 64,   /* a store of the whole line: a miss needs nothing from below */
    CF_CACHE_POSTED = 128, /* no demand access: written back or through, or what follows that */
};

#define CF_CACHE_DIRTY ((uint64_t)1 << 63)

#define CF_CACHE_NONE CF_NO_LINE

/* Runs a batch and lists the references that missed, by their index in the batch: victim[k] is the
   line that reference miss[k] evicted, with CF_CACHE_DIRTY added where it must be written back, or
   CF_CACHE_NONE. Flushes are listed too, their victim is the line itself if it was there. Both
   arrays have room for `count` + 8. Returns how many are listed. Policies that look at repeated
   touches (SRRIP) heed CF_RUN_AGAIN. A cache that writes through or does not allocate needs runs
   made with CF_RUNS_STORES. */
uint32_t cf_cache_batch(struct cf_cache *c, const uint64_t *line, const uint8_t *flags,
                        uint32_t count, uint64_t ways, uint32_t *miss, uint64_t *victim);

/* References on their way down, in the order in which they happen; the first three arrays of struct
   cf_runs are such a list. */
struct cf_cache_list {
    uint32_t count;
    uint32_t capacity;
    uint64_t *line;
    uint32_t *row; /* whatever the caller wants to find again, copied to what follows from it */
    uint8_t *flags;
};

/* Room for `capacity` references, those of the list among them, and for half as many more where it
   had to grow. -1 without memory. */
int cf_cache_list_room(struct cf_cache_list *l, size_t capacity);
/* Appends `count` references of another list, from `at` on. -1 without memory. */
int cf_cache_list_add(struct cf_cache_list *l, const struct cf_cache_list *from, uint32_t at,
                      uint32_t count);
void cf_cache_list_free(struct cf_cache_list *l);

/* ---- single steps ---- */

/* Where a line is and how. */
enum cf_cache_state { CF_CACHE_ABSENT = 0, CF_CACHE_CLEAN = 1, CF_CACHE_MODIFIED = 2 };

/* A hit: the policy learns of the touch, a store makes the line dirty unless the cache writes
   through. Returns what the line was before; ABSENT changes nothing. */
enum cf_cache_state cf_cache_touch(struct cf_cache *c, uint64_t line, int store);

/* Places a line that is absent: returns the victim, as in cf_cache_batch(). */
uint64_t cf_cache_insert(struct cf_cache *c, uint64_t line, int dirty, uint64_t ways);

/* Takes a line out: returns what it was. */
enum cf_cache_state cf_cache_remove(struct cf_cache *c, uint64_t line);

/* One reference with all its consequences, as in a batch: 1 when it is listed there, with its
   victim. */
int cf_cache_access(struct cf_cache *c, uint64_t line, unsigned flags, uint64_t ways,
                    uint64_t *victim);

/* The line in a way, with CF_CACHE_DIRTY, or CF_CACHE_NONE: for snapshots. */
uint64_t cf_cache_line(const struct cf_cache *c, uint32_t set, uint32_t way);

#endif
