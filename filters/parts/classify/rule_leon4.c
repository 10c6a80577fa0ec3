/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule_leon4.c - the procedure of the LEON4 profiling tool, on accesses, on loads and stores of
 * unknown address (table unplaced) and on what the bus read (table bus), together by time.
 *
 * Adds to both tables of accesses `hit`, `class` and `class_behind`. The engine leon4.h says who
 * missed and why; here are the machine's caches, the order of the tables and the sums. Frames of
 * unplaced wait until the accesses have come to their time (cf_aside.h).
 *
 * Memory: 8 to 16 bytes a distinct line and cache; 56 bytes a row that waits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/parts/classify/classify.h"
#include "filters/engine/rows/cores.h"
#include "filters/engine/classes/leon4.h"
#include "formats/program/cf_aside.h"

enum { MASTERS = 256 };

struct leon4 {
    struct classify *c;
    struct cf_machine *m;
    const struct cf_level *level[CF_LEON4_CACHES];
    struct cf_leon4 *model;
    struct cf_cores *cores;
    unsigned core_count;
    struct cf_aside unplaced, bus;
    struct cf_writer *out; /* or NULL */
    uint8_t *hit, *behind, *core;
    uint64_t *space;
    uint8_t made[MASTERS]; /* by CPU: accesses, so that what its master reads is of its core */
};

static const struct need needs[] = {
    {CF_TIME, CF_REQUIRED}, {CF_ADDR, CF_REQUIRED},  {CF_OP, CF_OPTIONAL},
    {CF_SIZE, CF_OPTIONAL}, {CF_CPU, CF_OPTIONAL},   {CF_PID, CF_OPTIONAL},
    {CF_TID, CF_OPTIONAL},  {CF_LEVEL, CF_OPTIONAL}, {0, CF_OPTIONAL}};

/* ---- the machine ---- */

/* Only a machine that has nothing after the first level does without a second one: it is off. */
static const struct cf_level *find_level(const struct leon4 *l, enum cf_kind kind, unsigned depth)
{
    int deeper = depth == 1;

    for (unsigned i = 0; i < l->m->levels; i++) {
        if (l->m->level[i].kind == kind && l->m->level[i].depth == depth)
            return &l->m->level[i];
        deeper |= l->m->level[i].depth >= depth;
    }
    if (!deeper)
        return NULL;
    cf_die(l->c->tool, CF_EXIT_USAGE,
           "%s has no %s at depth %u: rule leon4 wants a first level of two caches, for "
           "instructions and data, and a unified second level or none",
           l->m->file,
           kind == CF_UNIFIED      ? "unified cache"
           : kind == CF_DATA_CACHE ? "data cache"
                                   : "instruction cache",
           depth);
}

static void find_caches(struct leon4 *l, struct cf_leon4_config *g)
{
    const struct cf_level *fetch = find_level(l, CF_INSTRUCTION_CACHE, 1);
    const struct cf_level *data = find_level(l, CF_DATA_CACHE, 1);
    const struct cf_level *second = find_level(l, CF_UNIFIED, 2);

    l->level[CF_LEON4_FETCH] = fetch;
    l->level[CF_LEON4_DATA] = data;
    l->level[CF_LEON4_SECOND] = second;
    for (uint32_t i = 0; i < l->m->levels; i++)
        if (l->m->level[i].depth > 2)
            cf_die(l->c->tool, CF_EXIT_USAGE,
                   "%s has a third level, %s: rule leon4 takes what misses the second for an "
                   "access of memory",
                   l->m->file, l->m->level[i].name);
    if (fetch->line != data->line || (second && data->line != second->line))
        cf_die(l->c->tool, CF_EXIT_USAGE, "%s: rule leon4 wants lines of one size in all caches",
               l->m->file);
    if (fetch->shared_by != 1 || data->shared_by != 1 ||
        (second && second->shared_by < l->core_count && second->policy != CF_MASTER_INDEX))
        cf_die(l->c->tool, CF_EXIT_USAGE,
               "%s: rule leon4 wants a first level for each core and a second level for all: take "
               "fewer --cores",
               l->m->file);
    *g = (struct cf_leon4_config){.cores = l->core_count,
                                  .line_shift = (unsigned)__builtin_ctz(data->line),
                                  .fetch = {fetch->sets, fetch->ways},
                                  .data = {data->sets, data->ways},
                                  .allocate = data->write_allocate,
                                  .write_back = data->write_back,
                                  .data_compulsory = l->c->o.no_addresses};
    if (second) {
        g->second.sets = second->sets;
        g->second.ways = second->ways;
        g->second_own = second->policy == CF_MASTER_INDEX;
    }
}

