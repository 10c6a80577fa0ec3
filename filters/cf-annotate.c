/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-annotate - shows the source with accesses, misses, classes, cost, ... beside each line.
 *
 * In: a stream that cf-resolve has been through, and the source files that it names. Out: CSV, the
 * annotated source on a terminal, a page for a browser. Memory: the sums of each counted line, the
 * texts of those that are shown.
 */
#include <stdlib.h>
#include <string.h>

#include "filters/parts/annotate/annotate.h"
#include "formats/program/cf_options.h"
#include "formats/program/cf_rows.h"

static const char usage[] =
    "Usage: cf-annotate [OPTION]... [FILE]...\n"
    "Show the source with accesses, misses, cost, ... beside each line.\n"
    "Writes CSV, or the annotated source where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --value VALUE,...  accesses, bytes, loads, stores, misses, hits, ratio (misses an\n"
    "                       access), cost (cycles), fetches (instructions), the misses of a\n"
    "                       level, l1-misses to l4-misses, or of a class: compulsory,\n"
    "                       conflict, ...  [accesses, and what else the stream has columns for]\n"
    "      --sort VALUE     of files, the greatest of this one first  [the first of --value;\n"
    "                       without that cost, else misses, where there are any]\n"
    "      --op LIST        count these operations  [load,store; for fetches ifetch]\n"
    "      --level N        a miss is an access that no level up to N served  [one that memory\n"
    "                       served; with column class: one that has a class]\n"
    "      --class LIST     count misses of these classes: compulsory, conflict, ...\n"
    "      --dist LINES     a miss is what a fully associative cache of LINES lines misses,\n"
    "                       by column dist\n"
    "      --source-dir DIR source files are below DIR; may be repeated\n"
    "      --file GLOB      only files of this name, such as 'sort.c' or 'src/*'; may be repeated\n"
    "      --function GLOB  only what these functions did; may be repeated\n"
    "      --threshold PERCENT  show lines with at least this share of one of the values\n"
    "                       [0.1; in CSV and JSON 0]\n"
    "      --context N      and N lines before and after each of them  [8; in CSV and JSON 0]\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [annotated source on a terminal, else CSV]\n"
    "      --html FILE      also a page for a browser; - is standard output, then without CSV\n"
    "      --title TEXT     of the page\n"
    "  -q, --quiet          no message about files that were not found, no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Example:\n"
    "  cf-resolve trace.cf | cf-cache -m raspberry-pi-4 | cf-annotate --html source.html\n";

enum { CONTEXT = 8, MOST_CONTEXT = 1000000 };
static const double threshold = 0.1; /* percent, as cg_annotate has it */

static void parse(struct annotate *a, int argc, char **argv)
{
    struct options *o = &a->o;
    const struct cf_option table[] = {
        CF_SUM_OPTIONS(&a->sums),
        {"sort", 0, CF_TEXT(&o->sort_by)},
        {"source-dir", 0, CF_TEXTS(o->dir, &o->dirs, CF_SOURCE_DIRS)},
        {"file", 0, CF_TEXTS(o->file, &o->files, MOST_GLOBS)},
        {"function", 0, CF_TEXTS(o->function, &o->functions, MOST_GLOBS)},
        {"threshold", 0, CF_FRACTION(&o->threshold, 0, 100, 0), .given = &o->threshold_given},
        {"context", 0, CF_NUMBER(&o->context, 0, MOST_CONTEXT), .given = &o->context_given},
        {"html", 0, CF_FILE(&o->output.html)},
        {"title", 0, CF_TEXT(&o->output.sheet.title)},
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    cf_sums_init(&a->sums, a->tool);
    a->sums.count = 0; /* --value says otherwise */
    cf_options_read(a->tool, argc, argv, table);
    a->assumed = !a->sums.count;
    cf_output_check(a->tool, &o->output);
    a->sources = cf_sources_new(a->tool, "--source-dir", o->dir, o->dirs);
    a->c = (struct cf_ranking){
        .tool = a->tool, .sums = &a->sums, .line_size = 64, .sources = a->sources};
    if (o->functions)
        a->c.by[a->c.keys++] = CF_RANK_FUNCTION;
    a->c.by[a->c.keys++] = CF_RANK_SOURCE;
}

static void run(struct annotate *a)
{
    struct cf_frame *f;

    while (cf_tool_next(a->tool, a->c.reader, &f) > 0) {
        if (f->table == CF_HEADER) {
            cf_tool_command(a->tool, &a->command, f->header->command);
            if (a->begun)
                cf_mix_check(&a->mix, a->tool, f->header);
        }
        if (f->table == CF_ACCESS)
            values_begin(a, f);
        cf_ranking_take(&a->c, f);
    }
}

static void count(struct annotate *a, char *const *files, int number)
{
    struct cf_ranked r;

    a->c.reader = cf_tool_reader(a->tool, files, number);
    cf_reader_pieces(a->c.reader);
    cf_ranking_begin(&a->c);
    if (a->assumed && !a->sums.dist_given)
        values_want(a);
    else
        values_begin(a, NULL);
    run(a);
    cf_tool_fit(a->tool, a->c.reader);
    values_begin(a, NULL); /* there were no accesses */
    r = cf_ranking_sort(&a->c, 0);
    lines_make(a, &r);
    cf_ranked_free(&r);
}

/* What --file and --function have left. */
static void remarks(const struct annotate *a)
{
    const struct options *o = &a->o;

    cf_sums_remarks(&a->sums);
    if (!o->files && !o->functions && !a->files && a->sum[UNKNOWN][0])
        cf_warn(a->tool,
                "no access is of a known source line: compile with -g, and see cf-resolve(1)");
    if ((o->files || o->functions) && !a->files && !a->tool->quiet)
        cf_warn(a->tool, "nothing was counted in a %s of that name: 'cf-rank --by %s' lists them",
                o->files ? "file" : "function", o->files ? "source" : "function");
    if (!a->tool->quiet)
        files_remarks(a);
}

static void print(struct annotate *a)
{
    const struct options *o = &a->o;
    const enum cf_stdout form = cf_output_stdout(a->tool, &o->output);
    const struct cf_drawings page = {.html = write_html}, drawing = {.term = draw_term};
    const struct cf_output alone = {.sheet = o->output.sheet};

    if (o->output.html || form == CF_STDOUT_DRAWING)
        layout_make(a, o->threshold_given ? o->threshold : threshold,
                    o->context_given ? o->context : CONTEXT);
    if (o->output.html)
        cf_output_draw(a->tool, &o->output, a, &page);
    if (form == CF_STDOUT_DRAWING)
        cf_output_draw(a->tool, &alone, a, &drawing);
    if (form != CF_STDOUT_CSV)
        return;
    layout_make(a, o->threshold_given ? o->threshold : 0, o->context_given ? o->context : 0);
    cf_rows_begin(a->tool);
    print_rows(a);
}

int main(int argc, char **argv)
{
    static struct cf_tool tool;
    static struct annotate a;

    a.tool = &tool;
    cf_tool_init(&tool, argc, argv, "cf-annotate", usage);
    parse(&a, argc, argv);
    count(&a, argv + optind, argc - optind);
    print(&a);
    /* what was printed stands before what is said of it; a failure shows again at the end */
    if (cf_rows_flush() == 0)
        (void)fflush(stdout);
    remarks(&a);
    lines_free(&a);
    cf_sources_free(a.sources);
    cf_ranking_end(&a.c);
    cf_mix_free(&a.mix);
    return cf_tool_finish(&tool, a.c.reader, NULL);
}
