/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_rows.h - private to the decoder: from descriptions of code to templates, from records to
 * rows.
 */
#ifndef CF_RECORD_DECODE_ROWS_H
#define CF_RECORD_DECODE_ROWS_H

#include "cf_repeat.h"
#include "decode_calls.h"
#include "decode.h"
#include "formats/base/cf_strings.h"
#include "formats/writer/cf_stretches.h"
#include "protocol.h"

enum {
    CF_ROWS_MOST = CF_WIRE_MAX_INSNS + CF_WIRE_MAX_ACCESSES, /* rows of one superblock */
    CF_ROWS_GROUP = 4,
};

/* A superblock or translation block as described. */
struct cf_rows_block {
    uint32_t users; /* processes */
    int left_out;   /* it makes no rows, and its instructions do not count */
    uint32_t first;
    uint16_t insns, accesses, slots, exits, sections;
    uint16_t repeat;        /* a string instruction that repeats itself: its index + 1, or 0; */
    uint16_t repeat_access; /* the first access of it */
    struct cf_wire_insn *insn;
    struct cf_wire_access *access;
    struct cf_wire_exit *exit;
    struct cf_wire_section *section;
    struct cf_wire_end end; /* of kind 0: none */
    /* Of a translation block: what the last load and the last store of each instruction were
     * (decode_listed.c); the last run from each, as the index after it << 32 | hint; and those that
     * begin or reach into another fetch line than the one before. */
    uint64_t *known, *run;
    uint16_t *crossing;
    uint32_t crossings;
};

static inline uint64_t cf_rows_pc(const struct cf_rows_block *b, uint32_t insn)
{
    return (uint64_t)((int64_t)(b->insn[insn].pc_length << 8) >> 8);
}

static inline uint32_t cf_rows_length(const struct cf_rows_block *b, uint32_t insn)
{
    return b->insn[insn].pc_length >> 56 & CF_WIRE_LENGTH_MASK;
}

/* What an outcome stands for: CF_ROWS_UNSEEN | index of the superblock, or where in the arena its
 * template is, in units of 64 bytes. */
#define CF_ROWS_UNSEEN UINT32_C(0x80000000)

/* The code of one process. */
struct cf_rows_code {
    struct cf_rows_block **blocks;
    uint32_t n_blocks;
    int listed;    /* they are translation blocks */
    uint32_t *map; /* by outcome */
    uint32_t outcomes;
    size_t blocks_room, map_room;
    uint8_t *arena; /* of templates */
    size_t arena_bytes, arena_room;
    size_t chain_bytes; /* of it for sequences */
    /* The string instruction that is being executed; pc 0: none. */
    struct {
        uint64_t pc, time;
        struct cf_repeat joined;
    } repeat;
};

/* Places for accesses, all of the same length: time, address (of a run that of its first
 * instruction), and the number of what accesses of one origin have in common. */
struct cf_rows_columns {
    uint64_t *time;
    uint64_t *addr;
    uint32_t *hint;
};

struct cf_rows_output {
    struct cf_rows_columns columns;
    uint32_t rows, room;
    uint32_t *stack; /* places for the context, or NULL; so many of them are filled in */
    uint32_t stacked;
};

/* Whose rows they are. */
struct cf_rows_thread {
    struct cf_calls *calls;
    struct cf_calls_thread *thread; /* NULL: calls are not followed */
    uint32_t image;
};

/* What all processes share. */
struct cf_rows {
    int instructions, calls;
    uint32_t fetch_line;
    struct cf_writer *writer;
    struct cf_strings *origins; /* numbered by hints */

    /* Rows of one superblock, for whatever does not go straight to its place. */
    struct cf_rows_columns staging;
    struct cf_rows_row *work;
    struct cf_stretch_row *stretch;
    uint32_t context; /* of the rows in staging */
};

enum cf_rows_result {
    CF_ROWS_DONE,   /* all bytes used */
    CF_ROWS_EVENT,  /* an event is next */
    CF_ROWS_STAGED, /* `staged` rows of a record are in staging, with their time */
    CF_ROWS_BAD,    /* it is invalid */
    CF_ROWS_MEMORY,
    CF_ROWS_FULL, /* the frame of stretches takes no more */
};

/* The writer gets the kinds of new origins. 0, or -1 without memory. */
int cf_rows_init(struct cf_rows *r, const struct cf_decode_options *options,
                 struct cf_writer *writer);
void cf_rows_free(struct cf_rows *r);

/* Code of a new process (zeroed before), or of a child that knows its parent's outcomes below
 * `outcomes`. 0, or -1 without memory; to be freed in any case. */
int cf_rows_code_init(struct cf_rows_code *c);
int cf_rows_code_inherit(struct cf_rows_code *c, const struct cf_rows_code *parent,
                         uint32_t outcomes);
void cf_rows_code_free(struct cf_rows_code *c);

/* Checks and takes in a description of `bytes` bytes. 0, -1: invalid, -2: no memory. */
int cf_rows_describe(const struct cf_rows *r, struct cf_rows_code *c, const uint8_t *event,
                     uint32_t bytes);

/* Expands records from *from up to `end`, which must have CF_ROWS_TAIL more readable bytes behind
 * it. Stops before an event, or after a record whose rows did not fit or need care: then *staged
 * tells how many there are. *time advances by the instructions executed. Calls and returns of
 * `thread` are followed. */
enum { CF_ROWS_TAIL = 8 };
enum cf_rows_result cf_rows_expand(struct cf_rows *r, struct cf_rows_code *code,
                                   const struct cf_rows_thread *thread, const uint8_t **from,
                                   const uint8_t *end, struct cf_rows_output *out, uint64_t *time,
                                   uint32_t *staged);

/* The same into stretches: stops before a record, too, for which their frame is full. */
enum cf_rows_result cf_rows_gather(struct cf_rows *r, struct cf_rows_code *code,
                                   const struct cf_rows_thread *thread, const uint8_t **from,
                                   const uint8_t *end, struct cf_stretches *s, uint64_t *time,
                                   uint32_t *staged);

/* The rows so far without a context get this one. */
void cf_rows_stack(struct cf_rows_output *out, uint32_t context);

/* The string instruction that is being executed goes on no more, as far as this process's rows are
 * concerned: *staged tells how many rows of it are in staging. CF_ROWS_STAGED or CF_ROWS_MEMORY. */
enum cf_rows_result cf_rows_repeat_end(struct cf_rows *r, struct cf_rows_code *code,
                                       uint32_t *staged);

#endif
