/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * codec_rows.h - rows of many kinds for the codecs: made at random, encoded into columns that lie
 * in memory of exactly their size, decoded again and held against what they were.
 */
#ifndef CODEC_ROWS_H
#define CODEC_ROWS_H

#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "formats/codec/cf_codec.h"
#include "tap.h"

enum { MOST_COLUMNS = 16 };

static uint64_t seed = 88172645463325252u;

static inline uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du >> 8;
}

static inline uint64_t below(uint64_t n)
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

static inline size_t width_of(unsigned column)
{
    return cf_type_width(cf_column_type(column));
}

static inline void *get(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        abort();
    return p;
}

static inline void release(struct rows *r)
{
    for (unsigned i = 0; i < r->count; i++)
        free((void *)(uintptr_t)r->column[i].values);
    free(r->hint);
}

static inline void release_coded(struct coded *c)
{
    for (unsigned i = 0; i < c->count; i++)
        free((void *)(uintptr_t)c->column[i].data);
}

/* A column like the given one, each value computed by `f` from the row. */
static inline void add(struct rows *r, unsigned column, uint64_t (*f)(size_t row))
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
static inline int encode(struct cf_encoder *e, const struct rows *r, int hinted, struct coded *c)
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

static inline size_t coded_bytes(const struct coded *c)
{
    size_t n = 0;
    for (unsigned i = 0; i < c->count; i++)
        n += c->column[i].bytes;
    return n;
}

static inline int has_codec(const struct coded *c, unsigned column, int codec)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->column[i].id == column && c->column[i].codec == codec)
            return 1;
    return 0;
}

static inline int column_equals(struct cf_decoder *d, const struct rows *r, unsigned i)
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
static inline int pieces_equal(struct cf_decoder *d, const struct rows *r, const struct coded *c,
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
static inline int decodes(struct cf_decoder *d, const struct rows *r, const struct coded *c)
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

static inline int same_coded(const struct coded *a, const struct coded *b)
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

static inline uint64_t zero(size_t row)
{
    (void)row;
    return 0;
}
static inline uint64_t any(size_t row)
{
    (void)row;
    return rnd() << 40 ^ rnd();
}
static inline uint64_t extreme(size_t row)
{
    static const uint64_t list[] = {
        0, 1, UINT64_MAX, 1ull << 63, (1ull << 63) - 1, 1ull << 32, UINT32_MAX, 255, 256};
    (void)row;
    return list[below(9)];
}
static inline uint64_t ascending(size_t row)
{
    return 1000000007ull * 1000 + row * 3;
}
static inline uint64_t descending(size_t row)
{
    return 0 - (uint64_t)row;
}
static inline uint64_t small(size_t row)
{
    (void)row;
    return below(4);
}
static inline uint64_t wide(size_t row)
{
    return (row & 1) << 31 | below(100);
}
static inline uint64_t rare(size_t row)
{
    return row % 97 == 96;
}

static inline uint64_t same(size_t row)
{
    (void)row;
    return 0xfeed00d;
}

static uint64_t (*const generators[])(size_t) = {zero,       any,   extreme, ascending,
                                                 descending, small, wide,    rare};
enum { GENERATORS = sizeof generators / sizeof *generators };

/* Those of eight columns whose bits are set, and cpu; the others are freed. */
static inline void keep_columns(struct rows *r, unsigned columns, const struct cf_values *all)
{
    for (unsigned i = 0; i < 8; i++) {
        if (columns & 1u << i)
            r->column[r->count++] = all[i];
        else
            free((void *)(uintptr_t)all[i].values);
    }
    r->column[r->count++] = (struct cf_values){CF_CPU, NULL, 3};
}

enum { BLOCKS = 40, LONGEST = 12 };

/* Accesses of each block, and how each finds its address. */
static inline void make_blocks(unsigned *length, unsigned (*kind)[LONGEST])
{
    for (int b = 0; b < BLOCKS; b++) {
        length[b] = 1 + (unsigned)below(LONGEST);
        for (int q = 0; q < LONGEST; q++)
            kind[b][q] = (unsigned)below(5);
    }
}

/* A made-up program: blocks of instructions that branch to few others, each access with a stride, a
   field of the object before it, or anything. `noise` of 1000 rows break the rules. */
static inline void program(struct rows *r, size_t rows, unsigned noise, unsigned columns, int runs)
{
    static unsigned length[BLOCKS], kind[BLOCKS][LONGEST];
    make_blocks(length, kind);
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
    keep_columns(r, columns,
                 (struct cf_values[]){{CF_TIME, time, 0},
                                      {CF_PC, pc, 0},
                                      {CF_OP, op, 0},
                                      {CF_ADDR, addr, 0},
                                      {CF_SIZE, size, 0},
                                      {CF_TID, tid, 0},
                                      {CF_INSNS, insns, 0},
                                      {CF_FUNCTION, function, 0}});
}

static inline uint64_t random_addr(size_t row)
{
    (void)row;
    return 0x7f0000000000 + below(1 << 28) * 8;
}
static inline uint64_t clock_time(size_t row)
{
    return row * 1000 + below(900);
}

#endif
