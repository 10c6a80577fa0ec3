/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings_group.c - from cells to findings. One finding is what one change of the program mends:
 *
 *   shared lines  of one class whose misses are in objects of one allocation site, or in one
 *                 variable, and which a statement has in common
 *   statements    of one class that access the same objects, by site or name (Fig. 7 of CachePerf:
 *                 "since every object has exactly the same access pattern, these accesses should be
 *                 grouped together")
 *
 * Memory: that of the lists again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/engine/cache/latency.h"
#include "filters/parts/report/findings.h"
#include "formats/base/cf_number.h"

static int is_shared(unsigned class)
{
    return class == CF_CLASS_TRUE_SHARING || class == CF_CLASS_FALSE_SHARING ||
           class == CF_CLASS_ALLOCATOR_FALSE_SHARING;
}

/* ---- origins ---- */

/* Objects of one site have one origin; without a site each has its own. */
static void find_origins(struct findings *f)
{
    struct cf_counts *sites = cf_need(f->tool, cf_counts_new());

    for (size_t i = 0; i < f->owners; i++) {
        struct finding_owner *o = &f->owner[i];
        const struct finding_object *object = findings_object(f, o);
        uint64_t *first;

        o->origin = (uint32_t)i;
        if (!object || !object->site)
            continue;
        first = cf_need(f->tool, cf_counts_at(sites, 0, object->site));
        if (!*first)
            *first = i + 1;
        o->origin = (uint32_t)(*first - 1);
    }
    cf_counts_free(sites);
}

/* ---- joining ---- */

static uint32_t root(struct findings *f, uint32_t cell)
{
    while (f->finding[cell].into != cell)
        cell = f->finding[cell].into = f->finding[f->finding[cell].into].into;
    return cell;
}

/* Joins a cell with the one that had this key before. */
static void join(struct findings *f, struct cf_counts *keys, uint64_t a, uint64_t b, uint32_t cell)
{
    uint64_t *place = cf_need(f->tool, cf_counts_at(keys, a, b));
    const uint32_t mine = root(f, cell), theirs = *place ? root(f, (uint32_t)(*place - 1)) : mine;

    *place = cell + (uint64_t)1;
    f->finding[mine < theirs ? theirs : mine].into = mine < theirs ? mine : theirs;
}

static int by_cell(const void *x, const void *y)
{
    const struct finding_share *a = x, *b = y;
    const int of = cf_order(a->of, b->of) ?: cf_order(b->misses, a->misses);

    return of ?: cf_order(b->samples, a->samples) ?: cf_order(a->id, b->id);
}

/* Sorts a list by finding, of each the greatest first, and notes where each begins. */
static void sort_list(struct findings *f, enum finding_part part)
{
    struct finding_list *l = &f->list[part];

    if (l->count)
        qsort(l->share, l->count, sizeof *l->share, by_cell);
    for (size_t i = 0; i < f->count; i++)
        f->finding[i].first[part] = f->finding[i].count[part] = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct finding *to = &f->finding[l->share[i].of];

        to->first[part] = to->count[part]++ ? to->first[part] : i;
    }
}

static int by_value(const void *x, const void *y)
{
    return cf_order(*(const uint32_t *)x, *(const uint32_t *)y);
}

/* A number for the set of origins of a statement, 0 where some memory is of no known object: equal
   sets have equal numbers. */
static uint64_t origins_of(struct findings *f, struct cf_counts *sets, const struct finding *cell)
{
    const struct finding_share *s = f->list[FINDING_OWNERS].share + cell->first[FINDING_OWNERS];
    const size_t count = cell->count[FINDING_OWNERS];
    uint32_t *origin = cf_need(f->tool, malloc((count + 1) * sizeof *origin));
    uint64_t set = cell->class;

    for (size_t i = 0; i < count; i++)
        origin[i] = f->owner[s[i].id].origin;
    qsort(origin, count, sizeof *origin, by_value);
    for (size_t i = 0; i < count && set; i++) {
        if (f->owner[origin[i]].kind > FINDING_SYMBOL)
            set = 0;
        else if (!i || origin[i] != origin[i - 1]) {
            uint64_t *next = cf_need(f->tool, cf_counts_at(sets, set, origin[i]));

            if (!*next)
                *next = CF_CLASSES + cf_counts_size(sets);
            set = *next;
        }
    }
    free(origin);
    return set;
}

