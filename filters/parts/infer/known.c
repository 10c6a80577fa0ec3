/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.c - what the series say of each cache: changes, what they agree on, latencies, and what is
 * assumed where they do not tell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/infer/infer.h"

const char *const what_names[WHATS] = {"size", "ways", "line_size", "latency"};
const char *const how_names[] = {"not measured", "cannot tell", "measured", "assumed"};

enum { FRAME = 4096 }; /* of experiment pages */

/* Times of an access that differ by less are of one latency. */
static const double CLOSE = 0.15;

/* Chains of jumps take up to so much longer for a while, all repeats of a parameter alike: seen on
   a virtual machine, 25.1 and 25.7 cycles a jump. */
static const double CODE_GRAIN = 0.012;

/* Windows that nearly fill a level miss a little, since other data are in it, too: on a virtual
   machine 2 % longer from 31 KiB of 32 on, all repeats alike. */
static const double WINDOW_GRAIN = 0.015;

/* Lines of one set that fill it are taken out by other data at times; one more than fits adds, even
   with random replacement, a miss in each round of some ten accesses. */
static const double SET_GRAIN = 0.03;

int is_model(const struct infer *f)
{
    return f->machine && !strncmp(f->machine, "model:", 6);
}

void find_changes(struct infer *f)
{
    cf_measurements_sort(f->row, f->rows);
    for (size_t from = 0, end; from < f->rows; from = end) {
        struct series *s = &f->series[f->row[from].series];
        struct cf_change_rule rule = experiment_kinds[s->is].rule;

        for (end = from; end < f->rows && f->row[end].series == f->row[from].series;)
            end++;
        s->from = from;
        s->rows = end - from;
        rule.behind = s->level > 1;
        rule.exact = is_model(f);
        rule.grain = s->code       ? CODE_GRAIN
                     : rule.window ? WINDOW_GRAIN
                     : s->is == X_ASSOCIATIVITY || s->is == X_APART || s->is == X_BLOCK ? SET_GRAIN
                                                                                        : 0;
        /* of pages, that one does not fit says nothing of others */
        cf_must(&f->tool, cf_points_make(&s->points, f->row + from, end - from,
                                         rule.behind && s->is != X_PAGES &&
                                             experiment_kinds[s->is].use == GEOMETRY));
        if (experiment_kinds[s->is].use != NO_CHANGE)
            cf_must(&f->tool, cf_change_find(&s->change, &s->points, rule));
    }
}

/* Why no change was found, or none that is sure; "" where one was. */
static const char *why_not(const struct series *s)
{
    switch (s->change.state) {
    case CF_CHANGE_NONE:
        return "all measurements are alike, as if the parameters did not reach far enough";
    case CF_CHANGE_FEW:
        return s->points.good ? "there are too few measurements" : "all measurements are spoilt";
    case CF_CHANGE_ONCE:
        return "each measurement was made once, so noise is not known";
    case CF_CHANGE_VAGUE:
        return "noise hides the change";
    default:
        return "";
    }
}

/* ---- one cache ---- */

struct basis {
    struct cf_evidence evidence[EVIDENCE_MOST];
    const struct series *series[EVIDENCE_MOST];
    unsigned count;
};

static const enum cf_trait trait_of_measure[] = {
    [CF_OF_SIZE] = CF_TRAIT_SIZE,
    [CF_OF_WAYS] = CF_TRAIT_WAYS,
    [CF_OF_LINE] = CF_TRAIT_LINE,
    [CF_OF_WAY_SIZE] = CF_TRAIT_WAYS,
};

/* "size and capacity": experiments by bit. */
static void name_all(const struct basis *b, unsigned which, char *to, size_t size)
{
    unsigned left = (unsigned)__builtin_popcount(which);
    size_t at = 0;

    to[0] = '\0';
    for (unsigned i = 0; i < b->count && at < size; i++)
        if (which >> i & 1) {
            left--;
            at += (size_t)snprintf(to + at, size - at, "%s%s", b->evidence[i].name,
                                   left > 1    ? ", "
                                   : left == 1 ? " and "
                                               : "");
        }
}

