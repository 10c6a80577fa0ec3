/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h - the parts of cf-report: the report of the LEON4 profiling tool, and counters. */
#ifndef REPORT_H
#define REPORT_H

#include "formats/stream/cf.h"
#include "formats/machine/cf_machine.h"
#include "formats/together/cf_made.h"
#include "formats/program/cf_tool.h"

struct report_options {
    const char *machine;  /* -m, or NULL */
    const char *counters; /* --counters, or NULL */
    const char *l2_event; /* --l2-event */
    int64_t cpu;          /* --cpu, -1 = all */
    int csv;              /* --csv */
};

struct report {
    struct cf_tool tool;
    struct report_options o;
    struct cf_machine *machine;
};

/* ---- report_leon4.c: the report of the LEON4 profiling tool ---- */

struct leon4;
struct leon4 *leon4_begin(struct report *r);
/* Asks for columns. */
void leon4_want(struct cf_reader *in);
void leon4_frame(struct leon4 *l, const struct cf_frame *f);
/* To standard output. */
void leon4_print(const struct leon4 *l);
void leon4_end(struct leon4 *l);

/* ---- counters.c: what a statistics unit counted ---- */

struct counter {
    char name[64];
    uint64_t value; /* summed up over the processors that were asked for */
    uint64_t at;    /* line of the file, from 1 */
};

struct counters {
    struct counter *counter;
    size_t count, room;
};

/* Reads a screen with lines "N: CPU NAME VALUE"; lines of other kinds are passed over. One that
   begins so and goes on otherwise, and a file without counters, is reported and fails. */
void counters_read(struct report *r, const char *file, struct counters *c);
/* NULL where there is none of this name. */
const struct counter *counters_find(const struct counters *c, const char *name);
void counters_free(struct counters *c);

#endif
