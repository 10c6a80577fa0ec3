/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_probe.c - the searches of capture/probe on random machines, which the engine of cf-cache
 * models: size, ways and line of every level exact, by misses and by time.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/probe/probe.h"
#include "filters/engine/cache/hierarchy.h"
#include "probe_machine.h"
#include "tap.h"

enum { BUFFER = 40 << 20 };

/* ---- a bench on the engine ---- */

struct model {
    struct cf_machine m;
    struct cf_hierarchy *h;
    uint32_t ticks[PROBE_LEVELS + 1]; /* of each level, and of memory */
    int by_time;
    uint8_t *hit;
    size_t room;
};

static int forget(void *self)
{
    cf_hierarchy_empty(((struct model *)self)->h);
    return 0;
}

static uint32_t cost(const struct model *k, uint8_t hit)
{
    return k->ticks[hit == CF_FROM_MEMORY ? k->m.levels : hit - 1u];
}

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct model *k = self;

    if (v->count > k->room) {
        k->room = v->count;
        k->hit = realloc(k->hit, k->room);
    }
    for (uint32_t round = 0; round < v->warm + v->rounds; round++) {
        if (cf_hierarchy_run(k->h, v->offset, NULL, NULL, 0, v->count, 0, 0, k->hit) != 0)
            return -1;
        for (uint32_t i = 0; round >= v->warm && i < v->count; i++) {
            m->misses += k->hit[i] > v->level;
            m->time += cost(k, k->hit[i]);
            if (v->each)
                v->each[(size_t)(round - v->warm) * v->count + i] = cost(k, k->hit[i]);
        }
    }
    m->accesses = (uint64_t)v->count * v->rounds;
    m->method = k->by_time ? CF_METHOD_CLOCK : CF_METHOD_COUNTER;
    m->has_misses = !k->by_time;
    if (k->by_time)
        m->misses = 0;
    return 0;
}

/* ---- machines ---- */

static void describe(const struct model *k)
{
    static const char *const inclusion[] = {"", " inclusive", " exclusive"};

    for (unsigned i = 0; i < k->m.levels; i++) {
        const struct cf_level *l = &k->m.level[i];

        note("L%u: %llu bytes, %u ways of %llu, line %u, %s%s, %u ticks", i + 1,
             (unsigned long long)l->size, l->ways, (unsigned long long)(l->size / l->ways), l->line,
             cf_policy_name(l->policy), inclusion[l->inclusion], k->ticks[i]);
    }
}

static void row(void *arg, const struct probe_row *r)
{
    *(uint64_t *)arg += r->m.accesses != 0;
}

/* What came out of a machine. */
enum outcome { RIGHT, UNTOLD, WRONG };

/* An exclusive level may behave as one that is not, and has the ways of the level before it, too:
   then neither is told. */
static int may_be_untold(const struct model *k, unsigned i)
{
    const struct cf_level *l = &k->m.level[i], *b = l - 1;

    return i && (l->inclusion == CF_EXCLUSIVE ||
                 (l->line == b->line && b->size / b->ways % (l->size / l->ways) == 0));
}

static enum outcome compare(const struct probe *p, const struct model *k)
{
    enum outcome all = p->levels == k->m.levels ? RIGHT : WRONG;

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
    struct cf_bench bench = {.self = k, .forget = forget, .run = run, .size = BUFFER};
    struct probe p = {
        .bench = &bench, .seed = 1, .most = 2 * MOST, .by_time = by_time, .row = row, .arg = &rows};
    struct cf_hierarchy_options o = {.cores = 1, .seed = 1};
    char problem[256] = "";
    enum outcome out;

    k->by_time = by_time;
    k->h = cf_hierarchy_new(&k->m, &o, problem, sizeof problem);
    if (!k->h) {
        describe(k);
        need(0, "a model: %s", problem);
    }
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

/* What `make check` leaves to check-long: longer searches than it has time for. */
static int too_long(const struct model *k, int by_time, uint32_t i)
{
    const struct cf_level *last = &k->m.level[k->m.levels - 1];

    return last->size / k->m.level[0].line > (by_time ? 8192 : 16384) || (by_time && i % 2);
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

int main(int argc, char **argv)
{
    static struct model k;
    const uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0,
                   machines = argc > 2 ? (uint32_t)atoi(argv[2]) : MACHINES;
    uint32_t count[2][WRONG + 1] = {{0}};

    atom(&k);
    for (uint32_t i = first; i < first + machines; i++)
        for (int by_time = 0; by_time < 2; by_time++) {
            enum outcome out;

            make_machine(i, &k.m, k.ticks);
            if (!thorough() && too_long(&k, by_time, i))
                continue;
            out = search(&k, by_time);
            count[by_time][out]++;
            if (out != RIGHT)
                note("machine %u by %s", i, by_time ? "time" : "misses");
        }
    for (int by_time = 0; by_time < 2; by_time++) {
        const uint32_t all = count[by_time][RIGHT] + count[by_time][UNTOLD] + count[by_time][WRONG];

        is_u64(count[by_time][WRONG], 0, "%u machines by %s, none wrong", all,
               by_time ? "time" : "misses");
        ok(count[by_time][UNTOLD] * 20 <= all, "%u of them not told in whole",
           count[by_time][UNTOLD]);
    }
    free(k.hit);
    return done();
}
