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
    "      --by KEY         page, region, object, site, source, function, symbol (these after\n"
    "                       cf-resolve), thread, process, cache-line, op  [function]\n"
    "      --value VALUE    accesses, bytes, loads, stores, misses, hits, cost (cycles, of\n"
    "                       column cost) or fetches (instructions)  [accesses]\n"
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
    "  cf-resolve trace.cf | cf-rank --by function --value misses --top 10\n";

static void set_by(const struct cf_tool *t, void *rank, const char *option, char *text)
{
    struct rank *k = rank;

    if (!strcmp(text, "line")) {
        cf_warn(t, "%s line is %s cache-line now, and will be unknown in the next version", option,
                option);
        text = (char *)by_kinds[BY_LINE].name;
    }
    k->o.by = cf_parse_name(t, option, text, by_kinds, sizeof *by_kinds, BY_KINDS);
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

static void parse(struct rank *k, int argc, char **argv)
{
    struct options *o = &k->o;
    const struct cf_option table[] = {
        {"by", 0, CF_CALL(set_by, k)},
        {"value", 0, CF_WORD(&o->value, "accesses bytes loads stores misses hits cost fetches", 0)},
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

    *o = (struct options){.by = BY_FUNCTION,
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
    if (k->o.ops_given && (k->o.value == VALUE_LOADS || k->o.value == VALUE_STORES))
        cf_die(&k->tool, CF_EXIT_USAGE, "--op does not go with --value loads or stores");
    if (k->o.dist_given + k->o.classes_given + k->o.level_given > 1)
        cf_die(&k->tool, CF_EXIT_USAGE,
               "of --level, --class and --dist only one can say what a"
               " miss is");
    if (k->o.classes_given && k->o.value != VALUE_MISSES)
        cf_die(&k->tool, CF_EXIT_USAGE, "--class goes with --value misses");
    if (k->o.dist_given && k->o.value != VALUE_MISSES && k->o.value != VALUE_HITS)
        cf_die(&k->tool, CF_EXIT_USAGE, "--dist goes with --value misses or hits");
    if (!k->o.ops_given) {
        k->o.op[CF_LOAD] = k->o.value != VALUE_STORES && k->o.value != VALUE_FETCHES;
        k->o.op[CF_STORE] = k->o.value != VALUE_LOADS && k->o.value != VALUE_FETCHES;
        k->o.op[CF_IFETCH] = k->o.value == VALUE_FETCHES;
    }
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
        } else if (f->table == CF_OBJECT && k->o.by == BY_OBJECT) {
            bad = objects_frame(k->objects, f, k->segment, k->seen, k->counts);
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
    struct item *item;
    size_t count;
    int status, end;

    cf_tool_init(&k.tool, argc, argv, "cf-rank", usage);
    parse(&k, argc, argv);
    k.reader = cf_tool_reader(&k.tool, argv + optind, argc - optind);
    cf_reader_pieces(k.reader);
    k.counts = cf_need(&k.tool, cf_counts_new());
    k.names = cf_need(&k.tool, cf_counts_new());
    k.objects = cf_need(&k.tool, objects_new());
    k.value = cf_column_room(&k.tool, sizeof(*k.value));
    k.key[0] = cf_column_room(&k.tool, sizeof(*k.key[0]));
    k.key[1] = cf_column_room(&k.tool, sizeof(*k.key[1]));
    rank_want(&k);
    status = run(&k);
    cf_tool_fit(&k.tool, k.reader);
    item = cf_need(&k.tool, rank_items(&k, &count));
    if (k.o.output.picture)
        rank_draw(&k, item, count);
    if (cf_output_stdout(&k.tool, &k.o.output) != CF_STDOUT_PICTURE) {
        cf_rows_begin(&k.tool);
        (k.o.cover ? print_cover : print_ranking)(&k, item, count);
    }
    free(item);
    end = cf_tool_finish(&k.tool, k.reader, NULL);
    cf_mix_free(&k.mix);
    cf_counts_free(k.counts);
    cf_counts_free(k.names);
    objects_free(k.objects);
    free(k.sum);
    free(k.o.cover);
    return end > status ? end : status;
}
