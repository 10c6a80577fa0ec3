/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partial.c - a ranking as a partial result: its keys with their sums, and what names them.
 *
 * A key's part is two words, key1 and key2 of the first part, and a text, text1: strings and paths
 * are texts, and numbers of segments hold since a part begins with the segments before it. Memory:
 * the list of keys; of a frame of a result, columns.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/ranking/ranking.h"
#include "formats/base/cf_memory.h"
#include "formats/together/cf_made.h"

/* What a row is, in cf-stream(5), "Partial results". */
enum { ENTRY_KEY = 1, ENTRY_NAME = 2, ENTRY_OBJECT = 3, ENTRY_PROCESSES = 4, ENTRY_UNKNOWN = 5 };

/* Whether a text names the part, instead of its first word. */
static int has_text(enum cf_rank_by by)
{
    return cf_ranking_by_string(by) || by == CF_RANK_PAGE || by == CF_RANK_STACK;
}

/* ---- options ---- */

static void print_set(FILE *out, const char *name, const uint8_t *set)
{
    fprintf(out, " %s", name);
    for (unsigned i = 0; i < 256; i++)
        if (set[i])
            fprintf(out, " %u", i);
}

char *cf_ranking_options(const struct cf_ranking *k)
{
    const struct cf_sums *s = k->sums;
    char *text = NULL;
    size_t bytes;
    FILE *out = cf_need(k->tool, open_memstream(&text, &bytes));

    fputs("by", out);
    for (unsigned i = 0; i < k->keys; i++)
        fprintf(out, " %s", cf_rank_kinds[k->by[i]].name);
    for (unsigned v = 0; v < s->count; v++) {
        fprintf(out, "; %s of", cf_sum_name(&s->list[v]));
        print_set(out, "op", s->list[v].op);
    }
    if (s->level_given)
        fprintf(out, "; level %u", s->level);
    if (s->dist_given)
        fprintf(out, "; dist %llu", (unsigned long long)s->dist);
    if (s->classes_given)
        print_set(out, "; class", s->class);
    if (cf_ranking_part(k, CF_RANK_LINE) >= 0 || cf_ranking_part(k, CF_RANK_SET) >= 0)
        fprintf(out, "; line %llu", (unsigned long long)k->line_size);
    if (cf_ranking_part(k, CF_RANK_SET) >= 0)
        fprintf(out, "; sets %u", k->sets.sets);
    return cf_need(k->tool, cf_memory_text(out, &text));
}

/* ---- writing ---- */

static void write_keys(struct cf_ranking *k)
{
    struct cf_ranked r = cf_ranking_list(k);

    for (size_t i = 0; i < r.count; i++) {
        struct cf_partial_row row = {.entry = ENTRY_KEY,
                                     .keys = 2 * k->keys,
                                     .texts = k->keys,
                                     .sums = k->sums->count,
                                     .sum = r.item[i].sum};

        for (unsigned part = 0; part < k->keys; part++) {
            const struct cf_rank_key *key = &r.item[i].key[part];

            row.key[2 * part] = has_text(k->by[part]) ? 0 : key->a;
            row.key[2 * part + 1] = k->by[part] == CF_RANK_STACK ? 0 : key->b;
            row.text[part] = has_text(k->by[part]) ? key->text : NULL;
        }
        cf_partial_row(k->partial, &row);
    }
    cf_ranked_free(&r);
}

static struct cf_count *list_of(const struct cf_ranking *k, const struct cf_counts *c)
{
    struct cf_count *list = cf_need(k->tool, calloc(cf_counts_size(c) + 1, sizeof(*list)));

    cf_counts_copy(c, list);
    return list;
}

static void write_names(struct cf_ranking *k)
{
    struct cf_count *list = list_of(k, k->names);

    for (size_t i = 0; i < cf_counts_size(k->names); i++)
        cf_partial_row(k->partial, &(struct cf_partial_row){
                                       .entry = ENTRY_NAME,
                                       .keys = 2,
                                       .texts = 1,
                                       .key = {list[i].a, list[i].b},
                                       .text = {cf_reader_text(k->reader, (uint32_t)list[i].value)},
                                   });
    free(list);
}

static void write_objects(struct cf_ranking *k)
{
    const int part = cf_ranking_part(k, CF_RANK_OBJECT);
    struct cf_count *list = part < 0 ? NULL : list_of(k, k->numbers[part]);

    for (size_t i = 0; list && i < cf_counts_size(k->numbers[part]); i++) {
        const struct cf_object_details *d = cf_objects_get(k->objects, list[i].a, list[i].b);

        if (d)
            cf_partial_row(k->partial, &(struct cf_partial_row){
                                           .entry = ENTRY_OBJECT,
                                           .keys = 4,
                                           .texts = 1,
                                           .key = {d->segment, d->object, d->addr, d->bytes},
                                           .text = {cf_reader_text(k->reader, d->site)},
                                       });
    }
    free(list);
}

