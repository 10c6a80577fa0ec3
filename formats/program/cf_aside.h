/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_aside.h - rows that a filter keeps until its accesses have come to their time.
 *
 * The tables unplaced and bus of a processor's trace run ahead of the accesses (cf-stream(5),
 * Order). A filter for which the order of both matters takes such frames in here, and looks at the
 * oldest row before each access of a later time. What it finds out of an unplaced row it notes in
 * the row; rows that are done are written before the frame of accesses. Of the columns only those
 * below are kept.
 *
 * Memory: 56 bytes a row that waits.
 */
#ifndef CF_ASIDE_H
#define CF_ASIDE_H

#include "formats/stream/cf.h"

struct cf_aside_row {
    uint64_t time, pc, phys; /* phys: in a row of bus, its address */
    uint32_t cpu, size, cost;
    uint8_t op, level; /* level: in a row of bus, its transfer */
    uint8_t hit, class, behind;
};

struct cf_aside {
    unsigned table;   /* CF_UNPLACED or CF_BUS */
    unsigned columns; /* that the rows have, by bit as in cf_aside.c */
    struct cf_aside_row *row;
    size_t room;
    uint32_t next, count; /* row[0 .. next) were looked at */
};

/* Asks for the columns of table `table`. */
void cf_aside_begin(struct cf_aside *a, unsigned table, struct cf_reader *r);
void cf_aside_end(struct cf_aside *a);

/* Takes a frame of the table in. Rows of other columns than before must have been written by then:
   see cf_aside_write(). -1 without memory. */
int cf_aside_take(struct cf_aside *a, const struct cf_frame *f) CF_MUST_CHECK;

/* Is there a row that was not looked at whose time lies before `time` (UINT64_MAX: any)? */
static inline int cf_aside_due(const struct cf_aside *a, uint64_t time)
{
    return a->next < a->count && (time == UINT64_MAX || a->row[a->next].time < time);
}

/* The oldest such row, which counts as looked at from now on, or NULL. The row may be changed until
 * it is written. */
struct cf_aside_row *cf_aside_next(struct cf_aside *a, uint64_t time);

/* Notes that the rows have values of a column, hit, class, class_behind or cost. */
void cf_aside_set(struct cf_aside *a, unsigned column);

/* Writes the rows that were looked at, to `w` or (NULL) nowhere, and forgets them. */
int cf_aside_write(struct cf_aside *a, struct cf_writer *w) CF_MUST_CHECK;

#endif