/* A value by all experiments on its cache, and how sure it is. */
static void take_estimate(const struct infer *f, const struct basis *b, enum cf_trait k,
                          const struct cf_estimate *e, struct value *v)
{
    const char *why = "";

    *v = (struct value){
        .is = e->value, .least = e->least, .most = e->most, .confidence = e->confidence};
    for (unsigned i = 0; i < b->count; i++)
        if (trait_of_measure[b->evidence[i].of] == k) {
            v->how = NOT_TOLD;
            why = *why ? why : why_not(b->series[i]);
        }
    if (v->how == NOT_MEASURED)
        return;
    if (e->value && e->against < 0 && e->confidence >= f->o.least) {
        v->how = MEASURED;
        name_all(b, e->by, v->by, sizeof v->by);
    } else if (e->against >= 0) {
        snprintf(v->by, sizeof v->by, "experiment %s contradicts %s", b->evidence[e->against].name,
                 e->with >= 0 ? b->evidence[e->with].name : "the others");
    } else {
        snprintf(v->by, sizeof v->by, "%s",
                 *why        ? why
                 : !e->value ? "no value fits all experiments"
                             : "noise hides the change");
    }
}

/* Of times of one latency, sorted, between which two of them their median lies with 99 %, whatever
   their distribution: so many from each end. */
static size_t bound_of(size_t n)
{
    double chance = pow(0.5, (double)n), sum = chance; /* that no more are less than it */
    size_t from = 0;

    while (sum <= 0.005 && from < n) {
        from++;
        chance *= (double)(n - from + 1) / (double)from;
        sum += chance;
    }
    return from ? from - 1 : 0;
}

/* The times of one window. Of a model they vary to both sides, so that their median is taken; what
   disturbs a machine adds to them. */
static void take_repeats(const struct infer *f, const struct series *s, struct value *v)
{
    double *time = cf_tool_room(&f->tool, s->rows + 1, sizeof *time), median;
    size_t n = 0, from;

    for (size_t i = s->from; i < s->from + s->rows; i++)
        if (!f->row[i].spoilt)
            time[n++] = (double)f->row[i].time / (double)f->row[i].accesses;
    median = cf_median(time, n);
    from = bound_of(n);
    if (is_model(f)) {
        v->is = (uint64_t)fmin(median + 0.5, CF_MAX_LATENCY);
        v->least = v->most = v->is;
    }
    v->least = (uint64_t)fmin((double)v->least, floor(time[from]));
    v->most = (uint64_t)fmin(fmax((double)v->most, ceil(time[n - 1 - from])), CF_MAX_LATENCY);
}

static struct value latency_of(const struct infer *f, const struct series *s)
{
    const struct cf_points *p = &s->points;
    struct value v = {.how = NOT_TOLD};
    double *value = cf_tool_room(&f->tool, p->count + 1, sizeof *value), median, spread = 0;
    size_t n = 0, close = 0;

