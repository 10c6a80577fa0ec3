/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-rank - ranks pages, objects, functions, threads, ... by accesses, bytes, misses or cost, with
 * shares, the cumulative curve, its knee and the working set.
 *
 * In: any stream, where keys other than addresses and threads need cf-resolve. Out: CSV, or a
 * table on a terminal. Memory: one counter a distinct key, 8 bytes for strings and up to 85 for
 * other keys; by object also the objects that live or were counted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/parts/rank/rank.h"
#include "formats/program/cf_rows.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-rank [OPTION]... [FILE]...\n"
    "Rank functions, source lines, pages, heap objects, ... by their accesses, misses or cost.\n"
    "Writes CSV, or a table where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --by KEY,...     page, region, object, site, source, function, symbol (these after\n"
    "                       cf-resolve), thread, process, cache-line, op, class; several\n"
    "                       make one key of up to 4 parts  [function]\n"
    "      --value VALUE,...  accesses, bytes, loads, stores, misses, hits, ratio (misses an\n"
    "                       access), cost (cycles, of column cost), fetches (instructions) or\n"
    "                       the misses of a class: compulsory, conflict, ...  [accesses]\n"
    "      --sort VALUE     the greatest of this one first  [the first of --value]\n"
    "      --op LIST        count these operations  [load,store; for fetches ifetch]\n"
    "      --level N        a miss is an access that no level up to N served  [one that memory\n"
    "                       served; with column class: one that has a class]\n"
    "      --class LIST     count misses of these classes: compulsory, conflict, ...\n"
    "      --dist LINES     a miss is what a fully associative cache of LINES lines misses,\n"
    "                       by column dist\n"
    "      --line-size SIZE bytes of a line  [64]\n"
    "      --page-size SIZE bytes of a page, for --cover  [4096]\n"
    "  -n, --top N          print the first N only  [20 on a terminal, else all]\n"
    "      --cover[=LIST]   print how many keys make up LIST percent instead  [90,95,99]\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a table on a terminal, else CSV]\n"
    "      --picture FILE   also bars of at most 40, .png, .svg or .pdf; - is PNG on standard\n"
    "                       output, then without CSV\n"
    "      --picture-size WxH  in pixels, or in millimetres as WxHmm  [900x500]\n"
    "      --title TEXT     of the picture, instead of its own; '' for none\n"
    "  -q, --quiet          no message about the knee, no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-resolve trace.cf | cf-cache -m raspberry-pi-4 |\n"
    "    cf-rank --by function,source --value accesses,misses,ratio --sort misses --top 10\n";

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

    o->sort = o->sort_by ? pick(&k->tool, o, "--sort", o->sort_by) : 0;
    if (o->sort >= o->shown)
        cf_die(&k->tool, CF_EXIT_USAGE, "--sort %s: is none of --value", o->sort_by);
    for (unsigned v = 0; v < o->values; v++)
        has[o->value[v].kind] = 1;
    if (has[VALUE_RATIO]) {
        o->misses = pick(&k->tool, o, "--value", "misses");
        o->accesses = pick(&k->tool, o, "--value", "accesses");
    }
    if (o->value[o->sort].kind == VALUE_RATIO && (o->output.picture || o->cover))
        cf_die(&k->tool, CF_EXIT_USAGE, "--%s is of a sum: --sort by another value than ratio",
               o->cover ? "cover" : "picture");
    if (o->ops_given && (has[VALUE_LOADS] || has[VALUE_STORES]))
        cf_die(&k->tool, CF_EXIT_USAGE, "--op does not go with --value loads or stores");
    if (o->dist_given + o->classes_given + o->level_given > 1)
        cf_die(&k->tool, CF_EXIT_USAGE,
               "of --level, --class and --dist only one can say what a miss is");
    if (o->classes_given && !has[VALUE_MISSES] && !has[VALUE_RATIO])
        cf_die(&k->tool, CF_EXIT_USAGE, "--class goes with --value misses");
    if (o->dist_given && !has[VALUE_MISSES] && !has[VALUE_HITS] && !has[VALUE_RATIO])
        cf_die(&k->tool, CF_EXIT_USAGE, "--dist goes with --value misses or hits");
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

static void parse(struct rank *k, int argc, char **argv)
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
    cf_options_read(&k->tool, argc, argv, table);
    o->top_assumed = !o->top && cf_tool_term(&k->tool);
    if (!o->top)
        o->top = o->top_assumed ? 20 : UINT64_MAX;
    cf_output_check(&k->tool, &o->output);
    if (o->output.picture && o->cover)
        cf_die(&k->tool, CF_EXIT_USAGE, "--picture does not go with --cover");
    check_values(k);
}

/* 0, or the exit status when a frame lacked what the value needs. */
static int run(struct rank *k)
{
    struct cf_frame *f;
    int status = CF_EXIT_OK;

    while (cf_reader_next(k->reader, &f) > 0) {
        int bad = 0;

        cf_tool_progress(&k->tool, k->reader);
        if (f->table == CF_HEADER) {
            cf_mix_check(&k->mix, &k->tool, f->header);
            k->segment++;
            k->seen = 0;
        } else if (f->table == CF_ACCESS) {
            bad = rank_accesses(k, f);
        } else if (f->table == CF_TASK) {
            bad = rank_tasks(k, f);
        } else if (f->table == CF_OBJECT && rank_part(k, BY_OBJECT) >= 0) {
            bad = objects_frame(k->objects, f, k->segment, k->seen,
                                k->numbers[rank_part(k, BY_OBJECT)]);
        }
        if (bad < 0)
            cf_out_of_memory(&k->tool);
        if (bad > 0 && !status) {
            cf_warn(&k->tool, "the accesses have none of the columns class, hit and level, which "
                              "say what missed");
            status = CF_EXIT_INPUT;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static struct rank k;
    struct ranking r;
    int status, end;

    cf_tool_init(&k.tool, argc, argv, "cf-rank", usage);
    parse(&k, argc, argv);
    k.reader = cf_tool_reader(&k.tool, argv + optind, argc - optind);
    cf_reader_pieces(k.reader);
    rank_begin(&k);
    status = run(&k);
    cf_tool_fit(&k.tool, k.reader);
    r = rank_items(&k);
    if (k.o.output.picture)
        rank_draw(&k, &r);
    if (cf_output_stdout(&k.tool, &k.o.output) != CF_STDOUT_PICTURE) {
        cf_rows_begin(&k.tool);
        (k.o.cover ? print_cover : print_ranking)(&k, &r);
    }
    free(r.item);
    free(r.keys);
    end = cf_tool_finish(&k.tool, k.reader, NULL);
    cf_mix_free(&k.mix);
    rank_end(&k);
    free(k.o.cover);
    return end > status ? end : status;
}
