/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c - see change.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/infer/change.h"

/* The likelihood of a place is computed with the base line of the points before it, which is
   estimated anew at the first so many of them, then at every twelfth part more, and of many at
   every third. */
enum { EACH = 16, MANY = 256, HIDDEN_MOST = 256, TOO_SOON = 32 /* part of a window */ };

/* Below this part of the base line, times of one machine differ for many reasons. */
static const double TIME_GRAIN = 0.003;

static const double MODEL_GRAIN = 0.02; /* a model misses or not: errors are a part of one miss */
static const double MODEL_OUTLIER = 0.001; /* share of points of a model on the wrong side */
static const double ONCE_MOST = 0.5;       /* confidence where noise is not known */

/* A series in the order in which what fits comes first. */
struct series {
    size_t count;
    int counted, behind;
    int window; /* times of windows that grow */
    int exact;  /* counts, or times of a model that repeat to the tick */
    double *parameter;
    double *scale;         /* logarithm of the range in standard deviations: of what does not fit */
    double *value, *error; /* error: standard error of a value by its repeats */
    double *sorted;        /* the values so far, rising */
    uint32_t *repeats;
    int model;
    double grain;
    double range;   /* greatest value less the least */
    double scatter; /* of the base line, beyond the errors */
    double outlier; /* share of points on the wrong side */
    double *chance;
};

static double t4(double z)
{
    const double w = 1 + z * z / 4;

    return 0.375 / (w * w * sqrt(w));
}

static double noise(const struct series *s, size_t i, double base)
{
    const double grain = s->exact ? 0 : fmax(TIME_GRAIN, s->grain) * base;

    return sqrt(s->error[i] * s->error[i] + s->scatter * s->scatter + grain * grain);
}

/* Density of a value that fits: what disturbs makes counts and times greater by any amount, but not
   less. */
static double near(const struct series *s, size_t i, double distance, double sigma)
{
    const double z = distance / sigma;
    double density = 0.375 * (z < 0 ? exp(-z * z / 2) : t4(z) / 0.375) / sigma;

    if (s->behind && z < 0)
        density = fmax(density, 0.5 / (fmax(-distance, 3 * sigma) * s->scale[i]));
    return density;
}

/* Density of a value that does not fit: above the base line by any amount up to the range, or as
   high as its neighbour, but hardly by less than three times the noise. */
static double above(const struct series *s, size_t i, double distance, double sigma)
{
    const double z = distance / sigma;
    double density = 1 / (fmax(distance, 3 * sigma) * s->scale[i]);

    if (i + 1 < s->count) {
        const double wide = sigma + s->error[i + 1];

        density = density / 2 + t4((s->value[i] - s->value[i + 1]) / wide) / wide / 2;
    }
    return z >= 3 ? density : density * exp(-(3 - z) * (3 - z) / 2);
}

/* Points that were measured once are more often on the wrong side. */
static double wrong_side(const struct series *s, size_t i)
{
    return s->model            ? fmin(s->outlier, MODEL_OUTLIER)
           : s->repeats[i] > 1 ? s->outlier
                               : fmin(0.3, 2 * s->outlier + 0.02);
}

/* Logarithms of the likelihoods of a point on each side. */
static void judge(const struct series *s, size_t i, double base, double *fits, double * not )
{
    const double sigma = noise(s, i, base), d = s->value[i] - base, e = wrong_side(s, i);
    const double low = near(s, i, d, sigma), high = above(s, i, d, sigma);

    *fits = log((1 - e) * low + e * high + DBL_MIN);
    *not = log((1 - e) * high + e * low + DBL_MIN);
}

/* Of the points that do not fit, those behind the last that does, k - 1, of which so little has
   to miss that noise may hide it: what their likelihoods differ by from those above. Of lines
   visited in turn, whatever the policy, at least as many miss as there are too many. */
static double hidden(const struct series *s, size_t k, double base)
{
    double sum = 0;

    for (size_t i = k; s->window && i < s->count && i < k + HIDDEN_MOST; i++) {
        const double sigma = noise(s, i, base);
        const double least = s->range / 2 * (1 - s->parameter[k - 1] / s->parameter[i]);
        double fits, not ;

        if (least > 3 * sigma)
            break;
        judge(s, i, base, &fits, &not );
        sum += fmax(0, fits - not );
    }
    return sum;
}

static double base_of(const struct series *s, size_t count)
{
    const size_t at = s->behind ? (count - 1) * 3 / 4 : count / 2;

    return s->behind || count % 2 ? s->sorted[at] : (s->sorted[at - 1] + s->sorted[at]) / 2;
}

