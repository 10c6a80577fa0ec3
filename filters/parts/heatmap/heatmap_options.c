/* SPDX-License-Identifier: BSD-2-Clause */
/* heatmap_options.c - what the user asked for. Memory: the options. */
#include <string.h>

#include "filters/parts/heatmap/rows.h"
#include "formats/program/cf_options.h"

static void set_time(const struct cf_tool *t, void *options, const char *option, char *text)
{
    struct options *o = options;

    cf_parse_span(t, option, text, &o->span);
    o->from = o->span.from;
    o->to = o->span.parts ? UINT64_MAX : o->span.to;
    o->from_given = text[0] != '-';
}

static void set_level(const struct cf_tool *t, void *levels, const char *option, char *text)
{
    ((uint8_t *)levels)[cf_parse_u64(t, option, text, 0, 255)] = 1;
}

/* What is made of parts of the input: no page, whose functions are not found by adding up. */
static void check_partial(struct cf_tool *t, const struct options *o, struct cf_partial *p)
{
    if (p->asked && (p->jobs > 1 || o->output.picture))
        cf_die(t, CF_EXIT_USAGE, "--partial does not go with --%s",
               p->jobs > 1 ? "jobs" : "picture");
    if (p->asked && o->span.parts)
        cf_die(t, CF_EXIT_USAGE,
               "--partial does not go with a part of the time: give ticks, such as 1000-2000");
    if ((p->asked || p->jobs > 1) && o->output.html)
        cf_die(t, CF_EXIT_USAGE, "--%s does not go with --html", p->asked ? "partial" : "jobs");
    p->tool = t;
}

/* What does not go together, and what is counted of which table. `bins`: the option that was given
   of how wide they are, or NULL. */
static void check_counted(struct cf_tool *t, struct options *o, int all, const char *bins)
{
    const int one = o->value == LOADS || o->value == STORES;
    const char *of_accesses = o->value != ACCESSES ? "value"
                              : o->ops_given       ? "op"
                              : all                ? "all"
                                                   : NULL;

    if (o->ops_given && (all || one))
        cf_die(t, CF_EXIT_USAGE, "--op does not go with %s",
               all ? "--all" : "--value loads or stores");
    if (!o->ops_given) {
        memset(o->ops, !one, sizeof o->ops);
        o->ops[CF_IFETCH] = (uint8_t)(all && !one);
        o->ops[o->value == STORES ? CF_STORE : CF_LOAD] = 1;
    }
    if (!o->table && o->level_given)
        o->table = CF_LINE;
    /* times that are asked for are times of accesses: snapshots have numbers */
    if (!o->table && (o->span.parts || o->from || o->to != UINT64_MAX || of_accesses || bins))
        o->table = CF_ACCESS;
    if (o->table == CF_ACCESS && o->level_given)
        cf_die(t, CF_EXIT_USAGE, "--level is of lines of snapshots: accesses have none to choose");
    if (o->table == CF_LINE && o->span.parts)
        cf_die(t, CF_EXIT_USAGE,
               "--time: of lines it is numbers of snapshots, of which there are no parts");
    if (o->table == CF_LINE && of_accesses)
        cf_die(t, CF_EXIT_USAGE, "--%s: of snapshots only lines are counted", of_accesses);
    if (o->table == CF_LINE && bins)
        cf_die(t, CF_EXIT_USAGE, "--%s: each snapshot is a column, and they are not put together",
               bins);
}

void heatmap_options(struct cf_tool *t, struct options *o, struct cf_partial *p, int argc,
                     char **argv)
{
    int all = 0, bins_given = 0;
    unsigned table_word = 0;
    const struct cf_option table[] = {
        {"bins", 'b', CF_NUMBER(&o->bins, 1, 1 << 16), .given = &bins_given},
        {"bin-width", 'w', CF_NUMBER(&o->width, 1, UINT64_MAX)},
        {"top", 'n', CF_NUMBER(&o->top, 1, UINT32_MAX)},
        {"time", 0, CF_CALL(set_time, o)},
        {"from", 0, CF_NUMBER(&o->from, 0, UINT64_MAX), .given = &o->from_given},
        {"to", 0, CF_NUMBER(&o->to, 0, UINT64_MAX)},
        {"value", 0, CF_WORD(&o->value, "accesses bytes loads stores misses cost", 0)},
        {"op", 0, CF_OPS(o->ops), .given = &o->ops_given},
        {"all", 0, CF_FLAG(&all)},
        {"region", 0, CF_TEXT(&o->region)},
        {"table", 0, CF_WORD(&table_word, "access line", 1)},
        {"level", 0, CF_CALL(set_level, o->levels), .given = &o->level_given},
        {"scale", 0, CF_WORD(&o->linear, "log linear", 0)},
        CF_PARTIAL_OPTION(p),
        CF_JOBS_OPTION(p),
        CF_PICTURE_OPTIONS(&o->output),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){
        .bins = 200, .to = UINT64_MAX, .output.sheet = {.width = 1200, .height = 800}};
    cf_options_read(t, argc, argv, table);
    o->table = table_word == 1 ? CF_ACCESS : table_word == 2 ? CF_LINE : 0;
    if (o->from > o->to)
        cf_die(t, CF_EXIT_USAGE, "--from: the time ends before it begins");
    if (bins_given && o->width)
        cf_die(t, CF_EXIT_USAGE, "--bins does not go with --bin-width");
    check_counted(t, o, all, o->width ? "bin-width" : bins_given ? "bins" : NULL);
    cf_output_check(t, &o->output);
    check_partial(t, o, p);
}
