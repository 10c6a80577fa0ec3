/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.c - machines over the whole schema of cf-machine(5), and accesses that collide in them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

static uint64_t state;

/* xorshift* (Vigna, 2016) */
static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned below(unsigned n)
{
    return (unsigned)((next() >> 32) * n >> 32);
}

static int percent(unsigned n)
{
    return below(100) < n;
}

/* ---- machines ---- */

/* `plain`: as most machines are, for which the programs have code of their own. */
static void random_level(struct machine *m, int i, int plain)
{
    static const unsigned many_ways[] = {12, 16, 32, 64, 65, 96, 128};
    static const unsigned few_sets[] = {1, 1, 2, 2, 4, 4, 8, 16, 3, 5, 6, 7, 12, 64};
    struct level *l = &m->level[i];

    l->ways = percent(92) ? 1 + below(8) : many_ways[below(7)];
    l->sets = few_sets[below(14)];
    if (plain)
        return;
    l->policy = percent(45) ? CF_LRU : (enum cf_replacement)below(CF_POLICY_COUNT);
    while (l->policy == CF_TREE_PLRU && l->ways & (l->ways - 1))
        l->ways &= l->ways - 1;
    while (l->policy == CF_MASTER_INDEX && l->ways > 64)
        l->ways /= 2;
    l->through = percent(15);
    l->no_allocate = percent(20);
    l->inclusion = percent(55) ? NON_INCLUSIVE : percent(50) ? INCLUSIVE : EXCLUSIVE;
    l->prefetcher = percent(12) ? (enum prefetcher)(1 + below(2)) : NO_PREFETCHER;
    if (l->ways > 64 || l->policy == CF_MASTER_INDEX || percent(92))
        return;
    for (unsigned c = 0; c < m->cores; c++)
        if (percent(70)) {
            const uint64_t all = UINT64_MAX >> (64 - l->ways);

            l->mask[c] = next() & all;
            l->mask[c] = l->mask[c] ? l->mask[c] : all;
        }
}

/* What fits to the levels before: lines at least as long, caches shared by multiples. */
static void fit_level(struct machine *m, int i)
{
    struct level *l = &m->level[i];

    l->line = i ? m->level[0].line : 4u << (percent(50) ? 4 : below(6));
    l->shared_by = 1;
    l->depth = 1;
    for (int k = 0; k < i; k++) {
        const struct level *b = &m->level[k];

        if (!(l->kind == UNIFIED || b->kind == UNIFIED || l->kind == b->kind))
            continue;
        if (l->line < b->line)
            l->line = b->line;
        if (l->shared_by < b->shared_by)
            l->shared_by = b->shared_by;
        if (l->depth <= b->depth)
            l->depth = b->depth + 1;
    }
    if (percent(20))
        l->line <<= 1 + below(2);
    if (percent(50))
        l->shared_by *= percent(60) ? 2 : 1 + below(4);
    if (percent(20))
        l->shared_by = m->cores;
    if (percent(5))
        l->depth += 1 + below(3);
}

static void random_kinds(struct machine *m)
{
    const unsigned shape = below(100);

    m->levels = 1 + below(4);
    for (unsigned i = 0; i < m->levels; i++)
        m->level[i].kind = shape < 30 ? UNIFIED : shape < 40 ? DATA : (enum kind)below(3);
    if (shape >= 40 && shape < 85) {
        m->levels = 2 + below(3);
        m->level[0].kind = shape < 70 ? INSTRUCTION : DATA;
        m->level[1].kind = shape < 70 ? DATA : INSTRUCTION;
        for (unsigned i = 2; i < m->levels; i++)
            m->level[i].kind = percent(90) ? UNIFIED : DATA;
    }
}

static void random_machine(struct machine *m)
{
    const int plain = percent(20);

    do {
        memset(m, 0, sizeof(*m));
        m->cores = percent(40) ? 1 : percent(60) ? 2 : 1 + below(8);
        m->seed = percent(50) ? 1 : next() >> below(64);
        random_kinds(m);
        for (int i = 0; i < (int)m->levels; i++) {
            random_level(m, i, plain);
            fit_level(m, i);
        }
        if (percent(20))
            m->level[below(m->levels)].latency = 1;
    } while (not_modelled(m));
}

