/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify.h - rules by which misses get a class. A rule is a file of this directory and a line in
 * the table in rules.c.
 */
#ifndef CLASSIFY_H
#define CLASSIFY_H

#include <stdint.h>

#include "filters/engine/classes/cacheperf.h"
#include "filters/engine/classes/classes.h"
#include "filters/picture/output.h"
#include "formats/stream/cf.h"
#include "formats/machine/cf_machine.h"
#include "formats/together/cf_made.h"
#include "formats/together/cf_partial.h"
#include "formats/program/cf_tool.h"

enum { MOST_MACHINES = 16 };

struct options {
    const char *machine; /* -m, or NULL */
    const char *level;   /* --level, or NULL */
    unsigned cores;      /* --cores, 0 = not given */
    int cores_given;
    uint64_t seed;    /* --seed */
    int no_addresses; /* --no-addresses */
    int hit;          /* --hit */
    struct cf_cacheperf_config cacheperf;
    int cacheperf_given; /* an option of that rule, */
    int sets_given;      /* and --set-misses */
    int streams;         /* a stream is written, not a summary alone */
};

/* What rules work with. They say what is wrong by cf_die(). */
struct classify {
    struct cf_tool *tool;
    struct cf_reader *in; /* NULL until it is open */
    struct options o;
    /* what the rule adds, for the header; set by its begin() */
    struct cf_made made;
    char level[80], behind[80]; /* of class and class_behind, by name */
    int adds_hit;               /* where the stream has none, or always with --hit */
    int hit_stated;             /* of this segment: we state the facts of hit */
};

struct summary;

/* Columns of accesses; all but addr may be NULL. */
struct rows {
    uint32_t rows;
    const uint64_t *addr;
    const uint8_t *op;
    const uint32_t *size, *cpu, *pid, *tid;
};

enum { PIECE = CF_WIRE_ROWS };

/* Rows of a frame from `from` on, up to PIECE. */
struct rows rows_of(const struct cf_frame *f, uint32_t from);

struct need {
    unsigned column; /* of table access; 0 ends a list */
    enum cf_need need;
};

struct rule {
    const char *name;
    const struct need *needs;
    unsigned adds[4]; /* columns that all accesses get, up to a 0 */
    int holds;        /* frames of accesses are kept, and handed on by the rule itself */
    /* Looks at the options and makes the rule's state. */
    void *(*begin)(struct classify *c);
    /* May be NULL: asks for columns of other tables. `out` is NULL where no stream is wanted. */
    void (*open)(void *state, struct cf_reader *in, struct cf_writer *out);
    /* May be NULL: looks at a frame of another table, or the header of the next segment. Returns 1
       when the rule hands it on by itself. */
    int (*other)(void *state, const struct cf_frame *f);
    /* Fills in the class of every row of a frame of accesses; may set further columns. A rule that
       holds frames takes the columns, and leaves `class` alone. */
    void (*frame)(void *state, struct cf_frame *f, uint8_t *class);
    /* May be NULL: the input has ended. */
    void (*finish)(void *state);
    /* --summary: rows by summary_add(), with the misses of these classes, up to a 0, and whether
       more is said of references that are not known. */
    void (*summary)(void *state, struct summary *s);
    const uint8_t *classes;
    int unknown;
    void (*end)(void *state);

    /* For a summary by several threads: frame() in so many stages, of which each takes all rows in
       their order, while other rows are in other stages; 0: it cannot. The first takes up to PIECE
       rows, which are gone then; what a stage leaves to the next is in the piece. -1 without
       memory. */
    unsigned stages;
    void *(*piece_new)(void *state); /* NULL without memory */
    void (*piece_free)(void *piece);
    int (*first)(void *state, void *piece, const struct rows *rows);
    int (*stage)(void *state, void *piece, unsigned stage); /* from 1 on */
};

extern const struct rule *const rules[]; /* NULL at the end */
const struct rule *find_rule(const struct cf_tool *t, const char *option, const char *name);

/* ---- jobs.c: the summary by several threads ---- */

enum { MOST_JOBS = 256 };

struct jobs;

/* Threads for the machines whose states these are; NULL where one does it all, which is said. */
struct jobs *jobs_begin(const struct classify *c, const struct rule *rule, void *const *state,
                        unsigned machines, unsigned jobs);
/* In place of rule->frame(). */
void jobs_frame(struct jobs *j, struct cf_frame *f, uint8_t *class);
/* All rows are done, and the threads at their end. `j` may be NULL. */
void jobs_end(struct jobs *j);

/* ---- parts.c: the summary of parts of a recording ---- */

struct parts {
    struct cf_partial partial; /* with no tool the summary is of no parts, nor of one */
    void *const *state;        /* of machines, by rule hill */
    unsigned machines;
    struct hill_joined *joined; /* NULL: no parts came */
};

/* Opens inputs, which may be partial results. Exits where a part is asked for and the machines or
   the options do not allow it. */
struct cf_reader *parts_open(struct parts *p, char *const *files, int count);
/* Takes a frame of a partial result: 1, else 0. */
int parts_take(struct parts *p, const struct cf_frame *f);
/* All is read. 1 where the counts are handed on as a partial result, with the exit status. */
int parts_end(struct parts *p, int *status);

/* ---- summary.c ---- */

struct summary_row {
    const char *machine, *level; /* which stay where they are */
    unsigned op;
    uint64_t references, unknown;
    uint64_t misses[CF_CLASS_UNCLASSIFIED + 1]; /* by class */
};

struct summary {
    const struct cf_tool *tool;
    const struct rule *rule;
    const char *machine; /* of the rows that are added */
    unsigned machines;
    struct summary_row *row;
    size_t rows, room;
};

/* A row, unless there are no references. `misses` has those of each class. */
void summary_add(struct summary *s, const char *level, unsigned op, uint64_t references,
                 const uint64_t *misses, uint64_t unknown);
/* CSV; column machine where there are several. */
void summary_print(const struct summary *s);
void summary_draw(const struct summary *s, const struct cf_output *o);

extern const struct rule rule_hill, rule_leon4, rule_cacheperf;

#endif
