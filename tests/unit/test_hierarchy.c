/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hierarchy against a naive one (naive_hierarchy.h), row by row and count by count, on random
 * machines and traces; the pipeline against the serial model, vector code against portable code,
 * what a watcher is told against the counts. Prefetchers are test_hierarchy_prefetch.c's.
 */
#include <stdio.h>

#include "filters/engine/cache/hierarchy.h"
#include "naive_hierarchy.h"
#include "cpus.h"
#include "machine_text.h"
#include "hierarchy_rows.h"
#include "random_machine.h"
#include "tap.h"

#ifdef CF_SANITIZED /* is after wrong code, of which there is the same in fewer machines */
enum { FRAMES = 2, MACHINES = 3000, MACHINES_LONG = 20000 };
#else
enum { FRAMES = 2, MACHINES = 4000, MACHINES_LONG = 100000 };
#endif

static unsigned shortest_line(const struct cf_machine *m, int fetch)
{
    unsigned line[2] = {0, 0};

    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned i = 0; i < m->levels && !line[kind]; i++)
            if (m->level[i].kind == CF_UNIFIED ||
                m->level[i].kind == (kind ? CF_INSTRUCTION_CACHE : CF_DATA_CACHE))
                line[kind] = m->level[i].line;
    for (unsigned kind = 0; kind < 2; kind++)
        if (!line[kind])
            line[kind] = line[!kind];
    if (fetch < 0)
        return line[0] < line[1] ? line[0] : line[1];
    return line[fetch];
}

static int against_naive(const struct set *s, enum ops ops)
{
    char problem[256] = "";
    struct cf_hierarchy *h = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    struct cf_hierarchy_counts got;
    struct naive *n;
    static uint8_t hit[ROWS];
    unsigned wrong = 0;

    if (!h)
        return -1;
    n = naive_new(&s->m, &s->o);
    n->unit = shortest_line(&s->m, -1);
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        make_rows(s->o.cores, ops);
        wrong += cf_hierarchy_rows(h, addr, op, size, ROWS, core, space, hit) != 0;
        for (uint32_t i = 0; i < ROWS && wrong < 3; i++) {
            unsigned want;

            n->core = core[i];
            n->space = space[i];
            want = naive_row(n, addr[i], op[i], size[i], shortest_line(&s->m, op[i] == CF_IFETCH));
            if (want != hit[i]) {
                wrong++;
                note("frame %u row %u: %u, expected %u: core %u op %u addr 0x%llx size %u", frame,
                     i, hit[i], want, core[i], op[i], (unsigned long long)addr[i], size[i]);
            }
        }
    }
    for (unsigned i = 0; i < s->m.levels && wrong < 3; i++) {
        cf_hierarchy_count(h, i, &got);
        if (!same_counts(&got, &n->level[i].n)) {
            wrong++;
            note("level %u", i);
            print_counts("got ", &got);
            print_counts("want", &n->level[i].n);
        }
    }
    cf_hierarchy_memory(h, &got);
    if (wrong < 3 && (got.writes != n->memory_writes ||
                      got.loads + got.stores + got.ifetches + got.prefetches != n->memory_reads)) {
        wrong++;
        note("memory: writes %llu, expected %llu; reads %llu, expected %llu",
             (unsigned long long)got.writes, (unsigned long long)n->memory_writes,
             (unsigned long long)(got.loads + got.stores + got.ifetches + got.prefetches),
             (unsigned long long)n->memory_reads);
    }
    naive_free(n);
    cf_hierarchy_free(h);
    if (wrong)
        tell(s);
    return wrong == 0;
}

/* What watchers are told, as a checksum, and what they must add up to. */
struct told {
    int only_misses;
    uint64_t sum, refs, reads, read_misses, writes, write_misses;
};

static void listen(void *arg, const struct cf_hierarchy_refs *r)
{
    struct told *t = arg;

    for (uint32_t i = 0, k = 0; i < r->count; i++) {
        const int write = (r->flags[i] & CF_REF_WRITE) != 0;
        const int missed = k < r->misses && r->miss[k] == i;

        k += (uint32_t)missed;
        if (t->only_misses && !missed)
            continue; /* may be left out */
        t->sum = (t->sum ^ r->line[i]) * 0x9e3779b97f4a7c15u;
        t->sum = (t->sum ^ r->row[i] ^ (uint64_t)r->cache << 32 ^ (uint64_t)r->flags[i] << 40 ^
                  (uint64_t)missed << 48) *
                 0xd1342543de82ef95u;
        t->refs++;
        if (r->flags[i] & CF_RUN_FLUSH)
            continue;
        t->reads += !write;
        t->read_misses += !write && missed;
        t->writes += write;
        t->write_misses += write && missed;
    }
}

