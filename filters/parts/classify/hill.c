/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hill.c - rule hill: compulsory, capacity, conflict by Hill and Smith, and sharing between cores.
 *
 * The caches are those of hierarchy.h, so that what misses here is what cf-cache says. Levels
 * behind the one that is classified are left out where they cannot act on it. A watcher gets the
 * references that reach the level: where one core uses it, or all share it, and for instructions,
 * threec.h has the class; between private caches of several cores, coherence.h.
 *
 * Where the machine states latencies and the stream has no column hit, all levels are modelled and
 * the column is added as cf-cache does, for cf-latency.
 *
 * Memory: the caches, and up to some 11 bytes a distinct line and core (threec.h, coherence.h); 12
 * bytes a miss of 16,384 rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/classify/classify.h"
#include "filters/engine/classes/coherence.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/cache/hierarchy.h"
#include "filters/engine/classes/threec.h"
#include "formats/base/cf_number.h"

enum { PIECE = CF_WIRE_ROWS };

struct hill;

/* A level that is classified. */
struct watched {
    struct hill *h;
    char name[32];
    unsigned level;                 /* index into the machine's levels */
    unsigned caches;                /* that the level has */
    unsigned shared;                /* cores a cache */
    uint8_t cache_of[CF_MAX_CORES]; /* of each core */
    unsigned key_shift;             /* of the keys of processes: see keys() */
    struct cf_threec **three;       /* of each cache, or NULL */
    struct cf_coherence *shares;    /* instead, or NULL */
    int own;                        /* with caches of its own: nothing is watched */
    int data, fetches;              /* accesses that are classified */
    struct cf_class_counts counts;  /* misses */
    uint32_t *miss_row;             /* for `shares`: the misses of the piece */
    uint64_t *miss_line;
    uint32_t misses, room;
};

struct hill {
    struct classify *c;
    struct cf_machine *m;
    struct cf_hierarchy *model; /* NULL where a level with its own caches is all there is */
    int own;                    /* a level has its own caches: the model is for fetches only */
    int whole;                  /* all levels are modelled, for column hit */
    struct cf_cores *cores;
    unsigned core_count;
    uint32_t shortest;  /* line of the machine */
    unsigned key_shift; /* of the keys of processes in the model */
    struct watched watch[2];
    unsigned watches;
    int failed; /* without memory in a watcher */
    int hit_warned;

    /* the piece */
    uint8_t *class; /* of its rows */
    const uint8_t *op;
    uint8_t hit[PIECE], core[PIECE], cache[PIECE], missed[PIECE];
    uint64_t space[PIECE], key[PIECE];
    uint8_t found[4096];
    uint8_t *hits; /* of a frame, for column hit */
};

static const struct need needs[] = {
    {CF_ADDR, CF_REQUIRED}, {CF_OP, CF_OPTIONAL},  {CF_SIZE, CF_OPTIONAL}, {CF_CPU, CF_OPTIONAL},
    {CF_PID, CF_OPTIONAL},  {CF_TID, CF_OPTIONAL}, {CF_HIT, CF_OPTIONAL},  {0, CF_OPTIONAL}};

/* Of what reaches a level, some may be classified at one before it. */
static int is_classified(const struct watched *w, unsigned op)
{
    return op == CF_IFETCH ? w->fetches : w->data;
}

static unsigned op_of_row(const struct hill *h, uint32_t row)
{
    const unsigned op = h->op ? h->op[row] : CF_LOAD;

    return op && op < CF_CLASS_OPS ? op : CF_LOAD;
}

/* What asks for data and can miss: not lines given back, and not hardware's own prefetches. */
static int counts_as_miss(const struct cf_hierarchy_refs *refs, uint32_t i)
{
    return refs->missed[i] && !(refs->flags[i] & (CF_REF_WRITE | CF_REF_HARDWARE | CF_RUN_FLUSH));
}

