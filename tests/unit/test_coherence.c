/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private caches under invalidation against a model without any trick (naive_coherence.h). Then the
 * same with the model's own misses given, as a caller does who has the caches elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/coherence.h"
#include "filters/engine/rows/runs.h"
#include "formats/stream/cf.h"
#include "cpus.h"
#include "naive_coherence.h"
#include "tap.h"

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

enum { MOST = 2500, MISSES = 20 * MOST };

static struct {
    uint64_t addr[MOST], space[MOST], miss_line[MISSES];
    uint32_t size[MOST], miss_row[MISSES], misses;
    uint8_t op[MOST], core[MOST], class[MOST], missed[MOST];
} t;

static unsigned traces, bad_traces, classes[CF_CLASSES];

static void make(const struct cf_coherence_geometry *g, unsigned make, unsigned rows, int special)
{
    unsigned width = 1u << g->line_shift, range = width * (1 + next() % 60);
    unsigned turn = 1 + next() % 9, alone = next() % 4 ? 0 : next() % rows;
    uint64_t base = next() & 1 ? 0 : next() & 1 ? UINT64_MAX - range : (uint64_t)next() << 30;

    for (unsigned i = 0; i < rows; i++) {
        uint64_t at = 0;

        t.core[i] = (uint8_t)((make & 1 ? next() : i / turn) % g->cores);
        if (i < alone) /* the others come later */
            t.core[i] = (uint8_t)(alone % g->cores);
        t.op[i] = (uint8_t)(next() % 3 == 0 ? CF_STORE : CF_LOAD);
        t.size[i] = next() % 8 ? 1u << next() % 4 : next() % 12;
        t.space[i] = 0;
        switch (make / 2) {
        case 0:
            at = next() % range;
            break;
        case 1: /* each its own words: false sharing only */
            at = (next() % range) / width * width + t.core[i] * 4 % width;
            t.size[i] = 4;
            break;
        case 2: /* cyclic */
            at = (uint64_t)i * 8 % range;
            break;
        default: /* few lines, many in one set */
            at = (uint64_t)(next() % 9) * width * g->sets % range + next() % width;
        }
        t.addr[i] = base + at;
        if (special) {
            if (next() % 16 == 0)
                t.op[i] = (uint8_t)(next() % 6);
            if (next() % 32 == 0)
                t.size[i] = next() % (4 * width);
            t.space[i] = cf_space_key(next() % 2);
        }
    }
}

/* The whole trace in pieces of random length. */
static int run(struct cf_coherence *c, unsigned rows, int plain)
{
    struct cf_coherence_rows in = {0};

    memset(t.class, CF_CLASS_NONE, rows);
    for (unsigned from = 0; from < rows; from += in.rows) {
        in.rows = next() % 2 ? rows : 1 + next() % 500;
        in.rows = in.rows < rows - from ? in.rows : rows - from;
        in.addr = t.addr + from;
        in.op = t.op + from;
        in.size = t.size + from;
        in.core = plain ? NULL : t.core + from;
        in.space = plain ? NULL : t.space + from;
        if (cf_coherence_run(c, &in, t.class + from) != 0)
            return -1;
    }
    return 0;
}

/* The same for a caller who knows what misses: rows of misses count from a piece's first. */
static int run_outside(struct cf_coherence *c, unsigned rows)
{
    static uint32_t miss_row[sizeof(t.miss_row) / sizeof(*t.miss_row)];
    struct cf_coherence_rows in = {0};
    uint32_t at = 0;

    memset(t.class, CF_CLASS_NONE, rows);
    for (unsigned from = 0; from < rows; from += in.rows) {
        in.rows = next() % 4 == 0 ? rows : 1 + next() % (next() % 4 ? 4 : 500);
        in.rows = in.rows < rows - from ? in.rows : rows - from;
        in.addr = t.addr + from;
        in.op = t.op + from;
        in.size = t.size + from;
        in.core = t.core + from;
        in.space = t.space + from;
        in.missed = t.missed + from;
        in.miss_row = miss_row;
        in.miss_line = t.miss_line + at;
        for (in.misses = 0; at < t.misses && t.miss_row[at] < from + in.rows; at++)
            miss_row[in.misses++] = t.miss_row[at] - from;
        if (cf_coherence_run(c, &in, t.class + from) != 0)
            return -1;
    }
    return 0;
}

