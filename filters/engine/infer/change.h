/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.h - where a series of points leaves its base line: of an experiment on caches, the last
 * parameter with which all lines fit.
 *
 * A change point with a prior that prefers none, after A. F. M. Smith, "A Bayesian approach to
 * inference about a change-point in a sequence of random variables", Biometrika 62, 1975. What
 * fits is a base line with noise of Student's t distribution with 4 degrees of freedom, whose
 * tails bear with what other programs do (K. L. Lange, R. J. A. Little, J. M. G. Taylor, "Robust
 * statistical modeling using the t distribution", JASA 84, 1989). What does not fit lies above it
 * by any amount, on a scale of logarithms, and not at one height, since just beyond the end of a
 * cache few sets miss. A share of points, estimated from the series, is taken to lie on the wrong
 * side.
 *
 * Base line: the median of the points that fit; of times behind a level that is not the first, in
 * which the levels before it hit more or less often, their upper quartile, and what lies below it
 * fits too. Noise: that of the repeats, and what the points of the base line scatter beyond it.
 * Of times, a window that is too large by so little that noise may hide it counts as either.
 *
 * Memory: 70 bytes a point. Time: grows with points times the logarithm of points.
 */
#ifndef CF_CHANGE_H
#define CF_CHANGE_H

#include "filters/engine/infer/points.h"

struct cf_change_rule {
    int falls;    /* large parameters fit, else small ones */
    int window;   /* the parameter is how much is visited: just beyond what fits, little misses */
    int behind;   /* of a level that is not the first */
    int first;    /* asked for is the first parameter on the far side, not the last before it */
    int exact;    /* of a model: measured once is enough */
    double grain; /* of times, as a share of them: the noise is no less, whatever repeats say */
};

enum cf_change_state {
    CF_CHANGE_FOUND,
    CF_CHANGE_NONE,  /* all points are alike: the parameters do not reach far enough */
    CF_CHANGE_FEW,   /* less than two points */
    CF_CHANGE_ONCE,  /* every measurement was made once: found, but noise is not known */
    CF_CHANGE_VAGUE, /* no place is likelier than not */
};

struct cf_change {
    enum cf_change_state state;
    int first;            /* as in the rule, or where it falls */
    uint64_t value;       /* the last parameter before the change, or the first behind it */
    uint64_t beyond;      /* its neighbour on the other side */
    uint64_t least, most; /* the value lies from least to most with 99 % */
    double confidence;    /* from 0 to 1: of [value, beyond) or (beyond, value] */
    int window;           /* of times, as in the rule: see cf_change_chance() */
    double base, step;    /* values of points that fit, and the median of those that do not */
    size_t outliers;      /* points on the wrong side */
    size_t count;         /* points that have a value */
    uint64_t *parameter;  /* of each, rising, */
    double *chance;       /* and that those before it are on one side, it and all further on the
                             other; at the ends, of no change */
};

/* -1 without memory. */
int cf_change_find(struct cf_change *c, const struct cf_points *p,
                   struct cf_change_rule rule) CF_MUST_CHECK;
void cf_change_free(struct cf_change *c);

/* How likely the change is that a true value makes. Windows that are timed on a machine, no model,
   may end too soon, by up to a 32nd, since lines of other programs and of the kernel are in the
   cache as well: half as likely as where the change is. */
double cf_change_chance(const struct cf_change *c, uint64_t value);
/* The largest value that may make a change at `value`. */
uint64_t cf_change_reach(const struct cf_change *c, uint64_t value);

#endif
