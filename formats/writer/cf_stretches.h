/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_stretches.h - accesses for a pipe as stretches: rows that come together again and again, those
 * of a piece of code that is executed. In the stream each is a number, and the addresses that are
 * not known beforehand (cf-stream(5), "Stretches"): a third of the bytes that rows take, and no
 * work a row.
 *
 *     s = cf_writer_stretches(writer, constants, count);
 *     cf_stretches_add()     what it has not numbered in frame s->frame
 *     cf_stretches_come()    ... comes; its slots are at s->slot + s->slot_bytes already
 *     cf_writer_stretched(writer)
 *
 * Functions that return below 0 say that the frame takes no more: it must go out by
 * cf_writer_stretched(), which fails where that was not the reason.
 */
#ifndef CF_STRETCHES_H
#define CF_STRETCHES_H

#include "formats/codec/cf_codec.h"

enum {
    CF_STRETCHES_FRAME = (1 << 17) - 1, /* rows of a frame: fewer than a file takes as they are; */
    CF_STRETCHES_TOKENS = 1 << 18,      /* stretches that come, */
    CF_STRETCHES_SLOTS = 1 << 20,       /* and bytes of their slots; */
    CF_STRETCHES_LONGEST = 1 << 14,     /* bytes of those of one, and what may be copied too much */
};

struct cf_stretch_row {
    uint64_t delta; /* to be added to the slot's value, or the address */
    uint32_t hint;
    uint16_t step; /* time after the stretch begins */
    uint16_t slot; /* its number, or CF_STRETCH_NO_SLOT */
};

struct cf_stretches {
    uint64_t frame; /* counts from 1: another frame's numbers are void */
    uint32_t rows, tokens, slot_bytes;
    uint64_t base, clock; /* when the first and the next stretch begin */
    uint64_t first, last; /* times of the first and the last row */
    uint64_t low, high; /* addresses that cf_stretches_reach() watches; the caller's to set, before
                             anything is numbered */
    uint16_t *token;
    uint8_t *slot;
};

/* What goes to a pipe whose rows have these columns beside time and address, constant or
 * CF_BY_KIND. What came before with others goes out. NULL where rows must be written one by one, or
 * after a failure. Accesses that are written otherwise make it void until the next call. */
struct cf_stretches *cf_writer_stretches(struct cf_writer *w, const struct cf_values *constants,
                                         unsigned count);
/* What came goes out as a frame. */
int cf_writer_stretched(struct cf_writer *w);

/* Whether what was numbered is so in another frame: `number` is with frame << 16. */
static inline int cf_stretches_void(const struct cf_stretches *s, uint64_t number)
{
    return number >> 16 != s->frame;
}

/* Numbers a stretch of `rows` rows that takes this time; `slots` are how many it has. */
int cf_stretches_add(struct cf_stretches *s, const struct cf_stretch_row *row, uint32_t rows,
                     uint32_t slots, int32_t time);

static inline int cf_stretches_full(const struct cf_stretches *s, uint32_t rows)
{
    return s->rows + rows > CF_STRETCHES_FRAME || s->tokens + 2 > CF_STRETCHES_TOKENS ||
           s->slot_bytes + 2 * CF_STRETCHES_LONGEST > CF_STRETCHES_SLOTS;
}

/* The next stretch begins at this time. */
int cf_stretches_wait(struct cf_stretches *s, uint64_t until);

/* A stretch of `rows` rows, at least one, comes, when the frame is not full. */
static inline void cf_stretches_come(struct cf_stretches *s, uint64_t number, uint32_t rows,
                                     uint32_t slot_bytes, uint32_t first_step, uint32_t last_step,
                                     uint64_t time)
{
    if (__builtin_expect(!s->rows, 0))
        s->first = s->clock + first_step;
    s->last = s->clock + last_step;
    s->token[s->tokens++] = (uint16_t)number;
    s->slot_bytes += slot_bytes;
    s->rows += rows;
    s->clock += time;
}

/* A row by itself. */
int cf_stretches_row(struct cf_stretches *s, uint64_t time, uint64_t addr, uint32_t hint);

/* Whether a row since `mark`, an earlier state of the same frame, may have an address from s->low
 * on and below s->high. */
int cf_stretches_reach(const struct cf_stretches *s, const struct cf_stretches *mark);

/* Takes the rows since `mark` back: into *time, *addr and *hint what they are, until the next call;
 * how many. 0 without memory too. */
uint32_t cf_stretches_back(struct cf_stretches *s, const struct cf_stretches *mark,
                           const uint64_t **time, const uint64_t **addr, const uint32_t **hint);

#endif