static int check(const struct naive_coherence *m, const struct cf_coherence *c, const uint8_t *want,
                 unsigned rows)
{
    int bad = memcmp(&m->counts, cf_coherence_counts(c), sizeof(m->counts)) != 0;

    for (unsigned i = 0; i < rows; i++)
        if (t.class[i] != want[i] && !bad++ && !bad_traces)
            note("row %u: class %u, expected %u", i, t.class[i], want[i]);
    return bad;
}

static void compare(const struct cf_coherence_geometry *g, unsigned how, unsigned rows, int special)
{
    static struct naive_coherence m;
    static uint8_t want[MOST];
    struct cf_coherence_geometry outside = *g;
    struct cf_coherence *c = cf_coherence_new(g), *d;
    int bad, plain = next() % 4 == 0;

    outside.outside = 1;
    d = cf_coherence_new(&outside);
    if (!c || !d)
        exit(1);
    memset(&m, 0, sizeof(m));
    m.g = *g;
    m.bytes = malloc((size_t)NAIVE_LINES * g->cores << g->line_shift);
    make(g, how, rows, special);
    if (plain) {
        memset(t.core, 0, sizeof(t.core));
        memset(t.space, 0, sizeof(t.space));
    }
    memset(t.missed, 0, sizeof(t.missed));
    m.miss.line = t.miss_line;
    m.miss.row = t.miss_row;
    m.miss.missed = t.missed;
    for (m.row = 0; m.row < rows; m.row++) {
        unsigned i = m.row;

        want[i] = (uint8_t)naive_access(&m, t.core[i], t.op[i], t.addr[i], t.size[i], t.space[i]);
        classes[want[i]]++;
    }
    t.misses = m.miss.count;
    bad = run(c, rows, plain) != 0 || check(&m, c, want, rows);
    bad |= run_outside(d, rows) != 0 || check(&m, d, want, rows);
    if (bad && !bad_traces)
        note("%u cores, %u sets, %u ways, lines of %u, no allocate %d, make %u, %u rows%s, cpu %s",
             g->cores, g->sets, g->ways, 1u << g->line_shift, g->no_allocate, how, rows,
             special ? ", special" : "", getenv("CF_CPU"));
    bad_traces += bad != 0;
    traces++;
    free(m.bytes);
    cf_coherence_free(c);
    cf_coherence_free(d);
}

/* What the classes mean, by hand. */
static void by_hand(void)
{
    struct cf_coherence_geometry g = {.cores = 2, .sets = 1, .ways = 2, .line_shift = 6};
    struct cf_coherence *c = cf_coherence_new(&g);
    static const struct {
        uint64_t addr;
        uint8_t core, op, want;
    } row[] = {
        {0x00, 0, CF_LOAD, CF_CLASS_COMPULSORY},   {0x00, 1, CF_LOAD, CF_CLASS_COMPULSORY},
        {0x04, 1, CF_STORE, CF_CLASS_NONE},        {0x00, 0, CF_LOAD, CF_CLASS_FALSE_SHARING},
        {0x08, 1, CF_STORE, CF_CLASS_NONE},        {0x04, 1, CF_STORE, CF_CLASS_NONE},
        {0x08, 0, CF_LOAD, CF_CLASS_TRUE_SHARING}, {0x04, 0, CF_LOAD, CF_CLASS_NONE},
        {0x40, 0, CF_LOAD, CF_CLASS_COMPULSORY},   {0x80, 0, CF_LOAD, CF_CLASS_COMPULSORY},
        {0x00, 0, CF_LOAD, CF_CLASS_CAPACITY},     {0x04, 1, CF_LOAD, CF_CLASS_NONE},
        {0x00, 0, CF_FLUSH, CF_CLASS_NONE},        {0x04, 1, CF_LOAD, CF_CLASS_CAPACITY},
        {0x00, 0, CF_IFETCH, CF_CLASS_NONE},
    };
    int bad = 0;

    need(c != NULL, "two cores");
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        static const uint32_t size = 4;
        static const uint64_t space = 0;
        struct cf_coherence_rows in = {.rows = 1,
                                       .addr = &row[i].addr,
                                       .op = &row[i].op,
                                       .size = &size,
                                       .core = &row[i].core,
                                       .space = &space};
        uint8_t class = CF_CLASS_NONE;

        bad |= cf_coherence_run(c, &in, &class) != 0;
        if (class != row[i].want)
            note("row %zu: class %u, expected %u", i, class, row[i].want);
        bad |= class != row[i].want;
    }
    ok(!bad, "every class once, by hand");
    cf_coherence_free(c);
}

