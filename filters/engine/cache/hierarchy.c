/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hierarchy made from a machine description, and what was counted.
 *
 * What the model does is defined in hierarchy_serial_simd.c; hierarchy_pipe.c does the same level
 * by level for simple machines, which is faster; hierarchy_rows.c takes the rows and chooses.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy_parts.h"
#include "formats/stream/cf.h"

/* Cache lines of all caches together: 2^28 take up to 4 GiB of memory. */
#define MOST_LINES (UINT64_C(1) << 28)

static int CF_PRINTF(3, 4) refuse(char *problem, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(problem, size, format, args);
    va_end(args);
    errno = EINVAL;
    return -1;
}

static int no_memory(char *problem, size_t size, const struct cf_level *l)
{
    refuse(problem, size, "%s%sout of memory", l ? l->name : "", l ? ": " : "");
    errno = ENOMEM;
    return -1;
}

static int serves(const struct cf_level *l, unsigned kind)
{
    return l->kind == CF_UNIFIED ||
           l->kind == (kind == KIND_FETCH ? CF_INSTRUCTION_CACHE : CF_DATA_CACHE);
}

/* Sets the next level of each level, for each kind of access. */
static int connect(struct cf_hierarchy *h, char *problem, size_t size)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        int inner = MEMORY;

        h->first[kind] = MEMORY;
        for (unsigned i = 0; i < h->levels; i++) {
            struct tier *t = &h->tier[i], *before;

            t->next[kind] = MEMORY;
            if (!serves(&t->spec, kind))
                continue;
            for (unsigned j = 0; j < i; j++)
                t->before |= (uint32_t)serves(&h->tier[j].spec, kind) << j;
            if (inner == MEMORY) {
                h->first[kind] = (int)i;
                inner = (int)i;
                continue;
            }
            before = &h->tier[inner];
            before->next[kind] = (int)i;
            if (t->spec.depth <= before->spec.depth)
                return refuse(problem, size, "%s: is not deeper than %s before it: correct depth",
                              t->spec.name, before->spec.name);
            if (t->shift < before->shift)
                return refuse(problem, size,
                              "%s: its lines of %u bytes are shorter than those of %s before it "
                              "(%u), which is not modelled: correct line_size",
                              t->spec.name, 1u << t->shift, before->spec.name, 1u << before->shift);
            for (unsigned c = 0; c < h->cores; c++)
                if (c / t->shared != c / before->shared * before->shared / t->shared)
                    return refuse(problem, size,
                                  "%s is shared by %u and %s behind it by %u: CPUs that share the "
                                  "first must share the second: correct shared_by",
                                  before->spec.name, before->spec.shared_by, t->spec.name,
                                  t->spec.shared_by);
            inner = (int)i;
        }
    }
    return 0;
}

/* What levels must be that hold what others do, or what others do not. */
static int check_inclusion(struct cf_hierarchy *h, char *problem, size_t size)
{
    for (unsigned i = 0; i < h->levels; i++) {
        struct tier *t = &h->tier[i];

        t->data = serves(&t->spec, KIND_DATA);
        t->onward = t->next[t->data ? KIND_DATA : KIND_FETCH];
        t->inclusive = t->before && t->spec.inclusion == CF_INCLUSIVE;
        t->exclusive = t->before && t->spec.inclusion == CF_EXCLUSIVE;
        for (unsigned j = 0; t->exclusive && j < i; j++)
            if ((t->before >> j & 1) && h->tier[j].shift != t->shift)
                return refuse(problem, size,
                              "%s: exclusive, with lines of another size than %s before it: "
                              "correct line_size or inclusion",
                              t->spec.name, h->tier[j].spec.name);
        for (unsigned j = 0; t->inclusive && t->spec.kind != CF_UNIFIED && j < i; j++)
            if ((t->before >> j & 1) && h->tier[j].spec.kind == CF_UNIFIED)
                return refuse(problem, size,
                              "%s: inclusive, but %s before it is unified and holds what it never "
                              "sees: correct kind or inclusion",
                              t->spec.name, h->tier[j].spec.name);
        if (t->exclusive && !t->spec.write_back)
            return refuse(problem, size,
                          "%s: exclusive and write-through, but it gets dirty lines from the "
                          "levels before it: correct write or inclusion",
                          t->spec.name);
        for (unsigned kind = 0; t->exclusive && kind < KINDS; kind++)
            if (h->first[kind] == (int)i)
                return refuse(problem, size,
                              "%s: exclusive, but the first level for %s, which no level before "
                              "it could keep: describe that level, or correct inclusion",
                              t->spec.name, kind == KIND_FETCH ? "instructions" : "data");
    }
    return 0;
}