void cf_ranking_write(struct cf_ranking *k)
{
    write_keys(k);
    write_names(k);
    write_objects(k);
    if (k->processes.begun)
        cf_partial_row(k->partial, &(struct cf_partial_row){
                                       .entry = ENTRY_PROCESSES,
                                       .keys = 2,
                                       .key = {k->processes.pid, (uint64_t)k->processes.warned},
                                   });
    cf_partial_row(k->partial, &(struct cf_partial_row){
                                   .entry = ENTRY_UNKNOWN,
                                   .keys = 8,
                                   .key = {k->sums->no_level, k->sums->no_dist, k->sums->missed_by,
                                           k->sums->no_hit, (uint64_t)k->sums->unstated,
                                           k->sums->no_class, k->lacking, (uint64_t)k->counted},
                               });
}

/* ---- merging ---- */

/* The numbers of a part of the keys in rows from `at` on. */
static const uint32_t *number_part(struct cf_ranking *k, const struct cf_frame *f, uint32_t at,
                                   uint32_t rows, unsigned part)
{
    const struct cf_partial *p = k->partial;
    const enum cf_rank_by by = k->by[part];
    const uint64_t *a = cf_partial_key(p, f, 2 * part) + at;
    const uint64_t *b = cf_partial_key(p, f, 2 * part + 1) + at;
    const uint32_t *text = cf_partial_text(p, f, part) + at;
    uint32_t *number = k->number[part];

    if (cf_ranking_by_string(by))
        return text;
    if (cf_ranking_by_code(by)) {
        for (uint32_t i = 0; i < rows; i++) {
            if (a[i] > 255)
                cf_partial_damaged(p);
            number[i] = (uint32_t)a[i];
        }
        return number;
    }
    for (uint32_t i = 0; i < rows && has_text(by); i++) {
        k->word[0][i] = text[i];
        if (by == CF_RANK_STACK &&
            !(k->word[0][i] = cf_paths_number(k->paths, cf_reader_text(k->reader, text[i]))))
            cf_out_of_memory(k->tool);
    }
    cf_ranking_number(k, part, has_text(by) ? k->word[0] : a, b, rows, number);
    return number;
}

static void merge_keys(struct cf_ranking *k, const struct cf_frame *f, uint32_t at, uint32_t rows)
{
    const uint32_t *number[CF_MOST_KEYS] = {NULL};
    const uint64_t *sum[CF_MOST_SUMS];

    for (unsigned part = 0; part < k->keys; part++)
        number[part] = number_part(k, f, at, rows, part);
    for (unsigned v = 0; v < k->sums->count; v++)
        sum[v] = cf_partial_sum(k->partial, f, v) + at;
    cf_ranking_add_sums(k, number, rows, sum);
}

static void merge_name(struct cf_ranking *k, const struct cf_frame *f, uint32_t i)
{
    uint64_t *name;

    if (!cf_partial_is_last(k->partial))
        return;
    name = cf_need(k->tool, cf_counts_at(k->names, cf_partial_key(k->partial, f, 0)[i],
                                         cf_partial_key(k->partial, f, 1)[i]));
    *name = cf_partial_text(k->partial, f, 0)[i];
}

static void merge_object(struct cf_ranking *k, const struct cf_frame *f, uint32_t i)
{
    const struct cf_partial *p = k->partial;
    const struct cf_object_details d = {.segment = cf_partial_key(p, f, 0)[i],
                                        .object = (uint32_t)cf_partial_key(p, f, 1)[i],
                                        .addr = cf_partial_key(p, f, 2)[i],
                                        .bytes = cf_partial_key(p, f, 3)[i],
                                        .site = cf_partial_text(p, f, 0)[i],
                                        .freed = UINT64_MAX};

    cf_must(k->tool, cf_objects_put(k->objects, &d));
}

void cf_ranking_merge(struct cf_ranking *k, const struct cf_frame *f)
{
    const uint8_t *entry = f->table == CF_PARTIAL ? cf_partial_entries(k->partial, f) : NULL;

    for (uint32_t i = 0, end; entry && i < f->rows; i = end) {
        end = i + 1;
        switch (entry[i]) {
        case ENTRY_KEY:
            while (end < f->rows && entry[end] == ENTRY_KEY)
                end++;
            merge_keys(k, f, i, end - i);
            break;
        case ENTRY_NAME:
            merge_name(k, f, i);
            break;
        case ENTRY_OBJECT:
            merge_object(k, f, i);
            break;
        case ENTRY_PROCESSES:
            cf_processes_join(&k->processes, k->tool, (uint32_t)cf_partial_key(k->partial, f, 0)[i],
                              cf_partial_key(k->partial, f, 1)[i] != 0, cf_ranking_processes);
            break;
        case ENTRY_UNKNOWN:
            k->sums->no_level += cf_partial_key(k->partial, f, 0)[i];
            k->sums->no_dist += cf_partial_key(k->partial, f, 1)[i];
            k->sums->no_hit += cf_partial_key(k->partial, f, 3)[i];
            k->sums->unstated |= cf_partial_key(k->partial, f, 4)[i] != 0;
            k->sums->no_class += cf_partial_key(k->partial, f, 5)[i];
            cf_ranking_lacks(k, (unsigned)cf_partial_key(k->partial, f, 6)[i] & 3);
            k->counted |= cf_partial_key(k->partial, f, 7)[i] != 0;
            k->sums->missed_by |= (unsigned)cf_partial_key(k->partial, f, 2)[i] & CF_MISSED_ANY;
            break;
        default:
            cf_partial_damaged(k->partial);
        }
    }
}
