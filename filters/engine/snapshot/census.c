/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * census.c - lines and reused lines of each group in each snapshot (see census.h).
 *
 * In: frames. Out: a list of snapshots with a list of cells. A counter holds both numbers of a
 * group, lines in its low and reused ones in its high half. Rows take turns in four words of it,
 * since one word can only be raised every few cycles and neighbours are often of one group.
 */
#include <stdlib.h>

#include "filters/engine/snapshot/census.h"
#include "filters/engine/snapshot/lineset.h"
#include "filters/engine/snapshot/listing.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"

enum {
    SLICE = CF_CENSUS_SLICE,
    TURNS = 4,
    LEVELS = CF_CENSUS_LEVELS,
};

struct counter {
    uint64_t of[TURNS];
};

/* What is counted of one level. */
struct cf_census_level {
    int open;        /* a snapshot has begun */
    size_t snapshot; /* which one */
    uint32_t segment;
    struct cf_lineset *lines; /* by their names, where reused ones are counted */
    struct cf_listing *listing;
    struct counter *counter; /* of each group */
    size_t room;
    struct cf_groups *cpus; /* of the caches that the segment's lines name so far */
    uint32_t *caches;       /* how many these are, by segment */
    size_t segments;
};

/* ---- one snapshot of a level ---- */

static int close_snapshot(struct cf_census *c, struct cf_census_level *l)
{
    struct cf_census_snapshot *s = &c->snapshot[l->snapshot];

    s->first = c->cells;
    for (size_t g = 0; g < l->room; g++) {
        uint64_t sum = 0;

        for (unsigned t = 0; t < TURNS; t++)
            sum += l->counter[g].of[t];
        if (!sum)
            continue;
        l->counter[g] = (struct counter){0};
        if (cf_array_room(&c->cell, &c->cell_room, c->cells + 1, sizeof *c->cell) != 0)
            return CF_CENSUS_NO_MEMORY;
        c->cell[c->cells++] =
            (struct cf_census_cell){(uint32_t)g, (uint32_t)sum, (uint32_t)(sum >> 32)};
        s->listed += (uint32_t)sum;
    }
    s->cells = (uint32_t)(c->cells - s->first);
    l->open = 0;
    return 0;
}

static void level_free(struct cf_census_level *l)
{
    cf_groups_free(l->cpus);
    cf_listing_free(l->listing);
    cf_lineset_free(l->lines);
    free(l->counter);
    free(l->caches);
    free(l);
}

static struct cf_census_level *level_new(const struct cf_census *c)
{
    struct cf_census_level *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->cpus = cf_groups_new();
    l->listing = cf_listing_new();
    if (c->reuse)
        l->lines = cf_lineset_new();
    if (!l->cpus || !l->listing || (c->reuse && !l->lines)) {
        level_free(l);
        return NULL;
    }
    return l;
}

/* Its caches are not those of the segment before. 0, or -1 without memory. */
static int begin_segment(struct cf_census_level *l, uint32_t segment)
{
    if (cf_array_cleared(&l->caches, &l->segments, segment + (size_t)1, sizeof *l->caches) != 0)
        return CF_CENSUS_NO_MEMORY;
    if (cf_groups_count(l->cpus)) {
        cf_groups_free(l->cpus);
        l->cpus = cf_groups_new();
    }
    if (l->lines)
        cf_lineset_next(l->lines); /* nothing was before the first of a segment */
    l->segment = segment;
    return l->cpus ? 0 : CF_CENSUS_NO_MEMORY;
}

static int begin(struct cf_census *c, const struct cf_snapshot *s)
{
    struct cf_census_level *l = c->level[s->level];
    int bad;

    if (!l && !(l = c->level[s->level] = level_new(c)))
        return CF_CENSUS_NO_MEMORY;
    if (l->open && (bad = close_snapshot(c, l)) != 0)
        return bad;
    cf_listing_next(l->listing);
    if (l->lines)
        cf_lineset_next(l->lines);
    if (l->segment != s->segment && (bad = begin_segment(l, s->segment)) != 0)
        return bad;
    if (cf_array_room(&c->snapshot, &c->snapshot_room, c->snapshots + 1, sizeof *c->snapshot) != 0)
        return CF_CENSUS_NO_MEMORY;
    l->open = 1;
    l->snapshot = c->snapshots;
    c->snapshot[c->snapshots++] = (struct cf_census_snapshot){.is = *s};
    return 0;
}

