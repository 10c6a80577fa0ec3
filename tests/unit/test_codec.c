/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Codecs: what is encoded comes back, for rows that repeat and rows that are hostile to every
 * assumption; the bytes depend on nothing but the rows; packing never costs much more than plain
 * columns; and damaged bytes give an error or other values, never more than that. Run it under
 * AddressSanitizer: damaged columns lie in memory of exactly their size.
 */
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "cpus.h"
#include "formats/codec/cf_codec.h"
#include "tap.h"

enum { MOST_COLUMNS = 16 };

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du >> 8;
}

static uint64_t below(uint64_t n)
{
    return rnd() % n;
}

/* A frame as the encoder gets it, and its columns in one piece of memory each. */
struct rows {
    size_t rows;
    unsigned count, table;
    struct cf_values column[MOST_COLUMNS];
    uint32_t *hint;
    size_t blob_bytes;
};

struct coded {
    size_t rows;
    unsigned count;
    struct cf_coded column[CF_MAX_COLUMNS + 1];
};

static size_t width_of(unsigned column)
{
    return cf_type_width(cf_column_type(column));
}

static void *get(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        abort();
    return p;
}

static void release(struct rows *r)
{
    for (unsigned i = 0; i < r->count; i++)
        free((void *)(uintptr_t)r->column[i].values);
    free(r->hint);
}

static void release_coded(struct coded *c)
{
    for (unsigned i = 0; i < c->count; i++)
        free((void *)(uintptr_t)c->column[i].data);
}

/* A column like the given one, each value computed by `f` from the row. */
static void add(struct rows *r, unsigned column, uint64_t (*f)(size_t row))
{
    size_t width = width_of(column);
    uint8_t *v = get(r->rows * width);
    for (size_t i = 0; i < r->rows; i++) {
        uint64_t x = f(i);
        memcpy(v + i * width, &x, width);
    }
    r->column[r->count++] = (struct cf_values){column, v, 0};
}

/* Encodes, and copies the result to memory of its exact size. */
static int encode(struct cf_encoder *e, const struct rows *r, int hinted, struct coded *c)
{
    int n = cf_encoder_frame(e, r->table, r->rows, r->column, r->count, hinted ? r->hint : NULL,
                             NULL, r->blob_bytes, c->column);
    if (n < 0)
        return -1;
    c->count = (unsigned)n;
    c->rows = r->rows;
    for (unsigned i = 0; i < c->count; i++) {
        uint8_t *copy = get(c->column[i].bytes);
        if (c->column[i].bytes)
            memcpy(copy, c->column[i].data, c->column[i].bytes);
        c->column[i].data = copy;
    }
    return 0;
}

static size_t coded_bytes(const struct coded *c)
{
    size_t n = 0;
    for (unsigned i = 0; i < c->count; i++)
        n += c->column[i].bytes;
    return n;
}

static int has_codec(const struct coded *c, unsigned column, int codec)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->column[i].id == column && c->column[i].codec == codec)
            return 1;
    return 0;
}

static int column_equals(struct cf_decoder *d, const struct rows *r, unsigned i)
{
    size_t bytes, width = width_of(r->column[i].column);
    const uint8_t *v = cf_decoder_column(d, i, &bytes);
    if (!v) {
        note("column %u: %s", r->column[i].column, cf_decoder_problem(d));
        return 0;
    }
    if (!width)
        return bytes == r->blob_bytes && !memcmp(v, r->column[i].values, bytes);
    for (size_t k = 0; k < r->rows; k++)
        if (memcmp(v + k * width,
                   r->column[i].values ? (const uint8_t *)r->column[i].values + k * width
                                       : (const uint8_t *)&r->column[i].constant,
                   width)) {
            note("column %u differs at row %zu of %zu", r->column[i].column, k, r->rows);
            return 0;
        }
    return 1;
}

