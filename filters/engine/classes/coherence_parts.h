/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence_parts.h - what the portable and the vector code of coherence.h share.
 */
#ifndef CF_COHERENCE_PARTS_H
#define CF_COHERENCE_PARTS_H

#include <stdint.h>

#include "filters/engine/classes/coherence.h"
#include "filters/engine/classes/full.h"
#include "filters/engine/rows/slots.h"
#include "formats/stream/cf.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX512_COHERENCE 1
#endif

#define CF_NO_SLOT UINT32_MAX /* a way without a line; such ways come last */

enum { BLOCK = 512 };

struct cf_coherence {
    struct cf_coherence_geometry g;
    struct cf_slots *slots;
    struct cf_pair *pair; /* has steps 3 and 4, with caches of its own; or NULL */
    struct cf_full *full[CF_COHERENCE_CORES];
    uint32_t *ways;  /* of core, set: the slots of its lines, the newest first */
    uint64_t *state; /* of slot n from element n << shift: `words` words, then for each core, 32
                        bits, the time of its fully associative cache */
    unsigned shift;
    uint32_t room;       /* slots that have a state */
    unsigned words;      /* uint64_t that the state of a line takes; 1 for the short form */
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
    int vectors;        /* vector code makes the runs */
    int flush;          /* its only run is one */
    uint32_t next_miss; /* of the caller's */
    uint64_t line[BLOCK + 8];
    uint64_t touch[BLOCK + 8]; /* words that its first access touches */
    uint64_t write[BLOCK + 8]; /* words that it writes */
    uint32_t row[BLOCK + 8];
    uint8_t core[BLOCK + 8];
    uint8_t op[BLOCK + 8]; /* of its first access, below CF_CLASS_OPS */
    uint32_t slot[BLOCK];
    uint8_t found[BLOCK];     /* enum cf_full_result */
    uint32_t turns;           /* runs of one core, one after the other */
    uint32_t turn[BLOCK + 1]; /* the first run of each, and the end */
    uint32_t part_slot[BLOCK];
    uint8_t part_found[BLOCK];
};

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

/* Takes a line out of a set that holds it. */
static inline void take_out(uint32_t *way, uint32_t ways, uint32_t slot)
{
    uint32_t k = 0;

    while (way[k] != slot)
        k++;
    for (; k + 1 < ways; k++)
        way[k] = way[k + 1];
    way[ways - 1] = CF_NO_SLOT;
}

#ifdef HAVE_AVX512_COHERENCE
/* Loads and stores of one line each by blocks of 64 rows, while the block has room for so many
   runs, from row 1 or later: returns the row to go on with. */
uint32_t cf_coherence_rows_avx512(struct cf_coherence *c, const struct cf_coherence_rows *in,
                                  uint32_t row, uint32_t rows);

/* Two cores with a power of two of sets of up to 8 ways, and lines of up to 16 words. NULL without
   memory. */
struct cf_pair *cf_pair_new(const struct cf_coherence_geometry *g);
void cf_pair_free(struct cf_pair *p);

/* Steps 3 and 4 of a block, and of a flush. -1 without memory. */
int cf_pair_block(struct cf_coherence *c, uint8_t *class);
void cf_pair_flush(struct cf_coherence *c);
#endif

#endif
