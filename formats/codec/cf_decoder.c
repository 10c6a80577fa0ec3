/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_decoder.c - the columns of a frame, each decoded by its codec when it is asked for.
 *
 * Nothing that is read is trusted: a column's length is held against the rows of the frame, and
 * that of all blobs against a bound, before memory is taken.
 */
#include <stdlib.h>

#include "cf_unpack.h"

enum {
    CONSTANTS = 8, /* constant columns that are kept from frame to frame */
};

/* A constant column, which stays in memory for later frames; width 0: none. */
struct constant {
    unsigned width;
    uint64_t value;
    size_t rows;
    uint64_t used; /* number of the frame that used it last */
    struct cf_bytes memory;
};

struct cf_decoder {
    size_t rows;     /* in the frame */
    size_t at, here; /* the piece at hand: its first row, and how many rows */
    unsigned count;
    struct cf_bytes near; /* of packed lines */
    size_t literals;
    bool has_near;
    struct cf_coded column[CF_MAX_COLUMNS + 1];
    const void *values[CF_MAX_COLUMNS + 1]; /* of the piece, where they were asked for */
    const void *whole[CF_MAX_COLUMNS + 1];  /* of the frame, where a column is not packed */
    struct cf_packed packed[CF_MAX_COLUMNS + 1];
    bool begun[CF_MAX_COLUMNS + 1]; /* a packed column, or planes: it was taken in */
    struct cf_bytes memory[CF_MAX_COLUMNS + 1];
    struct cf_bytes planes[CF_MAX_COLUMNS + 1]; /* of columns that are handed out in pieces */
    struct constant constant[CONSTANTS];
    uint64_t frame; /* number of the frame at hand */
    struct unpacker unpacker;
    bool has_codes;
    bool codes_wait; /* of stretches: those of the rows are not written yet */
    const char *problem;
};

struct cf_decoder *cf_decoder_new(void)
{
    return calloc(1, sizeof(struct cf_decoder));
}

void cf_decoder_free(struct cf_decoder *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i <= CF_MAX_COLUMNS; i++) {
        free(d->memory[i].data);
        free(d->planes[i].data);
        cf_packed_free(&d->packed[i]);
    }
    for (unsigned i = 0; i < CONSTANTS; i++)
        free(d->constant[i].memory.data);
    ZSTD_freeDCtx(d->unpacker.zstd);
    for (int i = 0; i < 3; i++)
        free(d->unpacker.plain[i].data);
    free(d->unpacker.values.data);
    free(d->unpacker.pcs.data);
    free(d->unpacker.memory.data);
    free(d->unpacker.stretches.memory.data);
    free(d->unpacker.stretches.addresses.data);
    free(d->near.data);
    free(d);
}

size_t cf_decoder_memory(const struct cf_decoder *d)
{
    const struct unpacker *u = &d->unpacker;
    size_t bytes = sizeof(*d) + ZSTD_sizeof_DCtx(u->zstd) + u->values.room + u->pcs.room +
                   u->memory.room + d->near.room + u->stretches.memory.room +
                   u->stretches.addresses.room;

    for (unsigned i = 0; i <= CF_MAX_COLUMNS; i++)
        bytes += d->memory[i].room + d->planes[i].room + d->packed[i].tables.room +
                 d->packed[i].tokens.room + d->packed[i].misses.room;
    for (unsigned i = 0; i < CONSTANTS; i++)
        bytes += d->constant[i].memory.room;
    for (int i = 0; i < 3; i++)
        bytes += u->plain[i].room;
    return bytes;
}

void cf_decoder_frame(struct cf_decoder *d, size_t rows, const struct cf_coded *columns,
                      unsigned count)
{
    d->rows = d->here = rows;
    d->at = 0;
    d->count = count > CF_MAX_COLUMNS + 1 ? CF_MAX_COLUMNS + 1 : count;
    memcpy(d->column, columns, d->count * sizeof *columns);
    memset(d->values, 0, d->count * sizeof *d->values);
    memset(d->whole, 0, d->count * sizeof *d->whole);
    memset(d->begun, 0, d->count * sizeof *d->begun);
    d->has_codes = d->has_near = d->unpacker.has_pcs = false;
    d->frame++;
}

size_t cf_decoder_piece(struct cf_decoder *d, size_t first, size_t most)
{
    d->at = first < d->rows ? first : d->rows;
    d->here = most < d->rows - d->at ? most : d->rows - d->at;
    memset(d->values, 0, d->count * sizeof *d->values);
    return d->here;
}

const char *cf_decoder_problem(const struct cf_decoder *d)
{
    return d->problem;
}

static const void *problem(struct cf_decoder *d, const char *what)
{
    d->problem = what;
    return NULL;
}