/* The columns piece by piece; here and there one is not asked for. */
static int pieces_equal(struct cf_decoder *d, const struct rows *r, const struct coded *c,
                        size_t most)
{
    cf_decoder_frame(d, c->rows, c->column, c->count);
    for (size_t at = 0, n; (n = cf_decoder_piece(d, at, most)); at += n)
        for (unsigned i = 0; i < r->count; i++) {
            size_t width = width_of(r->column[i].column);
            const uint8_t *v, *wanted = r->column[i].values;
            if (!width || !wanted || below(8) == 0)
                continue;
            v = cf_decoder_column(d, i, NULL);
            if (!v || memcmp(v, wanted + at * width, n * width)) {
                note("column %u differs in rows %zu to %zu of %zu", r->column[i].column, at, at + n,
                     r->rows);
                return 0;
            }
        }
    return 1;
}

/* All columns, each alone in a decoder that knows nothing else of the frame, and in pieces. */
static int decodes(struct cf_decoder *d, const struct rows *r, const struct coded *c)
{
    int good = 1;
    cf_decoder_frame(d, c->rows, c->column, c->count);
    for (unsigned i = r->count; i-- > 0;)
        good &= column_equals(d, r, i);
    for (unsigned i = 0; i < r->count; i++) {
        cf_decoder_frame(d, c->rows, c->column, c->count);
        good &= column_equals(d, r, i);
    }
    return good & pieces_equal(d, r, c, 1 + below(r->rows + 1)) & pieces_equal(d, r, c, 1000);
}

static int same_coded(const struct coded *a, const struct coded *b)
{
    if (a->count != b->count)
        return 0;
    for (unsigned i = 0; i < a->count; i++)
        if (a->column[i].id != b->column[i].id || a->column[i].codec != b->column[i].codec ||
            a->column[i].base != b->column[i].base || a->column[i].bytes != b->column[i].bytes ||
            memcmp(a->column[i].data, b->column[i].data, a->column[i].bytes))
            return 0;
    return 1;
}

/* ---- rows ---- */

static uint64_t zero(size_t row)
{
    (void)row;
    return 0;
}
static uint64_t any(size_t row)
{
    (void)row;
    return rnd() << 40 ^ rnd();
}
static uint64_t extreme(size_t row)
{
    static const uint64_t list[] = {
        0, 1, UINT64_MAX, 1ull << 63, (1ull << 63) - 1, 1ull << 32, UINT32_MAX, 255, 256};
    (void)row;
    return list[below(9)];
}
static uint64_t ascending(size_t row)
{
    return 1000000007ull * 1000 + row * 3;
}
static uint64_t descending(size_t row)
{
    return 0 - (uint64_t)row;
}
static uint64_t small(size_t row)
{
    (void)row;
    return below(4);
}
static uint64_t wide(size_t row)
{
    return (row & 1) << 31 | below(100);
}
static uint64_t rare(size_t row)
{
    return row % 97 == 96;
}

static uint64_t same(size_t row)
{
    (void)row;
    return 0xfeed00d;
}

static uint64_t (*const generators[])(size_t) = {zero,       any,   extreme, ascending,
                                                 descending, small, wide,    rare};
enum { GENERATORS = sizeof generators / sizeof *generators };

/* A made-up program: blocks of instructions that branch to few others, each access with a stride, a
   field of the object before it, or anything. `noise` of 1000 rows break the rules. */