/* ---- what a row is ---- */

static int number(struct cf_groups *g, const uint32_t *column, uint32_t from, uint32_t n,
                  uint32_t *to)
{
    static const uint32_t none[SLICE];

    return cf_groups_number(g, column ? column + from : none, sizeof *column, n, to);
}

/* c->group of n rows of a segment, n at most SLICE. */
static int number_groups(struct cf_census *c, const struct cf_frame *f, uint32_t segment,
                         uint32_t from, uint32_t n)
{
    const uint8_t *state = cf_u8(f, CF_STATE);
    const uint32_t *pid = cf_u32(f, CF_PID);
    int bad;

    switch (c->by) {
    case CF_CENSUS_PROCESS:
        if (c->apart)
            break;
        if (!c->together)
            return number(c->groups, cf_u32(f, CF_PID), from, n, c->group);
        for (uint32_t i = 0; i < n; i++)
            c->value[i] = pid && pid[from + i];
        return number(c->groups, c->value, 0, n, c->group);
    case CF_CENSUS_CPU:
        return number(c->groups, cf_u32(f, CF_CPU), from, n, c->group);
    case CF_CENSUS_STATE:
        for (uint32_t i = 0; i < n; i++)
            c->value[i] = state ? state[from + i] : 0;
        return number(c->groups, c->value, 0, n, c->group);
    case CF_CENSUS_REGION:
        break;
    }
    bad = number(c->pids, pid, from, n, c->pid);
    for (uint32_t i = 0; c->apart && i < n; i++)
        c->value[i] = segment;
    if (!bad)
        bad = c->apart ? number(c->values, c->value, 0, n, c->value)
                       : number(c->values, cf_u32(f, CF_REGION), from, n, c->value);
    if (bad)
        return bad;
    for (uint32_t i = 0; i < n; i++)
        c->value[i] |= c->pid[i] << 16;
    return number(c->groups, c->value, 0, n, c->group);
}

/* c->name of n rows: 0 where there is no address. */
static void name_lines(struct cf_census *c, uint32_t from, uint32_t n)
{
    const uint64_t *phys = c->phys, *addr = c->addr;
    int lacking = !phys;

    for (uint32_t i = 0; phys && i < n; i++) {
        c->name[i] = phys[from + i] & ~(uint64_t)1;
        lacking |= !c->name[i];
    }
    for (uint32_t i = 0; lacking && i < n; i++)
        c->name[i] = cf_line_name(phys ? phys[from + i] : 0, addr ? addr[from + i] : 0,
                                  c->owner ? c->owner[from + i] : 0);
}

/* Lines are multiples of 64 or so: turned by 6 bits, the low bits of their names differ, which
   choose buckets. The number of the cache is spread over the upper half, where neither a physical
   address nor a process makes the like. */
static void make_keys(struct cf_census *c, const uint32_t *cache, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = c->name[i] >> 6 | c->name[i] << 58;

        c->key[i] = key ^ (cache ? (uint64_t)(cache[i] * 0x9e3779b1u) << 32 : 0);
        /* to the set of lines, all bits set would be none */
        c->key[i] -= c->key[i] == UINT64_MAX;
    }
}

/* c->place of n rows: set and way, where a cache has one line at a time; where they are not known
   the line's name. */
static void place_lines(struct cf_census *c, const struct cf_frame *f, uint32_t from, uint32_t n)
{
    const uint32_t *set = cf_u32(f, CF_SET), *way = cf_u32(f, CF_WAY);

    if (set && way)
        for (uint32_t i = 0; i < n; i++)
            c->place[i] = ((uint64_t)set[from + i] << 32 | way[from + i]) + 1;
    else
        for (uint32_t i = 0; i < n; i++)
            c->place[i] = c->phys || c->name[i] ? c->name[i] + 1 : CF_LISTING_ALONE;
}

