/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - what cf-heatmap is asked for, and what its loop works on.
 */
#ifndef CF_HEATMAP_ROWS_H
#define CF_HEATMAP_ROWS_H

#include "formats/together/cf_made.h"
#include "formats/together/cf_partial.h"
#include "formats/together/cf_processes.h"
#include "formats/program/cf_tool.h"
#include "filters/heat/heat.h"
#include "filters/picture/output.h"

enum value { ACCESSES, BYTES, LOADS, STORES, MISSES, COST };

struct options {
    uint32_t bins, top; /* top 0: not given */
    uint64_t width, from, to;
    struct cf_span span; /* of --time: from and to, once they are known */
    enum value value;
    uint8_t ops[256]; /* 1 for each that counts */
    uint8_t levels[256];
    const char *region;
    unsigned table; /* 0: whatever comes */
    struct cf_output output;
    unsigned linear;
    int level_given, from_given, ops_given;
};

/* Everything that the loop works on. */
struct work {
    struct cf_tool *tool;
    const struct options *o;
    struct cf_reader *reader;
    struct cf_partial partial;
    struct heat *accesses, *lines, *fine; /* fine: accesses for a page, or NULL */
    struct heat_names *names;             /* of accesses, for a page, or NULL */
    uint64_t access_rows, line_rows, unresolved_rows;
    char *unit, *command;
    uint64_t hz; /* of the first stream's clock */
    int units_differ, no_misses;
    unsigned missed_by; /* columns, see cf_missed_check() */
    int no_level;       /* of accesses no more is known than that the first level missed */
    struct cf_mix mix;
    struct cf_processes processes;
    int no_place[2];                /* accesses, lines came without an address */
    uint64_t segment, line_segment; /* of the stream; the last that had lines */
    unsigned line_segments;         /* that had any, 2 = several */
    struct {
        uint32_t *number;
        uint64_t *time;
        size_t count, room, time_room;
    } snapshots; /* as they were announced */
    uint64_t amount[HEAT_SLICE];
    uint32_t page[HEAT_SLICE];
    uint8_t counts[HEAT_SLICE];
};

/* heatmap_options.c: reads the command line; exits where it is wrong. */
void heatmap_options(struct cf_tool *t, struct options *o, struct cf_partial *p, int argc,
                     char **argv);

/* Asks for the columns that count. */
void rows_want(struct work *w);
/* Takes in the header of a segment. */
void rows_header(struct work *w, const struct cf_header *h);
/* Notes when snapshots were taken. */
void rows_snapshots(struct work *w, const struct cf_frame *f);
void rows_snapshot(struct work *w, uint32_t number, uint64_t time);
/* Counts the rows of a frame of accesses or lines. */
void rows_add(struct work *w, const struct cf_frame *f);

/* Ends the program, since there would be too many bins. */
void rows_too_many(const struct work *w, const struct heat *h) __attribute__((noreturn));

/* heatmap_partial.c: the options on which the counts depend, as a text; to be freed. */
char *rows_options(const struct cf_tool *t, const struct options *o);
/* Writes what was counted as a partial result. */
void rows_write(struct work *w);
/* Adds a frame of one. */
void rows_merge(struct work *w, const struct cf_frame *f);

/* What several processes mean. */
extern const char rows_processes[];

#endif
