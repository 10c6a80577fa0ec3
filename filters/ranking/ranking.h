/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ranking.h - sums of accesses, misses, cycles, ... for each distinct key: function, source line,
 * page, heap object, thread, ..., or several of these together.
 *
 * Sums are found once a frame, and any number of rankings by other keys may share them:
 *
 *     cf_sums_begin(&sums, reader); cf_ranking_begin(&ranking);
 *     each frame: cf_ranking_note(); of table access: cf_sums_find(), then cf_ranking_add()
 *     ranked = cf_ranking_sort(&ranking, sort);
 */
#ifndef CF_RANKING_H
#define CF_RANKING_H

#include "formats/stream/cf.h"
#include "formats/program/cf_options.h"
#include "formats/together/cf_partial.h"
#include "formats/together/cf_processes.h"
#include "formats/program/cf_tool.h"

#include "filters/engine/rows/counts.h"
#include "filters/engine/rows/sets.h"

/* ---- sums.c: what is added up ---- */

enum cf_sum_kind {
    CF_SUM_ACCESSES,
    CF_SUM_BYTES,
    CF_SUM_LOADS,
    CF_SUM_STORES,
    CF_SUM_MISSES,
    CF_SUM_HITS,
    CF_SUM_COST,
    CF_SUM_FETCHES,
    CF_SUM_RATIO, /* misses / accesses, by distance / (misses + hits): its sum is not used */
    CF_SUM_CLASS, /* misses of a class */
    CF_SUM_LEVEL, /* accesses that no level up to this one served */
    CF_SUM_KINDS
};

/* The words that name them: as enum cf_sum_kind, up to the ratio; then, for the message, those of
   levels and classes, which are found by themselves. */
#define CF_SUMS_ADDED "accesses bytes loads stores misses hits cost fetches"
#define CF_SUMS_RATIO " ratio"
#define CF_SUMS_MISSES                                                                             \
    " l1-misses l2-misses l3-misses l4-misses compulsory capacity conflict true_sharing "          \
    "false_sharing allocator_conflict allocator_false_sharing unclassified"

enum { CF_MOST_SUMS = 24 };

struct cf_sum {
    enum cf_sum_kind kind;
    unsigned number; /* of the class or level */
    uint8_t op[256]; /* 1 = the operation counts */
};

struct cf_sums {
    struct cf_tool *tool;
    struct cf_reader *reader;
    const char *words; /* that --value offers; a further one at their end goes with no other */
    struct cf_sum list[CF_MOST_SUMS]; /* those that the user asked for, and what they are made of */
    unsigned shown, count;
    /* which they are, for CF_SUM_RATIO; by distance the second is hits */
    unsigned misses, accesses;
    unsigned level; /* a hit level above it is a miss */
    uint64_t dist;  /* lines: a distance from here up is a miss */
    int level_given, dist_given, classes_given, ops_given;
    uint8_t class[256];              /* 1 = misses of the class count */
    uint8_t op[256];                 /* of sums that are of no certain operation */
    int of_lines;                    /* a ranking by cache line shares bytes out itself */
    int of_sets;                     /* a ranking by set: --level says whose, too */
    unsigned mixed[5];               /* columns that they are made of, for cf_mix_check() */
    uint64_t *value[CF_MOST_SUMS];   /* of each row; of sums of misses: of each that may be one, */
    uint32_t *missing, misses_found; /* of which these are the rows */
    uint64_t *some;                  /* != 0: a value of the row is not 0 */
    unsigned missed_by, missed_before; /* columns, see cf_missed_check() */
    uint64_t no_level; /* accesses of which no more is known than that the first level missed, */
    uint64_t no_dist;  /* that column dist does not count, */
    uint64_t no_hit;   /* of which is not known whether they missed, */
    uint64_t no_class; /* and that rule cacheperf gives no class though they missed */
    int unstated;      /* of which sets distances are, is not stated */
};

/* As before any option: accesses, and all of the words above. */
void cf_sums_init(struct cf_sums *s, struct cf_tool *t);

/* Options that say what is added up; after all options cf_sums_check() exits with CF_EXIT_USAGE
   where they do not go together. */
#define CF_SUM_OPTIONS(s) {"value", 0, CF_CALL(cf_sums_values, (s))}, CF_SUM_OTHER_OPTIONS(s)
#define CF_SUM_OTHER_OPTIONS(s)                                                                    \
    {"op", 0, CF_OPS((s)->op), .given = &(s)->ops_given},                                          \
        {"level", 0, CF_NUMBER(&(s)->level, 1, 254), .given = &(s)->level_given},                  \
        {"class", 0, CF_CALL(cf_sums_classes, (s)), .given = &(s)->classes_given},                 \
    {                                                                                              \
        "dist", 0, CF_NUMBER(&(s)->dist, 1, UINT32_MAX), .given = &(s)->dist_given                 \
    }
void cf_sums_values(const struct cf_tool *t, void *sums, const char *option, char *text);
void cf_sums_classes(const struct cf_tool *t, void *sums, const char *option, char *text);
void cf_sums_check(struct cf_sums *s);

