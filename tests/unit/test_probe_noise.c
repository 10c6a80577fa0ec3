/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_probe_noise.c [FIRST [MACHINES [EVERY [SEED]]]] - the closed loop with noise: rows that
 * capture/probe measures on the random machines of test_probe, with times that vary by a twentieth,
 * another program, and by seed a next-line or a stride prefetcher, and what cf-infer says by them:
 * how many values are right, wrong and not told.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/probe/noise.h"
#include "tests/unit/probe_infer.h"
#include "tests/unit/probe_model.h"

#ifdef CF_SANITIZED
enum { EVERY = 75 };
#else
enum { EVERY = 43 };
#endif

enum {
    SEEDS = 5,
    MOST_UNTOLD = 10,
    FEW_UNTOLD = 5, /* of so many at most one; of few values */
    POLICY_SETS = 4,
    POLICY_REPEATS = 3,
    SHOWN = 3
};
enum { POLICY = LINE + 1, JUDGED };
enum outcome { RIGHT, WRONG, UNTOLD, OUTCOMES };

static const char *const judged[JUDGED] = {"size", "ways", "line", "policy"};

struct tally {
    uint32_t count[SHOWN][JUDGED][OUTCOMES];
    uint64_t accesses;
};

static void add(struct tally *t, const struct tally *other)
{
    t->accesses += other->accesses;
    for (unsigned i = 0; i < SHOWN; i++)
        for (unsigned what = 0; what < JUDGED; what++)
            for (unsigned o = 0; o < OUTCOMES; o++)
                t->count[i][what][o] += other->count[i][what][o];
}

static uint32_t sum(const struct tally *t, enum outcome o)
{
    uint32_t all = 0;

    for (unsigned i = 0; i < SHOWN; i++)
        for (unsigned what = 0; what < JUDGED; what++)
            all += t->count[i][what][o];
    return all;
}

static void judge(const struct infer *f, const struct model *k, struct tally *t)
{
    for (unsigned i = 0; i < SHOWN; i++) {
        const struct cf_level *is = &k->m.level[i];
        const uint64_t truth[] = {is->size, is->ways, is->line};
        const struct cache *c = NULL;

        for (unsigned n = 0; n < f->caches; n++)
            if (f->cache[n].level == i + 1 && !f->cache[n].code)
                c = &f->cache[n];
        for (unsigned what = SIZE; what <= LINE; what++) {
            const int told = c && c->value[what].how == MEASURED;

            if (i < k->m.levels || told)
                t->count[i][what][!told                                                 ? UNTOLD
                                  : i < k->m.levels && c->value[what].is == truth[what] ? RIGHT
                                                                                        : WRONG]++;
        }
        if (i == 0)
            t->count[0][POLICY][!c || c->policy.how != MEASURED ? UNTOLD
                                : (c->policy.is == is->policy || c->policy.same >> is->policy & 1)
                                    ? RIGHT
                                    : WRONG]++;
    }
}

static void try_machine(struct model *k, uint32_t number, int by_time, uint64_t seed,
                        struct tally *t)
{
    static struct infer f;
    static struct noise noise;
    struct cf_bench bench = bench_of(k);
    struct probe p = {.bench = &noise.bench,
                      .seed = seed,
                      .most = 2 * MOST,
                      .by_time = by_time,
                      .noisy = 1,
                      .row = take_row,
                      .arg = &f};
    struct tally now = {.accesses = 0};
    const clock_t from = clock();

    f = (struct infer){
        .machine = (char *)"model:random", .unit = (char *)"cycles", .o.least = 0.95};
    bench.size += NOISE_ROOM;
    /* cppcheck-suppress autoVariables ; only until this function ends */
    k->behind = &bench.behind;
    k->prefetch = seed % 2 ? CF_PREFETCH_NEXT_LINE : CF_PREFETCH_STRIDE;
    open_model(k, by_time, seed);
    noise_begin(&noise, &bench, 0.05, seed);
    if (probe_noisy(&p) != 0 || probe_policy(&p, POLICY_SETS, POLICY_REPEATS, 0) != 0)
        exit(1);
    find_changes(&f);
    know(&f);
    judge(&f, k, &now);
    now.accesses = p.accesses;
    add(t, &now);
    if (thorough() || sum(&now, WRONG) + sum(&now, UNTOLD)) {
        note("machine %u, seed %llu, by %s: %u right, %u wrong, %u not told, %llu accesses, %.1f s",
             number, (unsigned long long)seed, by_time ? "time" : "misses", sum(&now, RIGHT),
             sum(&now, WRONG), sum(&now, UNTOLD), (unsigned long long)p.accesses,
             (double)(clock() - from) / CLOCKS_PER_SEC);
    }
    if (sum(&now, WRONG) + sum(&now, UNTOLD)) {
        describe(k);
        for (unsigned i = 0; i < p.levels; i++)
            note("found L%u: %llu bytes, way %llu, line %llu, %llu ticks", i + 1,
                 (unsigned long long)p.level[i].size, (unsigned long long)p.level[i].way_size,
                 (unsigned long long)p.level[i].line, (unsigned long long)p.level[i].ticks);
        if (now.count[0][POLICY][RIGHT] == 0)
            note("policy: %s", f.caches ? f.cache[0].policy.by : "none");
    }
    forget_rows(&f);
    probe_free(&p);
    cf_hierarchy_free(k->h);
}

