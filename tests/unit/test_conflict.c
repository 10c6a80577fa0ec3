/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_conflict.c - which lines conflict.c visits, in which order, and what it concludes: on a
 * bench that keeps what is visited, and evicts the line measured as often as it is told.
 */
#include <string.h>

#include "capture/probe/conflict.h"
#include "tests/unit/tap.h"

enum { MOST = 1 << 16, VISITS = 256, PAGE = CONFLICT_PAGE };

struct visit {
    size_t from, count; /* of the nodes */
    uint32_t rounds;
    unsigned level;
};

struct bench {
    uint64_t node[MOST];
    size_t nodes;
    struct visit visit[VISITS];
    unsigned visits, forgotten, late; /* late: forgotten after a visit */
    unsigned every, measured;         /* one of so many measurements misses; 0: none */
};

static struct bench kept;

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct bench *b = self;

    if (b->visits == VISITS || b->nodes + v->count > MOST)
        exit(1);
    memcpy(b->node + b->nodes, v->offset, v->count * sizeof *v->offset);
    b->visit[b->visits++] = (struct visit){b->nodes, v->count, v->rounds, v->level};
    b->nodes += v->count;
    *m = (struct cf_measured){.accesses = v->rounds, .has_misses = 1};
    if (v->rounds)
        m->misses = b->every && ++b->measured % b->every == 0;
    return 0;
}

static int forget(void *self)
{
    struct bench *b = self;

    b->forgotten++;
    b->late = b->visits;
    return 0;
}

/* The same, of which nothing is kept. */
static int run_often(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct bench *b = self;

    b->nodes = b->visits = 0;
    return run(self, v, m);
}

static struct cf_bench on = {.self = &kept, .forget = forget, .run = run, .size = 40 << 20};

static struct probe start(unsigned levels, const struct probe_level *level)
{
    struct probe p = {.bench = &on, .seed = 1};

    memset(&kept, 0, sizeof kept);
    on.size = 40 << 20;
    on.run = run;
    memcpy(p.level, level, levels * sizeof *level);
    return p;
}

static void again(struct probe *p, unsigned levels, const struct probe_level *level)
{
    probe_free(p);
    *p = start(levels, level);
}

/* Whether nodes of a visit are `step` from the line, and none of them `never`. */
static int all_apart(const struct visit *v, uint64_t at, uint64_t step, uint64_t never)
{
    for (size_t i = v->from; i < v->from + v->count; i++) {
        const uint64_t far = kept.node[i] > at ? kept.node[i] - at : at - kept.node[i];

        if (far % step || far % never == 0)
            return 0;
    }
    return 1;
}

/* Whether all nodes of some visits are in pages of their own. */
static int pages_of_their_own(unsigned from, unsigned to)
{
    const size_t end = kept.visit[to].from + kept.visit[to].count;

    for (size_t i = kept.visit[from].from; i < end; i++)
        for (size_t k = kept.visit[from].from; k < i; k++)
            if (kept.node[i] / PAGE == kept.node[k] / PAGE)
                return 0;
    return 1;
}

static int has_node(const struct visit *v, uint64_t node)
{
    for (size_t i = v->from; i < v->from + v->count; i++)
        if (kept.node[i] == node)
            return 1;
    return 0;
}

static int same_nodes(const struct visit *a, const struct visit *b)
{
    for (size_t i = a->from; i < a->from + a->count; i++)
        if (!has_node(b, kept.node[i]))
            return 0;
    return a->count == b->count;
}

/* ---- how far lines of a set are apart ---- */

static void steps(void)
{
    unsigned far = 0, sets = 0, prime = 0, ends = 0, all = 0;

    for (uint64_t line = 16; line <= 256; line *= 2)
        for (uint64_t way = line; way < 3 * PAGE; way += line, all++) {
            const uint64_t step = conflict_step(way, line), times = step / way;
            unsigned divisors = 0;

            far += step >= PAGE;
            sets += step % way == 0;
            ends += way > 2 * line ? 1 : step % PAGE == 0;
            for (uint64_t d = 2; d < times; d++)
                divisors += times % d == 0;
            prime += way <= 2 * line || !divisors;
        }
    is_u64(far, all, "lines of a set are a page apart, or more");
    is_u64(sets, all, "they share a set");
    is_u64(ends, all, "of one or two sets they are at the ends of pages");
    is_u64(prime, all, "else one way, or a prime number of them, apart");
    is_u64(conflict_step(3 * PAGE, 64), 3 * PAGE, "a way that is a page or more");
    is_u64(conflict_multiple(6, 4), 12, "the least multiple of both");
}

/* ---- what is visited ---- */

static const struct probe_level two[] = {
    {.size = 8 * PAGE, .line = 64, .way_size = PAGE, .reach = 8 * PAGE},
    {.line = 64},
};