static void join_cells(struct findings *f)
{
    struct cf_counts *sets = cf_need(f->tool, cf_counts_new());
    struct cf_counts *keys = cf_need(f->tool, cf_counts_new());

    for (uint32_t i = 0; i < f->count; i++) {
        const struct finding *cell = &f->finding[i];
        const struct finding_share *owner =
            f->list[FINDING_OWNERS].share + cell->first[FINDING_OWNERS];
        const struct finding_share *s =
            f->list[FINDING_STATEMENTS].share + cell->first[FINDING_STATEMENTS];

        if (is_shared(cell->class)) {
            const uint64_t of = (uint64_t)f->owner[owner->id].origin << 8 | cell->class;

            for (size_t k = 0; k < cell->count[FINDING_STATEMENTS]; k++)
                join(f, keys, of, s[k].id, i);
        } else {
            const uint64_t set = origins_of(f, sets, cell);

            if (set)
                join(f, keys, UINT64_MAX, set, i);
        }
    }
    cf_counts_free(sets);
    cf_counts_free(keys);
}

static int by_id(const void *x, const void *y)
{
    const struct finding_share *a = x, *b = y;

    return cf_order(a->of, b->of) ?: cf_order(a->id, b->id);
}

/* Has the entries of joined cells be those of the cell that they went into. */
static void join_list(struct findings *f, enum finding_part part)
{
    struct finding_list *l = &f->list[part];
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++)
        l->share[i].of = root(f, l->share[i].of);
    if (l->count)
        qsort(l->share, l->count, sizeof *l->share, by_id);
    for (size_t i = 0; i < l->count; i++) {
        struct finding_share *last = l->share + kept - 1;

        if (kept && !by_id(last, &l->share[i])) {
            last->misses = cf_sum(last->misses, l->share[i].misses);
            last->samples += l->share[i].samples;
        } else {
            l->share[kept++] = l->share[i];
        }
    }
    l->count = kept;
}

/* ---- what a finding could gain ---- */

/* Cycles of each kind of access, and what the machine lacks of some that were seen. */
static enum cf_latency_lack price_by_machine(struct findings *f)
{
    struct cf_latencies *l = cf_need(f->tool, cf_latencies_new(f->machine));
    enum cf_latency_lack lack = CF_LACKS_NOTHING;

    for (unsigned op = 0; op < FINDING_OPS; op++)
        for (unsigned by = 1; by < FINDING_SERVED; by++) {
            const uint8_t level = by == FINDING_MEMORY ? CF_FROM_MEMORY : (uint8_t)by;
            const uint8_t kind = op == FINDING_STORE ? CF_STORE : CF_LOAD;
            enum cf_latency_lack of = cf_latencies_lack(l, cf_latency_key(level, kind));
            uint8_t seen[CF_LATENCY_KEYS];
            uint32_t cost;

            cf_latencies_rows(l, &level, &kind, NULL, 1, &cost, seen);
            f->cost[op][by] = cost;
            if ((f->served[op][by] || (by == 1 && findings_misses(f, op))) &&
                lack != CF_LACKS_LATENCY && of != CF_LACKS_NOTHING)
                lack = of;
        }
    cf_latencies_free(l);
    return lack;
}

