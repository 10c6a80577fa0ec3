/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_probe_policy.c [FIRST [MACHINES]] - the replacement policy of the first level of the random
 * machines of test_probe: measured by capture/probe/policy.c, by misses and by time, judged by
 * sequences.c, and a matrix of what was taken for what.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/probe/probe.h"
#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/replacement/sequences.h"
#include "probe_machine.h"
#include "tap.h"

enum {
    BUFFER = 40 << 20,
    REPEATS = 3,
    SETS = 4,
    ROWS = SETS * REPEATS * CF_SEQUENCES,
    NOBODY = CF_POLICY_COUNT
};

static struct cf_predictions *predicted[CF_SEQUENCE_WAYS + 1];

static struct {
    struct cf_sequence_row row[ROWS];
    size_t count;
    unsigned bad; /* rows that are none of a sequence */
} rows;

static struct cf_sequences_verdict judge(uint32_t ways)
{
    struct cf_sequences_set each[SETS];
    size_t sets;

    if (!predicted[ways])
        predicted[ways] = cf_predictions_new(ways);
    if (!predicted[ways])
        need(0, "predictions for %u ways", ways);
    return cf_sequences_judge(predicted[ways], rows.row, rows.count, 1, 0.95, each, SETS, &sets);
}

struct model {
    struct cf_machine m;
    struct cf_hierarchy *h;
    uint32_t ticks[PROBE_LEVELS + 1];
    int by_time;
    uint64_t visited[2 * CF_SEQUENCE_LONGEST]; /* since forget() */
    uint32_t count;
    uint8_t hit[2 * CF_SEQUENCE_LONGEST];
};

static int forget(void *self)
{
    static uint8_t op[2 * CF_SEQUENCE_LONGEST];
    struct model *k = self;

    memset(op, CF_FLUSH, sizeof op);
    if (cf_hierarchy_run(k->h, k->visited, op, NULL, 0, k->count, 0, 0, k->hit) != 0)
        return -1;
    k->count = 0;
    return 0;
}

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct model *k = self;

    if (k->count + v->count > 2 * CF_SEQUENCE_LONGEST ||
        cf_hierarchy_run(k->h, v->offset, NULL, NULL, 0, v->count, 0, 0, k->hit) != 0)
        return -1;
    memcpy(k->visited + k->count, v->offset, v->count * sizeof *v->offset);
    k->count += v->count;
    for (uint32_t i = 0; i < v->count; i++) {
        const uint32_t ticks = k->ticks[k->hit[i] == CF_FROM_MEMORY ? k->m.levels : k->hit[i] - 1u];

        m->misses += k->hit[i] > v->level;
        m->time += ticks;
        if (v->each)
            v->each[i] = ticks;
    }
    m->accesses = v->count;
    m->has_misses = !k->by_time;
    if (k->by_time)
        m->misses = 0;
    return 0;
}

static void take(void *arg, const struct probe_row *r)
{
    const struct model *k = arg;

    rows.bad += strcmp(r->experiment, "policy") != 0 || r->level != 1 || !r->m.has_misses ||
                r->m.accesses != cf_sequence_length(k->m.level[0].ways) ||
                r->parameter % CF_SEQUENCE_SET >= CF_SEQUENCES || rows.count == ROWS;
    if (rows.count < ROWS)
        rows.row[rows.count++] = (struct cf_sequence_row){
            (uint32_t)(r->parameter / CF_SEQUENCE_SET), (uint32_t)(r->parameter % CF_SEQUENCE_SET),
            (uint32_t)r->m.misses};
}

static struct cf_sequences_verdict measure(struct model *k, int by_time)
{
    const struct cf_level *l = &k->m.level[0];
    struct cf_bench bench = {.self = k, .forget = forget, .run = run, .size = BUFFER};
    struct probe p = {.bench = &bench, .seed = 1, .by_time = by_time, .row = take, .arg = k};
    struct cf_hierarchy_options o = {.cores = 1, .seed = 1};
    uint64_t before[CF_SEQUENCE_LONGEST];
    char problem[256] = "";

    k->by_time = by_time;
    k->h = cf_hierarchy_new(&k->m, &o, problem, sizeof problem);
    if (!k->h)
        need(0, "a model: %s", problem);
    p.level[0] = (struct probe_level){l->size, l->line, l->size / l->ways, l->size, k->ticks[0]};
    p.levels = 1;
    for (uint32_t i = 0; i < CF_SEQUENCE_LONGEST; i++)
        before[i] = next((uint32_t)(2 * l->size));
    k->count = 0;
    rows.count = 0;
    if (cf_hierarchy_run(k->h, before, NULL, NULL, 0, CF_SEQUENCE_LONGEST, 0, 0, k->hit) != 0 ||
        probe_policy(&p, SETS, REPEATS, 0) != 0)
        need(0, "measured");
    probe_free(&p);
    cf_hierarchy_free(k->h);
    rows.bad += rows.count != (l->sets < SETS ? l->sets : SETS) * CF_SEQUENCES * REPEATS;
    return judge(l->ways);
}

static void print_matrix(unsigned count[CF_POLICY_COUNT + 1][CF_POLICY_COUNT + 1])
{
    char line[256];

    note("is          told: lru fifo random tree-plru bit-plru nru srrip, none");
    for (unsigned is = 0; is < CF_MASTER_INDEX; is++) {
        int at = snprintf(line, sizeof line, "%-11s", cf_policy_name((enum cf_replacement)is));

        for (unsigned as = 0; as <= NOBODY; as++)
            if (as != CF_MASTER_INDEX)
                at += snprintf(line + at, sizeof line - (size_t)at, " %5u", count[is][as]);
        note("%s", line);
    }
}

static void machines(uint32_t first, uint32_t count, int by_time)
{
    static unsigned matrix[CF_POLICY_COUNT + 1][CF_POLICY_COUNT + 1];
    static struct model k;
    unsigned wrong = 0;

    memset(matrix, 0, sizeof matrix);
    for (uint32_t i = first; i < first + count; i++) {
        struct cf_sequences_verdict v;
        unsigned is, as = NOBODY;

        make_machine(i, &k.m, k.ticks);
        is = k.m.level[0].policy;
        v = measure(&k, by_time);
        if (v.state == CF_SEQUENCES_NAMED)
            as = v.policies >> is & 1 ? is : (unsigned)__builtin_ctz(v.policies);
        matrix[is][as]++;
        wrong += as != is;
        /* two ways or one have several names, more have not */
        wrong += as == is && k.m.level[0].ways > 2 && v.policies != 1u << is;
        if (as != is)
            note("machine %u, %u ways, %s, %llu bytes, line %u: state %d, policies %x, %g", i,
                 k.m.level[0].ways, cf_policy_name(k.m.level[0].policy),
                 (unsigned long long)k.m.level[0].size, k.m.level[0].line, v.state, v.policies,
                 v.confidence);
    }
    print_matrix(matrix);
    is_u64(wrong, 0, "%u machines by %s: the policy of each", count, by_time ? "time" : "misses");
    is_u64(rows.bad, 0, "each row is one of a sequence, and none is missing");
}

int main(int argc, char **argv)
{
    const uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0,
                   count = argc > 2 ? (uint32_t)atoi(argv[2]) : MACHINES;

    for (int by_time = 0; by_time < 2; by_time++)
        machines(first, count, by_time);
    for (uint32_t ways = 0; ways <= CF_SEQUENCE_WAYS; ways++)
        cf_predictions_free(predicted[ways]);
    return done();
}
