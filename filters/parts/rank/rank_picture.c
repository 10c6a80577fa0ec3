/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_picture.c - the first entries of a ranking as bars. Memory: their names.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/rank/rank.h"
#include "filters/picture/chart.h"

static char *name_of(const struct rank *k, const struct item *i)
{
    const struct details *d = k->o.by == BY_OBJECT ? objects_get(k->objects, i->a, i->b) : NULL;
    const char *op = k->o.by == BY_OP ? cf_op_name((unsigned)i->a) : NULL;
    char *name = NULL;
    int n;

    switch (k->o.by) {
    case BY_PAGE:
        n = asprintf(&name, "%s, page %" PRIu64, i->text, i->b);
        break;
    case BY_OBJECT:
        n = asprintf(&name, "%s, object %" PRIu64, d ? cf_reader_text(k->reader, d->site) : "",
                     i->b);
        break;
    case BY_THREAD:
        n = asprintf(&name, "%s (%" PRIu64 ", %" PRIu64 ")", task_name(k, i), i->a, i->b);
        break;
    case BY_PROCESS:
        n = asprintf(&name, "%s (%" PRIu64 ")", task_name(k, i), i->b);
        break;
    case BY_LINE:
        n = asprintf(&name, "0x%" PRIx64, i->b);
        break;
    default:
        n = op        ? asprintf(&name, "%s", op)
            : i->text ? asprintf(&name, "%s", *i->text ? i->text : "[unknown]")
                      : asprintf(&name, "%" PRIu64, i->a);
    }
    return cf_need(&k->tool, n < 0 ? NULL : name);
}

static int no_page(const void *what, FILE *out)
{
    (void)what;
    (void)out;
    return -1;
}

void rank_draw(const struct rank *k, const struct item *item, size_t count)
{
    static const struct cf_drawings drawings = {cf_bars_picture, no_page, NULL};
    const size_t most = k->o.top < BARS ? (size_t)k->o.top : BARS;
    struct cf_bars b = {.count = count < most ? count : most};
    char title[128], *name[BARS];
    double value[BARS];

    for (size_t i = 0; i < count; i++)
        b.total += (double)item[i].value;
    for (size_t i = 0; i < b.count; i++) {
        name[i] = name_of(k, &item[i]);
        value[i] = (double)item[i].value;
    }
    snprintf(title, sizeof title, "%s by %s", by_kinds[k->o.by].plural, value_name[k->o.value]);
    title[0] = (char)(title[0] - 'a' + 'A');
    snprintf(b.summary, sizeof b.summary, "the greatest of %zu, with their shares of all %s", count,
             value_name[k->o.value]);
    b.title = title;
    b.name = (const char *const *)name;
    b.value = value;
    cf_output_draw(&k->tool, &k->o.output, &b, &drawings);
    for (size_t i = 0; i < b.count; i++)
        free(name[i]);
}
