/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Codecs: damaged bytes give an error or other values, never more than that. Run it under
 * AddressSanitizer: damaged columns lie in memory of exactly their size.
 */
#include "codec_rows.h"

/* Decodes every column of a damaged frame; what comes out may be wrong, and is read to its end so
   that a buffer that is too short shows. A column that is valid must be so in all pieces, and one
   that is not in none. */
static unsigned survive(struct cf_decoder *d, const struct coded *c)
{
    unsigned errors = 0;
    int valid[CF_MAX_COLUMNS + 1] = {0};
    static volatile uint8_t sink;
    cf_decoder_frame(d, c->rows, c->column, c->count);
    for (unsigned i = 0; i < c->count; i++) {
        size_t bytes, width = cf_type_width((enum cf_type)c->column[i].type);
        if (c->column[i].id == CF_CODE)
            continue;
        const uint8_t *v = cf_decoder_column(d, i, &bytes);
        if (!v) {
            errors++;
            if (!cf_decoder_problem(d))
                abort();
            continue;
        }
        valid[i] = 1;
        bytes = width ? width * c->rows : bytes;
        if (bytes) {
            sink = v[0];
            sink = v[bytes - 1];
        }
    }
    cf_decoder_frame(d, c->rows, c->column, c->count);
    for (size_t at = 0, n; (n = cf_decoder_piece(d, at, c->rows / 3 + 1)); at += n)
        for (unsigned i = 0; i < c->count; i++) {
            size_t width = cf_type_width((enum cf_type)c->column[i].type);
            if (c->column[i].id == CF_CODE || !width)
                continue;
            const uint8_t *v = cf_decoder_column(d, i, NULL);
            if (!v != !valid[i])
                abort();
            if (v)
                sink = v[n * width - 1];
        }
    (void)sink;
    return errors;
}

static size_t read_varint(const uint8_t *p, uint64_t *v)
{
    size_t n = 0;
    *v = 0;
    do
        *v |= (uint64_t)(p[n] & 127) << 7 * n;
    while (p[n++] & 128);
    return n;
}

static size_t write_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7)
        p[n++] = (uint8_t)(v | 128);
    p[n++] = (uint8_t)v;
    return n;
}

/* Writes the packets of a column anew without zstd, so that damage reaches what is inside. */
static void open_packets(struct cf_coded *c)
{
    uint64_t v, plain, bytes;
    uint8_t *out = get(c->bytes + (1u << 20));
    size_t at = 0, used = 0;
    for (int i = 0; i < 3 && c->codec == CF_CODES; i++) {
        at += read_varint(c->data + at, &v);
        used += write_varint(out + used, v);
    }
    for (int i = 0; at < c->bytes; i++) {
        if (c->codec == CF_BYCODE || c->codec == CF_STEPS || (c->codec == CF_PREDICT && i == 2))
            out[used++] = c->data[at++]; /* a table says first what it is */
        at += read_varint(c->data + at, &plain);
        at += read_varint(c->data + at, &bytes);
        used += write_varint(out + used, plain);
        used += write_varint(out + used, plain);
        if (plain == bytes)
            memcpy(out + used, c->data + at, plain);
        else if (ZSTD_decompress(out + used, plain, c->data + at, bytes) != plain)
            abort();
        at += bytes;
        used += plain;
    }
    free((void *)(uintptr_t)c->data);
    uint8_t *copy = get(used);
    memcpy(copy, out, used);
    free(out);
    c->data = copy;
    c->bytes = (uint32_t)used;
}

/* Changes every so many bytes. */
static unsigned damage(struct coded *c, size_t every, unsigned *tried)
{
    struct cf_decoder *d = cf_decoder_new();
    unsigned errors = 0;
    for (unsigned i = 0; i < c->count; i++) {
        struct cf_coded *col = &c->column[i], before = *col;
        uint8_t *data = (uint8_t *)(uintptr_t)col->data;
        for (size_t at = i % every; at < before.bytes; at += every)
            for (int kind = 0; kind < 5; kind++) {
                uint8_t was = data[at];
                data[at] = (uint8_t)(kind == 0   ? was ^ 1
                                     : kind == 1 ? was ^ 0x80
                                     : kind == 2 ? was ^ 0xff
                                     : kind == 3 ? 0
                                                 : rnd());
                errors += survive(d, c) > 0;
                ++*tried;
                data[at] = was;
            }
        for (uint32_t n = 0; n < before.bytes; n += 1 + n / 64) {
            uint8_t *cut = get(n);
            if (n)
                memcpy(cut, data, n);
            col->data = cut;
            col->bytes = n;
            errors += survive(d, c) > 0;
            ++*tried;
            free(cut);
        }
        *col = before;
        for (unsigned codec = 0; codec < CF_CODECS; codec++)
            for (unsigned type = 0; type < 10; type++) {
                col->codec = (uint8_t)codec;
                col->type = (uint8_t)type;
                errors += survive(d, c) > 0;
                ++*tried;
            }
        *col = before;
        for (int k = 0; k < 64; k++) {
            col->base = before.base ^ 1ull << k;
            errors += survive(d, c) > 0;
            ++*tried;
        }
        *col = before;
    }
    size_t rows = c->rows;
    static const size_t others[] = {0, 1, 2, 50, 99, 101, 5000, CF_FILE_ROWS};
    for (int i = 0; i < 8; i++) {
        c->rows = others[i];
        errors += survive(d, c) > 0;
        ++*tried;
    }
    c->rows = rows;
    cf_decoder_free(d);
    return errors;
}

