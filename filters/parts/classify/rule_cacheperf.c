/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule_cacheperf.c - CachePerf's classes of sampled misses (cacheperf.h).
 *
 * What a sample is, is known when all of the program are: those of a segment are kept, judged at
 * its end, and handed on then. Other tables, which accesses may follow at any distance, go on at
 * once, and so come first.
 *
 * Memory: the columns of the samples of a segment; beside them what cacheperf.h says.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/classes/cacheperf.h"
#include "filters/engine/rows/gather.h"
#include "filters/parts/classify/classify.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_processes.h"

struct cacheperf {
    struct classify *c;
    struct cf_machine *m;
    struct cf_cacheperf_config config;
    char level[32];
    struct cf_cacheperf *model;
    struct cf_gather *gather;
    struct cf_frame **held; /* of a segment, with values of their own */
    size_t frames, room;
    struct cf_writer *out; /* or NULL */
    struct cf_turns turns;
    unsigned cores;
    int refused, warned, begun;
    uint64_t samples, period[2], expire_us; /* of the segment: coarse ones; as its header states */
    uint64_t references[CF_CLASS_OPS], unknown[CF_CLASS_OPS];
    uint64_t misses[CF_CLASS_OPS][CF_CLASS_UNCLASSIFIED + 1];
};

static const struct need needs[] = {
    {CF_ADDR, CF_REQUIRED},  {CF_PC, CF_REQUIRED},    {CF_OP, CF_OPTIONAL},
    {CF_SIZE, CF_OPTIONAL},  {CF_CPU, CF_OPTIONAL},   {CF_PID, CF_OPTIONAL},
    {CF_TID, CF_OPTIONAL},   {CF_LEVEL, CF_OPTIONAL}, {CF_WEIGHT, CF_OPTIONAL},
    {CF_STAGE, CF_OPTIONAL}, {CF_OBJ, CF_OPTIONAL},   {CF_SOURCE, CF_OPTIONAL},
    {0, CF_OPTIONAL}};

/* ---- the machine ---- */

static const struct cf_level *first_level(const struct cacheperf *p)
{
    for (unsigned i = 0; i < p->m->levels; i++)
        if (p->m->level[i].depth == 1 && p->m->level[i].kind != CF_INSTRUCTION_CACHE)
            return &p->m->level[i];
    cf_die(p->c->tool, CF_EXIT_USAGE, "%s has no first-level cache for data", p->m->file);
}

static int keep_frame(void *state, struct cf_frame *f);

static void *begin(struct classify *c)
{
    struct cacheperf *p;
    const struct cf_level *l;

    if (c->o.level || c->o.cores_given)
        cf_die(
            c->tool, CF_EXIT_USAGE,
            "--%s does not go with rule cacheperf: the samples state what missed the first level",
            c->o.level ? "level" : "cores");
    p = cf_need(c->tool, calloc(1, sizeof(*p)));
    p->c = c;
    p->m = cf_tool_machine(c->tool, c->o.machine);
    p->cores = cf_tool_cores(p->m, 0);
    l = first_level(p);
    p->config = c->o.cacheperf;
    p->config.line_shift = (unsigned)__builtin_ctz(l->line);
    p->config.sets = l->sets;
    p->config.ways = l->ways;
    /* the paper's 1 % is of 64 sets, of which each has 1.6 % where all miss alike */
    if (!c->o.sets_given && l->sets > 64)
        p->config.set_misses *= 64.0 / l->sets;
    if (l->line < 4)
        cf_die(c->tool, CF_EXIT_USAGE, "%s: rule cacheperf wants lines of at least 4 bytes",
               p->m->file);
    cf_made_by(&c->made, c->tool, p->m, 0);
    c->made.from = CF_LEVEL;
    snprintf(c->level, sizeof(c->level), "%s", l->name);
    snprintf(p->level, sizeof(p->level), "%s", l->name);
    p->model = cf_need(c->tool, cf_cacheperf_new(&p->config));
    p->gather = cf_need(c->tool, cf_gather_new(keep_frame, p));
    return p;
}

