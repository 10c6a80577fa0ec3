/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack.c - from bytes back to values: all codecs (cf-stream(5), "CODECS" and "PACKED FRAMES").
 * cf_codec.c and cf_pack.c tell the ideas. A column is decoded when it is asked for.
 *
 * Nothing that is read is trusted. Every count is held against the rows of the frame before memory
 * is taken, every code and reference against the number of those that exist, and the streams must
 * end where the last row does.
 */
#include <stdlib.h>

#include "cf_unpack.h"

enum {
    BLOCK = 64,    /* values that a loop handles at once; constant, so that it is vectorised */
    SLACK = 64,    /* bytes after every buffer, so that whole words and blocks may be moved */
    CONSTANTS = 8, /* constant columns that are kept from frame to frame */
};

struct input {
    const uint8_t *at, *end;
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
    bool begun[CF_MAX_COLUMNS + 1]; /* a packed column: it was taken in */
    struct cf_bytes memory[CF_MAX_COLUMNS + 1];
    struct constant constant[CONSTANTS];
    uint64_t frame; /* number of the frame at hand */
    struct unpacker unpacker;
    bool has_codes;
    const char *problem;
};

const char cf_no_memory[] = "out of memory";

int cfu_fail(struct unpacker *u, const char *problem)
{
    u->problem = problem;
    return -1;
}

int cfu_room(struct unpacker *u, struct cf_bytes *b, size_t bytes)
{
    b->used = 0;
    return cf_bytes_room(b, bytes + SLACK) < 0 ? cfu_fail(u, cf_no_memory) : 0;
}

/* At most max, or -1. */
static int64_t get_varint(struct input *in, uint64_t max)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 63 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v <= max ? (int64_t)v : -1;
    }
    return -1;
}

static int unzip(struct unpacker *u, const uint8_t *data, size_t bytes, void *out, size_t wanted)
{
    if (!u->zstd) {
        u->zstd = ZSTD_createDCtx();
        if (!u->zstd)
            return cfu_fail(u, cf_no_memory);
    }
    /* one frame and nothing behind it */
    if (ZSTD_findFrameCompressedSize(data, bytes) != bytes)
        return cfu_fail(u, "compressed data is damaged");
    size_t n = ZSTD_decompressDCtx(u->zstd, out, wanted, data, bytes);
    if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
        return cfu_fail(u, cf_no_memory);
    return ZSTD_isError(n) || n != wanted ? cfu_fail(u, "compressed data is damaged") : 0;
}

/* Reads a packet of at most max bytes into b, from where `bytes` of them can be read. */
static int get_packet(struct unpacker *u, struct input *in, size_t max, struct cf_bytes *b)
{
    int64_t plain = get_varint(in, max);
    int64_t bytes = get_varint(in, (uint64_t)(in->end - in->at));
    if (plain < 0 || bytes < 0 || bytes > in->end - in->at)
        return cfu_fail(u, "length of a packet is wrong");
    if (cfu_room(u, b, (size_t)plain) < 0)
        return -1;
    if (plain == bytes)
        memcpy(b->data, in->at, (size_t)bytes);
    else if (unzip(u, in->at, (size_t)bytes, b->data, (size_t)plain) < 0)
        return -1;
    b->used = (size_t)plain;
    in->at += bytes;
    return 0;
}

/* ---- plain columns ---- */

static void from_planes_16(const uint8_t *in, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint16_t)(in[i] | in[n + i] << 8);
}

#define PLAIN(type, bits)                                                                          \
    static void from_differences_##bits(type *v, size_t n, type base)                              \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            base += (type)(v[i] >> 1 ^ (type)(0 - (v[i] & 1)));                                    \
            v[i] = base;                                                                           \
        }                                                                                          \
    }

PLAIN(uint8_t, 8)
PLAIN(uint16_t, 16)
PLAIN(uint32_t, 32)
PLAIN(uint64_t, 64)

static int unpack_values(struct unpacker *u, int codec, const uint8_t *data, size_t bytes,
                         unsigned width, size_t n, uint64_t base, void *out)
{
    size_t wanted = n * width;
    if (codec == CF_RAW) {
        if (bytes != wanted)
            return cfu_fail(u, "length of a column does not fit its rows");
        if (wanted)
            memcpy(out, data, wanted);
        return 0;
    }
    if (codec < CF_ZSTD || codec > CF_ZDPLANES)
        return cfu_fail(u, "codec is not known");
    bool planes = codec == CF_ZPLANES || codec == CF_ZDPLANES;
    if (planes && cfu_room(u, &u->plain[0], wanted) < 0)
        return -1;
    if (unzip(u, data, bytes, planes ? u->plain[0].data : out, wanted) < 0)
        return -1;
    if (planes && width == 1 && n)
        memcpy(out, u->plain[0].data, n);
    else if (planes && width == 2)
        from_planes_16(u->plain[0].data, n, out);
    else if (planes && width == 4)
        cf_from_planes_32(u->plain[0].data, n, out);
    else if (planes && width == 8)
        cf_from_planes_64(u->plain[0].data, n, 8, out);
    if (codec == CF_ZSTD || codec == CF_ZPLANES)
        return 0;
    if (width == 1)
        from_differences_8(out, n, (uint8_t)base);
    else if (width == 2)
        from_differences_16(out, n, (uint16_t)base);
    else if (width == 4)
        from_differences_32(out, n, (uint32_t)base);
    else
        from_differences_64(out, n, base);
    return 0;
}

