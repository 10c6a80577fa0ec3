/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_probe.c - the searches of capture/probe on random machines, which the engine of cf-cache
 * models: size, ways and line of every level exact, by misses and by time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/probe_model.h"

/* Of so many machines at most one is not told in whole: of the first 300 it is one in 150, of some
   300 of the 1,800 one in 50. */
enum { SEEDS = 5, UNTOLD_PART = 40 };
enum { SOME = MACHINES / 6 };   /* at each change; `tests/run-long models` tries all */
enum { SMALL, BY_MISSES, ALL }; /* of which machines are tried */
#ifdef CF_SANITIZED
enum { TRIED = SMALL }; /* those of most lines take ten times as long */
#else
enum { TRIED = BY_MISSES };
#endif

static void row(void *arg, const struct probe_row *r)
{
    *(uint64_t *)arg += r->m.accesses != 0;
}

/* What came out of a machine. */
enum outcome { RIGHT, UNTOLD, WRONG };

/* An exclusive level may behave as one that is not, and has the ways of the level before it, too:
   then neither is told, nor what is behind it. */
static int may_be_untold(const struct model *k, unsigned i)
{
    const struct cf_level *l = &k->m.level[i], *b = l - 1;

    return i && (l->inclusion == CF_EXCLUSIVE || may_be_untold(k, i - 1) ||
                 (l->line == b->line && b->size / b->ways % (l->size / l->ways) == 0));
}

static enum outcome compare(const struct probe *p, const struct model *k)
{
    enum outcome all = p->levels == k->m.levels ? RIGHT : WRONG;

    /* behind a level that is not told no other one may be looked for */
    if (p->levels && p->levels < k->m.levels && may_be_untold(k, p->levels - 1))
        all = UNTOLD;

    for (unsigned i = 0; i < p->levels && i < k->m.levels; i++) {
        const struct probe_level *l = &p->level[i];
        const struct cf_level *is = &k->m.level[i];
        const int untold = !l->size || !l->way_size;

        if (l->line != is->line || (l->size && l->size != is->size) ||
            (l->size && l->way_size && l->way_size != is->size / is->ways) ||
            (untold && !may_be_untold(k, i)))
            return WRONG;
        all = untold && all == RIGHT ? UNTOLD : all;
    }
    return all;
}

static enum outcome search(struct model *k, int by_time)
{
    uint64_t rows = 0;
    struct cf_bench bench = bench_of(k);
    struct probe p = {
        .bench = &bench, .seed = 1, .most = 2 * MOST, .by_time = by_time, .row = row, .arg = &rows};
    enum outcome out;

    open_model(k, by_time, 1);
    out = probe_search(&p) == 0 && rows ? compare(&p, k) : WRONG;
    if (out != RIGHT) {
        note("%s:", out == WRONG ? "wrong" : "not told");
        describe(k);
        for (unsigned i = 0; i < p.levels; i++)
            note("found L%u: %llu bytes, way %llu, line %llu, %llu ticks", i + 1,
                 (unsigned long long)p.level[i].size, (unsigned long long)p.level[i].way_size,
                 (unsigned long long)p.level[i].line, (unsigned long long)p.level[i].ticks);
    }
    probe_free(&p);
    cf_hierarchy_free(k->h);
    return out;
}

/* The Atom D525 of the paper. */
static void atom(struct model *k)
{
    for (int by_time = 0; by_time < 2; by_time++) {
        memset(&k->m, 0, sizeof k->m);
        k->m.cpus = 1;
        k->m.levels = 2;
        k->m.line_size = 64;
        k->m.level[0] = (struct cf_level){.name = "L1",
                                          .size = 24 << 10,
                                          .ways = 6,
                                          .line = 64,
                                          .sets = 64,
                                          .depth = 1,
                                          .shared_by = 1,
                                          .write_back = 1,
                                          .write_allocate = 1};
        k->m.level[1] = (struct cf_level){.name = "L2",
                                          .size = 512 << 10,
                                          .ways = 8,
                                          .line = 64,
                                          .sets = 1024,
                                          .depth = 2,
                                          .shared_by = 1,
                                          .write_back = 1,
                                          .write_allocate = 1};
        k->ticks[0] = 3;
        k->ticks[1] = 15;
        k->ticks[2] = 222;
        is_u64(search(k, by_time), RIGHT, "the Atom D525 by %s", by_time ? "time" : "misses");
    }
}

/* A second level that is exclusive behind one of FIFO, and one that is not and has the ways of
   both: the lines that the first one holds are the last that the second one was asked for, so that
   loads meet the same hits in both, whatever their order. Neither may be told from the other. */
static struct cf_machine twin(int exclusive)
{
    struct cf_machine m = {.cpus = 1, .levels = 2, .line_size = 64};

