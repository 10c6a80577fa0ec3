/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annotate.h - the parts of cf-annotate: what was counted of each source line, the files that they
 * stand in, what of them is shown, and three ways to show it.
 *
 *     values.c        the values that are shown where none are asked for
 *     lines.c         counted lines by file, those that are shown, sums of those that are not
 *     files.c         where those are of which something is shown
 *     source_text.c   the text of its lines
 *     annotate_csv.c, annotate_term.c, annotate_html.c    output
 */
#ifndef ANNOTATE_H
#define ANNOTATE_H

#include "formats/stream/cf.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_tool.h"

#include "filters/picture/output.h"
#include "filters/ranking/ranking.h"
#include "filters/ranking/sources.h"

enum { MOST_GLOBS = 64 };

struct options {
    const char *sort_by;
    double threshold; /* percent */
    uint32_t context; /* lines */
    int threshold_given, context_given;
    const char *file[MOST_GLOBS], *function[MOST_GLOBS], *dir[CF_SOURCE_DIRS];
    unsigned files, functions, dirs;
    struct cf_output output;
};

/* What was counted of a line. */
struct line {
    uint64_t number; /* 0: of the file, but of no line */
    uint64_t *sum;
};

/* A line as it is shown. */
struct shown {
    uint64_t number;
    const uint64_t *sum; /* NULL: nothing was counted there */
    char *text;          /* safe for nobody; NULL: not known */
    int behind_gap;      /* the line before it is left out */
};

struct file {
    char *name;         /* as in column source */
    const char *path;   /* NULL: not found */
    const char *lack;   /* why there is no text, or NULL */
    int wanted, sought; /* its text is needed; its path was looked for */
    int warned;         /* of what its text is not */
    struct line *line;  /* rising */
    uint8_t *over;      /* of each line: whether it has its share */
    size_t lines;
    uint64_t *sum;
    struct shown *shown; /* rising; all that layout_make() leaves of it */
    size_t shown_lines, room;
};

/* Sums of all lines, and of which groups they are made. */
enum part { ALL, SHOWN, BELOW, UNKNOWN, NOT_CHOSEN, PARTS };

struct annotate {
    struct cf_tool *tool;
    struct cf_mix mix;
    struct options o;
    struct cf_sums sums;
    struct cf_ranking c;
    int assumed, begun; /* no values were asked for; the sums have begun */
    unsigned has;       /* what else the first accesses have columns for: values.c */
    char *command;      /* what was recorded */
    struct cf_sources *sources;

    unsigned column[CF_MOST_SUMS], columns; /* the sums that are shown */
    unsigned sort;                          /* of them the one that sorts, by its number in sums */
    struct file *file;                      /* the greatest first */
    size_t files;
    uint64_t sum[PARTS][CF_MOST_SUMS];
    double threshold; /* of what is laid out */
};

/* ---- values.c ---- */

/* Asks for what the values that are shown without --value may need. */
void values_want(struct annotate *a);
/* Begins the sums; `f` is the first frame of accesses where they depend on its columns, or NULL. */
void values_begin(struct annotate *a, const struct cf_frame *f);
/* When all is counted: which columns are shown, and which of them sorts. */
void values_choose(struct annotate *a, const uint64_t *sum);

/* ---- lines.c ---- */

/* From the ranking to files and lines, and which value sorts them. */
void lines_make(struct annotate *a, const struct cf_ranked *r);
void lines_free(struct annotate *a);
/* Which lines are shown, with their texts: those with `threshold` percent of all, and so many
   around them. The one before is freed. */
void layout_make(struct annotate *a, double threshold, uint32_t context);
/* The share of a sum in all, 0 to 1. */
double line_share(const struct annotate *a, unsigned value, const uint64_t *sum);
/* 0 cold to 1 hot, by the value that sorts; `most`: of the hottest line, by lines_hottest(). */
double line_heat(const struct annotate *a, const uint64_t *sum, double most);
double lines_hottest(const struct annotate *a);
int line_is_ratio(const struct annotate *a, unsigned value);
const char *part_name(enum part part);
/* Adds up the files of which no line is shown; their number. */
size_t lines_rest(const struct annotate *a, uint64_t *sum);
/* One sentence on what is shown. */
void lines_summary(const struct annotate *a, char *text, size_t size);

/* ---- files.c ---- */

/* Finds the files of those of which something is over the threshold; says what is wrong. */
void files_find(struct annotate *a);
/* What could not be found, once for all. */
void files_remarks(const struct annotate *a);

/* ---- source_text.c ---- */

/* Fills in `shown` of a file: its lines within `context` of those that are marked in `over`, with
   their texts, and the marked ones that it has not. */
void text_take(struct annotate *a, struct file *f, uint32_t context);

/* ---- output ---- */

void print_rows(const struct annotate *a);
int draw_term(const void *annotate, FILE *out, const struct cf_terminal *t);
int write_html(const void *annotate, FILE *out);

#endif
