/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survivors.c - of placement.h: how many of certain lines are cached after so many rounds.
 *
 * How many lines a set has in all is known only at the end, so counts are kept by set. Sets that
 * held none of their lines are not counted one by one: they are what is missing to the number of
 * snapshots. Most sets hold as many in one snapshot as in the next: such runs are counted beside
 * the table of counters, and added to it when they end.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/counts.h"
#include "filters/engine/placement.h"

/* Snapshots in a row of one number of rounds in which a set held `cached` lines. */
struct run {
    uint32_t rounds, cached;
    uint64_t count;
};

struct cf_survivors {
    int found;
    uint32_t lines;
    struct cf_counts *snapshots; /* a: rounds */
    struct cf_counts *known;     /* a: set, b: line */
    struct cf_counts *cached;    /* a: rounds, b: set and number */
    struct run *run;             /* of each set of the layout */
    uint32_t caches, set_room;
};

enum { NUMBER_BITS = 11 }; /* 0 to CF_TAGS_WAYS */

static uint64_t set_name(uint32_t cache, uint32_t set)
{
    return (uint64_t)cache << 32 | set;
}

struct cf_survivors *cf_survivors_new(int found, uint32_t lines)
{
    struct cf_survivors *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->found = found;
    s->lines = lines;
    s->snapshots = cf_counts_new();
    s->known = cf_counts_new();
    s->cached = cf_counts_new();
    if (!s->snapshots || !s->known || !s->cached) {
        cf_survivors_free(s);
        return NULL;
    }
    return s;
}

void cf_survivors_free(struct cf_survivors *s)
{
    if (!s)
        return;
    cf_counts_free(s->snapshots);
    cf_counts_free(s->known);
    cf_counts_free(s->cached);
    free(s->run);
    free(s);
}

static int up(struct cf_counts *c, uint64_t a, uint64_t b)
{
    uint64_t *n = cf_counts_at(c, a, b);

    if (!n)
        return -1;
    ++*n;
    return 0;
}

static int end_run(struct cf_survivors *s, struct run *r, uint32_t cache, uint32_t set)
{
    uint64_t *n;

    if (!r->count)
        return 0;
    n = cf_counts_at(s->cached, r->rounds, set_name(cache, set) << NUMBER_BITS | r->cached);
    if (!n)
        return -1;
    *n += r->count;
    r->count = 0;
    return 0;
}

static int end_runs(struct cf_survivors *s)
{
    for (uint32_t cache = 0; cache < s->caches; cache++)
        for (uint32_t set = 0; set < s->set_room; set++)
            if (end_run(s, &s->run[(size_t)cache * s->set_room + set], cache, set) != 0)
                return -1;
    return 0;
}

/* Room for the runs of a layout. */
static int make_runs(struct cf_survivors *s, const struct cf_tags *t)
{
    struct run *more;

    if (s->run && t->caches == s->caches && t->set_room == s->set_room)
        return 0;
    more = calloc((size_t)t->caches * t->set_room + 1, sizeof *more);
    if (!more || end_runs(s) != 0) {
        free(more);
        return -1;
    }
    free(s->run);
    s->run = more;
    s->caches = t->caches;
    s->set_room = t->set_room;
    return 0;
}

static int count_run(struct cf_survivors *s, uint32_t cache, uint32_t set, uint32_t rounds,
                     uint32_t cached)
{
    struct run *r = &s->run[(size_t)cache * s->set_room + set];

    if ((r->rounds != rounds || r->cached != cached) && end_run(s, r, cache, set) != 0)
        return -1;
    r->rounds = rounds;
    r->cached = cached;
    r->count++;
    return 0;
}

int cf_survivors_add(struct cf_survivors *s, const struct cf_tags *before,
                     const struct cf_tags *now, uint32_t rounds)
{
    uint64_t all = 0;

    if (up(s->snapshots, rounds, 0) != 0 || make_runs(s, now) != 0)
        return -1;
    for (uint32_t cache = 0; cache < now->caches; cache++)
        for (uint32_t set = 0; set < now->sets; set++) {
            const size_t slot = cf_tags_slot(now, cache, set);
            uint32_t n = 0;

            for (uint32_t w = 0; w < now->ways; w++)
                n += now->mark[slot + w];
            all += n;
            if (!s->found || !n)
                continue;
            if (count_run(s, cache, set, rounds, n) != 0)
                return -1;
            for (uint32_t w = 0; w < now->ways; w++)
                if (now->mark[slot + w] &&
                    (before->line[slot + w] != now->line[slot + w] || !before->mark[slot + w]) &&
                    !cf_counts_at(s->known, set_name(cache, set), now->line[slot + w]))
                    return -1;
        }
    if (!s->found && all && up(s->cached, rounds, all) != 0)
        return -1;
    return 0;
}

