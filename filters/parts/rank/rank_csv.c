/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_csv.c - a ranking, and the working set.
 * Memory: none that grows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"

enum { AHEAD = 8 };

const char *rank_plural(const struct rank *k)
{
    return k->c.keys == 1 ? cf_rank_kinds[k->c.by[0]].plural : "keys";
}

/* ---- CSV ---- */

/* Shares are of a sum, which a ratio has not. */
static int has_shares(const struct rank *k)
{
    return k->sums.list[k->o.sort].kind != CF_SUM_RATIO;
}

/* Whether the part of the key is the first with a process. */
static int says_pid(const struct rank *k, unsigned part)
{
    for (unsigned i = 0; i < part; i++)
        if (cf_rank_kinds[k->c.by[i]].pid)
            return 0;
    return cf_rank_kinds[k->c.by[part]].pid;
}

/* Whether a column says where the part was before. */
static int says_before(const struct rank *k, unsigned part)
{
    return k->c.sources && rank_has_lines(k->c.by[part]);
}

void print_key_names(const struct rank *k)
{
    fputs("rank", stdout);
    for (unsigned i = 0; i < k->c.keys; i++) {
        const char *words = cf_rank_kinds[k->c.by[i]].words;

        printf("%s,%s", says_pid(k, i) ? ",pid" : "", words);
        if (says_before(k, i))
            printf(",%s_before", words);
    }
}

static void csv_head(const struct rank *k)
{
    print_key_names(k);
    for (unsigned v = 0; v < k->sums.shown; v++)
        printf(",%s", cf_sum_name(&k->sums.list[v]));
    puts(has_shares(k) ? ",share_percent,cumulative_percent,knee" : "");
}

static void csv_code(const char *name, uint64_t code)
{
    if (name)
        cf_csv_text(stdout, 0, name);
    else
        cf_csv_u64(stdout, 0, code);
}

static void csv_key(const struct rank *k, unsigned part, const struct cf_rank_key *i)
{
    const enum cf_rank_by by = k->c.by[part];

    if (says_pid(k, part))
        cf_csv_u64(stdout, 0, by == CF_RANK_PROCESS ? i->b : i->a);
    switch (by) {
    case CF_RANK_PAGE:
        cf_csv_text(stdout, 0, i->text);
        cf_csv_u64(stdout, 0, i->b);
        break;
    case CF_RANK_OBJECT: {
        const struct cf_object_details *d = cf_objects_get(k->c.objects, i->a, i->b);

        cf_csv_u64(stdout, 0, i->b);
        if (d) {
            cf_csv_hex(stdout, 0, d->addr);
            cf_csv_u64(stdout, 0, d->bytes);
            cf_csv_text(stdout, 0, cf_reader_text(k->c.reader, d->site));
        } else {
            fputs(",,,", stdout);
        }
        break;
    }
    case CF_RANK_THREAD:
        cf_csv_u64(stdout, 0, i->b);
        /* fallthrough */
    case CF_RANK_PROCESS:
        cf_csv_text(stdout, 0, cf_rank_task(&k->c, by, i));
        break;
    case CF_RANK_LINE:
    case CF_RANK_ADDRESS:
        cf_csv_hex(stdout, 0, i->b);
        break;
    case CF_RANK_SET:
        cf_csv_u64(stdout, 0, i->b);
        break;
    case CF_RANK_OP:
        csv_code(cf_op_name((unsigned)i->a), i->a);
        break;
    case CF_RANK_CLASS:
        csv_code(cf_class_name((unsigned)i->a), i->a);
        break;
    case CF_RANK_HIT:
        cf_csv_u64(stdout, 0, i->a);
        break;
    default:
        cf_csv_text(stdout, 0, i->text);
    }
}

void print_keys(const struct rank *k, const struct cf_rank_key *key, const struct cf_rank_key *was)
{
    for (unsigned part = 0; part < k->c.keys; part++) {
        struct cf_rank_key is = key[part];
        const int before = says_before(k, part), gone = before && is.b == RANK_GONE;

        if (gone)
            is.text = "";
        else if (is.text && !*is.text && cf_tool_term(k->c.tool))
            is.text = "[unknown]";
        csv_key(k, part, &is);
        if (before)
            cf_csv_text(stdout, 0,
                        was && (gone || strcmp(was[part].text, is.text)) ? was[part].text : "");
    }
}

