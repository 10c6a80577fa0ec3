/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_picture.c - the first entries of a ranking as bars, and all of it as a page. Memory: their
 * names.
 */
#include <stdlib.h>

#include "filters/parts/rank/rank.h"

/* As many as its description promises. */
static int bars(const void *what, const struct cf_sheet *sheet, FILE *out)
{
    enum { BARS = 40 };
    struct cf_bars b = ((const struct rank_drawing *)what)->bars;

    b.count = b.count < BARS ? b.count : BARS;
    return cf_bars_picture(&b, sheet, out);
}

void rank_draw(const struct rank *k, const struct cf_ranked *r)
{
    static const struct cf_drawings drawings = {bars, rank_html, NULL};
    const size_t count = k->o.top_assumed || k->o.top > r->count ? r->count : (size_t)k->o.top;
    struct rank_drawing d = {.value = cf_sum_name(&k->sums.list[k->o.sort]),
                             .bars = {.count = count, .all = r->count}};
    char title[128], **name = cf_tool_room(k->tool, count + 1, sizeof *name);
    double *value = cf_tool_room(k->tool, count + 1, sizeof *value);
    uint64_t *sum = cf_tool_room(k->tool, count + 1, sizeof *sum);

    for (size_t i = 0; i < r->count; i++)
        d.bars.total += (double)r->item[i].sum[k->o.sort];
    for (size_t i = 0; i < count; i++) {
        name[i] = cf_rank_text(&k->c, r->item[i].key);
        sum[i] = r->item[i].sum[k->o.sort];
        value[i] = (double)sum[i];
    }
    snprintf(title, sizeof title, "%s by %s", rank_plural(k), d.value);
    title[0] = (char)(title[0] - 'a' + 'A');
    snprintf(d.bars.summary, sizeof d.bars.summary,
             "the greatest of %zu, with their shares of all %s", r->count, d.value);
    d.bars.title = title;
    d.bars.name = (const char *const *)name;
    d.bars.value = value;
    d.sum = sum;
    cf_output_draw(k->tool, &k->o.output, &d, &drawings);
    for (size_t i = 0; i < count; i++)
        free(name[i]);
}
