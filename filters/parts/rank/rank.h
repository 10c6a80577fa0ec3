/* SPDX-License-Identifier: BSD-2-Clause */
/* rank.h - the parts of cf-rank: options and printing. */
#ifndef RANK_H
#define RANK_H

#include "formats/stream/cf.h"
#include "formats/base/cf_text.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_partial.h"
#include "formats/program/cf_tool.h"

#include "filters/picture/chart.h"
#include "filters/picture/output.h"
#include "filters/ranking/profile.h"
#include "filters/ranking/ranking.h"
#include "filters/ranking/sources.h"

struct options {
    unsigned sort;       /* by this value */
    const char *sort_by; /* its name as given */
    uint64_t page_size;  /* bytes, 0: not known */
    uint64_t top;
    int top_assumed; /* as is right for a terminal */
    uint32_t *cover; /* millionths, NULL = a ranking */
    unsigned covers;
    struct cf_output output;
    const char *before; /* what to compare with, or NULL */
    double fail_above;
    int fails;
    int gain; /* of pages, by table page; and then */
    double wss;
    int wss_given;
    const char *of;                                               /* a column, or NULL */
    const char *against;                                          /* another profile, or NULL */
    const char *dir[CF_SOURCE_DIRS], *before_dir[CF_SOURCE_DIRS]; /* with sources */
    unsigned dirs, before_dirs;
};

struct rank {
    struct cf_tool *tool;
    struct cf_mix mix;
    struct options o;
    struct cf_sums sums;
    struct cf_ranking c;
    struct cf_partial partial;
};

/* ---- rank_options.c ---- */

void rank_options(struct rank *k, int argc, char **argv);

/* ---- rank_profile.c ---- */

/* What --value gain prints of the inputs. */
void rank_profile(struct rank *k, char *const *files, int count);

/* ---- pictures and pages: rank_picture.c, rank_html.c, rank_profile_picture.c ---- */

struct rank_drawing {
    struct cf_bars bars;
    const char *value;                /* name of what is ranked by */
    const uint64_t *sum;              /* the bars' values to the last digit; NULL: of a profile */
    const struct cf_profile *profile; /* whose first pages the bars are, in their order; or NULL */
    size_t set;                       /* working set of the profile, */
    int set_by_run;                   /* which a run with the best k has shown */
};

void rank_draw(const struct rank *k, const struct cf_ranked *r);
/* Of a struct rank_drawing; the picture, of one with a profile. */
int rank_html(const void *what, FILE *out) CF_MUST_CHECK;
int rank_profile_picture(const void *what, const struct cf_sheet *sheet, FILE *out) CF_MUST_CHECK;

/* ---- rank_csv.c ---- */

/* What is ranked, in the plural. */
const char *rank_plural(const struct rank *k);
void print_key_names(const struct rank *k);
/* `was`: as it was before, where it was there; of a ranking NULL. */
void print_keys(const struct rank *k, const struct cf_rank_key *key, const struct cf_rank_key *was);
void print_ranking(const struct rank *k, const struct cf_ranked *r);
void print_cover(const struct rank *k, const struct cf_ranked *r);

/* ---- rank_moved.c ---- */

struct moved;

enum { RANK_GONE = 1 }; /* b of a text in a key: a line of it is there no more */

/* Whether such a part of a key has source lines. */
int rank_has_lines(enum cf_rank_by by);
/* Turns the lines in the keys of an earlier ranking into those of the present source, where there
   are sources; else NULL. Warns of files whose lines cannot be matched. */
struct moved *rank_moved(const struct rank *old, struct cf_ranked *before, const struct rank *k,
                         const struct cf_ranked *after);
/* A key that was turned, as it was. */
const struct cf_rank_key *rank_moved_from(const struct moved *m, const struct cf_rank_key *key);

/* ---- rank_before.c ---- */

/* What has changed, the most first. CF_EXIT_INPUT where it is more than --fail-above allows,
   or cannot be judged. */
int print_changes(const struct rank *old, struct cf_ranked *before, const struct rank *k,
                  const struct cf_ranked *after);

#endif