/* What cf-classify(1) refuses: exclusive levels, and private data caches that have a level before
   them. */
static int may_classify(const struct machine *m, int level)
{
    const struct level *l = &m->level[level];

    return l->inclusion != EXCLUSIVE &&
           (l->kind == INSTRUCTION || caches_of(m, level) == 1 ||
            (level == first_level(m, 0) && (l->kind == DATA || level == first_level(m, 1))));
}

/* The level, -1 for the default, or -2 for none. */
static int random_classify_level(const struct machine *m)
{
    const int level = (int)below(m->levels), data = first_level(m, 0), fetch = first_level(m, 1);

    if (percent(40) && may_classify(m, level))
        return level;
    if ((data == MEMORY || may_classify(m, data)) && (fetch == MEMORY || may_classify(m, fetch)))
        return -1;
    return may_classify(m, level) ? level : -2;
}

void print_machine(FILE *out, const struct machine *m)
{
    static const char *const kinds[] = {"unified", "data", "instruction"};
    static const char *const inclusions[] = {"non-inclusive", "inclusive", "exclusive"};
    unsigned cpus = m->cores;
    int latency = 0;

    for (unsigned i = 0; i < m->levels; i++)
        if (cpus < m->level[i].shared_by)
            cpus = m->level[i].shared_by;
    fprintf(out, "cpus: %u\nline_size: %u\nlevels:\n", cpus, m->level[0].line);
    for (unsigned i = 0; i < m->levels; i++) {
        const struct level *l = &m->level[i];

        fprintf(out, "  - {name: L%u, kind: %s, size: %u, ways: %u, line_size: %u, shared_by: %u",
                i, kinds[l->kind], l->sets * l->ways * l->line, l->ways, l->line, l->shared_by);
        fprintf(out, ", policy: %s", cf_policy_name(l->policy));
        if (l->through)
            fprintf(out, ", write: through");
        if (l->no_allocate)
            fprintf(out, ", allocate: false");
        if (l->inclusion)
            fprintf(out, ", inclusion: %s", inclusions[l->inclusion]);
        fprintf(out, ", depth: %u}\n", l->depth);
        latency |= l->latency;
    }
    for (unsigned i = 0; latency && i < m->levels; i++)
        if (m->level[i].latency)
            fprintf(out, "latency: {L%u: 3}\n", i);
}

/* ---- accesses ---- */

/* How a stream is. */
struct style {
    uint64_t base, span;         /* addresses are in [base, base + span) */
    unsigned repeat, walk, near; /* percent of: the address before again, its successor, close by */
    unsigned store, fetch, prefetch, flush;
    unsigned turn; /* rows that a core has at a time, about */
    unsigned cores, processes, threads;
    unsigned sizes; /* 0: words, 1: up to 16 bytes, 2: also longer than lines */
    unsigned odd;   /* percent of operations that do not exist */
    unsigned cut;   /* rows in a frame, about */
};

static void random_style(struct style *s, const struct run *r)
{
    static const unsigned turns[] = {1, 2, 10, 100, 1000}, cuts[] = {1, 7, 100, 1000, 100000};
    const struct level *l = &r->machine.level[below(r->machine.levels)];

    memset(s, 0, sizeof(*s));
    s->span = (uint64_t)l->sets * l->ways * l->line * (1 + below(6)) / 2 + 64;
    s->base = percent(5) ? 0 - s->span : percent(5) ? 0 : (next() >> 20 & ~UINT64_C(0xfff));
    s->repeat = percent(50) ? below(50) : 0;
    s->walk = percent(50) ? below(60) : 0;
    s->near = percent(50) ? below(60) : 0;
    s->store = percent(90) ? below(60) : 0;
    s->fetch = percent(60) ? below(60) : 0;
    s->prefetch = percent(20) ? below(20) : 0;
    s->flush = percent(25) ? 1 + below(percent(50) ? 2 : 10) : 0;
    s->turn = turns[below(5)];
    s->cores = percent(30) ? 1 : 1 + below(2 * r->machine.cores);
    s->processes = percent(70) ? 1 : 1 + below(4);
    s->threads = 1 + below(4);
    s->sizes = below(3);
    s->odd = percent(10) ? below(20) : 0;
    s->cut = cuts[below(5)];
}

