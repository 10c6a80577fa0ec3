/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - table page as a profile: how long the observed function ran with no page cached, with
 * all, with each one alone, with all but each, with the best k.
 *
 * What a page gains is the mean runtime with no page cached less that with this page alone; in a
 * profile of runs without one page, that without it less that with all ("Governing with Insights",
 * section 4.3). Memory: some 200 bytes a page, and 300 a k.
 */
#ifndef CF_PROFILE_H
#define CF_PROFILE_H

#include "formats/stream/cf.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/rows/counts.h"

struct cf_runtimes {
    uint64_t count, least, most; /* cycles */
    double sum;
};

struct cf_profile_page {
    const char *region;
    uint32_t page;
    size_t number;                /* in the order in which they came */
    struct cf_runtimes only, but; /* this page alone is cached; all but this one */
    double gain;                  /* mean, cycles; least and most by the runs of the page */
    double gain_least, gain_most;
};

struct cf_profile {
    const struct cf_tool *tool;
    struct cf_reader *reader;
    struct cf_counts *number; /* of a page, by string and number */
    struct cf_profile_page *page;
    size_t pages, page_room;
    struct cf_runtimes none, all;
    struct cf_runtimes *best; /* by k: the best k cached */
    size_t ks, best_room;
    struct cf_counts *last;    /* by k: region and number of the page that is the k-th best there */
    uint64_t astray;           /* k whose best pages are others than those of the gains: left out */
    struct cf_runtimes *moved; /* by k: the best k migrated */
    size_t moves, moved_room;
    unsigned mode;    /* enum cf_page_policy: by which runs pages have gains, 0: by none */
    const char *of;   /* the column that is taken for the runtime, or NULL */
    uint32_t group;   /* pages of the largest group that has the name of its first; 0: none has */
    uint64_t lacking; /* rows without it */
    uint64_t unknown; /* rows of other policies */
    uint64_t unused;  /* rows of the mode that pages do not have their gains by */
    char *program;    /* what the headers say was observed, without its arguments; and another */
    char *other;
    uint32_t call, other_call; /* of the observed function, from 1; 0: not known, none */
};

/* Asks the reader for the columns. The frames are those of all tables. */
void cf_profile_begin(struct cf_profile *p, const struct cf_tool *t, struct cf_reader *r);
/* After that: instead of the runtime, a column of this name, such as what a counter counted. */
void cf_profile_of(struct cf_profile *p, const char *column);
void cf_profile_frame(struct cf_profile *p, const struct cf_frame *f);
/* Once all is read: gains, and the pages with the greatest first; of equal gains in the order of
   their regions and numbers; runs with the best k by another order are dropped. Exits where what
   gains are made of is missing. */
void cf_profile_sort(struct cf_profile *p);
void cf_profile_free(struct cf_profile *p);

double cf_runtimes_mean(const struct cf_runtimes *r);

#endif
