/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares.h - the accesses of a stream through a model of caches by several threads, each with a
 * share of the sets at a time (hierarchy_shares.h), with the results of one.
 *
 * The stream is cut into chunks of some frames. A thread makes references of the rows of a chunk,
 * whichever comes next; then the chunk goes through the model of each share, and through further
 * lanes of the program, each in the order of the chunks (cf_pool.h). The thread that reads takes
 * the chunks in their order when all that is done.
 *
 * Memory: `jobs` + 2 chunks of CF_CHUNK_ROWS rows or a few frames, each with the bytes of its
 * frames and 14 bytes a reference that is not to the line before, 27 where they are numbered;
 * decoded columns of 65,536 rows a thread; a byte a row and share for column hit; and the models.
 */
#ifndef CF_SHARES_H
#define CF_SHARES_H

#include "filters/engine/cache/hierarchy_shares.h"
#include "filters/engine/rows/cores.h"
#include "formats/program/cf_tool.h"

enum { CF_CHUNK_ROWS = 1 << 18 };

struct cf_shares_frame;

struct cf_chunk {
    uint32_t rows;              /* of accesses */
    uint8_t *op;                /* of each reference by its number, or else of each row */
    struct cf_share_refs *refs; /* of each share */
    struct cf_share_list all;   /* where they are numbered */
    uint8_t **hit;              /* of each share, raised by its model: see hierarchy_shares.h */
    void *own;                  /* the program's */
    /* private */
    struct cf_kept *frames;
    struct cf_shares_frame *frame; /* of accesses */
    size_t frame_count, frame_room;
    struct cf_shares_stretch *stretch;
    size_t stretches, stretch_room;
    uint8_t *row_op; /* where references are numbered */
    size_t op_room, row_op_room, hit_room;
    uint32_t hits; /* in each hit[] */
    int trouble;
};

struct cf_shares {
    struct cf_tool *tool;
    struct cf_reader *reader; /* that wants what the program wants */
    struct cf_writer *writer; /* or NULL: no stream is written, and no hit[] filled */
    struct cf_cores *cores;
    unsigned core_count;
    unsigned jobs, shares;       /* threads, and shares: at least 1 */
    int physical;                /* by column phys, in one memory */
    int numbered;                /* references have numbers */
    struct cf_hierarchy **model; /* of each share; that of the first gets the counts of all */
    unsigned lanes;              /* of the program, besides those of the shares */
    void *arg;                   /* of the functions, any of which may be NULL */
    /* In a thread, before the references of a chunk go through the model of a share. -1: no memory.
     */
    int (*share)(void *arg, struct cf_chunk *c, unsigned share);
    /* In a thread: a lane of the program. -1: no memory. */
    int (*lane)(void *arg, struct cf_chunk *c, unsigned lane);
    /* All lanes are done. */
    void (*done)(void *arg, struct cf_chunk *c);
    /* Where a stream is written: a header, and a frame of accesses with the depths that served its
       rows, which begin at row `first` of the chunk. -1 where the writer failed. */
    int (*header)(void *arg, struct cf_frame *f);
    int (*frame)(void *arg, struct cf_chunk *c, struct cf_frame *f, uint32_t first, uint8_t *hit);
};

/* Shares that threads can take, at most `jobs`; 1 where the model has none, which is said. */
unsigned cf_shares_of(const struct cf_tool *t, const struct cf_machine *m,
                      const struct cf_hierarchy *h, unsigned jobs);

/* Reads the whole stream. */
void cf_shares_run(struct cf_shares *s);

#endif
