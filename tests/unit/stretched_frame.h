/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stretched_frame.h - frames of accesses in stretches (cf_stretched.h) made in memory, and the rows
 * that they stand for, for tests. Each array takes as many bytes as it must and no more, so that a
 * sanitizer sees where a reader goes further.
 *
 *     frame_begin(kinds)
 *     frame_stretch(row, rows, slots, time)     its number
 *     frame_come(number, slots)
 *     frame_end(&s, ops, sizes)                 good until frame_free(&s)
 *     frame_rows(&s)                            into the arrays below
 */
#ifndef STRETCHED_FRAME_H
#define STRETCHED_FRAME_H

#include <stdlib.h>
#include <string.h>

#include "formats/stream/cf_stretched.h"

enum {
    FRAME_ROWS = 1 << 17,
    FRAME_STRETCHES = 65535,
    FRAME_ALL = 65535,
    FRAME_GROUPS = FRAME_ALL / CF_STRETCHED_GROUP + FRAME_STRETCHES,
    FRAME_SLOTS = 1 << 20,
};

struct frame_row {
    uint64_t delta;
    uint16_t kind, place; /* CF_STRETCH_NO_SLOT: none */
};

static struct cf_stretched made;
static struct cf_stretch made_stretch[FRAME_STRETCHES];
static uint16_t made_kind[CF_STRETCHED_GROUP * FRAME_GROUPS],
    made_place[CF_STRETCHED_GROUP * FRAME_GROUPS], made_token[FRAME_ROWS];
static uint64_t made_delta[FRAME_ALL];
static uint8_t made_slot[FRAME_SLOTS];
static uint32_t made_all; /* rows of all stretches */

/* What the rows of a frame are. */
static uint64_t row_addr[FRAME_ROWS];
static uint8_t row_op[FRAME_ROWS];
static uint32_t row_size[FRAME_ROWS];

static inline void frame_begin(uint32_t kinds)
{
    made = (struct cf_stretched){.kinds = kinds};
    made_all = 0;
}

static inline int frame_stretch(const struct frame_row *row, uint16_t rows, uint16_t slots,
                                int64_t time)
{
    const size_t from = CF_STRETCHED_GROUP * (size_t)made.groups;
    const uint32_t groups =
        rows ? (rows + CF_STRETCHED_GROUP - 1u) / CF_STRETCHED_GROUP : 1; /* whole ones */

    if (made.stretches == FRAME_STRETCHES || made_all + rows > FRAME_ALL)
        return -1;
    for (size_t k = 0; k < CF_STRETCHED_GROUP * (size_t)groups; k++) {
        made_kind[from + k] = k < rows ? row[k].kind : 0;
        made_place[from + k] = k < rows ? row[k].place : CF_STRETCH_NO_SLOT;
    }
    for (size_t k = 0; k < rows; k++)
        made_delta[made_all++] = row[k].delta;
    made_stretch[made.stretches] = (struct cf_stretch){made.groups, rows, slots, time};
    made.groups += groups;
    return (int)made.stretches++;
}

/* Whether there was room. */
static inline int frame_come(int number, const uint64_t *slot)
{
    const struct cf_stretch *s = &made_stretch[number];

    if (made.rows + s->rows > FRAME_ROWS || made.tokens == FRAME_ROWS ||
        made.slot_bytes + CF_STRETCH_SLOT * (size_t)s->slots > FRAME_SLOTS)
        return 0;
    made_token[made.tokens++] = (uint16_t)number;
    made.rows += s->rows;
    for (unsigned i = 0; i < s->slots; i++, made.slot_bytes += CF_STRETCH_SLOT)
        for (unsigned k = 0; k < CF_STRETCH_SLOT; k++)
            made_slot[made.slot_bytes + k] = (uint8_t)(slot[i] >> 8 * k);
    return 1;
}

static inline void *frame_copy(const void *bytes, size_t count)
{
    void *p = malloc(count ? count : 1);

    if (!p)
        abort();
    return count ? memcpy(p, bytes, count) : p;
}

/* `ops` and `sizes` are of all kinds, or NULL. */
static inline void frame_end(struct cf_stretched *s, const uint8_t *ops, const uint32_t *sizes)
{
    *s = made;
    s->stretch = frame_copy(made_stretch, s->stretches * sizeof *made_stretch);
    s->kind = frame_copy(made_kind, CF_STRETCHED_GROUP * (size_t)s->groups * sizeof *made_kind);
    s->place = frame_copy(made_place, CF_STRETCHED_GROUP * (size_t)s->groups * sizeof *made_place);
    s->delta = frame_copy(made_delta, made_all * sizeof *made_delta);
    s->token = frame_copy(made_token, s->tokens * sizeof *made_token);
    s->slot = frame_copy(made_slot, s->slot_bytes);
    s->op = ops ? frame_copy(ops, s->kinds * sizeof *ops) : NULL;
    s->size = sizes ? frame_copy(sizes, s->kinds * sizeof *sizes) : NULL;
}

static inline void frame_free(struct cf_stretched *s)
{
    free((void *)(uintptr_t)s->stretch);
    free((void *)(uintptr_t)s->kind);
    free((void *)(uintptr_t)s->place);
    free((void *)(uintptr_t)s->delta);
    free((void *)(uintptr_t)s->token);
    free((void *)(uintptr_t)s->slot);
    free((void *)(uintptr_t)s->op);
    free((void *)(uintptr_t)s->size);
}

static inline uint64_t frame_number(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned k = bytes; k-- > 0;)
        v = v << 8 | p[k];
    return v;
}

/* The rows of a frame, each by itself: how many. */
static inline uint32_t frame_rows(const struct cf_stretched *s)
{
    static const uint8_t *deltas[FRAME_STRETCHES];
    const uint8_t *slot = s->slot, *next_delta = s->delta;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->stretches; next_delta += 8 * (size_t)s->stretch[i++].rows)
        deltas[i] = next_delta;
    for (size_t i = 0; i < s->tokens; i++) {
        const unsigned number = (unsigned)frame_number(s->token + 2 * i, 2);
        const struct cf_stretch *of = &s->stretch[number];
        const uint8_t *delta = deltas[number];

        for (size_t k = 0; k < of->rows; k++, n++) {
            const size_t at = CF_STRETCHED_GROUP * (size_t)of->group + k;
            uint64_t addr = frame_number(delta + 8 * k, 8);

            if (s->place[at] != CF_STRETCH_NO_SLOT)
                addr += frame_number(slot + CF_STRETCH_SLOT * (size_t)s->place[at], 6);
            row_addr[n] = addr & CF_STRETCH_ADDRESS;
            row_op[n] = s->op ? s->op[s->kind[at]] : CF_LOAD;
            row_size[n] = s->size ? s->size[s->kind[at]] : 1;
        }
        slot += CF_STRETCH_SLOT * (size_t)of->slots;
    }
    return n;
}

#endif
