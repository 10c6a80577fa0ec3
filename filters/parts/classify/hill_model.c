/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hill_model.c - which levels of a machine rule hill models, and which of them it classifies.
 *
 * Levels after the one that is classified are left out where they cannot act on it. A watcher gets
 * the references that reach the level: where one core uses it, or all share it, and for
 * instructions, threec.h has the class; between private caches of several cores, coherence.h.
 *
 * Where the machine states latencies and the stream has no column hit, or with --hit, all levels
 * are modelled and the column is added as cf-cache does, for cf-latency.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/hierarchy_chunk.h"
#include "filters/parts/classify/hill.h"
#include "formats/base/cf_number.h"

static int serves(const struct cf_level *l, enum cf_kind kind)
{
    return l->kind == CF_UNIFIED || l->kind == kind;
}

/* The level at this depth that serves this kind, with 0 the one next to the core; -1 where there is
   none. */
static int level_at(const struct cf_machine *m, uint64_t depth, enum cf_kind kind)
{
    int found = -1;

    for (unsigned i = 0; i < m->levels; i++)
        if (serves(&m->level[i], kind) && (!depth || m->level[i].depth == depth) &&
            (found < 0 || m->level[i].depth < m->level[found].depth))
            found = (int)i;
    return found;
}

static uint32_t shortest_line(const struct cf_machine *m)
{
    uint32_t line = UINT32_MAX;

    for (unsigned i = 0; i < m->levels; i++)
        if (line > m->level[i].line)
            line = m->level[i].line;
    return line;
}

/* Whether a level deeper than that takes lines from the caches before it: where it is not
   non-inclusive, or where cores have one each with longer lines, all of which a store of another
   core takes. */
static int reaches_back(const struct hill *h, unsigned depth)
{
    const uint32_t shortest = shortest_line(h->m);

    for (unsigned i = 0; i < h->m->levels; i++) {
        const struct cf_level *l = &h->m->level[i];

        if (l->depth > depth && (l->inclusion != CF_NON_INCLUSIVE ||
                                 (l->shared_by < h->core_count && l->line > shortest)))
            return 1;
    }
    return 0;
}

/* Classifies its misses of data, of fetches or both. `alone`: no other level is classified, except
   an instruction cache. */
static void watch_level(struct hill *h, unsigned level, int data, int fetches, int alone)
{
    const struct cf_tool *t = h->c->tool;
    const struct cf_level *l = &h->m->level[level];
    struct watched *w = &h->watch[h->watches++];
    const uint64_t lines = (uint64_t)l->sets * l->ways;
    const int coherent = l->kind != CF_INSTRUCTION_CACHE;
    const unsigned nearest = level_at(h->m, 0, coherent ? CF_DATA_CACHE : CF_INSTRUCTION_CACHE);

    *w = (struct watched){.h = h,
                          .level = level,
                          .first = nearest == level,
                          .shared = l->shared_by,
                          .data = data,
                          .fetches = fetches,
                          .key_shift = (unsigned)__builtin_ctz(l->line / h->shortest)};
    memcpy(w->name, l->name, sizeof(w->name));
    for (unsigned i = 0; i < CF_MAX_CORES; i++)
        w->cache_of[i] = (uint8_t)(i / l->shared_by);
    w->caches = (h->core_count + l->shared_by - 1) / l->shared_by;
    if (l->inclusion == CF_EXCLUSIVE)
        cf_die(t, CF_EXIT_USAGE,
               "level %s is exclusive: rule hill compares caches that take in what they read",
               l->name);
    if (w->caches > 1 && coherent &&
        (level_at(h->m, 0, CF_DATA_CACHE) != (int)level ||
         (l->kind == CF_UNIFIED && level_at(h->m, 0, CF_INSTRUCTION_CACHE) != (int)level)))
        cf_die(t, CF_EXIT_USAGE,
               "level %s: several cores have one each, and after the first level sharing is not "
               "classified: take --cores 1, or a level that all share",
               l->name);
    if (w->caches > 1 && coherent) {
        struct cf_coherence_geometry g = {.cores = w->caches,
                                          .sets = l->sets,
                                          .ways = l->ways,
                                          .line_shift = (unsigned)__builtin_ctz(l->line),
                                          .no_allocate = !l->write_allocate,
                                          .fetches = l->kind == CF_UNIFIED,
                                          .outside = 1};

        w->own = alone && !h->all_levels && l->kind == CF_DATA_CACHE && l->policy == CF_LRU &&
                 !reaches_back(h, l->depth);
        g.outside = !w->own;
        h->own |= w->own;
        if (w->caches > CF_COHERENCE_CORES)
            cf_die(t, CF_EXIT_USAGE,
                   "level %s: sharing is classified between up to %d caches, not %u: "
                   "take fewer --cores",
                   l->name, CF_COHERENCE_CORES, w->caches);
        w->shares = cf_need(h->c->tool, cf_coherence_new(&g));
    } else {
        w->three = cf_need(h->c->tool, calloc(w->caches, sizeof(struct cf_threec *)));
        for (unsigned i = 0; i < w->caches; i++)
            w->three[i] = cf_need(h->c->tool, cf_threec_new(lines, !l->write_allocate));
    }
}

