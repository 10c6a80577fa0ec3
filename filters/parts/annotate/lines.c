/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c - what was counted, by file and line; which lines are shown, and what is left out.
 *
 * Memory: the sums of each counted line, and the texts of those that are shown.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/annotate/annotate.h"
#include "formats/base/cf_memory.h"

/* ---- files and lines ---- */

/* A key, taken to pieces. */
struct place {
    const char *name;
    size_t length;
    uint64_t number;
    const uint64_t *sum;
};

static struct place place_of(const char *text, const uint64_t *sum)
{
    struct place p = {.name = text, .sum = sum};

    p.number = cf_source_line(text, strlen(text), &p.length);
    return p;
}

static int by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    const size_t least = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->name, b->name, least);

    if (!order)
        order = (a->length > b->length) - (a->length < b->length);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int any_glob(const char *const *glob, unsigned globs, const char *text)
{
    for (unsigned i = 0; i < globs; i++)
        if (fnmatch(glob[i], text, 0) == 0)
            return 1;
    return 0;
}

static void add(const struct annotate *a, uint64_t *to, const uint64_t *sum)
{
    for (unsigned v = 0; v < a->sums.count; v++)
        to[v] += sum[v];
}

static int same_file(const struct place *a, const struct place *b)
{
    return a->length == b->length && !memcmp(a->name, b->name, a->length);
}

/* By its whole name, or by the last part of it. */
static int is_chosen(const struct annotate *a, const char *name)
{
    const char *slash = strrchr(name, '/');

    return !a->o.files || any_glob(a->o.file, a->o.files, name) ||
           (slash && any_glob(a->o.file, a->o.files, slash + 1));
}

/* The next file of sorted places; returns how many places it takes. */
static size_t take_file(struct annotate *a, const struct place *p, size_t count, struct file *f,
                        uint64_t **store)
{
    const size_t values = a->sums.count;
    size_t n = 0;

    *f = (struct file){.name = cf_tool_text(a->tool, "%.*s", (int)p->length, p->name),
                       .sum = *store};
    *store += values;
    while (n < count && same_file(p, p + n))
        n++;
    f->line = cf_need(a->tool, calloc(n, sizeof *f->line));
    for (size_t i = 0; i < n; i++) {
        struct line *last = f->lines ? &f->line[f->lines - 1] : NULL;

        if (!last || last->number != p[i].number) {
            last = &f->line[f->lines++];
            *last = (struct line){p[i].number, *store};
            *store += values;
        }
        add(a, last->sum, p[i].sum);
        add(a, f->sum, p[i].sum);
    }
    return n;
}

/* What an entry of the ranking is of, unless it is none of what was chosen. */
static size_t take_places(struct annotate *a, const struct cf_ranked *r, struct place *place)
{
    const unsigned source = a->c.keys - 1;
    size_t count = 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct cf_rank_item *item = &r->item[i];

        add(a, a->sum[ALL], item->sum);
        if (a->o.functions && !any_glob(a->o.function, a->o.functions, item->key[0].text))
            add(a, a->sum[NOT_CHOSEN], item->sum);
        else if (!*item->key[source].text)
            add(a, a->sum[a->o.files ? NOT_CHOSEN : UNKNOWN], item->sum);
        else
            place[count++] = place_of(item->key[source].text, item->sum);
    }
    qsort(place, count, sizeof *place, by_place);
    return count;
}

static double rank_of(const struct annotate *a, const uint64_t *sum)
{
    const double ratio = line_is_ratio(a, a->sort) ? cf_sums_ratio(&a->sums, sum) : 0;

    return line_is_ratio(a, a->sort) ? (isnan(ratio) ? -1 : ratio) : (double)sum[a->sort];
}

static int by_rank(const void *x, const void *y, void *annotate)
{
    const struct file *i = x, *j = y;
    const double a = rank_of(annotate, i->sum), b = rank_of(annotate, j->sum);
    const int order = (a < b) - (a > b);

    return order ? order : strcmp(i->name, j->name);
}

void lines_make(struct annotate *a, const struct cf_ranked *r)
{
    struct place *place = cf_tool_room(a->tool, r->count, sizeof *place);
    const size_t count = take_places(a, r, place);
    uint64_t *store = cf_tool_room(a->tool, 2 * count, a->sums.count * sizeof *store);

    values_choose(a, a->sum[ALL]);
    a->file = cf_tool_room(a->tool, count, sizeof *a->file);
    for (size_t i = 0; i < count;) {
        struct file *f = &a->file[a->files];

        i += take_file(a, place + i, count - i, f, &store);
        if (is_chosen(a, f->name)) {
            a->files++;
            continue;
        }
        add(a, a->sum[NOT_CHOSEN], f->sum);
        free(f->line);
    }
    qsort_r(a->file, a->files, sizeof *a->file, by_rank, a);
}

