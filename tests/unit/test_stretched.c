/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stretched: frames of accesses in stretches that a program takes as they are
 * (cf_stretched.h), and as rows where it cannot: streams made by hand, byte by byte as cf-stream(5)
 * says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/codec/cf_codec.h"
#include "formats/stream/cf.h"
#include "formats/stream/cf_stretched.h"
#include "piped.h"
#include "reseal.h"
#include "stretched_frame.h"
#include "tap.h"

enum { KINDS = 5 };

static const uint8_t ops[KINDS] = {CF_LOAD, CF_STORE, CF_IFETCH, CF_PREFETCH, 9};
static const uint32_t sizes[KINDS] = {8, 1, 70000, 0, 4};

/* ---- a stream of one frame ---- */

static uint8_t stream[1 << 22];
static size_t head_bytes, used, frame_at;

/* The head of a segment, which the library's writer makes. */
static void make_head(void)
{
    const struct cf_header header = {.clock_unit = (char *)"instructions",
                                     .source = (char *)"test_stretched",
                                     .command = (char *)"none"};
    char path[] = "/tmp/cf-stretched-XXXXXX", problem[256];
    const int fd = mkstemp(path);
    struct cf_writer *w;
    ssize_t bytes;

    piped_begin(path);
    w = cf_writer_open(NULL, "test_stretched");
    if (!w || cf_writer_header(w, &header) || cf_writer_close(w, 1, problem, sizeof problem) != 0)
        abort();
    piped_end();
    bytes = pread(fd, stream, sizeof stream, 0);
    head_bytes = bytes > 0 ? reseal_size(stream, (size_t)bytes) : 0;
    if (!head_bytes)
        abort();
    close(fd);
    unlink(path);
}

struct column {
    unsigned id, type, codec;
    uint64_t base;
    const void *data;
    size_t bytes;
};

static void put(uint64_t v, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        stream[used++] = (uint8_t)(v >> 8 * k);
}

static void put_frame(unsigned table, uint32_t rows, const struct column *c, unsigned count)
{
    size_t total = RESEAL_FRAME + count * (size_t)RESEAL_COLUMN;

    used = frame_at = head_bytes;
    for (unsigned i = 0; i < count; i++)
        total += (c[i].bytes + 7) & ~(size_t)7;
    if (frame_at + total > sizeof stream)
        abort();
    memset(stream + used, 0, total);
    memcpy(stream + used, "CFfr", 4);
    used += 4;
    put(total, 4);
    put(table, 2);
    put(count, 2);
    put(rows, 4);
    put(0, 8);
    put(1 << 20, 8);
    put(0, 8);
    for (unsigned i = 0; i < count; i++) {
        put(c[i].id, 2);
        put(c[i].type, 1);
        put(c[i].codec, 1);
        put(c[i].bytes, 4);
        put(c[i].base, 8);
        put(0, 8);
    }
    for (unsigned i = 0; i < count; i++, used = (used + 7) & ~(size_t)7) {
        if (c[i].bytes)
            memcpy(stream + used, c[i].data, c[i].bytes);
        used += c[i].bytes;
    }
    if (used != frame_at + total || reseal(stream, used) != 2)
        abort();
}

/* ---- what stretches are in bytes ---- */

static uint8_t code[1 << 20], address[1 << 21], op_table[64], size_table[256], *code_at;
static struct column code_column, address_column, op_column, size_column;

static void put_code(uint64_t v, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        *code_at++ = (uint8_t)(v >> 8 * k);
}

static void put_varint(uint64_t v)
{
    for (; v > 127; v >>= 7)
        *code_at++ = (uint8_t)(v | 128);
    *code_at++ = (uint8_t)v;
}

/* One number of each row of all stretches. */
static void put_of_rows(const struct cf_stretched *s, const uint16_t *numbers)
{
    for (uint32_t i = 0; i < s->stretches; i++)
        for (uint32_t k = 0; k < s->stretch[i].rows; k++)
            put_code(numbers ? numbers[CF_STRETCHED_GROUP * s->stretch[i].group + k] : k, 2);
}

