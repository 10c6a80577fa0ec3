/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify.h - rules by which misses get a class. A rule is a file of this directory and a line in
 * the table in rules.c.
 */
#ifndef CLASSIFY_H
#define CLASSIFY_H

#include <stdint.h>

#include "filters/engine/classes/classes.h"
#include "formats/stream/cf.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_made.h"
#include "formats/program/cf_tool.h"

struct options {
    const char *machine; /* -m, or NULL */
    const char *level;   /* --level, or NULL */
    unsigned cores;      /* --cores, 0 = not given */
    uint64_t seed;       /* --seed */
    int no_addresses;    /* --no-addresses */
    int hit;             /* --hit */
    int streams;         /* a stream is written, not a summary alone */
};

/* What rules work with. They say what is wrong by cf_die(). */
struct classify {
    struct cf_tool tool;
    struct options o;
    /* what the rule adds, for the header; set by its begin() */
    struct cf_made made;
    char level[80], behind[80]; /* of class and class_behind, by name */
    int adds_hit;               /* where the stream has none, or always with --hit */
    int hit_stated;             /* of this segment: we state the facts of hit */
};

struct need {
    unsigned column; /* of table access; 0 ends a list */
    enum cf_need need;
};

struct rule {
    const char *name;
    const struct need *needs;
    unsigned adds[4]; /* columns that all accesses get, up to a 0 */
    /* Looks at the options and makes the rule's state. */
    void *(*begin)(struct classify *c);
    /* May be NULL: asks for columns of other tables. `out` is NULL where no stream is wanted. */
    void (*open)(void *state, struct cf_reader *in, struct cf_writer *out);
    /* May be NULL: looks at a frame of another table, or the header of the next segment. Returns 1
       when the rule hands it on by itself. */
    int (*other)(void *state, const struct cf_frame *f);
    /* Fills in the class of every row of a frame of accesses; may set further columns. */
    void (*frame)(void *state, struct cf_frame *f, uint8_t *class);
    /* May be NULL: the input has ended. */
    void (*finish)(void *state);
    /* --summary: rows of CSV by print_counts(). */
    void (*summary)(void *state);
    void (*end)(void *state);
};

extern const struct rule *const rules[]; /* NULL at the end */
const struct rule *find_rule(const struct cf_tool *t, const char *option, const char *name);

/* The header, and a row for each operation that has references. */
void print_counts_header(void);
void print_counts(const char *level, const struct cf_class_counts *counts);

extern const struct rule rule_hill, rule_leon4;

#endif
