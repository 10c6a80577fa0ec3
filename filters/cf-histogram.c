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
    "      --csv, --term, --json\n"
    "                       the form of the output  [a table on a terminal, else CSV]\n"
    "  -q, --quiet          no progress\n"
    "  -h, --help, --version, --max-strings SIZE\n"
    "\n"
    "Examples:\n"
    "  cf-distance trace.cf | cf-histogram\n"
    "  cf-histogram --column bytes --table object --by op trace.cf\n";

/* Samples of cf-distance stand for 1 / rate rows: then counts are in units of 1 / FIXED. */
enum { FIXED = 1 << 16 };

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
        CF_FORM_OPTIONS,
        CF_END_INPUT_OPTIONS,
    };

    *o = (struct options){.table = "access", .column = "dist"};
    cf_options_read(&h->tool, argc, argv, table);
    o->csv = !cf_tool_term(&h->tool);
}

/* ---- columns ---- */

/* Quantities spread over many powers of two; what numbers or names something does not. */
static enum bins_kind usual_bins(unsigned column, enum cf_type type)
{
    static const unsigned numbers[] = {CF_CPU,      CF_PID,    CF_TID,    CF_SNAP,   CF_SET,
                                       CF_WAY,      CF_ID,     CF_SAMPLE, CF_REPEAT, CF_OBJ,
                                       CF_STACK_ID, CF_PARENT, CF_PAGENO};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (column == numbers[i])
            return BINS_EXACT;
    return type == CF_U32 || type == CF_U64 ? BINS_LOG2 : BINS_EXACT;
}

/* Fixes how the column is counted, as soon as its type is known. */
static void begin(struct histogram *h, unsigned column, enum cf_type type)
{
    h->column = column;
    h->type = type;
    if (!h->o.bins_given)
        h->o.bins = usual_bins(column, type);
    if (type == CF_STR && h->o.bins != BINS_EXACT)
        cf_die(&h->tool, CF_EXIT_USAGE,
               "--bins: column '%s' holds texts, of which only exact bins"
               " can be made",
               h->o.column);
    h->one = column == CF_DIST ? FIXED : 1;
    h->bins =
        bins_new(&h->tool, h->o.bins, h->o.most, column == CF_DIST ? CF_DIST_LEAST : 0, h->one);
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
        return;
    }
    cf_reader_want(h->reader, h->table, h->column, CF_REQUIRED);
    if (h->by)
        cf_reader_want(h->reader, h->table, h->by, CF_REQUIRED);
    if (h->weight)
        cf_reader_want(h->reader, h->table, h->weight, o->weight ? CF_REQUIRED : CF_OPTIONAL);
    if (h->column == CF_DIST)
        cf_reader_want(h->reader, h->table, CF_DIST_WEIGHT, CF_OPTIONAL);
    begin(h, h->column, cf_column_type(h->column));
}

/* The column of this name, NULL where the frame has none. */
static const struct cf_data *find(const struct histogram *h, const struct cf_frame *f,
                                  const char *name)
{
    for (unsigned i = 0; i < f->columns; i++) {
        const char *n = cf_reader_column_name(h->reader, f->column[i].id);

        if (n && !strcmp(n, name))
            return &f->column[i];
    }
    return NULL;
}

/* The column as wide numbers: itself, or copied to `room`. NULL when it is of another kind. */
static const uint64_t *wide(const struct cf_data *c, uint32_t rows, uint64_t *room)
{
    switch (c->type) {
    case CF_U8:
        for (uint32_t i = 0; i < rows; i++)
            room[i] = ((const uint8_t *)c->values)[i];
        return room;
    case CF_U16:
        for (uint32_t i = 0; i < rows; i++)
            room[i] = ((const uint16_t *)c->values)[i];
        return room;
    case CF_U32:
    case CF_STR:
        for (uint32_t i = 0; i < rows; i++)
            room[i] = ((const uint32_t *)c->values)[i];
        return room;
    case CF_U64:
        return c->values;
    default:
        return NULL;
    }
}

static const uint64_t *numbers(struct histogram *h, const struct cf_data *c, const char *name,
                               uint32_t rows, uint64_t *room)
{
    const uint64_t *v = c->values ? wide(c, rows, room) : NULL;

    if (!v)
        cf_die(&h->tool, CF_EXIT_INPUT,
               "column '%s' holds neither whole numbers from 0 up nor "
               "texts: it cannot be counted",
               name);
    return v;
}

