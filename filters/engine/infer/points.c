/* SPDX-License-Identifier: BSD-2-Clause */
/* points.c - see points.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_number.h"
#include "filters/engine/infer/points.h"

static int by_series(const void *a, const void *b)
{
    const struct cf_measurement *x = a, *y = b;

    if (x->series != y->series)
        return cf_order(x->series, y->series);
    if (x->parameter != y->parameter)
        return cf_order(x->parameter, y->parameter);
    return cf_order(x->order, y->order);
}

void cf_measurements_sort(struct cf_measurement *m, size_t count)
{
    if (count)
        qsort(m, count, sizeof *m, by_series);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of times, the lower half of the repeats: the standard deviation of a normal distribution is so
   many times the median distance of those below its median from its lower quartile. */
enum { HALF_LEAST = 6, HALF_MOST = 64 };
static const double HALF_FACTOR = 2.4;

double cf_median(double *value, size_t count)
{
    if (!count)
        return NAN;
    qsort(value, count, sizeof *value, by_value);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

/* Croux and Rousseeuw's factors for a few values, times that of a normal distribution. */
static double factor(size_t count)
{
    static const double few[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};

    return 1.4826 * (count < 10 ? few[count] : (double)count / ((double)count - 0.8));
}

/* Median distance of values, which rise, from `from`: they become these distances. */
static double distance(double *value, size_t n, double from)
{
    for (size_t i = 0; i < n; i++)
        value[i] = fabs(value[i] - from);
    return cf_median(value, n);
}

/* Takes the values of a group into its point; they change their order. */
static void take_group(struct cf_point *p, double *value, uint32_t n, int counted)
{
    const size_t low = (n + 1) / 2;
    double half[HALF_MOST], median, spread = 0, is;

    if (!n)
        return;
    median = cf_median(value, n);
    is = value[counted ? 0 : (size_t)((double)(n - 1) * 0.25 + 0.5)];
    if (low <= HALF_MOST)
        memcpy(half, value, low * sizeof *half);
    if (n > 1)
        spread = factor(n) * distance(value, n, median);
    if (!counted && low >= HALF_LEAST && low <= HALF_MOST)
        spread = fmin(spread, HALF_FACTOR * distance(half, low, is));
    if (p->good && is <= p->value)
        return;
    p->value = is;
    p->spread = spread;
    p->good = n;
}

/* The good values of m[0 .. count), of which `grain` is set. */
static uint32_t good_values(const struct cf_measurement *m, size_t count, int counted,
                            struct cf_point *p, double *value)
{
    uint32_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const double each = 1 / (double)m[i].accesses;

        if (m[i].spoilt) {
            p->spoilt++;
        } else if (m[i].accesses && m[i].counted >= counted) {
            value[n++] = (double)(counted ? m[i].misses : m[i].time) * each;
            p->grain = fmax(p->grain, each);
        }
    }
    return n;
}

/* Of counts, what one miss makes of the value in the measurement that gave it. */
static void take_grain(struct cf_point *p, const struct cf_measurement *m, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (m[i].counted && m[i].accesses && !m[i].spoilt &&
            (double)m[i].misses * (1 / (double)m[i].accesses) == p->value)
            p->grain = 1 / (double)m[i].accesses;
}

/* Ticks between two times that the clock tells apart: what divides all times. */
static double quantum(const struct cf_measurement *m, size_t count)
{
    uint64_t common = 0;

    for (size_t i = 0; i < count && common != 1; i++)
        for (uint64_t a = m[i].spoilt ? 0 : m[i].time; a;) {
            const uint64_t rest = common % a;

            common = a;
            a = rest;
        }
    return common > 1 ? (double)common : 1;
}

int cf_points_make(struct cf_points *p, const struct cf_measurement *m, size_t count, int greatest)
{
    double *value = malloc((count + 1) * sizeof *value);
    size_t repeated = 0;
    double ticks;

    *p = (struct cf_points){.point = calloc(count + 1, sizeof *p->point)};
    if (!value || !p->point) {
        free(value);
        cf_points_free(p);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        p->counted |= m[i].counted && m[i].accesses;
    ticks = p->counted ? 1 : quantum(m, count);
    for (size_t i = 0, end, at; i < count; i = end) {
        struct cf_point *to = &p->point[p->count++];

        to->parameter = m[i].parameter;
        to->value = NAN;
        for (end = i; end < count && m[end].parameter == m[i].parameter; end = at) {
            uint32_t n;

            for (at = end; at < count && m[at].parameter == m[i].parameter &&
                           (!greatest || at == end || m[at].repeat > m[at - 1].repeat);)
                at++;
            n = good_values(m + end, at - end, p->counted, to, value);
            p->good += n;
            take_group(to, value, n, p->counted);
        }
        if (p->counted)
            take_grain(to, m + i, end - i);
        p->spoilt += to->spoilt;
        to->grain *= ticks;
        p->repeats = to->good > p->repeats ? to->good : p->repeats;
        repeated += to->good > 1;
    }
    if (2 * repeated < p->count)
        p->repeats = p->repeats > 0;
    free(value);
    return 0;
}

void cf_points_free(struct cf_points *p)
{
    free(p->point);
    p->point = NULL;
    p->count = 0;
}
