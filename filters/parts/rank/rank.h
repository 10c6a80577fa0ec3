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
    VALUES
};

struct by_kind {
    const char *name, *plural;
    unsigned column; /* its values are the keys */
};

extern const struct by_kind by_kinds[BY_KINDS];

struct options {
    enum by by;
    enum value value;
    uint64_t line_size; /* bytes */
    uint64_t page_size; /* bytes */
    uint64_t top;
    unsigned level; /* a hit level above it is a miss */
    uint64_t dist;  /* lines: a distance from here up is a miss */
    int level_given, dist_given, classes_given, ops_given;
    int top_assumed;    /* as is right for a terminal */
    uint8_t class[256]; /* 1 = misses of the class count */
    uint8_t op[256];    /* 1 = the operation counts */
    uint32_t *cover;    /* millionths, NULL = a ranking */
    unsigned covers;
    struct cf_output output;
};

struct objects; /* address, size and site of heap objects */

struct rank {
    struct cf_tool tool;
    struct cf_mix mix;
    struct cf_processes processes;
    struct options o;
    struct cf_reader *reader;
    uint64_t segment; /* number of the segment, from 1: object numbers hold within one */
    uint64_t seen;    /* largest time of an access so far */
    uint64_t *sum;    /* by string id or operation */
    size_t sums;
    struct cf_counts *counts; /* by any other key */
    struct cf_counts *names;  /* string id of the name, by process and thread */
    struct objects *objects;
    uint64_t *value, *key[2]; /* of each row */
    int failed;
};

/* An entry of the ranking. */
struct item {
    uint64_t a, b; /* string id, operation or the words of the key */
    uint64_t value;
    const char *text; /* of the key or of its first part; NULL where it is a number */
};

/* ---- keys.c: from rows to counters ---- */

/* Asks the reader for the columns that the options need. */
void rank_want(struct rank *k);
/* Counts a frame of accesses. -1 without memory, 1 when it lacks what the value needs. */
int rank_accesses(struct rank *k, const struct cf_frame *f) CF_MUST_CHECK;
/* Remembers names of processes and threads. -1 without memory. */
int rank_tasks(struct rank *k, const struct cf_frame *f) CF_MUST_CHECK;
/* The counters, greatest first, ties by key. *count is their number; NULL without memory. */
struct item *rank_items(const struct rank *k, size_t *count) CF_MUST_CHECK;

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
void rank_draw(const struct rank *k, const struct item *item, size_t count);

/* ---- rank_csv.c ---- */

extern const char *const value_name[VALUES];
/* The name of a thread or a process. */
const char *task_name(const struct rank *k, const struct item *i);
void print_ranking(const struct rank *k, const struct item *item, size_t count);
void print_cover(const struct rank *k, const struct item *item, size_t count);

#endif
