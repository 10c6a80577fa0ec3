/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_unpack_rows.c - columns of a packed frame from their codes (cf-stream(5), "PACKED FRAMES"), as
 * many rows at a time as are asked for.
 *
 * A frame of a file is larger than the second-level cache when all its columns are unpacked; rows
 * that are taken in pieces stay inside it until the program has read them. So a column is first
 * taken in: its tables are read, and its tokens are counted through, which shows all that may be
 * wrong with it. Then rows follow, piece by piece, and nothing is left to check.
 */
#include <stdlib.h>

#include "cf_unpack.h"

/* Reads a table that is all there is in a column. */
static int whole_table(struct unpacker *u, const struct cf_coded *c, size_t n, unsigned width,
                       struct cf_bytes *to)
{
    struct cf_input in = cfu_input(c);
    if (cfu_table(u, &in, n, width, to) < 0)
        return -1;
    return in.at == in.end ? 0 : cfu_fail(u, "length of a table is wrong");
}

int cfu_pcs(struct unpacker *u, const struct cf_coded *pc)
{
    if (!u->has_pcs && whole_table(u, pc, u->kinds, 8, &u->pcs) < 0)
        return -1;
    u->has_pcs = true;
    u->table = (const uint64_t *)(const void *)u->pcs.data;
    return 0;
}

/* ---- time ---- */

static int begin_steps(struct cf_packed *p, struct unpacker *u, const struct cf_coded *c)
{
    if (whole_table(u, c, u->codes, 8, &p->tables) < 0)
        return -1;
    p->value = p->tables.data;
    p->time = c->base;
    return 0;
}

static void steps(struct cf_packed *p, const uint16_t *code, size_t n, uint64_t *out)
{
    const uint64_t *step = p->value;
    uint64_t time = p->time;
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++)
        out[i] = time += step[code[i]];
    p->time = time;
}

/* ---- what depends on the kind ---- */

#define BY_KIND(type, bits)                                                                        \
    static void values_##bits(const struct unpacker *u, type *value)                               \
    {                                                                                              \
        for (uint32_t c = 0; c < u->codes; c++)                                                    \
            value[c] = (type)u->table[u->kind[c]];                                                 \
    }                                                                                              \
    static void by_kind_##bits(const type *value, const uint16_t *code, size_t n, type *out)       \
    {                                                                                              \
        _Pragma("GCC unroll 8") for (size_t i = 0; i < n; i++) out[i] = value[code[i]];            \
    }

CF_WIDTHS(BY_KIND)

static int begin_by_kind(struct cf_packed *p, struct unpacker *u, const struct cf_coded *c,
                         const struct cf_coded *pc)
{
    if ((c == pc ? cfu_pcs(u, c) : whole_table(u, c, u->kinds, p->width, &u->values)) < 0 ||
        cfu_room(u, &p->tables, (size_t)p->width * u->codes) < 0)
        return -1;
    CF_OF_WIDTH(values, p->width, u, (void *)p->tables.data);
    p->value = p->tables.data;
    return 0;
}

int cfu_spread(struct unpacker *u, const uint64_t *values, unsigned width, void *out)
{
    if (cfu_room(u, &u->values, (size_t)width * u->codes) < 0)
        return -1;
    u->table = values;
    CF_OF_WIDTH(values, width, u, (void *)u->values.data);
    CF_OF_WIDTH(by_kind, width, (const void *)u->values.data, u->code, u->rows, out);
    return 0;
}

/* ---- addresses ---- */

/* Fills in the state before the first row. The flags are in u->plain[1], the first addresses in
   u->plain[2], how far each looks back, and u->table. */
static int address_tables(struct cf_packed *p, struct unpacker *u, const uint64_t *pc)
{
    const uint8_t *table = u->plain[1].data, *back = u->plain[2].data;
    uint64_t recent[CF_RECENT] = {0};
    size_t n = u->kinds, first = u->plain[2].used, next = 0;
    for (size_t k = 0; k < n; k++) {
        if (table[k] & ~CF_AT_PC || (table[k] && !pc))
            return cfu_fail(u, "flags of an address are not known");
        if (!table[k]) {
            if (next == first || back[next] < 1 || back[next] > CF_RECENT)
                return cfu_fail(u, "first addresses do not fit");
            recent[next % CF_RECENT] =
                recent[(next - back[next]) % CF_RECENT] + cf_unzigzag(u->table[next]);
        }
        p->last[k] = table[k] ? pc[k] : recent[next % CF_RECENT];
        p->ahead[k] = 0;
        next += !table[k];
    }
    if (next != first)
        return cfu_fail(u, "first addresses do not fit");
    for (uint32_t c = 0; c < u->codes; c++) {
        size_t k = u->kind[c];
        size_t ref = (k + table[2 * n + k] + ((size_t)table[3 * n + k] << 8)) & 0xffff;
        if (ref >= n)
            return cfu_fail(u, "reference of an address is not known");
        p->info[c] = (struct cf_info){(uint16_t)k, (uint16_t)ref, table[n + k]};
    }
    return 0;
}

/* A token says how many rows are predicted, and how many bytes the miss after them takes: none
   after CF_SKIP. */
static bool has_miss(unsigned token)
{
    return (token & CF_SKIP) != CF_SKIP;
}

