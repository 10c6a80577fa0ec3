/* SPDX-License-Identifier: BSD-2-Clause */
/* rank.h - the parts of cf-rank: values of rows, counters by key, details of objects, printing. */
#ifndef RANK_H
#define RANK_H

#include "formats/stream/cf.h"
#include "formats/base/cf_text.h"
#include "formats/program/cf_made.h"
#include "formats/program/cf_processes.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/rows/counts.h"
#include "filters/picture/output.h"

enum by {
    BY_PAGE,
    BY_REGION,
    BY_OBJECT,
    BY_SITE,
    BY_SOURCE,
    BY_FUNCTION,
    BY_SYMBOL,
    BY_THREAD,
    BY_PROCESS,
    BY_LINE,
    BY_OP,
    BY_CLASS,
    BY_KINDS
};

enum value {
    VALUE_ACCESSES,
    VALUE_BYTES,
    VALUE_LOADS,
    VALUE_STORES,
    VALUE_MISSES,
    VALUE_HITS,
    VALUE_COST,
    VALUE_FETCHES,
    VALUE_RATIO, /* misses / accesses: its sum is not used */
    VALUE_CLASS,
    VALUES
};

enum { MOST_KEYS = 4, MOST_VALUES = 24 };

struct by_kind {
    const char *name, *plural;
    unsigned column;   /* its values are the keys */
    int pid;           /* the column pid comes first, unless an earlier part has it */
    const char *words; /* further columns of CSV */
};

extern const struct by_kind by_kinds[BY_KINDS];

struct picked {
    enum value kind;
    unsigned class;  /* of VALUE_CLASS */
    uint8_t op[256]; /* 1 = the operation counts */
};

struct options {
    enum by by[MOST_KEYS]; /* the key has these parts */
    unsigned keys;
    struct picked value[MOST_VALUES]; /* those that are printed, and what they are made of */
    unsigned shown, values;
    unsigned sort;             /* by this value */
    unsigned misses, accesses; /* which values they are, for VALUE_RATIO */
    const char *sort_by;       /* its name as given */
    uint64_t line_size;        /* bytes */
    uint64_t page_size;        /* bytes */
    uint64_t top;
    unsigned level; /* a hit level above it is a miss */
    uint64_t dist;  /* lines: a distance from here up is a miss */
    int level_given, dist_given, classes_given, ops_given;
    int top_assumed;    /* as is right for a terminal */
    uint8_t class[256]; /* 1 = misses of the class count */
    uint8_t op[256];    /* of values that are of no certain operation */
    uint32_t *cover;    /* millionths, NULL = a ranking */
    unsigned covers;
    struct cf_output output;
    const char *before; /* what to compare with, or NULL */
    double fail_above;
    int fails;
};

struct objects; /* address, size and site of heap objects */

struct rank {
    struct cf_tool *tool;
    struct cf_mix mix;
    struct cf_processes processes;
    struct options o;
    struct cf_reader *reader;
    uint64_t segment; /* number of the segment, from 1: object numbers hold within one */
    uint64_t seen;    /* largest time of an access so far */
    uint64_t *sum;    /* of each value, by the number of the key */
    size_t sums;
    struct cf_counts *numbers[MOST_KEYS]; /* of each part that has no small numbers by itself */
    struct cf_counts *joined[MOST_KEYS];  /* of the parts before it and this one */
    struct cf_counts *names;              /* string id of the name, by process and thread */
    struct objects *objects;
    uint64_t *value[MOST_VALUES]; /* of each row */
    uint64_t *some;               /* != 0: a value of the row is not 0 */
    uint64_t *word[2];
    uint32_t *number[MOST_KEYS]; /* of each part's key in each row */
    uint32_t *total;             /* of the whole key */
};

/* A part of a key. */
struct key {
    uint64_t a, b;    /* string id, operation or class, or the words of the key */
    const char *text; /* of a string id; NULL where it is a number */
};

/* An entry of the ranking. */
struct item {
    const struct key *key; /* its parts */
    const uint64_t *sum;   /* its values */
    double ratio;          /* what it is sorted by, of VALUE_RATIO */
};

struct ranking {
    struct item *item; /* the greatest first, ties by key */
    size_t count;
    struct key *keys;
};

/* ---- rank_options.c ---- */

void rank_options(struct rank *k, int argc, char **argv);

/* ---- values.c: what is added up ---- */

void values_want(struct rank *k);
/* Fills value[] and some[] of a frame of accesses. 1 when it lacks what the values need. */
int values_find(struct rank *k, const struct cf_frame *f);
/* As a column, and for people. */
const char *value_name(const struct picked *p);
/* Misses / accesses; NAN where there was no access. */
double value_ratio(const struct rank *k, const struct item *i);

/* ---- keys.c: from rows to counters ---- */

/* Which part of the key is this, -1 = none. */
int rank_part(const struct rank *k, enum by by);
/* Asks the reader for the columns that the options need, and makes the tables. */
void rank_begin(struct rank *k);
/* Counts a frame of accesses. -1 without memory, 1 when it lacks what the values need. */
int rank_accesses(struct rank *k, const struct cf_frame *f) CF_MUST_CHECK;
/* Remembers names of processes and threads. -1 without memory. */
int rank_tasks(struct rank *k, const struct cf_frame *f) CF_MUST_CHECK;
/* By the parts of the key, as texts or numbers: < 0, 0, > 0. */
int rank_by_key(const struct options *o, const struct key *x, const struct key *y);
/* Sorts what was counted; ends the program without memory. */
struct ranking rank_items(const struct rank *k);
void rank_end(struct rank *k);

/* ---- objects.c ---- */

struct details {
    uint64_t segment;
    uint64_t addr, bytes;
    uint64_t freed; /* time; UINT64_MAX while it lives */
    uint32_t object, site;
};

struct objects *objects_new(void) CF_MUST_CHECK;
void objects_free(struct objects *o);
/* Takes a frame of table object. Drops objects that were released before `seen` and have no
   counter in `counts`. -1 without memory. */
int objects_frame(struct objects *o, const struct cf_frame *f, uint64_t segment, uint64_t seen,
                  const struct cf_counts *counts) CF_MUST_CHECK;
/* NULL where nothing is known. */
const struct details *objects_get(const struct objects *o, uint64_t segment, uint64_t object);

/* ---- rank_picture.c ---- */

enum { BARS = 40 };
void rank_draw(const struct rank *k, const struct ranking *r);

/* ---- rank_csv.c ---- */

/* The name of a thread or a process, by the part of the key that is it. */
const char *task_name(const struct rank *k, enum by by, const struct key *i);
/* What is ranked, in the plural. */
const char *rank_plural(const struct rank *k);
void print_key_names(const struct rank *k);
void print_keys(const struct rank *k, const struct key *key);
void print_ranking(const struct rank *k, const struct ranking *r);
void print_cover(const struct rank *k, const struct ranking *r);

/* ---- rank_before.c ---- */

/* What has changed, the most first. CF_EXIT_INPUT where it is more than --fail-above allows. */
int print_changes(const struct rank *old, const struct ranking *before, const struct rank *k,
                  const struct ranking *after);

#endif
