/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for the first level of a machine that is disturbed, on a cache that is computed: so
 * many lines of a set as there are too many miss, or all of them, as under LRU; windows may miss a
 * little before their end, and for a while another program takes half of the cache.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/probe/steady/steady.h"
#include "formats/stream/cf.h"
#include "tests/unit/tap.h"

enum { BUFFER = 4 << 20, LINE = 64, SETS_MOST = 1024, HIT = 3, MISS = 11, ROWS = 1 << 16 };
enum { PAGE = 4096, PAGE_SETS = 16, TRANSLATION = 7 /* ticks of one that is not there */ };

struct cache {
    uint32_t sets, ways;
    int lru;            /* one line too many: all of its set miss; else one of them */
    uint32_t page_ways; /* of a set of translations, 0: all are there */
    uint32_t others;    /* lines of other data, one in each set from the last on */
    uint64_t disturbed; /* so many visits have half of the ways */
    uint64_t visits;
    uint64_t spoilt;    /* so many visits */
    uint64_t loud;      /* in so many, windows of 15 to 31 KiB take a twentieth longer */
    uint32_t near, far; /* ticks of a single access, to a small window and to a large one */
    struct {
        const char *experiment;
        uint64_t parameter;
        unsigned level;
    } row[ROWS];
    uint32_t rows;
    struct probe *interrupted; /* with the next row, as by a signal */
};

/* Ticks that a round waits for translations. */
static uint64_t translations(const struct cache *c, const struct cf_visit *v)
{
    static unsigned char seen[BUFFER / PAGE];
    uint32_t pages[PAGE_SETS] = {0};
    uint64_t ticks = 0;

    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < v->count; i++) {
        const uint64_t page = v->offset[i] / PAGE;

        pages[page % PAGE_SETS] += !seen[page];
        seen[page] = 1;
    }
    for (uint32_t i = 0; c->page_ways && i < v->count; i++)
        ticks += pages[v->offset[i] / PAGE % PAGE_SETS] > c->page_ways ? TRANSLATION : 0;
    return ticks;
}

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    static unsigned char seen[BUFFER / LINE];
    struct cache *c = self;
    const uint32_t ways = c->visits < c->disturbed ? c->ways / 2 : c->ways;
    uint32_t lines[SETS_MOST] = {0};
    uint64_t all = 0, misses = 0, nodes;

    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < v->count; i++) {
        const uint64_t line = v->offset[i] / LINE;

        lines[line % c->sets] += !seen[line];
        all += !seen[line];
        seen[line] = 1;
    }
    for (uint32_t i = 0; i < c->sets; i++) {
        const uint32_t own = lines[i], has = own + (own && i >= c->sets - c->others);

        if (has > ways)
            misses += c->lru || has - ways > own ? own : has - ways;
    }
    nodes = v->count; /* nodes of one line miss together */
    *m = (struct cf_measured){
        .accesses = nodes * v->rounds,
        .time =
            (nodes * HIT + nodes * misses * (MISS - HIT) / (all ? all : 1) + translations(c, v)) *
            v->rounds,
        .spoilt = c->visits < c->spoilt ? CF_SPOILT_DRIFT : 0,
        .method = CF_METHOD_CLOCK};
    for (uint32_t i = 0; v->each && i < v->count * v->rounds; i++)
        v->each[i] = all * LINE > 64 << 10 ? c->far : c->near;
    if (c->visits++ < c->loud && all * LINE > 15 << 10 && all * LINE < 31 << 10)
        m->time += m->time / 20;
    return 0;
}

static int forget(void *self)
{
    (void)self;
    return 0;
}

static void row(void *arg, const struct probe_row *r)
{
    struct cache *c = arg;

    if (c->interrupted)
        c->interrupted->error = EINTR;
    if (c->rows < ROWS) {
        c->row[c->rows].experiment = r->experiment;
        c->row[c->rows].parameter = r->parameter;
        c->row[c->rows++].level = r->level;
    }
}

/* Rows of an experiment at a level; of any parameter where it is 0. */
static uint32_t rows_of(const struct cache *c, const char *experiment, unsigned level,
                        uint64_t parameter)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->rows; i++)
        n += !strcmp(c->row[i].experiment, experiment) && c->row[i].level == level &&
             (!parameter || c->row[i].parameter == parameter);
    return n;
}

/* What is found of it. */
static int look(struct cache *c, struct probe *p)
{
    struct cf_bench b = {.self = c, .run = run, .forget = forget, .size = BUFFER};
    int found;

    *p = (struct probe){
        .bench = &b, .most = BUFFER / 2, .by_time = 1, .seed = 1, .row = row, .arg = c};
    p->until = UINT64_MAX / 2;
    c->visits = 0;
    c->rows = 0;
    found = steady_first(p, 4);
    free(p->nodes.offset);
    free(p->spare.offset);
    free(p->seen);
    free(p->ticks);
    return found;
}