static void open_tables(void *state, struct cf_reader *in, struct cf_writer *out)
{
    struct cacheperf *p = state;

    p->out = out;
    if (out) /* frames are handed on when the reader has none of it any more */
        cf_reader_want_all(in);
    cf_reader_want_each(in, CF_OBJECT, CF_OPTIONAL, CF_OP, CF_TID, CF_OBJ);
}

/* ---- frames that are kept ---- */

/* For cf_gather: a copy. */
static int keep_frame(void *state, struct cf_frame *f)
{
    struct cacheperf *p = state;
    struct cf_frame *held = cf_need(p->c->tool, malloc(sizeof(*held)));

    cf_must(p->c->tool, cf_array_room(&p->held, &p->room, p->frames + 1, sizeof(*p->held)));
    *held = *f;
    for (unsigned i = 0; i < f->columns; i++) {
        const size_t bytes = (size_t)f->rows * cf_type_width(f->column[i].type);
        void *values = cf_need(p->c->tool, malloc(bytes));

        memcpy(values, f->column[i].values, bytes);
        held->column[i].values = values;
    }
    p->held[p->frames++] = held;
    return 0;
}

static void drop_frames(struct cacheperf *p)
{
    for (size_t i = 0; i < p->frames; i++) {
        for (unsigned k = 0; k < p->held[i]->columns; k++)
            if (p->held[i]->column[k].id != CF_CLASS)
                free((void *)p->held[i]->column[k].values);
        free(p->held[i]);
    }
    p->frames = 0;
}

/* Whether the rows are samples that say whether they missed; else says so once. */
static int are_samples(struct cacheperf *p, const struct cf_frame *f)
{
    const int sampled = cf_u64(f, CF_WEIGHT) || cf_u8(f, CF_STAGE);

    if (sampled && cf_u8(f, CF_LEVEL))
        return 1;
    if (!p->refused)
        cf_fail(p->c->tool, CF_EXIT_INPUT,
                sampled ? "the samples have no column 'level', so that nothing says which missed: "
                          "first run the stream through cf-cache and cf-sample"
                        : "the accesses are not sampled, they have neither column 'weight' nor "
                          "'stage': rule cacheperf is for samples, first run the stream through "
                          "cf-cache and cf-sample");
    p->refused = 1;
    return 0;
}

static void frame(void *state, struct cf_frame *f, uint8_t *class)
{
    struct cacheperf *p = state;
    uint8_t *mask;

    (void)class;
    cf_turns_check(&p->turns, p->c->tool, f, p->cores);
    if (!f->rows || !are_samples(p, f))
        return;
    if (!cf_u32(f, CF_OBJ) && !p->warned && !p->c->tool->quiet)
        cf_warn(p->c->tool, "the samples have no column 'object': what the allocator causes counts "
                            "as the program's; cf-resolve adds it");
    p->warned |= !cf_u32(f, CF_OBJ);
    mask = cf_need(p->c->tool, cf_gather_mask(p->gather, f->rows));
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].id == CF_CLASS) /* an earlier one goes */
            f->column[i].values = NULL;
    memset(mask, 1, f->rows);
    cf_must(p->c->tool, cf_gather_rows(p->gather, f, mask));
}

/* ---- verdicts ---- */

static struct cf_cacheperf_rows columns(const struct cf_frame *f)
{
    return (struct cf_cacheperf_rows){.rows = f->rows,
                                      .addr = cf_u64(f, CF_ADDR),
                                      .pc = cf_u64(f, CF_PC),
                                      .weight = cf_u64(f, CF_WEIGHT),
                                      .size = cf_u32(f, CF_SIZE),
                                      .pid = cf_u32(f, CF_PID),
                                      .tid = cf_u32(f, CF_TID),
                                      .object = cf_u32(f, CF_OBJ),
                                      .source = cf_u32(f, CF_SOURCE),
                                      .op = cf_u8(f, CF_OP),
                                      .level = cf_u8(f, CF_LEVEL),
                                      .stage = cf_u8(f, CF_STAGE)};
}