    for (size_t i = 0; i < p->count; i++)
        if (!isnan(p->point[i].value)) {
            value[n++] = p->point[i].value;
            spread = p->point[i].spread;
        }
    if (!n) {
        snprintf(v.by, sizeof v.by, "all measurements are spoilt");
        return v;
    }
    median = cf_median(value, n);
    for (size_t i = 0; i < n; i++)
        close += fabs(value[i] - median) <= CLOSE * median;
    v.is = (uint64_t)fmin(median + 0.5, CF_MAX_LATENCY);
    spread = n == 1 ? 2 * spread : 0; /* else the windows show it */
    v.least = (uint64_t)fmin(floor(fmax(0, value[0] - spread)), CF_MAX_LATENCY);
    v.most = (uint64_t)fmin(ceil(value[n - 1] + spread), CF_MAX_LATENCY);
    if (n == 1)
        take_repeats(f, s, &v);
    /* in one window, levels before it may have served some */
    if (n == 1 && s->level > 1 && s->level != CF_FROM_MEMORY)
        v.most = UINT64_MAX;
    v.confidence = (double)close / (double)n;
    if (p->repeats < 2 && !is_model(f)) {
        v.confidence = fmin(v.confidence, 0.5);
        snprintf(v.by, sizeof v.by, "each measurement was made once, so noise is not known");
    } else if (v.confidence < 0.5) {
        snprintf(v.by, sizeof v.by, "times of %llu to %llu are no one latency",
                 (unsigned long long)v.least, (unsigned long long)v.most);
    } else if (!f->unit || (strcmp(f->unit, "cycles") && strcmp(f->unit, "nanoseconds"))) {
        snprintf(v.by, sizeof v.by, "the header states no clock of cycles or nanoseconds");
    } else {
        v.how = MEASURED;
        snprintf(v.by, sizeof v.by, "latency");
    }
    return v;
}

/* All that the series say of one level, for data or for instructions; 0 where there are none.
   `like` has lines as long, or shorter ones; or is NULL. */
static int know_cache(const struct infer *f, unsigned level, int code, const struct cache *like,
                      struct cache *c)
{
    const uint64_t line = like && is_told(&like->value[LINE]) ? like->value[LINE].is : 0;
    struct basis b = {.count = 0};
    struct cf_estimate is[CF_TRAITS];
    int any = 0;

    *c =
        (struct cache){.level = level, .code = code, .exclusive = -1, .inclusive = -1, .index = -1};
    for (unsigned i = 0; i < f->count; i++) {
        const struct series *s = &f->series[i];
        const struct experiment_kind *k = &experiment_kinds[s->is];

        if (s->level != level || s->code != code || !s->points.point)
            continue;
        any = any || k->use == GEOMETRY || s->is == X_LATENCY;
        if (s->is == X_LATENCY)
            c->value[LATENCY] = latency_of(f, s);
        if (k->use != GEOMETRY || b.count == EVIDENCE_MOST)
            continue;
        b.evidence[b.count] =
            (struct cf_evidence){k->of, k->name, &s->change, s->is == X_PAGES ? FRAME : 1};
        b.series[b.count++] = s;
    }
    cf_must(&f->tool, cf_geometry_agree(is, b.evidence, b.count, line));
    for (unsigned k = 0; k < CF_TRAITS; k++)
        take_estimate(f, &b, (enum cf_trait)k, &is[k], &c->value[k]);
    return any;
}

/* ---- what is assumed ---- */

const struct cf_level *level_like(const struct cf_machine *m, unsigned depth, int code)
{
    for (uint32_t i = 0; m && i < m->levels; i++)
        if (m->level[i].depth == depth && (m->level[i].kind == CF_INSTRUCTION_CACHE) == code)
            return &m->level[i];
    return NULL;
}

uint64_t stated_latency(const struct cf_machine *m, unsigned depth, int code)
{
    const unsigned op = code ? CF_IFETCH : CF_LOAD;
    int64_t sum = 0, n = 0;
    int has = depth == CF_FROM_MEMORY;

    for (uint32_t i = 0; m && i < m->levels && n >= 0; i++) {
        const struct cf_level *l = &m->level[i];

        if (l->kind != CF_UNIFIED && (l->kind == CF_INSTRUCTION_CACHE) != code)
            continue;
        has |= l->depth == depth;
        if (l->depth == depth || (l->depth < depth && m->latency_rule == CF_LATENCY_ADDED))
            sum += n = cf_latency_cycles(&l->latency, op, 0);
    }
    if (m && depth == CF_FROM_MEMORY && n >= 0)
        sum += n = cf_latency_cycles(&m->memory, op, 0);
    return n < 0 || !has ? 0 : (uint64_t)sum;
}

