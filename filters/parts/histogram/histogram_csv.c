/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram_csv.c - a histogram as CSV or, for people, as a table with bars.
 *
 * Values that have names (operations, memory as a level, what column dist says instead of a
 * distance) are printed by them, texts as they are, addresses in hex. Memory: the bins of one
 * group, and the order of the groups.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/histogram/histogram.h"
#include "formats/program/cf_rows.h"

enum { LABEL_WIDTH = 33, BAR_WIDTH = 30 };

/* What column dist says instead of a distance, in the order of rows; `unknown`: that nothing is
   known of a row, so that it has no share. */
static const struct {
    uint64_t value;
    const char *name;
    int unknown;
} specials[] = {
    {CF_DIST_BEYOND, "beyond", 0},
    {CF_DIST_COMPULSORY, "first_access", 0},
    {CF_DIST_UNSAMPLED, "not_sampled", 1},
    {CF_DIST_NONE, "none", 1},
};

enum { SPECIALS = sizeof(specials) / sizeof(specials[0]) };

/* ---- labels ---- */

static int is_address(unsigned column)
{
    return column == CF_ADDR || column == CF_PHYS || column == CF_PC || column == CF_START ||
           column == CF_STOP;
}

/* The value's text in `room`, or a text that lasts. */
static const char *label(const struct histogram *h, unsigned column, enum cf_type type,
                         uint64_t value, char *room, size_t size)
{
    if (type == CF_STR)
        return cf_reader_text(h->reader, (uint32_t)value);
    if (column == CF_OP && cf_op_name((unsigned)value))
        return cf_op_name((unsigned)value);
    if ((column == CF_HIT || column == CF_LEVEL) && value == CF_FROM_MEMORY)
        return "memory";
    if (column == CF_CLASS && cf_class_name((unsigned)value))
        return cf_class_name((unsigned)value);
    if (is_address(column))
        snprintf(room, size, "0x%" PRIx64, value);
    else
        snprintf(room, size, "%" PRIu64, value);
    return room;
}

/* ---- rows ---- */

/* One line of the result. */
struct row {
    const struct histogram *h;
    const char *by;         /* text of the group, NULL without groups */
    const char *low, *high; /* high is NULL where the low one says all */
    uint64_t count;         /* in units of histogram.one */
    double share, so_far;   /* of 1; not a number where there is none */
    double widest;          /* largest share, for bars */
};

static uint64_t rounded(const struct row *r)
{
    return (r->count + r->h->one / 2) / r->h->one;
}

/* JSON has as a number what stands without quotes. Words for numbers, such as load, need none. */
static void csv_label(int first, enum cf_type type, const char *text)
{
    if (type == CF_STR)
        cf_csv_text(stdout, first, text);
    else
        printf("%s%s", first ? "" : ",", text);
}

static void csv_row(const struct row *r)
{
    if (r->by)
        csv_label(1, r->h->by_type, r->by);
    csv_label(!r->by, r->h->type, r->low);
    if (r->h->o.bins != BINS_EXACT)
        csv_label(0, r->h->type, r->high ? r->high : "");
    cf_csv_u64(stdout, 0, rounded(r));
    cf_csv_f64(stdout, 0, r->share, 6);
    cf_csv_f64(stdout, 0, r->so_far, 6);
    cf_csv_end(stdout);
}

/* For people: nothing that could command a terminal, and the end of what is too long. */
static void print_safely(const char *text, size_t width)
{
    char safe[4096];
    int cut;

    cf_text_safe(safe, sizeof(safe), text);
    cut = strlen(safe) > width;
    text = cf_text_end(safe, cut ? width - 2 : width);
    printf("%s%s%*s", cut ? ".." : "", text, (int)(width - strlen(text)) - (cut ? 2 : 0), "");
}

static void term_row(const struct row *r)
{
    static const char hashes[] = "##############################";
    char text[4096];
    int bar = r->share > 0 && r->widest > 0 ? (int)(r->share / r->widest * BAR_WIDTH + 0.5) : 0;

    snprintf(text, sizeof(text), "%s%s%s", *r->low ? r->low : "(none)", r->high ? " - " : "",
             r->high ? r->high : "");
    print_safely(text, LABEL_WIDTH);
    printf(" %14" PRIu64, rounded(r));
    if (r->share >= 0)
        printf(" %6.2f %%", 100 * r->share);
    printf("%s%.*s\n", bar ? " " : "", bar, hashes);
}