/* Caches elsewhere may lose a line between two references that follow each other, as to an
   inclusive level behind them. */
static void lost_elsewhere(void)
{
    struct cf_coherence_geometry g = {
        .cores = 2, .sets = 4, .ways = 2, .line_shift = 6, .outside = 1};
    struct cf_coherence *c = cf_coherence_new(&g);
    static const uint64_t addr[] = {0, 4, 8, 60}, space[4];
    static const uint32_t size[] = {4, 4, 4, 8}, row[] = {0, 2, 3};
    static const uint64_t lines[] = {0, 0, 1};
    static const uint8_t op[] = {CF_LOAD, CF_LOAD, CF_LOAD, CF_LOAD}, core[4];
    static const uint8_t missed[] = {1, 0, 1, 1};
    const struct cf_coherence_rows in = {4, addr, op, size, core, space, missed, row, lines, 3};
    uint8_t class[4] = {0};

    need(c != NULL, "caches elsewhere");
    ok(cf_coherence_run(c, &in, class) == 0 && class[0] == CF_CLASS_COMPULSORY && !class[1] &&
           class[2] == CF_CLASS_CONFLICT && class[3] == CF_CLASS_COMPULSORY,
       "a line that is lost between two references to it is a miss, and one of two lines too");
    cf_coherence_free(c);
}

/* An access of 4 GiB - 1 and the last byte of the address space. */
static void huge(void)
{
    struct cf_coherence_geometry g = {.cores = 3, .sets = 2, .ways = 1, .line_shift = 16};
    struct cf_coherence *c = cf_coherence_new(&g);
    static const uint64_t addr[] = {0x8000, UINT64_MAX - 5}, space[2];
    static const uint32_t size[] = {UINT32_MAX, UINT32_MAX};
    static const uint8_t op[] = {CF_STORE, CF_LOAD}, core[] = {2, 0};
    const struct cf_coherence_rows in = {
        .rows = 2, .addr = addr, .op = op, .size = size, .core = core, .space = space};
    uint8_t class[2] = {0};

    need(c != NULL, "three cores");
    ok(cf_coherence_run(c, &in, class) == 0 && class[0] == CF_CLASS_COMPULSORY &&
           class[1] == CF_CLASS_COMPULSORY,
       "an access of 4 GiB, and one past the end of the address space");
    is_u64(cf_coherence_counts(c)->references[CF_STORE], 65537, "its lines are counted");
    is_u64(cf_coherence_counts(c)->references[CF_LOAD], 1, "the other has one line");
    cf_coherence_free(c);
}

