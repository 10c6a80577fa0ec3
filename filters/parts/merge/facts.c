/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * facts.c - what the inputs state of their columns goes into the one header that goes out.
 *
 * The headers of files are read before anything is written, those of pipes as they come. Inputs
 * that state different things of a column cannot share it. Memory: the facts.
 */
#include <string.h>

#include "filters/parts/merge/merge.h"

static void take(struct merge *m, const struct cf_header *h, const struct cf_fact *f)
{
    struct cf_facts *all = &m->stated.facts;
    uint64_t number;

    merge_room(m, &all->fact, &m->fact_room, all->count + (size_t)1, sizeof(*all->fact));
    all->fact[all->count++] = (struct cf_fact){.column = merge_name(m, "%s", f->column),
                                               .key = merge_name(m, "%s", f->key),
                                               .value = merge_name(m, "%s", f->value)};
    /* a failure shows again when the writer is closed */
    if (cf_header_number(h, f->column, f->key, &number) > 0)
        (void)cf_writer_number(m->writer, f->column, f->key, number);
    else
        (void)cf_writer_fact(m->writer, f->column, f->key, f->value);
}

void merge_facts(struct merge *m, const char *input, const struct cf_header *h, int began)
{
    for (unsigned i = 0; i < h->facts.count; i++) {
        const struct cf_fact *f = &h->facts.fact[i];
        const char *old = cf_header_fact(&m->stated, f->column, f->key);

        if (!old && !began)
            take(m, h, f);
        else if ((!old || strcmp(old, f->value) != 0) && strcmp(f->key, "by") != 0 && !m->o.force)
            cf_die(&m->tool, CF_EXIT_INPUT,
                   "%s: the %s of its column %s is %s, that of the inputs before it %s: such "
                   "columns cannot be one: --force does it nevertheless",
                   input, f->key, f->column, f->value, old ? old : "not stated");
    }
}
