/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pack.c - the packed form of accesses (cf-stream(5), "PACKED FRAMES"): encoding.
 *
 * Programs repeat themselves, so a frame is written as "the rows from i on are the rows from j on".
 * A run of rows that equals an earlier run in kind and time step is found by comparing columns,
 * many rows at a time; only where it ends, about once in 25 to 200 rows, a row is looked up by its
 * kind. What follows a row is sought where the same code last ended a run, so that neither side
 * keeps an index of every row.
 *
 * cf_pack_addresses.c codes addresses. Nothing is remembered from frame to frame: the bytes
 * of a frame depend on its rows alone, whichever thread packs it.
 */
#include <stdlib.h>

#include "cf_packer.h"

enum {
    PROBE_ROWS = 4096, /* rows that may all differ before we give up */
    NO_CODE = 0xffff,
};

/* ---- rows to codes ---- */

/* Kind of a row that has no hint: its tuple is looked up, and NO_CODE if that is new; *at is then
   where its kind belongs. Neighbours in the code stand near each other in the table, so that it is
   walked through with the program and not at random. */
static inline uint32_t tuple_kind(const struct cf_packer *p, const struct cf_row_kind *key,
                                  size_t mask, size_t *at, size_t *walked)
{
    uint64_t far = (key->pc >> 17) + ((uint64_t)key->insns << 32 | key->size) * 0x9e3779b97f4a7c15u;
    size_t h = (size_t)(key->pc ^ far * 0xd6e8feb86659fd93u >> 40) + key->op * (size_t)2;
    for (;; h++, ++*walked) {
        uint32_t kind = p->slot[h & mask];
        if (!kind) {
            *at = h & mask;
            return NO_CODE;
        }
        const struct cf_row_kind *other = &p->tuple[kind - 1];
        if (other->pc == key->pc && other->size == key->size && other->insns == key->insns &&
            other->op == key->op)
            return kind - 1;
    }
}

/* Eight rows equal eight others: the loops have constant bounds so that they become vectors. */
static inline bool same_times(const uint64_t *a, const uint64_t *b, uint64_t shift)
{
    uint64_t x = 0;
    for (int q = 0; q < 8; q++)
        x |= (a[q] - shift) ^ b[q];
    return !x;
}

static inline bool same_64(const uint64_t *a, const uint64_t *b)
{
    uint64_t x = 0;
    for (int q = 0; q < 8; q++)
        x |= a[q] ^ b[q];
    return !x;
}

static inline bool same_32(const uint32_t *a, const uint32_t *b)
{
    uint64_t x = 0;
    for (int q = 0; q < 8; q += 2)
        x |= cf_load64(a + q) ^ cf_load64(b + q);
    return !x;
}

/* How many of the n rows from i on equal those from j on, whose codes they get. Steps are compared
   as times: rows j and i have equal steps as long as i's time stays ahead by the same amount. */
static inline size_t follow_hints(uint16_t *code, const struct cf_tuple *t, const uint64_t *time,
                                  size_t i, size_t j, size_t n)
{
    const uint32_t *a = t->hint + i, *b = t->hint + j;
    const uint64_t *ta = time ? time + i : NULL, *tb = time ? time + j : NULL;
    uint64_t shift = time ? ta[-1] - tb[-1] : 0;
    bool overlap = i - j < 8;
    size_t q = 0;
    for (; q + 8 <= n; q += 8) {
        __builtin_prefetch(a + q + CF_AHEAD);
        if (time)
            __builtin_prefetch(ta + q + CF_AHEAD);
        if (!overlap)
            memcpy(code + i + q, code + j + q, 16);
        if (!same_32(a + q, b + q) || (time && !same_times(ta + q, tb + q, shift))) {
            unsigned differ = 0; /* without branches: where a run ends cannot be foreseen */
            for (unsigned k = 0; k < 8; k++)
                differ |= (unsigned)(a[q + k] != b[q + k]) << k;
            for (unsigned k = 0; k < 8 && time; k++)
                differ |= (unsigned)(ta[q + k] - shift != tb[q + k]) << k;
            n = q + (unsigned)__builtin_ctz(differ);
        }
    }
    for (q = n < q ? n : q; q < n && a[q] == b[q] && (!time || ta[q] - shift == tb[q]); q++)
        code[i + q] = code[j + q];
    if (overlap)
        cf_copy_codes(code, i, j, q);
    return q;
}

