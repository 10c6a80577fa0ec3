/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Costs of accesses: see latency.h. Everything that a key (level, operation) determines is put into
 * one entry beforehand: the cycles that depend on nothing, and the levels whose last operation
 * matters, of which it says which add to the cost and which only note that the access came by.
 */
#include <stdlib.h>

#include "filters/engine/cache/latency.h"

/* For rows without operations. */
#define FOUR  CF_LOAD, CF_LOAD, CF_LOAD, CF_LOAD
#define LOADS FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR

enum { SLOTS = CF_MAX_LEVELS + 1 };

struct entry {
    uint32_t fixed; /* cycles */
    uint32_t comes; /* levels with a dependence to which the access comes, by bit */
    uint32_t costs; /* those of them that are part of its cost */
    uint8_t lack;   /* enum cf_latency_lack */
    int8_t level;   /* see cf_latencies_level() */
};

struct cf_latencies {
    uint32_t plain[CF_LATENCY_KEYS]; /* entry[].fixed again, close together */
    struct entry entry[CF_LATENCY_KEYS];
    uint32_t cycles[SLOTS][CF_LATENCY_KINDS][CF_LATENCY_OPS];
    uint32_t shared_by[SLOTS];
    uint8_t *last[SLOTS]; /* of each cache of the level, the operation of its last access, or 0 */
    int depend;
};

/* The levels of a path from the core outwards, and memory behind them. */
struct path {
    unsigned count; /* with memory */
    uint32_t level[SLOTS];
    uint32_t depth[SLOTS];
};

static void find_path(const struct cf_machine *m, int instructions, struct path *p)
{
    p->count = 0;
    for (uint32_t i = 0; i < m->levels; i++) {
        const struct cf_level *l = &m->level[i];

        if (l->kind == (instructions ? CF_DATA_CACHE : CF_INSTRUCTION_CACHE))
            continue;
        p->level[p->count] = i;
        p->depth[p->count++] = l->depth;
    }
    p->level[p->count] = m->levels;
    p->depth[p->count++] = CF_FROM_MEMORY;
}

/* How far on its path an access comes that position `served` has served. */
static unsigned reach(const struct cf_machine *m, const struct path *p, unsigned served,
                      unsigned op)
{
    if (op == CF_STORE)
        while (served + 1 < p->count && !m->level[p->level[served]].write_back)
            served++;
    return served;
}

static uint32_t add(uint32_t a, uint32_t b)
{
    uint32_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

static void fill_entry(const struct cf_machine *m, const struct path *p, unsigned served,
                       unsigned op, struct entry *e)
{
    unsigned end = reach(m, p, served, op);
    unsigned from = m->latency_rule == CF_LATENCY_ADDED ? 0 : served;

    *e = (struct entry){.level = (int8_t)p->level[served]};
    for (unsigned i = 0; i <= end; i++)
        if (cf_latency_has_previous(cf_machine_latency(m, p->level[i])))
            e->comes |= UINT32_C(1) << p->level[i];
    for (unsigned i = from; i <= served; i++) {
        uint32_t level = p->level[i];
        int64_t cycles = cf_latency_cycles(cf_machine_latency(m, level), op, 0);

        if (cycles < 0) {
            e->lack = CF_LACKS_LATENCY;
            e->level = (int8_t)level;
            e->fixed = e->costs = 0;
            return;
        }
        if (e->comes >> level & 1)
            e->costs |= UINT32_C(1) << level;
        else
            e->fixed = add(e->fixed, (uint32_t)cycles);
    }
}

struct cf_latencies *cf_latencies_new(const struct cf_machine *m)
{
    struct cf_latencies *l = calloc(1, sizeof(*l));
    struct path path[2];

    if (!l)
        return NULL;
    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++) {
        unsigned op = key & 7;
        int known =
            key >> 3 != 0 && key >> 3 != CF_FROM_BEYOND && op >= CF_LOAD && op < CF_LATENCY_OPS;

        l->entry[key] =
            (struct entry){.lack = known ? CF_LACKS_LEVEL : CF_LACKS_ORIGIN, .level = -1};
    }
    find_path(m, 0, &path[0]);
    find_path(m, 1, &path[1]);
    for (unsigned op = CF_LOAD; op < CF_LATENCY_OPS; op++) {
        const struct path *p = &path[op == CF_IFETCH];

        for (unsigned i = 0; i < p->count; i++)
            fill_entry(m, p, i, op, &l->entry[p->depth[i] << 3 | op]);
    }
    for (unsigned key = 0; key < CF_LATENCY_KEYS; key++)
        l->plain[key] = l->entry[key].fixed;
    for (uint32_t i = 0; i <= m->levels; i++) {
        const struct cf_latency *t = cf_machine_latency(m, i);

        if (!cf_latency_has_previous(t))
            continue;
        l->depend = 1;
        l->shared_by[i] = i == m->levels ? CF_MAX_CORES : m->level[i].shared_by;
        l->last[i] = calloc(CF_MAX_CORES, 1);
        if (!l->last[i]) {
            cf_latencies_free(l);
            return NULL;
        }
        for (unsigned op = CF_LOAD; op < CF_LATENCY_OPS; op++)
            for (unsigned previous = 0; previous < CF_LATENCY_OPS; previous++) {
                int64_t cycles = cf_latency_cycles(t, op, previous);

                l->cycles[i][op][previous] = cycles < 0 ? 0 : (uint32_t)cycles;
            }
    }
    return l;
}

