/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_profile.c - the pages of table page by what they gain, their working set, and how far two
 * profiles have one order.
 *
 * The working set is the smallest k of whose best k pages the run is within a share of that with
 * all pages cached; without such runs, the knee of the gains (cf_counts_knee()).
 * Memory: some 200 bytes a page.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"
#include "formats/base/cf_number.h"
#include "formats/program/cf_rows.h"

static struct cf_profile read_profile(struct rank *k, char *const *files, int count)
{
    struct cf_profile p;
    struct cf_frame *f;

    cf_profile_begin(&p, k->tool, cf_tool_reader(k->tool, files, count));
    if (k->o.of)
        cf_profile_of(&p, k->o.of);
    k->mix.column[0] = CF_RUNTIME;
    while (cf_tool_next(k->tool, p.reader, &f) > 0) {
        if (f->table == CF_HEADER)
            cf_mix_check(&k->mix, k->tool, f->header);
        cf_profile_frame(&p, f);
    }
    cf_tool_fit(k->tool, p.reader);
    if (p.lacking && !p.none.count && !p.all.count && !p.pages)
        cf_die(k->tool, CF_EXIT_INPUT, "%s: table page has no column '%s' of whole numbers",
               cf_reader_input(p.reader), p.of);
    if (p.lacking)
        cf_warn(k->tool, "%llu rows without column '%s' are left out",
                (unsigned long long)p.lacking, p.of);
    cf_profile_sort(&p);
    if (!p.mode)
        cf_die(k->tool, CF_EXIT_INPUT,
               "%s: no run with one page cached, or with all but one: pages have no gains",
               cf_reader_input(p.reader));
    if (p.other)
        cf_warn(k->tool, "runs of %s and of %s: their pages are taken for the same", p.program,
                p.other);
    if (p.other_call)
        cf_warn(k->tool, "runs of call %u and of call %u of the function are taken for runs of one",
                p.call, p.other_call);
    if (p.group > 1)
        cf_warn(k->tool,
                "rows are of groups of up to %u pages (cf-capture pages --group), which have the "
                "name of their first: the others are not in the table",
                p.group);
    if (p.unused)
        cf_warn(k->tool,
                "%llu runs with all pages but one cached are left out: gains are those of runs "
                "with one page cached",
                (unsigned long long)p.unused);
    if (p.astray)
        cf_warn(k->tool,
                "%llu runs with the best k pages cached are left out: these are other pages than "
                "the k that gain most here",
                (unsigned long long)p.astray);
    if (p.unknown)
        cf_warn(k->tool, "%llu rows of table page are of an unknown policy",
                (unsigned long long)p.unknown);
    return p;
}

static void end_profile(struct rank *k, struct cf_profile *p)
{
    cf_tool_note(k->tool, cf_tool_problems(k->tool, p->reader));
    cf_reader_close(p->reader);
    cf_profile_free(p);
}

/* What says where the working set ends: the knee, a run, or none of the runs. */
enum set_by { BY_KNEE, BY_RUN, BY_NONE };

static size_t working_set(const struct rank *k, const struct cf_profile *p, enum set_by *by)
{
    const double enough = cf_runtimes_mean(&p->all) * (1 + k->o.wss / 100);
    uint64_t *gain;
    size_t knee;

    *by = BY_KNEE;
    for (size_t i = 0; p->all.count && i < p->ks; i++) {
        if (!p->best[i].count)
            continue;
        *by = BY_NONE;
        if (cf_runtimes_mean(&p->best[i]) > enough)
            continue;
        *by = BY_RUN;
        return i;
    }
    if (*by == BY_NONE)
        return p->pages;
    gain = cf_tool_room(k->tool, p->pages + 1, sizeof *gain);
    for (size_t i = 0; i < p->pages; i++)
        gain[i] = p->page[i].gain > 0 ? (uint64_t)llround(p->page[i].gain) : 0;
    knee = cf_counts_knee(gain, p->pages);
    return knee ? knee : p->pages;
}

/* ---- the ranking ---- */

static double total(const struct cf_profile *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->pages; i++)
        sum += p->page[i].gain > 0 ? p->page[i].gain : 0;
    return sum;
}

/* 0 and not -0, which C prints with its sign. */
static double rounded(double gain)
{
    return rint(gain) + 0.0;
}