static inline size_t follow_tuples(uint16_t *code, const struct cf_tuple *t, const uint64_t *time,
                                   size_t i, size_t j, size_t n)
{
    uint64_t shift = time ? time[i - 1] - time[j - 1] : 0;
    size_t q = 0;
    for (; q + 8 <= n; q += 8) {
        size_t a = i + q, b = j + q;
        if ((t->pc && !same_64(t->pc + a, t->pc + b)) ||
            (time && !same_times(time + a, time + b, shift)) ||
            (t->op && cf_load64(t->op + a) != cf_load64(t->op + b)) ||
            (t->size && !same_32(t->size + a, t->size + b)) ||
            (t->insns && !same_32(t->insns + a, t->insns + b)))
            break;
    }
    for (; q < n; q++) {
        size_t a = i + q, b = j + q;
        if ((t->pc && t->pc[a] != t->pc[b]) || (time && time[a] - shift != time[b]) ||
            (t->op && t->op[a] != t->op[b]) || (t->size && t->size[a] != t->size[b]) ||
            (t->insns && t->insns[a] != t->insns[b]))
            break;
    }
    cf_copy_codes(code, i, j, q);
    return q;
}

/* Kind of a row, a new one if need be. -1 without memory, -2 when the frame has too many. */
static inline int32_t find_kind(struct cf_packer *p, const struct cf_tuple *t, size_t row,
                                size_t mask, size_t *walked)
{
    if (t->hint) {
        uint32_t id = t->hint[row];
        if (cf_array_cleared(&p->ident, &p->ident_room, (size_t)id + 1, sizeof *p->ident) < 0)
            return -1;
        struct cf_pack_ident *ident = &p->ident[id];
        if (ident->stamp == p->frame)
            return (int32_t)ident->kind;
        *ident = (struct cf_pack_ident){p->frame, p->kinds};
    } else {
        struct cf_row_kind key = {t->pc ? t->pc[row] : 0, t->size ? t->size[row] : 0,
                                  t->insns ? t->insns[row] : 0, t->op ? t->op[row] : 0};
        size_t at;
        uint32_t kind = tuple_kind(p, &key, mask, &at, walked);
        if (kind != NO_CODE)
            return (int32_t)kind;
        p->tuple[p->kinds] = key;
        p->slot[at] = (uint16_t)(p->kinds + 1);
    }
    if (p->kinds == CF_MAX_CODES)
        return -2;
    p->head[p->kinds] = NO_CODE;
    p->first_row[p->kinds] = (uint32_t)row;
    return (int32_t)p->kinds++;
}

/* Code of a row, a new one where its kind or step is new. Results as find_kind()'s. */
static int32_t find_code(struct cf_packer *p, const struct cf_tuple *t, const uint64_t *time,
                         size_t row, size_t mask, size_t *walked)
{
    int32_t kind = find_kind(p, t, row, mask, walked);
    if (kind < 0)
        return kind;
    uint16_t *head = &p->head[kind];
    uint64_t step = time && row ? time[row] - time[row - 1] : 0;
    for (uint32_t c = *head, before = NO_CODE; c != NO_CODE; before = c, c = p->next[c]) {
        if (p->step[c] == step) {
            if (before != NO_CODE) { /* to the front: it is likely to come again */
                p->next[before] = p->next[c];
                p->next[c] = *head;
                *head = (uint16_t)c;
            }
            return (int32_t)c;
        }
        ++*walked;
    }
    if (p->codes == CF_MAX_CODES)
        return -2;
    uint32_t c = p->codes++;
    p->step[c] = step;
    p->kind[c] = (uint16_t)kind;
    p->next[c] = *head;
    *head = (uint16_t)c;
    return (int32_t)c;
}

/* A varint below 2^21, without branches. */
static inline uint8_t *put_length(uint8_t *at, size_t v)
{
    unsigned more = (v > 127) + (v > 16383);
    uint32_t bytes = (uint32_t)((v & 127) | (v << 1 & 0x7f00) | (v << 2 & 0x7f0000));
    bytes |= 0x8080u >> (16 - 8 * more) & 0x8080u;
    memcpy(at, &bytes, 4);
    return at + 1 + more;
}

static int number_rows(struct cf_packer *p, size_t rows, const struct cf_tuple *t,
                       const uint64_t *time)
{
    if (++p->frame == 0) { /* stamps of old frames would come alive again */
        if (p->ident)
            memset(p->ident, 0, p->ident_room * sizeof *p->ident);
        p->frame = 1;
    }
    size_t mask = CF_SLOTS - 1; /* twice as many slots as there can be kinds */
    while (mask / 4 >= rows)
        mask /= 2;
    if (!t->hint)
        memset(p->slot, 0, (mask + 1) * sizeof *p->slot);
    p->codes = p->kinds = 0;
    p->tokens = 0;
    p->timed = time;
    uint8_t *lengths = p->lengths;
    size_t i = 0, j = 0, length = 0, walked = 0; /* j 0: a new code is expected next */
    while (i < rows) {
        if (j) {
            size_t n = t->hint ? follow_hints(p->code, t, time, i, j, rows - i)
                               : follow_tuples(p->code, t, time, i, j, rows - i);
            i += n;
            j += n;
            length += n;
            if (i == rows)
                break;
        }
        uint32_t codes = p->codes;
        int32_t c = find_code(p, t, time, i, mask, &walked);
        if (c == -1)
            return -1;
        if (c < 0 || p->codes > PROBE_ROWS + i / 4 || walked > 4 * rows + 4096 ||
            p->codes - p->kinds > PROBE_ROWS / 2 + i / 16)
            return 1;
        p->code[i] = (uint16_t)c;
        bool new = p->codes > codes;
        if (j || !new) {
            lengths = put_length(lengths, length);
            length = 0;
            p->token[p->tokens++] = (uint16_t)(new ? 0 : c + 1);
            j = new ? 0 : p->where[c] + 1;
        } else {
            length++;
        }
        p->where[c] = (uint32_t)i++;
    }
    lengths = put_length(lengths, length);
    p->lengths_used = (size_t)(lengths - p->lengths);
    return 0;
}

