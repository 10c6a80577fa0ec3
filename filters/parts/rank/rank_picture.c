/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_picture.c - the first entries of a ranking as bars. Memory: their names.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/rank/rank.h"
#include "filters/picture/chart.h"

static void print_name(FILE *out, const struct rank *k, enum by by, const struct key *i)
{
    const struct details *d = by == BY_OBJECT ? objects_get(k->objects, i->a, i->b) : NULL;
    const char *code = by == BY_OP      ? cf_op_name((unsigned)i->a)
                       : by == BY_CLASS ? cf_class_name((unsigned)i->a)
                                        : NULL;

    switch (by) {
    case BY_PAGE:
        fprintf(out, "%s, page %" PRIu64, i->text, i->b);
        break;
    case BY_OBJECT:
        fprintf(out, "%s, object %" PRIu64, d ? cf_reader_text(k->reader, d->site) : "", i->b);
        break;
    case BY_THREAD:
        fprintf(out, "%s (%" PRIu64 ", %" PRIu64 ")", task_name(k, by, i), i->a, i->b);
        break;
    case BY_PROCESS:
        fprintf(out, "%s (%" PRIu64 ")", task_name(k, by, i), i->b);
        break;
    case BY_LINE:
        fprintf(out, "0x%" PRIx64, i->b);
        break;
    default:
        if (code || i->text)
            fputs(code ? code : *i->text ? i->text : "[unknown]", out);
        else
            fprintf(out, "%" PRIu64, i->a);
    }
}

static char *name_of(const struct rank *k, const struct item *i)
{
    char *name = NULL;
    size_t length;
    FILE *out = cf_need(k->tool, open_memstream(&name, &length));

    for (unsigned part = 0; part < k->o.keys; part++) {
        fputs(part ? ", " : "", out);
        print_name(out, k, k->o.by[part], &i->key[part]);
    }
    return fclose(out) == 0 ? name : cf_need(k->tool, NULL);
}

static int no_page(const void *what, FILE *out)
{
    (void)what;
    (void)out;
    return -1;
}

void rank_draw(const struct rank *k, const struct ranking *r)
{
    static const struct cf_drawings drawings = {cf_bars_picture, no_page, NULL};
    const size_t most = k->o.top < BARS ? (size_t)k->o.top : BARS;
    const char *value_of = value_name(&k->o.value[k->o.sort]);
    struct cf_bars b = {.count = r->count < most ? r->count : most};
    char title[128], *name[BARS];
    double value[BARS];

    for (size_t i = 0; i < r->count; i++)
        b.total += (double)r->item[i].sum[k->o.sort];
    for (size_t i = 0; i < b.count; i++) {
        name[i] = name_of(k, &r->item[i]);
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