/* Levels after those that are classified go, if they do not reach back into caches before them. */
static void leave_out(struct hill *h, unsigned depth)
{
    struct cf_machine *m = h->m;

    if (!reaches_back(h, depth))
        while (m->levels && m->level[m->levels - 1].depth > depth)
            m->levels--;
}

/* Shortest line of the levels that accesses come to first. */
static uint32_t first_line(const struct cf_machine *m)
{
    const int data = level_at(m, 0, CF_DATA_CACHE), fetch = level_at(m, 0, CF_INSTRUCTION_CACHE);
    const uint32_t a = m->level[data < 0 ? fetch : data].line,
                   b = m->level[fetch < 0 ? data : fetch].line;

    return a < b ? a : b;
}

/* The hierarchy, with the levels that it needs to have. */
static void make_model(struct hill *h)
{
    const struct cf_hierarchy_options o = {.cores = h->core_count, .seed = h->c->o.seed};
    unsigned depth = 0;
    char problem[512];

    for (unsigned i = 0; i < h->watches; i++)
        if (depth < h->m->level[h->watch[i].level].depth)
            depth = h->m->level[h->watch[i].level].depth;
    if (!h->all_levels)
        leave_out(h, depth);
    if (h->own) {
        unsigned kept = 0;

        for (unsigned i = 0; i < h->watches; i++)
            if (!h->watch[i].own) {
                h->m->level[0] = h->m->level[h->watch[i].level];
                h->watch[i].level = 0;
                kept = 1;
            }
        h->m->levels = kept;
        if (!kept)
            return;
    }
    h->key_shift = (unsigned)__builtin_ctz(first_line(h->m) / h->shortest);
    h->model = cf_hierarchy_new(h->m, &o, problem, sizeof(problem));
    if (!h->model)
        cf_die(h->c->tool, errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s", problem);
    if (cf_hierarchy_chunks(h->model, &h->whole, &h->whole_level))
        h->whole = NULL;
    for (unsigned i = 0; i < h->watches; i++)
        if (!h->watch[i].own &&
            cf_hierarchy_watch(h->model, h->watch[i].level,
                               h->watch[i].shares ? hill_see_shared : hill_see_alone, &h->watch[i],
                               h->watch[i].shares != NULL) != 0)
            cf_out_of_memory(h->c->tool);
}

/* Where a machine states latencies, accesses can have costs, which need to know the level that
   served. */
static int states_latencies(const struct cf_machine *m)
{
    int stated = m->memory.stated != 0;

    for (unsigned i = 0; i < m->levels; i++)
        stated |= m->level[i].latency.stated != 0;
    return stated;
}

void *hill_begin(struct classify *c)
{
    struct hill *h = cf_need(c->tool, calloc(1, sizeof(*h)));
    uint64_t depth = 0;
    unsigned named;
    int data, fetch;

    h->c = c;
    h->m = cf_tool_machine(c->tool, c->o.machine);
    h->core_count = cf_tool_cores(h->m, c->o.cores);
    h->shortest = shortest_line(h->m);
    h->all_levels = c->adds_hit = c->o.streams && (c->o.hit || states_latencies(h->m));
    cf_made_by(&c->made, c->tool, h->m, h->core_count);
    c->made.options = cf_made_seed(c->tool, h->m, c->o.seed, 0);
    if (h->all_levels)
        h->hits = cf_column_room(h->c->tool, 1);
    named = c->o.level ? cf_machine_level(h->m, c->o.level) : h->m->levels;
    if (named < h->m->levels) {
        watch_level(h, named, 1, 1, 1);
    } else {
        if (c->o.level &&
            (cf_read_number(c->o.level, CF_READ_NUMBER, CF_MAX_LEVELS, &depth) < 0 || depth == 0))
            depth = UINT64_MAX;
        data = level_at(h->m, depth, CF_DATA_CACHE);
        fetch = level_at(h->m, depth, CF_INSTRUCTION_CACHE);
        if (data < 0 && fetch < 0)
            cf_die(c->tool, CF_EXIT_USAGE, "--level '%s': %s has no such level", c->o.level,
                   h->m->name);
        /* where the model is for instructions alone, their level's place is lost, on which random
           numbers depend, flushes take its lines and not the data's, and no level after it is there
         */
        if (data >= 0)
            watch_level(h, (unsigned)data, 1, fetch == data,
                        fetch < 0 || (h->m->level[fetch].kind == CF_INSTRUCTION_CACHE &&
                                      h->m->level[fetch].policy != CF_RANDOM &&
                                      h->m->level[fetch].line == h->m->level[data].line &&
                                      !reaches_back(h, h->m->level[fetch].depth)));
        if (fetch >= 0 && fetch != data)
            watch_level(h, (unsigned)fetch, 0, 1, 1);
    }
    snprintf(c->level, sizeof(c->level), "%s%s%s", h->watch[0].name, h->watches > 1 ? ", " : "",
             h->watches > 1 ? h->watch[1].name : "");
    make_model(h);
    h->one = cf_need(h->c->tool, hill_piece_new(h));
    h->cores = cf_need(h->c->tool, cf_cores_new(h->core_count));
    return h;
}