static uint8_t random_op(const struct style *s)
{
    if (percent(s->odd))
        return (uint8_t)(percent(50) ? 0 : 6 + below(250));
    if (percent(s->flush))
        return FLUSH;
    if (percent(s->prefetch))
        return PREFETCH;
    if (percent(s->fetch))
        return IFETCH;
    return percent(s->store) ? STORE : LOAD;
}

static uint32_t random_size(const struct style *s)
{
    if (s->sizes == 0)
        return 4;
    if (s->sizes == 2 && percent(3))
        return below(600);
    return below(17);
}

static void random_rows(struct run *r, const struct style *s)
{
    uint64_t addr = s->base, before = s->base;
    uint32_t cpu = 0, pid = 100, tid = 200;

    for (unsigned i = 0; i < r->stream.rows; i++) {
        struct row *row = &r->stream.row[i];

        if (!below(s->turn)) {
            cpu = below(s->cores);
            pid = 100 + below(s->processes);
            tid = pid * 10 + below(s->threads);
        }
        before = addr;
        if (percent(s->repeat))
            addr = before;
        else if (percent(s->walk))
            addr = before + 8;
        else if (percent(s->near))
            addr = before + below(256) - 128;
        else
            addr = s->base + next() % s->span;
        if (addr - s->base >= s->span)
            addr = s->base + next() % s->span;
        *row = (struct row){.addr = addr,
                            .phys = addr ^ 0x40,
                            .size = random_size(s),
                            .cpu = cpu,
                            .pid = pid,
                            .tid = tid,
                            .op = random_op(s),
                            .cut = !below(s->cut)};
        if (percent(10) && s->sizes) /* over the end of a line */
            row->addr = (row->addr | (r->machine.level[0].line - 1)) - below(4);
    }
}

void random_run(struct run *r, uint64_t seed)
{
    struct style style;

    state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        next();
    memset(r, 0, sizeof(*r));
    r->seed = seed;
    random_machine(&r->machine);
    r->classify_level = random_classify_level(&r->machine);
    random_style(&style, r);
    r->stream = (struct stream){.rows = percent(5) ? 8000 + below(20000) : 1 + below(1200),
                                .has_op = percent(95),
                                .has_size = percent(90),
                                .has_cpu = percent(80),
                                .has_pid = style.processes > 1 || percent(60),
                                .has_tid = percent(80),
                                .physical = percent(10)};
    r->stream.row = calloc(r->stream.rows, sizeof(*r->stream.row));
    if (!r->stream.row)
        abort();
    random_rows(r, &style);
}

void print_rows(FILE *out, const struct stream *s)
{
    static const char *const ops[] = {"0", "load", "store", "ifetch", "prefetch", "flush"};

    fprintf(out, "addr%s%s%s%s%s%s\n", s->physical ? ",phys" : "", s->has_op ? ",op" : "",
            s->has_size ? ",size" : "", s->has_cpu ? ",cpu" : "", s->has_pid ? ",pid" : "",
            s->has_tid ? ",tid" : "");
    for (unsigned i = 0; i < s->rows; i++) {
        const struct row *r = &s->row[i];

        fprintf(out, "0x%" PRIx64, r->addr);
        if (s->physical)
            fprintf(out, ",0x%" PRIx64, r->phys);
        if (s->has_op && r->op < OPS)
            fprintf(out, ",%s", ops[r->op]);
        else if (s->has_op)
            fprintf(out, ",%u", r->op);
        if (s->has_size)
            fprintf(out, ",%u", r->size);
        if (s->has_cpu)
            fprintf(out, ",%u", r->cpu);
        if (s->has_pid)
            fprintf(out, ",%u", r->pid);
        if (s->has_tid)
            fprintf(out, ",%u", r->tid);
        fprintf(out, "%s\n", r->cut ? "   (frame ends)" : "");
    }
}