static void make_columns(const struct cf_stretched *s)
{
    struct cf_coded c;

    code_at = code;
    put_varint(s->stretches);
    put_varint(made_all);
    put_varint(s->tokens);
    for (uint32_t i = 0; i < s->stretches; i++)
        put_code(s->stretch[i].rows, 2);
    for (uint32_t i = 0; i < s->stretches; i++)
        put_code(s->stretch[i].slots, 2);
    for (uint32_t i = 0; i < s->stretches; i++)
        put_code((uint64_t)s->stretch[i].time, 4);
    put_of_rows(s, s->kind);
    put_of_rows(s, NULL);
    put_of_rows(s, s->place);
    memcpy(code_at, s->token, 2 * s->tokens);
    code_at += 2 * s->tokens;
    code_column =
        (struct column){CF_CODE, CF_BLOB, CF_STRETCHES, s->kinds, code, (size_t)(code_at - code)};
    memcpy(address, s->delta, 8 * (size_t)made_all);
    memcpy(address + 8 * (size_t)made_all, s->slot, s->slot_bytes);
    address_column = (struct column){CF_ADDR, CF_U64,  CF_ADDRESSES,
                                     0,       address, 8 * (size_t)made_all + s->slot_bytes};
    cf_encode_of_kind(ops, 1, KINDS, op_table, &c);
    op_column = (struct column){CF_OP, CF_U8, c.codec, c.base, op_table, c.bytes};
    cf_encode_of_kind(sizes, 4, KINDS, size_table, &c);
    size_column = (struct column){CF_SIZE, CF_U32, c.codec, c.base, size_table, c.bytes};
}

/* Three stretches, one without rows, and one of 20,000 slots. */
static void make_stretches(struct cf_stretched *s, unsigned times)
{
    static uint64_t slot[20000];
    const struct frame_row first[] = {{0x400000, 2, CF_STRETCH_NO_SLOT},
                                      {(uint64_t)-8, 0, 1},
                                      {0x400004, 2, CF_STRETCH_NO_SLOT},
                                      {16, 1, 0},
                                      {0x1234, 3, 1}},
                           one[] = {{0x500000, 4, CF_STRETCH_NO_SLOT}},
                           high[] = {{0, 0, 19999}, {1, 0, 0},     {2, 1, 10921},
                                     {3, 1, 10922}, {4, 3, 10923}, {5, 4, 16384}};

    for (unsigned i = 0; i < 20000; i++)
        slot[i] = (i * UINT64_C(0x9e3779b97f4a)) & CF_STRETCH_ADDRESS;
    frame_begin(KINDS);
    (void)frame_stretch(first, 5, 2, 7);
    (void)frame_stretch(NULL, 0, 3, 100);
    (void)frame_stretch(one, 1, 0, 1);
    (void)frame_stretch(high, 6, 20000, 9);
    for (unsigned i = 0; i < times; i++)
        if (!frame_come(i % 3 == 2 ? 2 : (int)(i % 3), slot + i % 1000))
            abort();
    for (unsigned i = 0; i < 2; i++)
        if (!frame_come(3, slot))
            abort();
    frame_end(s, ops, sizes);
}

/* ---- and read ---- */

static struct cf_reader *reader;

static void read_begin(void)
{
    static char name[64], *files[1] = {name};
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("stream", 0);
    if (fd < 0 || pwrite(fd, stream, used, 0) != (ssize_t)used || ftruncate(fd, (off_t)used) != 0)
        abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    reader = cf_reader_open(files, 1);
    if (!reader)
        abort();
    cf_reader_want(reader, CF_ACCESS, CF_ADDR, CF_REQUIRED);
    cf_reader_want_each(reader, CF_ACCESS, CF_OPTIONAL, CF_OP, CF_SIZE);
    cf_reader_want_each(reader, CF_LINE, CF_OPTIONAL, CF_ADDR, CF_OP);
    cf_reader_pieces(reader);
    cf_reader_stretches(reader);
}

/* The next frame of rows, or NULL. */
static struct cf_frame *read_frame(void)
{
    struct cf_frame *f;

    read_begin();
    while (cf_reader_next(reader, &f) > 0)
        if (f->table != CF_HEADER)
            return f;
    return NULL;
}

static int same_rows(const struct cf_frame *f, uint32_t from, const uint8_t *op,
                     const uint32_t *size)
{
    const uint64_t *a = cf_u64(f, CF_ADDR);
    const uint8_t *o = cf_u8(f, CF_OP);
    const uint32_t *s = cf_u32(f, CF_SIZE);

    return a && !memcmp(a, row_addr + from, f->rows * sizeof *a) && !o == !op && !s == !size &&
           (!op || !memcmp(o, op + from, f->rows)) &&
           (!size || !memcmp(s, size + from, f->rows * sizeof *s));
}