/* ---- codes ---- */

static int get_kinds(struct unpacker *u, struct input *in)
{
    if (u->kinds == u->codes) {
        for (uint32_t c = 0; c < u->codes; c++)
            u->kind[c] = (uint16_t)c;
        return 0;
    }
    if (get_packet(u, in, 2 * (size_t)u->codes, &u->plain[0]) < 0)
        return -1;
    if (u->plain[0].used != 2 * (size_t)u->codes)
        return cfu_fail(u, "kinds do not fit the codes");
    const uint8_t *low = u->plain[0].data, *high = low + u->codes;
    uint32_t kinds = 0;
    for (uint32_t c = 0; c < u->codes; c++) {
        uint32_t k = low[c] | (uint32_t)high[c] << 8;
        if (k > kinds)
            return cfu_fail(u, "kind is not known");
        u->kind[c] = (uint16_t)(k ? k - 1 : kinds);
        kinds += !k;
        if (kinds > u->kinds)
            return cfu_fail(u, "more kinds than announced");
    }
    return kinds == u->kinds ? 0 : cfu_fail(u, "fewer kinds than announced");
}

static int unpack_codes(struct unpacker *u, size_t rows, const uint8_t *data, size_t bytes)
{
    struct input in = {data, data + bytes};
    size_t most = rows < CF_MAX_CODES ? rows : CF_MAX_CODES;
    int64_t codes = get_varint(&in, most);
    int64_t kinds = get_varint(&in, codes < 0 ? 0 : (uint64_t)codes);
    int64_t tokens = get_varint(&in, rows);
    if (codes < 1 || kinds < 1 || tokens < 0)
        return cfu_fail(u, "number of codes is wrong");
    u->rows = rows;
    u->codes = (uint32_t)codes;
    u->kinds = (uint32_t)kinds;
    size_t n = (size_t)codes;
    if (cfu_room(u, &u->memory, 4 * n + 2 * n + 2 * rows) < 0)
        return -1;
    u->where = (uint32_t *)(void *)u->memory.data;
    u->kind = (uint16_t *)(u->where + n);
    u->code = u->kind + n; /* last, for it may be written past its end */
    if (get_kinds(u, &in) < 0 || get_packet(u, &in, 3 * (size_t)tokens + 3, &u->plain[0]) < 0 ||
        get_packet(u, &in, 2 * (size_t)tokens, &u->plain[1]) < 0)
        return -1;
    if (u->plain[1].used != 2 * (size_t)tokens || in.at != in.end)
        return cfu_fail(u, "length of the codes is wrong");

    struct input lengths = {u->plain[0].data, u->plain[0].data + u->plain[0].used};
    const uint8_t *token = u->plain[1].data;
    uint32_t seen = 0;
    size_t i = 0, j = 0;
    for (int64_t t = 0;; t++) {
        int64_t length = get_varint(&lengths, rows - i);
        if (length < 0)
            return cfu_fail(u, "length of a run is wrong");
        if (j) {
            cf_copy_codes(u->code, i, j, (size_t)length);
            j += (size_t)length;
            i += (size_t)length;
        } else {
            if (length > u->codes - seen)
                return cfu_fail(u, "more codes than announced");
            for (size_t end = i + (size_t)length; i < end; i++) {
                u->where[seen] = (uint32_t)i;
                u->code[i] = (uint16_t)seen++;
            }
        }
        if (t == tokens)
            break;
        uint32_t c = token[2 * t] | (uint32_t)token[2 * t + 1] << 8;
        if (i == rows || c > seen || (!c && seen == u->codes))
            return cfu_fail(u, "code is not known");
        if (c) {
            j = (size_t)u->where[--c] + 1;
        } else {
            c = seen++;
            j = 0;
        }
        u->where[c] = (uint32_t)i;
        u->code[i++] = (uint16_t)c;
    }
    if (i != rows || seen != u->codes || lengths.at != lengths.end)
        return cfu_fail(u, "codes do not fit the rows");
    return 0;
}

