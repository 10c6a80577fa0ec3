/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h - kinds of report. A kind is a file of this directory and a line in the table in
 * kinds.c; its name is also an option of cf-report.
 */
#ifndef REPORT_H
#define REPORT_H

#include "formats/stream/cf.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_made.h"
#include "formats/program/cf_tool.h"

struct report_options {
    const char *machine;  /* -m, or NULL */
    const char *counters; /* --counters, or NULL */
    const char *l2_event; /* --l2-event */
    int64_t cpu;          /* --cpu, -1 = all */
    int csv;              /* --csv */
};

/* What kinds work with. They say what is wrong by cf_die(). */
struct report {
    struct cf_tool tool;
    struct report_options o;
    struct cf_machine *machine;
    int status; /* of what the kind found wrong with its own inputs */
};

struct kind {
    const char *name;
    const char *machine; /* where none is given; NULL: the kind needs none */
    /* Makes the kind's state. */
    void *(*begin)(struct report *r);
    /* Asks for columns. */
    void (*want)(void *state, struct cf_reader *in);
    void (*frame)(void *state, const struct cf_frame *f);
    /* To standard output. */
    void (*print)(void *state);
    void (*end)(void *state);
};

extern const struct kind *const kinds[]; /* NULL at the end */
const struct kind *find_kind(const char *name);

extern const struct kind kind_leon4;

/* ---- counters.c: what a statistics unit counted ---- */

struct counter {
    char name[64];
    uint64_t value; /* summed up over the processors that were asked for */
    uint64_t at;    /* line of the file, from 1 */
};

struct counters {
    struct counter *counter;
    unsigned count;
};

/* Reads a screen with lines "N: CPU NAME VALUE"; lines of other kinds are passed over. One that
   begins so and goes on otherwise, and a file without counters, is told and sets r->status. */
void counters_read(struct report *r, const char *file, struct counters *c);
/* NULL where there is none of this name. */
const struct counter *counters_find(const struct counters *c, const char *name);
void counters_free(struct counters *c);

#endif
