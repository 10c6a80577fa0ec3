/* SPDX-License-Identifier: BSD-2-Clause */
/* The chi-squared p-value against printed tables, closed forms and the integral itself. */
#include <math.h>

#include "filters/engine/replacement/gamma.h"
#include "tap.h"

/* Upper percentage points of chi-squared: Abramowitz and Stegun, table 26.8. */
static const struct {
    double degrees, p, point;
} table[] = {
    {1, 0.05, 3.84146},    {1, 0.01, 6.63490},   {1, 0.001, 10.828},    {2, 0.05, 5.99147},
    {5, 0.995, 0.411740},  {5, 0.5, 4.35146},    {10, 0.05, 18.3070},   {10, 0.01, 23.2093},
    {15, 0.95, 7.26094},   {15, 0.5, 14.3389},   {15, 0.05, 24.9958},   {15, 0.01, 30.5779},
    {15, 0.001, 37.697},   {30, 0.95, 18.4926},  {30, 0.01, 50.8922},   {60, 0.05, 79.0819},
    {100, 0.995, 67.3276}, {100, 0.05, 124.342}, {100, 0.001, 149.449},
};

/* Simpson's rule over the density t^(a-1) e^-t / Gamma(a), from 0 to x, for a >= 3. */
static double integral(double a, double x)
{
    enum { STEPS = 20000 };
    double sum = 0;

    for (int i = 0; i <= STEPS; i++) {
        const double t = x * i / STEPS;
        const double f = t > 0 ? exp((a - 1) * log(t) - t - lgamma(a)) : 0;

        sum += f * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    }
    return sum * x / STEPS / 3;
}

static int near(double got, double want, double error)
{
    if (fabs(got - want) <= error * (fabs(want) + 1e-300))
        return 1;
    note("%.17g, expected %.17g", got, want);
    return 0;
}

int main(void)
{
    int good = 1;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        good &= near(cf_gamma_upper(table[i].degrees / 2, table[i].point / 2), table[i].p, 5e-4);
    ok(good, "percentage points of chi-squared as printed");

    good = 1;
    for (int n = 1; n < 200; n++)
        for (double x = 0.01; x < 400; x *= 1.7) {
            double term = exp(-x), sum = term;

            for (int k = 1; k < n; k++)
                sum += term *= x / k;
            if (sum > 1e-250)
                good &= near(cf_gamma_upper(n, x), sum, 1e-11) || near(sum, 1, 1e-12);
        }
    ok(good, "whole a: the sum of a Poisson distribution");

    good = 1;
    for (double x = 0.001; x < 300; x *= 1.3)
        good &= near(cf_gamma_upper(0.5, x), erfc(sqrt(x)), 1e-11);
    ok(good, "a = 1/2: the error function");

    good = 1;
    for (double a = 3; a < 60; a += 3.7)
        for (double x = a / 3; x < 3 * a; x *= 1.4)
            good &= fabs(1 - cf_gamma_upper(a, x) - integral(a, x)) < 1e-9;
    ok(good, "any a: the integral, by Simpson's rule");

    ok(cf_gamma_upper(3, 0) == 1 && cf_gamma_upper(3, INFINITY) == 0, "the two ends");
    ok(isnan(cf_gamma_upper(0, 1)) && isnan(cf_gamma_upper(-1, 1)) &&
           isnan(cf_gamma_upper(1, -1)) && isnan(cf_gamma_upper(NAN, 1)),
       "what is outside");

    {
        /* 60 throws of a die: 5.2 by hand */
        const uint64_t die[] = {8, 9, 13, 7, 15, 8}, none[4] = {0}, one[] = {7};
        const double odd[] = {20, 40, 0, 40};
        const uint64_t seen[] = {25, 35, 99, 40};
        struct cf_chi_squared c = cf_chi_squared(die, NULL, 6);

        ok(near(c.statistic, 5.2, 1e-12) && c.degrees == 5 && near(c.p, 0.39196, 1e-4) &&
               c.least == 10,
           "a die");
        ok(isnan(cf_chi_squared(none, NULL, 4).p) && isnan(cf_chi_squared(one, NULL, 1).p),
           "nothing to test");
        c = cf_chi_squared(seen, odd, 4);
        ok(near(c.statistic, 25.0 / 20 + 25.0 / 40, 1e-12) && c.degrees == 2 && c.least == 20,
           "classes that expect nothing are left out");
    }
    ok(near(exp(cf_ln_choose(16, 8)), 12870, 1e-10) && cf_ln_choose(5, 0) == 0 &&
           cf_ln_choose(5, 5) == 0,
       "binomial coefficients");
    return done();
}