/* A column of a frame, in memory of exactly its size. */
static void put_column(struct coded *c, unsigned id, enum cf_type type, unsigned codec,
                       uint64_t base, const void *data, size_t bytes)
{
    uint8_t *copy = get(bytes);

    if (bytes)
        memcpy(copy, data, bytes);
    c->column[c->count++] =
        (struct cf_coded){(uint16_t)id, (uint8_t)type, (uint8_t)codec, (uint32_t)bytes, base, copy};
}

/* A stretch of five rows with two slots, one of a row without, and one without rows come one after
   the other; one more does not come. */
static void make_stretches(struct coded *c)
{
    enum { STRETCHES = 4, ALL = 8, TIMES = 20, TOKENS = 3 * TIMES };
    const uint16_t rows[STRETCHES] = {5, 1, 0, 2}, slots[STRETCHES] = {2, 0, 1, 1},
                   kind[ALL] = {0, 1, 2, 0, 1, 2, 0, 0}, step[ALL] = {0, 1, 1, 2, 2, 0, 0, 0},
                   place[ALL] = {1, 0xffff, 0, 0, 1, 0xffff, 0, 0};
    const int32_t time[STRETCHES] = {3, 1, 500, 1};
    const uint64_t pc[3] = {0x400000, 0x400123, 0x412345}, delta[ALL] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t code[512], addr[8 * ALL + 3 * CF_STRETCH_SLOT * TIMES], of_kind[64], *at = code;
    struct cf_coded by_kind;
    uint16_t token[TOKENS];

    for (unsigned i = 0; i < TOKENS; i++)
        token[i] = (uint16_t)(i % 3);
    memcpy(addr, delta, sizeof delta);
    for (size_t i = sizeof delta; i < sizeof addr; i++)
        addr[i] = (uint8_t)rnd();
    at += write_varint(at, STRETCHES);
    at += write_varint(at, ALL);
    at += write_varint(at, TOKENS);
    at = (uint8_t *)memcpy(at, rows, sizeof rows) + sizeof rows;
    at = (uint8_t *)memcpy(at, slots, sizeof slots) + sizeof slots;
    at = (uint8_t *)memcpy(at, time, sizeof time) + sizeof time;
    at = (uint8_t *)memcpy(at, kind, sizeof kind) + sizeof kind;
    at = (uint8_t *)memcpy(at, step, sizeof step) + sizeof step;
    at = (uint8_t *)memcpy(at, place, sizeof place) + sizeof place;
    at = (uint8_t *)memcpy(at, token, sizeof token) + sizeof token;
    c->rows = 6 * TIMES;
    c->count = 0;
    put_column(c, CF_TIME, CF_U64, CF_CLOCK, 1000, NULL, 0);
    put_column(c, CF_ADDR, CF_U64, CF_ADDRESSES, 0, addr, sizeof addr);
    cf_encode_of_kind(pc, 8, 3, of_kind, &by_kind);
    put_column(c, CF_PC, CF_U64, by_kind.codec, 0, by_kind.data, by_kind.bytes);
    put_column(c, CF_CODE, CF_BLOB, CF_STRETCHES, 3, code, (size_t)(at - code));
}

/* One stretch of 65535 rows, of which so many are described, in a frame of `rows`: in memory that
   no frame had before. */
