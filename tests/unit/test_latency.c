/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_latency.c - costs of random accesses on random machines against a model that looks every
 * number up anew: caches as a list, each with the name of its last operation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/latency.h"
#include "tests/unit/tap.h"

enum { ROWS = 300, CORES = 8 };

static uint64_t seed = 7;

static uint32_t next(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* ---- the model ---- */

struct model {
    const struct cf_machine *m;
    int last[CF_MAX_LEVELS + 1][CORES]; /* by level and core */
};

static int serves(const struct cf_machine *m, unsigned level, unsigned op)
{
    enum cf_kind kind;

    if (level == m->levels)
        return 1;
    kind = m->level[level].kind;
    return kind == CF_UNIFIED ||
           (op == CF_IFETCH ? kind == CF_INSTRUCTION_CACHE : kind == CF_DATA_CACHE);
}

/* A cost, or -1 where nobody can tell. */
static int64_t model_cost(struct model *o, unsigned hit, unsigned op, unsigned core)
{
    const struct cf_machine *m = o->m;
    int served = -1, come = 1, unknown = 0;
    int64_t cost = 0;

    if (hit == 0 || op < 1 || op > 5)
        return -1;
    for (unsigned i = 0; i <= m->levels; i++)
        if (serves(m, i, op) && (i == m->levels ? 255 : m->level[i].depth) == hit)
            served = (int)i;
    if (served < 0)
        return -1;
    for (unsigned i = 0; i <= m->levels && come; i++) {
        const struct cf_latency *l = i == m->levels ? &m->memory : &m->level[i].latency;
        unsigned sharers = i == m->levels ? CORES : m->level[i].shared_by;
        int64_t cycles;

        if (!serves(m, i, op))
            continue;
        cycles = cf_latency_cycles(l, op, (unsigned)o->last[i][core / sharers]);
        if ((int)i == served || ((int)i < served && m->latency_rule == CF_LATENCY_ADDED)) {
            if (cf_latency_cycles(l, op, 0) < 0)
                unknown = 1;
            else
                cost += cycles;
        }
        o->last[i][core / sharers] = (int)op;
        if ((int)i >= served)
            come = op == CF_STORE && i < m->levels && !m->level[i].write_back;
    }
    return unknown ? -1 : cost > UINT32_MAX ? UINT32_MAX : cost;
}

static void random_latency(struct cf_latency *l, unsigned style)
{
    for (unsigned op = CF_LOAD; op < CF_LATENCY_OPS; op++)
        for (unsigned previous = 0; previous < CF_LATENCY_OPS; previous++) {
            if (next(style == 2 ? 3 : 40) != 0 && !(style < 2 && previous == 0))
                continue;
            if (previous && style == 0)
                continue;
            l->stated |= UINT64_C(1) << (op * CF_LATENCY_OPS + previous);
            l->cycles[op][previous] = next(4) ? next(200) : CF_MAX_LATENCY;
        }
}

static void random_machine(struct cf_machine *m)
{
    unsigned depth = 0, style = next(3);

    memset(m, 0, sizeof *m);
    m->cpus = CORES;
    m->levels = next(CF_MAX_LEVELS) + 1;
    m->latency_rule = next(2) ? CF_LATENCY_ADDED : CF_LATENCY_TOTAL;
    for (unsigned i = 0; i < m->levels; i++) {
        struct cf_level *l = &m->level[i];

        l->kind = i + 1 < m->levels ? (enum cf_kind)next(3) : CF_UNIFIED;
        /* instructions and data may stand side by side */
        if (i == 0 || l->kind == CF_UNIFIED || m->level[i - 1].kind == CF_UNIFIED ||
            m->level[i - 1].kind == l->kind || (i > 1 && m->level[i - 2].depth == depth))
            depth++;
        l->depth = depth;
        l->shared_by = 1u << next(4);
        l->write_back = next(3) != 0;
        random_latency(&l->latency, style);
    }
    random_latency(&m->memory, style);
}

static void against_the_model(void)
{
    unsigned long wrong = 0, lacking = 0, depending = 0, unseen = 0, saturated = 0, keys = 0;

    for (unsigned round = 0; round < 4000; round++) {
        static uint8_t level[ROWS], op[ROWS], core[ROWS], seen[CF_LATENCY_KEYS],
            want_seen[CF_LATENCY_KEYS];
        static uint32_t cost[ROWS];
        struct cf_machine m;
        struct cf_latencies *l;
        struct model o = {.m = &m};
        int with_op = next(8) != 0, with_core = next(8) != 0;

        random_machine(&m);
        l = cf_latencies_new(&m);
        if (!l)
            abort();
        depending += (unsigned)cf_latencies_depend(l);
        memset(seen, 0, sizeof seen);
        memset(want_seen, 0, sizeof want_seen);
        for (unsigned i = 0; i < ROWS; i++) {
            level[i] = next(20) == 0 ? (uint8_t)next(256)
                       : next(3)     ? (uint8_t)m.level[next(m.levels)].depth
                                     : 255;
            op[i] = (uint8_t)(next(40) ? 1 + next(5) : next(256));
            core[i] = (uint8_t)next(CORES);
            want_seen[cf_latency_key(level[i], with_op ? op[i] : CF_LOAD)] = 1;
        }
        /* in pieces of any length */
        for (unsigned from = 0; from < ROWS;) {
            unsigned n = 1 + next(ROWS - from);

            cf_latencies_rows(l, level + from, with_op ? op + from : NULL,
                              with_core ? core + from : NULL, n, cost + from, seen);
            from += n;
        }
        for (unsigned i = 0; i < ROWS; i++) {
            unsigned kind = with_op ? op[i] : CF_LOAD;
            int64_t want = model_cost(&o, level[i], kind, with_core ? core[i] : 0);
            unsigned key = cf_latency_key(level[i], kind);

            wrong += cost[i] != (want < 0 ? 0 : (uint32_t)want);
            wrong += (cf_latencies_lack(l, key) != CF_LACKS_NOTHING) != (want < 0);
            lacking += want < 0;
            saturated += want == UINT32_MAX;
        }
        unseen += memcmp(seen, want_seen, sizeof seen) != 0;
        for (unsigned key = 0; key < CF_LATENCY_KEYS; key++) {
            int at = cf_latencies_level(l, key);

            if (cf_latencies_lack(l, key) == CF_LACKS_NOTHING)
                wrong += at < 0 || (at == (int)m.levels ? 255 : m.level[at].depth) != key >> 3;
            keys++;
        }
        cf_latencies_free(l);
    }
    is_u64(wrong, 0, "every cost is the model's");
    is_u64(unseen, 0, "the keys of the rows are told");
    ok(lacking > 10000 && depending > 1000 && saturated > 1000 && keys > 0,
       "%lu rows without a cost, %lu machines with a dependence, %lu saturated costs", lacking,
       depending, saturated);
}

static void state(struct cf_latency *l, unsigned op, unsigned previous, uint32_t cycles)
{
    l->stated |= UINT64_C(1) << (op * CF_LATENCY_OPS + previous);
    l->cycles[op][previous] = cycles;
}

/* A small LEON4: first level written through and private, second shared; every store comes to it.
 */
static void by_hand(void)
{
    struct cf_machine m = {.cpus = 2, .levels = 2};
    static const uint8_t level[] = {1, 2, 1, 2, 2, 255, 2, 1, 2};
    static const uint8_t op[] = {CF_LOAD, CF_LOAD,   CF_STORE, CF_LOAD, CF_STORE,
                                 CF_LOAD, CF_IFETCH, CF_LOAD,  CF_LOAD};
    static const uint8_t core[] = {0, 0, 1, 0, 1, 0, 0, 0, 1};
    static const uint32_t total[] = {0, 20, 1, 25, 10, 100, 30, 0, 20};
    static const uint32_t added[] = {0, 20, 1, 25, 11, 125, 30, 0, 20};
    uint8_t seen[CF_LATENCY_KEYS] = {0};
    uint32_t cost[9];
    struct cf_latencies *l;

    m.level[0] = (struct cf_level){.name = "L1", .kind = CF_DATA_CACHE, .depth = 1, .shared_by = 1};
    m.level[1] = (struct cf_level){.name = "L2", .depth = 2, .shared_by = 2, .write_back = 1};
    state(&m.level[0].latency, CF_LOAD, 0, 0);
    state(&m.level[0].latency, CF_STORE, 0, 1);
    state(&m.level[1].latency, CF_LOAD, 0, 20);
    state(&m.level[1].latency, CF_LOAD, CF_STORE, 25);
    state(&m.level[1].latency, CF_STORE, 0, 10);
    state(&m.level[1].latency, CF_IFETCH, 0, 30);
    state(&m.memory, CF_LOAD, 0, 100);
    l = cf_latencies_new(&m);
    need(l != NULL, "memory");
    ok(cf_latencies_depend(l), "a load after a store differs");
    cf_latencies_rows(l, level, op, core, 9, cost, seen);
    ok(memcmp(cost, total, sizeof cost) == 0, "a small LEON4, by hand");
    ok(seen[1 << 3 | CF_LOAD] && seen[255 << 3 | CF_LOAD] && !seen[255 << 3 | CF_STORE],
       "what was seen");
    ok(cf_latencies_lack(l, 255 << 3 | CF_STORE) == CF_LACKS_LATENCY &&
           cf_latencies_level(l, 255 << 3 | CF_STORE) == 2,
       "a store to memory is not stated");
    ok(cf_latencies_lack(l, 3 << 3 | CF_LOAD) == CF_LACKS_LEVEL &&
           cf_latencies_level(l, 3 << 3 | CF_LOAD) == -1,
       "there is no third level");
    ok(cf_latencies_lack(l, 1 << 3 | CF_IFETCH) == CF_LACKS_LEVEL,
       "nor one for instructions in front");
    ok(cf_latencies_lack(l, CF_LOAD) == CF_LACKS_ORIGIN &&
           cf_latencies_lack(l, cf_latency_key(1, 0)) == CF_LACKS_ORIGIN &&
           cf_latencies_lack(l, cf_latency_key(1, 255)) == CF_LACKS_ORIGIN,
       "an unknown level, an unknown operation");
    cf_latencies_free(l);

    m.latency_rule = CF_LATENCY_ADDED;
    l = cf_latencies_new(&m);
    need(l != NULL, "memory");
    cf_latencies_rows(l, level, op, core, 9, cost, seen);
    /* the load from memory passes the second level after a store */
    ok(memcmp(cost, added, sizeof cost) == 0, "the same, added up");
    cf_latencies_free(l);
    cf_latencies_free(NULL);
}

int main(void)
{
    by_hand();
    against_the_model();
    return done();
}