/* One cache, all of whose references come here. */
static void see_alone(void *arg, const struct cf_hierarchy_refs *refs)
{
    struct watched *w = arg;
    struct hill *h = w->h;

    for (uint32_t from = 0, n; from < refs->count && !h->failed; from += n) {
        for (n = 1; n < sizeof(h->found) && from + n < refs->count &&
                    refs->core[from + n] == refs->core[from];
             n++)
            ;
        if (cf_threec_look(w->three[refs->core[from]], refs->line + from, refs->flags + from, n,
                           h->found) != 0) {
            h->failed = 1;
            return;
        }
        for (uint32_t i = from; i < from + n; i++)
            if (counts_as_miss(refs, i)) {
                const uint8_t class = cf_threec_class(h->found[i - from]);
                const unsigned op = op_of_row(h, refs->row[i]);

                if (!is_classified(w, op))
                    continue;
                cf_class_raise(&h->class[refs->row[i]], class);
                w->counts.misses[op][class]++;
            }
    }
}

/* Private caches: their misses are kept for coherence.h, which sees the words of the accesses. */
static void see_shared(void *arg, const struct cf_hierarchy_refs *refs)
{
    struct watched *w = arg;

    for (uint32_t i = 0; i < refs->count; i++) {
        if (!counts_as_miss(refs, i))
            continue;
        if (w->misses == w->room) {
            uint32_t room = w->room ? 2 * w->room : PIECE, *row;
            uint64_t *line;

            row = room > w->room ? realloc(w->miss_row, room * sizeof(*row)) : NULL;
            w->miss_row = row ? row : w->miss_row;
            line = row ? realloc(w->miss_line, room * sizeof(*line)) : NULL;
            w->miss_line = line ? line : w->miss_line;
            if (!line) {
                w->h->failed = 1;
                return;
            }
            w->room = room;
        }
        w->miss_row[w->misses] = refs->row[i];
        w->miss_line[w->misses++] = refs->line[i];
        w->h->missed[refs->row[i]] = 1;
    }
}

/* ---- what is modelled ---- */

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
    const struct cf_tool *t = &h->c->tool;
    const struct cf_level *l = &h->m->level[level];
    struct watched *w = &h->watch[h->watches++];
    const uint64_t lines = (uint64_t)l->sets * l->ways;
    const int coherent = l->kind != CF_INSTRUCTION_CACHE;

    *w = (struct watched){.h = h,
                          .level = level,
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
               "level %s: several cores have one each, and behind the first level sharing is not "
               "told: take --cores 1, or a level that all share",
               l->name);
    if (w->caches > 1 && coherent) {
        struct cf_coherence_geometry g = {.cores = w->caches,
                                          .sets = l->sets,
                                          .ways = l->ways,
                                          .line_shift = (unsigned)__builtin_ctz(l->line),
                                          .no_allocate = !l->write_allocate,
                                          .fetches = l->kind == CF_UNIFIED,
                                          .outside = 1};

        w->own = alone && !h->whole && l->kind == CF_DATA_CACHE && l->policy == CF_LRU &&
                 !reaches_back(h, l->depth);
        g.outside = !w->own;
        h->own |= w->own;
        if (w->caches > CF_COHERENCE_CORES)
            cf_die(t, CF_EXIT_USAGE,
                   "level %s: sharing is told between up to %d caches, not %u: "
                   "take fewer --cores",
                   l->name, CF_COHERENCE_CORES, w->caches);
        w->shares = cf_need(&h->c->tool, cf_coherence_new(&g));
    } else {
        w->three = cf_need(&h->c->tool, calloc(w->caches, sizeof(struct cf_threec *)));
        for (unsigned i = 0; i < w->caches; i++)
            w->three[i] = cf_need(&h->c->tool, cf_threec_new(lines, !l->write_allocate, 0));
    }
}

