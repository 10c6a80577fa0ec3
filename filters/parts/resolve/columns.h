/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * columns.h - the columns that cf-resolve adds: filled in for frames of accesses, lines of
 * snapshots and heap objects.
 */
#ifndef CF_RESOLVE_COLUMNS_H
#define CF_RESOLVE_COLUMNS_H

#include "filters/parts/resolve/timeline.h"
#include "formats/program/cf_tool.h"

enum added { REGION, PAGE, OBJECT, SITE, SYMBOL, FUNCTION, SOURCE, INLINED, ADDED };

enum {
    CHUNK = 256,      /* accesses resolved at once */
    SNAPSHOTS = 1024, /* whose lines may still come */
};

struct options {
    const char *output;
    int recording; /* the input cannot be made again */
    unsigned add;  /* bits of enum added, 0 = what the input makes possible */
    uint64_t page_size;
    int physical;    /* look at column phys, */
    uint64_t offset; /* and add this, which gives the address in its mapping */
    struct where where;
    struct place_options places;
};

/* Where the pcs of the frame at hand stand, and the columns that depend on them (code.c). */
struct code {
    struct cf_row_kinds rows; /* without kinds: */
    const uint64_t *pc;       /* one a row; NULL: none */
    int by_row;               /* the columns stand in state.column; else: */
    uint64_t seen;            /* space.code of all rows so far, 0 before the first */
    uint64_t of_kind[ADDED - FUNCTION][CF_MAX_CODES];
    uint64_t has[CF_MAX_CODES]; /* of each code: which columns its rows have */
};

struct state {
    struct cf_tool *tool;
    const struct options *o;
    struct cf_reader *in;
    struct cf_writer *out;
    struct timeline t;
    unsigned page_shift;
    int crowded; /* a frame had no place for a column */
    int nodes;   /* accesses of the segment have column stack */
    uint32_t *column[ADDED];
    struct code code;
    uint64_t *place;             /* with --physical, of the rows of a frame: addresses, */
    uint32_t *owner;             /* and whose they are */
    const uint64_t *places;      /* of the frame at hand: `place` or a column, NULL: none */
    uint64_t rows, found[ADDED]; /* accesses, and those with a value in each column */
    uint64_t line_rows, line_found[ADDED]; /* lines of snapshots */
    uint64_t *count;                       /* of the frame at hand: found or line_found */
    struct {
        uint32_t number;
        uint64_t time;
    } snapshot[SNAPSHOTS]; /* the last ones */
    uint64_t snapshots;
    uint64_t refused; /* files whose names lack since they could not be read, */
    uint64_t changed; /* since they are another build than was recorded, */
    uint64_t missing; /* and since they are not there, the first of them: */
    char *gone;
    uint64_t parts; /* of split debug information that are not there, the first of them: */
    char *part;
    int named;        /* an earlier cf-resolve has given names, which are made anew */
    uint64_t reached; /* time of the last access of the frames before */
};

/* By enum added; a 0 at the end. */
extern const unsigned columns_added[ADDED + 1];

/* Fills in the columns of a frame that is about to go out, or takes in what the frame says of those
   to come. Without memory s->t.r.failed. */
void columns_take(struct state *s, struct cf_frame *f);

/* ---- files.c ---- */

/* Says which files names could not be taken from, the first at once, and at the end the rest. */
void files_tell(struct state *s, struct where *where);
void files_rest(struct state *s);

/* ---- code.c ---- */

/* Looks for the pcs of a frame, before anything else is done with it. */
void code_begin(struct state *s, const struct cf_frame *f);
/* A number by which rows of a frame that one instruction made may be known, for lookups that it
   only makes faster. */
uint64_t code_key(const struct state *s, uint32_t row);
/* Fills in the columns for the rows [from, end), of one process between two events; or says that
   nothing is known of their code. Of the columns those in `add`; rows come in their order. */
void code_run(struct state *s, unsigned add, struct space *space, uint32_t from, uint32_t end);
void code_none(struct state *s, unsigned add, uint32_t from, uint32_t end);
/* Sets the k-th of the added columns in the frame; -1 when it has no place left. */
int code_set(struct state *s, struct cf_frame *f, unsigned column, int k);
/* Counts the rows of a whole frame with a value in those columns of `add` that depend on the pc. */
void code_count(struct state *s, unsigned add, uint32_t rows);

#endif