/* Whether what is given is what was made, beside operations and sizes. */
static int same_stretches(const struct cf_stretched *a, const struct cf_stretched *b)
{
    if (a->rows != b->rows || a->kinds != b->kinds || a->stretches != b->stretches ||
        a->groups != b->groups || a->tokens != b->tokens || a->slot_bytes != b->slot_bytes ||
        memcmp(a->token, b->token, 2 * a->tokens) != 0 ||
        memcmp(a->slot, b->slot, a->slot_bytes) != 0 ||
        memcmp(a->delta, b->delta, 8 * (size_t)made_all) != 0 ||
        memcmp(a->kind, b->kind, 2 * CF_STRETCHED_GROUP * (size_t)a->groups) != 0 ||
        memcmp(a->place, b->place, 2 * CF_STRETCHED_GROUP * (size_t)a->groups) != 0)
        return 0;
    for (uint32_t i = 0; i < a->stretches; i++)
        if (a->stretch[i].group != b->stretch[i].group ||
            a->stretch[i].rows != b->stretch[i].rows ||
            a->stretch[i].slots != b->stretch[i].slots || a->stretch[i].time != b->stretch[i].time)
            return 0;
    return 1;
}

/* A frame of stretches with these columns of operations and sizes, where they have an id: how it
   is taken, and then as rows. */
static void check(const struct cf_stretched *s, const struct column *op, const struct column *size,
                  int want, const uint8_t *all_ops, const uint32_t *all_sizes, const char *what)
{
    static const struct column none;
    const struct column columns[] = {code_column,
                                     {CF_TIME, CF_U64, CF_CLOCK, 5, NULL, 0},
                                     address_column,
                                     op     ? *op
                                     : size ? *size
                                            : none,
                                     op && size ? *size : none};
    struct cf_stretched got;
    struct cf_frame *f;
    unsigned other = 0;
    int result;

    put_frame(CF_ACCESS, s->rows, columns, 3 + !!op + !!size);
    f = read_frame();
    need(f && f->rows == s->rows && !cf_values(f, CF_ADDR) && !cf_values(f, CF_OP),
         "%s: a whole frame, not decoded", what);
    result = cf_frame_stretched(f, &got);
    ok(result == want && !cf_reader_problem(reader), "%s: %s", what,
       want ? "given as stretches" : "not given as stretches");
    if (result == 1) {
        ok(same_stretches(&got, s), "%s: those that were made", what);
        ok(!got.op == !all_ops && !got.size == !all_sizes, "%s: what it says of kinds", what);
    }
    for (unsigned k = 0; result == 1 && k < KINDS; k++) {
        other += op && got.op[k] != (op->codec == CF_CONST ? op->base : ops[k]);
        other += size && got.size[k] != (size->codec == CF_CONST ? size->base : sizes[k]);
    }
    ok(!other, "%s: its operations and sizes", what);
    ok(cf_frame_wanted(f) == 0 && same_rows(f, 0, all_ops, all_sizes), "%s: as rows", what);
    cf_reader_close(reader);
}

static void columns_of_rows(void)
{
    static uint8_t store[FRAME_ROWS];
    static uint32_t eight[FRAME_ROWS];
    const struct column store_column = {CF_OP, CF_U8, CF_CONST, CF_STORE, NULL, 0},
                        eight_column = {CF_SIZE, CF_U32, CF_CONST, 8, NULL, 0};
    struct column raw_ops = {CF_OP, CF_U8, CF_RAW, 0, row_op, 0},
                  raw_sizes = {CF_SIZE, CF_U32, CF_RAW, 0, row_size, 0};
    struct cf_stretched s;

    make_stretches(&s, 10000);
    make_columns(&s);
    need(frame_rows(&s) == s.rows && s.rows > CF_PIECE_ROWS, "more rows than a piece has");
    raw_ops.bytes = s.rows;
    raw_sizes.bytes = 4 * (size_t)s.rows;
    memset(store, CF_STORE, sizeof store);
    for (uint32_t i = 0; i < FRAME_ROWS; i++)
        eight[i] = 8;
    check(&s, &op_column, &size_column, 1, row_op, row_size, "by kind");
    check(&s, &store_column, &size_column, 1, store, row_size, "one operation");
    check(&s, &op_column, &eight_column, 1, row_op, eight, "one size");
    check(&s, &op_column, NULL, 1, row_op, NULL, "no sizes");
    check(&s, NULL, &eight_column, 1, NULL, eight, "no operations");
    check(&s, &raw_ops, &size_column, 0, row_op, row_size, "an operation a row");
    check(&s, &op_column, &raw_sizes, 0, row_op, row_size, "a size a row");
    frame_free(&s);
}

