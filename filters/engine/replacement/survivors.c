/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survivors.c - of placement.h: how many of certain lines are cached after so many rounds.
 *
 * How many lines a set has in all is known only at the end, so counts are kept by set. Sets that
 * held none of their lines are not counted one by one: they are what is missing to the number of
 * snapshots. The counts of a few rounds stand in arrays, by set and number of lines; they are added
 * to the table of counters when other rounds take their place, and at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/engine/replacement/placement.h"

/* In how many snapshots of one number of rounds a set held so many of its lines. */
struct tally {
    uint32_t rounds, snapshots;
    uint32_t *count; /* by set of the layout and number of lines */
};

enum {
    TALLIES = 16,
    TALLY_ROOM = 1 << 22 /* counts of all of them, where one does not take more */
};

struct cf_survivors {
    int found;
    uint32_t lines;
    struct cf_counts *snapshots; /* a: rounds */
    struct cf_counts *known;     /* a: set, b: line */
    struct cf_counts *cached;    /* a: rounds, b: set and number */
    struct tally tally[TALLIES];
    uint32_t tallies; /* that are in use, by rounds modulo their number; 0 = no layout yet */
    uint32_t caches, set_room, way_room;
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
    for (int i = 0; i < TALLIES; i++)
        free(s->tally[i].count);
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

/* Counts of a set: of 0 to way_room lines. */
static size_t tally_place(const struct cf_survivors *s, uint32_t cache, uint32_t set)
{
    return ((size_t)cache * s->set_room + set) * ((size_t)s->way_room + 1);
}

static int end_tally(struct cf_survivors *s, struct tally *t)
{
    for (uint32_t cache = 0; t->snapshots && cache < s->caches; cache++)
        for (uint32_t set = 0; set < s->set_room; set++) {
            uint32_t *count = t->count + tally_place(s, cache, set);

            for (uint32_t k = 1; k <= s->way_room; k++) {
                uint64_t *n;

                if (!count[k])
                    continue;
                n = cf_counts_at(s->cached, t->rounds, set_name(cache, set) << NUMBER_BITS | k);
                if (!n)
                    return -1;
                *n += count[k];
                count[k] = 0;
            }
        }
    t->snapshots = 0;
    return 0;
}

static int end_tallies(struct cf_survivors *s)
{
    for (uint32_t i = 0; i < s->tallies; i++)
        if (end_tally(s, &s->tally[i]) != 0)
            return -1;
    return 0;
}

static int take_layout(struct cf_survivors *s, const struct cf_tags *t)
{
    size_t size;

    if (s->tallies && t->caches == s->caches && t->set_room == s->set_room &&
        t->way_room == s->way_room)
        return 0;
    if (end_tallies(s) != 0)
        return -1;
    for (int i = 0; i < TALLIES; i++) {
        free(s->tally[i].count);
        s->tally[i] = (struct tally){0};
    }
    s->caches = t->caches;
    s->set_room = t->set_room;
    s->way_room = t->way_room;
    size = tally_place(s, s->caches, 0);
    s->tallies = size >= TALLY_ROOM             ? 1
                 : size * TALLIES <= TALLY_ROOM ? TALLIES
                                                : (uint32_t)(TALLY_ROOM / size);
    return 0;
}

/* The counts that a snapshot goes to. NULL without memory. */
static uint32_t *tally_of(struct cf_survivors *s, uint32_t rounds)
{
    struct tally *t = &s->tally[rounds % s->tallies];

    if (!t->count)
        t->count = calloc(tally_place(s, s->caches, 0) + 1, sizeof *t->count);
    if (!t->count || ((t->rounds != rounds || t->snapshots == UINT32_MAX) && end_tally(s, t) != 0))
        return NULL;
    t->rounds = rounds;
    t->snapshots++;
    return t->count;
}

/* How many of the marks, which are 0 or 1, are set. */
static uint32_t marked(const uint8_t *mark, uint32_t ways)
{
    uint32_t n = 0;

    for (; ways >= 8; ways -= 8, mark += 8) {
        uint64_t eight;

        memcpy(&eight, mark, 8);
        n += (uint32_t)(eight * 0x0101010101010101u >> 56);
    }
    while (ways)
        n += mark[--ways];
    return n;
}

/* Marked lines of a set that was another one before. */
static int know_lines(struct cf_survivors *s, const struct cf_tags *before,
                      const struct cf_tags *now, uint32_t cache, uint32_t set)
{
    const size_t slot = cf_tags_slot(now, cache, set);

    if (!memcmp(before->line + slot, now->line + slot, now->ways * sizeof *now->line) &&
        !memcmp(before->mark + slot, now->mark + slot, now->ways))
        return 0;
    for (uint32_t w = 0; w < now->ways; w++)
        if (now->mark[slot + w] &&
            (before->line[slot + w] != now->line[slot + w] || !before->mark[slot + w]) &&
            !cf_counts_at(s->known, set_name(cache, set), now->line[slot + w]))
            return -1;
    return 0;
}

int cf_survivors_add(struct cf_survivors *s, const struct cf_tags *before,
                     const struct cf_tags *now, uint32_t rounds)
{
    uint32_t *count = NULL;
    uint64_t all = 0;

    if (up(s->snapshots, rounds, 0) != 0 || take_layout(s, now) != 0 ||
        (s->found && !(count = tally_of(s, rounds))))
        return -1;
    for (uint32_t cache = 0; cache < now->caches; cache++)
        for (uint32_t set = 0; set < now->sets; set++) {
            const uint32_t n = marked(now->mark + cf_tags_slot(now, cache, set), now->ways);

            all += n;
            if (!s->found || !n)
                continue;
            count[tally_place(s, cache, set) + n]++;
            if (know_lines(s, before, now, cache, set) != 0)
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
    if (of_set && sets_of && end_tallies(s) == 0 && count_lines(s, of_set, sets_of) == 0)
        row = all_rows(s, of_set, sets_of, count);
    cf_counts_free(of_set);
    cf_counts_free(sets_of);
    return row;
}
