/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The incomplete gamma function by the two expansions of Abramowitz and Stegun, each where it
 * converges fast: for x < a + 1 the series 6.5.29 of the lower function, else the continued
 * fraction 6.5.31 of the upper one, evaluated forwards by the modified method of Lentz (Thompson
 * and Barnett, "Coulomb and Bessel Functions of Complex Arguments and Order", J. Comput. Phys. 64,
 * 1986), in the contracted form whose terms are x + 2k + 1 - a and -k (k - a).
 */
#include <math.h>

#include "filters/engine/replacement/gamma.h"

enum { TERMS = 100000 };

static const double precision = 1e-15;
static const double tiny = 1e-300; /* in place of a denominator that is 0 */

static double ln_gamma(double a)
{
    int sign;

    return lgamma_r(a, &sign);
}

/* x^a e^-x / Gamma(a) */
static double front(double a, double x)
{
    return exp(a * log(x) - x - ln_gamma(a));
}

static double lower_series(double a, double x)
{
    double term = 1 / a, sum = term;

    for (int k = 1; k < TERMS; k++) {
        term *= x / (a + k);
        sum += term;
        if (term < sum * precision)
            break;
    }
    return sum * front(a, x);
}

static double upper_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, product = d;

    for (int k = 1; k < TERMS; k++) {
        const double numerator = -k * (k - a);
        double factor;

        b += 2;
        d = numerator * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + numerator / c;
        c = fabs(c) < tiny ? tiny : c;
        factor = c * d;
        product *= factor;
        if (fabs(factor - 1) < precision)
            break;
    }
    return product * front(a, x);
}

double cf_gamma_upper(double a, double x)
{
    if (!(a > 0) || !(x >= 0))
        return NAN;
    if (x == 0)
        return 1;
    if (isinf(x))
        return 0;
    return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

struct cf_chi_squared cf_chi_squared(const uint64_t *count, const double *expected, size_t classes)
{
    struct cf_chi_squared r = {.p = NAN, .least = INFINITY};
    double total = 0, used = 0;

    for (size_t i = 0; i < classes; i++)
        total += (double)count[i];
    for (size_t i = 0; i < classes; i++) {
        const double want = expected ? expected[i] : total / (double)classes;
        const double off = (double)count[i] - want;

        if (!(want > 0))
            continue;
        r.statistic += off * off / want;
        r.least = want < r.least ? want : r.least;
        used++;
    }
    r.degrees = used > 1 ? used - 1 : 0;
    if (used > 1)
        r.p = cf_gamma_upper(r.degrees / 2, r.statistic / 2);
    else
        r.least = 0;
    return r;
}

double cf_ln_choose(double n, double k)
{
    if (k <= 0 || k >= n)
        return 0;
    return ln_gamma(n + 1) - ln_gamma(k + 1) - ln_gamma(n - k + 1);
}
