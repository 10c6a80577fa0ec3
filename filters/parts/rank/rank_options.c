/* SPDX-License-Identifier: BSD-2-Clause */
/* rank_options.c - what the user asked for. Memory: the options. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"
#include "formats/machine/cf_machine.h"
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
    char *part;

    k->c.keys = 0;
    while ((part = strsep(&text, ","))) {
        unsigned by;

        if (!strcmp(part, "line")) {
            cf_warn(t, "%s line is %s cache-line now, and will be unknown in the next version",
                    option, option);
            part = (char *)cf_rank_kinds[CF_RANK_LINE].name;
        }
        by = cf_parse_name(t, option, part, cf_rank_kinds, sizeof *cf_rank_kinds, CF_RANK_KINDS);
        for (unsigned i = 0; i < k->c.keys; i++)
            if (same_column(cf_rank_kinds[by].words, cf_rank_kinds[k->c.by[i]].words))
                cf_die(t, CF_EXIT_USAGE, "%s: %s and %s have a column in common", option,
                       cf_rank_kinds[k->c.by[i]].name, part);
        if (k->c.keys == CF_MOST_KEYS)
            cf_die(t, CF_EXIT_USAGE, "%s: more than %d keys", option, CF_MOST_KEYS);
        k->c.by[k->c.keys++] = by;
    }
}

static void set_value(const struct cf_tool *t, void *rank, const char *option, char *text)
{
    struct rank *k = rank;

    k->o.gain = !strcmp(text, "gain");
    if (!k->o.gain)
        cf_sums_values(t, &k->sums, option, text);
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

/* What sorts, and what does not go together. */
static void check_sums(struct rank *k)
{
    struct options *o = &k->o;

    for (unsigned part = 0; part < k->c.keys; part++)
        k->sums.of_sets |= k->c.by[part] == CF_RANK_SET;
    o->sort = o->sort_by ? cf_sums_pick(&k->sums, "--sort", o->sort_by) : 0;
    if (o->sort >= k->sums.shown)
        cf_die(k->tool, CF_EXIT_USAGE, "--sort %s: is none of --value", o->sort_by);
    cf_sums_check(&k->sums);
    if (k->sums.list[o->sort].kind == CF_SUM_RATIO &&
        (o->output.picture || o->output.html || o->cover))
        cf_die(k->tool, CF_EXIT_USAGE, "--%s is of a sum: --sort by another value than ratio",
               o->cover            ? "cover"
               : o->output.picture ? "picture"
                                   : "html");
}

/* What goes with --before. */
static void check_before(struct rank *k)
{
    const struct options *o = &k->o;
    int lines = 0;

    if (o->before && (o->cover || o->output.picture || o->output.html))
        cf_die(k->tool, CF_EXIT_USAGE, "--before does not go with --cover, --picture or --html");
    if (o->fails && !o->before)
        cf_die(k->tool, CF_EXIT_USAGE, "--fail-above: needs --before FILE");
    for (unsigned i = 0; i < k->c.keys && o->before; i++) {
        lines |= rank_has_lines(k->c.by[i]);
        if (k->c.by[i] == CF_RANK_OBJECT || cf_rank_kinds[k->c.by[i]].pid)
            cf_die(k->tool, CF_EXIT_USAGE,
                   "--before does not go with --by %s, whose numbers mean others in each recording",
                   cf_rank_kinds[k->c.by[i]].name);
    }
    if (lines)
        k->c.sources = cf_sources_new(k->tool, "--source-dir", o->dir, o->dirs);
    else if (o->dirs || o->before_dirs)
        cf_die(k->tool, CF_EXIT_USAGE,
               "--%ssource-dir: needs --before FILE and --by source or site",
               o->dirs ? "" : "before-");
}

/* The sets of a ranking by set are those of the first level, or of --level. */
static void find_sets(struct rank *k, const char *name, int line_size_given)
{
    const unsigned depth = k->sums.level_given ? k->sums.level : 1;
    struct cf_machine *m;
    unsigned i = 0;

    if (!k->sums.of_sets && name)
        cf_die(k->tool, CF_EXIT_USAGE, "-m goes with --by set alone");
    if (!k->sums.of_sets)
        return;
    if (!name)
        cf_die(k->tool, CF_EXIT_USAGE, "--by set: needs -m MACHINE, whose sets they are");
    if (line_size_given)
        cf_die(k->tool, CF_EXIT_USAGE, "--line-size does not go with --by set: -m states it");
    m = cf_tool_machine(k->tool, name);
    while (i < m->levels &&
           (m->level[i].depth != depth || m->level[i].kind == CF_INSTRUCTION_CACHE))
        i++;
    if (i == m->levels)
        cf_die(k->tool, CF_EXIT_USAGE, "--by set: %s has no cache for data at level %u", m->name,
               depth);
    k->c.sets = cf_sets(m->level[i].sets);
    k->c.line_size = m->level[i].line;
    cf_machine_free(m);
}