/* ---- machines that are told wrong, or not, without one of the guards ---- */

static const struct {
    uint32_t machine;
    unsigned char seed, by_time;
    const char *guard;
} guarded[] = {
    {2, 2, 0, "windows say where a level may be, not where it is"},
    {12, 3, 1, "of two accesses that tell the line, the second is to the lower address"},
    {19, 2, 1,
     "a latency near that of memory is none of a level; a window is tried in more orders"},
    {38, 3, 0, "lines at the end of a page, behind which none is prefetched"},
    {54, 3, 0,
     "what was prefetched is flushed before a line is told; sets that are no power of two"},
    {70, 2, 0, "a level that may be exclusive is smaller than windows say"},
    {224, 3, 0, "a window that a profile ends behind"},
    {102, 4, 1, "lines are visited several times, where evictions are rare more often"},
};

static void try_guarded(void)
{
    static struct model k;
    static uint64_t visited[FEW];

    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
        struct tally t = {.accesses = 0};

        make_machine(guarded[i].machine, &k.m, k.ticks);
        k.visited = visited;
        try_machine(&k, guarded[i].machine, guarded[i].by_time, guarded[i].seed, &t);
        ok(sum(&t, RIGHT) && !sum(&t, WRONG) && !sum(&t, UNTOLD), "machine %u, seed %u: %s",
           (unsigned)guarded[i].machine, guarded[i].seed, guarded[i].guard);
    }
    free(k.hit);
}

/* ---- many of them ---- */

/* Each second one, of those that are asked for. */
static void try_half(uint32_t from, uint32_t to, uint32_t every, uint64_t seed, struct tally *t)
{
    static struct model k;
    static uint64_t visited[FEW];
    uint32_t tried = 0;

    for (uint32_t i = from; i < to; i += 2 * every)
        for (uint64_t s = 1; s <= SEEDS; s++, tried++)
            for (int by_time = 0; by_time < 2; by_time++) {
                if (seed ? s != seed : !thorough() && s != 1 + tried / SEEDS % SEEDS)
                    continue;
                make_machine(i, &k.m, k.ticks);
                k.visited = visited;
                if (!waits(&k.m))
                    try_machine(&k, i, by_time, s, t);
            }
    free(k.hit);
}

/* ---- the noise itself, on a bench whose accesses all take 1000 ticks ---- */

struct plain {
    uint64_t size, seen, others, bursts,
        forgotten;        /* accesses; of the other program, and its visits */
    uint64_t next, wrong; /* the nodes of a visit come one after the other */
};

static int run_plain(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct plain *b = self;

    if (v->offset[0] >= b->size) {
        b->bursts++;
        b->others += v->count;
        for (uint32_t i = 0; i < v->count; i++)
            b->wrong += v->offset[i] != v->offset[0] + i * NOISE_STEP ||
                        v->offset[i] >= b->size + NOISE_ROOM;
        return 0;
    }
    for (uint32_t round = 0; round < v->warm + v->rounds; round++)
        for (uint32_t i = 0; i < v->count; i++) {
            b->wrong += v->offset[i] != b->next;
            b->next = (b->next + CF_NODE) % (1000 * CF_NODE);
            b->seen++;
        }
    for (uint32_t i = 0; v->each && i < v->count * v->rounds; i++)
        v->each[i] = 1000;
    m->accesses = (uint64_t)v->count * v->rounds;
    m->misses = m->accesses;
    m->has_misses = 1;
    m->time = 1000 * m->accesses;
    return 0;
}

static int forget_plain(void *self)
{
    ((struct plain *)self)->forgotten++;
    return 0;
}