static unsigned survive_long(size_t rows, size_t described)
{
    static uint8_t code[32 + 6 * 65535];
    uint8_t *at = code;
    struct cf_decoder *d = cf_decoder_new();
    struct coded c = {.rows = rows};
    unsigned errors;

    memset(code, 0, sizeof code);
    at += write_varint(at, 1);
    at += write_varint(at, described);
    at += write_varint(at, 1);
    memcpy(at, (const uint8_t[]){0xff, 0xff, 1, 0}, 4); /* its rows, its slots */
    at += 8 + 6 * described + 2;
    put_column(&c, CF_TIME, CF_U64, CF_CLOCK, 1000, NULL, 0);
    put_column(&c, CF_CODE, CF_BLOB, CF_STRETCHES, 1, code, (size_t)(at - code));
    errors = survive(d, &c);
    release_coded(&c);
    cf_decoder_free(d);
    return errors;
}

/* What a frame of stretches must not say: each is refused in one of its columns. */
static void check_stretches(void)
{
    static const struct {
        const char *what;
        unsigned column; /* by its place, */
        int at;          /* byte of it, or below 0: the base, or the length */
        uint8_t value;
    } wrong[] = {
        {"no kinds", 3, -1, 0},
        {"fewer kinds than rows name", 3, -1, 2},
        {"bytes behind the times", 0, -2, 1},
        {"a byte fewer of addresses", 1, -2, 0},
        {"another number of stretches", 3, 0, 3},
        {"another number of their rows", 3, 1, 7},
        {"another number of tokens", 3, 2, 59},
        {"more rows of a stretch", 3, 3, 6},
        {"fewer rows of a stretch", 3, 3, 4},
        {"fewer rows of one that does not come", 3, 9, 1},
        {"more rows of one that does not come", 3, 9, 3},
        {"more slots", 3, 11, 3},
        {"a kind that is none", 3, 35, 3},
        {"a slot that the stretch has not", 3, 67, 2},
        {"a stretch that is none", 3, 83, 4},
    };
    struct cf_decoder *d = cf_decoder_new();
    struct coded c;

    make_stretches(&c);
    need(survive(d, &c) == 0, "a frame of stretches");
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cf_coded *const col = &c.column[wrong[i].column], before = *col;
        uint8_t *data = (uint8_t *)(uintptr_t)col->data,
                had = data[wrong[i].at < 0 ? 0 : wrong[i].at];

        if (wrong[i].at >= 0)
            data[wrong[i].at] = wrong[i].value;
        else if (wrong[i].at == -1)
            col->base = wrong[i].value;
        else
            col->bytes += wrong[i].value ? 1 : -1u;
        ok(survive(d, &c) > 0, "refused: %s", wrong[i].what);
        *col = before;
        if (wrong[i].at >= 0)
            data[wrong[i].at] = had;
    }
    unsigned tried = 0, errors = damage(&c, 1, &tried);
    ok(errors > 0, "%u damages of stretches: %u found, none harmful", tried, errors);
    release_coded(&c);
    cf_decoder_free(d);
}

static void check_damage(void)
{
    struct cf_encoder *e = cf_encoder_new(3);
    static const size_t sizes[] = {100, 300, 1500};
    for (int i = 0; i < 3; i++)
        for (int opened = 0; opened < 2; opened++) {
            struct rows r;
            struct coded c;
            unsigned tried = 0;
            program(&r, sizes[i], 20, 0xff, 1);
            need(encode(e, &r, 0, &c) == 0, "a frame of %zu rows", sizes[i]);
            for (unsigned k = 0; k < c.count && opened; k++)
                if (c.column[k].codec >= CF_CODES)
                    open_packets(&c.column[k]);
            unsigned errors = damage(&c, sizes[i] > 1000 && !thorough() ? 4 : 1, &tried);
            ok(errors > 0, "%u damages%s of %zu rows: %u found, none harmful", tried,
               opened ? " inside packets" : "", sizes[i], errors);
            release_coded(&c);
            release(&r);
        }
    struct rows r = {.rows = 200, .table = CF_OBJECT};
    struct coded c;
    unsigned tried = 0;
    add(&r, CF_ADDR, random_addr);
    add(&r, CF_TIME, clock_time);
    add(&r, CF_SITE, small);
    add(&r, CF_OP, small);
    need(encode(e, &r, 0, &c) == 0, "a plain frame");
    unsigned errors = damage(&c, 1, &tried);
    ok(errors > 0, "%u damages of plain columns: %u found, none harmful", tried, errors);
    release_coded(&c);
    release(&r);
    cf_encoder_free(e);
}

int main(void)
{
    check_damage();
    check_stretches();
    ok(survive_long(65535, 65535) == 0, "a stretch of 65535 rows");
    ok(survive_long(65535, 1) > 0, "refused: only one of its rows is described");
    ok(survive_long(1, 65535) > 0, "refused: the frame has one row");
    return done();
}
