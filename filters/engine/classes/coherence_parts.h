/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_parts.h - what the files of coherence.h share.
 */
#ifndef CF_COHERENCE_PARTS_H
#define CF_COHERENCE_PARTS_H

#include <stdint.h>

#include "filters/engine/classes/coherence.h"
#include "filters/engine/classes/full.h"
#include "filters/engine/classes/lru.h"
#include "filters/engine/rows/slots.h"
#include "formats/stream/cf.h"

enum { BLOCK = 512, SPARE = 8, COHERENCE_ROWS = 64 };

/* Loads and stores of one line each by blocks of COHERENCE_ROWS, while the block of runs has room
   for so many, from row 1 or later: returns the row to go on with. */
typedef uint32_t cf_coherence_plain(struct cf_coherence *c, const struct cf_coherence_rows *in,
                                    uint32_t row, uint32_t rows);
CF_SIMD_CODE(cf_coherence_plain, cf_coherence_plain_rows);

/* Which runs miss in the caches here, a bit each in `missed`. */
typedef void cf_coherence_sets(struct cf_coherence *c);
CF_SIMD_CODE(cf_coherence_sets, cf_coherence_through_sets);

struct cf_coherence {
    struct cf_coherence_geometry g;
    struct cf_slots *slots;
    struct cf_full *full[CF_COHERENCE_CORES];
    cf_coherence_plain *plain_rows; /* NULL: one by one */
    cf_coherence_sets *through_sets;
    uint32_t *ways;  /* of set, core: the slots of its lines, the newest first */
    uint32_t places; /* of each: ways, rounded up by cf_lru_room() */
    uint32_t *state; /* of slot n from element n << shift: see state_of(); from element `times` on
                        for each core the time of its fully associative cache */
    unsigned shift, times;
    uint32_t room;       /* slots that have a state */
    unsigned unit_shift; /* log2 of the bytes in what counts as a word of memory */
    unsigned mask_bits;  /* 16 or 64: units in a line, rounded up */
    int even;            /* the number of sets is a power of two */
    int alone;           /* the caller knows what misses, and all rows so far are of */
    uint32_t first_core; /* this core; CF_COHERENCE_CORES where none came */
    uint64_t done;       /* lines of the row at hand that earlier blocks had */
    uint64_t invalidations;
    struct cf_class_counts counts;

    /* the block; vector code may write up to 8 elements behind the last run */
    uint32_t runs;
    int flush;          /* its only run is one */
    uint32_t next_miss; /* of the caller's */
    uint64_t line[BLOCK + SPARE];
    uint64_t touch[BLOCK + SPARE]; /* words that its first access touches */
    uint64_t write[BLOCK + SPARE]; /* words that it writes */
    uint32_t row[BLOCK + SPARE];
    uint8_t core[BLOCK + SPARE];
    uint8_t op[BLOCK + SPARE]; /* of its first access, below CF_CLASS_OPS */
    uint32_t slot[BLOCK + SPARE];
    uint8_t found[BLOCK + SPARE]; /* enum cf_full_result */
    uint64_t news[BLOCK];         /* words that others wrote since the core referenced the line */
    uint64_t missed[BLOCK / 64];
    uint32_t turn[BLOCK + 1]; /* the first of runs of one core, one after the other; and the end */
    /* core by core, with SPARE elements behind each */
    uint32_t part_slot[BLOCK + CF_COHERENCE_CORES * SPARE];
    uint8_t part_found[BLOCK + CF_COHERENCE_CORES * SPARE];
};

static inline uint32_t *state_of(const struct cf_coherence *c, uint32_t slot)
{
    return c->state + ((size_t)slot << c->shift);
}

/* The sets of all cores that a run's line belongs to, one behind the other. */
static inline uint32_t *sets_of(const struct cf_coherence *c, uint32_t i)
{
    const uint64_t line = c->line[i];
    const uint64_t set = c->even ? line & (c->g.sets - 1) : line % c->g.sets;

    return c->ways + set * c->g.cores * c->places;
}

/* Bits first to last, both from 0 to 63. */
static inline uint64_t bits_of(uint64_t first, uint64_t last)
{
    return (UINT64_MAX << first) & (UINT64_MAX >> (63 - last));
}

/* Words of a line, without its space, that the access of a row touches. */
static inline uint64_t words_of(const struct cf_coherence *c, uint64_t addr, uint64_t last,
                                uint64_t line)
{
    const unsigned shift = c->g.line_shift;
    const uint64_t bytes = ((uint64_t)1 << shift) - 1;
    const uint64_t from = line == addr >> shift ? addr & bytes : 0;
    const uint64_t to = line == last >> shift ? last & bytes : bytes;

    return bits_of(from >> c->unit_shift, to >> c->unit_shift);
}

static inline uint64_t last_byte(const struct cf_coherence_rows *in, uint32_t row)
{
    const uint64_t size = in->size && in->size[row] ? in->size[row] : 1;
    const uint64_t last = in->addr[row] + (size - 1);

    return last < in->addr[row] ? UINT64_MAX : last;
}

#endif
