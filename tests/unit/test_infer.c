/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_infer.c - change points and what experiments agree on, of caches whose size, ways and line
 * are known, without noise and with; and of series that say nothing, or contradict each other.
 */
#include <stdio.h>

#include "filters/engine/infer/geometry.h"
#include "tests/unit/probe_truth.h"
#include "tests/unit/tap.h"

enum { ROWS = 200000, KINDS = 6 };

static const struct kind {
    const char *name;
    enum cf_measures of;
    int falls;
} kinds[KINDS] = {{"size", CF_OF_SIZE, 0},          {"capacity", CF_OF_SIZE, 0},
                  {"associativity", CF_OF_WAYS, 0}, {"line", CF_OF_LINE, 1},
                  {"block", CF_OF_LINE, 1},         {"way-size", CF_OF_WAY_SIZE, 1}};

static struct {
    struct cf_measurement row[ROWS];
    size_t count;
} all;

static void take(void *to, const char *what, uint64_t parameter, uint32_t repeat, uint64_t accesses,
                 uint64_t misses, uint64_t time, int counted)
{
    uint32_t k = 0;

    (void)to;
    (void)repeat;
    while (strcmp(kinds[k].name, what) != 0)
        k++;
    if (all.count < ROWS)
        all.row[all.count++] = (struct cf_measurement){.parameter = parameter,
                                                       .accesses = accesses,
                                                       .misses = counted ? misses : 0,
                                                       .time = time,
                                                       .series = k,
                                                       .counted = (uint8_t)counted};
}

struct found {
    struct cf_estimate is[CF_TRAITS];
    struct cf_change change[KINDS];
    struct cf_evidence evidence[KINDS];
    unsigned count;
};

/* What all rows say. */
static void infer(struct found *f, int model)
{
    f->count = 0;
    cf_measurements_sort(all.row, all.count);
    for (size_t from = 0, end; from < all.count; from = end) {
        const struct kind *k = &kinds[all.row[from].series];
        struct cf_points p;

        for (end = from; end < all.count && all.row[end].series == all.row[from].series;)
            end++;
        if (cf_points_make(&p, all.row + from, end - from, 0) != 0 ||
            cf_change_find(&f->change[f->count], &p,
                           (struct cf_change_rule){.falls = k->falls,
                                                   .window = k->of == CF_OF_SIZE,
                                                   .exact = model}) != 0)
            exit(1);
        f->evidence[f->count] = (struct cf_evidence){k->of, k->name, &f->change[f->count], 1};
        f->count++;
        cf_points_free(&p);
    }
    if (cf_geometry_agree(f->is, f->evidence, f->count, 0) != 0)
        exit(1);
}

static void forget(struct found *f)
{
    for (unsigned i = 0; i < f->count; i++)
        cf_change_free(&f->change[i]);
    all.count = 0;
}

struct score {
    unsigned right, wrong, untold;
};

static void judge(const struct found *f, const struct truth *t, struct score *s, int say)
{
    const uint64_t is[CF_TRAITS] = {t->size, t->ways, t->line};
    static const char *const name[CF_TRAITS] = {"size", "ways", "line"};

    for (unsigned k = 0; k < CF_TRAITS; k++) {
        const int sure = f->is[k].confidence >= 0.95;

        s->untold += !sure;
        s->right += sure && f->is[k].value == is[k];
        s->wrong += sure && f->is[k].value != is[k];
        if (say && (!sure || f->is[k].value != is[k]))
            note("%s %s of %llu/%llu/%llu: %llu [%llu, %llu] with %g", sure ? "wrong" : "untold",
                 name[k], (unsigned long long)t->size, (unsigned long long)t->ways,
                 (unsigned long long)t->line, (unsigned long long)f->is[k].value,
                 (unsigned long long)f->is[k].least, (unsigned long long)f->is[k].most,
                 f->is[k].confidence);
    }
}

static struct score many(unsigned machines, const struct disturbance *d, int say)
{
    struct score s = {0, 0, 0};
    struct found f;

    for (unsigned i = 0; i < machines; i++) {
        const struct truth t = some_truth();

        search_truth(&t, d, take, NULL);
        infer(&f, d->timed && d->jitter == 0);
        judge(&f, &t, &s, say);
        forget(&f);
    }
    return s;
}

static void without_noise(void)
{
    const struct disturbance counted = {.repeats = 2}, timed = {.repeats = 2, .timed = 1};
    struct score s = many(300, &counted, 1);

    ok(s.right == 900, "300 machines by misses: %u right, %u wrong, %u not told", s.right, s.wrong,
       s.untold);
    s = many(300, &timed, 1);
    ok(s.right == 900, "by time: %u right, %u wrong, %u not told", s.right, s.wrong, s.untold);
}

static void with_noise(void)
{
    const struct disturbance counted = {.repeats = 5, .bursts = 0.15, .lost = 0.2},
                             timed = {.repeats = 5,
                                      .timed = 1,
                                      .jitter = 0.05,
                                      .bursts = 0.15,
                                      .lost = 0.2};
    struct score s = many(300, &counted, 1);

    ok(s.right >= 0.9 * 900 && s.wrong <= 4,
       "300 machines by misses, with bursts: %u right, %u wrong, %u not told", s.right, s.wrong,
       s.untold);
    s = many(300, &timed, 0);
    ok(s.wrong <= 4, "by time with jitter and bursts: %u right, %u wrong, %u not told", s.right,
       s.wrong, s.untold);
}