/* What goes with --value gain, which is of table page. */
static void check_gain(const struct rank *k, const char *machine)
{
    const struct options *o = &k->o;
    const struct cf_sums *s = &k->sums;

    if (!o->gain && (o->wss_given || o->against || o->of))
        cf_die(k->tool, CF_EXIT_USAGE, "--%s goes with --value gain",
               o->of        ? "of"
               : o->against ? "against"
                            : "wss");
    if (o->gain && (k->c.keys != 1 || k->c.by[0] != CF_RANK_PAGE))
        cf_die(k->tool, CF_EXIT_USAGE, "--value gain is of pages: give --by page");
    if (o->gain && (o->sort_by || o->cover || o->before || o->fails || machine || s->ops_given ||
                    s->level_given || s->classes_given || s->dist_given))
        cf_die(k->tool, CF_EXIT_USAGE,
               "--value gain goes with --by page, --top, --wss, --against, --of, --picture and "
               "--html alone");
    if (o->of && o->of[strcspn(o->of, ",\"\r\n")])
        cf_die(k->tool, CF_EXIT_USAGE, "--of: '%s' is no name of a column", o->of);
    if ((o->against || o->of) && (o->output.picture || o->output.html))
        cf_die(k->tool, CF_EXIT_USAGE, "--%s does not go with --%s",
               o->output.picture ? "picture" : "html", o->against ? "against" : "of");
}

/* What is made of parts of the input. */
static void check_partial(struct rank *k)
{
    const struct options *o = &k->o;
    const int shared = k->partial.jobs > 1;

    if ((k->partial.asked || shared) && (o->before || o->gain))
        cf_die(k->tool, CF_EXIT_USAGE, "--%s does not go with %s",
               k->partial.asked ? "partial" : "jobs", o->before ? "--before" : "--value gain");
    if (k->partial.asked && (o->output.picture || o->output.html || shared))
        cf_die(k->tool, CF_EXIT_USAGE, "--partial does not go with --%s",
               o->output.picture ? "picture"
               : o->output.html  ? "html"
                                 : "jobs");
    k->partial.tool = k->tool;
    k->partial.options = cf_ranking_options(&k->c);
    k->c.partial = &k->partial;
}

void rank_options(struct rank *k, int argc, char **argv)
{
    struct options *o = &k->o;
    const char *machine = NULL;
    int line_size = 0;
    const struct cf_option table[] = {
        {"by", 0, CF_CALL(set_by, k)},
        {"machine", 'm', CF_TEXT(&machine), .reads = CF_READS_MACHINE},
        {"value", 0, CF_CALL(set_value, k)},
        CF_SUM_OTHER_OPTIONS(&k->sums),
        {"wss", 0, CF_FRACTION(&o->wss, 0, 100, CF_FROM_TO), .given = &o->wss_given},
        {"against", 0, CF_TEXT(&o->against), .reads = CF_READS_FILE},
        {"of", 0, CF_TEXT(&o->of)},
        {"sort", 0, CF_TEXT(&o->sort_by)},
        {"line-size", 0, CF_POWER(&k->c.line_size, 1, UINT64_MAX), .given = &line_size},
        {"page-size", 0, CF_POWER(&o->page_size, 1, UINT64_MAX)},
        {"top", 'n', CF_NUMBER(&o->top, 1, UINT64_MAX)},
        {"before", 0, CF_TEXT(&o->before), .reads = CF_READS_FILE},
        {"before-source-dir", 0, CF_TEXTS(o->before_dir, &o->before_dirs, CF_SOURCE_DIRS)},
        {"source-dir", 0, CF_TEXTS(o->dir, &o->dirs, CF_SOURCE_DIRS)},
        {"fail-above", 0, CF_FRACTION(&o->fail_above, 0, 1e9, 0), .given = &o->fails},
        {"cover", 0, CF_CALL(set_cover, k), .may_lack = 1},
        CF_PARTIAL_OPTION(&k->partial),
        CF_JOBS_OPTION(&k->partial),
        CF_PICTURE_OPTIONS(&o->output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.wss = 2, .output.sheet = {.width = 900, .height = 500}};
    cf_sums_init(&k->sums, k->tool);
    k->sums.words = CF_SUMS_ADDED CF_SUMS_RATIO CF_SUMS_MISSES " gain";
    k->c =
        (struct cf_ranking){.tool = k->tool, .by[0] = CF_RANK_FUNCTION, .keys = 1, .line_size = 64};
    cf_options_read(k->tool, argc, argv, table);
    if (o->cover && o->top)
        cf_die(k->tool, CF_EXIT_USAGE, "--cover does not go with --top: it is of all entries");
    o->top_assumed = !o->top && cf_tool_term(k->tool);
    if (!o->top)
        o->top = o->top_assumed ? 20 : UINT64_MAX;
    cf_output_check(k->tool, &o->output);
    if ((o->output.picture || o->output.html) && o->cover)
        cf_die(k->tool, CF_EXIT_USAGE, "--%s does not go with --cover",
               o->output.picture ? "picture" : "html");
    if (o->cover && k->c.by[0] == CF_RANK_PAGE)
        k->c.page_size = &o->page_size;
    check_gain(k, machine);
    check_before(k);
    check_sums(k);
    find_sets(k, machine, line_size);
    k->c.sums = &k->sums;
    if (!o->gain)
        check_partial(k);
}
