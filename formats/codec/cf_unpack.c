/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack.c - from bytes back to values: all codecs (cf-stream(5), "CODECS" and "PACKED FRAMES").
 * cf_codec.c and cf_pack.c explain the ideas. cf_decoder.c calls it when a column is asked for.
 *
 * Nothing that is read is trusted. Every count is held against the rows of the frame before memory
 * is taken, every code and reference against the number of those that exist, and the streams must
 * end where the last row does.
 */
#include "cf_unpack.h"

/* Values that a loop handles at once; constant, so that it is vectorised. */
enum { BLOCK = 64 };

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
int64_t cfu_varint(struct cf_input *in, uint64_t max)
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
    /* one frame and nothing after it */
    if (ZSTD_findFrameCompressedSize(data, bytes) != bytes)
        return cfu_fail(u, "compressed data is damaged");
    size_t n = ZSTD_decompressDCtx(u->zstd, out, wanted, data, bytes);
    if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
        return cfu_fail(u, cf_no_memory);
    return ZSTD_isError(n) || n != wanted ? cfu_fail(u, "compressed data is damaged") : 0;
}

int cfu_packet(struct unpacker *u, struct cf_input *in, size_t max, struct cf_bytes *b)
{
    int64_t plain = cfu_varint(in, max);
    int64_t bytes = cfu_varint(in, (uint64_t)(in->end - in->at));
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

#define DIFFERENCES(type, bits)                                                                    \
    static void from_differences_##bits(type *v, size_t n, uint64_t base)                          \
    {                                                                                              \
        type last = (type)base;                                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            last += (type)(v[i] >> 1 ^ (type)(0 - (v[i] & 1)));                                    \
            v[i] = last;                                                                           \
        }                                                                                          \
    }

CF_WIDTHS(DIFFERENCES)

int cfu_planes(struct unpacker *u, const struct cf_coded *c, size_t bytes, uint8_t *out)
{
    return unzip(u, c->data, c->bytes, out, bytes);
}

int cfu_plain(struct unpacker *u, const struct cf_coded *c, unsigned width, size_t n, void *out)
{
    const int codec = c->codec;
    size_t wanted = n * width;
    bool planes = codec == CF_ZPLANES || codec == CF_ZDPLANES;
    if (planes && cfu_room(u, &u->plain[0], wanted) < 0)
        return -1;
    if (unzip(u, c->data, c->bytes, planes ? u->plain[0].data : out, wanted) < 0)
        return -1;
    if (planes && width == 1 && n)
        memcpy(out, u->plain[0].data, n);
    else if (planes && width == 2)
        from_planes_16(u->plain[0].data, n, out);
    else if (planes && width == 4)
        cf_from_planes_32(u->plain[0].data, n, n, out);
    else if (planes && width == 8)
        cf_from_planes_64(u->plain[0].data, n, n, 8, out);
    if (codec == CF_ZDELTA || codec == CF_ZDPLANES)
        CF_OF_WIDTH(from_differences, width, out, n, c->base);
    return 0;
}

/* ---- codes ---- */

static int get_kinds(struct unpacker *u, struct cf_input *in)
{
    if (u->kinds == u->codes) {
        for (uint32_t c = 0; c < u->codes; c++)
            u->kind[c] = (uint16_t)c;
        return 0;
    }
    if (cfu_packet(u, in, 2 * (size_t)u->codes, &u->plain[0]) < 0)
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

/* The codes of the rows from runs: their lengths, and the codes (tokens) that end them. */
static int follow_runs(struct unpacker *u, struct cf_input lengths, const uint8_t *token,
                       size_t tokens)
{
    const size_t rows = u->rows;
    uint32_t seen = 0;
    size_t i = 0, j = 0;
    for (size_t t = 0;; t++) {
        int64_t length = cfu_varint(&lengths, rows - i);
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

int cfu_codes(struct unpacker *u, size_t rows, const struct cf_coded *c)
{
    struct cf_input in = cfu_input(c);
    size_t most = rows < CF_MAX_CODES ? rows : CF_MAX_CODES;
    int64_t codes = cfu_varint(&in, most);
    int64_t kinds = cfu_varint(&in, codes < 0 ? 0 : (uint64_t)codes);
    int64_t tokens = cfu_varint(&in, rows);
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
    if (get_kinds(u, &in) < 0 || cfu_packet(u, &in, 3 * (size_t)tokens + 3, &u->plain[0]) < 0 ||
        cfu_packet(u, &in, 2 * (size_t)tokens, &u->plain[1]) < 0)
        return -1;
    if (u->plain[1].used != 2 * (size_t)tokens || in.at != in.end)
        return cfu_fail(u, "length of the codes is wrong");
    return follow_runs(u, (struct cf_input){u->plain[0].data, u->plain[0].data + u->plain[0].used},
                       u->plain[1].data, (size_t)tokens);
}

int cfu_kinds(struct unpacker *u, size_t rows, uint64_t kinds)
{
    if (!kinds || kinds > CF_MAX_CODES)
        return cfu_fail(u, "number of codes is wrong");
    if (cfu_room(u, &u->memory, 2 * (size_t)kinds + 2 * rows) < 0)
        return -1;
    u->rows = rows;
    u->codes = u->kinds = (uint32_t)kinds;
    u->kind = (uint16_t *)(void *)u->memory.data;
    u->code = u->kind + kinds;
    for (uint32_t k = 0; k < u->codes; k++)
        u->kind[k] = (uint16_t)k;
    return 0;
}

int cfu_row_codes(struct unpacker *u, size_t rows, const struct cf_coded *c)
{
    if (c->bytes != 2 * rows)
        return cfu_fail(u, "length of the codes is wrong");
    if (cfu_kinds(u, rows, c->base) < 0)
        return -1;
    memcpy(u->code, c->data, 2 * rows);
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
    return most < u->codes ? 0 : cfu_fail(u, "code is not known");
}

/* ---- columns of a packed frame ---- */

int cfu_values(struct unpacker *u, struct cf_input *in, size_t n, unsigned width, uint64_t *v)
{
    unsigned kind = in->at < in->end ? *in->at++ : 0xff, planes = kind & 15;
    if (kind & ~(15u | CF_DIFFERENCES) || planes > width)
        return cfu_fail(u, "kind of a table is not known");
    if (cfu_packet(u, in, planes * n, &u->plain[0]) < 0)
        return -1;
    if (u->plain[0].used != planes * n)
        return cfu_fail(u, "length of a table is wrong");
    uint64_t last = 0;
    cf_from_planes_64(u->plain[0].data, n, n, planes, v);
    for (size_t i = 0; i < n && kind & CF_DIFFERENCES; i++)
        v[i] = last += cf_unzigzag(v[i]);
    return 0;
}

int cfu_table(struct unpacker *u, struct cf_input *in, size_t n, unsigned width,
              struct cf_bytes *to)
{
    if (cfu_room(u, to, 8 * n) < 0)
        return -1;
    u->table = (const uint64_t *)(const void *)to->data;
    return cfu_values(u, in, n, width, (uint64_t *)(void *)to->data);
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

bool cfu_widen(unsigned from, const void *v, size_t n, uint64_t base, unsigned width, void *out)
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