/* Where it is not measured, and not against what was. */
static void assume(const struct infer *f, struct value *v, uint64_t is)
{
    if (v->how == MEASURED || !is ||
        (v->how == NOT_TOLD && v->is && v->confidence > 0 && (is < v->least || is > v->most)))
        return;
    *v = (struct value){.how = ASSUMED, .is = is, .least = is, .most = is};
    snprintf(v->by, sizeof v->by, "%.150s", f->assumed->name);
}

static void assume_all(const struct infer *f, struct cache *c)
{
    const struct cf_level *l = level_like(f->assumed, c->level, c->code);

    if (!l)
        return;
    c->assumed = l;
    assume(f, &c->value[SIZE], l->size);
    assume(f, &c->value[LINE], l->line);
    if (c->value[SIZE].is % ((uint64_t)l->ways * l->line) == 0)
        assume(f, &c->value[WAYS], l->ways);
    /* cycles of another clock would be no latencies of this one */
    if (f->assumed->clock_hz == f->hz && f->unit && !strcmp(f->unit, "cycles"))
        assume(f, &c->value[LATENCY], stated_latency(f->assumed, c->level, c->code));
}

int is_told(const struct value *v)
{
    return v->how == MEASURED || v->how == ASSUMED;
}

/* ---- all ---- */

static void take_line(struct cache *c, const struct cache *like, const char *name)
{
    struct value *v = &c->value[LINE];

    if (!is_told(&like->value[LINE]))
        return;
    *v = like->value[LINE];
    v->how = ASSUMED;
    snprintf(v->by, sizeof v->by, "%.31s", name);
}

/* Adds a cache: its kind and name, and whether there is enough to describe it. */
static void add_cache(struct infer *f, struct cache *c, int split)
{
    const struct cache *before = f->caches ? &f->cache[f->caches - 1] : NULL;
    struct value *v = c->value;

    c->kind = c->code ? CF_INSTRUCTION_CACHE : split ? CF_DATA_CACHE : CF_UNIFIED;
    snprintf(c->name, sizeof c->name, "L%u%s", c->level, c->code ? "I" : split ? "D" : "");
    /* lines of two sizes are rare */
    if (v[LINE].how == NOT_MEASURED && before)
        take_line(c, before, before->name);
    know_policy(f, c);
    c->whole = is_told(&v[SIZE]) && is_told(&v[WAYS]) && is_told(&v[LINE]) &&
               v[SIZE].is % (v[WAYS].is * v[LINE].is) == 0 && v[WAYS].is <= CF_MAX_WAYS;
    if (f->caches < CACHES_MOST - 1)
        f->cache[f->caches++] = *c;
}

static void know_level(struct infer *f, unsigned level)
{
    const struct cache *before = f->caches ? &f->cache[f->caches - 1] : NULL;
    struct cache data, code;
    const int has_data = know_cache(f, level, 0, before, &data);
    const int has_code = know_cache(f, level, 1, before ? before : &data, &code);
    const int split = has_code || level_like(f->assumed, level, 1);

    if (!before && has_code && code.value[LINE].how == NOT_MEASURED)
        take_line(&code, &data, "L1D");
    if (level == 1 ? split : has_code && !has_data) {
        assume_all(f, &code);
        add_cache(f, &code, 1);
    }
    if (has_data || level_like(f->assumed, level, 0)) {
        if (level > 1 && f->caches && f->cache[f->caches - 1].level == level - 1)
            settle_inclusion(f, &data, &f->cache[f->caches - 1]);
        know_relations(f, &data);
        assume_all(f, &data);
        add_cache(f, &data, level == 1 && split);
    }
}

