/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_csv.c - a ranking, and the working set.
 * Memory: none that grows.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filters/parts/rank/rank.h"

const char *const value_name[VALUES] = {"accesses", "bytes", "loads",       "stores",
                                        "misses",   "hits",  "cost_cycles", "instructions"};

const char *task_name(const struct rank *k, const struct item *i)
{
    uint64_t pid = k->o.by == BY_THREAD ? i->a : i->b;

    return cf_reader_text(k->reader, (uint32_t)cf_counts_get(k->names, pid, i->b));
}

/* ---- CSV ---- */

static void csv_head(const struct rank *k)
{
    static const char *const key[BY_KINDS] = {
        [BY_PAGE] = "region,page",    [BY_OBJECT] = "object,address,size_bytes,site",
        [BY_THREAD] = "pid,tid,name", [BY_PROCESS] = "pid,name",
        [BY_LINE] = "pid,address",
    };

    printf("rank,%s,%s,share_percent,cumulative_percent,knee\n",
           key[k->o.by] ? key[k->o.by] : by_kinds[k->o.by].name, value_name[k->o.value]);
}

static void csv_key(const struct rank *k, const struct item *i)
{
    switch (k->o.by) {
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
        cf_csv_print(stdout, ",%" PRIu64 ",%" PRIu64 ",%s", i->a, i->b, task_name(k, i));
        break;
    case BY_PROCESS:
        cf_csv_print(stdout, ",%" PRIu64 ",%s", i->b, task_name(k, i));
        break;
    case BY_LINE:
        cf_csv_u64(stdout, 0, i->a);
        cf_csv_hex(stdout, 0, i->b);
        break;
    case BY_OP:
        if (cf_op_name((unsigned)i->a))
            cf_csv_text(stdout, 0, cf_op_name((unsigned)i->a));
        else
            cf_csv_u64(stdout, 0, i->a);
        break;
    default:
        cf_csv_text(stdout, 0, i->text);
    }
}

static uint64_t *values_of(const struct rank *k, const struct item *item, size_t count)
{
    uint64_t *value = cf_need(&k->tool, calloc(count + 1, sizeof(*value)));

    for (size_t i = 0; i < count; i++)
        value[i] = item[i].value;
    return value;
}

void print_ranking(const struct rank *k, const struct item *item, size_t count)
{
    uint64_t *value = values_of(k, item, count);
    size_t knee = cf_counts_knee(value, count);
    double total = 0, so_far = 0, at_knee = 0;

    for (size_t i = 0; i < count; i++)
        total += (double)value[i];
    csv_head(k);
    for (size_t i = 0; i < count; i++) {
        double share = 100 * (double)value[i] / total;

        so_far += (double)value[i];
        if (i + 1 == knee)
            at_knee = 100 * so_far / total;
        if (i >= k->o.top)
            continue;
        cf_csv_u64(stdout, 1, i + 1);
        csv_key(k, &item[i]);
        cf_csv_print(stdout, ",%" PRIu64 ",%.3f,%.3f,%u\n", value[i], share, 100 * so_far / total,
                     i + 1 == knee);
    }
    free(value);
    if (k->tool.quiet || count == 0)
        return;
    if (k->o.top_assumed && count > k->o.top)
        cf_warn(&k->tool, "%zu more %s: --top %zu prints all", count - (size_t)k->o.top,
                by_kinds[k->o.by].plural, count);
    if (count == 1)
        cf_warn(&k->tool, "knee: none: everything is of one %s", by_kinds[k->o.by].name);
    else if (knee)
        cf_warn(&k->tool, "knee: the first %zu of %zu %s make %.1f %% of the %s", knee, count,
                by_kinds[k->o.by].plural, at_knee, value_name[k->o.value]);
    else
        cf_warn(&k->tool, "knee: none: all %zu %s have as many %s", count, by_kinds[k->o.by].plural,
                value_name[k->o.value]);
}

/* Bytes of the first n items; 0 where an item has no size. */
static uint64_t size_of(const struct rank *k, const struct item *item, size_t n)
{
    uint64_t bytes = 0;

    if (k->o.by == BY_PAGE)
        return n * k->o.page_size;
    if (k->o.by == BY_LINE)
        return n * k->o.line_size;
    for (size_t i = 0; i < n && k->o.by == BY_OBJECT; i++) {
        const struct details *d = objects_get(k->objects, item[i].a, item[i].b);

        bytes += d ? d->bytes : 0;
    }
    return bytes;
}

void print_cover(const struct rank *k, const struct item *item, size_t count)
{
    uint64_t *value = values_of(k, item, count);
    int sized = k->o.by == BY_PAGE || k->o.by == BY_LINE || k->o.by == BY_OBJECT;

    printf("share_percent,count,of%s\n", sized ? ",size_bytes" : "");
    for (unsigned i = 0; i < k->o.covers; i++) {
        size_t n = cf_counts_cover(value, count, k->o.cover[i]);

        printf("%.10g,%zu,%zu", k->o.cover[i] / 1e4, n, count);
        if (sized)
            cf_csv_u64(stdout, 0, size_of(k, item, n));
        cf_csv_end(stdout);
    }
    free(value);
}
