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

#include "cf_pack.h"

enum {
    BLOCK = 64,    /* values that a loop handles at once; constant, so that it is vectorised */
    SLACK = 64,    /* bytes after every buffer, so that whole words and blocks may be moved */
    CONSTANTS = 8, /* constant columns that are kept from frame to frame */
};

struct input {
    const uint8_t *at, *end;
};

/* How the address of a code is predicted. */
struct info {
    uint16_t kind, ref;
    uint32_t times;
};

/* What belongs to the frame rather than to one column. */
struct unpacker {
    ZSTD_DCtx *zstd;
    struct cf_bytes plain[3]; /* what packets or a column held before zstd */
    struct cf_bytes values;   /* holds the table */
    struct cf_bytes work;     /* what a column needs beside it */
    uint64_t *table;          /* one value a kind or code */
    struct cf_bytes memory;   /* holds code, kind and where */
    const char *problem;      /* why the last call failed */
    size_t rows;
    uint32_t codes, kinds; /* in this frame */
    uint16_t *code;        /* of each row */
    uint16_t *kind;        /* of each code */
    uint32_t *where;       /* of each code: the row where it last ended a run */
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
    size_t rows;
    unsigned count;
    struct cf_coded column[CF_MAX_COLUMNS + 1];
    const void *values[CF_MAX_COLUMNS + 1]; /* decoded ones */
    struct cf_bytes memory[CF_MAX_COLUMNS + 1];
    struct constant constant[CONSTANTS];
    uint64_t frame; /* number of the frame at hand */
    struct unpacker unpacker;
    bool has_codes;
    const char *problem;
};

static int fail(struct unpacker *u, const char *problem)
{
    u->problem = problem;
    return -1;
}

static int room(struct unpacker *u, struct cf_bytes *b, size_t bytes)
{
    b->used = 0;
    return cf_bytes_room(b, bytes + SLACK) < 0 ? fail(u, "out of memory") : 0;
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
            return fail(u, "out of memory");
    }
    /* one frame and nothing behind it */
    if (ZSTD_findFrameCompressedSize(data, bytes) != bytes)
        return fail(u, "compressed data is damaged");
    size_t n = ZSTD_decompressDCtx(u->zstd, out, wanted, data, bytes);
    return ZSTD_isError(n) || n != wanted ? fail(u, "compressed data is damaged") : 0;
}

/* Reads a packet of at most max bytes into b, from where `bytes` of them can be read. */
static int get_packet(struct unpacker *u, struct input *in, size_t max, struct cf_bytes *b)
{
    int64_t plain = get_varint(in, max);
    int64_t bytes = get_varint(in, (uint64_t)(in->end - in->at));
    if (plain < 0 || bytes < 0 || bytes > in->end - in->at)
        return fail(u, "length of a packet is wrong");
    if (room(u, b, (size_t)plain) < 0)
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

#define PLAIN(type, bits)                                                                          \
    static void from_planes_##bits(const uint8_t *in, size_t n, type *out)                         \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            type v = 0;                                                                            \
            for (unsigned b = 0; b < sizeof(type); b++)                                            \
                v |= (type)((type)in[b * n + i] << 8 * b);                                         \
            out[i] = v;                                                                            \
        }                                                                                          \
    }                                                                                              \
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
            return fail(u, "length of a column does not fit its rows");
        if (wanted)
            memcpy(out, data, wanted);
        return 0;
    }
    if (codec < CF_ZSTD || codec > CF_ZDPLANES)
        return fail(u, "codec is not known");
    bool planes = codec == CF_ZPLANES || codec == CF_ZDPLANES;
    if (planes && room(u, &u->plain[0], wanted) < 0)
        return -1;
    if (unzip(u, data, bytes, planes ? u->plain[0].data : out, wanted) < 0)
        return -1;
    if (planes && width == 1)
        from_planes_8(u->plain[0].data, n, out);
    else if (planes && width == 2)
        from_planes_16(u->plain[0].data, n, out);
    else if (planes && width == 4)
        from_planes_32(u->plain[0].data, n, out);
    else if (planes)
        from_planes_64(u->plain[0].data, n, out);
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
        return fail(u, "kinds do not fit the codes");
    const uint8_t *low = u->plain[0].data, *high = low + u->codes;
    uint32_t kinds = 0;
    for (uint32_t c = 0; c < u->codes; c++) {
        uint32_t k = low[c] | (uint32_t)high[c] << 8;
        if (k > kinds)
            return fail(u, "kind is not known");
        u->kind[c] = (uint16_t)(k ? k - 1 : kinds);
        kinds += !k;
        if (kinds > u->kinds)
            return fail(u, "more kinds than announced");
    }
    return kinds == u->kinds ? 0 : fail(u, "fewer kinds than announced");
}

