/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_truth.h - what experiments on a cache of known size, ways and line would measure, as LRU
 * has it, with noise by seed: for tests of cf-infer and its engine.
 */
#ifndef PROBE_TRUTH_H
#define PROBE_TRUTH_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct truth {
    uint64_t size, ways, line;
    double hit, miss; /* ticks */
};

struct disturbance {
    double jitter; /* standard deviation, as a share of the time */
    double bursts; /* share of measurements in which another program ran, */
    double lost;   /* and of the lines it took from us then, at most */
    int timed;     /* no misses are known */
    uint32_t repeats;
};

static uint64_t truth_state = 1;

static inline double truth_random(void)
{
    truth_state = truth_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(truth_state >> 11) / 9007199254740992.0;
}

static inline uint64_t truth_below(uint64_t n)
{
    return (uint64_t)(truth_random() * (double)n);
}

static inline double truth_normal(void)
{
    return sqrt(-2 * log(1 - truth_random())) * cos(6.283185307 * truth_random());
}

/* Lines visited, and of these those that miss in each round. */
struct visited {
    uint64_t lines, missing;
};

static inline struct visited window(const struct truth *t, uint64_t from, uint64_t to)
{
    const uint64_t first = from / t->line, lines = (to + t->line - 1) / t->line - first,
                   sets = t->size / t->ways / t->line, deep = lines / sets, more = lines % sets;
    struct visited v = {lines, 0};

    if (deep >= t->ways)
        v.missing = more * (deep + 1) + (deep > t->ways ? (sets - more) * deep : 0);
    return v;
}

static inline struct visited visit(const struct truth *t, const char *what, uint64_t p)
{
    struct visited v = {0, 0};

    if (!strcmp(what, "size") || !strcmp(what, "capacity"))
        return window(t, 0, p);
    if (!strcmp(what, "line"))
        return window(t, p, t->size + 16);
    if (!strcmp(what, "way-size")) {
        v = window(t, 0, t->size - p);
        v.lines++;
        v.missing = p < t->size / t->ways ? t->ways + 1 : 0;
    } else if (!strcmp(what, "associativity")) {
        v.lines = p;
        v.missing = p > t->ways ? p : 0;
    } else if (!strcmp(what, "block")) {
        v.lines = t->ways + 1;
        v.missing = p < t->line ? v.lines : 0;
    }
    return v;
}

typedef void truth_taker(void *to, const char *what, uint64_t parameter, uint32_t repeat,
                         uint64_t accesses, uint64_t misses, uint64_t time, int counted);

/* All repeats of one measurement. */
static inline void measure(const struct truth *t, const struct disturbance *d, const char *what,
                           uint64_t p, truth_taker *take, void *to)
{
    const struct visited v = visit(t, what, p);

    for (uint32_t r = 0; r < d->repeats; r++) {
        const uint64_t rounds = 2 + 2000 / (v.lines + 1);
        double missing = (double)(v.missing * rounds), time;

        if (truth_random() < d->bursts)
            missing = fmin((double)(v.lines * rounds),
                           missing + ceil(truth_random() * d->lost * (double)v.lines));
        time = (double)(v.lines * rounds) * t->hit + missing * (t->miss - t->hit);
        time *= fmax(0.2, 1 + d->jitter * truth_normal());
        take(to, what, p, r, v.lines * rounds, (uint64_t)missing, (uint64_t)(time + 0.5),
             !d->timed);
    }
}

/* The search between a parameter that fits and one that does not. */
static inline void bisect(const struct truth *t, const struct disturbance *d, const char *what,
                          uint64_t fits, uint64_t not, uint64_t unit, truth_taker *take, void *to)
{
    while ((fits > not ? fits - not : not -fits) > unit) {
        const uint64_t middle = (fits + not ) / 2 / unit * unit;

        measure(t, d, what, middle, take, to);
        if (visit(t, what, middle).missing)
            not = middle;
        else
            fits = middle;
    }
}

/* The three searches. */
static inline void search_truth(const struct truth *t, const struct disturbance *d,
                                truth_taker *take, void *to)
{
    uint64_t p;

    for (p = 1024; p < t->size; p *= 2)
        measure(t, d, "size", p, take, to);
    measure(t, d, "size", p, take, to);
    if (visit(t, "size", p).missing == 0) {
        p *= 2;
        measure(t, d, "size", p, take, to);
    }
    bisect(t, d, "size", p / 2, p, 16, take, to);
    measure(t, d, "line", 0, take, to);
    for (p = 16; p <= 512; p *= 2)
        measure(t, d, "line", p, take, to);
    measure(t, d, "way-size", 0, take, to);
    for (p = t->line; p < t->size / t->ways; p *= 2)
        measure(t, d, "way-size", p, take, to);
    measure(t, d, "way-size", p < t->size ? p : t->size, take, to);
    bisect(t, d, "way-size", p < t->size ? p : t->size, p / 2, t->line, take, to);
}

/* The paper's three. */
static inline void paper_truth(const struct truth *t, const struct disturbance *d, uint64_t most,
                               truth_taker *take, void *to)
{
    for (uint64_t p = 1024; p <= most; p += 1024)
        measure(t, d, "capacity", p, take, to);
    for (uint64_t p = 1; p <= t->ways + 6; p++)
        measure(t, d, "associativity", p, take, to);
    for (uint64_t p = 1; p <= 512; p *= 2)
        measure(t, d, "block", p, take, to);
}

static inline struct truth some_truth(void)
{
    struct truth t = {.line = 16u << truth_below(5), .ways = 1 + truth_below(24)};
    uint64_t sets = truth_below(3) ? 1u << truth_below(14) : 1 + truth_below(9000);

    t.size = t.line * t.ways * sets;
    if (t.size < 2048 || t.size > 8 << 20)
        return some_truth();
    t.hit = 2 + (double)truth_below(6);
    t.miss = floor(t.hit * (2.5 + 10 * truth_random()));
    return t;
}

#endif
