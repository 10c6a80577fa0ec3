/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequences.h - which replacement policy explains the misses of sequences of accesses that
 * distinguish policies (cf_sequence.h)?
 *
 * Of each sequence the policies of cache.h predict how many accesses miss: one number, or of random
 * replacement a distribution, counted in 256 runs. In one set, the likelihood of its measurements,
 * of n accesses each, is by
 *   a policy      1 - e for what it predicts, and else e / n: a share e of the measurements is
 *                 disturbed, which may be any, small ones rather (a beta distribution)
 *   random        the distribution, each number of misses with 2 / (n + 1) runs more
 *   none of these what the other repeats of the sequence showed, and where there were none, any
 *                 number alike (the predictive distribution of Dirichlet's, with concentration 1)
 * All are as likely before, which gives the chance of each. Policies that predict the same are one.
 *
 * A set has the policy of most chance. Unless that is random, the most frequent number of misses is
 * the predicted one in nine tenths of the sequences at least: else another policy that is close to
 * it could pass for it. None of these needs half of the repeats to agree with each other. Under
 * random replacement the measurements must be as likely as its own runs, within 4 standard
 * deviations, and the average misses of the sequences those of its runs, by the chi-squared test at
 * 1 in 10,000.
 *
 * Each set is judged by itself, since caches that duel (M. K. Qureshi, A. Jaleel, Y. N. Patt,
 * S. C. Steely, J. Emer, "Adaptive Insertion Policies for High Performance Caching", ISCA 2007)
 * have sets of two policies. All have one policy when three quarters of the sets have, and none has
 * another one; all have none of these when a quarter of the sets has none, and no set has one. What
 * less than an eighth of the sets has is taken for noise. Sets of which less than half of the
 * sequences were measured, or these less than twice on average, do not count.
 *
 * Memory: 4 bytes for each number of misses that a sequence may have, 37 KiB at most, and 20 bytes
 * a measurement.
 */
#ifndef CF_SEQUENCES_H
#define CF_SEQUENCES_H

#include <stddef.h>

#include "filters/engine/cache/cache.h"
#include "formats/base/cf_sequence.h"

/* What all policies predict for a number of ways. */
struct cf_predictions;

/* NULL without memory; ways from 1 to CF_SEQUENCE_WAYS. */
struct cf_predictions *cf_predictions_new(uint32_t ways) CF_MUST_CHECK;
void cf_predictions_free(struct cf_predictions *p);

/* Misses of a sequence by a policy that draws no random numbers. */
uint32_t cf_predictions_misses(const struct cf_predictions *p, enum cf_replacement policy,
                               uint32_t number);

/* A measurement that was not spoilt. */
struct cf_sequence_row {
    uint32_t set, number, misses;
};

enum cf_sequences_state {
    CF_SEQUENCES_NONE,  /* nothing was measured */
    CF_SEQUENCES_NAMED, /* the policies are the same with so many ways, or it is one */
    CF_SEQUENCES_ALIKE, /* one of them: the sequences that were measured do not distinguish these */
    CF_SEQUENCES_OTHER, /* none of these: repeats agree, and no policy explains them */
    CF_SEQUENCES_NOISE, /* repeats differ, or more than one explains them */
    CF_SEQUENCES_ONCE,  /* without repeats noise is not known */
    CF_SEQUENCES_FEW,   /* too few measurements */
    CF_SEQUENCES_SETS,  /* sets differ */
};

struct cf_sequences_verdict {
    enum cf_sequences_state state;
    unsigned policies; /* bit p: enum cf_replacement p; of sets that differ, of any of them */
    double confidence; /* from 0 to 1; of several sets, that of the least sure one */
};

struct cf_sequences_set {
    uint32_t set;
    struct cf_sequences_verdict is;
};

/* `exact`: of a model, of which measuring once is enough. `least`: chance of what is named. Rows
   change their order; numbers are below CF_SEQUENCES, misses at most the length. Sets in rising
   order into each[0] to each[*sets - 1]: there is room for `room`, and further sets are not looked
   at. */
struct cf_sequences_verdict cf_sequences_judge(const struct cf_predictions *p,
                                               struct cf_sequence_row *row, size_t count, int exact,
                                               double least, struct cf_sequences_set *each,
                                               size_t room, size_t *sets);

#endif
