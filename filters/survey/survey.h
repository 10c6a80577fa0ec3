/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey.h - the census of a whole stream with the names of who is in it: what cf-occupancy and
 * cf-sets have in common between reading and printing.
 *
 * Memory: what census.h and tasks.h say, and 16 bytes a group for ranks.
 */
#ifndef CF_SURVEY_H
#define CF_SURVEY_H

#include "filters/engine/snapshot/census.h"
#include "filters/engine/snapshot/tasks.h"
#include "filters/picture/chart.h"
#include "filters/picture/output.h"

struct cf_survey_options {
    enum cf_census_by by;
    int reuse;           /* count reused lines too */
    uint8_t level;       /* 0 = all, the chart: the last */
    const char *colours; /* names in the order of the colours, or NULL */
    uint32_t top;        /* 0 = not given */
    uint64_t lines;      /* of the cache, where snapshots do not state them */
    struct cf_output output;
};

struct cf_survey {
    struct cf_tool tool;
    struct cf_survey_options o;
    struct cf_reader *reader;
    struct cf_census *census;
    struct cf_counts *tasks;
    char *unit, *command; /* NULL: not stated */
    uint64_t hz;          /* of the first stream's clock */
    int units_differ;
    char **stream; /* file of each stream, by number from 1, with ":2" for the second of a file */
    size_t streams, of_file; /* how many of the last are of one file */
};

/* ---- options: --level, -n, --lines, and those of pictures ---- */

#define CF_SURVEY_OPTIONS(s)                                                                       \
    {"level", 0, CF_NUMBER(&(s)->o.level, 1, 255)},                                                \
        {"top", 'n', CF_NUMBER(&(s)->o.top, 1, UINT32_MAX)},                                       \
        {"lines", 0, CF_NUMBER(&(s)->o.lines, 1, UINT32_MAX)},                                     \
        {"colours", 0, CF_TEXT(&(s)->o.colours)}, CF_PICTURE_OPTIONS(&(s)->o.output)

/* ---- reading ---- */

/* Reads the files to their end; exits where that is impossible, with a message. */
void cf_survey_read(struct cf_survey *s, char *const *files, int count);

/* Prints the hints that every program has for such a stream; `shares` are what lacks without
   --lines. */
void cf_survey_hints(const struct cf_survey *s, const char *shares);

/* Closes and frees; returns the exit status. */
int cf_survey_finish(struct cf_survey *s);

/* Lines of the whole cache in a snapshot, 0 = not known. */
uint64_t cf_survey_whole(const struct cf_survey *s, const struct cf_snapshot *one);

/* ---- names ---- */

enum { CF_LABEL_BYTES = 512 };

/* "sort (1234)", "pid 1234", "[unknown]", "[heap] of sort (1234)", "cpu 3", "modified". */
void cf_survey_label(const struct cf_survey *s, uint32_t group, char *out);

/* Name of a process, "[unknown]" for pid 0, "" where none is known. */
const char *cf_survey_process(const struct cf_survey *s, struct cf_census_group g);

/* The file of a stream. */
const char *cf_survey_file(const struct cf_survey *s, uint32_t stream);

/* "[unresolved]" for none. */
const char *cf_survey_region(const struct cf_survey *s, uint32_t region);

/* ---- ranks ---- */

/* Groups in the order of their lines in all snapshots, the one with most first. */
struct cf_ranks {
    uint32_t groups;
    uint32_t shown;                     /* the first of them, by --top */
    uint32_t *order;                    /* groups by rank */
    uint32_t *rank;                     /* of a group */
    uint64_t *total;                    /* lines of a group */
    const struct cf_census_cell **cell; /* of a snapshot, by rank; NULL = none */
};

/* Of one level, or of all where it is negative. */
struct cf_ranks cf_survey_ranks(const struct cf_survey *s, int level);

/* Sets r->cell to those of a snapshot. */
void cf_ranks_fill(const struct cf_survey *s, const struct cf_census_snapshot *one,
                   struct cf_ranks *r);

/* ---- CSV: the first columns of a row ---- */

/* "snapshot,time_instructions,level" and their values. */
void cf_survey_heads(const struct cf_survey *s);
void cf_survey_when(const struct cf_snapshot *one);

/* ---- the chart ---- */

/* Of streams that are apart each begins at time 0.

   Of one level and the groups with most lines: `most` of them where --top says nothing; the others
   together as "[other]" with `others`. Panel 0 is of lines, panel 1, where the survey has it, of
   reused ones; titles and summary are the caller's. Where caches differ in size, lines count as the
   share of the largest that they are of their own. */
struct cf_survey_chart {
    struct cf_chart chart;
    uint8_t level;
    uint32_t snapshots; /* of all streams */
    uint32_t groups;    /* that have lines; series may be fewer */
    double mean;        /* lines of the level in a snapshot */
    uint64_t least;     /* lines of the smallest cache; 0 where one is not known */
    struct cf_chart_series *series;
    char *names;
    double *lines[CF_CHART_PANELS];
    uint8_t *own;
    uint32_t *snapshot;
    uint64_t *time;
};

void cf_survey_chart(const struct cf_survey *s, uint32_t most, int others,
                     struct cf_survey_chart *c);

#endif