int cf_packer_rows(struct cf_packer *p, size_t rows, const struct cf_tuple *t)
{
    p->rows = rows;
    p->hint = t->hint;
    p->known = t->kinds;
    if (t->time) {
        int result = number_rows(p, rows, t, t->time);
        if (result <= 0)
            return result;
    }
    /* Steps that do not repeat, like those of a hardware clock, may hide kinds that do. */
    return number_rows(p, rows, t, NULL);
}

bool cf_packer_timed(const struct cf_packer *p)
{
    return p->timed;
}

int cf_packer_codes(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out)
{
    if (cf_bytes_room(out, 16) < 0)
        return -1;
    uint8_t *at = out->data + out->used;
    at = cf_put_varint(at, p->codes);
    at = cf_put_varint(at, p->kinds);
    at = cf_put_varint(at, p->tokens);
    out->used = (size_t)(at - out->data);
    if (p->kinds < p->codes) {
        uint8_t *low = (uint8_t *)p->table, *high = low + p->codes;
        for (uint32_t c = 0, kinds = 0; c < p->codes; c++) {
            unsigned k = p->kind[c] == kinds ? 0 : p->kind[c] + 1u;
            kinds += !k;
            low[c] = (uint8_t)k;
            high[c] = (uint8_t)(k >> 8);
        }
        if (cf_zip_packet(z, out, low, 2 * (size_t)p->codes) < 0)
            return -1;
    }
    if (cf_zip_packet(z, out, p->lengths, p->lengths_used) < 0)
        return -1;
    return cf_zip_packet(z, out, p->token, 2 * p->tokens);
}

int cf_packer_steps(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out)
{
    return cf_zip_table(z, out, p->step, p->codes, false);
}

#define BY_KIND(type, bits)                                                                        \
    static bool by_kind_##bits(struct cf_packer *p, const type *values, bool known)                \
    {                                                                                              \
        uint64_t *table = p->table;                                                                \
        for (uint32_t k = 0; k < p->kinds; k++)                                                    \
            table[k] = values[p->first_row[k]];                                                    \
        for (size_t i = 0; i < p->rows && !known; i += 256) {                                      \
            uint64_t x = 0;                                                                        \
            size_t end = p->rows - i < 256 ? p->rows : i + 256;                                    \
            for (size_t q = i; q < end; q++)                                                       \
                x |= values[q] ^ table[p->kind[p->code[q]]];                                       \
            if (x)                                                                                 \
                return false;                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }

CF_WIDTHS(BY_KIND)

/* What a kind says of column pc, op, size or insns. */
static uint64_t kind_value(const struct cf_row_kind *k, unsigned column)
{
    return column == CF_PC     ? k->pc
           : column == CF_OP   ? k->op
           : column == CF_SIZE ? k->size
                               : k->insns;
}

int cf_packer_by_kind(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out, unsigned width,
                      const void *values, bool known, unsigned column, uint64_t *same)
{
    if (values == CF_BY_KIND) {
        uint64_t differ = 0;
        for (uint32_t k = 0; k < p->kinds; k++) {
            p->table[k] = kind_value(cf_kind_of(p->known, p->hint[p->first_row[k]]), column);
            differ |= p->table[k] ^ p->table[0];
        }
        *same = p->table[0];
        return differ ? cf_zip_table(z, out, p->table, p->kinds, width == 8) : 2;
    }
    if (!CF_OF_WIDTH(by_kind, width, p, values, known))
        return 1;
    return cf_zip_table(z, out, p->table, p->kinds, width == 8);
}

struct cf_packer *cf_packer_new(void)
{
    struct cf_packer *p = cf_memory_grow(NULL, 0, sizeof *p);
    if (p)
        memset(p, 0, offsetof(struct cf_packer, slot));
    return p;
}

void cf_packer_free(struct cf_packer *p)
{
    if (!p)
        return;
    free(p->ident);
    free(p->student);
    free(p);
}