static void the_paper(void)
{
    const struct truth atom = {24576, 6, 64, 3, 15};
    const struct disturbance exact = {.repeats = 2};
    struct found f;

    paper_truth(&atom, &exact, 32768, take, NULL);
    infer(&f, 0);
    is_u64(f.is[CF_TRAIT_SIZE].value, 24576, "size of the Atom D525 by the paper's experiments");
    is_u64(f.is[CF_TRAIT_WAYS].value, 6, "ways");
    is_u64(f.is[CF_TRAIT_LINE].value, 64, "line");
    for (unsigned k = 0; k < CF_TRAITS; k++)
        ok(f.is[k].confidence >= 0.95, "sure: %g", f.is[k].confidence);
    forget(&f);
}

/* One measurement: so many accesses that miss, or ticks of them. */
static void add(const char *what, uint64_t parameter, uint64_t misses, uint64_t time, int counted)
{
    take(NULL, what, parameter, 0, 1000, misses, time, counted);
}

/* Series that say nothing, or not enough. */
static void little(void)
{
    struct found f;
    struct cf_points p;
    struct cf_change c;

    infer(&f, 0);
    ok(f.count == 0 && f.is[CF_TRAIT_SIZE].value == 0, "no measurement");
    forget(&f);
    add("size", 1024, 0, 0, 1);
    infer(&f, 0);
    ok(f.change[0].state == CF_CHANGE_FEW && f.is[CF_TRAIT_SIZE].confidence == 0, "a single one");
    forget(&f);
    for (uint64_t i = 1; i < 40; i++)
        add("size", i * 1024, 0, 3000, 1), add("size", i * 1024, 0, 3000, 1);
    infer(&f, 0);
    ok(f.change[0].state == CF_CHANGE_NONE && f.change[0].confidence == 0, "all alike");
    forget(&f);
    for (uint64_t i = 1; i < 40; i++)
        add("size", i * 1024, i > 24 ? 500 : 0, 3000, 1);
    infer(&f, 0);
    ok(f.change[0].state == CF_CHANGE_ONCE && f.change[0].value == 24 * 1024 &&
           f.change[0].confidence <= 0.5,
       "measured once: found, and not sure");
    forget(&f);
    for (uint64_t i = 1; i < 40; i++)
        for (int k = 0; k < 3; k++) /* a clock of steps of a thousand ticks */
            add("size", i * 1024, 0, i > 24 ? 4000 : 3000, 0);
    all.row[0].time = 0;
    infer(&f, 0);
    ok(f.change[0].confidence < 0.95, "a clock too coarse: %g", f.change[0].confidence);
    forget(&f);
    for (uint64_t i = 1; i < 9; i++) {
        all.row[i - 1] = (struct cf_measurement){
            .parameter = i, .accesses = 1, .misses = 5, .counted = 1, .spoilt = 1};
    }
    ok(cf_points_make(&p, all.row, 8, 0) == 0 && p.good == 0 && p.spoilt == 8 &&
           cf_change_find(&c, &p, (struct cf_change_rule){0}) == 0 && c.state == CF_CHANGE_FEW,
       "all spoilt");
    cf_points_free(&p);
    cf_change_free(&c);
}

/* What is between the greatest and the least numbers. */
static void extremes(void)
{
    struct found f;

    for (uint64_t i = 0; i < 50; i++)
        for (int k = 0; k < 3; k++) {
            all.row[all.count++] = (struct cf_measurement){.parameter = i & 1 ? UINT64_MAX - i : i,
                                                           .accesses = i % 7 ? UINT64_MAX : 1,
                                                           .misses = i % 3 ? UINT64_MAX : 0,
                                                           .time = i % 5 ? UINT64_MAX : 1,
                                                           .series = (uint32_t)(i % KINDS),
                                                           .counted = (uint8_t)(i % 2)};
        }
    infer(&f, 0);
    for (unsigned k = 0; k < CF_TRAITS; k++)
        ok(f.is[k].confidence >= 0 && f.is[k].confidence <= 1, "a confidence: %g",
           f.is[k].confidence);
    forget(&f);
}

/* Experiments of which each by itself is sure. */
static void contradictions(void)
{
    const struct disturbance exact = {.repeats = 3};
    const struct truth one = {32768, 8, 64, 3, 15}, other = {49152, 12, 64, 3, 15},
                       longer = {32768, 8, 128, 3, 15};
    struct found f;

    search_truth(&one, &exact, take, NULL);
    paper_truth(&other, &exact, 65536, take, NULL);
    infer(&f, 0);
    ok(f.is[CF_TRAIT_SIZE].confidence == 0 && f.is[CF_TRAIT_SIZE].against >= 0,
       "two sizes are none");
    ok(f.is[CF_TRAIT_WAYS].confidence == 0, "nor are two numbers of ways");
    ok(f.is[CF_TRAIT_LINE].value == 64 && f.is[CF_TRAIT_LINE].confidence >= 0.95,
       "they agree on the line: %g", f.is[CF_TRAIT_LINE].confidence);
    forget(&f);
    search_truth(&one, &exact, take, NULL);
    for (uint64_t p = 1; p <= 512; p *= 2)
        measure(&longer, &exact, "block", p, take, NULL);
    infer(&f, 0);
    ok(f.is[CF_TRAIT_LINE].confidence == 0 && f.is[CF_TRAIT_LINE].against >= 0,
       "two lines are none");
    ok(f.is[CF_TRAIT_SIZE].value == 32768 && f.is[CF_TRAIT_SIZE].confidence >= 0.95,
       "the size is known");
    forget(&f);
}

int main(void)
{
    little();
    extremes();
    contradictions();
    the_paper();
    without_noise();
    with_noise();
    return done();
}