static void noise_itself(void)
{
    enum { NODES = 1000, ROUNDS = 20, WARM = 5, VISITS = 400 };
    static uint64_t offset[NODES];
    static uint32_t each[NODES * ROUNDS];
    static struct noise noise, same;
    struct plain b = {.size = 1 << 20}, c = b;
    struct cf_bench on = {.self = &b, .forget = forget_plain, .run = run_plain},
                    again = {.self = &c, .forget = forget_plain, .run = run_plain};
    uint64_t least = UINT64_MAX, most = 0, all = 0, sums = 0;
    struct cf_visit v = {.offset = offset, .count = NODES, .warm = WARM, .rounds = ROUNDS};

    on.size = again.size = b.size + NOISE_ROOM;
    noise_begin(&noise, &on, 0.05, 1);
    noise_begin(&same, &again, 0.05, 1);
    is_u64(noise.bench.size, b.size, "the other program has a room of its own");
    for (uint32_t i = 0; i < NODES; i++)
        offset[i] = i * CF_NODE;
    for (uint32_t i = 0; i < VISITS; i++) {
        struct cf_measured m = {0}, n = {0};

        v.each = i % 2 ? each : NULL;
        noise.bench.run(noise.bench.self, &v, &m);
        all += m.accesses == NODES * ROUNDS && m.misses == NODES * ROUNDS;
        for (uint32_t k = 0; v.each && k < NODES * ROUNDS; k++) {
            least = each[k] < least ? each[k] : least;
            most = each[k] > most ? each[k] : most;
        }
        sums += m.time > 950ull * NODES * ROUNDS - 1 && m.time < 1050ull * NODES * ROUNDS + 1;
        same.bench.run(same.bench.self, &v, &n);
        all -= n.time != m.time;
    }
    is_u64(all, VISITS, "what is measured is whole, and the same with the same seed");
    is_u64(sums, VISITS, "times of visits vary by a twentieth at most");
    ok(least == 950 && most == 1050, "times of accesses, from %u to %u", (unsigned)least,
       (unsigned)most);
    is_u64(b.seen, (uint64_t)NODES * (WARM + ROUNDS) * VISITS, "all nodes are visited");
    is_u64(b.wrong, 0, "in their order, and so are the other's lines");
    ok(b.bursts > 70 && b.bursts < 130, "once in 100,000 accesses another program: %u times",
       (unsigned)b.bursts);
    ok(b.others > b.bursts * 400 && b.others < b.bursts * 625, "some 512 accesses each");
    ok(b.bursts == c.bursts && b.others == c.others, "with the same seed the same");
    b.bursts = 0;
    for (int i = 0; i < 2; i++)
        noise.bench.forget(noise.bench.self);
    ok(b.forgotten == 2 && b.bursts == 1, "its lines stay when others are flushed, once");
}

int main(int argc, char **argv)
{
    const uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0,
                   machines = argc > 2 ? (uint32_t)atoi(argv[2]) : MACHINES,
                   every = argc > 3     ? (uint32_t)atoi(argv[3])
                           : thorough() ? 1
                                        : EVERY;
    const uint64_t seed = argc > 4 ? (uint64_t)atoi(argv[4]) : 0;
    static struct tally t, half;
    uint32_t right, wrong, untold;
    int ends[2];
    pid_t child;

    noise_itself();
    if (argc == 1)
        try_guarded();
    if (pipe(ends) != 0 || (child = fork()) < 0)
        exit(1);
    if (child == 0) {
        try_half(first + every, first + machines, every, seed, &half);
        _exit(write(ends[1], &half, sizeof half) == sizeof half ? 0 : 1);
    }
    close(ends[1]);
    try_half(first, first + machines, every, seed, &t);
    need(read(ends[0], &half, sizeof half) == sizeof half, "the other half of the machines");
    close(ends[0]);
    waitpid(child, NULL, 0);
    add(&t, &half);
    for (unsigned i = 0; i < SHOWN; i++)
        for (unsigned what = 0; what < JUDGED; what++)
            if (i == 0 || what != POLICY)
                note("L%u %s: %u right, %u wrong, %u not told", i + 1, judged[what],
                     t.count[i][what][RIGHT], t.count[i][what][WRONG], t.count[i][what][UNTOLD]);
    right = sum(&t, RIGHT);
    wrong = sum(&t, WRONG);
    untold = sum(&t, UNTOLD);
    note("in all %u right, %u wrong, %u not told, %llu accesses", right, wrong, untold,
         (unsigned long long)t.accesses);
    ok(right > 0 && 200 * wrong <= right + wrong, "%u values right, %u wrong: at most 0.5 %%",
       right, wrong);
    ok((thorough() ? MOST_UNTOLD : FEW_UNTOLD) * untold <= right + wrong + untold, "%u not told",
       untold);
    return done();
}