/* A level that costs no more than one before it: one of the two is wrong. */
static void check_latencies(struct infer *f)
{
    const struct value *before = NULL;

    for (unsigned i = 0; i < f->caches; i++) {
        struct value *v = &f->cache[i].value[LATENCY];

        if (f->cache[i].code || v->how != MEASURED)
            continue;
        if (before && v->is <= before->is) {
            v->how = NOT_TOLD;
            v->confidence = 0;
            snprintf(v->by, sizeof v->by, "a level before it takes as long, %llu",
                     (unsigned long long)before->is);
        } else {
            before = v;
        }
    }
}

/* Whether nothing but memory is behind the levels before this one: a latency like memory's is all
   that was measured. */
static int is_memory(const struct cache *c, const struct value *memory)
{
    const struct value *v = c->value;

    return !c->code && c->level > 1 && v[SIZE].how == NOT_MEASURED && v[WAYS].how == NOT_MEASURED &&
           v[LATENCY].how == MEASURED && memory->how == MEASURED &&
           fabs((double)v[LATENCY].is - (double)memory->is) <= CLOSE * (double)memory->is;
}

static void know_memory(struct infer *f)
{
    struct cache memory;
    struct value *v = &memory.value[LATENCY];

    (void)know_cache(f, CF_FROM_MEMORY, 0, NULL, &memory);
    snprintf(memory.name, sizeof memory.name, "memory");
    if (f->assumed && f->assumed->clock_hz == f->hz && f->unit && !strcmp(f->unit, "cycles"))
        assume(f, v, stated_latency(f->assumed, CF_FROM_MEMORY, 0));
    if (f->caches && is_memory(&f->cache[f->caches - 1], v))
        f->caches--;
    f->cache[f->caches++] = memory;
}

static void know_tlb(const struct infer *f, const struct series *s, struct tlb *b)
{
    const struct cf_change *c = &s->change;
    const int any = c->state != CF_CHANGE_NONE && c->state != CF_CHANGE_FEW;
    struct value *v = &b->entries;

    b->page_size = f->page_size;
    *v = (struct value){.how = NOT_TOLD, .confidence = c->confidence};
    if (any) {
        v->is = c->value;
        v->least = c->least;
        v->most = c->most;
    }
    if (any && c->confidence >= f->o.least && f->page_size && c->beyond == c->value + 1) {
        v->how = MEASURED;
        snprintf(v->by, sizeof v->by, "tlb");
        return;
    }
    if (!*why_not(s) && f->page_size && c->beyond != c->value + 1) {
        snprintf(v->by, sizeof v->by,
                 "it has at least %llu entries, those of other data not counted",
                 (unsigned long long)c->least);
        v->most = UINT64_MAX;
    } else {
        snprintf(v->by, sizeof v->by, "%s",
                 *why_not(s)     ? why_not(s)
                 : !f->page_size ? "the header does not state the size of the pages"
                                 : "noise hides the change");
    }
}

/* Fetches are ahead of what needs them, so that their latency does not show: that of loads is
   taken, as of the levels that serve both. */
static void assume_fetches(struct infer *f)
{
    for (unsigned i = 0; i + 1 < f->caches; i++) {
        struct value *v = &f->cache[i].value[LATENCY];
        const struct cache *data = &f->cache[i + 1];

        if (!f->cache[i].code || v->how != NOT_MEASURED || data->level != f->cache[i].level ||
            !is_told(&data->value[LATENCY]))
            continue;
        *v = data->value[LATENCY];
        v->how = ASSUMED;
        snprintf(v->by, sizeof v->by, "%.31s", data->name);
    }
}

void know(struct infer *f)
{
    for (unsigned level = 1; level <= CF_MAX_LEVELS; level++)
        know_level(f, level);
    know_memory(f);
    check_latencies(f);
    assume_fetches(f);
    for (unsigned level = 0; level < CF_FROM_BEYOND; level++)
        for (unsigned i = 0; i < f->count; i++) {
            const struct series *s = &f->series[i];

            if (s->level == level && s->is == X_TLB && !s->code && s->points.point &&
                f->tlbs < CF_MAX_TLBS)
                know_tlb(f, s, &f->tlb[f->tlbs++]);
        }
}