static void second_level(void)
{
    struct probe p = start(2, two);
    struct conflict c = {
        .level = 2, .at = PAGE - 64, .step = 16 * PAGE, .way = 16 * PAGE, .lines = 8, .passes = 2};
    struct cf_measured m = {0};
    const struct visit *v = kept.visit;

    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_STAYS, "it is not evicted");
    ok(kept.forgotten == 1 && kept.late == 0, "lines are flushed before");
    ok(v[0].count == 1 && kept.node[0] == c.at, "the line is visited");
    is_u64(v[1].count, 2 + 3 * 8, "three times as many as the first level has ways, and two");
    ok(all_apart(&v[1], c.at, PAGE, 16 * PAGE), "they share its set there, and not in the second");
    ok(v[2].count == 8 && all_apart(&v[2], c.at, 16 * PAGE, UINT64_MAX), "the lines of its set");
    ok(pages_of_their_own(0, 2), "each in a page of its own");
    ok(same_nodes(&v[3], &v[1]), "what took out the line takes out the others");
    ok(same_nodes(&v[4], &v[2]) && same_nodes(&v[5], &v[1]), "and again");
    ok(kept.visits == 7 && v[6].count == 1 && v[6].rounds == 1 && v[6].level == 2 &&
           kept.node[v[6].from] == c.at,
       "then the line alone is measured");

    again(&p, 2, two);
    c.passes = 1;
    c.counted = 1;
    kept.every = 1;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_EVICTED, "it is evicted");
    ok(kept.visits == 5, "an exclusive level gets the others, too, in one pass");
    is_u64(v[4].level, 1, "misses of another level are counted");
    again(&p, 2, two);
    p.level[1].line = 128;
    c.counted = 0;
    (void)conflict_once(&p, &c, 0, &m);
    ok(kept.visits == 4, "one that is not exclusive has them");

    again(&p, 2, two);
    c.without = 1;
    (void)conflict_once(&p, &c, 0, &m);
    (void)conflict_once(&p, &c, 0, &m);
    ok(v[1].count == 2 + 8 + 3 * 8 && v[2].count == 7, "one line less, more others");
    ok(!same_nodes(&v[1], &v[6]), "another time others");
    c.without = 0;

    again(&p, 1, two);
    c = (struct conflict){.level = 1, .at = PAGE - 64, .step = PAGE, .way = PAGE, .lines = 8};
    c.passes = 3;
    (void)conflict_once(&p, &c, 0, &m);
    ok(kept.visits == 5 && v[1].count == 8 && v[3].count == 8, "the first level: its lines alone");
    probe_free(&p);
}

/* Others that share no set with the line, if the ways are as is supposed, or parts of these. */
static void away(void)
{
    struct probe p = start(2, two);
    struct conflict c = {
        .level = 2, .at = PAGE - 64, .step = 6 * PAGE, .way = 6 * PAGE, .lines = 8, .passes = 1};
    struct cf_measured m = {0};
    const struct visit *v = kept.visit;

    (void)conflict_once(&p, &c, 0, &m);
    ok(v[1].count == 26 && all_apart(&v[1], c.at, PAGE, 3 * PAGE) &&
           all_apart(&v[1], c.at, PAGE, 2 * PAGE),
       "none is a half of the way from the line, or a third");

    /* three pages before a line of the set, which is behind it; four: in the page of such a line */
    again(&p, 2, two);
    p.level[1].line = 128; /* not exclusive: the others need not be taken out */
    c.way = c.step = 3 * PAGE + 128;
    on.size = 40 * PAGE;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_STAYS, "a small buffer");
    ok(v[1].count == 26 && !has_node(&v[1], c.at + 3 * PAGE),
       "nor before a line of the set, which would be prefetched");
    ok(pages_of_their_own(0, 2), "no page has two of the lines");

    again(&p, 2, two);
    p.level[0].way_size = 3 * PAGE;
    p.level[0].size = 8 * 3 * PAGE;
    c.way = c.step = 4 * PAGE;
    (void)conflict_once(&p, &c, 0, &m);
    is_u64(v[3].count, 3 * 26,
           "lines that share their sets in the first level are taken out at once");
    probe_free(&p);
}

static void choices(void)
{
    struct probe p = start(1, two);
    struct conflict c = {
        .level = 1, .at = PAGE - 64, .step = PAGE, .way = PAGE, .lines = 8, .passes = 1};
    struct cf_measured m = {0};
    uint64_t beyond = 0, first = 0, missing = 0;

    for (unsigned i = 0; i < 16; i++) {
        (void)conflict_once(&p, &c, 0, &m);
        for (size_t k = 0; k < kept.nodes; k++)
            first += kept.node[k] > c.at + 8 * c.step;
        kept.nodes = kept.visits = 0;
        (void)conflict_once(&p, &c, 1, &m);
        for (size_t k = 0; k < kept.nodes; k++)
            beyond += kept.node[k] > c.at + 8 * c.step;
        kept.nodes = kept.visits = 0;
    }
    ok(first == 0 && beyond > 0, "of a choice but the first, lines further away, too");
    c.without = 1;
    for (unsigned i = 0; i < 64; i++) {
        (void)conflict_once(&p, &c, 0, &m);
        for (unsigned k = 1; k <= 8; k++)
            missing |= (uint64_t)!has_node(&kept.visit[1], c.at + k * c.step) << k;
        is_u64(kept.visit[1].count, 7, "without one of the lines");
        kept.nodes = kept.visits = 0;
    }
    is_u64(missing, 0x1fe, "now without this one, now without that");
    probe_free(&p);
}