static const struct cf_coded *find_column(const struct cf_decoder *d, unsigned id, int codec)
{
    for (unsigned i = 0; i < d->count; i++)
        if (d->column[i].id == id && d->column[i].codec == codec)
            return &d->column[i];
    return NULL;
}

#define FILL(type, bits)                                                                           \
    static void fill_##bits(type *out, size_t rows, uint64_t value)                                \
    {                                                                                              \
        for (size_t i = 0; i < rows; i++)                                                          \
            out[i] = (type)value;                                                                  \
    }

CF_WIDTHS(FILL)

void cf_fill(void *out, unsigned width, size_t rows, uint64_t value)
{
    CF_OF_WIDTH(fill, width, out, rows, value);
}

/* A constant column out of those that are kept, made where there is none. NULL where this frame
   has more of them than are kept, and without memory. */
static const void *constant(struct cf_decoder *d, unsigned width, uint64_t value)
{
    struct constant *oldest = &d->constant[0];
    for (struct constant *k = d->constant; k < d->constant + CONSTANTS; k++) {
        if (k->width == width && k->value == value && k->rows >= d->here) {
            k->used = d->frame;
            return k->memory.data;
        }
        if (k->used < oldest->used)
            oldest = k;
    }
    if (oldest->used == d->frame)
        return NULL;
    oldest->memory.used = 0;
    oldest->width = 0;
    if (cf_bytes_room(&oldest->memory, d->here * width + SLACK) < 0)
        return NULL;
    cf_fill(oldest->memory.data, width, d->here, value);
    oldest->width = width;
    oldest->value = value;
    oldest->rows = d->here;
    oldest->used = d->frame;
    return oldest->memory.data;
}

/* Takes in the codes, and what stretches there are. */
static int begin_codes(struct cf_decoder *d)
{
    struct unpacker *u = &d->unpacker;
    const struct cf_coded *codes = find_column(d, CF_CODE, CF_CODES);
    int (*take)(struct unpacker *, size_t, const struct cf_coded *) = cfu_codes;
    if (d->has_codes)
        return 0;
    if (!codes && (codes = find_column(d, CF_CODE, CF_ROWCODES)))
        take = cfu_row_codes;
    if (!codes && (codes = find_column(d, CF_CODE, CF_STRETCHES)))
        take = cfu_stretches;
    if (!codes || !codes->bytes)
        return cfu_fail(u, "packed column without codes");
    if (take(u, d->rows, codes) < 0)
        return -1;
    d->has_codes = true;
    d->codes_wait = take == cfu_stretches;
    return 0;
}

/* The same, and those of the rows. */
static int begin_rows(struct cf_decoder *d)
{
    if (begin_codes(d) < 0)
        return -1;
    if (d->codes_wait)
        cfu_stretch_codes(&d->unpacker);
    d->codes_wait = false;
    return 0;
}

/* The column of pc, where it is one value a kind. */
static const struct cf_coded *find_pcs(const struct cf_decoder *d)
{
    const struct cf_coded *pc = find_column(d, CF_PC, CF_BYCODE);
    return pc && pc->bytes && pc->type == CF_U64 ? pc : NULL;
}

/* Takes in the i-th column, after the codes, unless that was done. */
static int begin_packed(struct cf_decoder *d, unsigned i, unsigned width)
{
    const struct cf_coded *c = &d->column[i];
    struct unpacker *u = &d->unpacker;
    if (d->begun[i])
        return 0;
    if (!c->bytes)
        return cfu_fail(u, "packed column is empty");
    if (begin_codes(d) < 0 || cf_packed_begin(&d->packed[i], u, c, find_pcs(d), width) < 0)
        return -1;
    d->begun[i] = true;
    return 0;
}

void *cf_decoder_of_codes(struct cf_decoder *d, unsigned i, size_t *count, bool *fresh)
{
    const struct cf_coded *c = &d->column[i];
    const unsigned width = i < d->count ? (unsigned)cf_type_width((enum cf_type)c->type) : 0;
    if (!width || c->codec != CF_BYCODE)
        return NULL;
    *fresh = !d->begun[i];
    if (begin_packed(d, i, width) < 0)
        return NULL;
    *count = d->unpacker.codes;
    return d->packed[i].tables.data;
}

const uint16_t *cf_decoder_codes(struct cf_decoder *d, uint32_t *count, bool *damaged)
{
    const struct unpacker *u = &d->unpacker;
    *damaged = false;
    if (!find_column(d, CF_CODE, CF_CODES) && !find_column(d, CF_CODE, CF_ROWCODES) &&
        !find_column(d, CF_CODE, CF_STRETCHES))
        return NULL;
    *damaged = begin_rows(d) < 0;
    d->problem = u->problem;
    *count = u->codes;
    return *damaged ? NULL : u->code + d->at;
}

