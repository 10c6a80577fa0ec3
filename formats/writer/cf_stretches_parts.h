/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_stretches_parts.h - private to libcf: a frame of stretches that is being filled, by
 * cf_stretches.c, and goes out, by cf_stretches_out.c.
 *
 * Memory: 4 MiB, and 16 bytes a hint; 3 MiB more where rows are taken back.
 */
#ifndef CF_STRETCHES_PARTS_H
#define CF_STRETCHES_PARTS_H

#include "cf_stretches.h"

enum {
    MOST = 1 << 14, /* stretches of a frame, */
    ROWS = 1 << 15, /* and rows of all of them */
    NEAR = 1 << 12, /* most addresses are so near to their slot's value */
    WAITS = 256,
};

/* Bytes of what goes before tokens and slots. */
enum { CFW_BEFORE_TOKENS = 8 * MOST + 6 * ROWS + 32, CFW_BEFORE_SLOTS = 8 * ROWS };

/* Rows that were taken back. */
struct cfw_rows_back {
    uint64_t time[CF_STRETCHES_FRAME], addr[CF_STRETCHES_FRAME];
    uint32_t hint[CF_STRETCHES_FRAME];
};

struct cfw_stretches {
    struct cf_stretches s;       /* first */
    uint8_t *tokens, *slot_room; /* they stand in these, behind room for what goes before */
    int no_memory;
    int short_turn;                            /* the one before this */
    uint64_t turn_from;                        /* accesses before this one */
    struct cf_values constant[CF_MAX_COLUMNS]; /* the columns beside time and address */
    unsigned constants;

    uint32_t stretches, all, kinds;
    uint32_t from[MOST];              /* of each stretch: its first row, */
    uint16_t rows[MOST], slots[MOST]; /* how many, */
    int32_t time[MOST];               /* and what it takes */
    uint8_t far[MOST]; /* whether a row of it is far from its slot, or watched without one */
    int any_far;
    uint64_t delta[ROWS]; /* of each of their rows */
    uint16_t kind[ROWS], step[ROWS], place[ROWS];
    uint32_t hint[ROWS];  /* of each kind, */
    uint64_t value[ROWS]; /* and what it says of the column at hand */

    /* In which frame they were numbered << 16 | the number: a hint's kind, its stretch of one row,
       and waits by their time. */
    uint64_t *number, *single;
    size_t number_room, single_room;
    struct {
        int32_t time;
        uint64_t number;
    } wait[WAITS];

    struct cfw_rows_back *back; /* NULL: there were none */
    uint8_t *scratch;
    size_t scratch_room;
};

struct cfw_stretches *cfw_new_stretches(void); /* NULL without memory */
void cfw_free_stretches(struct cfw_stretches *b);
/* What came is dropped; numbers are void. */
void cfw_begin_stretches(struct cfw_stretches *b);

#endif
