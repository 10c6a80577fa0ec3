/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_csv.c - a ranking as CSV or, for people, as a table with bars; the working set.
 * Memory: none that grows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"

static const char *const value_name[VALUES] = {"accesses", "bytes", "loads",       "stores",
                                               "misses",   "hits",  "cost_cycles", "instructions"};

static const char *task_name(const struct rank *k, const struct item *i)
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

/* ---- table ---- */

enum { KEY_WIDTH = 40, BAR_WIDTH = 16 };

/* One line of text for the key, without what could upset a terminal. */
static void table_key(const struct rank *k, const struct item *i, char *out, size_t size)
{
    const char *text = i->text && *i->text ? i->text : "(none)";
    const struct details *d;

    switch (k->o.by) {
    case BY_PAGE:
        snprintf(out, size, "%s page %" PRIu64, text, i->b);
        break;
    case BY_OBJECT:
        d = objects_get(k->objects, i->a, i->b);
        if (d)
            snprintf(out, size, "%" PRIu64 " %" PRIu64 " bytes %s", i->b, d->bytes,
                     cf_reader_text(k->reader, d->site));
        else if (i->b)
            snprintf(out, size, "%" PRIu64, i->b);
        else
            snprintf(out, size, "(none)");
        break;
    case BY_THREAD:
        snprintf(out, size, "%" PRIu64 "/%" PRIu64 " %s", i->a, i->b, task_name(k, i));
        break;
    case BY_PROCESS:
        snprintf(out, size, "%" PRIu64 " %s", i->b, task_name(k, i));
        break;
    case BY_LINE:
        snprintf(out, size, "%" PRIu64 " 0x%" PRIx64, i->a, i->b);
        break;
    case BY_OP:
        if (cf_op_name((unsigned)i->a))
            snprintf(out, size, "%s", cf_op_name((unsigned)i->a));
        else
            snprintf(out, size, "%" PRIu64, i->a);
        break;
    default:
        snprintf(out, size, "%s", text);
    }
}

static void table_row(const struct rank *k, const struct item *i, size_t rank, double share,
                      double cumulative, int knee)
{
    static const char hashes[] = "################";
    char key[4096], safe[4096];
    const char *text;
    int cut, bar = (int)(share / 100 * BAR_WIDTH + 0.5);

    table_key(k, i, key, sizeof(key));
    /* the end of a long name says more than its beginning: paths and source lines */
    cut = strlen(cf_text_safe(safe, sizeof(safe), key)) > KEY_WIDTH;
    text = cf_text_end(safe, cut ? KEY_WIDTH - 3 : KEY_WIDTH);
    printf("%5zu  %s%-*s %14" PRIu64 " %6.2f %6.2f %c%.*s\n", rank, cut ? "..." : "",
           cut ? KEY_WIDTH - 3 : KEY_WIDTH, text, i->value, share, cumulative, knee ? '<' : ' ',
           bar, hashes);
}

/* ---- both ---- */

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
    if (k->o.csv)
        csv_head(k);
    else
        printf(" rank  %-*s %14s  share  cumul\n", KEY_WIDTH, by_kinds[k->o.by].name,
               value_name[k->o.value]);
    for (size_t i = 0; i < count; i++) {
        double share = 100 * (double)value[i] / total;

        so_far += (double)value[i];
        if (i + 1 == knee)
            at_knee = 100 * so_far / total;
        if (i >= k->o.top)
            continue;
        if (k->o.csv) {
            cf_csv_u64(stdout, 1, i + 1);
            csv_key(k, &item[i]);
            cf_csv_print(stdout, ",%" PRIu64 ",%.3f,%.3f,%u\n", value[i], share,
                         100 * so_far / total, i + 1 == knee);
        } else {
            table_row(k, &item[i], i + 1, share, 100 * so_far / total, i + 1 == knee);
        }
    }
    free(value);
    if (k->tool.quiet || count == 0)
        return;
    fflush(stdout); /* on a terminal the line stands below the table */
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

    if (k->o.csv)
        printf("share_percent,count,of%s\n", sized ? ",size_bytes" : "");
    for (unsigned i = 0; i < k->o.covers; i++) {
        size_t n = cf_counts_cover(value, count, k->o.cover[i]);
        double percent = k->o.cover[i] / 1e4;

        if (k->o.csv) {
            printf("%.10g,%zu,%zu", percent, n, count);
            if (sized)
                cf_csv_u64(stdout, 0, size_of(k, item, n));
            cf_csv_end(stdout);
        } else {
            printf("%8.10g %% of the %s: %zu of %zu %s", percent, value_name[k->o.value], n, count,
                   by_kinds[k->o.by].plural);
            if (sized)
                printf(", %.1f KiB", (double)size_of(k, item, n) / 1024);
            putchar('\n');
        }
    }
    free(value);
}
