/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clash.h - will two programs hurt each other on a shared cache? Two metrics of their profiles, and
 * the correlation with what was measured: "Observing the Invisible" (Tarapore, Roozkhosh,
 * Brzozowski, Mancuso), section 7.6 and Table 3.
 *
 * A profile is a quota, lines of the program over lines of the cache, for each snapshot of the
 * program in isolation. The paper averages "over the full length of the profile" and does not say
 * what happens where the interfering profile has another length. Here the mean is over the length
 * of the observed one, and the interfering one is brought to it in one of these ways.
 */
#ifndef CF_CLASH_H
#define CF_CLASH_H

#include <stddef.h>

enum cf_clash_lengths {
    CF_CLASH_REPEAT,  /* it begins anew when it has ended, as a program that runs in a loop */
    CF_CLASH_STRETCH, /* point i of n is point i * m / n of its m */
    CF_CLASH_ONCE,    /* it ends, and then nothing interferes */
    CF_CLASH_PHASES,  /* it repeats, and may be anywhere when the observed one begins: the mean over
                         all places where each of its points can meet each of the observed */
};

/* Active Set Excess: how much the two active sets together exceed the cache, mean over the n points
   of the observed program; a ratio of the cache. NaN without points (of either), or without memory
   for a copy of the interfering profile, which CF_CLASH_PHASES takes. */
double cf_clash_excess(const double *active, size_t n, const double *interfering, size_t m,
                       enum cf_clash_lengths lengths);

/* Reused Set Eviction: reused quota of the observed program times active quota of the interfering
   one, mean over the n points of the observed. NaN without points. */
double cf_clash_eviction(const double *reused, size_t n, const double *interfering, size_t m,
                         enum cf_clash_lengths lengths);

/* Pearson's product-moment correlation coefficient (Karl Pearson, "Notes on Regression and
   Inheritance in the Case of Two Parents", Proceedings of the Royal Society of London 58, 1895);
   NaN where either is the same everywhere or there are fewer than two points. */
double cf_clash_correlation(const double *x, const double *y, size_t n);

#endif
