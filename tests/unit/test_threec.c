/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of the misses of one cache, from rows to a class a row, against lists. */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/cache.h"
#include "filters/engine/rows/runs.h"
#include "filters/engine/classes/threec.h"
#include "formats/stream/cf.h"
#include "cpus.h"
#include "tap.h"

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

enum { MOST = 4000, LINES = 4000 };

/* Lines from the newest to the oldest. */
struct list {
    uint64_t line[LINES];
    unsigned count, most;
};

/* References `line` if `enter` or it is there: whether it was. */
static int reference(struct list *l, uint64_t line, int enter)
{
    unsigned i = 0;
    int hit;

    while (i < l->count && l->line[i] != line)
        i++;
    hit = i < l->count;
    if (!hit && !enter)
        return 0;
    if (!hit)
        i = l->count < l->most ? l->count++ : l->count - 1;
    memmove(l->line + 1, l->line, i * sizeof(*l->line));
    l->line[0] = line;
    return hit;
}

static void drop(struct list *l, uint64_t line)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->line[i] == line) {
            memmove(l->line + i, l->line + i + 1, (--l->count - i) * sizeof(*l->line));
            return;
        }
}

struct model {
    unsigned sets, ways, shift;
    int no_allocate;
    struct list *set, full, seen;
    uint64_t references, misses;
};

static unsigned one_line(struct model *m, unsigned op, uint64_t line)
{
    struct list *set = &m->set[line % m->sets];
    int enter = op != CF_STORE || !m->no_allocate, hit, in_full, known;

    m->references++;
    if (op == CF_FLUSH) {
        drop(set, line);
        drop(&m->full, line);
        return CF_CLASS_NONE;
    }
    hit = reference(set, line, enter);
    in_full = reference(&m->full, line, enter);
    known = reference(&m->seen, line, enter);
    m->misses += !hit;
    if (hit)
        return CF_CLASS_NONE;
    return !known ? CF_CLASS_COMPULSORY : in_full ? CF_CLASS_CONFLICT : CF_CLASS_CAPACITY;
}

static unsigned access(struct model *m, unsigned op, uint64_t addr, uint32_t size)
{
    uint64_t last = addr + (size ? size - 1 : 0), line = addr >> m->shift;
    unsigned class = CF_CLASS_NONE;

    last = last < addr ? UINT64_MAX : last;
    for (;; line++) {
        unsigned found = one_line(m, op, line);

        class = found > class ? found : class;
        if (line == last >> m->shift)
            return class;
    }
}

static struct {
    uint64_t addr[MOST];
    uint32_t size[MOST];
    uint8_t op[MOST], class[MOST];
} t;

static void make(unsigned how, unsigned rows, unsigned sets, unsigned lines, unsigned shift)
{
    uint64_t range = (uint64_t)(1 + next() % (2 * lines + 1)) << shift;
    uint64_t base = next() & 1 ? 0 : UINT64_MAX - range - 5000;

    for (unsigned i = 0; i < rows; i++) {
        switch (how % 4) {
        case 0:
            t.addr[i] = next() % range;
            break;
        case 1:
            t.addr[i] = (uint64_t)i * 8 % range;
            break;
        case 2: /* many lines of one set */
            t.addr[i] = ((uint64_t)(next() % (2 * lines)) * sets << shift) % (range * sets);
            break;
        default: /* strides that change */
            t.addr[i] = (uint64_t)i * (8u << (i / 100 % 6)) % range;
        }
        t.addr[i] += base;
        t.size[i] = next() % 16 ? 1u << next() % 4 : next() % (4u << shift);
        t.op[i] = (uint8_t)(next() % 3 ? CF_LOAD : CF_STORE);
        if (how % 3 == 0 && next() % 50 == 0)
            t.op[i] = (uint8_t)(next() % 2 ? CF_FLUSH : CF_PREFETCH);
    }
}

