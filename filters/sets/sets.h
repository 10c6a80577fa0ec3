/* SPDX-License-Identifier: BSD-2-Clause */
/* sets.h - the parts of cf-sets: CSV and the chart of both profiles. */
#ifndef SETS_H
#define SETS_H

#include "filters/engine/census.h"
#include "filters/engine/tasks.h"
#include "filters/picture/chart.h"
#include "formats/cf_tool.h"

struct sets_options {
    int summary;
    uint8_t level;  /* 0 = all, the chart: the last */
    uint32_t top;   /* 0 = not given */
    uint64_t lines; /* of the cache, where snapshots do not tell */
    const char *png, *html;
    uint32_t width, height;
};

struct sets {
    struct cf_tool tool;
    struct sets_options o;
    struct cf_reader *reader;
    struct cf_census *census;
    struct cf_tasks *tasks;
    char *unit, *command;
};

/* Lines of the whole cache in a snapshot, 0 = not known. */
uint64_t sets_whole(const struct sets *w, const struct cf_snapshot *s);

/* Name of a process, "[unknown]" for 0, "" where nobody told one. */
const char *sets_name(const struct sets *w, uint32_t pid);

void sets_print(const struct sets *w);
void sets_draw(const struct sets *w);

#endif