/* See struct tier. Only what is a first level for all that comes to it, and whose policy does not
   care for a second touch right after the first. */
static int make_recent(struct tier *t)
{
    const uint32_t groups = t->spec.sets & -t->spec.sets;

    if (t->before || cf_policy_traits(t->spec.policy) & CF_POLICY_REPEATS)
        return 0;
    t->groups = groups < MOST_GROUPS ? groups : MOST_GROUPS;
    t->recent = malloc((size_t)t->caches * t->groups * sizeof *t->recent);
    return t->recent ? 0 : -1;
}

static int make_caches(struct cf_hierarchy *h, const struct cf_hierarchy_options *o, unsigned i,
                       char *problem, size_t size)
{
    struct tier *t = &h->tier[i];
    struct cf_cache_geometry g = {.sets = t->spec.sets,
                                  .ways = t->spec.ways,
                                  .policy = t->spec.policy,
                                  .options = (t->spec.write_back ? 0 : CF_CACHE_WRITE_THROUGH) |
                                             (t->spec.write_allocate ? 0 : CF_CACHE_NO_ALLOCATE)};
    const int by_core = cf_policy_traits(t->spec.policy) & CF_POLICY_BY_CORE;
    int masks = by_core || (o->placed >> i & 1);

    if (h->chunk && t->before) { /* what stands behind is not this hierarchy's */
        t->caches = 0;
        return 0;
    }

    for (unsigned k = 0; k < o->mask_count; k++)
        masks |= o->masks[k].level == i;
    if (masks)
        g.options |= CF_CACHE_PHYSICAL;
    if (by_core && t->spec.ways > 64)
        return refuse(problem, size, "%s: %s is for caches of at most 64 ways, it has %u",
                      t->spec.name, cf_policy_name(t->spec.policy), t->spec.ways);
    t->cache = calloc(t->caches, sizeof *t->cache);
    t->ways = malloc(h->cores * sizeof *t->ways);
    if (!t->cache || !t->ways)
        return no_memory(problem, size, NULL);
    for (unsigned c = 0; c < t->caches; c++) {
        /* every cache draws numbers of its own */
        g.seed = o->seed ^ ((uint64_t)i << 32 | c) * 0xd1342543de82ef95u;
        t->cache[c] = cf_cache_new(&g);
        if (!t->cache[c])
            return no_memory(problem, size, &t->spec);
    }
    for (unsigned c = 0; c < h->cores; c++)
        t->ways[c] = by_core ? cf_cache_master(t->cache[0], c) : CF_CACHE_ALL_WAYS;
    if (o->prefetch[i] == CF_PREFETCH_NONE)
        return make_recent(t) == 0 ? 0 : no_memory(problem, size, NULL);
    if (t->exclusive)
        return refuse(problem, size, "%s: a prefetcher at an exclusive level is not modelled",
                      t->spec.name);
    h->ahead = 1;
    t->prefetcher = calloc(t->caches, sizeof *t->prefetcher);
    if (!t->prefetcher)
        return no_memory(problem, size, NULL);
    for (unsigned c = 0; c < t->caches; c++) {
        t->prefetcher[c] =
            cfh_prefetcher_new(o->prefetch[i], t->shift, (uint64_t)t->spec.sets * t->spec.ways);
        if (!t->prefetcher[c])
            return no_memory(problem, size, NULL);
    }
    return 0;
}