    m.level[0] = (struct cf_level){.name = "L1",
                                   .size = 16 << 10,
                                   .ways = 4,
                                   .line = 64,
                                   .sets = 64,
                                   .depth = 1,
                                   .policy = CF_FIFO,
                                   .shared_by = 1,
                                   .write_back = 1,
                                   .write_allocate = 1};
    m.level[1] = m.level[0];
    snprintf(m.level[1].name, sizeof m.level[1].name, "L2");
    m.level[1].ways = exclusive ? 8 : 12;
    m.level[1].size = (uint64_t)m.level[1].ways << 12;
    m.level[1].depth = 2;
    m.level[1].policy = CF_LRU;
    m.level[1].inclusion = exclusive ? CF_EXCLUSIVE : CF_NON_INCLUSIVE;
    return m;
}

static void twins(struct model *k)
{
    enum { LOADS = 200000 };
    static uint64_t addr[LOADS];
    static uint8_t hit[2][LOADS];
    const struct cf_hierarchy_options o = {.cores = 1};
    char problem[256] = "";

    for (uint32_t i = 0; i < LOADS; i++)
        addr[i] = (next(14) << 12) + (next(4) ? 0 : next(64) * 64);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        struct cf_machine m = twin(exclusive);
        struct cf_hierarchy *h = cf_hierarchy_new(&m, &o, problem, sizeof problem);

        if (!h || cf_hierarchy_run(h, addr, NULL, NULL, 0, LOADS, 0, 0, hit[exclusive]) != 0)
            exit(1);
        cf_hierarchy_free(h);
    }
    ok(memcmp(hit[0], hit[1], LOADS) == 0, "levels that no loads distinguish");
    for (int exclusive = 0; exclusive < 2; exclusive++)
        for (int by_time = 0; by_time < 2; by_time++) {
            memset(&k->m, 0, sizeof k->m);
            k->m = twin(exclusive);
            k->ticks[0] = 3;
            k->ticks[1] = 15;
            k->ticks[2] = 222;
            is_u64(search(k, by_time), UNTOLD, "%s: not told by %s",
                   exclusive ? "exclusive" : "not exclusive", by_time ? "time" : "misses");
        }
}

struct tally {
    uint32_t count[2][WRONG + 1]; /* by misses, and by time */
};

/* Every second machine; all of them by misses, and by time, where the patterns are nearly the same,
   those that do not wait; or these alone, or all. */
static void try_half(struct model *k, uint32_t from, uint32_t to, int all, struct tally *t)
{
    for (uint32_t i = from; i < to; i += 2)
        for (int by_time = 0; by_time < 2; by_time++) {
            enum outcome out;

            make_machine(i, &k->m, k->ticks);
            if ((by_time ? all < ALL : !all) && waits(&k->m))
                continue;
            out = search(k, by_time);
            t->count[by_time][out]++;
            if (out != RIGHT)
                note("machine %u by %s", i, by_time ? "time" : "misses");
        }
}

/* All of them, half in another process. */
static void try_machines(struct model *k, uint32_t first, uint32_t count, int all)
{
    struct tally t = {0}, half = {0};
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        exit(1);
    if (child == 0) {
        try_half(k, first + 1, first + count, all, &half);
        _exit(write(ends[1], &half, sizeof half) == sizeof half ? 0 : 1);
    }
    close(ends[1]);
    try_half(k, first, first + count, all, &t);
    need(read(ends[0], &half, sizeof half) == sizeof half, "the other half of the machines");
    close(ends[0]);
    waitpid(child, NULL, 0);
    for (int by_time = 0; by_time < 2; by_time++) {
        const uint32_t *n = t.count[by_time], *m = half.count[by_time];
        uint32_t tried = 0;

        for (int i = 0; i <= WRONG; i++)
            tried += n[i] + m[i];
        is_u64(n[WRONG] + m[WRONG], 0, "%u of %u machines by %s, none wrong", tried, count,
               by_time ? "time" : "misses");
        ok(tried > count / 2 || all, "more than half of them");
        ok((n[UNTOLD] + m[UNTOLD]) * UNTOLD_PART <= tried, "%u of them not told in whole",
           n[UNTOLD] + m[UNTOLD]);
    }
}

int main(int argc, char **argv)
{
    static struct model k;
    const uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0,
                   machines = argc > 2     ? (uint32_t)atoi(argv[2])
                              : thorough() ? MACHINES
                                           : SOME;

    if (argc == 1) {
        atom(&k);
        twins(&k);
    }
    for (uint32_t seed = 0; seed < (argc == 1 && thorough() ? 1 + SEEDS : 1); seed++)
        try_machines(&k, first + seed * MACHINES, machines, argc > 1 || thorough() ? ALL : TRIED);
    free(k.hit);
    return done();
}