/* What one level of both counted, and what was said of its references. */
static unsigned different_level(struct cf_hierarchy *const *h, unsigned i, const struct told *one,
                                const struct told *other, int misses)
{
    struct cf_hierarchy_counts a, b;
    unsigned wrong = 0;

    cf_hierarchy_count(h[0], i, &a);
    cf_hierarchy_count(h[1], i, &b);
    if (!same_counts(&a, &b)) {
        wrong++;
        note("level %u", i);
        print_counts("one  ", &a);
        print_counts("other", &b);
    }
    if (memcmp(one, other, sizeof *one) != 0) {
        wrong++;
        note("level %u: watchers are told %llu and %llu", i, (unsigned long long)one->refs,
             (unsigned long long)other->refs);
    }
    if (one->read_misses != a.load_misses + a.store_misses + a.ifetch_misses + a.prefetch_misses ||
        (!misses && one->writes != a.writes) || one->write_misses != a.write_misses) {
        wrong++;
        note("level %u: the counts are not what the watcher saw", i);
    }
    return wrong;
}

/* The code of a processor and the definition. */
static int against_each_other(const struct set *s, enum ops ops, unsigned cpu)
{
    struct cf_hierarchy *h[2];
    static struct told told[2][CF_MAX_LEVELS];
    static uint8_t hit[2][ROWS];
    unsigned wrong = 0;
    const int misses = next(2) == 0;
    struct cf_hierarchy_counts a, b;
    char problem[256];

    memset(told, 0, sizeof told);
    take_cpu(cpu);
    h[0] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    take_cpu(CF_CPU_NONE);
    h[1] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    if (!h[0] || !h[1]) {
        cf_hierarchy_free(h[0]);
        cf_hierarchy_free(h[1]);
        return -1;
    }
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < s->m.levels; i++)
            told[k][i].only_misses = misses,
            wrong += cf_hierarchy_watch(h[k], i, listen, &told[k][i], misses) != 0;
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        make_rows(s->o.cores, ops);
        for (unsigned k = 0; k < 2; k++)
            wrong += cf_hierarchy_rows(h[k], addr, op, size, ROWS, core, space, hit[k]) != 0;
        if (memcmp(hit[0], hit[1], ROWS) != 0 && !wrong++)
            for (uint32_t i = 0; i < ROWS; i++)
                if (hit[0][i] != hit[1][i]) {
                    note("row %u: %u and %u", i, hit[0][i], hit[1][i]);
                    break;
                }
    }
    for (unsigned i = 0; i < s->m.levels; i++)
        wrong += different_level(h, i, &told[0][i], &told[1][i], misses);
    cf_hierarchy_memory(h[0], &a);
    cf_hierarchy_memory(h[1], &b);
    wrong += !same_counts(&a, &b);
    cf_hierarchy_free(h[0]);
    cf_hierarchy_free(h[1]);
    if (wrong)
        tell(s);
    return wrong == 0;
}

/* The rows in one call, which makes batches of them, against calls of a few rows each. Straddling:
   each has some lines of the first level, so that a batch may well end between them. */
