/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clash_table.c - pairs as CSV, as the paper's Table 3, and correlation.
 *
 * In: pairs with their metrics. Out: text. Memory: 16 bytes a pair.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/parts/clash/clash.h"
#include "formats/program/cf_rows.h"

enum metric { SLOWDOWN, EXCESS, EVICTION };

static double value_of(const struct pair *p, enum metric m)
{
    return m == SLOWDOWN ? p->slowdown : m == EXCESS ? p->excess : p->eviction;
}

void print_pairs(const struct clash *c)
{
    cf_rows_begin(&c->tool);
    printf("observed,interfering,active_set_excess,reused_set_eviction%s\n",
           c->o.slowdown ? ",slowdown" : "");
    for (uint32_t i = 0; i < c->pairs; i++) {
        const struct pair *p = &c->pair[i];

        cf_csv_print(stdout, "%s,%s,%.6f,%.6f", c->profile[p->observed].name,
                     c->profile[p->interfering].name, p->excess, p->eviction);
        if (c->o.slowdown)
            cf_csv_f64(stdout, 0, p->slowdown, 6);
        cf_csv_end(stdout);
    }
}

/* Over the pairs that have both, and how many these are. */
static double correlation(const struct clash *c, enum metric m, size_t *n)
{
    double *x = cf_need(&c->tool, calloc(c->pairs + 1, sizeof *x));
    double *y = cf_need(&c->tool, calloc(c->pairs + 1, sizeof *y)), r;

    *n = 0;
    for (uint32_t i = 0; i < c->pairs; i++) {
        if (isnan(c->pair[i].slowdown) || isnan(value_of(&c->pair[i], m)))
            continue;
        x[*n] = value_of(&c->pair[i], m);
        y[(*n)++] = c->pair[i].slowdown;
    }
    r = cf_clash_correlation(x, y, *n);
    free(x);
    free(y);
    return r;
}

void print_correlation(const struct clash *c)
{
    static const char *const names[] = {"", "active_set_excess", "reused_set_eviction"};

    cf_rows_begin(&c->tool);
    puts("metric,pairs,correlation");
    for (enum metric m = EXCESS; m <= EVICTION; m++) {
        size_t n;
        const double r = correlation(c, m, &n);

        cf_csv_print(stdout, "%s,%zu,%.6f\n", names[m], n, r);
    }
}

/* A name in the table: names come from the command line and files, whose control characters stay
   out of a terminal. */
static void put_name(const char *name, int width)
{
    int n = 0;

    for (; *name && n < width; name++, n++)
        putchar(*name >= 32 && *name < 127 ? *name : '?');
    printf("%*s", width - n, "");
}

static void print_group(const struct clash *c, enum metric m, const char *title)
{
    enum { WIDTH = 14 };

    put_name(title, 22);
    for (uint32_t o = 0; o < c->profiles; o++)
        put_name(c->profile[o].name, WIDTH - 1), putchar(' ');
    putchar('\n');
    for (uint32_t i = 0; i < c->profiles; i++) {
        fputs("  ", stdout);
        put_name(c->profile[i].name, 19);
        putchar(' ');
        for (uint32_t o = 0; o < c->profiles; o++) {
            const struct pair *p = clash_pair(c, o, i);
            const double v = p ? value_of(p, m) : NAN;

            if (isnan(v))
                printf("%-*s", WIDTH, "-");
            else
                printf("%-*.2f", WIDTH, v);
        }
        putchar('\n');
    }
    if (m != SLOWDOWN && c->o.slowdown) {
        size_t n;
        const double r = correlation(c, m, &n);

        if (isnan(r))
            printf("  correlation coefficient: none, of %zu pairs\n", n);
        else
            printf("  correlation coefficient: %.2f, of %zu pairs\n", r, n);
    }
    putchar('\n');
}

void print_table(const struct clash *c)
{
    puts("Rows: interfering program; columns: observed program\n");
    if (c->o.slowdown)
        print_group(c, SLOWDOWN, "Slowdown");
    print_group(c, EXCESS, "Active set excess");
    print_group(c, EVICTION, "Reused set eviction");
}
