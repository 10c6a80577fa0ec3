/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_stretches_out.c - frames of stretches go out to a pipe. See cf_stretches.h.
 */
#include "cf_stretches_parts.h"
#include "cf_writer.h"
#include "formats/codec/cf_pack.h"

/* Where threads take turns after fewer rows, frames of them all are better made of rows. */
enum { FEW_ROWS = 2048 };

static uint8_t *put(uint8_t *at, const void *from, size_t bytes)
{
    memcpy(at, from, bytes);
    return at + bytes;
}

/* What stands before the slots in column addr: there is room for it. */
static const uint8_t *put_deltas(const struct cfw_stretches *b, uint32_t *bytes)
{
    const size_t deltas = 8 * (size_t)b->all;

    *bytes = (uint32_t)(deltas + b->s.slot_bytes);
    return memcpy(b->s.slot - deltas, b->delta, deltas);
}

/* What stands before the tokens in column code: there is room for it, too. */
static const uint8_t *put_stretches(const struct cfw_stretches *b, uint32_t *bytes)
{
    const size_t n = b->stretches, all = b->all, tokens = 2 * (size_t)b->s.tokens;
    uint8_t head[3 * 10], *end = cf_put_varint(head, n), *begin, *at;

    end = cf_put_varint(cf_put_varint(end, all), b->s.tokens);
    begin = at = (uint8_t *)b->s.token - (end - head) - 8 * n - 6 * all;
    at = put(at, head, (size_t)(end - head));
    at = put(at, b->rows, 2 * n);
    at = put(at, b->slots, 2 * n);
    at = put(at, b->time, 4 * n);
    at = put(at, b->kind, 2 * all);
    at = put(at, b->step, 2 * all);
    at = put(at, b->place, 2 * all);
    *bytes = (uint32_t)((size_t)(at - begin) + tokens);
    return begin;
}

static int emit(struct cf_writer *w, struct cfw_stretches *b)
{
    const struct cf_stretches *const s = &b->s;
    struct cf_coded coded[CF_MAX_COLUMNS];
    uint8_t *at;
    unsigned n = 0;

    if (cfw_room(w, &b->scratch, &b->scratch_room, b->constants * (9 * (size_t)b->kinds + 64), 1) !=
        0)
        return -1;
    at = b->scratch;
    coded[n++] = (struct cf_coded){CF_TIME, CF_U64, CF_CLOCK, 0, s->base, NULL};
    coded[n] = (struct cf_coded){CF_ADDR, CF_U64, CF_ADDRESSES, 0, 0, NULL};
    coded[n].data = put_deltas(b, &coded[n].bytes);
    n++;
    for (unsigned i = 0; i < b->constants; i++) {
        const struct cf_values *const v = &b->constant[i];
        const enum cf_type type = cf_column_type(v->column);
        struct cf_coded *const c = &coded[n++];

        *c = (struct cf_coded){.codec = CF_CONST, .base = v->constant};
        if (v->values == CF_BY_KIND) {
            cf_kinds_column(w->kinds, v->column, b->hint, b->kinds, b->value);
            cf_encode_of_kind(b->value, (unsigned)cf_type_width(type), b->kinds, at, c);
            at += c->bytes;
        }
        c->id = (uint16_t)v->column;
        c->type = (uint8_t)type;
    }
    coded[n] = (struct cf_coded){CF_CODE, CF_BLOB, CF_STRETCHES, 0, b->kinds, NULL};
    coded[n].data = put_stretches(b, &coded[n].bytes);
    return cfw_write_frame(w, CF_ACCESS, s->rows, s->first, s->last, coded, n + 1);
}

int cf_writer_stretched(struct cf_writer *w)
{
    struct cfw_stretches *const b = w->stretches;
    int r = 0;

    if (!b)
        return 0;
    if (b->no_memory)
        cfw_fail(w, "out of memory");
    if (w->failed)
        return -1;
    if (b->s.rows)
        r = cfw_flush_below(w, CF_ACCESS) != 0 || emit(w, b) != 0 ? -1 : 0;
    cfw_begin_stretches(b);
    return r;
}

/* Accesses of the segment so far. */
static uint64_t rows_so_far(const struct cf_writer *w, const struct cfw_stretches *b)
{
    uint64_t rows = w->total[CF_ACCESS] + b->s.rows;

    for (unsigned i = 0; i < w->batches; i++)
        if (w->batch[i] && w->batch[i]->table == CF_ACCESS)
            rows += w->batch[i]->rows;
    return rows;
}

struct cf_stretches *cf_writer_stretches(struct cf_writer *w, const struct cf_values *constants,
                                         unsigned count)
{
    struct cfw_stretches *b;
    int same;

    if (w->packed || w->framed || count + 3 > CF_MAX_COLUMNS || cfw_ready_to_write(w) != 0)
        return NULL;
    if (!w->stretches && !(w->stretches = cfw_new_stretches())) {
        cfw_fail(w, "out of memory");
        return NULL;
    }
    b = w->stretches;
    same = b->constants == count;
    for (unsigned i = 0; same && i < count; i++)
        same = b->constant[i].column == constants[i].column &&
               b->constant[i].values == constants[i].values &&
               b->constant[i].constant == constants[i].constant;
    if (!same) {
        b->short_turn = b->constants && rows_so_far(w, b) - b->turn_from < FEW_ROWS;
        if (cf_writer_stretched(w) != 0)
            return NULL;
        b->turn_from = rows_so_far(w, b);
        memcpy(b->constant, constants, count * sizeof *constants);
        b->constants = count;
    }
    /* after a short turn the next one has to become long first */
    if (b->short_turn && rows_so_far(w, b) - b->turn_from < FEW_ROWS)
        return NULL;
    b->short_turn = 0;
    for (unsigned i = 0; i < w->batches; i++)
        if (w->batch[i] && w->batch[i]->table == CF_ACCESS && w->batch[i]->rows &&
            cfw_flush_for(w, CF_ACCESS) != 0)
            return NULL;
    return &b->s;
}
