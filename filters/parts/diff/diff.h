/* SPDX-License-Identifier: BSD-2-Clause */
/* diff.h - the state of cf-diff, and what it prints (diff_csv.c). */
#ifndef DIFF_H
#define DIFF_H

#include "filters/engine/rows/groups.h"
#include "filters/engine/snapshot/changes.h"
#include "filters/engine/snapshot/tasks.h"
#include "formats/program/cf_tool.h"

enum by { BY_PAIR, BY_MODE, BY_PROCESS, BY_SET };

struct options {
    int pairs, virtual;
    const char *against;
    enum by by;
    unsigned level;
};

struct side {
    struct cf_reader *reader;
    struct cf_snaps *snaps;
    int over;
};

enum { MODES = 8 }; /* combinations of what a snapshot does beside reading tags */

struct work {
    struct cf_tool tool;
    struct options o;
    struct side a, b;
    uint64_t index;     /* of the snapshot in its segment, from 1 */
    uint64_t left_over; /* snapshots that there is none for, in the other stream or their own */
    struct cf_moments polluted[MODES], cost[MODES];
    struct cf_groups *groups;          /* processes or sets */
    uint64_t (*sums)[CF_CHANGE_KINDS]; /* of each, by number */
    size_t room;
    struct cf_snapshot cache; /* the first snapshot whose changes are added to these */
    int differ;               /* another is of another cache, which was reported */
    int headed;               /* the first line of the CSV is printed */
    struct cf_counts *tasks;  /* names of processes, of side a */
    uint32_t streams;         /* of that so far */
};

/* The place of a snapshot's mode among them. */
unsigned mode_index(unsigned mode);

/* The names of the columns, once: not before there is a pair, or it is known that the input is of
   the right kind. */
void print_head(struct work *w);
void print_pair(struct work *w, const struct cf_snapshot *a, const struct cf_snapshot *b,
                const struct cf_changes *c, uint64_t lines, double percent);
void print_modes(const struct work *w);
void print_sums(const struct work *w);

#endif