static void program(struct rows *r, size_t rows, unsigned noise, unsigned columns, int runs)
{
    enum { BLOCKS = 40, LONGEST = 12 };
    static unsigned length[BLOCKS], kind[BLOCKS][LONGEST];
    for (int b = 0; b < BLOCKS; b++) {
        length[b] = 1 + (unsigned)below(LONGEST);
        for (int q = 0; q < LONGEST; q++)
            kind[b][q] = (unsigned)below(5);
    }
    *r = (struct rows){.rows = rows, .table = CF_ACCESS};
    uint64_t *time = get(rows * 8), *addr = get(rows * 8), *pc = get(rows * 8);
    uint32_t *size = get(rows * 4), *insns = get(rows * 4), *tid = get(rows * 4);
    uint32_t *function = get(rows * 4);
    uint8_t *op = get(rows);
    uint64_t now = 1u << 20, object = 0x7000, index = 0;
    uint64_t last[BLOCKS][LONGEST];
    memset(last, 0, sizeof last);
    r->hint = get(rows * 4);
    unsigned b = 0, q = 0;
    for (size_t i = 0; i < rows; i++) {
        int run = runs && q == 0;
        uint64_t at = 0x400000 + b * 256 + q * 4u;
        time[i] = now += run ? 2 : q % 3;
        pc[i] = at;
        op[i] = run ? CF_IFETCH : kind[b][q] == 4 ? CF_STORE : CF_LOAD;
        size[i] = run ? length[b] * 4 : 1u << kind[b][q] % 4;
        insns[i] = run ? length[b] : 0;
        tid[i] = 100 + (uint32_t)(i / 5000) % 3;
        function[i] = 7 + b / 4;
        uint64_t *l = &last[b][q];
        if (run)
            *l = at;
        else if (kind[b][q] == 0)
            *l = object = 0x10000000 + below(1 << 20) * 16;
        else if (kind[b][q] == 1)
            *l = object + q * 8;
        else if (kind[b][q] == 2)
            *l = 0x20000000 + 8 * (index = below(1 << 16));
        else if (kind[b][q] == 3)
            *l = 0x30000000 + 24 * index;
        else
            *l += b;
        addr[i] = *l;
        r->hint[i] = 1 + b * LONGEST + q;
        if (below(1000) < noise) {
            addr[i] = any(i);
            now += below(1 << 30);
        }
        if (++q == length[b]) {
            q = 0;
            b = (unsigned)below(4) ? (b + 1) % BLOCKS : (unsigned)below(BLOCKS);
        }
    }
    const struct cf_values all[] = {
        {CF_TIME, time, 0}, {CF_PC, pc, 0},   {CF_OP, op, 0},       {CF_ADDR, addr, 0},
        {CF_SIZE, size, 0}, {CF_TID, tid, 0}, {CF_INSNS, insns, 0}, {CF_FUNCTION, function, 0}};
    for (unsigned i = 0; i < 8; i++) {
        if (columns & 1u << i)
            r->column[r->count++] = all[i];
        else
            free((void *)(uintptr_t)all[i].values);
    }
    r->column[r->count++] = (struct cf_values){CF_CPU, NULL, 3};
}

/* ---- checks ---- */

static void check_wire(const char *cpu)
{
    static const unsigned ids[] = {CF_OP, CF_SIZE, CF_ADDR, CF_FUNCTION, CF_LEVEL};
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, CF_WIRE_ROWS};
    struct cf_decoder *d = cf_decoder_new();
    int good = 1, smaller = 1;
    for (unsigned k = 0; k < 5; k++)
        for (unsigned g = 0; g < GENERATORS; g++)
            for (unsigned s = 0; s < 8; s++) {
                struct rows r = {.rows = sizes[s]};
                struct cf_coded c = {.id = (uint16_t)ids[k]};
                uint8_t *scratch = get(r.rows * 4);
                add(&r, ids[k], generators[g]);
                cf_encode_wire(cf_column_type(ids[k]), r.column[0].values, r.rows, scratch, &c);
                uint8_t *copy = get(c.bytes);
                if (c.bytes)
                    memcpy(copy, c.data, c.bytes);
                c.data = copy;
                smaller &= c.bytes <= r.rows * width_of(ids[k]);
                cf_decoder_frame(d, r.rows, &c, 1);
                good &= column_equals(d, &r, 0);
                free(copy);
                free(scratch);
                release(&r);
            }
    ok(good, "%s: wire columns come back", cpu);
    ok(smaller, "%s: wire columns are never larger than raw", cpu);
    cf_decoder_free(d);
}

