/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_before.c - two recordings compared: the values of each key before and after.
 * Memory: 40 bytes a key.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filters/parts/rank/rank.h"

struct change {
    const struct cf_rank_item
        *item[2]; /* before and after; that of a key which is not there has no sums */
    const struct cf_rank_key *key;
    double value[2]; /* that sorts */
};

static double value_of(const struct rank *k, const struct cf_rank_item *i, unsigned v)
{
    return k->sums.list[v].kind == CF_SUM_RATIO ? cf_sums_ratio(&k->sums, i->sum)
                                                : (double)i->sum[v];
}

static int by_key(const void *x, const void *y, void *ranking)
{
    return cf_ranking_order(ranking, ((const struct cf_rank_item *)x)->key,
                            ((const struct cf_rank_item *)y)->key);
}

static int by_difference(const void *x, const void *y, void *ranking)
{
    const struct change *c = x, *d = y;
    const double a = fabs(c->value[1] - c->value[0]), b = fabs(d->value[1] - d->value[0]);

    return a != b ? (a < b) - (a > b) : cf_ranking_order(ranking, c->key, d->key);
}

/* Pairs the keys of both, which it sorts by key. */
static size_t pair(const struct rank *k, const struct cf_ranked *before,
                   const struct cf_ranked *after, struct change *change)
{
    static const uint64_t nothing[CF_MOST_SUMS];
    static const struct cf_rank_item none = {.sum = nothing};
    size_t n = 0;

    qsort_r(before->item, before->count, sizeof *before->item, by_key, (void *)&k->c);
    qsort_r(after->item, after->count, sizeof *after->item, by_key, (void *)&k->c);
    for (size_t b = 0, a = 0; b < before->count || a < after->count; n++) {
        const int order = b == before->count ? 1
                          : a == after->count
                              ? -1
                              : cf_ranking_order(&k->c, before->item[b].key, after->item[a].key);
        struct change *c = &change[n];

        c->item[0] = order <= 0 ? &before->item[b++] : &none;
        c->item[1] = order >= 0 ? &after->item[a++] : &none;
        c->key = (order <= 0 ? c->item[0] : c->item[1])->key;
        for (int i = 0; i < 2; i++) {
            c->value[i] = value_of(k, c->item[i], k->o.sort);
            c->value[i] = isnan(c->value[i]) ? 0 : c->value[i];
        }
    }
    qsort_r(change, n, sizeof *change, by_difference, (void *)&k->c);
    return n;
}

static void print_change(const struct rank *k, const struct moved *moved, const struct change *c)
{
    const struct cf_rank_key *old = c->item[0]->key;

    print_keys(k, c->key, moved && old ? rank_moved_from(moved, old) : old);
    for (unsigned v = 0; v < k->sums.shown; v++)
        for (int i = 0; i < 2; i++)
            if (k->sums.list[v].kind == CF_SUM_RATIO)
                cf_csv_f64(stdout, 0, cf_sums_ratio(&k->sums, c->item[i]->sum), 6);
            else
                cf_csv_u64(stdout, 0, c->item[i]->sum[v]);
    if (k->sums.list[k->o.sort].kind == CF_SUM_RATIO)
        cf_csv_f64(stdout, 0, c->value[1] - c->value[0], 6);
    else
        printf(",%" PRId64, (int64_t)(c->item[1]->sum[k->o.sort] - c->item[0]->sum[k->o.sort]));
    cf_csv_f64(stdout, 0, c->value[0] > 0 ? c->value[1] / c->value[0] : NAN, 4);
    cf_csv_end(stdout);
}

/* The sum of all keys; NAN: of no access, or its ratio. */
static double total(const struct rank *k, const struct cf_ranked *r)
{
    uint64_t sum[CF_MOST_SUMS] = {0};
    const struct cf_rank_item all = {.sum = sum};

    for (size_t i = 0; i < r->count; i++)
        for (unsigned v = 0; v < k->sums.count; v++)
            sum[v] += r->item[i].sum[v];
    return k->c.counted ? value_of(k, &all, k->o.sort) : NAN;
}

/* What all of them did, and whether it is too much, or cannot be judged. */
static int judge(const struct rank *k, double before, double after)
{
    const char *name = cf_sum_name(&k->sums.list[k->o.sort]);
    const double percent = before > 0 ? 100 * (after / before - 1) : after > 0 ? INFINITY : 0;
    const int unknown = isnan(before) || isnan(after);
    const int fails = k->o.fails && (unknown || percent > k->o.fail_above);

    if (unknown && (!k->tool->quiet || fails))
        cf_warn(k->tool, "%s of all: nothing to compare, since no access counts %s%s", name,
                !isnan(before) ? "after"
                : isnan(after) ? "before and after"
                               : "before",
                fails ? ", and --fail-above cannot be judged" : "");
    else if (!k->tool->quiet || fails)
        cf_warn(k->tool, "%s of all: %.10g before, %.10g after, %+.2f %%", name, before, after,
                percent);
    if (fails && !unknown)
        cf_warn(k->tool, "that is more than the %.10g %% of --fail-above", k->o.fail_above);
    return fails ? CF_EXIT_INPUT : CF_EXIT_OK;
}

int print_changes(const struct rank *old, struct cf_ranked *before, const struct rank *k,
                  const struct cf_ranked *after)
{
    struct change *change =
        cf_need(k->tool, calloc(before->count + after->count + 1, sizeof *change));
    const struct moved *moved = rank_moved(old, before, k, after);
    const size_t count = pair(k, before, after, change);

    print_key_names(k);
    for (unsigned v = 0; v < k->sums.shown; v++) {
        const char *name = cf_sum_name(&k->sums.list[v]);

        printf(",%s_before,%s_after", name, name);
    }
    puts(",difference,ratio");
    for (size_t i = 0; i < count && i < k->o.top; i++) {
        cf_csv_u64(stdout, 1, i + 1);
        print_change(k, moved, &change[i]);
    }
    free(change);
    if (k->o.top_assumed && count > k->o.top && !k->tool->quiet)
        cf_warn(k->tool, "%zu more %s: --top %zu prints all", count - (size_t)k->o.top,
                rank_plural(k), count);
    return judge(k, total(old, before), total(k, after));
}