/* Samples stand for their weight; misses of no verdict are unclassified. */
static void add_up(struct cacheperf *p, const struct cf_cacheperf_rows *r, const uint8_t *class)
{
    for (uint32_t i = 0; i < r->rows; i++) {
        const unsigned op = r->op && r->op[i] < CF_CLASS_OPS && r->op[i] ? r->op[i] : CF_LOAD;
        const uint64_t weight = r->weight ? r->weight[i] : r->stage[i] == CF_STAGE_COARSE;

        if (!cf_cacheperf_takes(r, i))
            continue;
        p->samples += weight != 0;
        p->references[op] += weight;
        p->unknown[op] += r->level[i] ? 0 : weight;
        if (r->level[i] > 1)
            p->misses[op][class[i] ? class[i] : CF_CLASS_UNCLASSIFIED] += weight;
    }
}

/* Says so where a program has too few samples, and how it gets more. */
static void warn_of_few(const struct cacheperf *p)
{
    enum { ENOUGH = 20000 };
    const double shorter = (double)p->samples / ENOUGH;
    double period[2];
    char advice[160] = "";

    if (!p->begun || p->refused || p->config.patterns_only || p->c->tool->quiet ||
        cf_reader_lacks(p->c->in) || p->samples >= CF_CACHEPERF_FEW)
        return;
    for (unsigned i = 0; i < 2; i++) {
        period[i] = floor((double)p->period[i] * shorter);
        period[i] = period[i] < 1 && p->period[i] ? 1 : period[i];
    }
    if (p->expire_us && (p->period[0] > 1 || p->period[1] > 1)) /* of cf-sample */
        snprintf(advice, sizeof(advice),
                 ", or take more samples of this one, by cf-sample --loads %.0f --stores %.0f "
                 "--expire %.3g",
                 period[0], period[1], (double)p->expire_us / 1000 * shorter);
    cf_warn(p->c->tool,
            "%" PRIu64 " sample%s: with fewer than %d the verdicts depend on chance: record a "
            "longer run%s",
            p->samples, p->samples == 1 ? "" : "s", CF_CACHEPERF_FEW, p->samples ? advice : "");
}

/* The samples of a segment are all there. */
static void settle(struct cacheperf *p)
{
    struct cf_cacheperf_rows *part;
    uint8_t *class;
    uint32_t most = 0;

    cf_must(p->c->tool, cf_gather_flush(p->gather));
    if (!p->frames) {
        warn_of_few(p);
        return;
    }
    part = cf_need(p->c->tool, calloc(p->frames, sizeof(*part)));
    for (size_t i = 0; i < p->frames; i++) {
        part[i] = columns(p->held[i]);
        most = part[i].rows > most ? part[i].rows : most;
    }
    class = cf_need(p->c->tool, malloc(most));
    cf_must(p->c->tool, cf_cacheperf_judge(p->model, part, p->frames));
    for (size_t i = 0; i < p->frames; i++) {
        cf_cacheperf_class(p->model, &part[i], class);
        add_up(p, &part[i], class);
        cf_tool_set(p->c->tool, p->held[i], CF_CLASS, class);
        if (p->out && cf_writer_frame(p->out, p->held[i]) != 0)
            break; /* cf_tool_finish() reports why */
    }
    free(class);
    free(part);
    drop_frames(p);
    warn_of_few(p);
}

