/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc.h - the state of cf-mrc, and printing the curves (mrc_csv.c). */
#ifndef MRC_H
#define MRC_H

#include "formats/stream/cf.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/distance/curve.h"
#include "filters/engine/rows/groups.h"
#include "filters/picture/chart.h"
#include "formats/machine/cf_machine.h"

struct options {
    const char *by;
    uint64_t points; /* a doubling */
    uint64_t most;   /* bytes; 0 = where the curves end */
    uint64_t *at;    /* bytes, rising; NULL = all points */
    size_t at_count;
    uint64_t line_size, sets; /* 0 = as the stream says */
    const char *machine;      /* whose caches the picture marks, or NULL */
    struct cf_output output;
};

/* Samples are divided among so many parts by their lines; how much the parts differ gives the
   error. */
enum { PARTS = 32, FIXED = 1 << 16, FINE = 32 };

struct mrc {
    struct cf_tool tool;
    struct options o;
    struct cf_reader *reader;
    uint64_t line_size, sets; /* bytes; sets of which distances are apart */
    uint64_t bound;           /* longest distance that the stream has, 0 = any */
    int header_seen;
    int warned;  /* that the stream does not state of what its distances are */
    unsigned by; /* column, 0 = one curve */
    size_t points;
    uint64_t *lines;          /* of one set, each point's size */
    struct cf_curve *exact;   /* by group */
    struct cf_curve *sampled; /* by group and part, in units of 1 / FIXED; NULL = none yet */
    struct cf_curve *fine;    /* the same by group, at FINE sizes in each doubling */
    size_t fine_points;
    uint64_t *fine_lines;
    uint64_t *accesses; /* by group: sampled and not sampled ones */
    uint64_t *samples;  /* by group: sampled ones */
    size_t room;        /* groups in these two */
    struct cf_groups *groups;
    uint32_t *group; /* of each row of a frame */
    uint64_t *dist, *weight;
    uint32_t *part;
};

/* mrc_csv.c: draws and prints all curves; fails where they do not reach a size that was asked for.
 */
void print_curves(struct mrc *m);

#endif
