/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coherence.h - private caches of several cores, kept coherent by invalidation, with the class of
 * every miss.
 *
 * Each core has one set-associative LRU cache. A store takes the line away from all other cores, as
 * MESI does (M. S. Papamarcos, J. H. Patel, "A low-overhead coherence solution for multiprocessors
 * with private cache memories", ISCA 1984). Its states Modified, Exclusive and Shared differ in
 * what goes over the bus and not in who misses, so that the state of a line is here the set of the
 * cores that hold it.
 *
 * A miss of a core is, by the first of these that holds,
 *   compulsory     this core has never referenced the line, or where stores do not allocate only
 *                  by stores that missed;
 *   true sharing   another core wrote the line since this core last referenced it, and among the
 *                  words that it wrote is one that this reference touches;
 *   false sharing  likewise, but only neighbours of these words in the line were written;
 *   capacity       a fully associative LRU cache of equal size, fed by this core's references
 *                  alone, would have replaced the line too;
 *   conflict       it would not.
 * So a private cache without bounds has the compulsory and sharing misses, a fully associative one
 * also those by capacity, and the conflicts are what the real one adds: the 3C model (threec.h)
 * with one step more. A line that was replaced before another core wrote it is hence a sharing
 * miss.
 *
 * Sharing misses are split as in S. J. Eggers, T. E. Jeremiassen, "Eliminating false sharing", ICPP
 * 1991: by what the reference touches that misses. M. Dubois et al., "The detection and elimination
 * of useless misses in multiprocessors", ISCA 1993, wait until the core loses the line again, and
 * call a miss useful when any word that was touched meanwhile was new; a filter of streams cannot
 * wait, so that a false-sharing miss here may bring in a word that is needed later. Compulsory is
 * by core, as in both: what one core produced and another reads for the first time counts so.
 *
 * Words are of 4 bytes; in lines longer than 256 bytes of a 64th of the line.
 *
 * The caches need not be the ones here: a caller who knows from elsewhere which references miss has
 * them classified all the same.
 *
 * Memory: per slot (slots.h, full.h) 4 bytes, and 6 a core (12 where lines are longer than 64
 * bytes); the sum rounded up to a power of two. And 0.75 bytes a slot and core for the bits of
 * full.h.
 */
#ifndef CF_COHERENCE_H
#define CF_COHERENCE_H

#include <stdint.h>

#include "filters/engine/classes/classes.h"

enum { CF_COHERENCE_CORES = 32 };

struct cf_coherence_geometry {
    unsigned cores;      /* 1 to CF_COHERENCE_CORES */
    uint32_t sets;       /* 1 or more, of the cache of one core */
    uint32_t ways;       /* 1 or more */
    unsigned line_shift; /* log2 of the bytes in a line, 2 to 16 */
    int no_allocate;     /* a store that misses does not bring the line in */
    int fetches;         /* instruction fetches take part, as loads: for unified caches */
    int outside;         /* the caller always says what misses: no caches here */
};

struct cf_coherence;

/* NULL without memory. */
struct cf_coherence *cf_coherence_new(const struct cf_coherence_geometry *g);
void cf_coherence_free(struct cf_coherence *c);

struct cf_coherence_rows {
    uint32_t rows;
    const uint64_t *addr;
    const uint8_t *op;     /* NULL: loads */
    const uint32_t *size;  /* NULL: one byte */
    const uint8_t *core;   /* below the number of cores; NULL: core 0 */
    const uint64_t *space; /* what line numbers are XORed with (runs.h); NULL: 0 */

    /* of caches outside; else NULL and 0 */
    const uint8_t *missed;     /* of each row, 1: one of its lines missed */
    const uint32_t *miss_row;  /* the references that missed, in order: row and line */
    const uint64_t *miss_line; /* with the space */
    uint32_t misses;
};

/* Accesses in order: raises class[i], enum cf_class, to that of row i; of several lines the
   greatest. The caller has set it, to CF_CLASS_NONE as a rule; NULL: the counts are all that
   matters. A flush takes the line from all cores and has no class. -1 without memory; it can then
   only be freed. */
int cf_coherence_run(struct cf_coherence *c, const struct cf_coherence_rows *in, uint8_t *class);

/* Counts, in three parts, which three threads may do at the same time, of lists that follow each
   other: the runs of the rows; the sets, or the caller's list of misses, which stays until then;
   and the classes. Each takes all lists in their order. A list takes 22 KB for 512 runs, and serves
   again. -1 without memory, as above. */
struct cf_coherence_list;
struct cf_coherence_list *cf_coherence_list_new(void); /* NULL without memory */
void cf_coherence_list_free(struct cf_coherence_list *l);
int cf_coherence_take(struct cf_coherence *c, const struct cf_coherence_rows *in,
                      struct cf_coherence_list *l);
int cf_coherence_sets(struct cf_coherence *c, struct cf_coherence_list *l);
int cf_coherence_classes(struct cf_coherence *c, const struct cf_coherence_list *l);

/* Line references by operation and class so far. */
const struct cf_class_counts *cf_coherence_counts(const struct cf_coherence *c);

#endif