/* chance[k] for k points that fit, as logarithms. */
static void weigh(struct series *s)
{
    double all = -INFINITY;

    for (size_t k = 1, next = 1; k <= s->count; k = next) {
        double base, sum = 0, fits, not ;

        memcpy(s->sorted, s->value, k * sizeof *s->sorted);
        (void)cf_median(s->sorted, k);
        base = base_of(s, k);
        next = k < EACH ? k + 1 : k + 1 + k / (k < MANY ? 12 : 3);
        for (size_t i = 0; i < s->count; i++) {
            judge(s, i, base, &fits, &not );
            sum += i < k ? fits : not ;
        }
        for (size_t at = k; at < next && at <= s->count; at++) {
            s->chance[at] = sum + hidden(s, at, base);
            all = fmax(all, s->chance[at]);
            if (at < s->count) {
                judge(s, at, base, &fits, &not );
                sum += fits - not ;
            }
        }
    }
    s->chance[0] = 0;
    for (size_t k = 1; k <= s->count; k++)
        s->chance[k] = exp(s->chance[k] - all);
}

static size_t likeliest(const struct series *s)
{
    size_t best = 1;

    for (size_t k = 1; k <= s->count; k++)
        if (s->chance[k] > s->chance[best])
            best = k;
    return best;
}

/* What the likeliest place says of the noise, for the next round. Returns its base line. */
static double learn(struct series *s, size_t *outliers)
{
    const size_t best = likeliest(s);
    double base, mean = 0, scatter;

    memcpy(s->sorted, s->value, best * sizeof *s->sorted);
    (void)cf_median(s->sorted, best);
    base = base_of(s, best);
    *outliers = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double z = (s->value[i] - base) / noise(s, i, base);

        *outliers += i < best ? z > 5 : z < 1;
        if (i < best) {
            s->sorted[i] = fabs(s->value[i] - base);
            mean += s->error[i] * s->error[i] / (double)best;
        }
    }
    scatter = 1.4826 * cf_median(s->sorted, best);
    s->scatter = best < 4 || s->behind ? 0 : sqrt(fmax(0, scatter * scatter - mean));
    s->outlier = fmin(0.2, ((double)*outliers + 0.1) / ((double)s->count + 10));
    return base;
}

static double greatest(const double *value, size_t count)
{
    double most = value[0];

    for (size_t i = 1; i < count; i++)
        most = fmax(most, value[i]);
    return most;
}

/* The values in their order, and how far off each may be by its repeats. */
static void take_points(struct series *s, const struct cf_points *p, int falls)
{
    double *spread = s->sorted, typical, least = INFINITY, most = -INFINITY;
    size_t spreads = 0;

    for (size_t k = 0; k < p->count; k++) {
        const struct cf_point *x = &p->point[falls ? p->count - 1 - k : k];

        if (isnan(x->value))
            continue;
        s->parameter[s->count] = (double)x->parameter;
        s->value[s->count] = x->value;
        s->error[s->count] = x->grain * (!p->counted ? 0.5 : s->model ? MODEL_GRAIN : 0.2);
        s->repeats[s->count++] = x->good;
        least = fmin(least, x->value);
        most = fmax(most, x->value);
    }
    s->range = most - least;
    if (s->count < 2)
        return;
    memcpy(s->sorted, s->value, s->count * sizeof *s->sorted);
    typical = cf_median(s->sorted, s->count);
    /* the noise of what fits is that of the lower half; of times it grows with them */
    for (size_t k = 0; k < p->count; k++) {
        const struct cf_point *x = &p->point[k];

        if (x->good > 1 && (x->value <= typical || !p->counted))
            spread[spreads++] = p->counted || x->value <= 0 ? x->spread : x->spread / x->value;
    }
    if (2 * spreads < s->count) /* patterns, not measurements, that were made again */
        spreads = 0;
    s->exact = p->counted || (s->model && (!spreads || greatest(spread, spreads) == 0));
    typical = spreads ? cf_median(spread, spreads) : 0;
    for (size_t i = 0; i < s->count; i++) {
        /* a quartile of n values has an error of 1.36 / sqrt(n) standard deviations */
        const double e = p->counted ? typical : typical * s->value[i] * 1.36 / sqrt(s->repeats[i]);

        if (s->exact && !p->counted) /* clocks of models are not coarse */
            s->error[i] = 1e-6 * (s->value[i] + s->range);
        s->error[i] = sqrt(s->error[i] * s->error[i] + e * e);
    }
}

/* Puts the chances into the order of the parameters, and their sum to 1. */
static void settle_chances(struct cf_change *c, const struct series *s, int falls)
{
    double sum = 0;

    for (size_t k = 0; k <= s->count; k++)
        sum += s->chance[k];
    for (size_t k = 0; k <= s->count; k++)
        c->chance[falls ? s->count - k : k] = s->chance[k] / sum;
}

