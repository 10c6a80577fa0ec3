/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_parts.h - what the files of coherence.h share.
 */
#ifndef CF_COHERENCE_PARTS_H
#define CF_COHERENCE_PARTS_H

#include <stdint.h>

#include "filters/engine/classes/coherence.h"
#include "filters/engine/classes/full.h"
#include "filters/engine/rows/runs.h"
#include "filters/engine/rows/sets.h"
#include "filters/engine/rows/slots.h"
#include "formats/cpu/cf_cpu.h"

enum { BLOCK = 512, COHERENCE_PLACES = 8 };

/* Runs of the batch, up to a flush, or a flush alone: what one step hands on to the next. */
struct cf_coherence_block {
    uint32_t runs;
    uint32_t slots; /* so many there are so far */
    int one_core;   /* of all rows so far */
    uint64_t line[BLOCK];
    uint64_t touch[BLOCK]; /* words that its first access touches */
    uint64_t write[BLOCK]; /* words that it writes */
    uint32_t row[BLOCK];
    uint32_t slot[BLOCK];
    uint8_t core[BLOCK];
    uint8_t op[BLOCK]; /* of its first access, below CF_CLASS_OPS */
    uint64_t missed[BLOCK / 64];
};

/* Takes runs of the batch from number `at` on, up to a flush, which comes alone; `next` is the row
   that the batch ends before, or in. */
typedef void cf_coherence_taker(struct cf_coherence *c, struct cf_coherence_block *b,
                                const struct cf_coherence_rows *in, uint32_t at, uint32_t next);
CF_SIMD_CODE(cf_coherence_taker, cf_coherence_take_runs);

/* Which runs miss in the caches here, a bit each in `missed`. */
typedef void cf_coherence_setter(struct cf_coherence *c, struct cf_coherence_block *b);
CF_SIMD_CODE(cf_coherence_setter, cf_coherence_through_sets);

/* Of step 1, of 2 and 3, and of 4 and 5: three threads may be in three groups. */
struct cf_coherence {
    struct cf_coherence_geometry g;
    struct cf_runs *batch;
    uint8_t *begins; /* its rows that are of another core or space than the one before, or missed */
    uint32_t begins_room;
    struct cf_slots *slots;
    struct cf_class_counts counts; /* the references; misses are of step 5 */
    int one_core;        /* all rows so far are of one core: no core has news of a line, */
    uint32_t first_core; /* this one; CF_COHERENCE_CORES where none came */
    int rows_asked;      /* somebody asks for the rows of runs */

    struct cf_full *full[CF_COHERENCE_CORES];
    cf_coherence_taker *take_runs;
    cf_coherence_setter *through_sets;
    uint64_t *ways;    /* of set, core: its lines, the newest first; CF_NO_LINE */
    uint32_t places;   /* of each: its ways, and to multiples of COHERENCE_PLACES none */
    uint32_t *holders; /* by slot, with more than two cores, once two have run: a bit for each
                          that has had the line since; the first may have any */
    uint32_t holders_room;
    uint32_t *state; /* of slot n from element n << shift: see state_of(); from element `times` on
                        for each core the time of its fully associative cache */
    unsigned shift, times;
    uint32_t room;       /* slots that have a state */
    unsigned unit_shift; /* log2 of the bytes in what counts as a word of memory */
    unsigned mask_bits;  /* 16 or 64: units in a line, rounded up */
    struct cf_sets index;
    uint8_t found[BLOCK]; /* enum cf_full_result */
    uint64_t news[BLOCK]; /* words that others wrote since the core referenced the line */
    struct cf_coherence_block block;
};

static inline uint32_t *state_of(const struct cf_coherence *c, uint32_t slot)
{
    return c->state + ((size_t)slot << c->shift);
}

/* The sets of all cores that a line belongs to, one behind the other. */
static inline uint64_t *sets_of(const struct cf_coherence *c, uint64_t line)
{
    return c->ways + (size_t)cf_sets_index(&c->index, line) * c->g.cores * c->places;
}

#endif