static int unpack_codes(struct unpacker *u, size_t rows, const uint8_t *data, size_t bytes)
{
    struct input in = {data, data + bytes};
    size_t most = rows < CF_MAX_CODES ? rows : CF_MAX_CODES;
    int64_t codes = get_varint(&in, most);
    int64_t kinds = get_varint(&in, codes < 0 ? 0 : (uint64_t)codes);
    int64_t tokens = get_varint(&in, rows);
    if (codes < 1 || kinds < 1 || tokens < 0)
        return fail(u, "number of codes is wrong");
    u->rows = rows;
    u->codes = (uint32_t)codes;
    u->kinds = (uint32_t)kinds;
    size_t n = (size_t)codes;
    if (room(u, &u->memory, 4 * n + 2 * n + 2 * rows) < 0)
        return -1;
    u->where = (uint32_t *)(void *)u->memory.data;
    u->kind = (uint16_t *)(u->where + n);
    u->code = u->kind + n; /* last, for it may be written past its end */
    if (get_kinds(u, &in) < 0 || get_packet(u, &in, 3 * (size_t)tokens + 3, &u->plain[0]) < 0 ||
        get_packet(u, &in, 2 * (size_t)tokens, &u->plain[1]) < 0)
        return -1;
    if (u->plain[1].used != 2 * (size_t)tokens || in.at != in.end)
        return fail(u, "length of the codes is wrong");

    struct input lengths = {u->plain[0].data, u->plain[0].data + u->plain[0].used};
    const uint8_t *token = u->plain[1].data;
    uint32_t seen = 0;
    size_t i = 0, j = 0;
    for (int64_t t = 0;; t++) {
        int64_t length = get_varint(&lengths, rows - i);
        if (length < 0)
            return fail(u, "length of a run is wrong");
        if (j) {
            cf_copy_codes(u->code, i, j, (size_t)length);
            j += (size_t)length;
            i += (size_t)length;
        } else {
            if (length > u->codes - seen)
                return fail(u, "more codes than announced");
            for (size_t end = i + (size_t)length; i < end; i++) {
                u->where[seen] = (uint32_t)i;
                u->code[i] = (uint16_t)seen++;
            }
        }
        if (t == tokens)
            break;
        uint32_t c = token[2 * t] | (uint32_t)token[2 * t + 1] << 8;
        if (i == rows || c > seen || (!c && seen == u->codes))
            return fail(u, "code is not known");
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
        return fail(u, "codes do not fit the rows");
    return 0;
}

/* Codes that stand there row by row. */
static int take_codes(struct unpacker *u, size_t rows, const uint8_t *data, size_t bytes,
                      uint64_t codes)
{
    if (!codes || codes > CF_MAX_CODES || bytes != 2 * rows)
        return fail(u, "number of codes is wrong");
    u->rows = rows;
    u->codes = u->kinds = (uint32_t)codes;
    if (room(u, &u->memory, 2 * (size_t)codes + 2 * rows) < 0)
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
    return most < codes ? 0 : fail(u, "code is not known");
}

/* ---- columns of a packed frame ---- */

/* Reads a table of at most max values of `width` bytes into u->table and returns their number.
   Uses u->plain[0]. */
static int64_t get_table(struct unpacker *u, struct input *in, size_t max, unsigned width)
{
    unsigned kind = in->at < in->end ? *in->at++ : 0xff, planes = kind & 15;
    if (kind & ~(15u | CF_DIFFERENCES) || planes > width)
        return fail(u, "kind of a table is not known");
    if (get_packet(u, in, planes * max, &u->plain[0]) < 0 || room(u, &u->values, 8 * max) < 0)
        return -1;
    size_t n = planes ? u->plain[0].used / planes : max;
    if (u->plain[0].used != planes * n)
        return fail(u, "length of a table is wrong");
    uint64_t *v = u->table = (uint64_t *)(void *)u->values.data, last = 0;
    const uint8_t *plane = u->plain[0].data;
    memset(v, 0, n * sizeof *v);
    for (unsigned b = 0; b < planes; b++, plane += n) {
        size_t i = 0;
        for (; i + BLOCK <= n; i += BLOCK)
            for (size_t q = 0; q < BLOCK; q++)
                v[i + q] |= (uint64_t)plane[i + q] << 8 * b;
        for (; i < n; i++)
            v[i] |= (uint64_t)plane[i] << 8 * b;
    }
    for (size_t i = 0; i < n && kind & CF_DIFFERENCES; i++)
        v[i] = last += cf_unzigzag(v[i]);
    return (int64_t)n;
}

/* Reads a table that is all there is in a column. */
static int whole_table(struct unpacker *u, const uint8_t *data, size_t bytes, size_t n,
                       unsigned width)
{
    struct input in = {data, data + bytes};
    int64_t got = get_table(u, &in, n, width);
    if (got < 0)
        return -1;
    return (size_t)got == n && in.at == in.end ? 0 : fail(u, "length of a table is wrong");
}

static int unpack_steps(struct unpacker *u, const uint8_t *data, size_t bytes, uint64_t base,
                        uint64_t *out)
{
    if (whole_table(u, data, bytes, u->codes, 8) < 0)
        return -1;
    const uint64_t *step = u->table;
    const uint16_t *code = u->code;
    size_t rows = u->rows;
    for (size_t i = 0; i < rows; i++)
        out[i] = base += step[code[i]];
    return 0;
}

#define BY_KIND(type, bits)                                                                        \
    static void by_kind_##bits(const struct unpacker *u, type *codes, type *out)                   \
    {                                                                                              \
        const uint16_t *code = u->code;                                                            \
        size_t rows = u->rows;                                                                     \
        for (uint32_t c = 0; c < u->codes; c++)                                                    \
            codes[c] = (type)u->table[u->kind[c]];                                                 \
        for (size_t i = 0; i < rows; i++)                                                          \
            out[i] = codes[code[i]];                                                               \
    }

BY_KIND(uint8_t, 8)
BY_KIND(uint16_t, 16)
BY_KIND(uint32_t, 32)
BY_KIND(uint64_t, 64)

static int unpack_by_kind(struct unpacker *u, const uint8_t *data, size_t bytes, unsigned width,
                          void *out)
{
    if (whole_table(u, data, bytes, u->kinds, width) < 0 ||
        room(u, &u->work, 8 * (size_t)u->codes) < 0)
        return -1;
    void *codes = u->work.data;
    if (width == 1)
        by_kind_8(u, codes, out);
    else if (width == 2)
        by_kind_16(u, codes, out);
    else if (width == 4)
        by_kind_32(u, codes, out);
    else
        by_kind_64(u, codes, out);
    return 0;
}

/* ---- addresses ---- */

/* State of each kind and what is known of each code. */
struct addresses {
    uint64_t *last, *ahead; /* address, and difference to the scaled address of the reference */
    struct info *info;
};

/* Fills in the state before the first row. The flags are in u->plain[1], the first addresses in
   u->plain[2], how far each looks back, and u->table. */
static int address_tables(struct unpacker *u, size_t told, const uint64_t *pc, struct addresses *a)
{
    const uint8_t *table = u->plain[1].data, *back = u->plain[2].data;
    uint64_t recent[CF_RECENT] = {0};
    size_t n = u->kinds, next = 0;
    if (told != u->plain[2].used)
        return fail(u, "first addresses do not fit");
    for (size_t k = 0; k < n; k++) {
        if (table[k] & ~CF_AT_PC || (table[k] && !pc))
            return fail(u, "flags of an address are not known");
        if (!table[k]) {
            if (next == told || back[next] < 1 || back[next] > CF_RECENT)
                return fail(u, "first addresses do not fit");
            recent[next % CF_RECENT] =
                recent[(next - back[next]) % CF_RECENT] + cf_unzigzag(u->table[next]);
        }
        a->last[k] = table[k] ? pc[k] : recent[next % CF_RECENT];
        a->ahead[k] = 0;
        next += !table[k];
    }
    if (next != told)
        return fail(u, "first addresses do not fit");
    for (uint32_t c = 0; c < u->codes; c++) {
        size_t k = u->kind[c];
        size_t ref = (k + table[2 * n + k] + ((size_t)table[3 * n + k] << 8)) & 0xffff;
        if (ref >= n)
            return fail(u, "reference of an address is not known");
        a->info[c] = (struct info){(uint16_t)k, (uint16_t)ref, table[n + k]};
    }
    return 0;
}

/* Follows the tokens in u->plain[1] and the values in u->plain[2]. */
static int follow_addresses(struct unpacker *u, const struct addresses *state, uint64_t *out)
{
    const uint8_t *gap = u->plain[1].data, *gaps = gap + u->plain[1].used;
    const uint8_t *value = u->plain[2].data, *values = value + u->plain[2].used;
    const uint16_t *code = u->code;
    const struct info *info = state->info;
    uint64_t *last = state->last, *ahead = state->ahead;
    size_t i = 0, rows = u->rows;
    for (;;) {
        unsigned token = CF_SKIP;
        size_t n = rows - i;
        if (gap < gaps) {
            token = *gap++;
            bool skip = (token & CF_SKIP) == CF_SKIP;
            size_t told = skip ? (size_t)CF_SKIP << (token >> 5) : (token & CF_SKIP);
            if (told + !skip > n)
                return fail(u, "addresses do not fit the rows");
            n = told;
        }
        for (size_t end = i + n; i < end; i++) {
            const struct info *of = &info[code[i]];
            out[i] = last[of->kind] = last[of->ref] * of->times + ahead[of->kind];
        }
        if ((token & CF_SKIP) == CF_SKIP) {
            if (i == rows && gap == gaps)
                break;
            continue;
        }
        unsigned more = token >> 5;
        uint64_t v = cf_load64(value) & UINT64_MAX >> (56 - 8 * more);
        value += more + 1;
        if (value > values)
            return fail(u, "addresses end early");
        const struct info *of = &info[code[i]];
        uint64_t scaled = last[of->ref] * of->times, a = last[of->kind] + cf_unzigzag(v);
        out[i++] = last[of->kind] = a;
        ahead[of->kind] = a - scaled;
    }
    return value == values ? 0 : fail(u, "addresses do not end with the rows");
}

static int unpack_addresses(struct unpacker *u, const uint8_t *data, size_t bytes,
                            const struct cf_coded *pc, uint64_t *out)
{
    struct input in = {data, data + bytes};
    size_t rows = u->rows, kinds = u->kinds;
    const uint64_t *pcs = NULL;
    if (room(u, &u->work, kinds * 24 + u->codes * sizeof(struct info)) < 0)
        return -1;
    struct addresses a;
    a.last = (uint64_t *)(void *)u->work.data;
    a.ahead = a.last + kinds;
    a.info = (struct info *)(void *)(a.ahead + 2 * kinds);
    if (pc && pc->type == CF_U64) {
        if (whole_table(u, pc->data, pc->bytes, kinds, 8) < 0)
            return -1;
        pcs = memcpy(a.ahead + kinds, u->table, kinds * 8);
    }
    if (get_packet(u, &in, 4 * kinds, &u->plain[1]) < 0 ||
        get_packet(u, &in, kinds, &u->plain[2]) < 0)
        return -1;
    if (u->plain[1].used != 4 * kinds)
        return fail(u, "length of the addresses is wrong");
    int64_t told = get_table(u, &in, u->plain[2].used, 8);
    if (told < 0 || address_tables(u, (size_t)told, pcs, &a) < 0 ||
        get_packet(u, &in, rows, &u->plain[1]) < 0 ||
        get_packet(u, &in, 8 * rows, &u->plain[2]) < 0)
        return -1;
    if (in.at != in.end)
        return fail(u, "length of the addresses is wrong");
    return follow_addresses(u, &a, out);
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
    for (unsigned i = 0; i <= CF_MAX_COLUMNS; i++)
        free(d->memory[i].data);
    for (unsigned i = 0; i < CONSTANTS; i++)
        free(d->constant[i].memory.data);
    ZSTD_freeDCtx(d->unpacker.zstd);
    for (int i = 0; i < 3; i++)
        free(d->unpacker.plain[i].data);
    free(d->unpacker.work.data);
    free(d->unpacker.values.data);
    free(d->unpacker.memory.data);
    free(d);
}

void cf_decoder_frame(struct cf_decoder *d, size_t rows, const struct cf_coded *columns,
                      unsigned count)
{
    d->rows = rows;
    d->count = count > CF_MAX_COLUMNS + 1 ? CF_MAX_COLUMNS + 1 : count;
    memcpy(d->column, columns, d->count * sizeof *columns);
    memset(d->values, 0, d->count * sizeof *d->values);
    d->has_codes = false;
    d->frame++;
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
        if (k->width == width && k->value == value && k->rows >= d->rows) {
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
    if (cf_bytes_room(&oldest->memory, d->rows * width + SLACK) < 0)
        return NULL;
    fill(width, value, d->rows, oldest->memory.data);
    oldest->width = width;
    oldest->value = value;
    oldest->rows = d->rows;
    oldest->used = d->frame;
    return oldest->memory.data;
}

static int decode_packed(struct cf_decoder *d, const struct cf_coded *c, unsigned width, void *out)
{
    struct unpacker *u = &d->unpacker;
    if (!c->bytes)
        return fail(u, "packed column is empty");
    if (!d->has_codes) {
        const struct cf_coded *codes = find_column(d, CF_CODE, CF_CODES);
        const struct cf_coded *by_row = codes ? NULL : find_column(d, CF_CODE, CF_ROWCODES);
        if ((!codes || !codes->bytes) && (!by_row || !by_row->bytes)) {
            u->problem = "packed column without codes";
            return -1;
        }
        if (by_row ? take_codes(u, d->rows, by_row->data, by_row->bytes, by_row->base) < 0
                   : unpack_codes(u, d->rows, codes->data, codes->bytes) < 0)
            return -1;
        d->has_codes = true;
    }
    if (c->codec == CF_BYCODE)
        return unpack_by_kind(u, c->data, c->bytes, width, out);
    if (c->codec == CF_STEPS)
        return unpack_steps(u, c->data, c->bytes, c->base, out);
    const struct cf_coded *pc = find_column(d, CF_PC, CF_BYCODE);
    if (pc && !pc->bytes)
        pc = NULL;
    return unpack_addresses(u, c->data, c->bytes, pc, out);
}

static const void *decode_blob(struct cf_decoder *d, unsigned i, size_t *blob_bytes)
{
    const struct cf_coded *c = &d->column[i];
    /* a string is at most CF_MAX_TEXT long, so the length is bounded by the rows */
    uint64_t most =
        d->rows < CF_MAX_FRAME / CF_MAX_TEXT ? (d->rows + 1) * CF_MAX_TEXT : (uint64_t)CF_MAX_FRAME;
    size_t bytes = c->codec == CF_RAW ? c->bytes : c->base;
    if (c->codec == CF_CONST)
        bytes = 0;
    else if (c->codec == CF_ZSTD && c->base > most)
        return problem(d, "length of a blob is wrong");
    else if (c->codec != CF_RAW && c->codec != CF_ZSTD)
        return problem(d, "codec is not known");
    if (blob_bytes)
        *blob_bytes = bytes;
    if (c->codec != CF_ZSTD)
        return bytes ? c->data : (const uint8_t *)"";
    d->memory[i].used = 0;
    if (cf_bytes_room(&d->memory[i], bytes + 1) < 0)
        return problem(d, "out of memory");
    if (unpack_values(&d->unpacker, CF_ZSTD, c->data, c->bytes, 1, bytes, 0, d->memory[i].data) < 0)
        return problem(d, d->unpacker.problem);
    return d->memory[i].data;
}

const void *cf_decoder_column(struct cf_decoder *d, unsigned i, size_t *blob_bytes)
{
    if (blob_bytes)
        *blob_bytes = 0;
    if (i >= d->count)
        return problem(d, "no such column");
    const struct cf_coded *c = &d->column[i];
    if (c->type == CF_BLOB)
        return decode_blob(d, i, blob_bytes);
    if (d->values[i])
        return d->values[i];
    unsigned width = (unsigned)cf_type_width((enum cf_type)c->type);
    if (!width)
        return problem(d, "type is not known");
    if (c->codec == CF_RAW && c->bytes != d->rows * width)
        return problem(d, "length of a column does not fit its rows");
    if (c->codec == CF_RAW && c->bytes)
        return d->values[i] = c->data;
    unsigned from = c->codec == CF_NARROW8    ? 1
                    : c->codec == CF_NARROW16 ? 2
                    : c->codec == CF_NARROW32 ? 4
                                              : 0;
    if (from && c->bytes != d->rows * from)
        return problem(d, "length of a column does not fit its rows");
    if ((c->codec == CF_STEPS || c->codec == CF_PREDICT) && width != 8)
        return problem(d, "codec does not fit the type");
    if (c->codec == CF_CONST && (d->values[i] = constant(d, width, c->base)))
        return d->values[i];
    d->memory[i].used = 0;
    if (cf_bytes_room(&d->memory[i], d->rows * width + 64) < 0)
        return problem(d, "out of memory");
    void *out = d->memory[i].data;
    int result = 0;
    if (c->codec == CF_CONST)
        fill(width, c->base, d->rows, out);
    else if (from && !widen(from, c->data, d->rows, c->base, width, out))
        return problem(d, "codec does not fit the type");
    else if (c->codec >= CF_ZSTD && c->codec <= CF_ZDPLANES)
        result =
            unpack_values(&d->unpacker, c->codec, c->data, c->bytes, width, d->rows, c->base, out);
    else if (c->codec == CF_BYCODE || c->codec == CF_STEPS || c->codec == CF_PREDICT)
        result = decode_packed(d, c, width, out);
    else if (!from && c->codec != CF_RAW)
        return problem(d, "codec is not known");
    if (result < 0)
        return problem(d, d->unpacker.problem);
    return d->values[i] = out;
}