int cf_decoder_kinds(struct cf_decoder *d, struct cf_row_kinds *k)
{
    struct unpacker *u = &d->unpacker;
    const struct cf_coded *pc = find_pcs(d);
    if (!pc)
        return 0;
    if (begin_rows(d) < 0 || cfu_pcs(u, pc) < 0) {
        d->problem = u->problem;
        return -1;
    }
    *k = (struct cf_row_kinds){u->kinds, u->codes, u->table, u->kind, u->code};
    return 1;
}

int cf_decoder_stretched(struct cf_decoder *d, struct cf_stretched *s)
{
    const struct cf_coded *addr = find_column(d, CF_ADDR, CF_ADDRESSES);
    if (!addr || addr->type != CF_U64 || !find_column(d, CF_CODE, CF_STRETCHES))
        return 0;
    if (begin_codes(d) == 0 && cfu_slots(&d->unpacker, addr, s) == 0)
        return 1;
    d->problem = d->unpacker.problem;
    return -1;
}

int cf_decoder_spread(struct cf_decoder *d, const uint64_t *values, unsigned width, void *out)
{
    return cfu_spread(&d->unpacker, values, width, out);
}

/* Values of the i-th column for the rows at hand; those before that were not asked for are passed
   over. */
static const void *decode_packed(struct cf_decoder *d, unsigned i, unsigned width)
{
    struct cf_packed *p = &d->packed[i];
    if (begin_packed(d, i, width) < 0 || begin_rows(d) < 0)
        return problem(d, d->unpacker.problem);
    if (p->row > d->at)
        return problem(d, "rows were asked for anew");
    d->memory[i].used = 0;
    if (cf_bytes_room(&d->memory[i], d->here * width + SLACK) < 0)
        return problem(d, cf_no_memory);
    while (p->row < d->at) {
        size_t n = d->at - p->row < d->here ? d->at - p->row : d->here;
        cf_packed_skip(p, &d->unpacker, n, d->memory[i].data);
    }
    cf_packed_rows(p, &d->unpacker, d->here, d->memory[i].data);
    return d->values[i] = d->memory[i].data;
}

/* The rows at hand of a column of planes of 4 or 8 bytes, which stay planes where no rows are asked
   for. */
static const void *decode_planes(struct cf_decoder *d, unsigned i, unsigned width)
{
    struct cf_bytes *planes = &d->planes[i], *out = &d->memory[i];
    planes->used = 0;
    out->used = 0;
    if (cf_bytes_room(out, d->here * width + SLACK) < 0 ||
        (!d->begun[i] && cf_bytes_room(planes, d->rows * width + SLACK) < 0))
        return problem(d, cf_no_memory);
    if (!d->begun[i] && cfu_planes(&d->unpacker, &d->column[i], d->rows * width, planes->data) < 0)
        return problem(d, d->unpacker.problem);
    d->begun[i] = true;
    if (width == 4)
        cf_from_planes_32(planes->data + d->at, d->rows, d->here, (uint32_t *)(void *)out->data);
    else
        cf_from_planes_64(planes->data + d->at, d->rows, d->here, width,
                          (uint64_t *)(void *)out->data);
    return d->values[i] = out->data;
}

/* Times or addresses of stretches. */
static int decode_stretches(struct cf_decoder *d, const struct cf_coded *c, void *out)
{
    struct unpacker *u = &d->unpacker;
    if (begin_codes(d) < 0)
        return -1;
    if (!find_column(d, CF_CODE, CF_STRETCHES))
        return cfu_fail(u, "packed column without stretches");
    return c->codec == CF_CLOCK ? cfu_clock(u, c, out) : cfu_addresses(u, c, out);
}

static int decode_packed_line(struct cf_decoder *d, const struct cf_coded *c, unsigned width,
                              void *out)
{
    struct unpacker *u = &d->unpacker;
    if (width != (c->codec == CF_PAGES ? 8 : 4))
        return cfu_fail(u, "codec does not fit the type");
    if (!d->has_near) {
        const struct cf_coded *near = find_column(d, CF_CODE, CF_NEAR);
        if (!near || !near->bytes)
            return cfu_fail(u, "packed column without distances");
        if (cf_unpack_near(u, near, d->rows, &d->near, &d->literals) < 0)
            return -1;
        d->has_near = true;
    }
    return c->codec == CF_PAGES ? cf_unpack_pages(u, c, d->near.data, d->rows, d->literals, out)
                                : cf_unpack_like(u, c, d->near.data, d->rows, d->literals, out);
}

