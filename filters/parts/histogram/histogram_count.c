/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram_count.c - from the columns of a frame to values, groups and weights, which bins.c
 * counts. Memory: columns of one frame.
 */
#include <string.h>

#include "filters/parts/histogram/histogram.h"
#include "formats/base/cf_number.h"

/* Samples of cf-distance stand for 1 / rate rows: then counts are in units of 1 / FIXED. */
enum { FIXED = 1 << 16 };

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

void begin_column(struct histogram *h, unsigned column, enum cf_type type)
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

/* A quantity of each row, times the accesses that the row stands for. */
static const uint64_t *weigh(struct histogram *h, const struct cf_frame *f,
                             const uint64_t *quantity)
{
    const uint64_t *weight = cf_u64(f, CF_WEIGHT);

    for (uint32_t i = 0; weight && i < f->rows; i++)
        h->weights[i] = cf_product(quantity[i], weight[i]);
    return weight ? h->weights : quantity;
}

/* Without column dist_weight the shares would be those of the sample. */
static void check_samples(const struct histogram *h, const uint64_t *dist, uint32_t rows)
{
    int sampled = 0;

    for (uint32_t i = 0; i < rows; i++)
        sampled |= dist[i] == CF_DIST_UNSAMPLED;
    if (sampled)
        cf_die(&h->tool, CF_EXIT_INPUT,
               "table access has no column 'dist_weight', which sampled distances need: keep it in "
               "--columns, or give --weight none to count the sample");
}

/* What the rows of sampled distances count: what they stand for, times their own weight. */
static const uint64_t *fix_weights(struct histogram *h, const struct cf_frame *f,
                                   const uint64_t *dist, const uint64_t *weight)
{
    const double *stands_for = cf_values(f, CF_DIST_WEIGHT);

    if (h->o.weight && !strcmp(h->o.weight, "none"))
        stands_for = NULL;
    else if (!stands_for)
        check_samples(h, dist, f->rows);
    if (!stands_for && !weight)
        return NULL;
    for (uint32_t i = 0; i < f->rows; i++) {
        double n = stands_for && dist[i] != CF_DIST_NONE && dist[i] != CF_DIST_UNSAMPLED
                       ? stands_for[i] * FIXED
                       : FIXED;

        n = n >= 0 && n < 1e15 ? n : 0; /* what no sampling can give */
        h->weighed += (weight ? (double)weight[i] : 1) * n;
        h->weights[i] = (weight ? weight[i] : 1) * (uint64_t)(n + 0.5);
    }
    if (h->weighed > 0x1p63)
        cf_die(&h->tool, CF_EXIT_INPUT,
               "the weights of distances add up to more than 2^47, as many as are counted: choose "
               "another column, by --weight");
    return h->weights;
}

void note_weights(struct histogram *h, const uint64_t *weight, uint32_t rows)
{
    h->total = cf_sum(h->total, cf_total(weight, rows));
    if (h->total == UINT64_MAX)
        cf_die(&h->tool, CF_EXIT_INPUT,
               "the weights add up to more than 2^64, as many as are counted: choose another "
               "column, by --weight");
}

void number_groups(struct histogram *h, const void *values, size_t width, uint32_t rows)
{
    const int bad = cf_groups_number(h->groups, values, width, rows, h->group);

    if (bad > 0)
        cf_die(&h->tool, CF_EXIT_INPUT, "--by '%s': more than %d values: choose another column",
               h->o.by, CF_GROUPS_MOST);
    cf_must(&h->tool, bad);
}

static void lacks(struct histogram *h, const struct cf_frame *f, const char *column)
{
    const char *list = "";

    for (unsigned i = 0; i < f->columns; i++) {
        const char *name = cf_reader_column_name(h->reader, f->column[i].id);

        if (name && f->column[i].type != CF_BLOB)
            list = cf_tool_text(&h->tool, "%s%s%s", list, *list ? ", " : "", name);
    }
    cf_fail(&h->tool, CF_EXIT_INPUT, "table %s has no column '%s', it has %s", h->o.table, column,
            list);
}

void count_frame(struct histogram *h, const struct cf_frame *f, uint32_t from)
{
    const struct options *o = &h->o;
    const struct cf_data *column = find(h, f, o->column), *by = NULL, *weight = NULL;
    const uint64_t *value, *weights = NULL;

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
        begin_column(h, column->id, column->type);
    value = numbers(h, column, o->column, f->rows, h->value);
    if (weight)
        weights = numbers(h, weight, o->weight ? o->weight : "weight", f->rows, h->weights);
    if (weight && weight->id != CF_WEIGHT)
        weights = weigh(h, f, weights);
    if (h->one == FIXED)
        weights = fix_weights(h, f, value, weights);
    if (by) {
        size_t width = cf_type_width(by->type);

        h->by = by->id;
        h->by_type = by->type;
        if (!by->values || !width || by->type == CF_I64 || by->type == CF_F64)
            cf_die(&h->tool, CF_EXIT_INPUT, "column '%s' cannot be used by --by", o->by);
        number_groups(h, by->values, width, f->rows);
    }
    h->counted = 1;
    if (weights)
        note_weights(h, weights + from, f->rows - from);
    bins_add(h->bins, value + from, by ? h->group + from : NULL, weights ? weights + from : NULL,
             f->rows - from, by ? cf_groups_count(h->groups) : 1);
}
