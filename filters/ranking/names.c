/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - keys of a ranking for people. Memory: the texts. */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/ranking/ranking.h"

const char *cf_rank_task(const struct cf_ranking *k, enum cf_rank_by by,
                         const struct cf_rank_key *key)
{
    uint64_t pid = by == CF_RANK_THREAD ? key->a : key->b;

    return cf_reader_text(k->reader, (uint32_t)cf_counts_get(k->names, pid, key->b));
}

static void print_name(FILE *out, const struct cf_ranking *k, enum cf_rank_by by,
                       const struct cf_rank_key *i)
{
    const struct cf_object_details *d =
        by == CF_RANK_OBJECT ? cf_objects_get(k->objects, i->a, i->b) : NULL;
    const char *code = by == CF_RANK_OP      ? cf_op_name((unsigned)i->a)
                       : by == CF_RANK_CLASS ? cf_class_name((unsigned)i->a)
                                             : NULL;
    static const char unknown[] = "[unknown]";
    const char *site;

    switch (by) {
    case CF_RANK_PAGE:
        fprintf(out, "%s, page %" PRIu64, *i->text ? i->text : unknown, i->b);
        break;
    case CF_RANK_OBJECT:
        site = d ? cf_reader_text(k->reader, d->site) : "";
        fprintf(out, "%s, object %" PRIu64, *site ? site : unknown, i->b);
        break;
    case CF_RANK_THREAD:
        fprintf(out, "%s (%" PRIu64 ", %" PRIu64 ")", cf_rank_task(k, by, i), i->a, i->b);
        break;
    case CF_RANK_PROCESS:
        fprintf(out, "%s (%" PRIu64 ")", cf_rank_task(k, by, i), i->b);
        break;
    case CF_RANK_LINE:
    case CF_RANK_ADDRESS:
        fprintf(out, "0x%" PRIx64, i->b);
        break;
    case CF_RANK_SET:
        fprintf(out, "%" PRIu64, i->b);
        break;
    default:
        if (code || i->text)
            fputs(code ? code : *i->text ? i->text : unknown, out);
        else
            fprintf(out, "%" PRIu64, i->a);
    }
}

char *cf_rank_text(const struct cf_ranking *k, const struct cf_rank_key *key)
{
    char *name = NULL;
    size_t length;
    FILE *out = cf_need(k->tool, open_memstream(&name, &length));

    for (unsigned part = 0; part < k->keys; part++) {
        fputs(part ? ", " : "", out);
        print_name(out, k, k->by[part], &key[part]);
    }
    return fclose(out) == 0 ? name : cf_need(k->tool, NULL);
}