static void *begin(struct classify *c)
{
    struct leon4 *l;
    struct cf_leon4_config g;

    if (c->o.level)
        cf_die(c->tool, CF_EXIT_USAGE,
               "--level does not go with rule leon4, which classifies all levels");
    l = cf_need(c->tool, calloc(1, sizeof(*l)));
    l->c = c;
    l->m = cf_tool_machine(c->tool, c->o.machine);
    l->core_count = cf_tool_cores(l->m, c->o.cores);
    find_caches(l, &g);
    cf_made_by(&c->made, c->tool, l->m, l->core_count);
    snprintf(c->level, sizeof(c->level), "%s, %s", l->level[CF_LEON4_DATA]->name,
             l->level[CF_LEON4_FETCH]->name);
    snprintf(c->behind, sizeof(c->behind), "%s",
             l->level[CF_LEON4_SECOND] ? l->level[CF_LEON4_SECOND]->name : "none");
    l->model = cf_need(l->c->tool, cf_leon4_new(&g));
    l->cores = cf_need(l->c->tool, cf_cores_new(l->core_count));
    l->hit = cf_column_room(l->c->tool, 1);
    l->behind = cf_column_room(l->c->tool, 1);
    l->core = cf_column_room(l->c->tool, 1);
    l->space = cf_column_room(l->c->tool, sizeof(*l->space));
    return l;
}

static void open_tables(void *state, struct cf_reader *in, struct cf_writer *out)
{
    struct leon4 *l = state;

    l->out = out;
    cf_aside_begin(&l->unplaced, CF_UNPLACED, in);
    cf_aside_begin(&l->bus, CF_BUS, in);
}

/* ---- rows ---- */

/* Column level: 0 unknown, 1 a hit of the first level, more a miss. */
static uint8_t seen(uint8_t level)
{
    return level == 0 ? CF_LEON4_NOTHING : level == 1 ? CF_LEON4_HIT : CF_LEON4_MISS;
}

static void makes(struct leon4 *l, uint32_t cpu)
{
    if (cpu < MASTERS)
        l->made[cpu] = 1;
}

static void step(struct leon4 *l, const struct cf_leon4_access *a, struct cf_leon4_result *r)
{
    cf_must(l->c->tool, cf_leon4_access(l->model, a, r));
}

static void bus_read(struct leon4 *l, const struct cf_aside_row *row)
{
    const int first = row->level == 2 || row->level == 0; /* HTRANS NONSEQ; absent: any */

    if (row->op == CF_LOAD && first && row->cpu < MASTERS && l->made[row->cpu])
        cf_leon4_bus(l->model, row->cpu % l->core_count, row->phys);
}

static void one_unplaced(struct leon4 *l, struct cf_aside_row *row)
{
    const struct cf_leon4_access a = {.addr = row->phys,
                                      .size = row->size,
                                      .core = row->cpu % l->core_count,
                                      .op = row->op,
                                      .seen = seen(row->level)};
    struct cf_leon4_result r;

    makes(l, row->cpu);
    step(l, &a, &r);
    row->hit = r.hit;
    row->class = r.class;
    row->behind = r.second;
}

/* What happened before `time`: an access stands after the fetch of its time, a bus read after the
   load that it serves and before the next instruction. */
static void until(struct leon4 *l, uint64_t time)
{
    struct cf_aside *u = &l->unplaced, *b = &l->bus;

    for (;;) {
        const int more = cf_aside_due(u, time);

        if (cf_aside_due(b, time) && (!more || b->row[b->next].time < u->row[u->next].time))
            bus_read(l, cf_aside_next(b, time));
        else if (more)
            one_unplaced(l, cf_aside_next(u, time));
        else
            break;
    }
}