static void csv_values(const struct rank *k, const struct cf_rank_item *i)
{
    for (unsigned v = 0; v < k->sums.shown; v++)
        if (k->sums.list[v].kind == CF_SUM_RATIO)
            cf_csv_f64(stdout, 0, cf_sums_ratio(&k->sums, i->sum), 6);
        else
            cf_csv_u64(stdout, 0, i->sum[v]);
}

/* The value that sorts, of each. */
static uint64_t *values_of(const struct rank *k, const struct cf_ranked *r)
{
    uint64_t *value = cf_need(k->tool, calloc(r->count + 1, sizeof(*value)));

    for (size_t i = 0; i < r->count; i++)
        value[i] = r->item[i].sum[k->o.sort];
    return value;
}

/* Says on stderr how many were left out, and where the knee is. */
static void remarks(const struct rank *k, size_t count, size_t knee, double at_knee)
{
    const char *name = cf_sum_name(&k->sums.list[k->o.sort]), *plural = rank_plural(k);

    if (k->tool->quiet || count == 0)
        return;
    if (k->o.top_assumed && count > k->o.top)
        cf_warn(k->tool, "%zu more %s: --top %zu prints all", count - (size_t)k->o.top, plural,
                count);
    if (!has_shares(k))
        return;
    if (count == 1)
        cf_warn(k->tool, "knee: none: everything is of one %s",
                k->c.keys == 1 ? cf_rank_kinds[k->c.by[0]].name : "key");
    else if (knee)
        cf_warn(k->tool, "knee: the first %zu of %zu %s make %.1f %% of the %s", knee, count,
                plural, at_knee, name);
    else
        cf_warn(k->tool, "knee: none: all %zu %s have as many %s", count, plural, name);
}

void print_ranking(const struct rank *k, const struct cf_ranked *r)
{
    uint64_t *value = values_of(k, r);
    size_t knee = cf_counts_knee(value, r->count);
    double total = 0, so_far = 0, at_knee = 0;

    for (size_t i = 0; i < r->count; i++)
        total += (double)value[i];
    csv_head(k);
    for (size_t i = 0; i < r->count; i++) {
        so_far += (double)value[i];
        if (i + 1 == knee)
            at_knee = 100 * so_far / total;
        if (i >= k->o.top)
            continue;
        if (i + AHEAD < r->count) { /* they stand anywhere */
            __builtin_prefetch(r->item[i + AHEAD].key);
            __builtin_prefetch(r->item[i + AHEAD].sum);
        }
        cf_csv_u64(stdout, 1, i + 1);
        print_keys(k, r->item[i].key, NULL);
        csv_values(k, &r->item[i]);
        if (has_shares(k)) {
            cf_csv_f64(stdout, 0, 100 * (double)value[i] / total, 3);
            cf_csv_f64(stdout, 0, 100 * so_far / total, 3);
            cf_csv_u64(stdout, 0, i + 1 == knee);
        }
        cf_csv_end(stdout);
    }
    free(value);
    remarks(k, r->count, knee, at_knee);
}

/* Bytes of the first n items; 0 where an item has no size. */
static uint64_t size_of(const struct rank *k, const struct cf_rank_item *item, size_t n)
{
    uint64_t bytes = 0;

    if (k->c.by[0] == CF_RANK_PAGE)
        return n * (k->o.page_size ? k->o.page_size : 4096);
    if (k->c.by[0] == CF_RANK_LINE)
        return n * k->c.line_size;
    for (size_t i = 0; i < n && k->c.by[0] == CF_RANK_OBJECT; i++) {
        const struct cf_object_details *d =
            cf_objects_get(k->c.objects, item[i].key->a, item[i].key->b);

        bytes += d ? d->bytes : 0;
    }
    return bytes;
}

void print_cover(const struct rank *k, const struct cf_ranked *r)
{
    uint64_t *value = values_of(k, r);
    const enum cf_rank_by by = k->c.by[0];
    int sized =
        k->c.keys == 1 && (by == CF_RANK_PAGE || by == CF_RANK_LINE || by == CF_RANK_OBJECT);

    printf("share_percent,count,of%s\n", sized ? ",size_bytes" : "");
    for (unsigned i = 0; i < k->o.covers; i++) {
        size_t n = cf_counts_cover(value, r->count, k->o.cover[i]);

        printf("%.10g,%zu,%zu", k->o.cover[i] / 1e4, n, r->count);
        if (sized)
            cf_csv_u64(stdout, 0, size_of(k, r->item, n));
        cf_csv_end(stdout);
    }
    free(value);
}
