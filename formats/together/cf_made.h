/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_made.h - of what columns were made: facts that filters which model a machine state of the
 * columns that they add, and hold against those of the columns that they find (`columns` in
 * cf-stream(5)). What disagrees is a warning, once for each column.
 */
#ifndef CF_MADE_H
#define CF_MADE_H

#include "formats/machine/cf_machine.h"
#include "formats/program/cf_tool.h"

/* A machine, as facts state it. */
struct cf_made {
    const struct cf_tool *tool;
    char machine[128];
    char caches[CF_MAX_LEVELS * 160]; /* what the description says of each level */
    unsigned cores;                   /* 0: results do not depend on them */
    const char *options; /* of the program that change what the model does, in an order that does
                            not depend on how they were given; NULL or "": as without */
    const char *rule;    /* by which misses have classes, or NULL */
    unsigned from;       /* cf_made_check() takes the options of this column, of which ours is made;
                            0: it is made of none */
    unsigned warned;     /* columns, by their place in the list of cf_made.c */
};

/* `m` as it is now. */
void cf_made_by(struct cf_made *made, const struct cf_tool *t, const struct cf_machine *m,
                unsigned cores);

/* The option --seed as such a text: "" where it is the default, 1, or no policy of the machine
   draws random numbers and nothing else does, which `draws` says. */
const char *cf_made_seed(const struct cf_tool *t, const struct cf_machine *m, uint64_t seed,
                         int draws);

/* States that this program makes the column so. Further facts are the caller's, after it. */
void cf_made_state(const struct cf_made *made, struct cf_writer *w, unsigned column);

/* Warns of those of the columns hit, class, class_behind, cost and level that a header says were
   made of another machine, for other cores, with other options or by another rule than `column`
   that this program makes. `but`, up to a 0: columns that it replaces or does not look at; NULL for
   that one alone. */
void cf_made_check(struct cf_made *made, const struct cf_header *h, unsigned column,
                   const unsigned *but);

/* Exits where a header states that the numbers in column page are of pages of other bytes than
   these; 0 becomes what it states. */
void cf_made_pages(const struct cf_tool *t, const struct cf_header *h, uint64_t *page_size);

/* What a header states of the times that cf-latency --retime made, and where column cost no longer
   says what to take out of them. */
extern const char cf_counts[], cf_counts_costs[], cf_counts_old_costs[];

/* For a program that replaces column cost or takes accesses out, when a header is about to be
   handed on: where it states the first, ours states the second. */
void cf_made_outdate(const struct cf_header *h, struct cf_writer *w);

/* For a program that makes column hit anew, the same: where it states of column cost that it was
   made of hit, ours states that it was an earlier one. */
void cf_made_outdate_cost(const struct cf_header *h, struct cf_writer *w);

/* The first fact in which two headers differ of a column of which both state a machine, among those
   that are stated only where they are not the default; NULL where there is none. */
const char *cf_made_differ(const struct cf_header *a, const struct cf_header *b,
                           const char *column);

/* The fact of a column whose values depend on the accesses before: it was made before this program
   put the accesses of several recordings or threads among each other, and is of each alone. */
extern const char cf_before[];

/* Warns, unless `*warned`, where a header states that of a column that is used. */
void cf_before_check(const struct cf_tool *t, const struct cf_header *h, unsigned column,
                     int *warned);

enum { CF_MIXED = 10 };

/* For programs that make one result of several columns or streams. */
struct cf_mix {
    unsigned column[CF_MIXED]; /* those that the result is made of; 0: none */
    char *facts[CF_MIXED];     /* of each in the streams so far, or NULL */
    unsigned warned;
    int before[CF_MIXED]; /* for cf_before_check() */
};

/* cf_before_check(); warns where two of the columns were made of different machines, and where the
   facts of a column are others than in an earlier header, each once. Where a header states none,
   nothing is said. */
void cf_mix_check(struct cf_mix *mix, const struct cf_tool *t, const struct cf_header *h);
void cf_mix_free(struct cf_mix *mix);

/* Which column says what of a frame's accesses missed, as a bit: class, else hit, else level. 0
   where there is none of them. */
enum { CF_MISSED_CLASS = 1, CF_MISSED_HIT = 2, CF_MISSED_LEVEL = 4, CF_MISSED_ANY = 7 };
unsigned cf_missed_by(const struct cf_frame *f);
/* Warns where a sum of misses or hits was made by several such columns; `before`: of a recording
   that it is compared with, else 0. Exits where one was by class, which knows of the first level,
   and the other was not. */
void cf_missed_check(const struct cf_tool *t, unsigned before, unsigned by);

#endif