/* What has no address is not known to be what was there before. */
static void leave_nameless(struct cf_census *c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const unsigned none = !c->name[i];

        c->before[i] &= (uint8_t)!none;
        c->nameless += none;
    }
}

/* A line counts once in each group that has it, and is reused when one of its rows there is. */
static int count(struct cf_census *c, struct cf_census_level *l, const uint32_t *cache, uint32_t n)
{
    struct cf_census_snapshot *s = &c->snapshot[l->snapshot];
    const int repeats =
        cf_listing_add(l->listing, c->place, cache, c->group, c->before, n, c->first);

    if (repeats < 0)
        return CF_CENSUS_NO_MEMORY;
    if (cf_array_cleared(&l->counter, &l->room, cf_groups_count(c->groups), sizeof *l->counter) !=
        0)
        return CF_CENSUS_NO_MEMORY;
    for (uint32_t i = 0; i < n && !repeats; i++)
        l->counter[c->group[i]].of[i % TURNS] += 1 | (uint64_t)c->before[i] << 32;
    s->lines += repeats ? 0 : n;
    for (uint32_t i = 0; i < n && repeats; i++) {
        s->lines += (c->first[i] & CF_FIRST_OF_LINE) != 0;
        l->counter[c->group[i]].of[i % TURNS] += (c->first[i] & CF_FIRST_OF_GROUP ? 1 : 0) |
                                                 (c->first[i] & CF_FIRST_REUSED ? 1ull << 32 : 0);
    }
    return 0;
}

static int rows(struct cf_census *c, const struct cf_snapshot *s, const struct cf_frame *f,
                uint32_t from, uint32_t to)
{
    struct cf_census_level *l = c->level[s->level];
    const uint32_t *cpu = cf_u32(f, CF_CPU), *const cache = cpu ? c->cpu : NULL;

    for (uint32_t n; from < to; from += n) {
        int bad;

        n = to - from < SLICE ? to - from : SLICE;
        bad = number_groups(c, f, s->segment, from, n);
        if (!bad && cpu)
            bad = number(l->cpus, cpu, from, n, c->cpu);
        l->caches[s->segment] = cf_groups_count(l->cpus);
        if (c->named)
            name_lines(c, from, n);
        if (!bad && l->lines) {
            make_keys(c, cache, n);
            bad = cf_lineset_add(l->lines, c->key, n, c->before, NULL);
            if (!c->phys)
                leave_nameless(c, n);
        }
        place_lines(c, f, from, n);
        if (!bad)
            bad = count(c, l, cache, n);
        if (bad)
            return bad;
    }
    return 0;
}

/* ---- the whole ---- */

struct cf_census *cf_census_new(enum cf_census_by by, int reuse, uint8_t level)
{
    struct cf_census *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->by = by;
    c->reuse = reuse;
    c->walk = cf_snapshots_new(level);
    c->pids = cf_groups_new();
    c->values = cf_groups_new();
    c->groups = cf_groups_new();
    if (!c->walk || !c->pids || !c->values || !c->groups) {
        cf_census_free(c);
        return NULL;
    }
    return c;
}

void cf_census_free(struct cf_census *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < LEVELS; i++)
        if (c->level[i])
            level_free(c->level[i]);
    cf_snapshots_free(c->walk);
    cf_groups_free(c->pids);
    cf_groups_free(c->values);
    cf_groups_free(c->groups);
    free(c->snapshot);
    free(c->cell);
    free(c);
}

void cf_census_want(const struct cf_census *c, struct cf_reader *r)
{
    cf_snapshots_want(r);
    cf_reader_want(r, CF_LINE, CF_CPU, c->by == CF_CENSUS_CPU ? CF_REQUIRED : CF_OPTIONAL);
    cf_reader_want_each(r, CF_LINE, CF_OPTIONAL, CF_SET, CF_WAY);
    if (c->by == CF_CENSUS_STATE)
        cf_reader_want(r, CF_LINE, CF_STATE, CF_REQUIRED);
    if (c->by == CF_CENSUS_REGION)
        cf_reader_want(r, CF_LINE, CF_REGION, CF_REQUIRED);
    if (c->by == CF_CENSUS_PROCESS || c->by == CF_CENSUS_REGION)
        cf_reader_want(r, CF_LINE, CF_PID, CF_OPTIONAL);
    if (c->reuse)
        cf_reader_want_each(r, CF_LINE, CF_OPTIONAL, CF_PID, CF_PHYS, CF_ADDR);
}

