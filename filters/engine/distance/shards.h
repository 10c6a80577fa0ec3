/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shards.h - spatially hashed sampling of lines (Waldspurger, Park, Garthwaite, Ahmad: Efficient
 * MRC construction with SHARDS, FAST 2015).
 *
 * A line is in the sample if a hash of it, of 32 bits, is below a threshold T; the rate is
 * R = T / 2^32. All references to it then are in the sample, their distances among the sampled
 * lines are 1/R of the true ones on average, and each stands for 1/R references. Fixed size
 * (section 3.2 of the paper): as more lines come, T is lowered, and lines at or above it are
 * forgotten. Here that is looked after every samples/8 references to sampled lines with a distance
 * other than 0 in the sample: where there are more than 7/8 of `samples` lines, T falls to where at
 * most 3/4 remain. So never more than `samples` are kept, and the result does not depend on how the
 * references are cut into calls, nor on which repeats were dropped before.
 *
 * Error. The miss ratio of a cache of C lines is estimated as the paper's SHARDS-adj does: the
 * references expected in the sample but not found there (or found beyond those expected) count as
 * hits at distance 0, so that the ratio is 1/N times the sum of 1/R over the sampled references
 * with a distance of C or more; N is the number of all references. Its standard error is found by
 * random groups (Wolter, Introduction to Variance Estimation, 2nd ed., chapter 2): the sampled
 * lines fall into 32 groups by another part of their hash, and the spread of the groups' sums
 * gives that of the whole. It does not hold the error of the distances themselves, about
 * sqrt(d (1-R) / R) lines at distance d, which moves the curve sideways.
 */
#ifndef CF_SHARDS_H
#define CF_SHARDS_H

#include <stdint.h>

enum { SHARDS_GROUPS = 32, SHARDS_SIZES = 65 };

struct shards {
    uint64_t threshold;  /* T */
    uint32_t samples;    /* most lines, 0 = no limit */
    uint32_t until_look; /* references to sampled lines, repeats apart */
    uint64_t references; /* all, and those to sampled lines */
    uint64_t sampled;
    double expected;
    /* by bits of the distance: 0, 1, 2 to 3, 4 to 7, ...; first references in the last */
    double sum[SHARDS_GROUPS][SHARDS_SIZES + 1];
};

/* A rate in (0, 1]; `samples` 0 or from 64. */
void shards_init(struct shards *h, double rate, uint32_t samples);

static inline double shards_rate(const struct shards *h)
{
    return (double)h->threshold / 4294967296.0;
}

/* The upper half chooses the sample, bits 0 to 4 the group. */
static inline uint64_t shards_hash(uint64_t line)
{
    uint64_t h = line * 0x9fb21c651e98df25u;

    h = (h ^ h >> 35) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static inline int shards_has(const struct shards *h, uint64_t line)
{
    return shards_hash(line) >> 32 < h->threshold;
}

/* Picks the sampled ones of n lines, at most `most` of them: puts them and their places into `line`
   and `index`, which have room for n, returns how many and in *taken how many it has looked at. */
uint32_t shards_pick(const struct shards *h, const uint64_t *from, uint32_t n, uint32_t most,
                     uint64_t *line, uint32_t *index, uint32_t *taken);

/* Distances among the sample become distances; notes them for the error. */
void shards_scale(struct shards *h, const uint64_t *line, uint64_t *dist, uint32_t n);

/* The greatest standard error of a miss ratio, over cache sizes that are a power of two and that
   the sample can resolve: from *from lines, at least 16/R. */
double shards_error(const struct shards *h, uint64_t *from);

#endif
