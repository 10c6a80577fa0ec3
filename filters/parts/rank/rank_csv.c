/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_csv.c - a ranking, and the working set.
 * Memory: none that grows.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/parts/rank/rank.h"

const char *task_name(const struct rank *k, enum by by, const struct key *i)
{
    uint64_t pid = by == BY_THREAD ? i->a : i->b;

    return cf_reader_text(k->reader, (uint32_t)cf_counts_get(k->names, pid, i->b));
}

const char *rank_plural(const struct rank *k)
{
    return k->o.keys == 1 ? by_kinds[k->o.by[0]].plural : "keys";
}

/* ---- CSV ---- */

/* Shares are of a sum, which a ratio has not. */
static int has_shares(const struct rank *k)
{
    return k->o.value[k->o.sort].kind != VALUE_RATIO;
}

/* Whether the part of the key is the first with a process. */
static int says_pid(const struct rank *k, unsigned part)
{
    for (unsigned i = 0; i < part; i++)
        if (by_kinds[k->o.by[i]].pid)
            return 0;
    return by_kinds[k->o.by[part]].pid;
}

void print_key_names(const struct rank *k)
{
    fputs("rank", stdout);
    for (unsigned i = 0; i < k->o.keys; i++)
        printf("%s,%s", says_pid(k, i) ? ",pid" : "", by_kinds[k->o.by[i]].words);
}

static void csv_head(const struct rank *k)
{
    print_key_names(k);
    for (unsigned v = 0; v < k->o.shown; v++)
        printf(",%s", value_name(&k->o.value[v]));
    puts(has_shares(k) ? ",share_percent,cumulative_percent,knee" : "");
}

static void csv_code(const char *name, uint64_t code)
{
    if (name)
        cf_csv_text(stdout, 0, name);
    else
        cf_csv_u64(stdout, 0, code);
}

static void csv_key(const struct rank *k, unsigned part, const struct key *i)
{
    const enum by by = k->o.by[part];

    if (says_pid(k, part))
        cf_csv_u64(stdout, 0, by == BY_PROCESS ? i->b : i->a);
    switch (by) {
    case BY_PAGE:
        cf_csv_text(stdout, 0, i->text);
        cf_csv_u64(stdout, 0, i->b);
        break;
    case BY_OBJECT: {
        const struct details *d = objects_get(k->objects, i->a, i->b);

        cf_csv_u64(stdout, 0, i->b);
        if (d) {
            cf_csv_hex(stdout, 0, d->addr);
            cf_csv_u64(stdout, 0, d->bytes);
            cf_csv_text(stdout, 0, cf_reader_text(k->reader, d->site));
        } else {
            fputs(",,,", stdout);
        }
        break;
    }
    case BY_THREAD:
        cf_csv_u64(stdout, 0, i->b);
        /* fallthrough */
    case BY_PROCESS:
        cf_csv_text(stdout, 0, task_name(k, by, i));
        break;
    case BY_LINE:
        cf_csv_hex(stdout, 0, i->b);
        break;
    case BY_OP:
        csv_code(cf_op_name((unsigned)i->a), i->a);
        break;
    case BY_CLASS:
        csv_code(cf_class_name((unsigned)i->a), i->a);
        break;
    default:
        cf_csv_text(stdout, 0, i->text);
    }
}

void print_keys(const struct rank *k, const struct key *key)
{
    for (unsigned part = 0; part < k->o.keys; part++)
        csv_key(k, part, &key[part]);
}

static void csv_values(const struct rank *k, const struct item *i)
{
    for (unsigned v = 0; v < k->o.shown; v++)
        if (k->o.value[v].kind == VALUE_RATIO)
            cf_csv_f64(stdout, 0, value_ratio(k, i), 6);
        else
            cf_csv_u64(stdout, 0, i->sum[v]);
}

/* The value that sorts, of each. */
static uint64_t *values_of(const struct rank *k, const struct ranking *r)
{
    uint64_t *value = cf_need(k->tool, calloc(r->count + 1, sizeof(*value)));

    for (size_t i = 0; i < r->count; i++)
        value[i] = r->item[i].sum[k->o.sort];
    return value;
}

/* Says on stderr how many were left out, and where the knee is. */
static void remarks(const struct rank *k, size_t count, size_t knee, double at_knee)
{
    const char *name = value_name(&k->o.value[k->o.sort]), *plural = rank_plural(k);

    if (k->tool->quiet || count == 0)
        return;
    if (k->o.top_assumed && count > k->o.top)
        cf_warn(k->tool, "%zu more %s: --top %zu prints all", count - (size_t)k->o.top, plural,
                count);
    if (!has_shares(k))
        return;
    if (count == 1)
        cf_warn(k->tool, "knee: none: everything is of one %s",
                k->o.keys == 1 ? by_kinds[k->o.by[0]].name : "key");
    else if (knee)
        cf_warn(k->tool, "knee: the first %zu of %zu %s make %.1f %% of the %s", knee, count,
                plural, at_knee, name);
    else
        cf_warn(k->tool, "knee: none: all %zu %s have as many %s", count, plural, name);
}

void print_ranking(const struct rank *k, const struct ranking *r)
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
        cf_csv_u64(stdout, 1, i + 1);
        print_keys(k, r->item[i].key);
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
static uint64_t size_of(const struct rank *k, const struct item *item, size_t n)
{
    uint64_t bytes = 0;

    if (k->o.by[0] == BY_PAGE)
        return n * k->o.page_size;
    if (k->o.by[0] == BY_LINE)
        return n * k->o.line_size;
    for (size_t i = 0; i < n && k->o.by[0] == BY_OBJECT; i++) {
        const struct details *d = objects_get(k->objects, item[i].key->a, item[i].key->b);

        bytes += d ? d->bytes : 0;
    }
    return bytes;
}

void print_cover(const struct rank *k, const struct ranking *r)
{
    uint64_t *value = values_of(k, r);
    const enum by by = k->o.by[0];
    int sized = k->o.keys == 1 && (by == BY_PAGE || by == BY_LINE || by == BY_OBJECT);

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