static void geometries(void)
{
    static const struct cf_coherence_geometry bad[] = {
        {.cores = 0, .sets = 1, .ways = 1, .line_shift = 6},
        {.cores = 33, .sets = 1, .ways = 1, .line_shift = 6},
        {.cores = 1, .sets = 0, .ways = 1, .line_shift = 6},
        {.cores = 1, .sets = 1, .ways = 0, .line_shift = 6},
        {.cores = 1, .sets = 1, .ways = 1, .line_shift = 1},
        {.cores = 1, .sets = 1, .ways = 1, .line_shift = 17},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        ok(!cf_coherence_new(&bad[i]), "geometry %zu is refused", i);
}

/* Two cores on many more lines and references than the model could take, so that arrays grow and
   times begin anew: the code for each processor against the plainest. */
static void many(unsigned cpus)
{
    enum { ROWS = 60000, ROUNDS = 24 };
    static uint64_t addr[ROWS], space[ROWS];
    static uint32_t size[ROWS];
    static uint8_t op[ROWS], core[ROWS], class[2][ROWS];
    unsigned bad = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned turn = 1 + next() % (round % 2 ? 3 : 300), flushes = round % 3 == 0;
        const uint64_t range = (uint64_t)64 << next() % 17;
        struct cf_coherence_geometry g = {
            .cores = 2, .sets = 1u << next() % 8, .ways = 1 + next() % 8, .line_shift = 6};
        struct cf_coherence *c[2];

        take_cpu(CF_CPU_NONE);
        c[0] = cf_coherence_new(&g);
        take_cpu(round % cpus);
        c[1] = cf_coherence_new(&g);
        if (!c[0] || !c[1])
            exit(1);
        for (unsigned i = 0; i < ROWS; i++) {
            addr[i] = round % 4 == 1 ? i * 24 % range : next() % (next() % 4 ? range / 8 : range);
            op[i] = (uint8_t)(next() % 3 ? CF_LOAD : CF_STORE);
            if (flushes && next() % 512 == 0)
                op[i] = CF_FLUSH;
            size[i] = next() % 64 ? 8 : next() % 200;
            core[i] = (uint8_t)(i / turn % 2);
        }
        memset(class, CF_CLASS_NONE, sizeof(class));
        for (unsigned from = 0, rows; from < ROWS; from += rows) {
            rows = 1 + next() % (next() % 2 ? 100 : 16384);
            rows = rows < ROWS - from ? rows : ROWS - from;
            for (unsigned k = 0; k < 2; k++) {
                const struct cf_coherence_rows in = {.rows = rows,
                                                     .addr = addr + from,
                                                     .op = op + from,
                                                     .size = size + from,
                                                     .core = core + from,
                                                     .space = space + from};

                bad += cf_coherence_run(c[k], &in, class[k] + from) != 0;
            }
        }
        bad += memcmp(class[0], class[1], ROWS) != 0 ||
               memcmp(cf_coherence_counts(c[0]), cf_coherence_counts(c[1]),
                      sizeof(struct cf_class_counts)) != 0;
        cf_coherence_free(c[0]);
        cf_coherence_free(c[1]);
    }
    ok(!bad, "%u longer traces of two cores, by the code for each processor", ROUNDS);
}

int main(void)
{
    static const unsigned cores[] = {2, 1, 3, 4, 2, 5, 8, 32};
    static const unsigned ways[] = {1, 2, 8, 3, 4, 8, 16, 8};
    static const unsigned shift[] = {6, 5, 6, 7, 8, 2, 4, 9, 6, 12};

    const unsigned cpus = best_cpu() + 1;

    by_hand();
    huge();
    lost_elsewhere();
    geometries();
    many(cpus);
    for (unsigned i = 0; i < 3000; i++) {
        struct cf_coherence_geometry g = {
            .cores = cores[next() % 8],
            .sets = next() % 2 ? 1u << next() % 4 : 1 + next() % 7,
            .ways = ways[next() % 8],
            .line_shift = shift[next() % 10],
            .no_allocate = next() % 4 == 0,
            .fetches = next() % 2,
        };

        take_cpu(next() % cpus);
        compare(&g, i % 8, i % 20 ? 1 + next() % 400 : MOST, next() % 3 == 0);
    }
    ok(bad_traces == 0, "%u traces equal the model, row by row and in sum", traces);
    for (unsigned k = 0; k < CF_CLASSES_MODELLED; k++)
        ok(classes[k] > 10000, "in which class '%s' is frequent", cf_class_name(k));
    return done();
}