static void drop_shown(struct file *f)
{
    for (size_t i = 0; i < f->shown_lines; i++)
        free(f->shown[i].text);
    free(f->shown);
    f->shown = NULL;
    f->shown_lines = f->room = 0;
}

void lines_free(struct annotate *a)
{
    for (size_t i = 0; i < a->files; i++) {
        drop_shown(&a->file[i]);
        free(a->file[i].line);
    }
}

/* ---- what is shown ---- */

int line_is_ratio(const struct annotate *a, unsigned value)
{
    return a->sums.list[value].kind == CF_SUM_RATIO;
}

double line_share(const struct annotate *a, unsigned value, const uint64_t *sum)
{
    const uint64_t all = a->sum[ALL][value];

    return all ? (double)sum[value] / (double)all : 0;
}

double lines_hottest(const struct annotate *a)
{
    double most = 0;

    for (size_t i = 0; i < a->files; i++)
        for (size_t k = 0; k < a->file[i].lines; k++)
            most = fmax(most, rank_of(a, a->file[i].line[k].sum));
    return most;
}

double line_heat(const struct annotate *a, const uint64_t *sum, double most)
{
    const double rank = rank_of(a, sum);

    return most > 0 && rank > 0 ? sqrt(rank / most) : 0;
}

/* The greatest of a line's shares in the values that are shown, or that a ratio is made of. */
static double greatest_share(const struct annotate *a, const uint64_t *sum)
{
    double most = 0;

    for (unsigned i = 0; i < a->columns; i++)
        most =
            fmax(most, line_share(a, line_is_ratio(a, a->column[i]) ? a->sums.misses : a->column[i],
                                  sum));
    return most;
}

/* Marks the lines over the threshold: whether there is one. */
static int mark(const struct annotate *a, const struct file *f, double threshold)
{
    int any = 0;

    for (size_t i = 0; i < f->lines; i++) {
        f->over[i] = 100 * greatest_share(a, f->line[i].sum) >= threshold;
        any |= f->over[i];
    }
    return any;
}

void layout_make(struct annotate *a, double threshold, uint32_t context)
{
    a->threshold = threshold;
    memset(a->sum[SHOWN], 0, sizeof a->sum[SHOWN]);
    for (size_t i = 0; i < a->files; i++) {
        struct file *f = &a->file[i];

        drop_shown(f);
        f->over = cf_need(a->tool, calloc(f->lines + 1, 1));
        f->wanted = mark(a, f, threshold);
    }
    files_find(a);
    for (size_t i = 0; i < a->files; i++) {
        struct file *f = &a->file[i];

        if (f->wanted)
            text_take(a, f, context);
        free(f->over);
        f->over = NULL;
        for (size_t k = 0; k < f->shown_lines; k++)
            if (f->shown[k].sum)
                add(a, a->sum[SHOWN], f->shown[k].sum);
    }
    for (unsigned v = 0; v < a->sums.count; v++)
        a->sum[BELOW][v] =
            a->sum[ALL][v] - a->sum[SHOWN][v] - a->sum[UNKNOWN][v] - a->sum[NOT_CHOSEN][v];
}

size_t lines_rest(const struct annotate *a, uint64_t *sum)
{
    size_t files = 0;

    memset(sum, 0, CF_MOST_SUMS * sizeof *sum);
    for (size_t i = 0; i < a->files; i++)
        if (!a->file[i].wanted) {
            add(a, sum, a->file[i].sum);
            files++;
        }
    return files;
}

const char *part_name(enum part part)
{
    static const char *const name[] = {"all", "lines below", "lines under the threshold",
                                       "without source line", "not chosen"};

    return name[part];
}

void lines_summary(const struct annotate *a, char *text, size_t size)
{
    size_t lines = 0, shown = 0, files = 0;
    char which[64] = "";

    for (size_t i = 0; i < a->files; i++) {
        lines += a->file[i].lines;
        files += a->file[i].wanted != 0;
        for (size_t k = 0; k < a->file[i].shown_lines; k++)
            shown += a->file[i].shown[k].sum != NULL;
    }
    if (a->threshold > 0)
        snprintf(which, sizeof which, ": those with %.4g %% of a value", a->threshold);
    snprintf(text, size, "%zu of %zu counted lines in %zu of %zu files%s", shown, lines, files,
             a->files, which);
}
