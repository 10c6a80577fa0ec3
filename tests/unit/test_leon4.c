/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The procedure of the LEON4 profiling tool against a plain one: the whole history is kept, and
 * each distance is counted anew by walking back through it.
 */
#include <string.h>

#include "filters/engine/classes/leon4.h"
#include "formats/stream/cf.h"
#include "tap.h"

static uint64_t state = 7;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

enum { MOST = 6000, SECOND = 2 };

/* The lines that one cache was asked for and took in, in their order. */
struct history {
    uint64_t line[2 * MOST];
    unsigned count, sets, ways;
};

/* Distinct other lines of the set since `line`, or UINT64_MAX. */
static uint64_t distance_of(const struct history *h, uint64_t line)
{
    uint64_t between[2 * MOST];
    unsigned n = 0;

    for (unsigned i = h->count; i-- > 0;) {
        unsigned k = 0;

        if (h->line[i] == line)
            return n;
        if (h->line[i] % h->sets != line % h->sets)
            continue;
        while (k < n && between[k] != h->line[i])
            k++;
        if (k == n)
            between[n++] = h->line[i];
    }
    return UINT64_MAX;
}

static int class_of(uint64_t d, unsigned ways, unsigned sets)
{
    if (d == UINT64_MAX)
        return 1;
    if (d < ways)
        return 0;
    if (d < sets)
        return 3;
    return d > sets ? 2 : 16;
}

static struct history caches[3][2]; /* fetch, data, second; by core */
static uint64_t brought[2];         /* line + 1 of the last bus read */

static int use(struct history *h, uint64_t line)
{
    int class = class_of(distance_of(h, line), h->ways, h->sets);

    h->line[h->count++] = line;
    return class;
}

struct want {
    int hit, class, second;
};

static struct want plain(const struct cf_leon4_config *c, const struct cf_leon4_access *a)
{
    const uint64_t line = a->addr >> c->line_shift;
    struct history *first = &caches[a->op == CF_IFETCH ? 0 : 1][a->core];
    struct history *second = &caches[SECOND][c->second_own ? a->core : 0];
    struct want w = {0, 0, 0};

    if (!a->placed && !(a->op == CF_LOAD && a->seen == CF_LEON4_MISS && a->addr)) {
        if (a->op == CF_LOAD && a->seen == CF_LEON4_HIT)
            w.hit = 1;
        if (a->op == CF_LOAD && a->seen == CF_LEON4_MISS) {
            w.class = c->data_compulsory ? 1 : 16;
            w.hit = c->second.sets ? 0 : 255;
        }
        return w;
    }
    if (a->op == CF_IFETCH) {
        w.class = use(first, line);
        if (!w.class && brought[a->core] == line + 1)
            w.class = 16;
        if (brought[a->core] == line + 1)
            brought[a->core] = 0;
    } else if (a->op == CF_LOAD && c->data_compulsory) {
        w.class = a->seen == CF_LEON4_MISS;
        if (a->seen == CF_LEON4_NOTHING)
            return w;
    } else if (a->op == CF_LOAD) {
        w.class = use(first, line);
        if (a->seen == CF_LEON4_HIT)
            w.class = 0;
        if (a->seen == CF_LEON4_MISS && !w.class)
            w.class = 16;
    } else if (c->allocate) {
        w.class = use(first, line);
        if (!w.class && c->write_back) {
            w.hit = 1;
            return w;
        }
    } else {
        int held = distance_of(first, line) < first->ways;

        if (held)
            first->line[first->count++] = line;
        if (held && c->write_back) {
            w.hit = 1;
            return w;
        }
    }
    if (!w.class && a->op != CF_STORE) {
        w.hit = 1;
        return w;
    }
    if (!c->second.sets) {
        w.hit = 255;
        return w;
    }
    w.second = use(second, line);
    w.hit = w.second ? 255 : 2;
    return w;
}