/* The walk's events of a frame, or of the end with `f` NULL. */
static int walk(struct cf_census *c, const struct cf_frame *f)
{
    struct cf_snapshots_event e;
    int bad = 0;

    while (!bad && cf_snapshots_next(c->walk, &e))
        if (e.what == CF_SNAPSHOTS_BEGIN)
            bad = begin(c, e.is);
        else if (e.what == CF_SNAPSHOTS_ROWS)
            bad = rows(c, e.is, f, e.from, e.to);
    return bad;
}

int cf_census_frame(struct cf_census *c, const struct cf_frame *f)
{
    c->named = f->table == CF_LINE && (c->reuse || !cf_u32(f, CF_SET) || !cf_u32(f, CF_WAY));
    c->phys = c->named ? cf_late_values(f, CF_PHYS) : NULL;
    c->addr = c->named ? cf_late_values(f, CF_ADDR) : NULL;
    c->owner = c->named ? cf_late_values(f, CF_PID) : NULL;
    return cf_snapshots_frame(c->walk, f) != 0 ? CF_CENSUS_NO_MEMORY : walk(c, f);
}

int cf_census_end(struct cf_census *c)
{
    int bad;

    cf_snapshots_end(c->walk);
    bad = walk(c, NULL);
    for (unsigned i = 0; i < LEVELS && !bad; i++)
        if (c->level[i] && c->level[i]->open)
            bad = close_snapshot(c, c->level[i]);
    return bad;
}

struct cf_census_group cf_census_group(const struct cf_census *c, uint32_t group)
{
    const uint32_t value = (uint32_t)cf_groups_value(c->groups, group);

    switch (c->by) {
    case CF_CENSUS_PROCESS:
        if (!c->apart)
            return (struct cf_census_group){.pid = value};
        return (struct cf_census_group){
            .stream = (uint32_t)cf_groups_value(c->values, value & 0xffff),
            .pid = (uint32_t)cf_groups_value(c->pids, value >> 16),
        };
    case CF_CENSUS_REGION:
        return (struct cf_census_group){
            .pid = (uint32_t)cf_groups_value(c->pids, value >> 16),
            .value = (uint32_t)cf_groups_value(c->values, value & 0xffff),
        };
    default:
        return (struct cf_census_group){.value = value};
    }
}

uint64_t cf_census_room(const struct cf_census *c, const struct cf_snapshot *s)
{
    const struct cf_census_level *l = c->level[s->level];
    const uint32_t caches = l ? l->caches[s->segment] : 0;
    uint64_t all = (uint64_t)s->sets * s->ways;

    return __builtin_mul_overflow(all, caches ? caches : 1, &all) ? 0 : all;
}

struct ranked {
    uint64_t total;
    struct cf_census_group is;
    uint32_t group;
};

static int by_total(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = cf_order(y->total, x->total) ?: cf_order(x->is.stream, y->is.stream);

    order = order ?: cf_order(x->is.pid, y->is.pid);
    return order ?: cf_order(x->is.value, y->is.value);
}

int cf_census_rank(const struct cf_census *c, int level, uint32_t *order, uint64_t *total)
{
    const uint32_t groups = cf_groups_count(c->groups);
    struct ranked *r = calloc((size_t)groups + 1, sizeof *r);

    if (!r)
        return -1;
    for (size_t i = 0; i < c->snapshots; i++) {
        const struct cf_census_snapshot *s = &c->snapshot[i];

        for (uint32_t k = 0; (level < 0 || s->is.level == level) && k < s->cells; k++)
            r[c->cell[s->first + k].group].total += c->cell[s->first + k].lines;
    }
    for (uint32_t g = 0; g < groups; g++) {
        r[g].group = g;
        r[g].is = cf_census_group(c, g);
        total[g] = r[g].total;
    }
    qsort(r, groups, sizeof *r, by_total);
    for (uint32_t g = 0; g < groups; g++)
        order[g] = r[g].group;
    free(r);
    return 0;
}
