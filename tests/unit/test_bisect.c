/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bisect.c - the search for the best pages, on models of programs whose gains are known: each
 * run takes a time with normal noise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pages/bisect.c"
#include "tests/unit/tap.h"

enum { PAGES = 2000, BEST = 10, SAMPLES = 5, SEEDS = 20 };

struct model {
    double gain[PAGES]; /* in shares of the runtime with no page cached */
    uint32_t pages;
    double noise; /* the same */
    uint64_t state, runs;
    int stop; /* after so many runs; 0: never */
};

static double uniform(struct model *m)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(m->state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct model *m)
{
    const double a = uniform(m), b = uniform(m);

    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

/* A page that has no gain yet. */
static uint32_t somewhere(struct model *m)
{
    uint32_t at;

    do
        at = (uint32_t)(uniform(m) * m->pages);
    while (m->gain[at] > 0);
    return at;
}

/* BEST pages gain 1.5 % to 4.5 % of the time each, all others share 20 % by Zipf's law, of which
   the greatest is 0.6 % and some. */
static void scattered(struct model *m)
{
    double sum = 0;

    for (uint32_t i = 0; i < BEST; i++)
        m->gain[somewhere(m)] = 0.015 + 0.03 * i / (BEST - 1);
    for (uint32_t i = 0; i < m->pages - BEST; i++)
        sum += 1 / pow(i + 5, 0.8);
    for (uint32_t i = 0; i < m->pages - BEST; i++)
        m->gain[somewhere(m)] = 0.2 / pow(i + 5, 0.8) / sum;
}

static int run(void *arg, uint32_t from, uint32_t to, double *gain)
{
    struct model *m = arg;
    double time = 1;

    for (uint32_t i = from; i < to; i++)
        time -= m->gain[i];
    *gain = 1 - time * (1 + m->noise * normal(m));
    return m->stop && ++m->runs >= (uint64_t)m->stop ? -7 : 0;
}

static uint32_t overlap(const struct model *m, const struct cf_bisect *b)
{
    uint32_t right = 0;

    for (uint32_t i = 0; i < b->found; i++) {
        uint32_t better = 0;

        for (uint32_t j = 0; j < m->pages; j++)
            better += m->gain[j] > m->gain[b->page[i]];
        right += better < BEST;
    }
    return right;
}

static struct cf_bisect task(struct model *m, uint32_t *page)
{
    return (struct cf_bisect){.count = m->pages,
                              .best = BEST,
                              .samples = SAMPLES,
                              .most = cf_bisect_most(m->pages, BEST, SAMPLES),
                              .run = run,
                              .arg = m,
                              .page = page};
}

static void many(void)
{
    uint32_t right = 0, page[BEST];
    uint64_t runs = 0, most = 0;
    double confident = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static struct model m;
        struct cf_bisect b;

        m = (struct model){.pages = PAGES, .noise = 0.01, .state = seed * 7919};
        scattered(&m);
        b = task(&m, page);
        ok(cf_bisect(&b) == 0, "seed %d", (int)seed);
        right += overlap(&m, &b);
        runs += b.runs;
        most = b.runs > most ? b.runs : most;
        confident += b.confidence;
    }
    note("%u of %u, %llu runs on average, %llu at most, confidence %.3f", right, SEEDS * BEST,
         (unsigned long long)runs / SEEDS, (unsigned long long)most, confident / SEEDS);
    ok(right * 100 >= 95 * SEEDS * BEST, "at 1 %% noise 95 %% of the best are found");
    ok(most * 100 <= 15 * PAGES * SAMPLES, "by 15 %% of the runs");
}

/* Without noise the answer is exact, whatever the gains are like. */
static void exact(void)
{
    for (uint32_t pages = 1; pages <= PAGES; pages = pages * 3 + 1) {
        static struct model m;
        uint32_t page[BEST];
        struct cf_bisect b;

        m = (struct model){.pages = pages, .state = pages};
        for (uint32_t i = 0; i < pages; i++)
            m.gain[i] = pow(0.7, i % 97) / 8 * (1 + 1e-3 * uniform(&m));
        b = task(&m, page);
        b.most = (uint64_t)pages * SAMPLES;
        ok(cf_bisect(&b) == 0 && b.found == (pages < BEST ? pages : BEST) &&
               overlap(&m, &b) == b.found && b.runs <= b.most && b.confidence > 0.99,
           "%u pages", pages);
        for (uint32_t i = 1; i < b.found; i++)
            if (m.gain[page[i]] > m.gain[page[i - 1]])
                ok(0, "%u pages: %u in order", pages, i);
    }
}

/* Where no page matters, it does not claim to know which do; where runs are few, neither. */
static void unsure(void)
{
    static struct model m;
    uint32_t page[BEST];
    struct cf_bisect b;

    m = (struct model){.pages = PAGES, .noise = 0.01, .state = 5};
    b = task(&m, page);
    ok(cf_bisect(&b) == 0 && b.confidence < 0.9, "pages without gains: confidence %.2f",
       b.confidence);
    scattered(&m);
    b.most = 100;
    ok(cf_bisect(&b) == 0 && b.confidence < 0.5, "too few runs: confidence %.2f", b.confidence);
    b = task(&m, page);
    b.samples = 1;
    b.most = PAGES;
    ok(cf_bisect(&b) == 0 && b.confidence < 0, "one run of each: confidence is not known");
    m.stop = 7;
    m.runs = 0;
    ok(cf_bisect(&b) == -7 && b.runs == 6, "a run that ends the search");
}

/* 15 % of many, all of few, never more than all. */
static void most(void)
{
    is_u64(cf_bisect_most(2000, 10, 5), 1500, "of 2000 pages");
    is_u64(cf_bisect_most(60, 10, 5), 300, "of 60");
    is_u64(cf_bisect_most(500, 10, 5), 600, "of 500");
}

int main(void)
{
    many();
    exact();
    unsure();
    most();
    return done();
}
