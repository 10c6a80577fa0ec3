/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * changes.h - what is different between two tables of tags.
 *
 * Every line of either table is one of: the same (in its way), the same in another state, the same
 * line in another way of its set, only in the first, only in the second. States are other ones
 * where they cannot be one: "modified or exclusive" may be modified, and what is not known
 * anything. Beside that a way has changed when it holds another line than before, or begins or
 * ceases to hold one: the share of such ways in all lines of the cache is the pollution of
 * "Observing the Invisible", section 7.3.
 */
#ifndef CF_CHANGES_H
#define CF_CHANGES_H

#include "filters/engine/snapshot/tags.h"

enum cf_change {
    CF_SAME,
    CF_OTHER_STATE,
    CF_OTHER_WAY,
    CF_ONLY_A,
    CF_ONLY_B,
    CF_CHANGE_KINDS,
};

struct cf_changes {
    uint64_t count[CF_CHANGE_KINDS]; /* lines */
    uint64_t valid_a, valid_b;
    uint64_t ways;    /* that changed */
    uint64_t ignored; /* set by the caller: bits of states that are not compared */
};

/* Called for each line as it is counted, in its slot of `t`, which is the second table for
   CF_ONLY_B, else the first. Non-zero ends the comparison. */
typedef int cf_change_taker(void *arg, const struct cf_tags *t, size_t slot, uint32_t set,
                            enum cf_change kind);

/* Adds the changes from a to b to *c, states too where both tables keep them; `take` may be NULL.
   Set s of the cache of a cpu is compared with set s of that of the same cpu, also where the
   layouts differ. Returns 0, or what `take` returned. */
int cf_changes_add(struct cf_changes *c, const struct cf_tags *a, const struct cf_tags *b,
                   cf_change_taker *take, void *arg);

/* Mean, standard deviation of a sample (n - 1) and largest of a series, by Welford, "Note on a
   Method for Calculating Corrected Sums of Squares and Products", Technometrics 4, 1962. */
struct cf_moments {
    uint64_t n;
    double mean, squares, most;
};
void cf_moments_add(struct cf_moments *m, double x);
double cf_moments_deviation(const struct cf_moments *m); /* NAN below two values */

#endif