/* Codes that stand there row by row. */
static int take_codes(struct unpacker *u, size_t rows, const uint8_t *data, size_t bytes,
                      uint64_t codes)
{
    if (!codes || codes > CF_MAX_CODES || bytes != 2 * rows)
        return cfu_fail(u, "number of codes is wrong");
    u->rows = rows;
    u->codes = u->kinds = (uint32_t)codes;
    if (cfu_room(u, &u->memory, 2 * (size_t)codes + 2 * rows) < 0)
        return -1;
    u->where = NULL;
    u->kind = (uint16_t *)(void *)u->memory.data;
    u->code = u->kind + codes;
    memcpy(u->code, data, 2 * rows);
    for (uint32_t c = 0; c < u->codes; c++)
        u->kind[c] = (uint16_t)c;
    uint16_t most = 0;
    size_t i = 0;
    for (; i + BLOCK <= rows; i += BLOCK) {
        uint16_t m = 0;
        for (size_t q = 0; q < BLOCK; q++)
            m = u->code[i + q] > m ? u->code[i + q] : m;
        most = m > most ? m : most;
    }
    for (; i < rows; i++)
        most = u->code[i] > most ? u->code[i] : most;
    return most < codes ? 0 : cfu_fail(u, "code is not known");
}

/* ---- columns of a packed frame ---- */

int64_t cfu_values(struct unpacker *u, const uint8_t **at, const uint8_t *end, size_t max,
                   unsigned width, uint64_t *v)
{
    struct input whole = {*at, end}, *in = &whole;
    unsigned kind = in->at < in->end ? *in->at++ : 0xff, planes = kind & 15;
    if (kind & ~(15u | CF_DIFFERENCES) || planes > width)
        return cfu_fail(u, "kind of a table is not known");
    if (get_packet(u, in, planes * max, &u->plain[0]) < 0)
        return -1;
    *at = in->at;
    size_t n = planes ? u->plain[0].used / planes : max;
    if (u->plain[0].used != planes * n)
        return cfu_fail(u, "length of a table is wrong");
    uint64_t last = 0;
    cf_from_planes_64(u->plain[0].data, n, planes, v);
    for (size_t i = 0; i < n && kind & CF_DIFFERENCES; i++)
        v[i] = last += cf_unzigzag(v[i]);
    return (int64_t)n;
}

int64_t cfu_table(struct unpacker *u, const uint8_t **at, const uint8_t *end, size_t max,
                  unsigned width, struct cf_bytes *to)
{
    if (cfu_room(u, to, 8 * max) < 0)
        return -1;
    u->table = (const uint64_t *)(const void *)to->data;
    return cfu_values(u, at, end, max, width, (uint64_t *)(void *)to->data);
}

/* ---- lent to cf_unpack_rows.c and cf_unpack_lines.c ---- */

int cfu_packet(struct unpacker *u, const uint8_t **at, const uint8_t *end, size_t max,
               struct cf_bytes *b)
{
    struct input in = {*at, end};
    int result = get_packet(u, &in, max, b);
    *at = in.at;
    return result;
}

/* ---- narrow columns ---- */

#define WIDEN(from, to, bits, more)                                                                \
    static void widen_##bits##_##more(const from *restrict v, size_t n, uint64_t base,             \
                                      to *restrict out)                                            \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + BLOCK <= n; i += BLOCK)                                                         \
            for (size_t q = 0; q < BLOCK; q++)                                                     \
                out[i + q] = (to)(v[i + q] + (to)base);                                            \
        for (; i < n; i++)                                                                         \
            out[i] = (to)(v[i] + (to)base);                                                        \
    }

WIDEN(uint8_t, uint16_t, 8, 16)
WIDEN(uint8_t, uint32_t, 8, 32)
WIDEN(uint8_t, uint64_t, 8, 64)
WIDEN(uint16_t, uint32_t, 16, 32)
WIDEN(uint16_t, uint64_t, 16, 64)
WIDEN(uint32_t, uint64_t, 32, 64)

/* Fills `out` with values of `width` bytes from narrow ones. False where that is no narrowing. */
static bool widen(unsigned from, const void *v, size_t n, uint64_t base, unsigned width, void *out)
{
    if (from >= width)
        return false;
    if (width == 2)
        widen_8_16(v, n, base, out);
    else if (width == 4 && from == 1)
        widen_8_32(v, n, base, out);
    else if (width == 4)
        widen_16_32(v, n, base, out);
    else if (from == 1)
        widen_8_64(v, n, base, out);
    else if (from == 2)
        widen_16_64(v, n, base, out);
    else
        widen_32_64(v, n, base, out);
    return true;
}

/* ---- which codec a column has ---- */

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
    free(d->near.data);
    free(d);
}