static int make_tiers(struct cf_hierarchy *h, const struct cf_machine *m,
                      const struct cf_hierarchy_options *o, char *problem, size_t size)
{
    uint64_t lines = 0;

    for (unsigned i = 0; i < h->levels; i++) {
        struct tier *t = &h->tier[i];

        t->spec = m->level[i];
        if (t->spec.line < 4 || t->spec.line > 65536 || (t->spec.line & (t->spec.line - 1)) ||
            !t->spec.sets || !t->spec.ways || t->spec.ways > CF_MAX_WAYS)
            return refuse(problem, size, "%s: geometry out of bounds", t->spec.name);
        t->shift = (unsigned)__builtin_ctz(t->spec.line);
        t->shared = t->spec.shared_by && t->spec.shared_by < h->cores ? t->spec.shared_by
                    : t->spec.shared_by                               ? h->cores
                                                                      : 1;
        t->caches = (h->cores + t->shared - 1) / t->shared;
        lines += (uint64_t)t->spec.sets * t->spec.ways * t->caches;
        if (lines > MOST_LINES)
            return refuse(problem, size,
                          "%s: the caches have over 2^28 lines together, which is too large to "
                          "model: take fewer cores or smaller caches",
                          t->spec.name);
        h->may_share |= serves(&t->spec, KIND_DATA) && t->caches > 1;
    }
    if (connect(h, problem, size) != 0 || check_inclusion(h, problem, size) != 0)
        return -1;
    for (unsigned i = 0; i < h->levels; i++)
        if (make_caches(h, o, i, problem, size) != 0)
            return -1;
    for (unsigned k = 0; k < o->mask_count; k++) {
        const struct cf_way_mask *w = &o->masks[k];
        struct tier *t = &h->tier[w->level];

        if (w->level >= h->levels || w->core >= h->cores)
            return refuse(problem, size, "a mask for core %u: there are %u cores", w->core,
                          h->cores);
        if (t->spec.ways > 64)
            return refuse(problem, size, "%s: masks are for caches of at most 64 ways, it has %u",
                          t->spec.name, t->spec.ways);
        if (!w->ways || (t->spec.ways < 64 && w->ways >> t->spec.ways))
            return refuse(problem, size, "%s has %u ways, a mask of 0x%llx does not fit",
                          t->spec.name, t->spec.ways, (unsigned long long)w->ways);
        if (cf_policy_traits(t->spec.policy) & CF_POLICY_BY_CORE)
            return refuse(problem, size, "%s: %s gives each core its way; no mask fits",
                          t->spec.name, cf_policy_name(t->spec.policy));
        t->ways[w->core] = w->ways;
    }
    return 0;
}

int cfh_is_simple(const struct cf_hierarchy *h)
{
    if (h->two_runs || h->levels == 0 || (h->first[KIND_DATA] != h->first[KIND_FETCH] && !h->split))
        return 0;
    for (unsigned i = 0; i < h->levels; i++) {
        const struct tier *t = &h->tier[i];

        if (t->inclusive || t->exclusive || t->prefetcher)
            return 0;
        if (t->spec.kind == CF_UNIFIED && t->next[KIND_DATA] != t->next[KIND_FETCH])
            return 0;
    }
    return 1;
}

static int make_runs(struct cf_hierarchy *h)
{
    const struct tier *first[KINDS];
    unsigned options = CF_RUNS_ALL, shift[KINDS] = {0};
    int split = h->first[KIND_DATA] != h->first[KIND_FETCH];

    for (unsigned kind = 0; kind < KINDS; kind++) {
        first[kind] = h->first[kind] == MEMORY ? NULL : &h->tier[h->first[kind]];
        shift[kind] = first[kind] ? first[kind]->shift : 0;
        h->first_depth[kind] = (uint8_t)depth_of(h, h->first[kind]);
    }
    /* what goes straight to memory is counted in lines all the same */
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (!shift[kind])
            shift[kind] = shift[!kind] ? shift[!kind] : 6;
    /* a first level must lose no line to accesses of the other kind */
    for (unsigned kind = 0; kind < KINDS; kind++)
        split &= !first[kind] || first[kind]->spec.kind != CF_UNIFIED;
    for (unsigned i = 0; i < h->levels; i++)
        split &= !h->tier[i].inclusive;
    if (first[KIND_DATA] &&
        (!first[KIND_DATA]->spec.write_back || !first[KIND_DATA]->spec.write_allocate))
        options |= CF_RUNS_STORES;
    if (split)
        options |= CF_RUNS_SPLIT;
    h->split = split;
    h->two_runs = shift[0] != shift[1];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        h->runs[kind] =
            kind && !h->two_runs ? h->runs[0] : cf_runs_new(shift[kind], options, BATCH);
        if (!h->runs[kind])
            return -1;
    }
    return 0;
}