/* The engines as a caller puts them together. */
static int classify(const struct model *m, unsigned rows, uint64_t *sum)
{
    enum { BATCH = 256 };
    static uint32_t miss[BATCH + 8];
    static uint64_t victim[BATCH + 8];
    uint8_t found[BATCH];
    const struct cf_cache_geometry g = {.sets = m->sets,
                                        .ways = m->ways,
                                        .policy = CF_LRU,
                                        .options = m->no_allocate ? CF_CACHE_NO_ALLOCATE : 0};
    struct cf_runs *r =
        cf_runs_new(m->shift, CF_RUNS_DATA | (m->no_allocate ? CF_RUNS_STORES : 0), BATCH);
    struct cf_cache *cache = cf_cache_new(&g);
    struct cf_threec *three = cf_threec_new((uint64_t)m->sets * m->ways, m->no_allocate);
    int bad = !r || !cache || !three;

    memset(t.class, 0, rows);
    for (uint32_t row = 0; row < rows && !bad;) {
        uint32_t count;

        row = cf_runs_fill(r, t.addr, t.op, t.size, row, rows, 0);
        count = cf_cache_batch(cache, r->line, r->flags, r->count, CF_CACHE_ALL_WAYS, miss, victim);
        bad |= cf_threec_look(three, r->line, r->flags, r->count, found) != 0;
        for (uint32_t k = 0; k < count; k++)
            if (!(r->flags[miss[k]] & CF_RUN_FLUSH)) {
                cf_class_raise(&t.class[r->row[miss[k]]], cf_threec_class(found[miss[k]]));
                ++*sum;
            }
    }
    if (!bad)
        bad |= r->references != m->references;
    cf_threec_free(three);
    cf_cache_free(cache);
    cf_runs_free(r);
    return bad;
}

static unsigned traces, bad_traces, classes[CF_CLASSES];

static void compare(unsigned how, unsigned cpu)
{
    static struct model m;
    static uint8_t want[MOST];
    unsigned rows = how % 50 ? 1 + next() % 300 : MOST;
    uint64_t sum = 0;
    int bad;

    m.sets = next() % 2 ? 1u << next() % 5 : 1 + next() % 12;
    m.ways = how % 3 ? 1 + next() % 9 : 8;
    m.shift = 2 + next() % 6;
    m.no_allocate = next() % 4 == 0;
    m.references = m.misses = 0;
    m.set = calloc(m.sets, sizeof(*m.set));
    for (unsigned i = 0; i < m.sets; i++)
        m.set[i].most = m.ways;
    m.full.count = m.seen.count = 0;
    m.full.most = m.sets * m.ways;
    m.seen.most = LINES;
    make(how, rows, m.sets, m.sets * m.ways, m.shift);
    for (unsigned i = 0; i < rows; i++) {
        want[i] = (uint8_t)access(&m, t.op[i], t.addr[i], t.size[i]);
        classes[want[i]]++;
    }
    take_cpu(cpu);
    bad = classify(&m, rows, &sum) || sum != m.misses;
    for (unsigned i = 0; i < rows; i++)
        if (t.class[i] != want[i] && !bad++ && !bad_traces)
            note("row %u: class %u, expected %u", i, t.class[i], want[i]);
    if (bad && !bad_traces)
        note("%u sets, %u ways, lines of %u, no allocate %d, make %u, %u rows", m.sets, m.ways,
             1u << m.shift, m.no_allocate, how, rows);
    bad_traces += bad != 0;
    traces++;
    free(m.set);
}

int main(void)
{
    const unsigned cpus = best_cpu() + 1;

    for (unsigned i = 0; i < 3000; i++)
        compare(i, next() % cpus);
    ok(bad_traces == 0, "%u traces equal the lists, row by row and in sum", traces);
    for (unsigned k = 0; k <= CF_CLASS_CONFLICT; k++)
        ok(classes[k] > 1000, "in which class '%s' is frequent", cf_class_name(k));
    for (unsigned k = 0; k < CF_CLASSES; k++)
        is_u64(cf_class_find(cf_class_name(k)), k, "the name of class %u finds it", k);
    ok(cf_class_find("nonsense") == CF_CLASSES && !cf_class_name(CF_CLASSES),
       "other names and codes have none");
    return done();
}
