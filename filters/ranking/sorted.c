/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sorted.c - from the sums of numbers to a list of keys, and that with those of most first.
 *
 * Memory: the list, and for as long as it is made, the tables of keys once more.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/ranking.h"

static int by_key(const struct cf_rank_key *i, const struct cf_rank_key *j)
{
    int order = i->text && j->text ? strcmp(i->text, j->text) : (i->a > j->a) - (i->a < j->a);

    return order ? order : (i->b > j->b) - (i->b < j->b);
}

int cf_ranking_order(const struct cf_ranking *k, const struct cf_rank_key *x,
                     const struct cf_rank_key *y)
{
    int order = 0;

    for (unsigned part = 0; !order && part < k->keys; part++)
        order = by_key(&x[part], &y[part]);
    return order;
}

struct sorting {
    const struct cf_ranking *k;
    unsigned sum;
    int ratio;
};

static int by_value(const void *x, const void *y, void *sorting)
{
    const struct sorting *s = sorting;
    const struct cf_rank_item *i = x, *j = y;
    const uint64_t a = i->sum[s->sum], b = j->sum[s->sum];
    int order = s->ratio ? (i->ratio < j->ratio) - (i->ratio > j->ratio) : (a < b) - (a > b);

    return order ? order : cf_ranking_order(s->k, i->key, j->key);
}

/* The keys of a table by their number; NULL where there is no table. */
static struct cf_count *by_number(const struct cf_ranking *k, const struct cf_counts *c)
{
    const size_t size = c ? cf_counts_size(c) : 0;
    struct cf_count *any, *list;

    if (!c)
        return NULL;
    any = cf_need(k->tool, calloc(size + 1, sizeof(*any)));
    list = cf_need(k->tool, calloc(size + 1, sizeof(*list)));
    cf_counts_copy(c, any);
    for (size_t i = 0; i < size; i++)
        list[any[i].value - 1] = any[i];
    free(any);
    return list;
}

/* The parts of the key with a number. */
static void take_apart(const struct cf_ranking *k, struct cf_count *const *joined,
                       struct cf_count *const *numbers, uint64_t number, struct cf_ranked *r,
                       struct cf_rank_key *key)
{
    for (unsigned part = k->keys; part-- > 0;) {
        const enum cf_rank_by by = k->by[part];
        uint64_t own = part ? joined[part][number].b : number;

        number = part ? joined[part][number].a : 0;
        key[part] = numbers[part]
                        ? (struct cf_rank_key){numbers[part][own].a, numbers[part][own].b, NULL}
                        : (struct cf_rank_key){.a = own};
        if (cf_column_type(cf_rank_kinds[by].column) == CF_STR || by == CF_RANK_PAGE)
            key[part].text = cf_reader_text(k->reader, (uint32_t)key[part].a);
        if (by == CF_RANK_STACK)
            key[part].text = r->text[r->texts++] =
                cf_need(k->tool, cf_paths_text(k->paths, key[part].a));
    }
}

struct cf_ranked cf_ranking_list(const struct cf_ranking *k)
{
    const size_t keys = k->keys, values = k->sums->count;
    struct cf_count *joined[CF_MOST_KEYS], *numbers[CF_MOST_KEYS];
    struct cf_ranked r = {.count = 0};

    r.item = cf_need(k->tool, calloc(k->room + 1, sizeof(*r.item)));
    for (size_t i = 0; i < k->room; i++) {
        const uint64_t *sum = k->sum + i * values;
        uint64_t some = 0;

        for (size_t v = 0; v < values; v++)
            some |= sum[v];
        if (some)
            r.item[r.count++].sum = sum;
    }
    r.keys = cf_need(k->tool, calloc(r.count * keys + 1, sizeof(*r.keys)));
    r.text = cf_need(k->tool, calloc(k->paths ? r.count + 1 : 1, sizeof(*r.text)));
    for (unsigned i = 0; i < keys; i++) {
        joined[i] = by_number(k, k->joined[i]);
        numbers[i] = by_number(k, k->numbers[i]);
    }
    for (size_t i = 0; i < r.count; i++) {
        struct cf_rank_item *item = &r.item[i];

        item->key = &r.keys[i * keys];
        take_apart(k, joined, numbers, (uint64_t)(item->sum - k->sum) / values, &r,
                   &r.keys[i * keys]);
    }
    for (unsigned i = 0; i < keys; i++) {
        free(joined[i]);
        free(numbers[i]);
    }
    return r;
}

struct cf_ranked cf_ranking_sort(const struct cf_ranking *k, unsigned sort)
{
    struct sorting s = {k, sort, k->sums->list[sort].kind == CF_SUM_RATIO};
    struct cf_ranked r = cf_ranking_list(k);

    for (size_t i = 0; i < r.count && s.ratio; i++) {
        const double ratio = cf_sums_ratio(k->sums, r.item[i].sum);

        r.item[i].ratio = ratio >= 0 ? ratio : -1; /* of none */
    }
    qsort_r(r.item, r.count, sizeof(*r.item), by_value, &s);
    return r;
}