static void check_plain(void)
{
    static const unsigned ids[] = {CF_OP, CF_SIZE, CF_ADDR, CF_TIME, CF_SITE};
    static const size_t sizes[] = {0, 1, 2, 9, 65, 1000, 20000};
    struct cf_encoder *e = cf_encoder_new(3);
    struct cf_decoder *d = cf_decoder_new();
    int good = 1;
    for (unsigned g = 0; g < GENERATORS; g++)
        for (unsigned s = 0; s < 7; s++) {
            struct rows r = {.rows = sizes[s], .table = CF_OBJECT};
            struct coded c;
            for (unsigned k = 0; k < 5; k++)
                add(&r, ids[k], generators[(g + k) % GENERATORS]);
            good &= encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
            release_coded(&c);
            release(&r);
        }
    ok(good, "plain columns come back");

    struct rows r = {.rows = 3, .table = CF_STRING, .blob_bytes = 5000};
    struct coded c;
    char *text = get(r.blob_bytes);
    for (size_t i = 0; i < r.blob_bytes; i++)
        text[i] = (char)("abcde"[below(5)]);
    add(&r, CF_ID, ascending);
    add(&r, CF_LENGTH, small);
    r.column[r.count++] = (struct cf_values){CF_TEXT, text, 0};
    ok(encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c), "a blob comes back");
    ok(coded_bytes(&c) < 2500, "a blob is compressed");
    release_coded(&c);
    release(&r);

    r = (struct rows){.rows = 300, .table = CF_OBJECT};
    add(&r, CF_ADDR, same);
    add(&r, CF_SIZE, ascending);
    good = encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
    ok(good && c.column[0].codec == CF_CONST && c.column[0].base == same(0) && !c.column[0].bytes,
       "a column of one value takes no bytes");
    ok(good && c.column[1].codec != CF_CONST, "... and one of several does");
    release_coded(&c);
    release(&r);

    enum { OURS = 40000 };
    uint16_t *v = get(500 * sizeof *v);
    for (int i = 0; i < 500; i++)
        v[i] = (uint16_t)(i / 7 * 300);
    r = (struct rows){.rows = 500, .table = CF_ACCESS};
    add(&r, CF_ADDR, ascending);
    r.column[r.count++] = (struct cf_values){OURS, v, 0};
    c.column[1].type = 0;
    ok(encode(e, &r, 0, &c) < 0, "a column of no known type is refused");
    c.column[1].type = CF_U16;
    ok(encode(e, &r, 0, &c) == 0, "a column whose type was stated is taken");
    cf_decoder_frame(d, c.rows, c.column, c.count);
    const uint16_t *back = cf_decoder_column(d, 1, NULL);
    ok(back && !memcmp(back, v, 500 * sizeof *v), "... and comes back");
    release_coded(&c);
    release(&r);
    cf_encoder_free(e);
    cf_decoder_free(d);
}

static void check_packed(void)
{
    static const size_t sizes[] = {64, 65, 100, 1000, 4096, 40000};
    struct cf_encoder *e = cf_encoder_new(1);
    struct cf_decoder *d = cf_decoder_new();
    int good = 1, packed = 1, same = 1;
    for (unsigned round = 0; round < 200; round++) {
        struct rows r;
        struct coded c, again;
        unsigned noise = (unsigned[]){0, 1, 30, 300, 1000}[round % 5];
        program(&r, sizes[round % 6], noise, round < 20 ? 0xff : (unsigned)below(256), round & 1);
        good &= encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
        if (noise < 30 && round < 20 && r.rows >= 1000)
            packed &= has_codec(&c, CF_ADDR, CF_PREDICT) && has_codec(&c, CF_TIME, CF_STEPS) &&
                      has_codec(&c, CF_FUNCTION, CF_BYCODE);

        struct cf_encoder *fresh = cf_encoder_new(1);
        same &= encode(fresh, &r, 0, &again) == 0 && same_coded(&c, &again);
        cf_encoder_free(fresh);
        release_coded(&again);
        good &= encode(e, &r, 1, &again) == 0 && decodes(d, &r, &again);
        release_coded(&again);
        release_coded(&c);
        release(&r);
    }
    ok(good, "packed columns come back, with hints and without");
    ok(packed, "programs are packed");
    ok(same, "the bytes depend on the rows alone");

    good = 1;
    for (unsigned round = 0; round < 200; round++) {
        struct rows r = {.rows = sizes[round % 5], .table = CF_ACCESS};
        struct coded c;
        add(&r, CF_ADDR, generators[below(GENERATORS)]);
        add(&r, CF_PC, generators[below(GENERATORS)]);
        add(&r, CF_TIME, generators[below(GENERATORS)]);
        add(&r, CF_SIZE, generators[below(GENERATORS)]);
        add(&r, CF_OP, generators[below(GENERATORS)]);
        add(&r, CF_PHYS, generators[below(GENERATORS)]);
        add(&r, CF_SITE, generators[below(GENERATORS)]);
        good &= encode(e, &r, 0, &c) == 0 && decodes(d, &r, &c);
        release_coded(&c);
        release(&r);
    }
    ok(good, "hostile columns of accesses come back");
    cf_encoder_free(e);
    cf_decoder_free(d);
}

