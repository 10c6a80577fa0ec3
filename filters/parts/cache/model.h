/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h - the options and the state of cf-cache, how its model is made, and the summary. */
#ifndef CACHE_MODEL_H
#define CACHE_MODEL_H

#include "filters/engine/rows/cores.h"
#include "filters/parts/cache/snapshot.h"
#include "formats/program/cf_made.h"
#include "formats/program/cf_processes.h"

enum { MASKS = 1024 };

struct options {
    const char *machine, *output, *summary_file;
    int summary, physical;
    unsigned cores; /* 0: the machine's */
    uint64_t seed;
    const char *prefetch[CF_MAX_LEVELS], *mask[MASKS];
    unsigned prefetches, masks;
    const char *snapshot_level;
    int frames, ram, page_size;       /* options for frames that are given */
    struct snapshot_options snapshot; /* every 0: none */
};

struct cache {
    struct cf_tool tool;
    struct options o;
    struct cf_machine *machine;
    struct cf_hierarchy *model;
    struct cf_cores *cores;
    struct snapshots *snapshots;
    struct cf_made made; /* column hit */
    struct cf_turns turns;
    struct cf_way_mask mask[MASKS];
    uint8_t hit[CF_FILE_ROWS]; /* the reader never hands out a longer frame */
};

/* Loads the machine and makes c->model and c->cores. Exits where options do not fit the machine. */
void make_model(struct cache *c);

/* ---- summary.c: what each level counted ---- */

/* One CSV row a level, and one for memory. */
void summary_csv(FILE *out, const struct cf_machine *m, const struct cf_hierarchy *h);

/* The same for a terminal, without the columns that are zero everywhere. */
void summary_table(FILE *out, const struct cf_machine *m, const struct cf_hierarchy *h,
                   unsigned cores);

#endif