static int by_row(const void *x, const void *y)
{
    const struct cf_survivors_row *a = x, *b = y;

    if (a->rounds != b->rounds)
        return a->rounds < b->rounds ? -1 : 1;
    if (a->lines != b->lines)
        return a->lines < b->lines ? -1 : 1;
    return (a->cached > b->cached) - (a->cached < b->cached);
}

static struct cf_count *copied(const struct cf_counts *c)
{
    struct cf_count *all = malloc((cf_counts_size(c) + 1) * sizeof *all);

    if (all)
        cf_counts_copy(c, all);
    return all;
}

/* Lines of each set, and sets with so many lines. */
static int count_lines(const struct cf_survivors *s, struct cf_counts *of_set,
                       struct cf_counts *sets_of)
{
    struct cf_count *all = copied(s->known);
    size_t n = cf_counts_size(s->known);
    int bad = !all;

    for (size_t i = 0; i < n && !bad; i++)
        bad = up(of_set, all[i].a, 0) != 0;
    free(all);
    all = bad ? NULL : copied(of_set);
    bad = !all;
    n = cf_counts_size(of_set);
    for (size_t i = 0; i < n && !bad; i++)
        bad = up(sets_of, all[i].value, 0) != 0;
    free(all);
    if (!s->found && !bad)
        bad = up(sets_of, s->lines, 0) != 0;
    return bad ? -1 : 0;
}

/* Adds equal rows of a sorted list up, drops empty ones. */
static size_t pool(struct cf_survivors_row *row, size_t n)
{
    size_t kept = 0;

    qsort(row, n, sizeof *row, by_row);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_row(&row[kept - 1], &row[i]) == 0)
            row[kept - 1].count += row[i].count;
        else
            row[kept++] = row[i];
    }
    n = kept;
    kept = 0;
    for (size_t i = 0; i < n; i++)
        if (row[i].count)
            row[kept++] = row[i];
    return kept;
}

/* The rows of sets that held some of their lines, then those of sets that held none. */
static struct cf_survivors_row *all_rows(const struct cf_survivors *s, struct cf_counts *of_set,
                                         struct cf_counts *sets_of, size_t *count)
{
    const size_t some = cf_counts_size(s->cached), snaps = cf_counts_size(s->snapshots),
                 sizes = cf_counts_size(sets_of);
    struct cf_survivors_row *row = malloc((some + snaps * sizes + 1) * sizeof *row);
    struct cf_count *cached = copied(s->cached), *snap = copied(s->snapshots),
                    *size = copied(sets_of);
    struct cf_counts *held = cf_counts_new(); /* a: rounds, b: lines */
    size_t n = 0;
    int bad = !row || !cached || !snap || !size || !held;

    for (size_t i = 0; i < some && !bad; i++) {
        const uint64_t set = cached[i].b >> NUMBER_BITS, mask = (1u << NUMBER_BITS) - 1;
        const uint32_t rounds = (uint32_t)cached[i].a;
        const uint32_t k = (uint32_t)(s->found ? cached[i].b & mask : cached[i].b);
        const uint32_t lines = s->found ? (uint32_t)cf_counts_get(of_set, set, 0) : s->lines;
        uint64_t *h = cf_counts_at(held, rounds, lines);

        bad = !h;
        if (h)
            *h += cached[i].value;
        row[n++] = (struct cf_survivors_row){rounds, lines, k, cached[i].value,
                                             cf_counts_get(s->snapshots, rounds, 0)};
    }
    for (size_t i = 0; i < snaps && !bad; i++)
        for (size_t j = 0; j < sizes; j++)
            row[n++] = (struct cf_survivors_row){
                (uint32_t)snap[i].a, (uint32_t)size[j].a, 0,
                snap[i].value * size[j].value - cf_counts_get(held, snap[i].a, size[j].a), 0};
    if (!bad)
        *count = pool(row, n);
    for (size_t i = 0; !bad && i < *count; i++)
        row[i].total =
            cf_counts_get(s->snapshots, row[i].rounds, 0) * cf_counts_get(sets_of, row[i].lines, 0);
    cf_counts_free(held);
    free(cached);
    free(snap);
    free(size);
    if (bad) {
        free(row);
        return NULL;
    }
    return row;
}

struct cf_survivors_row *cf_survivors_rows(struct cf_survivors *s, size_t *count)
{
    struct cf_counts *of_set = cf_counts_new(), *sets_of = cf_counts_new();
    struct cf_survivors_row *row = NULL;

    *count = 0;
    if (of_set && sets_of && end_runs(s) == 0 && count_lines(s, of_set, sets_of) == 0)
        row = all_rows(s, of_set, sets_of, count);
    cf_counts_free(of_set);
    cf_counts_free(sets_of);
    return row;
}