static uint64_t random_addr(size_t row)
{
    (void)row;
    return 0x7f0000000000 + below(1 << 28) * 8;
}
static uint64_t random_pc(size_t row)
{
    (void)row;
    return 0x400000 + below(1 << 22);
}
static uint64_t few_pcs(size_t row)
{
    (void)row;
    return 0x400000 + below(3000) * 3;
}
static uint64_t sequential(size_t row)
{
    return 0x10000 + row * 64;
}
static uint64_t clock_time(size_t row)
{
    return row * 1000 + below(900);
}

/* Against the same columns in a table that is never packed. */
static void check_growth(void)
{
    static uint64_t (*const addr[])(size_t) = {random_addr, sequential, any};
    static uint64_t (*const pc[])(size_t) = {random_pc, few_pcs, sequential, zero};
    static uint64_t (*const times[])(size_t) = {clock_time, ascending, any};
    struct cf_encoder *e = cf_encoder_new(3);
    struct cf_decoder *d = cf_decoder_new();
    double worst = 0;
    int good = 1;
    for (unsigned a = 0; a < 3; a++)
        for (unsigned p = 0; p < 4; p++)
            for (unsigned t = 0; t < 3; t++) {
                struct rows r = {.rows = 100000, .table = CF_ACCESS};
                struct coded packed, plain;
                add(&r, CF_TIME, times[t]);
                add(&r, CF_PC, pc[p]);
                add(&r, CF_ADDR, addr[a]);
                add(&r, CF_OP, small);
                good &= encode(e, &r, 0, &packed) == 0 && decodes(d, &r, &packed);
                r.table = CF_OBJECT;
                good &= encode(e, &r, 0, &plain) == 0;
                double ratio = (double)coded_bytes(&packed) / (double)coded_bytes(&plain);
                if (ratio > 1.02)
                    note("addr %u pc %u time %u: %zu packed, %zu plain", a, p, t,
                         coded_bytes(&packed), coded_bytes(&plain));
                worst = ratio > worst ? ratio : worst;
                release_coded(&packed);
                release_coded(&plain);
                release(&r);
            }
    ok(good, "rows that do not repeat come back");
    ok(worst <= 1.02, "packing never costs over 2 percent: at most %.1f", 100 * (worst - 1));

    struct rows r;
    struct coded c;
    program(&r, CF_FILE_ROWS, 1, 0xff, 1);
    ok(encode(e, &r, 1, &c) == 0 && decodes(d, &r, &c), "a full frame comes back");
    ok(coded_bytes(&c) < 2 * r.rows, "a full frame takes %.2f bytes a row",
       (double)coded_bytes(&c) / (double)r.rows);
    release_coded(&c);
    release(&r);
    cf_encoder_free(e);
    cf_decoder_free(d);
}

/* ---- damage ---- */

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
        for (unsigned codec = 0; codec < 20; codec++)
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
    for (unsigned cpu = CF_CPU_BASE; cpu <= best_cpu(); cpu++) {
        take_cpu(cpu);
        check_wire(cpu_names[cpu]);
    }
    unsetenv("CF_CPU");
    check_plain();
    check_packed();
    check_growth();
    check_damage();
    return done();
}
