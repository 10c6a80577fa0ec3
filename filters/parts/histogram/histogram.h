/* SPDX-License-Identifier: BSD-2-Clause */
/* histogram.h - the parts of cf-histogram: counting into bins, and printing them. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "formats/stream/cf.h"
#include "formats/base/cf_text.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_partial.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/rows/groups.h"

/* ---- bins.c ---- */

enum bins_kind {
    BINS_LOG2,  /* 0, 1, 2 to 3, 4 to 7, ... */
    BINS_EXACT, /* every value is its own */
    BINS_EQUAL, /* of equal width, a power of two, chosen so that all values fit */
};

enum { BINS_MOST = 1 << 16, BINS_SPECIALS = 8 };

struct bins;

struct bin {
    uint64_t low, high; /* both included */
    uint64_t count;
};

/* `most` is the number of bins of BINS_EQUAL. The values from `special` up, of which there may be
   BINS_SPECIALS up to UINT64_MAX, are names and not numbers, and are counted apart; 0 = there are
   none such. A row without a weight counts `one`. Without memory, all these end the program. */
struct bins *bins_new(struct cf_tool *t, enum bins_kind kind, unsigned most, uint64_t special,
                      uint64_t one) CF_MUST_CHECK;
void bins_free(struct bins *b);

/* Counts `rows` values, row i with weight[i] (NULL: `one`) for group[i] (NULL: 0); all groups are
   below `groups`. */
void bins_add(struct bins *b, const uint64_t *value, const uint32_t *group, const uint64_t *weight,
              uint32_t rows, uint32_t groups);

/* The least and the greatest value that were counted, with BINS_EQUAL, whose width they decide; 0
   where there was none. */
int bins_ends(const struct bins *b, uint64_t *low, uint64_t *high) CF_MUST_CHECK;

/* To be called once, when all is counted. */
void bins_finish(struct bins *b);

/* The bins of a group by rising value: with BINS_EXACT those that were counted in, else all from
   the lowest to the highest such. The caller frees. */
struct bin *bins_list(const struct bins *b, uint32_t group, size_t *count) CF_MUST_CHECK;

/* What was counted for a special value. */
uint64_t bins_special(const struct bins *b, uint32_t group, uint64_t value);

/* ---- what is asked for, and the state ---- */

struct options {
    const char *table, *column, *by; /* names; by may be NULL */
    const char *weight;              /* name of a column, "none", or NULL: weight, where there is */
    enum bins_kind bins;
    unsigned most;
    int bins_given, csv;
};

struct histogram {
    struct cf_tool tool;
    struct cf_partial partial;
    struct cf_mix mix;
    struct options o;
    struct cf_reader *reader;
    unsigned table;              /* ids; 0 until the stream has named it */
    unsigned column, by, weight; /* likewise */
    enum cf_type type, by_type;  /* of the column */
    uint64_t one; /* unit of counts: they are fixed-point numbers where samples may be weighted */
    struct bins *bins; /* NULL until the first frame with the column */
    int counted;       /* that one came */
    struct cf_groups *groups;
    uint64_t total;            /* of all weights that were counted */
    double weighed;            /* sum of the weights of distances, in units of 1/65536 */
    uint64_t *value, *weights; /* of each row of a frame */
    uint32_t *group;
};

/* ---- histogram_count.c ---- */

/* Fixes how the column is counted, as soon as its type is known. */
void begin_column(struct histogram *h, unsigned column, enum cf_type type);
/* Adds to what all weights make; ends the program where a count could wrap. */
void note_weights(struct histogram *h, const uint64_t *weight, uint32_t rows);
/* The numbers of the groups of rows into h->group; ends the program where there are too many. */
void number_groups(struct histogram *h, const void *values, size_t width, uint32_t rows);
/* Counts a frame of the table, from a row on. */
void count_frame(struct histogram *h, const struct cf_frame *f, uint32_t from);

/* ---- histogram_partial.c ---- */

/* The options on which the counts depend, as a text; to be freed. */
char *histogram_options(const struct histogram *h);
/* Writes what was counted as a partial result. */
void histogram_write(struct histogram *h);
/* Adds a frame of one. */
void histogram_merge(struct histogram *h, const struct cf_frame *f);

/* ---- histogram_csv.c ---- */

void print_histogram(const struct histogram *h);

#endif