/* The place of a sum, by its word, among those that are added up; appended where it is new. */
unsigned cf_sums_pick(struct cf_sums *s, const char *option, const char *word);

/* Asks the reader for the columns, and makes room. */
void cf_sums_begin(struct cf_sums *s, struct cf_reader *r);
/* Fills value[] and some[] of a frame of accesses. 1 when it lacks what they need. */
int cf_sums_find(struct cf_sums *s, const struct cf_frame *f) CF_MUST_CHECK;
/* Warns of accesses that were left out, once all are added up. */
void cf_sums_remarks(const struct cf_sums *s);
/* Whether a sum is 0 of accesses that the first level served: then it has values of misses only. */
int cf_sums_listed(const struct cf_sums *s, unsigned v);
/* As a column, and for people. */
const char *cf_sum_name(const struct cf_sum *sum);
/* The ratio of sums that were added up; NAN where there was no access. */
double cf_sums_ratio(const struct cf_sums *s, const uint64_t *sum);

/* ---- keys.c: from rows to sums ---- */

enum cf_rank_by {
    CF_RANK_PAGE,
    CF_RANK_REGION,
    CF_RANK_OBJECT,
    CF_RANK_SITE,
    CF_RANK_SOURCE,
    CF_RANK_FUNCTION,
    CF_RANK_SYMBOL,
    CF_RANK_THREAD,
    CF_RANK_PROCESS,
    CF_RANK_LINE,
    CF_RANK_ADDRESS,
    CF_RANK_OP,
    CF_RANK_CLASS,
    CF_RANK_HIT,
    CF_RANK_STACK,
    CF_RANK_SET,
    CF_RANK_KINDS
};

enum { CF_MOST_KEYS = 5 };

struct cf_rank_kind {
    const char *name, *plural;
    unsigned column;   /* its values are the keys */
    int pid;           /* the column pid comes first, unless an earlier part has it */
    const char *words; /* further columns of CSV */
};

extern const struct cf_rank_kind cf_rank_kinds[CF_RANK_KINDS];

struct cf_objects; /* address, size and site of heap objects */
struct cf_paths;   /* of calls */
struct cf_sources; /* source files: sources.h */

/* Set tool, reader, sums, by, keys, line_size, sources and lenient; for CF_RANK_SET also sets. */
struct cf_ranking {
    struct cf_tool *tool;
    struct cf_reader *reader;
    struct cf_sums *sums;
    enum cf_rank_by by[CF_MOST_KEYS]; /* the key has these parts */
    unsigned keys;
    uint64_t line_size;         /* bytes, a power of two */
    uint64_t *page_size;        /* the same, 0 until a header states it; NULL: nobody asks */
    struct cf_sets sets;        /* of a cache with such lines */
    struct cf_sources *sources; /* takes what the stream says of source files; NULL: nobody asks */
    struct cf_partial *partial; /* partial results are taken and made; NULL: not by this program */
    int lenient; /* frames without a column of the key count as the key without a name */

    int counted;      /* an access came whose operation counts */
    unsigned lacking; /* frames of accesses lacked what the sums need: 1, with a class 2 too */
    uint64_t segment; /* number of the segment, from 1: object numbers hold within one */
    uint64_t seen;    /* largest time of an access so far */
    uint64_t *sum;    /* of each value, by the number of the key */
    uint64_t all[CF_MOST_SUMS]; /* of each value, of weighted accesses: no sum is more */
    size_t room;
    struct cf_counts *numbers[CF_MOST_KEYS]; /* of parts that have no small numbers by themselves */
    struct cf_counts *joined[CF_MOST_KEYS];  /* of the parts before it and this one */
    struct cf_processes processes;
    struct cf_counts *names; /* string id of the name, by process and thread */
    struct cf_objects *objects;
    struct cf_paths *paths; /* NULL where the key has none */
    uint64_t *word[2], *some;
    uint32_t *number[CF_MOST_KEYS]; /* of each part's key in each row */
    uint32_t *total;                /* of the whole key */
};

/* A part of a key. */
struct cf_rank_key {
    uint64_t a, b;    /* string id, operation or class, or the words of the key */
    const char *text; /* of a string id or path; NULL where it is a number */
};

/* An entry of the ranking. */
struct cf_rank_item {
    const struct cf_rank_key *key; /* its parts */
    const uint64_t *sum;           /* its values */
    double ratio;                  /* what it is sorted by, of CF_SUM_RATIO */
};

struct cf_ranked {
    struct cf_rank_item *item; /* the greatest first, ties by key */
    size_t count;
    struct cf_rank_key *keys;
    char **text; /* those that were made for keys */
    size_t texts;
};

/* Asks the reader for the columns of the key, and makes the tables. Before cf_sums_begin(). */
void cf_ranking_begin(struct cf_ranking *k);
/* Remembers what frames of any table say of segments, names of threads, and objects; ends the
   program without memory, as all these do. */
