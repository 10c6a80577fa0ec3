/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_tables.c - the tables that symbols.c and symbols_debug.c fill and search. */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cf_memory.h"
#include "formats/base/cf_number.h"
#include "filters/parts/resolve/symbols_parts.h"

void span_add(struct spans *s, struct span span)
{
    if (cf_array_room(&s->at, &s->room, s->count + 1, sizeof *s->at) == 0)
        s->at[s->count++] = span;
}

/* By start; of equal starts the better rank first, then the longer, then by name: never by chance.
 */
static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return cf_order(x->start, y->start)
               ?: cf_order(x->rank, y->rank)
               ?: cf_order(y->end, x->end)
               ?: x->name && y->name ? strcmp(x->name, y->name) : cf_order(x->die, y->die);
}

int spans_sort(struct spans *s)
{
    if (s->count)
        qsort(s->at, s->count, sizeof *s->at, span_order);
    return s->count > 0;
}

void spans_disjoin(struct spans *s)
{
    size_t kept = 0;

    if (!spans_sort(s))
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct span *before = kept ? &s->at[kept - 1] : NULL;
        if (before && s->at[i].start < before->end) {
            if (s->at[i].start == before->start || s->at[i].rank > before->rank)
                continue;
            before->end = s->at[i].start;
        }
        s->at[kept++] = s->at[i];
    }
    s->count = kept;
}

const struct span *span_find(const struct spans *s, uint64_t address)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= s->at[low - 1].end)
        return NULL;
    return &s->at[low - 1];
}

const char *texts_keep(struct texts *t, char *text)
{
    if (!text || cf_array_room(&t->at, &t->room, t->count + 1, sizeof *t->at) != 0) {
        free(text);
        return NULL;
    }
    return t->at[t->count++] = text;
}

void texts_forget(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->at[i]);
    t->count = 0;
}