/* A frame that is not of accesses in stretches. */
static void others(void)
{
    struct cf_stretched s, got;
    struct cf_frame *f;
    uint64_t value;

    make_stretches(&s, 100);
    make_columns(&s);
    (void)frame_rows(&s);
    put_frame(CF_LINE, s.rows, (const struct column[]){code_column, address_column, op_column}, 3);
    f = read_frame();
    ok(f && f->table == CF_LINE && same_rows(f, 0, row_op, NULL), "another table: its rows");
    ok(f && cf_frame_stretched(f, &got) == 0 && !cf_reader_problem(reader),
       "another table is not given as stretches");
    cf_reader_close(reader);

    put_frame(CF_ACCESS, s.rows,
              (const struct column[]){code_column,
                                      {CF_ADDR, CF_U64, CF_RAW, 0, row_addr, 8 * (size_t)s.rows}},
              2);
    f = read_frame();
    ok(f && cf_frame_stretched(f, &got) == 0 && !cf_reader_problem(reader),
       "nor are other addresses");
    ok(f && cf_frame_wanted(f) == 0 && same_rows(f, 0, NULL, NULL), "which are rows");
    cf_reader_close(reader);

    put_frame(CF_ACCESS, s.rows,
              (const struct column[]){{CF_ADDR, CF_U64, CF_RAW, 0, row_addr, 8 * (size_t)s.rows},
                                      {CF_TID, CF_U32, CF_CONST, 77, NULL, 0},
                                      {CF_OP, CF_U8, CF_RAW, 0, row_op, s.rows}},
              3);
    f = read_frame();
    ok(f && same_rows(f, 0, row_op, NULL) && cf_frame_stretched(f, &got) == 0 &&
           !cf_reader_problem(reader),
       "rows are not given as stretches");
    ok(f && cf_frame_has(f, CF_ADDR) && cf_frame_has(f, CF_OP) && !cf_frame_has(f, CF_PID),
       "the columns that it has");
    ok(f && cf_frame_constant(f, CF_TID, &value) && value == 77 &&
           !cf_frame_constant(f, CF_OP, &value) && !cf_frame_constant(f, CF_PID, &value),
       "and of which it states one value");
    cf_reader_close(reader);

    put_frame(CF_ACCESS, s.rows,
              (const struct column[]){{CF_CODE, CF_BLOB, CF_RAW, 8, row_op, 8},
                                      {CF_ADDR, CF_U64, CF_RAW, 0, row_addr, 8 * (size_t)s.rows}},
              2);
    f = read_frame();
    ok(f && same_rows(f, 0, NULL, NULL), "nor are those with codes of another kind: their rows");
    cf_reader_close(reader);
    frame_free(&s);
}

static struct cf_coded coded(const struct column *c)
{
    return (struct cf_coded){(uint16_t)c->id,    (uint8_t)c->type, (uint8_t)c->codec,
                             (uint32_t)c->bytes, c->base,          c->data};
}

/* The kinds of all rows, where nothing asked for rows before. */
static unsigned other_kinds(const struct cf_stretched *s, const uint16_t *code)
{
    unsigned wrong = 0;

    for (size_t i = 0; code && i < s->tokens; i++) {
        const struct cf_stretch *of = &s->stretch[frame_number(s->token + 2 * i, 2)];

        for (unsigned k = 0; k < of->rows; k++)
            wrong += *code++ != s->kind[CF_STRETCHED_GROUP * of->group + k];
    }
    return wrong + !code;
}