size_t cf_decoder_memory(const struct cf_decoder *d)
{
    const struct unpacker *u = &d->unpacker;
    size_t bytes = sizeof(*d) + ZSTD_sizeof_DCtx(u->zstd) + u->values.room + u->pcs.room +
                   u->memory.room + d->near.room;

    for (unsigned i = 0; i <= CF_MAX_COLUMNS; i++)
        bytes += d->memory[i].room + d->packed[i].tables.room + d->packed[i].tokens.room +
                 d->packed[i].misses.room;
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

static void fill(unsigned width, uint64_t value, size_t rows, void *out)
{
    if (width == 1)
        memset(out, (int)(value & 0xff), rows);
    for (size_t i = 0; i < rows && width == 2; i++)
        ((uint16_t *)out)[i] = (uint16_t)value;
    for (size_t i = 0; i < rows && width == 4; i++)
        ((uint32_t *)out)[i] = (uint32_t)value;
    for (size_t i = 0; i < rows && width == 8; i++)
        ((uint64_t *)out)[i] = value;
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
    fill(width, value, d->here, oldest->memory.data);
    oldest->width = width;
    oldest->value = value;
    oldest->rows = d->here;
    oldest->used = d->frame;
    return oldest->memory.data;
}

/* Takes in the i-th column, after the codes. */
static int begin_packed(struct cf_decoder *d, unsigned i, unsigned width)
{
    const struct cf_coded *c = &d->column[i];
    struct unpacker *u = &d->unpacker;
    if (!c->bytes)
        return cfu_fail(u, "packed column is empty");
    if (!d->has_codes) {
        const struct cf_coded *codes = find_column(d, CF_CODE, CF_CODES);
        const struct cf_coded *by_row = codes ? NULL : find_column(d, CF_CODE, CF_ROWCODES);
        if ((!codes || !codes->bytes) && (!by_row || !by_row->bytes))
            return cfu_fail(u, "packed column without codes");
        if (by_row ? take_codes(u, d->rows, by_row->data, by_row->bytes, by_row->base) < 0
                   : unpack_codes(u, d->rows, codes->data, codes->bytes) < 0)
            return -1;
        d->has_codes = true;
    }
    const struct cf_coded *pc = find_column(d, CF_PC, CF_BYCODE);
    if (pc && (!pc->bytes || pc->type != CF_U64))
        pc = NULL;
    return cf_packed_begin(&d->packed[i], u, c, pc, width);
}

/* Values of the i-th column for the rows at hand; those before that were not asked for are passed
   over. */
static const void *decode_packed(struct cf_decoder *d, unsigned i, unsigned width)
{
    struct cf_packed *p = &d->packed[i];
    if (!d->begun[i] && begin_packed(d, i, width) < 0)
        return problem(d, d->unpacker.problem);
    d->begun[i] = true;
    if (p->row > d->at)
        return problem(d, "rows were asked for anew");
    d->memory[i].used = 0;
    if (cf_bytes_room(&d->memory[i], d->here * width + SLACK) < 0)
        return problem(d, cf_no_memory);
    while (p->row < d->at) {
        size_t n = d->at - p->row < d->here ? d->at - p->row : d->here;
        cf_packed_rows(p, &d->unpacker, n, d->memory[i].data);
    }
    cf_packed_rows(p, &d->unpacker, d->here, d->memory[i].data);
    return d->values[i] = d->memory[i].data;
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
    if (unpack_values(&d->unpacker, CF_ZSTD, c->data, c->bytes, 1, bytes, 0, d->memory[i].data) < 0)
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
        fill(width, c->base, d->rows, out);
    else if (from && !widen(from, c->data, d->rows, c->base, width, out))
        return problem(d, "codec does not fit the type");
    else if (c->codec >= CF_RISE8 && c->codec <= CF_LINES48) {
        const char *wrong = cf_decode_line(c, d->rows, out);
        if (wrong)
            return problem(d, wrong);
    } else if (c->codec == CF_PAGES || c->codec == CF_LIKE)
        result = decode_packed_line(d, c, width, out);
    else if (c->codec >= CF_ZSTD && c->codec <= CF_ZDPLANES)
        result =
            unpack_values(&d->unpacker, c->codec, c->data, c->bytes, width, d->rows, c->base, out);
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
    if ((c->codec == CF_STEPS || c->codec == CF_PREDICT) && width != 8)
        return problem(d, "codec does not fit the type");
    if (c->codec == CF_BYCODE || c->codec == CF_STEPS || c->codec == CF_PREDICT)
        return decode_packed(d, i, width);
    if (c->codec == CF_CONST && (d->values[i] = constant(d, width, c->base)))
        return d->values[i];
    if (!d->whole[i])
        d->whole[i] = decode_whole(d, i, width);
    if (!d->whole[i])
        return NULL;
    return d->values[i] = (const uint8_t *)d->whole[i] + d->at * width;
}
