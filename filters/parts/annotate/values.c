/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.c - the values that are shown where none are asked for: the accesses, and whatever the
 * stream says of what they missed and cost. Which columns it has, its first accesses say.
 */
#include <string.h>

#include "filters/parts/annotate/annotate.h"

enum { LEVELS = 4 };

static unsigned pick(struct annotate *a, const char *word)
{
    return cf_sums_pick(&a->sums, "--value", word);
}

/* What accesses have columns for. */
enum { HAS_LEVELS = 1, HAS_CLASSES = 2, HAS_COST = 4 };

static unsigned has(const struct cf_frame *f)
{
    if (!f)
        return 0;
    return (cf_u8(f, CF_HIT) || cf_u8(f, CF_LEVEL) ? HAS_LEVELS : 0) |
           (cf_u8(f, CF_CLASS) ? HAS_CLASSES : 0) | (cf_u32(f, CF_COST) ? HAS_COST : 0);
}

/* Warns, once, of what later accesses have and the first had not. */
static void check_more(struct annotate *a, const struct cf_frame *f)
{
    const unsigned more = has(f) & ~a->has;

    if (!a->assumed || !more)
        return;
    cf_warn(a->tool,
            "accesses have a column for %s that the first accesses have not, so it is not shown: "
            "run all inputs through the same programs",
            more & HAS_LEVELS    ? "the misses of levels"
            : more & HAS_CLASSES ? "classes of misses"
                                 : "cost");
    a->has |= HAS_LEVELS | HAS_CLASSES | HAS_COST;
}

static void assume(struct annotate *a, const struct cf_frame *f)
{
    char word[] = "l1-misses";
    int levels, classes;

    a->has = has(f);
    levels = (a->has & HAS_LEVELS) != 0;
    classes = (a->has & HAS_CLASSES) != 0;

    pick(a, "accesses");
    for (unsigned k = 1; k <= LEVELS && levels; k++) {
        word[1] = (char)('0' + k);
        pick(a, word);
    }
    if (levels || classes || a->sums.dist_given)
        pick(a, "misses");
    for (unsigned code = 1; code < CF_CLASSES && classes; code++)
        pick(a, cf_class_name(code));
    if (classes)
        pick(a, cf_class_name(CF_CLASS_UNCLASSIFIED));
    if (a->has & HAS_COST)
        pick(a, "cost");
    a->sums.shown = a->sums.count;
}

void values_want(struct annotate *a)
{
    cf_reader_want_each(a->c.reader, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_WEIGHT, CF_HIT, CF_LEVEL,
                        CF_CLASS, CF_COST);
}

void values_begin(struct annotate *a, const struct cf_frame *f)
{
    struct cf_sums *s = &a->sums;

    if (a->begun) {
        check_more(a, f);
        return;
    }
    a->begun = 1;
    if (a->assumed)
        assume(a, f);
    a->sort = a->o.sort_by ? cf_sums_pick(s, "--sort", a->o.sort_by) : 0;
    if (a->sort >= s->shown)
        cf_die(a->tool, CF_EXIT_USAGE, "--sort %s: is none of %s", a->o.sort_by,
               a->assumed ? "what the stream has columns for" : "--value");
    cf_sums_check(s);
    cf_sums_begin(s, a->c.reader);
    memcpy(a->mix.column, s->mixed, sizeof s->mixed);
    if (f)
        cf_mix_check(&a->mix, a->tool, f->header);
}

static int find(const struct annotate *a, enum cf_sum_kind kind, unsigned number)
{
    for (unsigned v = 0; v < a->sums.shown; v++)
        if (a->sums.list[v].kind == kind && a->sums.list[v].number == number)
            return (int)v;
    return -1;
}

/* The deepest level in which something hit: those below it have its misses once more. */
static unsigned last_level(const struct annotate *a, const uint64_t *sum)
{
    unsigned last = 1;

    for (unsigned k = 2; k <= LEVELS; k++) {
        const int above = find(a, CF_SUM_LEVEL, k - 1), here = find(a, CF_SUM_LEVEL, k);

        if (above >= 0 && here >= 0 && sum[above] != sum[here])
            last = k;
    }
    return last;
}

/* Whether an assumed value says something that the others do not. */
static int says_more(const struct annotate *a, unsigned v, const uint64_t *sum)
{
    const struct cf_sum *s = &a->sums.list[v];
    const unsigned last = last_level(a, sum);
    const int classes = find(a, CF_SUM_CLASS, CF_CLASS_COMPULSORY) >= 0;

    switch (s->kind) {
    case CF_SUM_LEVEL: /* without classes, those of the last are the misses */
        return s->number < last || (s->number == last && classes);
    case CF_SUM_MISSES:
        for (unsigned k = 1; k <= last && classes; k++) {
            const int level = find(a, CF_SUM_LEVEL, k);

            if (level >= 0 && sum[level] == sum[v])
                return 0;
        }
        return 1;
    case CF_SUM_CLASS:
        return sum[v] != 0;
    default:
        return 1;
    }
}

void values_choose(struct annotate *a, const uint64_t *sum)
{
    const struct cf_sums *s = &a->sums;
    const int sorted = a->o.sort_by || !a->assumed;

    a->columns = 0;
    for (unsigned v = 0; v < s->shown; v++)
        if (!a->assumed || says_more(a, v, sum) || (a->o.sort_by && v == a->sort))
            a->column[a->columns++] = v;
    /* of the columns that are there by themselves: cost, else misses, of the last level */
    for (unsigned i = 0; i < a->columns && !sorted; i++) {
        const unsigned v = a->column[i];
        const enum cf_sum_kind kind = s->list[v].kind;

        if (sum[v] && (kind == CF_SUM_LEVEL || kind == CF_SUM_MISSES || kind == CF_SUM_COST))
            a->sort = v;
    }
}
