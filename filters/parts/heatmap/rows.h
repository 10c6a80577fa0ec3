/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - what cf-heatmap is asked for, and what its loop works on.
 */
#ifndef CF_HEATMAP_ROWS_H
#define CF_HEATMAP_ROWS_H

#include "formats/program/cf_made.h"
#include "formats/program/cf_processes.h"
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
    int level_given, from_given;
};

/* Everything that the loop works on. */
struct work {
    struct cf_tool *tool;
    const struct options *o;
    struct cf_reader *reader;
    struct heat *accesses, *lines, *fine; /* fine: accesses for a page, or NULL */
    struct heat_names *names;             /* of accesses, for a page, or NULL */
    uint64_t access_rows, line_rows, unresolved_rows;
    char *unit, *command;
    int units_differ, no_misses;
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
    uint8_t counts[HEAT_SLICE];
};

/* Asks for the columns that count. */
void rows_want(struct work *w);
/* Takes in the header of a segment. */
void rows_header(struct work *w, const struct cf_header *h);
/* Notes when snapshots were taken. */
void rows_snapshots(struct work *w, const struct cf_frame *f);
/* Counts the rows of a frame of accesses or lines. */
void rows_add(struct work *w, const struct cf_frame *f);

#endif