static void one(const char *name, const struct cf_leon4_config *c, unsigned lines)
{
    struct cf_leon4 *l = cf_leon4_new(c);
    uint64_t classes[17] = {0}, misses = 0, against = 0, sum = 0;
    unsigned wrong = 0;

    memset(caches, 0, sizeof(caches));
    brought[0] = brought[1] = 0;
    for (unsigned i = 0; i < 6; i++) {
        struct history *h = &caches[i / 2][i % 2];

        h->sets = i < 2 ? c->fetch.sets : i < 4 ? c->data.sets : c->second.sets;
        h->ways = i < 2 ? c->fetch.ways : i < 4 ? c->data.ways : c->second.ways;
        if (i >= 4 && c->second_own)
            h->ways = 1;
    }
    for (unsigned i = 0; i < MOST; i++) {
        struct cf_leon4_access a = {.core = next() % c->cores,
                                    .op = (uint8_t)(CF_LOAD + next() % 3),
                                    .size = 4,
                                    .seen = (uint8_t)(next() % 3),
                                    .placed = next() % 8 != 0};
        struct cf_leon4_result r;
        struct want w;
        uint32_t line = next() % 3 ? next() % lines : next() % (lines / 8 + 1);

        /* code and data lie apart, so that a bus read is for one of them */
        a.addr = ((uint64_t)line << c->line_shift) + 4 * (next() % 8) +
                 (a.op == CF_IFETCH ? 0 : 0x40000000);
        if (a.op != CF_LOAD)
            a.seen = CF_LEON4_NOTHING;
        if (a.op == CF_IFETCH)
            a.placed = 1;
        if (!a.placed && next() % 2)
            a.addr = 0;
        if (a.op == CF_IFETCH && next() % 6 == 0) {
            cf_leon4_bus(l, a.core, a.addr & ~(uint64_t)31);
            brought[a.core] = (a.addr >> c->line_shift) + 1;
        }
        w = plain(c, &a);
        if (cf_leon4_access(l, &a, &r) != 0)
            wrong++;
        if (a.op == CF_LOAD && a.placed && a.seen == CF_LEON4_MISS)
            cf_leon4_bus(l, a.core, a.addr & ~(uint64_t)31);
        wrong += r.hit != w.hit || r.class != w.class || r.second != w.second;
        classes[w.class]++;
        misses += w.class != 0;
    }
    is_u64(wrong, 0, "%s: levels and classes", name);
    for (unsigned k = CF_LEON4_FETCH; k <= CF_LEON4_DATA; k++)
        for (unsigned op = 0; op < CF_CLASS_OPS; op++)
            for (unsigned class = 0; class <= CF_CLASS_UNCLASSIFIED; class ++)
                sum += cf_leon4_counts(l, k)->misses[op][class];
    is_u64(sum, misses, "%s: misses sum up over the classes", name);
    against = cf_leon4_against(l);
    ok(c->data_compulsory ? against == 0 : against > 0,
       "%s: hits that the distance denies are counted", name);
    ok(classes[1] && classes[16] && (c->fetch.sets < 8 || classes[3]),
       "%s: the stream has misses of several classes", name);
    cf_leon4_free(l);
}

/* The class of a fetch from a cache after `distance` other lines of its set; UINT32_MAX: of a line
   that was never fetched. */
static unsigned class_at(uint32_t distance, uint32_t ways, uint32_t sets)
{
    const struct cf_leon4_config c = {
        .cores = 1, .line_shift = 5, .fetch = {sets, ways}, .data = {1, 1}};
    struct cf_leon4_access a = {.size = 4, .op = CF_IFETCH, .placed = 1};
    struct cf_leon4 *l = cf_leon4_new(&c);
    struct cf_leon4_result r = {0};
    int failed = !l;

    for (uint32_t i = 0; !failed && distance != UINT32_MAX && i <= distance; i++) {
        a.addr = (uint64_t)i * sets << c.line_shift;
        failed = cf_leon4_access(l, &a, &r) != 0;
    }
    a.addr = 0;
    if (failed || cf_leon4_access(l, &a, &r) != 0)
        exit(1);
    cf_leon4_free(l);
    return r.class;
}

/* Every side of every threshold. */
static void thresholds(void)
{
    is_u64(class_at(3, 4, 128), CF_CLASS_NONE, "3 of 4 ways: hit");
    is_u64(class_at(4, 4, 128), CF_CLASS_CONFLICT, "4 of 4 ways: conflict");
    is_u64(class_at(127, 4, 128), CF_CLASS_CONFLICT, "127 of 128 sets: conflict");
    is_u64(class_at(128, 4, 128), CF_CLASS_UNCLASSIFIED, "128 of 128 sets: no class");
    is_u64(class_at(129, 4, 128), CF_CLASS_CAPACITY, "129 of 128 sets: capacity");
    is_u64(class_at(0, 1, 2048), CF_CLASS_NONE, "0 of 1 way: hit");
    is_u64(class_at(1, 1, 2048), CF_CLASS_CONFLICT, "1 of 1 way: conflict");
    is_u64(class_at(UINT32_MAX, 4, 128), CF_CLASS_COMPULSORY, "infinite: cold");
}

int main(void)
{
    struct cf_leon4_config c = {.cores = 2,
                                .line_shift = 5,
                                .fetch = {4, 2},
                                .data = {8, 2},
                                .second = {16, 4},
                                .second_own = 1};

    thresholds();
    one("small caches, a way of the second level each", &c, 120);
    c.second_own = 0;
    one("one second level for both", &c, 120);
    c.data_compulsory = 1;
    one("the paper's own procedure", &c, 120);
    c.data_compulsory = 0;
    c.allocate = c.write_back = 1;
    one("a data cache that writes back and allocates", &c, 60);
    c.allocate = 0;
    one("writes back and does not allocate", &c, 60);
    c.write_back = 0;
    c.second.sets = c.second.ways = 0;
    one("a second level that is off", &c, 120);
    c = (struct cf_leon4_config){.cores = 1,
                                 .line_shift = 5,
                                 .fetch = {128, 4},
                                 .data = {128, 4},
                                 .second = {2048, 4},
                                 .second_own = 1};
    one("a LEON4's", &c, 2000);
    c.fetch.sets = c.data.sets = c.second.sets = 3;
    one("sets that are no power of two", &c, 90);
    return done();
}
