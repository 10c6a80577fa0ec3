/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that stay when the reader goes on: their bytes as they came, for threads that look at many
 * frames at a time, and for writing them later. A second reader, which has no input of its own,
 * hands them out.
 */
#include <stdlib.h>

#include "cf_reader.h"

struct kept_frame {
    size_t at, bytes; /* in the bytes */
    uint64_t offset, number;
    const char *name; /* of the input */
};

struct cf_kept {
    struct cf_bytes bytes;
    struct kept_frame *frame;
    size_t frames, room;
};

struct cf_kept *cf_kept_new(void)
{
    return calloc(1, sizeof(struct cf_kept));
}

void cf_kept_free(struct cf_kept *k)
{
    if (!k)
        return;
    free(k->bytes.data);
    free(k->frame);
    free(k);
}

void cf_kept_clear(struct cf_kept *k)
{
    k->bytes.used = 0;
    k->frames = 0;
}

size_t cf_kept_count(const struct cf_kept *k)
{
    return k->frames;
}

int cf_kept_add(struct cf_kept *k, const struct cf_frame *f)
{
    const struct cf_reader *r = f->reader;
    const size_t head = CF_FRAME_HEAD + r->coded_columns * CF_DESCRIPTOR;
    const uint8_t *p = r->coded[0].data - head;
    struct kept_frame one = {k->bytes.used, cf_get32(p + 4), f->offset, f->number, r->name};
    /* hundreds of megabytes in some programs: to grow by little would touch new pages for each */
    const size_t more = one.bytes > one.at ? one.bytes : one.at;

    if ((k->bytes.room - one.at < one.bytes && cf_bytes_room(&k->bytes, more) != 0) ||
        cf_array_room(&k->frame, &k->room, k->frames + 1, sizeof(*k->frame)) != 0 ||
        cf_bytes_add(&k->bytes, p, one.bytes) != 0)
        return -1;
    k->frame[k->frames++] = one;
    return 0;
}

struct cf_reader *cf_reader_second(const struct cf_reader *r)
{
    struct cf_reader *s = cf_reader_open(NULL, 0);

    if (!s)
        return NULL;
    s->defer = r->defer;
    for (size_t i = 0; i < r->wants; i++)
        cf_reader_want(s, r->want[i].table, r->want[i].column, r->want[i].need);
    if (!s->refused)
        return s;
    cf_reader_close(s);
    return NULL;
}

static void describe(const struct cf_kept *k, size_t i, struct cf_reader *second)
{
    const struct kept_frame *one = k->frame + i;

    second->name = one->name;
    second->number = one->number;
    second->base = one->offset;
    second->pos = 0;
    second->buf = k->bytes.data + one->at;
    cfr_describe(second, one->bytes);
    second->buf = NULL;
}

int cf_kept_frame(const struct cf_kept *k, size_t i, struct cf_reader *second, struct cf_frame **f)
{
    *f = &second->frame;
    describe(k, i, second);
    cf_decoder_frame(second->decoder, second->frame.rows, second->coded, second->frame.columns);
    return cfr_decode(second) == 0;
}

int cf_kept_piece(const struct cf_kept *k, size_t i, uint32_t from, struct cf_reader *second,
                  struct cf_frame **f)
{
    struct cf_frame *const piece = *f = &second->frame;
    const int defer = second->defer;

    describe(k, i, second);
    if (from >= piece->rows)
        return 0;
    if (!from)
        cf_decoder_frame(second->decoder, piece->rows, second->coded, piece->columns);
    second->defer = 0;
    second->pieces = 1;
    if (cfr_in_pieces(piece))
        piece->rows = (uint32_t)cf_decoder_piece(second->decoder, from, CF_PIECE_ROWS);
    second->pieces = 0;
    second->defer = defer;
    return cfr_decode(second) == 0;
}

void cf_reader_add_problems(struct cf_reader *r, const struct cf_reader *second)
{
    if (!second->damages && !second->refused)
        return;
    if ((!r->damages && !r->refused) || (second->refused && !r->refused))
        memcpy(r->problem, second->problem, sizeof(r->problem));
    r->lost |= second->damages != 0;
    r->damages += second->damages;
    r->wanting += second->wanting;
    r->refused |= second->refused;
    r->eof |= second->refused;
}