/* The value at the likeliest place, and its bounds. */
static void describe(struct cf_change *c, int falls)
{
    const double part = 0.005; /* beyond each bound */
    const size_t none = falls ? 0 : c->count;
    size_t best = 0, low = 0, high = c->count;
    double below = 0, over = 0;

    for (size_t j = 0; j <= c->count; j++)
        if (c->chance[j] > c->chance[best])
            best = j;
    while (low < c->count && below + c->chance[low] < part)
        below += c->chance[low++];
    while (high > 0 && over + c->chance[high] < part)
        over += c->chance[high--];
    if (c->first) {
        c->least = low ? c->parameter[low - 1] + 1 : 0;
        c->most = high < c->count ? c->parameter[high] : UINT64_MAX;
    } else {
        c->least = c->parameter[low ? low - 1 : 0];
        c->most = high < c->count ? c->parameter[high] - 1 : UINT64_MAX;
    }
    c->confidence = best == none ? 0 : c->chance[best];
    c->state = best == none          ? CF_CHANGE_NONE
               : c->confidence < 0.5 ? CF_CHANGE_VAGUE
                                     : CF_CHANGE_FOUND;
    if (best == none)
        best += falls ? 1 : -1;
    c->value = c->parameter[c->first ? best : best - 1];
    c->beyond = c->parameter[c->first ? best - 1 : best];
}

static void search(struct cf_change *c, const struct cf_points *p, struct series *s,
                   struct cf_change_rule rule)
{
    size_t best;

    take_points(s, p, rule.falls);
    c->count = 0;
    for (size_t k = 0; k < p->count; k++)
        if (!isnan(p->point[k].value))
            c->parameter[c->count++] = p->point[k].parameter;
    if (s->count < 2)
        return;
    if (s->range <= 0) {
        c->state = CF_CHANGE_NONE;
        c->base = c->step = s->value[0];
        c->chance[rule.falls ? 0 : c->count] = 1;
        describe(c, rule.falls);
        return;
    }
    for (int round = 0; round < (s->count < 8 * MANY ? 3 : 2); round++) {
        for (size_t i = 0; i < s->count; i++)
            s->scale[i] = log(s->range / noise(s, i, 0) + M_E);
        weigh(s);
        c->base = learn(s, &c->outliers);
    }
    best = likeliest(s);
    memcpy(s->sorted, s->value + best, (s->count - best) * sizeof *s->sorted);
    c->step = best < s->count ? cf_median(s->sorted, s->count - best) : c->base;
    settle_chances(c, s, rule.falls);
    describe(c, rule.falls);
    if (c->state == CF_CHANGE_FOUND && p->repeats < 2 && !rule.exact) {
        c->state = CF_CHANGE_ONCE;
        c->confidence = fmin(c->confidence, ONCE_MOST);
    }
}

int cf_change_find(struct cf_change *c, const struct cf_points *p, struct cf_change_rule rule)
{
    const size_t room = p->count + 1;
    struct series s = {.counted = p->counted,
                       .behind = rule.behind && !p->counted,
                       .window = rule.window && !p->counted,
                       .model = rule.exact,
                       .grain = rule.grain,
                       .outlier = 0.02};
    int status = -1;

    *c = (struct cf_change){.state = CF_CHANGE_FEW,
                            .first = rule.falls || rule.first,
                            .window = s.window && !rule.exact};
    c->parameter = calloc(room, sizeof *c->parameter);
    c->chance = calloc(room, sizeof *c->chance);
    s.value = calloc(6 * room, sizeof *s.value);
    s.repeats = calloc(room, sizeof *s.repeats);
    if (c->parameter && c->chance && s.value && s.repeats) {
        s.error = s.value + room;
        s.sorted = s.error + room;
        s.chance = s.sorted + room;
        s.parameter = s.chance + room;
        s.scale = s.parameter + room;
        search(c, p, &s, rule);
        status = 0;
    }
    free(s.value);
    free(s.repeats);
    if (status < 0)
        cf_change_free(c);
    return status;
}

void cf_change_free(struct cf_change *c)
{
    free(c->parameter);
    free(c->chance);
    c->parameter = NULL;
    c->chance = NULL;
    c->count = 0;
}

/* At how many parameters it would have to change: those that are less, or where it rises at most as
   great. */
static size_t place_of(const struct cf_change *c, uint64_t value)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (c->first ? c->parameter[middle] < value : c->parameter[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t cf_change_reach(const struct cf_change *c, uint64_t value)
{
    return c->window ? value + value / (TOO_SOON - 1) : value;
}

double cf_change_chance(const struct cf_change *c, uint64_t value)
{
    const size_t at = place_of(c, value);
    double chance = c->chance ? c->chance[at] : 0;

    for (size_t k = at; c->chance && c->window && k > 1; k--) {
        if (cf_change_reach(c, c->parameter[k - 1]) <= value)
            break;
        chance = fmax(chance, c->chance[k - 1] / 2);
    }
    return chance;
}