static void put_row(const struct row *r)
{
    if (r->h->o.csv)
        csv_row(r);
    else
        term_row(r);
}

/* ---- groups ---- */

static void head(const struct histogram *h)
{
    const char *weight = h->o.weight && strcmp(h->o.weight, "none") ? h->o.weight : "count";

    if (h->o.csv)
        cf_rows_begin(&h->tool);
    if (!h->o.csv) {
        printf("%-*s %14s    share\n", LABEL_WIDTH, h->o.column, weight);
        return;
    }
    if (h->o.by) {
        cf_csv_text(stdout, 1, h->o.by);
        putchar(',');
    }
    printf("%s,", h->o.bins == BINS_EXACT ? "value" : "bin_low,bin_high");
    cf_csv_text(stdout, 1,
                !strcmp(weight, "cost")   ? "cost_cycles"
                : !strcmp(weight, "size") ? "size_bytes"
                                          : weight);
    printf(",share,cumulative_share\n");
}

struct text_bin {
    const char *text;
    struct bin bin;
};

static int by_text(const void *x, const void *y)
{
    return strcmp(((const struct text_bin *)x)->text, ((const struct text_bin *)y)->text);
}

/* Texts in their order; ids are numbered as they came. */
static void sort_texts(const struct histogram *h, struct bin *list, size_t count)
{
    struct text_bin *t = cf_need(&h->tool, malloc((count + 1) * sizeof(*t)));

    for (size_t i = 0; i < count; i++)
        t[i] = (struct text_bin){cf_reader_text(h->reader, (uint32_t)list[i].low), list[i]};
    qsort(t, count, sizeof(*t), by_text);
    for (size_t i = 0; i < count; i++)
        list[i] = t[i].bin;
    free(t);
}

static void print_group(const struct histogram *h, uint32_t group, const char *by)
{
    struct row r = {.h = h, .by = by};
    uint64_t total = 0, so_far = 0, most = 0;
    char low[32], high[32];
    size_t count;
    struct bin *list = bins_list(h->bins, group, &count);

    if (h->type == CF_STR)
        sort_texts(h, list, count);
    for (size_t i = 0; i < count; i++) {
        total += list[i].count;
        most = list[i].count > most ? list[i].count : most;
    }
    for (unsigned s = 0; s < SPECIALS; s++) {
        uint64_t n = specials[s].unknown ? 0 : bins_special(h->bins, group, specials[s].value);

        total += n;
        most = n > most ? n : most;
    }
    r.widest = total ? (double)most / (double)total : 0;
    for (size_t i = 0; i < count; i++) {
        so_far += list[i].count;
        r.low = label(h, h->column, h->type, list[i].low, low, sizeof(low));
        r.high = h->o.bins == BINS_EXACT || (!h->o.csv && list[i].low == list[i].high)
                     ? NULL
                     : label(h, h->column, h->type, list[i].high, high, sizeof(high));
        r.count = list[i].count;
        r.share = (double)r.count / (double)total;
        r.so_far = (double)so_far / (double)total;
        put_row(&r);
    }
    free(list);
    for (unsigned s = 0; s < SPECIALS; s++) {
        const double known = specials[s].unknown ? NAN : 1;

        r.count = bins_special(h->bins, group, specials[s].value);
        if (!r.count)
            continue;
        so_far += specials[s].unknown ? 0 : r.count;
        r.low = specials[s].name;
        r.high = NULL;
        r.share = known * (double)r.count / (double)total;
        r.so_far = known * (double)so_far / (double)total;
        put_row(&r);
    }
}

static void print_groups(const struct histogram *h)
{
    const struct cf_reader *texts = h->by_type == CF_STR ? h->reader : NULL;
    struct cf_group *group = cf_need(&h->tool, cf_groups_sorted(h->groups, texts));
    char room[32];

    for (uint32_t g = 0; g < cf_groups_count(h->groups); g++) {
        const char *by = label(h, h->by, h->by_type, group[g].value, room, sizeof(room));

        if (!h->o.csv) {
            printf("\n%s ", h->o.by);
            print_safely(*by ? by : "(none)", LABEL_WIDTH);
            putchar('\n');
        }
        print_group(h, group[g].number, by);
    }
    free(group);
}

void print_histogram(const struct histogram *h)
{
    head(h);
    if (h->bins && h->o.by)
        print_groups(h);
    else if (h->bins)
        print_group(h, 0, NULL);
}