/* Says so where breakpoints ended too early for a conflict of so many accesses. */
static void check_runs(const struct cacheperf *p, const struct cf_header *h)
{
    static const char *const ends[] = {"same_set", "fine"};
    uint64_t after;

    for (unsigned i = 0; i < 2; i++)
        if (cf_header_number(h, "stage", ends[i], &after) > 0 && after &&
            after < p->config.same_set) {
            cf_warn(p->c->tool,
                    "a breakpoint of these samples ended after %" PRIu64 " accesses%s, so no run "
                    "has the %" PRIu32 " of --same-set, and conflicts may be taken for capacity "
                    "misses: sample with --%s %" PRIu32 " too, or give at most --same-set %" PRIu64,
                    after, i ? "" : " to one set", p->config.same_set, i ? "fine" : "same-set",
                    p->config.same_set, after);
            return;
        }
}

static void take_header(struct cacheperf *p, const struct cf_header *h)
{
    static const unsigned others[] = {CF_CLASS, CF_CLASS_BEHIND, CF_HIT, CF_COST, 0};

    cf_made_check(&p->c->made, h, CF_CLASS, others);
    check_runs(p, h);
    p->begun = 1;
    p->samples = 0;
    if (cf_header_number(h, "weight", "loads", &p->period[0]) <= 0)
        p->period[0] = 0;
    if (cf_header_number(h, "weight", "stores", &p->period[1]) <= 0)
        p->period[1] = 0;
    if (cf_header_number(h, "stage", "expire_us", &p->expire_us) <= 0)
        p->expire_us = 0;
}

static void finish(void *state)
{
    settle(state);
}

/* Which thread allocated each object. */
static void note_objects(struct cacheperf *p, const struct cf_frame *f)
{
    const uint8_t *op = cf_u8(f, CF_OP);
    const uint32_t *object = cf_u32(f, CF_OBJ), *tid = cf_u32(f, CF_TID);

    for (uint32_t i = 0; object && tid && i < f->rows; i++)
        if (object[i] && (!op || op[i] == CF_ALLOC))
            cf_must(p->c->tool, cf_cacheperf_object(p->model, object[i], tid[i]));
}

static int other(void *state, const struct cf_frame *f)
{
    struct cacheperf *p = state;

    cf_turns_check(&p->turns, p->c->tool, f, p->cores);
    if (f->table == CF_HEADER) { /* another recording, with numbers of its own */
        settle(p);
        take_header(p, f->header);
        p->config.patterns_only = cf_header_fact(f->header, "weight", "event") != NULL;
        cf_cacheperf_free(p->model);
        p->model = cf_need(p->c->tool, cf_cacheperf_new(&p->config));
    }
    if (f->table == CF_OBJECT)
        note_objects(p, f);
    return 0;
}

static void summary(void *state, struct summary *s)
{
    struct cacheperf *p = state;

    for (unsigned op = CF_LOAD; op < CF_CLASS_OPS; op++)
        summary_add(s, p->level, op, p->references[op], p->misses[op], p->unknown[op]);
}

static void end(void *state)
{
    struct cacheperf *p = state;

    drop_frames(p);
    free(p->held);
    cf_gather_free(p->gather);
    cf_cacheperf_free(p->model);
    cf_machine_free(p->m);
    free(p);
}

static const uint8_t classes[] = {CF_CLASS_CAPACITY,           CF_CLASS_CONFLICT,
                                  CF_CLASS_TRUE_SHARING,       CF_CLASS_FALSE_SHARING,
                                  CF_CLASS_ALLOCATOR_CONFLICT, CF_CLASS_ALLOCATOR_FALSE_SHARING,
                                  CF_CLASS_UNCLASSIFIED,       0};

const struct rule rule_cacheperf = {.name = "cacheperf",
                                    .needs = needs,
                                    .adds = {CF_CLASS},
                                    .holds = 1,
                                    .begin = begin,
                                    .open = open_tables,
                                    .other = other,
                                    .frame = frame,
                                    .finish = finish,
                                    .summary = summary,
                                    .classes = classes,
                                    .unknown = 1,
                                    .end = end};