/* Levels whose sets have few lines in common: the first, the second, and a window of pages, none of
   which has a line that may share the set of the third, of which a prefetcher would bring it. */
static void third_level(void)
{
    static const struct probe_level three[] = {
        {.size = 13 * 8192, .line = 256, .way_size = 8192, .reach = 13 * 8192},
        {.size = 2 * 269056, .line = 256, .way_size = 269056, .reach = 2 * 269056},
        {.line = 256},
    };
    struct probe p = start(3, three);
    struct conflict c = {
        .level = 3, .at = PAGE - 256, .step = 65536, .way = 65536, .lines = 21, .passes = 1};
    struct cf_measured m = {0};
    const struct visit *v = kept.visit;
    unsigned near = 0;

    (void)conflict_once(&p, &c, 0, &m);
    ok(v[1].count == 2 + 39 && all_apart(&v[1], c.at, 8192, 65536), "out of the first level");
    ok(v[2].count == 2 + 6 && all_apart(&v[2], c.at, 269056, 65536), "out of the second");
    ok(v[3].count >= 2 * 13 * 8192 / 256, "out of the first one again");
    for (size_t i = v[3].from; i < v[3].from + v[3].count; i++)
        near += kept.node[i] / PAGE % 16 == 0;
    is_u64(near, 0, "in pages without a line of the set");
    ok(pages_of_their_own(0, 2), "the others in pages of their own");
    is_u64(v[4].count, 21, "then the lines of the set");
    is_u64(v[6].count, 21 * (2 + 6), "each is taken out of the second level by lines of its own");

    again(&p, 3, three);
    p.level[1].line = 512;
    (void)conflict_once(&p, &c, 0, &m);
    is_u64(v[3].count, 21, "no window where the second level is not exclusive");
    again(&p, 3, three);
    c.way = PAGE / 2;
    c.step = 5 * c.way;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "where each page has such a line");
    again(&p, 3, three);
    c.way = c.step = PAGE + 256;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "or that line, or the one before it");
    again(&p, 3, three);
    c.way = c.step = 65536;
    p.level[0] = (struct probe_level){
        .size = 32 * 24576, .line = 64, .way_size = 24576, .reach = 32 * 24576};
    p.level[1].line = p.level[2].line = 64;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "where the window has too many lines");
    again(&p, 3, three);
    p.level[1].way_size = 65536;
    c.way = c.step = 1 << 20;
    (void)conflict_once(&p, &c, 0, &m);
    ok(v[1].count == 2 + 3 * (13 + 8) && all_apart(&v[1], c.at, 65536, 1 << 20),
       "levels whose sets coincide: out of both at once");
    probe_free(&p);
}

static void room(void)
{
    struct probe p = start(2, two);
    struct conflict c = {
        .level = 2, .at = PAGE - 64, .step = 16 * PAGE, .way = 16 * PAGE, .lines = 8, .passes = 1};
    struct cf_measured m = {0};

    on.size = 8 * 16 * PAGE;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "no room for the lines");
    on.size = 9 * 16 * PAGE;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_STAYS, "room for them");
    is_u64(conflict_once(&p, &c, 1, &m), CONFLICT_STAYS, "not for others: then the same");
    c.lines = CONFLICT_LINES + 1;
    on.size = 1 << 30;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "too many lines");
    c.lines = 2;
    c.step = PAGE;
    c.way = PAGE;
    on.size = 4 * PAGE;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "nothing takes it out of the first");
    p.level[1].line = 128;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_STAYS, "the lines themselves do that");
    c.step = PAGE + 64;
    is_u64(conflict_once(&p, &c, 0, &m), CONFLICT_UNCLEAR, "if they share its set there");
    probe_free(&p);
}

/* ---- what is concluded ---- */

static void decide(unsigned every, unsigned quick, int want, unsigned trials, const char *what)
{
    struct probe p = start(1, two);
    struct conflict c = {.level = 1,
                         .at = PAGE - 64,
                         .step = PAGE,
                         .way = PAGE,
                         .lines = 8,
                         .passes = 1,
                         .choices = 2,
                         .quick = quick};
    struct conflict_seen s;

    on.run = run_often;
    kept.every = every;
    is_u64(conflict_decide(&p, &c, &s), want, "%s", what);
    is_u64(s.trials, trials, "after %u trials", trials);
    probe_free(&p);
}

int main(void)
{
    steps();
    second_level();
    away();
    choices();
    third_level();
    room();
    decide(0, 0, CONFLICT_STAYS, 32, "none of many trials evicts");
    decide(0, 12, CONFLICT_STAYS, 12, "nor of few");
    decide(1, 12, CONFLICT_EVICTED, 4, "each does");
    decide(10, 0, CONFLICT_EVICTED, 40, "one in ten does");
    decide(20, 32, CONFLICT_STAYS, 32, "one in twenty, as noise does");
    decide(12, 0, CONFLICT_UNCLEAR, 128, "one in twelve");
    return done();
}
