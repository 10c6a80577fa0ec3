/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survivors.c - of placement.h: how many of certain lines are cached after so many rounds.
 *
 * How many lines a set has in all is known only at the end, so counts are kept by set. Sets that
 * held none of their lines are not counted one by one: they are what is missing to the number of
 * snapshots.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/engine/rows/counts.h"
#include "filters/engine/replacement/placement.h"
#include "formats/base/cf_number.h"

struct cf_survivors {
    int found;
    uint32_t lines;
    struct cf_counts *snapshots; /* a: rounds */
    struct cf_counts *known;     /* a: set, b: line */
    struct cf_counts *cached;    /* a: rounds, b: set and number */
};

enum {
    NUMBER_BITS = 11, /* 0 to CF_TAGS_WAYS */
    SETS = 64,
};

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
    free(s);
}

static int add(struct cf_counts *c, uint64_t a, uint64_t b, uint64_t value)
{
    uint64_t *n = cf_counts_at(c, a, b);

    if (!n)
        return -1;
    *n += value;
    return 0;
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
    /* sets that held some, to be counted together, which is faster than one by one */
    uint64_t a[SETS], b[SETS], one[SETS], all = 0;
    size_t sets = 0;

    for (int i = 0; i < SETS; i++) {
        a[i] = rounds;
        one[i] = 1;
    }
    if (add(s->snapshots, rounds, 0, 1) != 0)
        return -1;
    for (uint32_t cache = 0; cache < now->caches; cache++)
        for (uint32_t set = 0; set < now->sets; set++) {
            const uint8_t *mark = now->mark + cf_tags_slot(now, cache, set);
            uint32_t n = 0;

            for (uint32_t w = 0; w < now->ways; w++)
                n += mark[w];
            all += n;
            if (!s->found || !n)
                continue;
            b[sets++] = set_name(cache, set) << NUMBER_BITS | n;
            if ((sets == SETS && cf_counts_add(s->cached, a, b, one, sets) != 0) ||
                know_lines(s, before, now, cache, set) != 0)
                return -1;
            sets %= SETS;
        }
    if (cf_counts_add(s->cached, a, b, one, sets) != 0)
        return -1;
    if (!s->found && all && add(s->cached, rounds, all, 1) != 0)
        return -1;
    return 0;
}

static int by_row(const void *x, const void *y)
{
    const struct cf_survivors_row *a = x, *b = y;

    return cf_order(a->rounds, b->rounds)
               ?: cf_order(a->lines, b->lines) ?: cf_order(a->cached, b->cached);
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
        bad = add(of_set, all[i].a, 0, 1) != 0;
    free(all);
    all = bad ? NULL : copied(of_set);
    bad = !all;
    n = cf_counts_size(of_set);
    for (size_t i = 0; i < n && !bad; i++)
        bad = add(sets_of, all[i].value, 0, 1) != 0;
    free(all);
    if (!s->found && !bad)
        bad = add(sets_of, s->lines, 0, 1) != 0;
    return bad ? -1 : 0;
}

/* Rows, with a: rounds and lines, b: cached. Of the sets in all snapshots those that held none of
   their lines remain when those that held some are taken away. */
static int count_rows(const struct cf_survivors *s, const struct cf_counts *of_set,
                      const struct cf_counts *sets_of, struct cf_counts *rows)
{
    const size_t some = cf_counts_size(s->cached), snaps = cf_counts_size(s->snapshots);
    const size_t sizes = cf_counts_size(sets_of);
    struct cf_count *cached = copied(s->cached), *snap = copied(s->snapshots);
    struct cf_count *size = copied(sets_of);
    int bad = !cached || !snap || !size;

    for (size_t i = 0; i < snaps && !bad; i++)
        for (size_t j = 0; j < sizes && !bad; j++)
            bad = add(rows, snap[i].a << 32 | size[j].a, 0, snap[i].value * size[j].value) != 0;
    for (size_t i = 0; i < some && !bad; i++) {
        const uint64_t set = cached[i].b >> NUMBER_BITS, mask = (1u << NUMBER_BITS) - 1;
        const uint64_t lines = s->found ? cf_counts_get(of_set, set, 0) : s->lines;
        const uint64_t row = cached[i].a << 32 | lines;

        bad = add(rows, row, s->found ? cached[i].b & mask : cached[i].b, cached[i].value) != 0 ||
              add(rows, row, 0, -cached[i].value) != 0;
    }
    free(cached);
    free(snap);
    free(size);
    return bad ? -1 : 0;
}

/* The rows that occurred, in their order. */
static struct cf_survivors_row *list_rows(const struct cf_survivors *s,
                                          const struct cf_counts *sets_of,
                                          const struct cf_counts *rows, size_t *count)
{
    const size_t n = cf_counts_size(rows);
    struct cf_count *all = copied(rows);
    struct cf_survivors_row *row = malloc((n + 1) * sizeof *row);

    for (size_t i = 0; all && row && i < n; i++) {
        const uint32_t rounds = (uint32_t)(all[i].a >> 32), lines = (uint32_t)all[i].a;

        if (all[i].value)
            row[(*count)++] = (struct cf_survivors_row){
                rounds, lines, (uint32_t)all[i].b, all[i].value,
                cf_counts_get(s->snapshots, rounds, 0) * cf_counts_get(sets_of, lines, 0)};
    }
    if (!all) {
        free(row);
        return NULL;
    }
    free(all);
    if (row)
        qsort(row, *count, sizeof *row, by_row);
    return row;
}

struct cf_survivors_row *cf_survivors_rows(struct cf_survivors *s, size_t *count)
{
    struct cf_counts *of_set = cf_counts_new(), *sets_of = cf_counts_new();
    struct cf_counts *rows = cf_counts_new();
    struct cf_survivors_row *row = NULL;

    *count = 0;
    if (of_set && sets_of && rows && count_lines(s, of_set, sets_of) == 0 &&
        count_rows(s, of_set, sets_of, rows) == 0)
        row = list_rows(s, sets_of, rows, count);
    cf_counts_free(of_set);
    cf_counts_free(sets_of);
    cf_counts_free(rows);
    return row;
}