void cf_latencies_free(struct cf_latencies *l)
{
    if (!l)
        return;
    for (unsigned i = 0; i < SLOTS; i++)
        free(l->last[i]);
    free(l);
}

int cf_latencies_depend(const struct cf_latencies *l)
{
    return l->depend;
}

static uint32_t depending(struct cf_latencies *l, const struct entry *e, unsigned op, unsigned core)
{
    uint32_t cost = e->fixed;

    for (uint32_t left = e->comes; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint8_t *last = &l->last[i][core / l->shared_by[i]];

        if (e->costs >> i & 1)
            cost = add(cost, l->cycles[i][op][*last]);
        *last = (uint8_t)op;
    }
    return cost;
}

static void plain_rows(const uint32_t *plain, const uint8_t *level, const uint8_t *op,
                       uint32_t rows, uint32_t *cost, uint8_t *seen)
{
    for (uint32_t i = 0; i < rows; i++) {
        unsigned key = cf_latency_key(level[i], op[i]);

        seen[key] = 1;
        cost[i] = plain[key];
    }
}

static void depending_rows(struct cf_latencies *l, const uint8_t *level, const uint8_t *op,
                           const uint8_t *core, uint32_t rows, uint32_t *cost, uint8_t *seen)
{
    for (uint32_t i = 0; i < rows; i++) {
        unsigned key = cf_latency_key(level[i], op[i]);
        const struct entry *e = &l->entry[key];

        seen[key] = 1;
        cost[i] = e->comes ? depending(l, e, key & 7, core ? core[i] : 0) : e->fixed;
    }
}

void cf_latencies_rows(struct cf_latencies *l, const uint8_t *level, const uint8_t *op,
                       const uint8_t *core, uint32_t rows, uint32_t *cost,
                       uint8_t seen[CF_LATENCY_KEYS])
{
    static const uint8_t loads[32] = {LOADS};

    if (op && l->depend) {
        depending_rows(l, level, op, core, rows, cost, seen);
    } else if (op) {
        plain_rows(l->plain, level, op, rows, cost, seen);
    } else {
        for (uint32_t i = 0, n; i < rows; i += n) {
            n = rows - i < sizeof(loads) ? rows - i : (uint32_t)sizeof(loads);
            cf_latencies_rows(l, level + i, loads, core ? core + i : NULL, n, cost + i, seen);
        }
    }
}

enum cf_latency_lack cf_latencies_lack(const struct cf_latencies *l, unsigned key)
{
    return (enum cf_latency_lack)l->entry[key].lack;
}

int cf_latencies_level(const struct cf_latencies *l, unsigned key)
{
    return l->entry[key].level;
}
