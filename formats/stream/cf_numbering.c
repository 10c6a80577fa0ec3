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

void cf_encode_of_kind(const uint64_t *values, uint32_t kinds, uint8_t *scratch,
                       struct cf_coded *out)
{
    uint64_t all = 0, differ = 0;
    for (uint32_t c = 0; c < kinds; c++) {
        all |= values[c];
        differ |= values[c] ^ values[0];
    }
    if (!differ) {
        out->codec = CF_CONST;
        out->base = kinds ? values[0] : 0;
        out->bytes = 0;
        out->data = NULL;
        return;
    }
    const unsigned planes = 1 + cf_more_bytes(all);
    const size_t bytes = (size_t)planes * kinds;
    uint8_t *at = scratch;
    *at++ = (uint8_t)planes;
    at = cf_put_varint(at, bytes);
    at = cf_put_varint(at, bytes); /* equal lengths: not compressed */
    for (unsigned b = 0; b < planes; b++)
        for (uint32_t c = 0; c < kinds; c++)
            *at++ = (uint8_t)(values[c] >> 8 * b);
    out->codec = CF_BYCODE;
    out->base = 0;
    out->bytes = (uint32_t)(at - scratch);
    out->data = scratch;
}

void cf_numbering_column(struct cf_numbering *n, const struct cf_kinds *k, unsigned column,
                         uint8_t *scratch, struct cf_coded *out)
{
    for (uint32_t c = 0; c < n->kinds; c++)
        n->value[c] = cf_kind_value(cf_kind_of(k, n->hint[c]), column);
    cf_encode_of_kind(n->value, n->kinds, scratch, out);
}