static void print(const struct rank *k, const struct cf_profile *p, size_t set)
{
    const char *unit = p->of ? p->of : "cycles";
    const double all = total(p);
    double sum = 0;

    printf("rank,region,page,gain_%s,gain_least,gain_most,runs,share_percent,cumulative_percent,"
           "best_k_%s,moved_k_%s,working_set\n",
           unit, unit, unit);
    for (size_t i = 0; i < p->pages && i < k->o.top; i++) {
        const struct cf_profile_page *g = &p->page[i];
        const double share = all > 0 && g->gain > 0 ? 100 * g->gain / all : 0;

        sum += share;
        printf("%zu", i + 1);
        cf_csv_text(stdout, 0, g->region);
        cf_csv_print(stdout, ",%u,%.0f,%.0f,%.0f,%llu,%.3f,%.3f,", g->page, rounded(g->gain),
                     rounded(g->gain_least), rounded(g->gain_most),
                     (unsigned long long)(p->mode == CF_PAGES_ONLY ? g->only : g->but).count, share,
                     sum);
        if (i + 1 < p->ks && p->best[i + 1].count)
            cf_csv_print(stdout, "%.0f", cf_runtimes_mean(&p->best[i + 1]));
        cf_csv_print(stdout, ",");
        if (i + 1 < p->moves && p->moved[i + 1].count)
            cf_csv_print(stdout, "%.0f", cf_runtimes_mean(&p->moved[i + 1]));
        printf(",%d\n", i < set);
    }
}

static void draw(const struct rank *k, const struct cf_profile *p, size_t set, enum set_by by)
{
    static const struct cf_drawings drawings = {rank_profile_picture, rank_html, NULL};
    const size_t count = k->o.top_assumed || k->o.top > p->pages ? p->pages : (size_t)k->o.top;
    const char **name = cf_tool_room(k->tool, count + 1, sizeof *name);
    double *value = cf_tool_room(k->tool, count + 1, sizeof *value);
    struct rank_drawing d = {
        .bars = {.title = "Pages by cycles that their being cached gains", .all = p->pages},
        .value = "gain_cycles",
        .profile = p,
        .set = set,
        .set_by_run = by == BY_RUN};

    for (size_t i = 0; i < count; i++) {
        name[i] = cf_tool_text(k->tool, "%s %u", p->page[i].region, p->page[i].page);
        value[i] = p->page[i].gain;
    }
    d.bars.count = count;
    d.bars.total = total(p);
    d.bars.name = name;
    d.bars.value = value;
    snprintf(d.bars.summary, sizeof d.bars.summary, "%s: %zu pages%s%.0zu",
             p->program ? p->program : "a program", p->pages,
             by == BY_RUN    ? ", a working set of "
             : by == BY_KNEE ? "; no run shows the working set, the knee of gains is at "
                             : "; no run shows the working set",
             by == BY_NONE ? 0 : set);
    cf_output_draw(k->tool, &k->o.output, &d, &drawings);
}

/* ---- two profiles ---- */

/* Gains of the pages that one of two profiles has, in each; 0 where it has not. */
struct pairs {
    double *x, *y;
    size_t *worse; /* the later of its places in the two, of those that both have; else SIZE_MAX */
    size_t count, only_x, only_y;
};

static int by_name(const void *x, const void *y)
{
    const struct cf_profile_page *const *a = x, *const *b = y;

    return strcmp((*a)->region, (*b)->region) ?: cf_order((*a)->page, (*b)->page);
}

static const struct cf_profile_page **sorted(const struct rank *k, const struct cf_profile *p)
{
    const struct cf_profile_page **list = cf_tool_room(k->tool, p->pages + 1, sizeof *list);

    for (size_t i = 0; i < p->pages; i++)
        list[i] = &p->page[i];
    qsort(list, p->pages, sizeof *list, by_name);
    return list;
}

static struct pairs match(const struct rank *k, const struct cf_profile *p,
                          const struct cf_profile *q)
{
    const struct cf_profile_page **a = sorted(k, p), **b = sorted(k, q);
    struct pairs r = {.x = cf_tool_room(k->tool, p->pages + q->pages + 1, sizeof *r.x),
                      .y = cf_tool_room(k->tool, p->pages + q->pages + 1, sizeof *r.y),
                      .worse = cf_tool_room(k->tool, p->pages + q->pages + 1, sizeof *r.worse)};

    for (size_t i = 0, j = 0; i < p->pages || j < q->pages; r.count++) {
        const int order = i == p->pages ? 1 : j == q->pages ? -1 : by_name(&a[i], &b[j]);

        r.only_x += order < 0;
        r.only_y += order > 0;
        r.worse[r.count] = SIZE_MAX;
        if (!order)
            r.worse[r.count] = a[i] - p->page > b[j] - q->page ? (size_t)(a[i] - p->page)
                                                               : (size_t)(b[j] - q->page);
        r.x[r.count] = order <= 0 ? a[i++]->gain : 0;
        r.y[r.count] = order >= 0 ? b[j++]->gain : 0;
    }
    return r;
}

struct place {
    double value;
    size_t at;
};

static int by_value(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    return (a->value > b->value) - (a->value < b->value);
}