static void price(struct findings *f)
{
    enum cf_latency_lack lack = CF_LACKS_NOTHING;

    if (f->o.ratio <= 0 && f->machine) {
        lack = price_by_machine(f);
        if (lack == CF_LACKS_NOTHING)
            return;
    }
    if (lack == CF_LACKS_LATENCY)
        cf_warn(f->tool,
                "%s does not state the latency of each level that served accesses: a miss counts "
                "as %d hits: see --ratio",
                f->machine->name, FINDING_RATIO);
    else if (lack != CF_LACKS_NOTHING)
        cf_warn(f->tool,
                "samples do not say which level of %s served a miss: a miss counts as %d hits: "
                "see --ratio",
                f->machine->name, FINDING_RATIO);
    f->o.ratio = f->o.ratio > 0 ? f->o.ratio : FINDING_RATIO;
    for (unsigned op = 0; op < FINDING_OPS; op++)
        for (unsigned by = 1; by < FINDING_SERVED; by++)
            f->cost[op][by] = by == 1 ? 1 : f->o.ratio;
}

/* Section 2.2.2: what the accesses would save if those that missed were hits, of what all cost. */
static void find_bounds(struct findings *f)
{
    double all = 0;

    price(f);
    for (unsigned op = 0; op < FINDING_OPS; op++)
        for (unsigned by = 1; by < FINDING_SERVED; by++)
            all += (double)f->served[op][by] * f->cost[op][by];
    for (size_t i = 0; i < f->count; i++) {
        struct finding *to = &f->finding[i];
        double saved = 0;

        for (unsigned op = 0; op < FINDING_OPS; op++)
            for (unsigned by = 2; by < FINDING_SERVED; by++)
                if (f->cost[op][by] > f->cost[op][1])
                    saved += (double)to->served[op][by] * (f->cost[op][by] - f->cost[op][1]);
        to->bound = all > 0 ? saved / all : 0;
    }
}

/* ---- findings ---- */

static void add_cell(struct finding *to, const struct finding *cell)
{
    to->misses = cf_sum(to->misses, cell->misses);
    to->samples += cell->samples;
    to->fine += cell->fine;
    to->lines += cell->lines;
    for (unsigned op = 0; op < FINDING_OPS; op++)
        for (unsigned by = 0; by < FINDING_SERVED; by++)
            to->served[op][by] = cf_sum(to->served[op][by], cell->served[op][by]);
}

static int worst_first(const void *x, const void *y)
{
    const struct finding *a = x, *b = y;

    const int most = cf_order(b->misses, a->misses) ?: cf_order(b->samples, a->samples);

    return most ?: cf_order(a->into, b->into);
}

/* Leaves the cells into which others went, in their order, and has the lists be of those. */
static void keep_findings(struct findings *f)
{
    uint32_t *place = cf_need(f->tool, malloc((f->count + 1) * sizeof *place));
    size_t kept = 0;

    for (uint32_t i = 0; i < f->count; i++)
        if (root(f, i) != i)
            add_cell(&f->finding[f->finding[i].into], &f->finding[i]);
    for (size_t i = 0; i < f->count; i++)
        if (f->finding[i].into == i)
            f->finding[kept++] = f->finding[i];
    if (kept)
        qsort(f->finding, kept, sizeof *f->finding, worst_first);
    for (size_t i = 0; i < kept; i++)
        place[f->finding[i].into] = (uint32_t)i;
    for (unsigned p = 0; p < FINDING_PARTS; p++)
        for (size_t i = 0; i < f->list[p].count; i++)
            f->list[p].share[i].of = place[f->list[p].share[i].of];
    f->count = kept;
    free(place);
}

void findings_group(struct findings *f)
{
    if (f->foreign)
        cf_die(f->tool, CF_EXIT_INPUT,
               "the accesses have class %s, which rule cacheperf does not give: --cacheperf takes "
               "the stream of cf-classify --rule cacheperf",
               cf_class_name(f->foreign) ? cf_class_name(f->foreign) : "[unknown]");
    findings_sort_objects(f);
    find_origins(f);
    sort_list(f, FINDING_OWNERS);
    sort_list(f, FINDING_STATEMENTS);
    join_cells(f);
    for (unsigned p = 0; p < FINDING_PARTS; p++)
        join_list(f, p);
    keep_findings(f);
    for (unsigned p = 0; p < FINDING_PARTS; p++)
        sort_list(f, p);
    find_bounds(f);
}
