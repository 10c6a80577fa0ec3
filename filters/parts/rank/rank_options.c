/* SPDX-License-Identifier: BSD-2-Clause */
/* rank_options.c - what the user asked for. Memory: the options. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"
#include "formats/program/cf_options.h"

/* Whether two lists of columns have one in common. */
static int same_column(const char *a, const char *b)
{
    const size_t length = strcspn(a, ",");

    for (const char *at = b;; at++) {
        if (strcspn(at, ",") == length && !memcmp(at, a, length))
            return 1;
        at += strcspn(at, ",");
        if (!*at)
            break;
    }
    return a[length] && same_column(a + length + 1, b);
}

static void set_by(const struct cf_tool *t, void *rank, const char *option, char *text)
{
    struct rank *k = rank;
    char *rest;

    k->o.keys = 0;
    for (char *part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        unsigned by;

        if (!strcmp(part, "line")) {
            cf_warn(t, "%s line is %s cache-line now, and will be unknown in the next version",
                    option, option);
            part = (char *)by_kinds[BY_LINE].name;
        }
        by = cf_parse_name(t, option, part, by_kinds, sizeof *by_kinds, BY_KINDS);
        for (unsigned i = 0; i < k->o.keys; i++)
            if (same_column(by_kinds[by].words, by_kinds[k->o.by[i]].words))
                cf_die(t, CF_EXIT_USAGE, "%s: %s and %s have a column in common", option,
                       by_kinds[k->o.by[i]].name, part);
        if (k->o.keys == MOST_KEYS)
            cf_die(t, CF_EXIT_USAGE, "%s: more than %d keys", option, MOST_KEYS);
        k->o.by[k->o.keys++] = by;
    }
}

/* The place of a value among those that are added up; appended where it is new. */
static unsigned pick(const struct cf_tool *t, struct options *o, const char *option,
                     const char *word)
{
    static const char words[] = "accesses bytes loads stores misses hits cost fetches ratio";
    unsigned class = cf_class_find(word), v;
    struct picked p = {.kind = VALUE_CLASS, .class = class};

    if (class == CF_CLASSES || class == CF_CLASS_NONE)
        p = (struct picked){.kind = cf_parse_word(t, option, word, words)};
    for (v = 0; v < o->values; v++)
        if (o->value[v].kind == p.kind && o->value[v].class == p.class)
            return v;
    if (v == MOST_VALUES)
        cf_die(t, CF_EXIT_USAGE, "%s: more than %d values", option, MOST_VALUES);
    o->value[o->values++] = p;
    return v;
}

