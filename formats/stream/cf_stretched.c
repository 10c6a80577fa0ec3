/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of accesses in stretches for programs that take them as they are: handed out whole, and
 * with what they say of each kind.
 */
#include <errno.h>

#include "cf_reader.h"
#include "cf_stretched.h"

void cf_reader_stretches(struct cf_reader *r)
{
    r->stretches = 1;
}

int cfr_whole_stretches(const struct cf_frame *f)
{
    const int code = f->reader->stretches ? cfr_column_at(f, CF_CODE) : -1;

    return code >= 0 && f->column[code].codec == CF_STRETCHES && f->table == CF_ACCESS;
}

/* What a column says of each kind, NULL where the frame lacks it: 1, or 0 where it stands once a
   row, or cannot be given. */
static int of_kinds(const struct cf_frame *f, unsigned column, uint32_t kinds, const void **values)
{
    const int i = cfr_column_at(f, column);
    const unsigned width = (unsigned)cf_type_width(cf_column_type(column));
    struct cf_bytes *made;
    uint64_t value;

    *values = cf_values_of_codes(f, column);
    if (i < 0 || *values)
        return 1;
    if (!cf_frame_constant(f, column, &value))
        return 0;
    made = &f->reader->made[i];
    if (cf_bytes_room(made, (size_t)kinds * width) != 0) {
        cfr_refuse(f->reader, ENOMEM);
        return 0;
    }
    cf_fill(made->data, width, kinds, value);
    *values = made->data;
    return 1;
}

int cf_frame_stretched(const struct cf_frame *f, struct cf_stretched *s)
{
    const int result = f->table == CF_ACCESS ? cf_decoder_stretched(f->reader->decoder, s) : 0;
    const void *op, *size;

    if (result < 0)
        cfr_not_decoded(f->reader, CF_ADDR);
    if (result <= 0)
        return result;
    if (!of_kinds(f, CF_OP, s->kinds, &op) || !of_kinds(f, CF_SIZE, s->kinds, &size))
        return 0;
    s->op = op;
    s->size = size;
    return 1;
}