/* Levels behind those that are classified go, if they do not reach back into caches before them. */
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
    if (!h->whole)
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
        cf_die(&h->c->tool, errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_USAGE, "%s", problem);
    for (unsigned i = 0; i < h->watches; i++)
        if (!h->watch[i].own &&
            (h->watch[i].shares
                 ? cf_hierarchy_watch_misses(h->model, h->watch[i].level, see_shared, &h->watch[i])
                 : cf_hierarchy_watch(h->model, h->watch[i].level, see_alone, &h->watch[i])) != 0)
            cf_out_of_memory(&h->c->tool);
}

/* Whoever states latencies can have costs, which need to know the level that served. */
static int states_latencies(const struct cf_machine *m)
{
    int stated = m->memory.stated != 0;

    for (unsigned i = 0; i < m->levels; i++)
        stated |= m->level[i].latency.stated != 0;
    return stated;
}

static void *begin(struct classify *c)
{
    struct hill *h = cf_need(&c->tool, calloc(1, sizeof(*h)));
    uint64_t depth = 0;
    unsigned named = 0;
    int data, fetch;

    h->c = c;
    h->m = cf_tool_machine(&c->tool, c->o.machine);
    h->core_count = c->o.cores ? c->o.cores : h->m->cpus;
    if (h->core_count < 1 || h->core_count > CF_MAX_CORES)
        h->core_count = h->core_count < 1 ? 1 : CF_MAX_CORES;
    h->shortest = shortest_line(h->m);
    h->whole = c->adds_hit = states_latencies(h->m);
    cf_made_by(&c->made, &c->tool, h->m, h->core_count);
    if (h->whole)
        h->hits = cf_column_room(&h->c->tool, 1);
    while (c->o.level && named < h->m->levels && strcmp(h->m->level[named].name, c->o.level) != 0)
        named++;
    if (c->o.level && named < h->m->levels) {
        watch_level(h, named, 1, 1, 1);
    } else {
        if (c->o.level &&
            (cf_read_number(c->o.level, CF_READ_NUMBER, CF_MAX_LEVELS, &depth) < 0 || depth == 0))
            depth = UINT64_MAX;
        data = level_at(h->m, depth, CF_DATA_CACHE);
        fetch = level_at(h->m, depth, CF_INSTRUCTION_CACHE);
        if (data < 0 && fetch < 0)
            cf_die(&c->tool, CF_EXIT_USAGE, "--level '%s': %s has no such level", c->o.level,
                   h->m->name);
        /* where the model is for instructions alone, their level's place is lost, on which random
           numbers depend, flushes take its lines and not the data's, and nothing behind it is there
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
    h->cores = cf_need(&h->c->tool, cf_cores_new(h->core_count));
    return h;
}

/* ---- rows ---- */

/* The keys that keep processes apart are of the machine's shortest lines (see cf-cache(1)): longer
   lines have shorter ones. Good until the next call. */
static const uint64_t *keys(struct hill *h, unsigned shift, uint32_t rows)
{
    if (!shift)
        return h->space;
    for (uint32_t i = 0; i < rows; i++)
        h->key[i] = h->space[i] >> shift;
    return h->key;
}

static void share(struct hill *h, struct watched *w, const uint64_t *addr, const uint8_t *op,
                  const uint32_t *size, uint32_t rows)
{
    const struct cf_coherence_rows in = {.rows = rows,
                                         .addr = addr,
                                         .op = op,
                                         .size = size,
                                         .core = w->shared > 1 ? h->cache : h->core,
                                         .space = keys(h, w->key_shift, rows),
                                         .missed = h->missed,
                                         .miss_row = w->miss_row,
                                         .miss_line = w->miss_line,
                                         .misses = w->misses};

    for (uint32_t i = 0; w->shared > 1 && i < rows; i++)
        h->cache[i] = w->cache_of[h->core[i]];
    if (cf_coherence_run(w->shares, &in, h->class) != 0)
        cf_out_of_memory(&h->c->tool);
}

/* Whether the model has something to say about one of the rows. */
static int is_for_model(const struct hill *h, uint32_t rows)
{
    if (!h->own)
        return 1;
    for (uint32_t i = 0; h->model && h->op && i < rows; i++)
        if (h->op[i] == CF_IFETCH || h->op[i] == CF_FLUSH)
            return 1;
    return 0;
}

static void frame(void *state, struct cf_frame *f, uint8_t *class)
{
    struct hill *h = state;
    const uint64_t *addr = cf_u64(f, CF_ADDR);
    const uint32_t *size = cf_u32(f, CF_SIZE), *cpu = cf_u32(f, CF_CPU), *pid = cf_u32(f, CF_PID),
                   *tid = cf_u32(f, CF_TID);
    const uint8_t *op = cf_u8(f, CF_OP);

    memset(class, CF_CLASS_NONE, f->rows);
    for (uint32_t from = 0, n; from < f->rows; from += n) {
        const uint8_t *ops = op ? op + from : NULL;
        const uint32_t *sizes = size ? size + from : NULL;

        n = f->rows - from < PIECE ? f->rows - from : PIECE;
        h->class = class + from;
        h->op = ops;
        memset(h->missed, 0, n);
        for (unsigned i = 0; i < h->watches; i++)
            h->watch[i].misses = 0;
        if (cf_cores_rows(h->cores, cpu ? cpu + from : NULL, pid ? pid + from : NULL,
                          tid ? tid + from : NULL, n, h->core, h->space) != 0 ||
            (is_for_model(h, n) && cf_hierarchy_rows(h->model, addr + from, ops, sizes, n, h->core,
                                                     keys(h, h->key_shift, n), h->hit) != 0) ||
            h->failed)
            cf_out_of_memory(&h->c->tool);
        for (unsigned i = 0; i < h->watches; i++)
            if (h->watch[i].shares)
                share(h, &h->watch[i], addr + from, ops, sizes, n);
        if (h->whole)
            memcpy(h->hits + from, h->hit, n);
    }
    if (h->c->hit_stated && cf_u8(f, CF_HIT) && !h->hit_warned && !h->c->tool.quiet) {
        h->hit_warned = 1;
        cf_warn(&h->c->tool,
                "the accesses have a column hit already, of which no machine is stated: it stays, "
                "and is taken to be of '%s'",
                h->c->made.machine);
    }
    if (h->whole && !cf_u8(f, CF_HIT))
        cf_tool_set(&h->c->tool, f, CF_HIT, h->hits);
}

static void summary(void *state)
{
    struct hill *h = state;

    print_counts_header();
    for (unsigned i = 0; i < h->watches; i++) {
        struct watched *w = &h->watch[i];
        struct cf_class_counts counts = w->shares ? *cf_coherence_counts(w->shares) : w->counts;
        struct cf_hierarchy_counts n;

        counts.references[CF_FLUSH] = 0;
        if (!w->own) {
            cf_hierarchy_count(h->model, w->level, &n);
            memset(counts.references, 0, sizeof(counts.references));
            counts.references[CF_LOAD] = w->data ? n.loads : 0;
            counts.references[CF_STORE] = w->data ? n.stores : 0;
            counts.references[CF_IFETCH] = w->fetches ? n.ifetches : 0;
            counts.references[CF_PREFETCH] = w->data ? n.prefetches : 0;
        }
        print_counts(w->name, &counts);
    }
}

static void end(void *state)
{
    struct hill *h = state;

    for (unsigned i = 0; i < h->watches; i++) {
        struct watched *w = &h->watch[i];

        for (unsigned k = 0; w->three && k < w->caches; k++)
            cf_threec_free(w->three[k]);
        free(w->three);
        cf_coherence_free(w->shares);
        free(w->miss_row);
        free(w->miss_line);
    }
    free(h->hits);
    cf_hierarchy_free(h->model);
    cf_cores_free(h->cores);
    cf_machine_free(h->m);
    free(h);
}

const struct rule rule_hill = {.name = "hill",
                               .needs = needs,
                               .adds = {CF_CLASS},
                               .begin = begin,
                               .frame = frame,
                               .summary = summary,
                               .end = end};
