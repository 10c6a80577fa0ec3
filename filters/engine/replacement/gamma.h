/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gamma.h - the chi-squared test: do counts deviate from what was expected by more than chance?
 *
 * The p-value is the regularised upper incomplete gamma function Q(degrees / 2, statistic / 2)
 * (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.4.19): the chance that counts
 * which do follow the expectation deviate at least so much. It holds for large counts; the usual
 * rule wants 5 expected in each class (Cochran, "Some Methods for Strengthening the Common
 * Chi-Squared Tests", Biometrics 10, 1954).
 */
#ifndef CF_GAMMA_H
#define CF_GAMMA_H

#include <stddef.h>
#include <stdint.h>

/* Q(a, x) for a > 0 and x >= 0, with a relative error of about 1e-12 for a up to a few thousand;
   NAN for what is outside. */
double cf_gamma_upper(double a, double x);

struct cf_chi_squared {
    double statistic;
    double degrees;
    double p;     /* NAN when there was nothing to test */
    double least; /* smallest expected count */
};

/* Tests `classes` counts against expected counts, or against equal ones when `expected` is NULL.
   Classes that expect nothing are left out. */
struct cf_chi_squared cf_chi_squared(const uint64_t *count, const double *expected, size_t classes);

/* ln of the binomial coefficient, n >= k >= 0. */
double cf_ln_choose(double n, double k);

#endif
