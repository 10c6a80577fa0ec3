/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * points.h - measurements of one experiment at one level (table probe), as one point a parameter.
 *
 * Other programs add misses, so of counts the least of the repeats is taken (Abel and Reineke,
 * "Automatic Cache Modeling by Measurements", section 5.2). Times have noise to both sides: taken
 * is their lower quartile, which half of the repeats may be too slow for. Spoilt measurements are
 * left out. How far repeats lie apart is their median distance from their median, made that of a
 * normal distribution (C. Croux, P. J. Rousseeuw, "Time-efficient algorithms for two highly
 * robust estimators of scale", COMPSTAT 1992, has the factors for few repeats). Of times with a
 * dozen repeats it is no more than that of the lower half says, since another program that takes
 * part of a cache for a while may disturb more than half of them.
 *
 * Memory: 64 bytes a point.
 */
#ifndef CF_POINTS_H
#define CF_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/stream/cf.h"

/* A row of table probe. */
struct cf_measurement {
    uint64_t parameter, accesses, misses, time;
    uint32_t series; /* which experiment at which level, for the caller */
    uint32_t order;  /* in the stream; sorting keeps it */
    uint32_t repeat;
    uint8_t spoilt;
    uint8_t counted; /* misses are known */
};

struct cf_point {
    uint64_t parameter;
    double value;  /* misses, or ticks, of an access; NAN: all measurements were spoilt */
    double spread; /* standard deviation of the repeats; 0 where there is one */
    double
        grain; /* what one miss makes of the value, or one tick: of a coarse clock, more of them */
    uint32_t good, spoilt;
};

struct cf_points {
    struct cf_point *point; /* in rising order of parameters */
    size_t count;
    int counted;           /* values are misses, else times */
    uint32_t good, spoilt; /* measurements */
    uint32_t repeats;      /* good ones, of the point that has most; 1 where most points have one */
};

/* Puts measurements into the order of their series, and of their parameters. */
void cf_measurements_sort(struct cf_measurement *m, size_t count);

/* Points of the measurements of one series, so ordered. Those that know no misses count only
   where none do. With `greatest`, a point is the greatest of its groups, which begin where
   numbers of repeats do not rise, and not all of them together: behind another level one order of
   the lines may fit where others do not, and what does not fit once does not fit. -1 without
   memory. */
int cf_points_make(struct cf_points *p, const struct cf_measurement *m, size_t count,
                   int greatest) CF_MUST_CHECK;
void cf_points_free(struct cf_points *p);

/* The median of values, which change their order; NAN where there are none. */
double cf_median(double *value, size_t count);

#endif
