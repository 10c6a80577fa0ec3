/* SPDX-License-Identifier: BSD-2-Clause */
/* occupancy.h - the parts of cf-occupancy: what groups are called, CSV, and the chart. */
#ifndef OCCUPANCY_H
#define OCCUPANCY_H

#include "filters/engine/census.h"
#include "filters/engine/tasks.h"
#include "filters/picture/chart.h"
#include "formats/cf_tool.h"

enum output { BY_STDOUT, AS_CSV, AS_DRAWING };

struct options {
    enum cf_census_by by;
    enum output output;
    uint8_t level;  /* 0 = all, the chart: the last */
    uint32_t top;   /* 0 = not given */
    uint64_t lines; /* of the cache, where snapshots do not tell */
    int wide;
    const char *png, *html;
    uint32_t width, height;
};

struct work {
    struct cf_tool tool;
    struct options o;
    struct cf_reader *reader;
    struct cf_census *census;
    struct cf_tasks *tasks;
    char *unit, *command;
    int units_differ;
};

/* ---- print.c ---- */

enum { LABEL_BYTES = 512 };

/* "sort (1234)", "pid 1234", "[unknown]", "[heap] of sort (1234)", "cpu 3", "modified". */
void label(const struct work *w, uint32_t group, char *out);

/* Lines of the whole cache in a snapshot, 0 = not known. */
uint64_t whole_of(const struct work *w, const struct cf_snapshot *s);

void print_long(const struct work *w);
void print_wide(const struct work *w);

/* ---- draw.c ---- */

/* Draws what the options ask for. -1 when standard output could not be written. */
int draw(const struct work *w, int to_stdout) CF_MUST_CHECK;

#endif