void cf_ranking_note(struct cf_ranking *k, const struct cf_frame *f);
/* Adds a frame of accesses, of which cf_sums_find() has found the values. */
void cf_ranking_add(struct cf_ranking *k, const struct cf_frame *f);
/* The numbers of keys, as cf_counts_number(), of a part that has no small numbers by itself. */
void cf_ranking_number(struct cf_ranking *k, unsigned part, const uint64_t *a, const uint64_t *b,
                       uint32_t rows, uint32_t *number);
/* Whether the numbers of a part are ids of strings, or codes below 256. */
int cf_ranking_by_string(enum cf_rank_by by);
int cf_ranking_by_code(enum cf_rank_by by);
/* Adds sum[v][i] to the value v of the key of which number[part][i] are the parts, for all rows. */
void cf_ranking_add_sums(struct cf_ranking *k, const uint32_t *const *number, uint32_t rows,
                         const uint64_t *const *sum);
/* The part of the key that is this one, or -1. */
int cf_ranking_part(const struct cf_ranking *k, enum cf_rank_by by);
/* What several processes mean where mappings of one name are added up. */
extern const char cf_ranking_processes[];
/* By the parts of the key, as texts or numbers: < 0, 0, > 0. */
int cf_ranking_order(const struct cf_ranking *k, const struct cf_rank_key *x,
                     const struct cf_rank_key *y);
/* What was counted, by the numbers of the keys, without ratios. */
struct cf_ranked cf_ranking_list(const struct cf_ranking *k);
/* The same, sorted by a sum. */
struct cf_ranked cf_ranking_sort(const struct cf_ranking *k, unsigned sort);
void cf_ranked_free(struct cf_ranked *r);
void cf_ranking_end(struct cf_ranking *k);

/* ---- read.c ---- */

struct cf_mix;

/* Notes a frame of any table, and adds what it has of accesses; fails, once, where these lack what
   the sums need, which a partial result only states. Not for rankings that share sums. */
void cf_ranking_take(struct cf_ranking *k, const struct cf_frame *f);
void cf_ranking_lacks(struct cf_ranking *k, unsigned lacking);
/* Begins the ranking and its sums, and takes all that the reader has. An input of the wrong kind
   ends the program. */
void cf_ranking_read(struct cf_ranking *k, struct cf_mix *mix);

/* ---- partial.c ---- */

/* The options on which sums and keys depend, as a text; to be freed. */
char *cf_ranking_options(const struct cf_ranking *k);
/* Writes what was counted as a partial result. */
void cf_ranking_write(struct cf_ranking *k);
/* Adds a frame of one. */
void cf_ranking_merge(struct cf_ranking *k, const struct cf_frame *f);

/* ---- objects.c ---- */

struct cf_object_details {
    uint64_t segment;
    uint64_t addr, bytes;
    uint64_t freed; /* time; UINT64_MAX while it lives */
    uint32_t object, site;
};

struct cf_objects *cf_objects_new(void) CF_MUST_CHECK;
void cf_objects_free(struct cf_objects *o);
/* Takes a frame of table object. Drops objects that were released before `seen` and have no
   counter in `counts`. -1 without memory. */
int cf_objects_frame(struct cf_objects *o, const struct cf_frame *f, uint64_t segment,
                     uint64_t seen, const struct cf_counts *counts) CF_MUST_CHECK;
/* Takes one that is known from elsewhere. -1 without memory. */
int cf_objects_put(struct cf_objects *o, const struct cf_object_details *d) CF_MUST_CHECK;
/* NULL where nothing is known. */
const struct cf_object_details *cf_objects_get(const struct cf_objects *o, uint64_t segment,
                                               uint64_t object);

/* ---- paths.c ---- */

struct cf_paths *cf_paths_new(struct cf_reader *r) CF_MUST_CHECK;
void cf_paths_free(struct cf_paths *p);
/* Takes what a frame says of segments, processes and nodes. -1 without memory. */
int cf_paths_frame(struct cf_paths *p, const struct cf_frame *f) CF_MUST_CHECK;
/* The number of the path of each access, its function included, that has some[i] != 0; of others 0.
   -1 without memory. */
int cf_paths_of(struct cf_paths *p, const struct cf_frame *f, const uint64_t *some,
                uint64_t *path) CF_MUST_CHECK;
/* The number of a path by such a text; 0 without memory. */
uint64_t cf_paths_number(struct cf_paths *p, const char *text) CF_MUST_CHECK;
/* "main;f;g", to be freed. NULL without memory. */
char *cf_paths_text(const struct cf_paths *p, uint64_t path);

/* ---- names.c ---- */

/* The name of a thread or a process, by the part of the key that is it. */
const char *cf_rank_task(const struct cf_ranking *k, enum cf_rank_by by,
                         const struct cf_rank_key *key);
/* A key for people, with ", " between its parts; to be freed. */
char *cf_rank_text(const struct cf_ranking *k, const struct cf_rank_key *key);

#endif