/* What the rows of sampled distances count: what they stand for, times their own weight. */
static const uint64_t *fix_weights(struct histogram *h, const struct cf_frame *f,
                                   const uint64_t *dist, const uint64_t *weight)
{
    const double *stands_for = cf_values(f, CF_DIST_WEIGHT);

    if (h->o.weight && !strcmp(h->o.weight, "none"))
        stands_for = NULL;
    if (!stands_for && !weight)
        return NULL;
    for (uint32_t i = 0; i < f->rows; i++) {
        double n = stands_for && dist[i] != CF_DIST_NONE && dist[i] != CF_DIST_UNSAMPLED
                       ? stands_for[i] * FIXED
                       : FIXED;

        n = n >= 0 && n < 1e15 ? n : 0; /* what no sampling can give */
        h->weights[i] = (weight ? weight[i] : 1) * (uint64_t)(n + 0.5);
    }
    return h->weights;
}

static void lacks(struct histogram *h, const struct cf_frame *f, const char *column)
{
    const char *list = "";

    for (unsigned i = 0; i < f->columns; i++) {
        const char *name = cf_reader_column_name(h->reader, f->column[i].id);

        if (name)
            list = cf_tool_text(&h->tool, "%s%s%s", list, *list ? ", " : "", name);
    }
    cf_fail(&h->tool, CF_EXIT_INPUT, "table %s has no column '%s', it has %s", h->o.table, column,
            list);
}

static void count_frame(struct histogram *h, const struct cf_frame *f)
{
    const struct options *o = &h->o;
    const struct cf_data *column = find(h, f, o->column), *by = NULL, *weight = NULL;
    const uint64_t *value, *weights = NULL;
    int bad = 0;

    if (o->by)
        by = find(h, f, o->by);
    if (!o->weight || strcmp(o->weight, "none") != 0)
        weight = find(h, f, o->weight ? o->weight : "weight");
    if (!column || (o->by && !by) || (o->weight && strcmp(o->weight, "none") != 0 && !weight)) {
        lacks(h, f, !column ? o->column : (o->by && !by) ? o->by : o->weight);
        return;
    }
    if (!o->weight && (column == weight || weight == by))
        weight = NULL;
    if (!h->bins)
        begin(h, column->id, column->type);
    value = numbers(h, column, o->column, f->rows, h->value);
    if (weight)
        weights = numbers(h, weight, "weight", f->rows, h->weights);
    if (h->one == FIXED)
        weights = fix_weights(h, f, value, weights);
    if (by) {
        size_t width = cf_type_width(by->type);

        h->by = by->id;
        h->by_type = by->type;
        if (!by->values || !width)
            cf_die(&h->tool, CF_EXIT_INPUT, "column '%s' cannot be used by --by", o->by);
        bad = cf_groups_number(h->groups, by->values, width, f->rows, h->group);
        if (bad > 0)
            cf_die(&h->tool, CF_EXIT_INPUT, "--by '%s': more than %d values: choose another column",
                   o->by, CF_GROUPS_MOST);
    }
    cf_must(&h->tool, bad);
    bins_add(h->bins, value, by ? h->group : NULL, weights, f->rows,
             by ? cf_groups_count(h->groups) : 1);
}

/* A frame that lacks a column that only the stream could name is the last that counts. */
static void run(struct histogram *h)
{
    struct cf_frame *f;

    while (cf_tool_next(&h->tool, h->reader, &f) > 0) {
        const char *name = cf_reader_table_name(h->reader, f->table);

        if (f->table == CF_HEADER)
            cf_mix_check(&h->mix, &h->tool, f->header);
        if (f->table == CF_HEADER || !name || strcmp(name, h->o.table) != 0)
            continue;
        if (!h->tool.status)
            count_frame(h, f);
    }
}

int main(int argc, char **argv)
{
    static struct histogram h;

    cf_tool_init(&h.tool, argc, argv, "cf-histogram", usage);
    parse(&h, argc, argv);
    h.reader = cf_tool_reader(&h.tool, argv + optind, argc - optind);
    h.groups = cf_need(&h.tool, cf_groups_new());
    h.value = cf_column_room(&h.tool, sizeof(*h.value));
    h.weights = cf_column_room(&h.tool, sizeof(*h.weights));
    h.group = cf_column_room(&h.tool, sizeof(*h.group));
    want(&h);
    h.mix = (struct cf_mix){.column = {h.column, h.by, h.weight}};
    run(&h);
    cf_tool_fit(&h.tool, h.reader);
    if (h.bins)
        bins_finish(h.bins);
    if (h.bins || !h.tool.status) /* else there was no such column */
        print_histogram(&h);
    if (h.bins)
        bins_free(h.bins);
    cf_mix_free(&h.mix);
    cf_groups_free(h.groups);
    return cf_tool_finish(&h.tool, h.reader, NULL);
}
