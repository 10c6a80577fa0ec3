/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_picture.c - the first entries of a ranking as bars. Memory: their names.
 */
#include <stdlib.h>

#include "filters/parts/rank/rank.h"
#include "filters/picture/chart.h"

static int no_page(const void *what, FILE *out)
{
    (void)what;
    (void)out;
    return -1;
}

void rank_draw(const struct rank *k, const struct cf_ranked *r)
{
    static const struct cf_drawings drawings = {cf_bars_picture, no_page, NULL};
    const size_t most = k->o.top < BARS ? (size_t)k->o.top : BARS;
    const char *value_of = cf_sum_name(&k->sums.list[k->o.sort]);
    struct cf_bars b = {.count = r->count < most ? r->count : most, .all = r->count};
    char title[128], *name[BARS];
    double value[BARS];

    for (size_t i = 0; i < r->count; i++)
        b.total += (double)r->item[i].sum[k->o.sort];
    for (size_t i = 0; i < b.count; i++) {
        name[i] = cf_rank_text(&k->c, r->item[i].key);
        value[i] = (double)r->item[i].sum[k->o.sort];
    }
    snprintf(title, sizeof title, "%s by %s", rank_plural(k), value_of);
    title[0] = (char)(title[0] - 'a' + 'A');
    snprintf(b.summary, sizeof b.summary, "the greatest of %zu, with their shares of all %s",
             r->count, value_of);
    b.title = title;
    b.name = (const char *const *)name;
    b.value = value;
    cf_output_draw(k->tool, &k->o.output, &b, &drawings);
    for (size_t i = 0; i < b.count; i++)
        free(name[i]);
}
