/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc.h - the state of cf-mrc, samples (mrc_samples.c), and printing the curves (mrc_csv.c). */
#ifndef MRC_H
#define MRC_H

#include "formats/stream/cf.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_partial.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/distance/curve.h"
#include "filters/engine/rows/groups.h"
#include "filters/picture/chart.h"
#include "formats/machine/cf_machine.h"

struct options {
    const char *by;
    uint64_t points;          /* a doubling */
    uint64_t most;            /* bytes; 0 = where the curves end */
    struct cf_list at;        /* bytes; empty: all points */
    uint64_t line_size, sets; /* 0 = as the stream says */
    const char *machine;      /* whose caches the picture marks, or NULL */
    struct cf_output output;
};

/* Samples are divided among so many parts by their lines; how much the parts differ gives the
   error. */
enum { PARTS = 32, FIXED = 1 << 16, FINE = 32 };

struct mrc {
    struct cf_tool tool;
    struct cf_partial partial;
    struct options o;
    struct cf_mix mix;
    struct cf_reader *reader;
    uint64_t line_size, sets; /* bytes; sets of which distances are apart */
    uint64_t bound;           /* longest distance that the stream has, 0 = any */
    char *of[2];              /* the operations and stacks of distances, NULL = not stated so far */
    int header_seen;
    int told[2]; /* that a header contradicts --line-size, --sets */
    int before;  /* for cf_before_check() */
    int unknown; /* a header does not state of what its distances are */
    unsigned by; /* column, 0 = one curve */
    size_t points;
    uint64_t *lines;          /* of one set, each point's size */
    struct cf_curve *exact;   /* by group */
    struct cf_curve *sampled; /* by group and part, in units of 1 / FIXED; NULL = none yet */
    struct cf_curve *fine;    /* the same by group, at FINE sizes in each doubling */
    size_t fine_points;
    uint64_t *fine_lines;
    double weighed;     /* accesses that all samples stand for */
    uint64_t *accesses; /* by group: sampled and not sampled ones */
    uint64_t *samples;  /* by group: sampled ones */
    size_t room;        /* groups in these two */
    struct cf_groups *groups;
    uint32_t *group; /* of each row of a frame */
    uint64_t *dist, *weight;
    uint32_t *part;
};

/* Sizes of caches in lines: 1, 2, 3, ... up to `points` and from there so many in each doubling. */
uint64_t *make_sizes(struct cf_tool *t, uint64_t points, uint64_t most, size_t *count);

/* One group's curve. */
struct line {
    uint64_t accesses, compulsory;
    double rate; /* of sampling, 1 without samples; 0: no access was sampled, no misses are known */
    uint64_t *misses; /* by point, compulsory ones too */
    double *error;    /* of the miss ratio, by point */
};

/* The numbers of the groups of rows into m->group; ends the program where there are too many. */
void number_groups(struct mrc *m, const void *values, size_t width, uint32_t rows);

/* Makes what counts samples, unless that is there; and room for groups. */
void samples_begin(struct mrc *m);
void samples_room(struct mrc *m, size_t groups);
/* Ends the program where rows outside a sample came without column dist_weight: the curve would be
   that of the sample. */
void samples_check(const struct mrc *m);
/* Counts a frame. `stands_for` is what each sampled row stands for. -1 without memory. */
int samples_count(struct mrc *m, const struct cf_frame *f, const uint32_t *group,
                  const uint64_t *weight, const double *stands_for, size_t groups) CF_MUST_CHECK;
/* Adds what they say to `l`, and its error. */
void samples_add(const struct mrc *m, size_t group, struct line *l);
/* All misses of a part at all points: distances, those beyond the bound, and first accesses, which
   are returned. */
uint64_t part_misses(const struct cf_curve *c, size_t group, uint64_t *misses, size_t points);

/* mrc_partial.c: the options on which the counts depend, as a text; to be freed. */
char *mrc_options(const struct mrc *m);
/* Writes what was counted as a partial result. */
void mrc_write(struct mrc *m);
/* Adds a frame of one, whose header stated line size and sets. */
void mrc_merge(struct mrc *m, const struct cf_frame *f);

/* mrc_csv.c: draws and prints all curves; fails where they do not reach a size that was asked for.
 */
void print_curves(struct mrc *m);

#endif