static size_t predicted_rows(unsigned token)
{
    return has_miss(token) ? token & CF_SKIP : (size_t)CF_SKIP << (token >> 5);
}

static unsigned miss_bytes(unsigned token)
{
    return (token >> 5) + 1;
}

/* Whether the tokens reach no further than the rows, and the bytes of misses are as many as they
   say. Both are added up at once, the rows in the low half: CF_FILE_ROWS tokens cannot fill it. */
static int check_tokens(const struct cf_packed *p, struct unpacker *u)
{
    uint64_t takes[256], sum = 0;
    for (unsigned token = 0; token < 256; token++)
        takes[token] = predicted_rows(token) + has_miss(token) +
                       (has_miss(token) ? (uint64_t)miss_bytes(token) << 32 : 0);
    for (size_t t = 0; t < p->tokens.used; t++)
        sum += takes[p->tokens.data[t]];
    if ((uint32_t)sum > u->rows)
        return cfu_fail(u, "addresses do not fit the rows");
    return sum >> 32 == p->misses.used ? 0 : cfu_fail(u, "addresses do not end with the rows");
}

static int begin_addresses(struct cf_packed *p, struct unpacker *u, const struct cf_coded *c,
                           const struct cf_coded *pc)
{
    struct cf_input in = cfu_input(c);
    size_t rows = u->rows, kinds = u->kinds;
    const uint64_t *pcs = NULL;
    if (cfu_room(u, &p->tables, kinds * 16 + u->codes * sizeof(struct cf_info)) < 0)
        return -1;
    p->last = (uint64_t *)(void *)p->tables.data;
    p->ahead = p->last + kinds;
    p->info = (struct cf_info *)(void *)(p->ahead + kinds);
    if (pc) {
        if (cfu_pcs(u, pc) < 0)
            return -1;
        pcs = u->table;
    }
    if (cfu_packet(u, &in, 4 * kinds, &u->plain[1]) < 0 ||
        cfu_packet(u, &in, kinds, &u->plain[2]) < 0)
        return -1;
    if (u->plain[1].used != 4 * kinds)
        return cfu_fail(u, "length of the addresses is wrong");
    if (cfu_table(u, &in, u->plain[2].used, 8, &u->values) < 0 || address_tables(p, u, pcs) < 0 ||
        cfu_packet(u, &in, rows, &p->tokens) < 0 || cfu_packet(u, &in, 8 * rows, &p->misses) < 0)
        return -1;
    if (in.at != in.end)
        return cfu_fail(u, "length of the addresses is wrong");
    p->token = p->tokens.data;
    p->miss = p->misses.data;
    p->predicted = 0;
    p->pending = CF_SKIP;
    return check_tokens(p, u);
}

static void addresses(struct cf_packed *p, const uint16_t *code, size_t rows, uint64_t *out)
{
    const uint8_t *next = p->token, *end = p->tokens.data + p->tokens.used, *miss = p->miss;
    const struct cf_info *info = p->info;
    uint64_t *last = p->last, *ahead = p->ahead;
    unsigned token = p->pending;
    size_t i = 0, n = p->predicted;
    for (;;) {
        size_t stop = n < rows - i ? i + n : rows;
        n -= stop - i;
        for (; i < stop; i++) {
            const struct cf_info *of = &info[code[i]];
            out[i] = last[of->kind] = last[of->ref] * of->times + ahead[of->kind];
        }
        if (i == rows)
            break;
        if (has_miss(token)) {
            uint64_t v = cf_load64(miss) & UINT64_MAX >> (64 - 8 * miss_bytes(token));
            miss += miss_bytes(token);
            const struct cf_info *of = &info[code[i]];
            uint64_t scaled = last[of->ref] * of->times, a = last[of->kind] + cf_unzigzag(v);
            out[i++] = last[of->kind] = a;
            ahead[of->kind] = a - scaled;
        }
        token = next < end ? *next++ : CF_SKIP;
        n = predicted_rows(token); /* after the last token all are, as many as are left */
    }
    p->token = next;
    p->miss = miss;
    p->pending = token;
    p->predicted = n;
}

/* ---- any of them ---- */

int cf_packed_begin(struct cf_packed *p, struct unpacker *u, const struct cf_coded *c,
                    const struct cf_coded *pc, unsigned width)
{
    p->codec = c->codec;
    p->width = (uint8_t)width;
    p->row = 0;
    if (c->codec == CF_BYCODE)
        return begin_by_kind(p, u, c, pc);
    return c->codec == CF_STEPS ? begin_steps(p, u, c) : begin_addresses(p, u, c, pc);
}

void cf_packed_rows(struct cf_packed *p, const struct unpacker *u, size_t n, void *out)
{
    const uint16_t *code = u->code + p->row;
    if (p->codec == CF_BYCODE)
        CF_OF_WIDTH(by_kind, p->width, p->value, code, n, out);
    else if (p->codec == CF_STEPS)
        steps(p, code, n, out);
    else
        addresses(p, code, n, out);
    p->row += n;
}

void cf_packed_skip(struct cf_packed *p, const struct unpacker *u, size_t n, void *scratch)
{
    if (p->codec == CF_BYCODE)
        p->row += n;
    else
        cf_packed_rows(p, u, n, scratch);
}

void cf_packed_free(struct cf_packed *p)
{
    free(p->tables.data);
    free(p->tokens.data);
    free(p->misses.data);
}