static int however_cut(const struct set *s, enum ops ops, int straddling)
{
    enum { FRAME = 10000 };
    static uint64_t addrs[FRAME];
    static uint8_t opsv[FRAME], hit[2][FRAME];
    static uint32_t sizes[FRAME];
    struct cf_hierarchy *h[2];
    struct cf_hierarchy_counts a, b;
    unsigned wrong = 0;
    char problem[256];

    h[0] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    h[1] = cf_hierarchy_new(&s->m, &s->o, problem, sizeof problem);
    if (!h[0] || !h[1]) {
        cf_hierarchy_free(h[0]);
        cf_hierarchy_free(h[1]);
        return -1;
    }
    for (uint32_t i = 0; i < FRAME; i++) {
        if (i % ROWS == 0)
            make_rows(1, ops);
        addrs[i] = straddling ? next(2 * FRAME) * 2 + 1 : addr[i % ROWS];
        opsv[i] = op[i % ROWS];
        sizes[i] = straddling ? s->m.level[0].line * (1 + next(3)) : size[i % ROWS];
    }
    wrong += cf_hierarchy_run(h[0], addrs, opsv, sizes, 0, FRAME, 0, 0, hit[0]) != 0;
    for (uint32_t from = 0, end; from < FRAME; from = end) {
        end = from + 1 + next(next(4) ? 20 : 400);
        end = end < FRAME ? end : FRAME;
        wrong += cf_hierarchy_run(h[1], addrs, opsv, sizes, from, end, 0, 0, hit[1]) != 0;
    }
    for (uint32_t i = 0; i < FRAME && !wrong; i++)
        if (hit[0][i] != hit[1][i]) {
            wrong++;
            note("row %u: %u at once, %u in pieces", i, hit[0][i], hit[1][i]);
        }
    for (unsigned i = 0; i < s->m.levels; i++) {
        cf_hierarchy_count(h[0], i, &a);
        cf_hierarchy_count(h[1], i, &b);
        wrong += !same_counts(&a, &b);
    }
    cf_hierarchy_memory(h[0], &a);
    cf_hierarchy_memory(h[1], &b);
    wrong += !same_counts(&a, &b);
    cf_hierarchy_free(h[0]);
    cf_hierarchy_free(h[1]);
    if (wrong)
        tell(s);
    return wrong == 0;
}

static void cuts(void)
{
    static const enum style styles[] = {ANY, SIMPLE, POLICIES, PLAIN, LEAN};
    static struct set s;
    unsigned done = 0, bad = 0;

    for (unsigned i = 0; i < 600 && bad < 3; i++) {
        int result;

        make_machine(&s, styles[i % 5]);
        take_cpu(CF_CPU_BASE + next(best_cpu()));
        for (unsigned k = 0; k < s.m.levels; k++)
            if (next(20) == 0 && s.m.level[k].inclusion != CF_EXCLUSIVE)
                s.o.prefetch[k] = (enum cf_prefetcher)next(3);
        result = however_cut(&s, (enum ops)next(FETCH_OPS + 1), i / 5 % 2);
        done += result >= 0;
        bad += result == 0;
    }
    is_u64(bad, 0, "the same however the rows are cut into calls (%u machines)", done);
}

static void random_machines(void)
{
    static struct set s;
    enum { WAYS = 7 };
    const unsigned best = best_cpu();
    const unsigned machines = thorough() ? MACHINES_LONG : MACHINES;
    unsigned done[WAYS] = {0}, bad[WAYS] = {0};

    for (unsigned i = 0; i < machines; i++) {
        unsigned way = i % WAYS;
        const unsigned cpu = CF_CPU_BASE + next(best);
        int result;

        take_cpu(cpu);
        make_machine(&s, way == 1   ? SIMPLE
                         : way == 2 ? POLICIES
                         : way == 4 ? PLAIN
                         : way == 5 ? LEAN
                         : way == 6 ? SEVERAL
                                    : ANY);
        result = way == 6               ? against_naive(&s, FETCH_OPS)
                 : way == 4 || way == 5 ? against_naive(&s, next(4) ? PREFETCH_OPS : MANY_OPS)
                 : way == 0             ? against_naive(&s, next(2) ? MANY_OPS : DATA_OPS)
                 : way == 1             ? against_naive(&s, next(2) ? MANY_OPS : DATA_OPS)
                            : against_each_other(&s, next(2) ? MANY_OPS : DATA_OPS, cpu);
        done[way] += result >= 0;
        if (result == 0 && ++bad[way] > 2)
            break;
    }
    for (unsigned way = 0; way < WAYS; way++) {
        static const char *const name[] = {
            "any machine, several cores: as the naive model",
            "the pipeline: as the naive model",
            "the pipeline: as the serial model, all policies",
            "any machine: as the serial model",
            "inclusive and coherent machines in vectors: as the naive model",
            "LRU levels in vectors: as the naive model",
            "kinds taken apart and merged, several cores: as the naive model"};

        is_u64(bad[way], 0, "%s (%u machines)", name[way], done[way]);
        ok(done[way] > machines / 10, "enough of them");
    }
}

int main(void)
{
    random_machines();
    cuts();
    return done();
}
