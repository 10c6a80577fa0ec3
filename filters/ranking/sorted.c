/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sorted.c - from the sums of numbers to a list of keys, and that with those of most first.
 *
 * Memory: the list, and for as long as it is made, the tables of keys once more, and 64 bytes a
 * key.
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

/* ---- the order: by digits (Knuth, The Art of Computer Programming 3, 5.2.5), which reads what is
   compared once a word and not once a comparison. Millions of keys take a fifth of the time ---- */

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

struct place {
    uint64_t word;
    uint32_t item;
};

/* By rising words; places of equal ones keep their order. The result is in `*x`. */
static void by_word(struct place **x, struct place **spare, size_t n)
{
    uint64_t differ = 0;

    for (size_t i = 1; i < n; i++)
        differ |= (*x)[i].word ^ (*x)[0].word;
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT) {
        size_t at[DIGITS] = {0}, before = 0;
        struct place *const from = *x, *const to = *spare;

        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        for (size_t i = 0; i < n; i++)
            at[from[i].word >> shift & (DIGITS - 1)]++;
        for (unsigned d = 0; d < DIGITS; d++) {
            const size_t count = at[d];

            at[d] = before;
            before += count;
        }
        for (size_t i = 0; i < n; i++)
            to[at[from[i].word >> shift & (DIGITS - 1)]++] = from[i];
        *x = to;
        *spare = from;
    }
}

static int by_keys(const void *x, const void *y, void *ranking)
{
    const struct cf_rank_item *i = x, *j = y;

    return cf_ranking_order(ranking, i->key, j->key);
}

/* Greater ones have lesser words. */
static uint64_t word_of(const struct cf_rank_item *i, unsigned sort, int ratio)
{
    uint64_t word = 0;

    if (!ratio)
        return ~i->sum[sort];
    if (i->ratio >= 0) /* and then it is ordered as the bits are */
        memcpy(&word, &i->ratio, sizeof(word));
    return ~(word + (i->ratio >= 0));
}

/* The items by their keys, in `x`. */
static void order_keys(const struct cf_ranking *k, struct cf_ranked *r, struct place **x,
                       struct place **spare)
{
    int texts = 0;

    for (unsigned part = 0; r->count && part < k->keys; part++)
        texts |= r->item[0].key[part].text != NULL;
    if (texts)
        qsort_r(r->item, r->count, sizeof(*r->item), by_keys, (void *)(uintptr_t)k);
    for (size_t i = 0; i < r->count; i++)
        (*x)[i].item = (uint32_t)i;
    for (unsigned words = texts ? 0 : 2 * k->keys; words-- > 0;) {
        for (size_t i = 0; i < r->count; i++) {
            const struct cf_rank_key *key = &r->item[(*x)[i].item].key[words / 2];

            (*x)[i].word = words % 2 ? key->b : key->a;
        }
        by_word(x, spare, r->count);
    }
}

struct cf_ranked cf_ranking_sort(const struct cf_ranking *k, unsigned sort)
{
    const int ratio = k->sums->list[sort].kind == CF_SUM_RATIO;
    struct cf_ranked r = cf_ranking_list(k);
    struct place *x = cf_need(k->tool, calloc(r.count + 1, sizeof(*x)));
    struct place *spare = cf_need(k->tool, calloc(r.count + 1, sizeof(*spare)));
    struct cf_rank_item *item = cf_need(k->tool, calloc(r.count + 1, sizeof(*item)));

    for (size_t i = 0; i < r.count && ratio; i++) {
        const double of = cf_sums_ratio(k->sums, r.item[i].sum);

        r.item[i].ratio = of >= 0 ? of : -1; /* of none */
    }
    order_keys(k, &r, &x, &spare);
    for (size_t i = 0; i < r.count; i++)
        x[i].word = word_of(&r.item[x[i].item], sort, ratio);
    by_word(&x, &spare, r.count);
    for (size_t i = 0; i < r.count; i++)
        item[i] = r.item[x[i].item];
    free(r.item);
    free(x);
    free(spare);
    r.item = item;
    return r;
}

void cf_ranked_free(struct cf_ranked *r)
{
    for (size_t i = 0; i < r->texts; i++)
        free(r->text[i]);
    free(r->text);
    free(r->item);
    free(r->keys);
}
