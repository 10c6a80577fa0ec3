/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-histogram - distribution of any column of any table.
 *
 * In: any stream. Out: CSV, or a table with bars on a terminal. Memory: 65 counters for powers of
 * two, one for each of the equal bins, up to 85 bytes for each distinct value of exact ones; all
 * that once for each group of --by.
 */
#include <string.h>

#include "filters/parts/histogram/histogram.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-histogram [OPTION]... [FILE]...\n"
    "Count how often each value of a column occurs. Writes CSV, or a table with bars\n"
    "where standard output is a terminal.\n"
    "With no FILE, or when FILE is -, read standard input.\n"
    "\n"
    "      --column COLUMN  the column: dist, cost, class, function, ...  [dist]\n"
    "      --table TABLE    the table that has it  [access]\n"
    "      --by COLUMN      one histogram for each value of this column\n"
    "      --bins BINS      log2 (powers of two), exact (each value), or N: at most N\n"
    "                       bins of equal width  [log2 for quantities, else exact]\n"
    "      --weight COLUMN  add up this column instead of counting rows; none = count\n"
    "                       rows  [weight, where the stream has it]\n"
    "      --partial        write a result that cf-histogram joins with those of other parts\n"
    "      --csv, --term, --json\n"
    "                       the form of the output  [a table on a terminal, else CSV]\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-distance trace.cf | cf-histogram\n"
    "  cf-histogram --column bytes --table object --by op trace.cf\n";

static void set_bins(const struct cf_tool *t, void *histogram, const char *option, char *text)
{
    struct histogram *h = histogram;

    h->o.bins_given = 1;
    h->o.bins = !strcmp(text, "log2")    ? BINS_LOG2
                : !strcmp(text, "exact") ? BINS_EXACT
                                         : BINS_EQUAL;
    if (h->o.bins == BINS_EQUAL)
        h->o.most = (unsigned)cf_parse_u64(t, option, text, 1, BINS_MOST);
}

static void parse(struct histogram *h, int argc, char **argv)
{
    struct options *o = &h->o;
    const struct cf_option table[] = {
        {"column", 0, CF_TEXT(&o->column)},
        {"table", 0, CF_TEXT(&o->table)},
        {"by", 0, CF_TEXT(&o->by)},
        {"bins", 0, CF_CALL(set_bins, h)},
        {"weight", 0, CF_TEXT(&o->weight)},
        CF_PARTIAL_OPTION(&h->partial),
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.table = "access", .column = "dist"};
    cf_options_read(&h->tool, argc, argv, table);
    o->csv = !cf_tool_term(&h->tool);
    h->partial.tool = &h->tool;
    h->partial.options = histogram_options(h);
}

/* Columns and tables that this suite does not list are known by the names that the stream gives
   them; all columns are then decoded. */
static void want(struct histogram *h)
{
    const struct options *o = &h->o;

    h->table = cf_table_find(o->table);
    h->column = cf_column_find(o->column);
    h->by = o->by ? cf_column_find(o->by) : 0;
    h->weight = o->weight ? cf_column_find(o->weight) : CF_WEIGHT;
    cf_reader_unify(h->reader);
    cf_reader_pieces(h->reader);
    if (h->weight == CF_DIST || cf_column_type(h->weight) == CF_STR)
        cf_die(&h->tool, CF_EXIT_USAGE, "--weight '%s': not a quantity that can be added up",
               o->weight);
    if (!h->table || !h->column || (o->by && !h->by) ||
        (o->weight && strcmp(o->weight, "none") != 0 && !h->weight)) {
        cf_reader_want_all(h->reader);
        if (!o->weight || strcmp(o->weight, "none") != 0)
            cf_reader_want(h->reader, CF_ACCESS, CF_WEIGHT, CF_OPTIONAL);
        return;
    }
    cf_reader_want(h->reader, h->table, h->column, CF_REQUIRED);
    if (h->by)
        cf_reader_want(h->reader, h->table, h->by, CF_REQUIRED);
    if (h->weight)
        cf_reader_want(h->reader, h->table, h->weight, o->weight ? CF_REQUIRED : CF_OPTIONAL);
    if (h->weight && h->weight != CF_WEIGHT)
        cf_reader_want(h->reader, h->table, CF_WEIGHT, CF_OPTIONAL);
    if (h->column == CF_DIST)
        cf_reader_want(h->reader, h->table, CF_DIST_WEIGHT, CF_OPTIONAL);
    begin_column(h, h->column, cf_column_type(h->column));
}

/* A frame that lacks a column that only the stream could name is the last that counts. */
static void run(struct histogram *h)
{
    struct cf_frame *f;

    while (cf_tool_next(&h->tool, h->reader, &f) > 0) {
        const char *name = cf_reader_table_name(h->reader, f->table);

        if (cf_partial_frame(&h->partial, f)) {
            histogram_merge(h, f);
            continue;
        }
        if (f->table == CF_HEADER)
            cf_mix_check(&h->mix, &h->tool, f->header);
        if (f->table == CF_HEADER || !name || strcmp(name, h->o.table) != 0)
            continue;
        if (!h->tool.status)
            count_frame(h, f, cf_partial_repeated(&h->partial, f));
    }
    cf_partial_end(&h->partial);
}

int main(int argc, char **argv)
{
    static struct histogram h;

    cf_tool_init(&h.tool, argc, argv, "cf-histogram", usage);
    parse(&h, argc, argv);
    h.reader = cf_partial_reader(&h.partial, argv + optind, argc - optind);
    h.groups = cf_need(&h.tool, cf_groups_new());
    h.value = cf_column_room(&h.tool, sizeof(*h.value));
    h.weights = cf_column_room(&h.tool, sizeof(*h.weights));
    h.group = cf_column_room(&h.tool, sizeof(*h.group));
    want(&h);
    h.mix = (struct cf_mix){.column = {h.column, h.by, h.weight}};
    run(&h);
    if (h.bins)
        bins_finish(h.bins);
    if (!h.bins && !h.tool.status && !h.partial.asked) /* names that only a stream could know */
        cf_fail(&h.tool, CF_EXIT_INPUT,
                "--table '%s': the input has no such rows: cf-cat --info lists those it has",
                h.o.table);
    if (h.partial.asked)
        histogram_write(&h);
    else if (h.bins || !h.tool.status) /* else there was no such column */
        print_histogram(&h);
    if (h.bins)
        bins_free(h.bins);
    cf_mix_free(&h.mix);
    cf_groups_free(h.groups);
    if (h.partial.asked)
        return cf_partial_finish(&h.partial);
    cf_partial_free(&h.partial);
    return cf_tool_finish(&h.tool, h.reader, NULL);
}