static void by_decoder(void)
{
    const uint64_t pcs[KINDS] = {0x1000, 0x1004, 0x1008, 0x2000, 0x2004};
    uint8_t pc_table[9 * KINDS + 16];
    struct cf_decoder *d = cf_decoder_new();
    struct cf_coded c[3], pc;
    struct cf_row_kinds kinds = {0};
    struct cf_stretched s, got;
    uint32_t count;
    bool damaged;

    make_stretches(&s, 100);
    make_columns(&s);
    cf_encode_of_kind(pcs, 8, KINDS, pc_table, &pc);
    c[0] = coded(&code_column);
    c[1] = coded(&address_column);
    c[2] = (struct cf_coded){CF_PC, CF_U64, pc.codec, pc.bytes, pc.base, pc.data};
    cf_decoder_frame(d, s.rows, c, 3);
    ok(cf_decoder_stretched(d, &got) == 1 && same_stretches(&got, &s), "a decoder gives them");
    ok(!other_kinds(&s, cf_decoder_codes(d, &count, &damaged)) && !damaged && count == KINDS,
       "and the kind of each row after them");
    cf_decoder_frame(d, s.rows, c, 3);
    ok(!other_kinds(&s, cf_decoder_codes(d, &count, &damaged)) && !damaged, "and without them");
    make_stretches(&got, 40); /* another frame */
    make_columns(&got);
    c[0] = coded(&code_column);
    c[1] = coded(&address_column);
    cf_decoder_frame(d, got.rows, c, 3);
    ok(cf_decoder_kinds(d, &kinds) == 1 && !other_kinds(&got, kinds.code), "with the pc of each");
    frame_free(&got);
    c[1].type = CF_U32;
    cf_decoder_frame(d, s.rows, c, 3);
    ok(cf_decoder_stretched(d, &got) == 0, "addresses of 4 bytes are none");
    c[1].type = CF_U64;
    c[0].codec = CF_CODES;
    cf_decoder_frame(d, s.rows, c, 3);
    ok(cf_decoder_stretched(d, &got) == 0, "nor are those without stretches");
    cf_decoder_free(d);
    frame_free(&s);
}

/* What is damaged behind checksums that hold: of `columns`, byte `at` of one is changed. */
static void damage(struct column *columns, unsigned which, size_t at, const char *what,
                   const char *why)
{
    uint8_t *const byte = (uint8_t *)(uintptr_t)columns[which].data + at, was = *byte;
    struct cf_stretched got;
    struct cf_frame *f;

    *byte = 0xff;
    put_frame(CF_ACCESS, made.rows, columns, 3);
    *byte = was;
    f = read_frame();
    ok(f && cf_frame_stretched(f, &got) == -1, "%s: damaged", what);
    ok(cf_reader_problem(reader) && strstr(cf_reader_problem(reader), why), "%s: %s", what,
       cf_reader_problem(reader));
    is_u64(cf_reader_damages(reader), 1, "%s: one problem", what);
    ok(f && cf_frame_wanted(f) == -1, "%s: no rows either", what);
    cf_reader_close(reader);
}

static void damages(void)
{
    struct column columns[3];
    struct cf_stretched s, got;
    struct cf_frame *f;

    make_stretches(&s, 100);
    make_columns(&s);
    memcpy(columns, (const struct column[]){code_column, address_column, op_column},
           sizeof columns);
    damage(columns, 0, code_column.bytes - 1, "a stretch that is none", "stretch is not known");
    damage(columns, 0, code_column.bytes - 2 * s.tokens - 1, "a slot that is none",
           "slot is not known");
    damage(columns, 0, code_column.bytes - 2 * s.tokens - 2 * made_all * 2 - 1,
           "a kind that is none", "code is not known");
    columns[0].bytes -= 2;
    damage(columns, 0, 0, "a token fewer", "length of the codes");
    columns[0].bytes += 2;
    columns[1].bytes--;
    damage(columns, 1, 0, "a byte fewer of addresses", "length of the addresses");
    columns[1].bytes++;

    /* the table of operations: rows are asked for, which say what is wrong */
    columns[2].bytes--;
    put_frame(CF_ACCESS, s.rows, columns, 3);
    f = read_frame();
    ok(f && cf_frame_stretched(f, &got) == 0 && cf_frame_wanted(f) == -1,
       "a byte fewer of operations: damaged");
    ok(cf_reader_problem(reader) && strstr(cf_reader_problem(reader), "column op"),
       "and so says %s", cf_reader_problem(reader));
    is_u64(cf_reader_damages(reader), 1, "one problem");
    cf_reader_close(reader);
    frame_free(&s);
}

int main(void)
{
    make_head();
    columns_of_rows();
    others();
    by_decoder();
    damages();
    return done();
}