static void set_values(const struct cf_tool *t, void *rank, const char *option, char *text)
{
    struct options *o = &((struct rank *)rank)->o;
    char *rest;

    o->values = 0;
    for (char *part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
        (void)pick(t, o, option, part);
    o->shown = o->values;
}

static void set_classes(const struct cf_tool *t, void *rank, const char *option, char *text)
{
    struct rank *k = rank;
    char *rest;

    memset(k->o.class, 0, sizeof(k->o.class));
    for (char *part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        unsigned class = cf_class_find(part);

        if (class == CF_CLASSES || class == CF_CLASS_NONE)
            cf_die(t, CF_EXIT_USAGE, "%s '%s': no class of misses", option, part);
        k->o.class[class] = 1;
    }
}

static void set_cover(const struct cf_tool *t, void *rank, const char *option, char *text)
{
    struct rank *k = rank;
    char *list = cf_need(t, strdup(text ? text : "90,95,99")), *rest = list, *part;

    free(k->o.cover);
    k->o.cover = cf_need(t, calloc(strlen(list) + 1, sizeof(*k->o.cover)));
    k->o.covers = 0;
    while ((part = strsep(&rest, ",")))
        k->o.cover[k->o.covers++] =
            (uint32_t)lround(cf_parse_f64(t, option, part, 0, 100, CF_FROM_TO) * 1e4);
    free(list);
}

/* What the values are made of, and what does not go together. */
static void check_values(struct rank *k)
{
    struct options *o = &k->o;
    unsigned has[VALUES] = {0};

    o->sort = o->sort_by ? pick(k->tool, o, "--sort", o->sort_by) : 0;
    if (o->sort >= o->shown)
        cf_die(k->tool, CF_EXIT_USAGE, "--sort %s: is none of --value", o->sort_by);
    for (unsigned v = 0; v < o->values; v++)
        has[o->value[v].kind] = 1;
    if (has[VALUE_RATIO]) {
        o->misses = pick(k->tool, o, "--value", "misses");
        o->accesses = pick(k->tool, o, "--value", "accesses");
    }
    if (o->value[o->sort].kind == VALUE_RATIO && (o->output.picture || o->cover))
        cf_die(k->tool, CF_EXIT_USAGE, "--%s is of a sum: --sort by another value than ratio",
               o->cover ? "cover" : "picture");
    if (o->ops_given && (has[VALUE_LOADS] || has[VALUE_STORES]))
        cf_die(k->tool, CF_EXIT_USAGE, "--op does not go with --value loads or stores");
    if (o->dist_given + o->classes_given + o->level_given > 1)
        cf_die(k->tool, CF_EXIT_USAGE,
               "of --level, --class and --dist only one can say what a miss is");
    if (o->classes_given && !has[VALUE_MISSES] && !has[VALUE_RATIO])
        cf_die(k->tool, CF_EXIT_USAGE, "--class goes with --value misses");
    if (o->dist_given && !has[VALUE_MISSES] && !has[VALUE_HITS] && !has[VALUE_RATIO])
        cf_die(k->tool, CF_EXIT_USAGE, "--dist goes with --value misses or hits");
    if (!o->ops_given)
        o->op[CF_LOAD] = o->op[CF_STORE] = 1;
    for (unsigned v = 0; v < o->values; v++) {
        struct picked *p = &o->value[v];

        memcpy(p->op, o->op, sizeof p->op);
        if (p->kind == VALUE_FETCHES && !o->ops_given)
            p->op[CF_LOAD] = p->op[CF_STORE] = 0, p->op[CF_IFETCH] = 1;
        else if (p->kind == VALUE_LOADS || p->kind == VALUE_STORES)
            p->op[p->kind == VALUE_LOADS ? CF_STORE : CF_LOAD] = 0;
    }
}

void rank_options(struct rank *k, int argc, char **argv)
{
    struct options *o = &k->o;
    const struct cf_option table[] = {
        {"by", 0, CF_CALL(set_by, k)},
        {"value", 0, CF_CALL(set_values, k)},
        {"sort", 0, CF_TEXT(&o->sort_by)},
        {"op", 0, CF_OPS(o->op), .given = &o->ops_given},
        {"level", 0, CF_NUMBER(&o->level, 1, 254), .given = &o->level_given},
        {"class", 0, CF_CALL(set_classes, k), .given = &o->classes_given},
        {"dist", 0, CF_NUMBER(&o->dist, 1, UINT32_MAX), .given = &o->dist_given},
        {"line-size", 0, CF_POWER(&o->line_size, 1, UINT64_MAX)},
        {"page-size", 0, CF_POWER(&o->page_size, 1, UINT64_MAX)},
        {"top", 'n', CF_NUMBER(&o->top, 1, UINT64_MAX)},
        {"before", 0, CF_TEXT(&o->before)},
        {"fail-above", 0, CF_FRACTION(&o->fail_above, 0, 1e9, 0), .given = &o->fails},
        {"cover", 0, CF_CALL(set_cover, k), .may_lack = 1},
        CF_DRAW_OPTIONS(&o->output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.by[0] = BY_FUNCTION,
                          .keys = 1,
                          .value[0].kind = VALUE_ACCESSES,
                          .values = 1,
                          .shown = 1,
                          .line_size = 64,
                          .page_size = 4096,
                          .output.sheet = {.width = 900, .height = 500}};
    memset(o->class + 1, 1, sizeof(o->class) - 1);
    cf_options_read(k->tool, argc, argv, table);
    o->top_assumed = !o->top && cf_tool_term(k->tool);
    if (!o->top)
        o->top = o->top_assumed ? 20 : UINT64_MAX;
    cf_output_check(k->tool, &o->output);
    if (o->output.picture && o->cover)
        cf_die(k->tool, CF_EXIT_USAGE, "--picture does not go with --cover");
    if (o->before && (o->cover || o->output.picture))
        cf_die(k->tool, CF_EXIT_USAGE, "--before does not go with --cover or --picture");
    if (o->fails && !o->before)
        cf_die(k->tool, CF_EXIT_USAGE, "--fail-above: needs --before FILE");
    for (unsigned i = 0; i < o->keys && o->before; i++)
        if (o->by[i] == BY_OBJECT || by_kinds[o->by[i]].pid)
            cf_die(k->tool, CF_EXIT_USAGE,
                   "--before does not go with --by %s, whose numbers mean others in each recording",
                   by_kinds[o->by[i]].name);
    check_values(k);
}