static const void *decode_blob(struct cf_decoder *d, unsigned i, size_t *blob_bytes)
{
    const struct cf_coded *c = &d->column[i];
    /* a string is at most CF_MAX_TEXT long, so the length is bounded by the rows */
    uint64_t most =
        d->rows < CF_MAX_FRAME / CF_MAX_TEXT ? (d->rows + 1) * CF_MAX_TEXT : (uint64_t)CF_MAX_FRAME;
    uint64_t all = 0; /* of such blobs in the frame: few bytes may claim many */
    for (unsigned k = 0; k < d->count; k++)
        if (d->column[k].type == CF_BLOB && d->column[k].codec == CF_ZSTD)
            all += d->column[k].base < most ? d->column[k].base : most;
    size_t bytes = c->codec == CF_RAW ? c->bytes : c->base;
    if (c->codec == CF_CONST)
        bytes = 0;
    else if ((c->codec == CF_ZSTD && (c->base > most || all > CF_MAX_FRAME)) ||
             (c->codec == CF_RAW && c->base != c->bytes))
        return problem(d, "length of a blob is wrong");
    else if (c->codec != CF_RAW && c->codec != CF_ZSTD)
        return problem(d, "codec is not known");
    if (blob_bytes)
        *blob_bytes = bytes;
    if (c->codec != CF_ZSTD)
        return bytes ? c->data : (const uint8_t *)"";
    d->memory[i].used = 0;
    if (cf_bytes_room(&d->memory[i], bytes + 1) < 0)
        return problem(d, cf_no_memory);
    if (cfu_plain(&d->unpacker, c, 1, bytes, d->memory[i].data) < 0)
        return problem(d, d->unpacker.problem);
    return d->memory[i].data;
}

/* Values of all rows of the i-th column, which is neither a blob nor packed. */
static const void *decode_whole(struct cf_decoder *d, unsigned i, unsigned width)
{
    const struct cf_coded *c = &d->column[i];
    if (c->codec == CF_RAW && c->bytes != d->rows * width)
        return problem(d, "length of a column does not fit its rows");
    if (c->codec == CF_RAW && c->bytes)
        return c->data;
    unsigned from = c->codec == CF_NARROW8    ? 1
                    : c->codec == CF_NARROW16 ? 2
                    : c->codec == CF_NARROW32 ? 4
                                              : 0;
    if (from && c->bytes != d->rows * from)
        return problem(d, "length of a column does not fit its rows");
    d->memory[i].used = 0;
    if (cf_bytes_room(&d->memory[i], d->rows * width + SLACK) < 0)
        return problem(d, cf_no_memory);
    void *out = d->memory[i].data;
    int result = 0;
    if (c->codec == CF_CONST)
        cf_fill(out, width, d->rows, c->base);
    else if (from && !cfu_widen(from, c->data, d->rows, c->base, width, out))
        return problem(d, "codec does not fit the type");
    else if (c->codec >= CF_RISE8 && c->codec <= CF_LINES48) {
        const char *wrong = cf_decode_line(c, d->rows, out);
        if (wrong)
            return problem(d, wrong);
    } else if (c->codec == CF_PAGES || c->codec == CF_LIKE)
        result = decode_packed_line(d, c, width, out);
    else if (c->codec == CF_CLOCK || c->codec == CF_ADDRESSES)
        result = decode_stretches(d, c, out);
    else if (c->codec >= CF_ZSTD && c->codec <= CF_ZDPLANES)
        result = cfu_plain(&d->unpacker, c, width, d->rows, out);
    else if (!from && c->codec != CF_RAW)
        return problem(d, "codec is not known");
    return result < 0 ? problem(d, d->unpacker.problem) : out;
}

const void *cf_decoder_column(struct cf_decoder *d, unsigned i, size_t *blob_bytes)
{
    if (blob_bytes)
        *blob_bytes = 0;
    if (i >= d->count)
        return problem(d, "no such column");
    const struct cf_coded *c = &d->column[i];
    if (c->codec == CF_CONST && c->bytes)
        return problem(d, "bytes behind a column");
    if (c->type == CF_BLOB)
        return decode_blob(d, i, blob_bytes);
    if (d->values[i])
        return d->values[i];
    unsigned width = (unsigned)cf_type_width((enum cf_type)c->type);
    if (!width)
        return problem(d, "type is not known");
    if ((c->codec == CF_STEPS || c->codec == CF_PREDICT || c->codec == CF_CLOCK ||
         c->codec == CF_ADDRESSES) &&
        width != 8)
        return problem(d, "codec does not fit the type");
    if (c->codec == CF_BYCODE || c->codec == CF_STEPS || c->codec == CF_PREDICT)
        return decode_packed(d, i, width);
    if (c->codec == CF_CONST && (d->values[i] = constant(d, width, c->base)))
        return d->values[i];
    if (c->codec == CF_ZPLANES && width >= 4 && d->here < d->rows && !d->whole[i])
        return decode_planes(d, i, width);
    if (!d->whole[i])
        d->whole[i] = decode_whole(d, i, width);
    if (!d->whole[i])
        return NULL;
    return d->values[i] = (const uint8_t *)d->whole[i] + d->at * width;
}
