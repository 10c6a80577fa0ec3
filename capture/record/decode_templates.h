/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_templates.h - private to the decoder: templates, which decode_templates.c makes of the
 * descriptions of superblocks and decode_rows.c expands.
 */
#ifndef CF_RECORD_DECODE_TEMPLATES_H
#define CF_RECORD_DECODE_TEMPLATES_H

#include "decode_rows.h"

struct cf_rows_group {
    uint64_t delta[4]; /* to be added to the slot's value, or the address */
    uint64_t mask[4];  /* of the slot's value; 0 without a slot */
    uint32_t hint[4];
    uint16_t step[4]; /* instructions since the beginning of the superblock */
    uint16_t slot[4]; /* its place in the record, bytes */
    uint8_t conditional[4];
    uint16_t place[4]; /* the slot's number among those of the record or records */
    uint8_t pad[4];
};

enum {
    CF_ROWS_CONDITIONAL = 1,  /* flags of a template: some accesses may not have happened, */
    CF_ROWS_CUT = 2,          /* a fault cut the superblock short */
    CF_ROWS_REPEAT = 4,       /* it has the rows up to a string instruction that repeats itself */
    CF_ROWS_END = 8,          /* its end is a call or return, which is followed; of a sequence, the
                                 last one's */
    CF_ROWS_CHAIN_AFTER = 64, /* wrong turns before a link is made; */
    CF_ROWS_CHAIN_ROWS = 16,  /* rows of a sequence, at most */
};

#define CF_ROWS_NO_WORD UINT32_C(0xffffffff)

struct cf_rows_template {
    uint32_t rows;
    uint32_t insns;  /* executed */
    uint32_t bytes;  /* of the record or records */
    uint16_t padded; /* rows that are written: whole groups */
    uint16_t flags;
    uint32_t next_word; /* header of the record that often comes next, or CF_ROWS_NO_WORD; */
    uint32_t next;      /* the template with it appended, units of 64 bytes */
    uint32_t block;     /* its superblock; of a sequence that of the last record */
    uint16_t records;
    uint16_t turns;                 /* how often another one came */
    uint64_t stretch;               /* its number in a frame, with that << 16 (cf_stretches.h) */
    uint16_t first_step, last_step; /* of its first and last row */
    struct cf_rows_group group[];
};

static inline uint32_t cf_rows_slots(const struct cf_rows_template *t)
{
    return (t->bytes - 4u * t->records) / CF_WIRE_SLOT_BYTES;
}

struct cf_rows_row {
    uint64_t pc, delta;
    uint32_t size, insns, hint;
    uint16_t step, slot; /* slot as in struct cf_rows_group, 0 for none */
    uint8_t op;
};

static inline struct cf_rows_template *cf_rows_at(const struct cf_rows_code *c, uint32_t where)
{
    void *place = c->arena + 64 * (size_t)where;

    return place;
}

/* Puts the rows of instructions [0, insns) and accesses [0, accesses) into r->work; returns their
 * number and the instructions executed. */
uint32_t cf_rows_make(struct cf_rows *r, const struct cf_rows_block *b, uint32_t insns,
                      uint32_t accesses, uint32_t skipped, uint32_t *executed);

/* Gives a row its hint; the writer gets the kind of a new one. 0, or not without memory. */
int cf_rows_hint(struct cf_rows *r, struct cf_rows_row *row);

/* Makes the template of an outcome that was not seen before; the arena may move. 0, or -1. */
int cf_rows_template(struct cf_rows *r, struct cf_rows_code *c, uint32_t outcome);

/* The record with header `word`, which was not yet checked, came after the sequence at `first`:
 * links it if there is no link; the arena may move. Without memory there will be none. */
void cf_rows_chain(struct cf_rows_code *c, uint32_t first, uint32_t word);

/* Rows of a record to staging, without those of accesses that did not happen; how many. */
uint32_t cf_rows_stage(struct cf_rows *r, const struct cf_rows_template *t, const uint8_t *record,
                       uint64_t time);

/* ---- decode_repeat.c ---- */

/* Whether the record at p, which must be whole, is of the string instruction that is being
 * executed. Its template is made if need be. 1, 0, or -1 without memory. */
int cf_rows_continues(struct cf_rows *r, struct cf_rows_code *code, const uint8_t *p,
                      const uint8_t *end);

/* Stages a record whose template has CF_ROWS_REPEAT, and those after it that continue it; *from is
 * the first of them. CF_ROWS_STAGED, CF_ROWS_MEMORY, or CF_ROWS_BAD where it has changed since. */
enum cf_rows_result cf_rows_repeat(struct cf_rows *r, struct cf_rows_code *code,
                                   const uint8_t **from, const uint8_t *end, uint64_t *time,
                                   uint32_t *staged);

/* The translation block's instructions that begin or reach into another line. */
void cf_rows_find_crossings(struct cf_rows_block *b, uint64_t line);

/* An access of the string instruction that is being executed, to staging behind *staged, with those
 * that it completes; `joined`: one whose accesses a processor joins. 0, or -1 without memory. */
int cf_rows_repeat_access(struct cf_rows *r, struct cf_rows_code *code, int joined, uint8_t op,
                          uint64_t addr, uint32_t bytes, uint32_t *staged);

/* Accesses of a superblock's string instruction, up to that with index `to`, to staging behind
 * *staged. 0, or -1 without memory. */
int cf_rows_repeat_accesses(struct cf_rows *r, struct cf_rows_code *code,
                            const struct cf_rows_block *b, uint32_t to, const uint8_t *record,
                            uint32_t *staged);

#endif