/* Unplaced rows that are done go out; those of the bus went already. */
static void send_asides(struct leon4 *l)
{
    cf_aside_set(&l->unplaced, CF_HIT);
    cf_aside_set(&l->unplaced, CF_CLASS);
    cf_aside_set(&l->unplaced, CF_CLASS_BEHIND);
    /* a failure of the writer shows again when it is closed */
    (void)!cf_aside_write(&l->unplaced, l->out);
    (void)!cf_aside_write(&l->bus, NULL);
}

static void frame(void *state, struct cf_frame *f, uint8_t *class)
{
    struct leon4 *l = state;
    const uint64_t *time = cf_u64(f, CF_TIME), *addr = cf_u64(f, CF_ADDR);
    const uint32_t *size = cf_u32(f, CF_SIZE), *cpu = cf_u32(f, CF_CPU);
    const uint8_t *op = cf_u8(f, CF_OP), *level = cf_u8(f, CF_LEVEL);
    struct cf_leon4_access a = {.placed = 1, .size = 1, .op = CF_LOAD};
    struct cf_leon4_result r;

    cf_must(l->c->tool, cf_cores_rows(l->cores, cf_u32(f, CF_CPU), cf_u32(f, CF_PID),
                                      cf_u32(f, CF_TID), f->rows, l->core, l->space));
    for (uint32_t i = 0; i < f->rows; i++) {
        until(l, time[i]);
        makes(l, cpu ? cpu[i] : l->core[i]);
        a.addr = addr[i];
        a.space = l->space[i];
        a.core = l->core[i];
        a.size = size ? size[i] : 1;
        a.op = op ? op[i] : CF_LOAD;
        a.seen = level && a.op == CF_LOAD ? seen(level[i]) : CF_LEON4_NOTHING;
        step(l, &a, &r);
        class[i] = r.class;
        l->hit[i] = r.hit;
        l->behind[i] = r.second;
    }
    send_asides(l);
    cf_tool_set(l->c->tool, f, CF_HIT, l->hit);
    cf_tool_set(l->c->tool, f, CF_CLASS_BEHIND, l->behind);
}

static void finish(void *state)
{
    struct leon4 *l = state;

    until(l, UINT64_MAX);
    send_asides(l);
}

static int other(void *state, const struct cf_frame *f)
{
    struct leon4 *l = state;

    if (f->table == CF_HEADER) /* times begin anew */
        finish(l);
    if (f->table != CF_UNPLACED && f->table != CF_BUS)
        return 0;
    if (cf_aside_take(f->table == CF_BUS ? &l->bus : &l->unplaced, f) != 0)
        cf_out_of_memory(l->c->tool);
    return f->table == CF_UNPLACED;
}

/* ---- sums ---- */

static void summary(void *state, struct summary *s)
{
    struct leon4 *l = state;

    for (unsigned i = 0; i < CF_LEON4_CACHES && l->level[i]; i++)
        for (unsigned op = CF_LOAD; op <= CF_IFETCH; op++) {
            const struct cf_leon4_counts *n = cf_leon4_counts(l->model, i);

            summary_add(s, l->level[i]->name, op, n->references[op], n->misses[op], n->unknown[op]);
        }
}

static void end(void *state)
{
    struct leon4 *l = state;

    if (cf_leon4_against(l->model) && !l->c->tool->quiet)
        cf_warn(l->c->tool,
                "%" PRIu64 " loads hit where the distance speaks of a miss: they count as hits",
                cf_leon4_against(l->model));
    cf_aside_end(&l->unplaced);
    cf_aside_end(&l->bus);
    cf_leon4_free(l->model);
    cf_cores_free(l->cores);
    cf_machine_free(l->m);
    free(l);
}

static const uint8_t classes[] = {CF_CLASS_COMPULSORY, CF_CLASS_CAPACITY, CF_CLASS_CONFLICT,
                                  CF_CLASS_UNCLASSIFIED, 0};

const struct rule rule_leon4 = {.name = "leon4",
                                .needs = needs,
                                .adds = {CF_HIT, CF_CLASS, CF_CLASS_BEHIND},
                                .begin = begin,
                                .open = open_tables,
                                .other = other,
                                .frame = frame,
                                .finish = finish,
                                .summary = summary,
                                .classes = classes,
                                .unknown = 1,
                                .end = end};