/* Ranks from 1, the mean of them where values are equal. */
static double *ranks(const struct rank *k, const double *value, size_t count)
{
    struct place *p = cf_tool_room(k->tool, count + 1, sizeof *p);
    double *rank = cf_tool_room(k->tool, count + 1, sizeof *rank);

    for (size_t i = 0; i < count; i++)
        p[i] = (struct place){value[i], i};
    qsort(p, count, sizeof *p, by_value);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && p[end].value == p[i].value; end++)
            ;
        for (size_t j = i; j < end; j++)
            rank[p[j].at] = (double)(i + 1 + end) / 2;
    }
    return rank;
}

/* Spearman's rho: the correlation of the ranks. NAN where one profile has one rank only. */
static double spearman(const struct rank *k, const struct pairs *p)
{
    const double *x = ranks(k, p->x, p->count), *y = ranks(k, p->y, p->count);
    const double mean = ((double)p->count + 1) / 2;
    double xy = 0, xx = 0, yy = 0;

    for (size_t i = 0; i < p->count; i++) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* Kendall's tau-b: pairs in the same order less those in the other, by what ties leave of each. */
static double kendall(const struct pairs *p)
{
    int64_t sum = 0, x_differ = 0, y_differ = 0;

    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < i; j++) {
            const int x = (p->x[i] > p->x[j]) - (p->x[i] < p->x[j]);
            const int y = (p->y[i] > p->y[j]) - (p->y[i] < p->y[j]);

            sum += x * y;
            x_differ += x != 0;
            y_differ += y != 0;
        }
    return x_differ && y_differ ? (double)sum / sqrt((double)x_differ * (double)y_differ) : NAN;
}

/* How many of the best n of one are among the best n of the other. */
static size_t overlap(const struct pairs *p, size_t n)
{
    size_t common = 0;

    for (size_t i = 0; i < p->count; i++)
        common += p->worse[i] < n;
    return common;
}

static void print_number(const char *measure, size_t pages, double value)
{
    cf_csv_print(stdout, "%s,%zu,", measure, pages);
    if (!isnan(value))
        cf_csv_print(stdout, "%.4f", value);
    putchar('\n');
}

static void compare(struct rank *k, const struct cf_profile *p, size_t set)
{
    char *const file = cf_tool_text(k->tool, "%s", k->o.against);
    struct cf_profile q = read_profile(k, &file, 1);
    const struct pairs r = match(k, p, &q);
    const size_t best[] = {10, 50, set};

    if (q.mode != p->mode)
        cf_die(k->tool, CF_EXIT_INPUT, "%s: its runs are of the other mode", k->o.against);
    if (r.only_x == p->pages)
        cf_die(k->tool, CF_EXIT_INPUT,
               "%s: has no page of the other profile: it is one of another program", k->o.against);
    if ((r.only_x || r.only_y) && !k->tool->quiet)
        cf_warn(k->tool,
                "%zu pages are in one profile, %zu in the other alone: they gain nothing "
                "there",
                r.only_x, r.only_y);
    cf_rows_begin(k->tool);
    puts("measure,pages,value");
    print_number("spearman", r.count, spearman(k, &r));
    print_number("kendall", r.count, kendall(&r));
    for (unsigned i = 0; i < 3; i++) {
        const size_t most = p->pages < q.pages ? p->pages : q.pages;
        const size_t n = best[i] < most ? best[i] : most;

        print_number(i == 2 ? "overlap_of_working_set" : "overlap_of_best", n,
                     n ? (double)overlap(&r, n) / (double)n : NAN);
    }
    end_profile(k, &q);
}

static void tell_set(const struct rank *k, const struct cf_profile *p, size_t set, enum set_by by)
{
    if (by == BY_RUN)
        cf_warn(k->tool,
                "working set: %zu of %zu pages, whose run is within %g %% of that with all cached",
                set, p->pages, k->o.wss);
    else if (by == BY_NONE)
        cf_warn(k->tool,
                "working set: not known, taken as all %zu pages: no run with the best k is within "
                "%g %% of that with all cached",
                p->pages, k->o.wss);
    else
        cf_warn(k->tool,
                "working set: %zu of %zu pages, by the knee of their gains, since there is no run "
                "with %s",
                set, p->pages, p->all.count ? "the best k (cf-pages --rank)" : "all pages cached");
}

void rank_profile(struct rank *k, char *const *files, int count)
{
    struct cf_profile p = read_profile(k, files, count);
    enum set_by by;
    const size_t set = working_set(k, &p, &by);

    if (k->o.output.picture || k->o.output.html)
        draw(k, &p, set, by);
    if (k->o.against) {
        compare(k, &p, set);
    } else if (cf_output_stdout(k->tool, &k->o.output) != CF_STDOUT_PICTURE) {
        cf_rows_begin(k->tool);
        print(k, &p, set);
    }
    if (!k->tool->quiet)
        tell_set(k, &p, set, by);
    end_profile(k, &p);
}