static int make_apart(struct cf_hierarchy *h)
{
    const unsigned stores = h->runs[0]->options & CF_RUNS_STORES;

    h->apart = malloc(sizeof *h->apart);
    if (!h->apart)
        return -1;
    memset(h->apart->op[KIND_FETCH], CF_LOAD, BATCH);
    for (unsigned kind = 0; kind < KINDS; kind++)
        h->apart->runs[kind] =
            cf_runs_new(h->runs[0]->shift, CF_RUNS_DATA | (kind == KIND_DATA ? stores : 0), BATCH);
    h->apart->both = cf_runs_new(h->runs[0]->shift, CF_RUNS_ALL, KINDS * BATCH);
    return h->apart->runs[KIND_DATA] && h->apart->runs[KIND_FETCH] && h->apart->both ? 0 : -1;
}

struct cf_hierarchy *cf_hierarchy_new(const struct cf_machine *m,
                                      const struct cf_hierarchy_options *o, char *problem,
                                      size_t size)
{
    return cfh_new(m, o, NULL, problem, size);
}

struct cf_hierarchy *cfh_new(const struct cf_machine *m, const struct cf_hierarchy_options *o,
                             struct cf_chunk *chunk, char *problem, size_t size)
{
    struct cf_hierarchy *h = calloc(1, sizeof *h);
    int bad;

    if (!h) {
        no_memory(problem, size, NULL);
        return NULL;
    }
    h->cores = o->cores ? o->cores : 1;
    h->levels = m->levels;
    h->forget = 1;
    h->chunk = chunk;
    h->serial = CF_SIMD_CHOICE(cfh_serial);
    h->serial_rows = CF_SIMD_CHOICE(cfh_serial_rows);
    if (h->cores > CF_MAX_CORES || h->levels > CF_MAX_LEVELS) {
        h->levels = 0;
        bad = refuse(problem, size, "at most %d cores and %d levels", CF_MAX_CORES, CF_MAX_LEVELS);
    } else {
        bad = make_tiers(h, m, o, problem, size);
    }
    if (!bad && make_runs(h) != 0)
        bad = no_memory(problem, size, NULL);
    if (!bad) {
        h->pipeline = (chunk || cf_cpu() != CF_CPU_NONE) && cfh_is_simple(h);
        if (h->pipeline && h->split && make_apart(h) != 0)
            bad = no_memory(problem, size, NULL);
    }
    if (bad) {
        cf_hierarchy_free(h);
        return NULL;
    }
    return h;
}

void cf_hierarchy_free(struct cf_hierarchy *h)
{
    if (!h)
        return;
    for (unsigned i = 0; i < h->levels; i++) {
        struct tier *t = &h->tier[i];

        for (unsigned c = 0; c < t->caches; c++) {
            if (t->cache)
                cf_cache_free(t->cache[c]);
            if (t->prefetcher)
                cfh_prefetcher_free(t->prefetcher[c]);
        }
        free(t->cache);
        free(t->prefetcher);
        free(t->ways);
        free(t->recent);
        free(t->watch);
        free(t->miss);
        free(t->victim);
        cf_cache_list_free(&h->in[i]);
    }
    cf_cache_list_free(&h->out);
    cf_cache_list_free(&h->merged);
    for (unsigned kind = 0; h->apart && kind < KINDS; kind++)
        cf_runs_free(h->apart->runs[kind]);
    if (h->apart)
        cf_runs_free(h->apart->both);
    free(h->apart);
    cfh_free_stretches(h->stretches);
    if (h->runs[1] != h->runs[0])
        cf_runs_free(h->runs[1]);
    cf_runs_free(h->runs[0]);
    free(h);
}

