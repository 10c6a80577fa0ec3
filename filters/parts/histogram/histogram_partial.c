/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram_partial.c - a histogram as a partial result: what each bin counts, at a value in it.
 *
 * Equal bins of a part are no wider than those of the whole, and begin at multiples of their width:
 * each lies in one of the whole, and a value of it finds that. How wide those are, the least and
 * the greatest value decide, which are rows that count 0. Sums are of whole numbers, weights of
 * samples too, which are rounded row by row: their order does not matter. Memory: the bins of one
 * group; of a frame of a result, columns.
 */
#include <stdlib.h>

#include "filters/parts/histogram/histogram.h"
#include "formats/base/cf_memory.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum { ENTRY_COLUMN = 1, ENTRY_COUNT = 2 };

enum { FIRST_DECLARED = 32768 }; /* column that a stream names itself */

char *histogram_options(const struct histogram *h)
{
    const struct options *o = &h->o;
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(&h->tool, open_memstream(&text, &bytes));

    fprintf(out, "table %s; column %s", o->table, o->column);
    if (o->by)
        fprintf(out, "; by %s", o->by);
    if (o->weight)
        fprintf(out, "; weight %s", o->weight);
    if (o->bins_given && o->bins == BINS_EQUAL)
        fprintf(out, "; bins %u", o->most);
    else if (o->bins_given)
        fprintf(out, "; bins %s", o->bins == BINS_LOG2 ? "log2" : "exact");
    return cf_need(&h->tool, cf_memory_text(out, &text));
}

/* ---- writing ---- */

static void put(struct histogram *h, uint32_t group, uint64_t value, uint64_t count)
{
    const uint64_t by = h->o.by ? cf_groups_value(h->groups, group) : 0;
    const int texts = h->type == CF_STR, by_texts = h->by_type == CF_STR;

    cf_partial_row(&h->partial,
                   &(struct cf_partial_row){
                       .entry = ENTRY_COUNT,
                       .keys = 2,
                       .texts = 2,
                       .sums = 1,
                       .key = {texts ? 0 : value, by_texts ? 0 : by},
                       .text = {texts ? cf_reader_text(h->reader, (uint32_t)value) : 0,
                                by_texts ? cf_reader_text(h->reader, (uint32_t)by) : 0},
                       .sum = &count,
                   });
}

static void put_group(struct histogram *h, uint32_t group)
{
    uint64_t low, high;
    const int ends = bins_ends(h->bins, &low, &high);
    size_t count;
    struct bin *list = bins_list(h->bins, group, &count);

    /* which also keeps a group of which all rows count 0 */
    if (ends || h->o.bins != BINS_EQUAL || h->column == CF_DIST)
        put(h, group, ends ? low : h->o.bins == BINS_EQUAL ? UINT64_MAX : 0, 0);
    if (ends)
        put(h, group, high, 0);
    for (size_t i = 0; i < count; i++)
        if (list[i].count)
            put(h, group, ends && list[i].low < low ? low : list[i].low, list[i].count);
    free(list);
    for (uint64_t name = 0; name < BINS_SPECIALS; name++) {
        const uint64_t special = bins_special(h->bins, group, UINT64_MAX - name);

        if (special)
            put(h, group, UINT64_MAX - name, special);
    }
}

void histogram_write(struct histogram *h)
{
    const uint32_t groups = h->o.by ? cf_groups_count(h->groups) : 1;

    if (!h->counted)
        return;
    cf_partial_row(&h->partial,
                   &(struct cf_partial_row){
                       .entry = ENTRY_COLUMN,
                       .keys = 4,
                       .key = {h->column, h->type, h->o.by ? h->by : 0, h->o.by ? h->by_type : 0},
                   });
    for (uint32_t g = 0; g < groups; g++)
        put_group(h, g);
}

/* ---- merging ---- */

static void merge_column(struct histogram *h, const struct cf_frame *f, uint32_t i)
{
    const struct cf_partial *p = &h->partial;
    const uint64_t column = cf_partial_key(p, f, 0)[i], type = cf_partial_key(p, f, 1)[i];
    const uint64_t by = cf_partial_key(p, f, 2)[i], by_type = cf_partial_key(p, f, 3)[i];
    const unsigned known = cf_column_find(h->o.column);
    const unsigned by_known = h->o.by ? cf_column_find(h->o.by) : 0;

    if (!column || (column != known && (known || column < FIRST_DECLARED)) || column > UINT16_MAX ||
        (by != by_known && (by_known || by < FIRST_DECLARED)) || by > UINT16_MAX ||
        (type != CF_STR && (type < CF_U8 || type > CF_U64)) || by_type > CF_STR ||
        !by != !h->o.by || !by_type != !h->o.by)
        cf_partial_damaged(p);
    if (h->counted && (h->type != type || h->by_type != by_type))
        cf_die(&h->tool, CF_EXIT_INPUT,
               "%s: column '%s' has values of another type than in the partial results before",
               cf_reader_file(h->reader), h->type != type ? h->o.column : h->o.by);
    if (!h->bins)
        begin_column(h, (unsigned)column, (enum cf_type)type);
    h->by = (unsigned)by;
    h->by_type = (enum cf_type)by_type;
    h->counted = 1;
}

static void merge_counts(struct histogram *h, const struct cf_frame *f, uint32_t at, uint32_t rows)
{
    const struct cf_partial *p = &h->partial;
    const uint64_t *value = cf_partial_key(p, f, 0) + at, *by = cf_partial_key(p, f, 1) + at;
    const uint32_t *text = cf_partial_text(p, f, 0) + at, *by_text = cf_partial_text(p, f, 1) + at;
    const uint64_t *count = cf_partial_sum(p, f, 0) + at;

    if (!h->counted)
        cf_partial_damaged(p);
    for (uint32_t i = 0; i < rows && h->type == CF_STR; i++)
        h->value[i] = text[i];
    if (h->o.by)
        number_groups(h, h->by_type == CF_STR ? (const void *)by_text : by,
                      h->by_type == CF_STR ? sizeof(*by_text) : sizeof(*by), rows);
    note_weights(h, count, rows);
    bins_add(h->bins, h->type == CF_STR ? h->value : value, h->o.by ? h->group : NULL, count, rows,
             h->o.by ? cf_groups_count(h->groups) : 1);
}

void histogram_merge(struct histogram *h, const struct cf_frame *f)
{
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(&h->partial, f) : NULL;

    for (uint32_t i = 0, end; entry && i < f->rows; i = end) {
        for (end = i + 1; end < f->rows && entry[end] == entry[i];)
            end++;
        if (entry[i] == ENTRY_COUNT)
            merge_counts(h, f, i, end - i);
        else if (entry[i] == ENTRY_COLUMN && end == i + 1)
            merge_column(h, f, i);
        else
            cf_partial_damaged(&h->partial);
    }
}
