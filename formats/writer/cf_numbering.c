/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_numbering.c - for a pipe, rows whose origin is known (cf_writer_kind()) as numbers of their
 * kinds (cf-stream(5), codec rowcodes): two bytes a row in place of pc, op, size and insns, which a
 * reader looks up only if it wants them.
 *
 * Memory: 4 bytes a hint, 12 a kind of the frame at hand.
 */
#include <stdlib.h>

#include "formats/base/cf_memory.h"
#include "formats/codec/cf_pack.h"

enum { FRAMES = 1 << 16 };

struct cf_numbering {
    uint32_t *number; /* by hint: the frame in which it got its code << 16 | the code */
    size_t room;
    uint32_t frame; /* below FRAMES */
    uint32_t kinds;
    uint32_t hint[CF_MAX_CODES];  /* of each kind, */
    uint64_t value[CF_MAX_CODES]; /* and what it says of the column at hand */
};

struct cf_numbering *cf_numbering_new(void)
{
    return calloc(1, sizeof(struct cf_numbering));
}

void cf_numbering_free(struct cf_numbering *n)
{
    if (n)
        free(n->number);
    free(n);
}

int32_t cf_numbering_rows(struct cf_numbering *n, const struct cf_kinds *k, const uint32_t *hint,
                          size_t rows, uint32_t most, uint16_t *code)
{
    if (cf_array_cleared(&n->number, &n->room, k->end, sizeof *n->number) < 0)
        return -1;
    if (++n->frame == FRAMES) { /* numbers of old frames would come alive again */
        memset(n->number, 0, n->room * sizeof *n->number);
        n->frame = 1;
    }
    uint32_t *const number = n->number;
    const uint32_t first = n->frame << 16;
    n->kinds = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t of = number[hint[i]];
        if ((of ^ first) >> 16) {
            if (n->kinds == most)
                return 0;
            n->hint[n->kinds] = hint[i];
            number[hint[i]] = of = first | n->kinds++;
        }
        code[i] = (uint16_t)of;
    }
    return (int32_t)n->kinds;
}

/* All values or-ed: bytes above its highest need not be written. */
static uint64_t any_bits(const uint8_t *values, unsigned width, uint32_t kinds)
{
    const size_t bytes = (size_t)width * kinds;
    uint64_t any = 0, word = 0;
    size_t at = 0;

    for (; at + 8 <= bytes; at += 8)
        any |= cf_load64(values + at);
    memcpy(&word, values + at, bytes - at);
    any |= word;
    for (unsigned bits = 32; bits >= 8 * width; bits /= 2)
        any |= any >> bits;
    return width == 8 ? any : any & ((UINT64_C(1) << 8 * width) - 1);
}

void cf_encode_of_kind(const void *values, unsigned width, uint32_t kinds, uint8_t *scratch,
                       struct cf_coded *out)
{
    const uint8_t *const v = values;
    uint8_t *at = scratch;

    if (!kinds || memcmp(v, v + width, (size_t)(kinds - 1) * width) == 0) {
        out->codec = CF_CONST;
        out->base = 0;
        memcpy(&out->base, v, kinds ? width : 0);
        out->bytes = 0;
        out->data = NULL;
        return;
    }
    const unsigned planes = 1 + cf_more_bytes(any_bits(v, width, kinds));
    const size_t bytes = (size_t)planes * kinds;
    *at++ = (uint8_t)planes;
    at = cf_put_varint(at, bytes);
    at = cf_put_varint(at, bytes); /* equal lengths: not compressed */
    for (unsigned b = 0; b < planes; b++, at += kinds)
        for (uint32_t c = 0; c < kinds; c++)
            at[c] = v[(size_t)width * c + b];
    out->codec = CF_BYCODE;
    out->base = 0;
    out->bytes = (uint32_t)(at - scratch);
    out->data = scratch;
}

void cf_numbering_column(struct cf_numbering *n, const struct cf_kinds *k, unsigned column,
                         uint8_t *scratch, struct cf_coded *out)
{
    cf_kinds_column(k, column, n->hint, n->kinds, n->value);
    cf_encode_of_kind(n->value, (unsigned)cf_type_width(cf_column_type(column)), n->kinds, scratch,
                      out);
}
