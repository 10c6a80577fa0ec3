/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_modeling.c - the closed loop: rows that capture/probe measures on random machines, and what
 * cf-infer says by them: size, ways and line of every level, never a wrong one.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/probe_infer.h"
#include "tests/unit/probe_model.h"

enum { EVERY = 11 };

struct tally {
    uint32_t right, untold, wrong;
};

/* What is said of each level against what it is; levels that there are not are wrong. */
static void judge(const struct infer *f, const struct model *k, uint32_t number, struct tally *t)
{
    for (unsigned i = 0; i < f->caches; i++) {
        const struct cache *c = &f->cache[i];
        const struct cf_level *l = level_like(&k->m, c->level, 0);
        const uint64_t is[] = {l ? l->size : 0, l ? l->ways : 0, l ? l->line : 0};

        if (c->level == CF_FROM_MEMORY)
            continue;
        for (unsigned what = SIZE; what <= LINE; what++) {
            const struct value *v = &c->value[what];
            const int told = v->how == MEASURED, right = told && v->is == is[what];

            t->right += (uint32_t)right;
            t->wrong += told && !right;
            t->untold += !told && l;
            if (!right && (l || told))
                note("machine %u by %s, %s of %s: %llu%s%s, is %llu", number,
                     k->by_time ? "time" : "misses", what_names[what], c->name,
                     (unsigned long long)v->is, told ? "" : ", not told: ", told ? "" : v->by,
                     (unsigned long long)is[what]);
        }
    }
    for (unsigned i = 0; i < k->m.levels; i++) {
        unsigned c = 0;

        while (c < f->caches && f->cache[c].level != i + 1)
            c++;
        t->untold += c == f->caches ? LINE + 1 : 0;
    }
}

static void model(struct model *k, uint32_t number, int by_time, struct tally *t)
{
    static struct infer f;
    struct cf_bench bench = bench_of(k);
    struct probe p = {.bench = &bench,
                      .seed = 1,
                      .most = 2 * MOST,
                      .by_time = by_time,
                      .row = take_row,
                      .arg = &f};

    f = (struct infer){
        .machine = (char *)"model:random", .unit = (char *)"cycles", .o.least = 0.95};
    make_machine(number, &k->m, k->ticks);
    if (waits(&k->m))
        return;
    open_model(k, by_time, 1);
    if (probe_search(&p) != 0)
        exit(1);
    find_changes(&f);
    know(&f);
    judge(&f, k, number, t);
    forget_rows(&f);
    probe_free(&p);
    cf_hierarchy_free(k->h);
}

int main(int argc, char **argv)
{
    static struct model k;
    const uint32_t every = argc > 3     ? (uint32_t)atoi(argv[3])
                           : thorough() ? 1
                                        : EVERY,
                   first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0,
                   machines = argc > 2 ? (uint32_t)atoi(argv[2]) : MACHINES;

    for (int by_time = 0; by_time < 2; by_time++) {
        struct tally t = {0, 0, 0};

        for (uint32_t i = first; i < first + machines; i += every)
            model(&k, i, by_time, &t);
        is_u64(t.wrong, 0, "by %s, %u right, none wrong", by_time ? "time" : "misses", t.right);
        ok(t.untold * 50 <= t.right, "%u not told", t.untold);
    }
    free(k.hit);
    return done();
}
