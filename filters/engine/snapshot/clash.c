/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clash.c - metrics of two profiles, and correlation (see clash.h).
 *
 * In: arrays. Out: a number. With all phases, the excess of a point with each of m others is found
 * in the sorted list of these by halving, from sums of its end: (n + m) log m steps instead of nm.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/snapshot/clash.h"

static double at(const double *profile, size_t m, size_t i, size_t n, enum cf_clash_lengths lengths)
{
    switch (lengths) {
    case CF_CLASH_STRETCH:
        return profile[(size_t)((double)i * (double)m / (double)n)];
    case CF_CLASH_ONCE:
        return i < m ? profile[i] : 0;
    default:
        return profile[i % m];
    }
}

static double mean(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double excess_of_phases(const double *active, size_t n, const double *interfering, size_t m)
{
    double *sorted = malloc(m * sizeof *sorted), *above = malloc((m + 1) * sizeof *above);
    double sum = 0;

    if (!sorted || !above) {
        free(sorted);
        free(above);
        return NAN;
    }
    memcpy(sorted, interfering, m * sizeof *sorted);
    qsort(sorted, m, sizeof *sorted, by_value);
    above[m] = 0;
    for (size_t i = m; i-- > 0;)
        above[i] = above[i + 1] + sorted[i];
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = m;

        /* the first that exceeds what the observed one leaves */
        while (low < high) {
            const size_t middle = (low + high) / 2;

            if (active[i] + sorted[middle] > 1)
                high = middle;
            else
                low = middle + 1;
        }
        sum += (above[low] + (double)(m - low) * (active[i] - 1)) / (double)m;
    }
    free(sorted);
    free(above);
    return sum / (double)n;
}

double cf_clash_excess(const double *active, size_t n, const double *interfering, size_t m,
                       enum cf_clash_lengths lengths)
{
    double sum = 0;

    if (!n || !m)
        return NAN;
    if (lengths == CF_CLASH_PHASES)
        return excess_of_phases(active, n, interfering, m);
    for (size_t i = 0; i < n; i++) {
        const double both = active[i] + at(interfering, m, i, n, lengths);

        sum += both > 1 ? both - 1 : 0;
    }
    return sum / (double)n;
}

double cf_clash_eviction(const double *reused, size_t n, const double *interfering, size_t m,
                         enum cf_clash_lengths lengths)
{
    double sum = 0;

    if (!n || !m)
        return NAN;
    if (lengths == CF_CLASH_PHASES)
        return mean(reused, n) * mean(interfering, m);
    for (size_t i = 0; i < n; i++)
        sum += reused[i] * at(interfering, m, i, n, lengths);
    return sum / (double)n;
}

/* Whether n values differ by more than rounding, by the sum of their squared distances from the
   mean. */
static int differ(double squares, size_t n, double mean)
{
    return squares > 1e-18 * (double)n * mean * mean;
}

double cf_clash_correlation(const double *x, const double *y, size_t n)
{
    double xx = 0, yy = 0, xy = 0, mx, my;

    if (n < 2)
        return NAN;
    mx = mean(x, n);
    my = mean(y, n);
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return differ(xx, n, mx) && differ(yy, n, my) ? xy / sqrt(xx * yy) : NAN;
}