static void found(struct cache *c, const char *what)
{
    const uint64_t way = (uint64_t)c->sets * LINE;
    struct probe p;

    is_u64((uint64_t)look(c, &p), 1, "%s", what);
    is_u64(p.level[0].size, way * c->ways, "  its size");
    is_u64(p.level[0].way_size, way, "  the size of a way");
    is_u64(p.level[0].line, LINE, "  its line");
    ok(rows_of(c, "associativity", 1, c->ways) && rows_of(c, "apart", 1, way) &&
           rows_of(c, "apart", 1, 2 * way) && !rows_of(c, "apart", 1, way + LINE),
       "  rows of its ways, and of lines as far apart as a way and as two");
}

/* Single accesses are timed where the clock tells apart what serves them. */
static void clock_of(struct cache *c, uint64_t step, int coarse)
{
    struct cf_bench b = {.self = c, .run = run, .forget = forget, .step = step, .size = BUFFER};
    struct probe p = {.bench = &b,
                      .most = BUFFER / 2,
                      .by_time = 1,
                      .seed = 1,
                      .row = row,
                      .arg = c,
                      .levels = 1,
                      .level = {{.line = LINE, .size = 32 << 10, .way_size = 4096}}};

    c->rows = 0;
    c->near = c->far = 75;
    is_u64((uint64_t)steady_second(&p, 2), 0, "a step of %u ticks", (unsigned)step);
    is_u64((uint64_t)p.coarse, (uint64_t)coarse, "  is%s too coarse", coarse ? "" : " not");
    c->far = 75 + 24;
    is_u64((uint64_t)probe_policy_steady(&p, 2), 0, "  and the policy");
    ok(coarse == (rows_of(c, "policy", 1, 0) == 0), "  is%s looked for", coarse ? " not" : "");
    free(p.nodes.offset);
    free(p.spare.offset);
    free(p.seen);
    free(p.ticks);
}

int main(void)
{
    static struct cache c;
    struct probe p;

    c = (struct cache){.sets = 64, .ways = 12, .lru = 1};
    found(&c, "12 ways, LRU");
    c = (struct cache){.sets = 64, .ways = 8};
    found(&c, "8 ways, of whose sets one line too many misses once");
    c = (struct cache){.sets = 64, .ways = 8, .others = 2};
    found(&c, "other data in two sets: windows end too soon");
    c = (struct cache){.sets = 96, .ways = 4};
    found(&c, "a number of sets that is no power of two");
    is_u64(rows_of(&c, "size", 0, 0), 0, "what did not agree is not written");
    c = (struct cache){.sets = 64, .ways = 1, .lru = 1};
    found(&c, "direct-mapped");
    c = (struct cache){.sets = 64, .ways = 12, .lru = 1, .page_ways = 6};
    found(&c, "12 ways, where only 6 pages that are 16 apart are translated at once");
    c = (struct cache){.sets = 128, .ways = 8, .page_ways = 6};
    found(&c, "8 ways of two pages each");
    c = (struct cache){.sets = 64, .ways = 8, .disturbed = 60};
    found(&c, "half of it used by another program while windows are looked for");

    c = (struct cache){.sets = 64, .ways = 8, .loud = 900};
    found(&c, "windows that fit take longer, but for the last ones");
    c.loud = 900;
    (void)look(&c, &p);
    ok(p.attempts > 1, "  they are measured again: %u times", p.attempts);

    /* the first attempt is spoilt. The second one takes lines as far apart as the level seems to be
       large, 30 KiB: in two of its sets, of which 16 lines fit, and 32 do not 2 KiB apart. */
    c = (struct cache){.sets = 64, .ways = 8, .others = 15, .spoilt = 44};
    found(&c, "lines of two sets are not taken for those of one");
    c.spoilt = 0;
    (void)look(&c, &p);
    is_u64(p.attempts, 1, "  as they are not where the first attempt is whole");

    /* other data in so many sets that windows end 2 KiB too soon: a size, and no ways */
    c = (struct cache){.sets = 64, .ways = 8, .others = 40};
    is_u64((uint64_t)look(&c, &p), 1, "windows never agree with lines of one set");
    ok(p.attempts > 1 && !p.level[0].way_size, "  after %u attempts no ways", p.attempts);
    ok(rows_of(&c, "size", 1, 0) && !rows_of(&c, "associativity", 1, 0) &&
           !rows_of(&c, "apart", 1, 0) && rows_of(&c, "ways", 0, 0),
       "  rows of lines of one set say nothing of a level");

    c = (struct cache){.sets = SETS_MOST, .ways = 100};
    is_u64((uint64_t)look(&c, &p), 0, "larger than what is looked for");
    ok(p.attempts == 1 && rows_of(&c, "size", 1, 2048) == 4, "  once, and its windows are there");
    c = (struct cache){.sets = 64, .ways = 8, .spoilt = UINT64_MAX};
    is_u64((uint64_t)look(&c, &p), 0, "all spoilt");
    ok(p.attempts > 1, "  tried %u times", p.attempts);

    c = (struct cache){.sets = 64, .ways = 8, .interrupted = &p};
    is_u64((uint64_t)look(&c, &p), (uint64_t)-1,
           "a signal ends it, and no visit of no nodes follows");
    is_u64((uint64_t)p.error, EINTR, "  which is what ended it");

    c = (struct cache){.sets = 64, .ways = 8};
    clock_of(&c, 2, 0);
    clock_of(&c, 24, 1); /* four of them are less than an access and two fifths, 105 */
    return done();
}