/* ---- results ---- */

void cf_hierarchy_count(const struct cf_hierarchy *h, unsigned level,
                        struct cf_hierarchy_counts *counts)
{
    const struct tier *t = &h->tier[level];

    *counts = t->n;
    counts->loads = t->arrived[CLASS_LOAD];
    counts->stores = t->arrived[CLASS_STORE];
    counts->ifetches = t->arrived[CLASS_FETCH];
    counts->prefetches = t->arrived[CLASS_PREFETCH];
    counts->load_misses = t->missed[CLASS_LOAD];
    counts->store_misses = t->missed[CLASS_STORE];
    counts->ifetch_misses = t->missed[CLASS_FETCH];
    counts->prefetch_misses = t->missed[CLASS_PREFETCH];
}

void cf_hierarchy_memory(const struct cf_hierarchy *h, struct cf_hierarchy_counts *counts)
{
    *counts = (struct cf_hierarchy_counts){.loads = h->memory[CLASS_LOAD],
                                           .stores = h->memory[CLASS_STORE],
                                           .ifetches = h->memory[CLASS_FETCH],
                                           .prefetches = h->memory[CLASS_PREFETCH],
                                           .writes = h->memory_writes};
    /* without a data cache stores are counted where they arrive */
    if (h->first[KIND_DATA] == MEMORY) {
        counts->writes += counts->stores;
        counts->stores = 0;
    }
}

void cfh_watch_flush(struct tier *t)
{
    struct watch *w = t->watch;

    if (w->refs.count)
        w->f(w->arg, &w->refs);
    w->refs.count = w->refs.misses = 0;
}

int cf_hierarchy_watch(struct cf_hierarchy *h, unsigned level, cf_hierarchy_watcher f, void *arg,
                       int misses)
{
    struct tier *t = &h->tier[level];

    t->sees_hits = f && !misses;
    if (!f) {
        free(t->watch);
        t->watch = NULL;
        return 0;
    }
    if (!t->watch && !(t->watch = malloc(sizeof *t->watch)))
        return -1;
    h->watched = 1;
    t->watch->f = f;
    t->watch->arg = arg;
    t->watch->only_misses = misses;
    t->watch->refs = (struct cf_hierarchy_refs){.line = t->watch->line,
                                                .row = t->watch->row,
                                                .flags = t->watch->flags,
                                                .miss = t->watch->miss};
    return 0;
}

/* ---- contents: for snapshots, and as a shutter in flush mode empties the caches ---- */

unsigned cf_hierarchy_caches(const struct cf_hierarchy *h, unsigned level)
{
    return h->tier[level].caches;
}

uint64_t cf_hierarchy_line(const struct cf_hierarchy *h, unsigned level, unsigned cache,
                           uint32_t set, uint32_t way)
{
    return cf_cache_line(h->tier[level].cache[cache], set, way);
}

static void empty(struct cf_hierarchy *h, struct tier *t, unsigned k)
{
    struct cf_cache *c = t->cache[k];

    for (uint32_t set = 0; set < t->spec.sets; set++)
        /* from the last way on, since in the order of age lines move up */
        for (uint32_t way = t->spec.ways; way-- > 0;) {
            uint64_t line = cf_cache_line(c, set, way);

            if (line == CF_CACHE_NONE)
                continue;
            if (cf_cache_remove(c, line & ~CF_CACHE_DIRTY) == CF_CACHE_MODIFIED) {
                t->n.writebacks++;
                h->memory_writes++;
            }
            if (t->prefetcher)
                cfh_prefetcher_lost(t->prefetcher[k], line & ~CF_CACHE_DIRTY);
        }
}

void cf_hierarchy_empty(struct cf_hierarchy *h)
{
    for (unsigned i = 0; i < h->levels; i++)
        for (unsigned k = 0; k < h->tier[i].caches; k++)
            empty(h, &h->tier[i], k);
    h->forget = 1; /* what was touched last is gone */
}
