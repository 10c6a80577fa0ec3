/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pack.c - the packed form of accesses (cf-stream(5), "PACKED FRAMES"): encoding.
 *
 * Programs repeat themselves, so a frame is told as "the rows from i on are the rows from j on".
 * A run of rows that equals an earlier run in kind and time step is found by comparing columns,
 * many rows at a time; only where it ends, about once in 25 to 200 rows, a row is looked up by its
 * kind. What follows a row is sought where the same code last ended a run, so that neither side
 * keeps an index of every row.
 *
 * Addresses are predicted from the last address of the same kind or, where that is better, of
 * another kind: address = multiplier * last + difference, the difference being that of the last
 * miss. So strides, fields of one object, and tables of different element size under one index cost
 * nothing. Which kind and multiplier suit a kind is learned from some stripes of the frame. Nothing
 * is remembered from frame to frame: the bytes of a frame depend on its rows alone, whichever
 * thread packs it.
 */
#include <stdlib.h>

#include "cf_memory.h"
#include "cf_pack.h"

enum {
    ROWS_ROOM = CF_FILE_ROWS + 64,   /* so that whole blocks may be written */
    CODES_ROOM = CF_MAX_CODES + 265, /* no multiple of 4096, or stores to one array delay loads of
                                        the same place in another */
    AHEAD = 768,                     /* rows by which memory is fetched before it is used */
    PROBE_ROWS = 4096,               /* rows that may all differ before we give up */
    STRIPES = 16,                    /* parts of a frame from which is learned */
    STRIPE_ROWS = 1 << 10,           /* ... and their size; */
    MANY_KINDS = 2048,               /* where there are more kinds, four times as large */
    MIN_MISSES = 4,                  /* of a kind in all stripes, before it is worth to learn */
    CANDIDATES = 6,                  /* kinds that are tried as reference of a kind */
    NEAR_ROWS = 12,                  /* ... out of so many rows before its second row */
    TRIALS = 32,                     /* rows of a kind that are tried */
    STUDENTS = 32768,                /* kinds that are learned in one frame */
    SLOTS = 1 << 17,                 /* of the table that finds tuples, twice the most kinds */
    NO_CODE = 0xffff,
};

/* What is known about a hint. */
struct ident {
    uint32_t stamp; /* frame in which kind was set */
    uint32_t kind;
};

struct tuple {
    uint64_t pc;
    uint32_t size, insns;
    uint8_t op;
};

/* How the address of a code is predicted. */
struct info {
    uint16_t kind, ref;
    uint32_t times;
};

struct trial {
    uint16_t kind;
    uint8_t times;             /* second multiplier to try, 0 = none found yet */
    uint8_t hits, times_hits;  /* with multiplier 1, and with the second */
    uint64_t last;             /* address of the candidate at the student's row before */
    uint64_t diff, times_diff; /* ... and the differences there */
};

struct student {
    uint32_t kind;
    uint8_t rows, stride_hits, same_hits, candidates;
    uint64_t last, stride;
    struct trial trial[CANDIDATES];
};

struct cf_packer {
    size_t rows;
    uint32_t frame;
    const uint32_t *hint;
    const struct cf_kinds *known; /* of the hints, or NULL */
    uint32_t codes, kinds;
    bool timed;
    struct ident *ident;
    size_t ident_room;
    size_t lengths_used, gaps_used, values_used;
    size_t tokens;
    struct student *student;

    /* What follows is written before it is read, and not cleared. */
    uint16_t slot[SLOTS]; /* without hints: kind + 1 of a tuple, 0 = free */

    /* of each code */
    uint64_t step[CODES_ROOM];
    uint16_t next[CODES_ROOM]; /* next code of the same kind */
    uint16_t kind[CODES_ROOM];
    uint32_t where[CODES_ROOM]; /* row where it last ended a run */
    struct info info[CODES_ROOM];

    /* of each kind */
    struct tuple tuple[CODES_ROOM]; /* without hints */
    uint16_t head[CODES_ROOM];      /* newest code of this kind */
    uint32_t first_row[CODES_ROOM];
    uint64_t last[CODES_ROOM]; /* address */
    uint64_t difference[CODES_ROOM];
    uint32_t misses[CODES_ROOM];
    uint16_t ref[CODES_ROOM];
    uint8_t times[CODES_ROOM];
    uint8_t flags[CODES_ROOM];
    uint16_t student_of[CODES_ROOM];

    uint16_t code[ROWS_ROOM]; /* of each row */
    uint8_t lengths[ROWS_ROOM * 3 + 4];
    uint16_t token[ROWS_ROOM];
    uint8_t gap[ROWS_ROOM + 64];
    uint8_t value[ROWS_ROOM * 8 + 8];
    uint64_t table[CODES_ROOM]; /* one value a kind or code, of any width */
};

/* ---- rows to codes ---- */

static int ident_room(struct cf_packer *p, size_t wanted)
{
    size_t room = p->ident_room ? p->ident_room : 1024;
    while (room <= wanted)
        room *= 2;
    struct ident *ident = realloc(p->ident, room * sizeof *ident);
    if (!ident)
        return -1;
    memset(ident + p->ident_room, 0, (room - p->ident_room) * sizeof *ident);
    p->ident = ident;
    p->ident_room = room;
    return 0;
}

/* Kind of a row that has no hint: its tuple is looked up, and NO_CODE if that is new; *at is then
   where its kind belongs. Neighbours in the code stand near each other in the table, so that it is
   walked through with the program and not at random. */
static inline uint32_t tuple_kind(const struct cf_packer *p, const struct tuple *key, size_t mask,
                                  size_t *at, size_t *walked)
{
    uint64_t far = (key->pc >> 17) + ((uint64_t)key->insns << 32 | key->size) * 0x9e3779b97f4a7c15u;
    size_t h = (size_t)(key->pc ^ far * 0xd6e8feb86659fd93u >> 40) + key->op * (size_t)2;
    for (;; h++, ++*walked) {
        uint32_t kind = p->slot[h & mask];
        if (!kind) {
            *at = h & mask;
            return NO_CODE;
        }
        const struct tuple *other = &p->tuple[kind - 1];
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
        __builtin_prefetch(a + q + AHEAD);
        if (time)
            __builtin_prefetch(ta + q + AHEAD);
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
        if (id >= p->ident_room && ident_room(p, id) < 0)
            return -1;
        struct ident *ident = &p->ident[id];
        if (ident->stamp == p->frame)
            return (int32_t)ident->kind;
        *ident = (struct ident){p->frame, p->kinds};
    } else {
        struct tuple key = {t->pc ? t->pc[row] : 0, t->size ? t->size[row] : 0,
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
    size_t mask = SLOTS - 1; /* twice as many slots as there can be kinds */
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

#define BY_KIND(type)                                                                              \
    static bool by_kind_##type(struct cf_packer *p, const type *values, bool known)                \
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

BY_KIND(uint8_t)
BY_KIND(uint16_t)
BY_KIND(uint32_t)
BY_KIND(uint64_t)

uint64_t cf_kind_value(const struct cf_kind *k, unsigned column)
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
            p->table[k] = cf_kind_value(cf_kind_of(p->known, p->hint[p->first_row[k]]), column);
            differ |= p->table[k] ^ p->table[0];
        }
        *same = p->table[0];
        return differ ? cf_zip_table(z, out, p->table, p->kinds, width == 8) : 2;
    }
    bool fits = width == 1   ? by_kind_uint8_t(p, values, known)
                : width == 2 ? by_kind_uint16_t(p, values, known)
                : width == 4 ? by_kind_uint32_t(p, values, known)
                             : by_kind_uint64_t(p, values, known);
    if (!fits)
        return 1;
    return cf_zip_table(z, out, p->table, p->kinds, width == 8);
}

/* ---- addresses ---- */

static inline uint8_t *put_gap(uint8_t *gap, size_t rows)
{
    for (int shift = 7; rows >= CF_SKIP; shift--)
        for (; rows >= (size_t)CF_SKIP << shift; rows -= (size_t)CF_SKIP << shift)
            *gap++ = (uint8_t)(CF_SKIP | shift << 5);
    return gap;
}

static void begin_states(struct cf_packer *p, const uint64_t *addr, const uint64_t *pc)
{
    for (uint32_t k = 0; k < p->kinds; k++) {
        uint32_t row = p->first_row[k];
        uint64_t at = pc == CF_BY_KIND ? cf_kind_of(p->known, p->hint[row])->pc
                      : pc             ? pc[row]
                                       : ~addr[row];
        p->flags[k] = addr[row] == at ? CF_AT_PC : 0;
        p->last[k] = addr[row];
        p->difference[k] = 0;
    }
}

/* 64 rows at a time: one loop without branches over the rows, which notes where the prediction
   misses and how far the address moved, then one over the misses, which writes them. A miss costs
   little then, although none can be foreseen. */
static void predict(struct cf_packer *p, const uint64_t *addr)
{
    enum { CHUNK = 64 };
    uint64_t moved[CHUNK];
    uint8_t missed[CHUNK] = {0};
    for (uint32_t c = 0; c < p->codes; c++) {
        uint16_t k = p->kind[c];
        p->info[c] = (struct info){k, p->ref[k], p->times[k]};
    }
    uint64_t *last = p->last, *ahead = p->difference;
    const struct info *info = p->info;
    uint8_t *gap = p->gap, *value = p->value;
    size_t rows = p->rows, next = 0;
    for (size_t i = 0; i < rows; i += CHUNK) {
        const uint16_t *code = p->code + i;
        size_t end = rows - i < CHUNK ? rows - i : CHUNK;
        for (size_t q = 0; q < end; q++) {
            const struct info *of = &info[code[q]];
            uint64_t a = addr[i + q], d = a - last[of->ref] * of->times;
            size_t k = of->kind;
            /* Nothing is stored at a place that depends on what was loaded, beside the state: all
               later loads would wait for it. */
            moved[q] = a - last[k];
            missed[q] = d != ahead[k];
            ahead[k] = d; /* the same as before where there is no miss */
            last[k] = a;
        }
        for (size_t q = 0; q < CHUNK; q += 8)
            __builtin_prefetch(addr + i + AHEAD + q);
        uint64_t misses = 0;
        for (size_t q = 0; q < end; q += 8) /* gathers the lowest bit of each byte */
            misses |= (cf_load64(missed + q) * 0x0102040810204080u >> 56) << q;
        if (end < CHUNK)
            misses &= ((uint64_t)1 << end) - 1;
        for (; misses; misses &= misses - 1) {
            unsigned q = (unsigned)__builtin_ctzll(misses);
            uint64_t v = cf_zigzag(moved[q]);
            unsigned more = cf_more_bytes(v);
            size_t skip = i + q - next;
            next = i + q + 1;
            if (skip >= CF_SKIP) {
                gap = put_gap(gap, skip);
                skip %= CF_SKIP;
            }
            *gap++ = (uint8_t)(skip | more << 5);
            memcpy(value, &v, 8);
            value += more + 1;
        }
    }
    p->gaps_used = (size_t)(gap - p->gap);
    p->values_used = (size_t)(value - p->value);
}

/* Rows of a stripe: from the result on, to *end. */
static size_t stripe(const struct cf_packer *p, unsigned s, size_t *end)
{
    size_t size = p->kinds > MANY_KINDS ? 4 * STRIPE_ROWS : STRIPE_ROWS;
    if (p->rows <= STRIPES * size) { /* all in one */
        *end = s ? 0 : p->rows;
        return 0;
    }
    size_t begin = p->rows / STRIPES * s;
    *end = begin + size;
    return begin;
}

/* Picks the kinds that miss with their own stride; returns how many. */
static size_t pick_students(struct cf_packer *p, const uint64_t *addr)
{
    memset(p->misses, 0, p->kinds * sizeof *p->misses);
    for (unsigned part = 0; part < STRIPES; part++) {
        size_t end, i = stripe(p, part, &end);
        for (; i < end; i++) {
            uint32_t k = p->kind[p->code[i]];
            uint64_t difference = addr[i] - p->last[k];
            p->misses[k] += difference != p->difference[k];
            p->difference[k] = difference;
            p->last[k] = addr[i];
        }
    }
    size_t n = 0;
    memset(p->student_of, 0, p->kinds * sizeof *p->student_of);
    for (uint32_t k = 0; k < p->kinds && n < STUDENTS; k++) {
        if (p->misses[k] < MIN_MISSES)
            continue;
        struct student *s = &p->student[n++];
        p->student_of[k] = (uint16_t)n;
        *s = (struct student){.kind = k};
    }
    return n;
}

static void pick_candidates(struct cf_packer *p, struct student *s, size_t row)
{
    for (size_t d = 1; d <= NEAR_ROWS && d <= row && s->candidates < CANDIDATES; d++) {
        uint16_t k = p->kind[p->code[row - d]];
        bool bad = k == s->kind || p->flags[k] & CF_AT_PC;
        for (unsigned c = 0; c < s->candidates; c++)
            bad |= s->trial[c].kind == k;
        if (!bad)
            s->trial[s->candidates++] = (struct trial){.kind = k};
    }
}

static void try_candidates(const struct cf_packer *p, struct student *s, uint64_t a)
{
    uint64_t moved = a - s->last;
    s->stride_hits += moved == s->stride;
    s->same_hits += moved == 0;
    s->stride = moved;
    for (unsigned c = 0; c < s->candidates; c++) {
        struct trial *t = &s->trial[c];
        uint64_t other = p->last[t->kind];
        int64_t other_moved = (int64_t)(other - t->last);
        t->hits += a - other == t->diff;
        t->diff = a - other;
        t->times_hits += t->times && a - t->times * other == t->times_diff;
        if (t->hits < 2 && t->times_hits < 2 && other_moved && other_moved != -1 &&
            (int64_t)moved % other_moved == 0) {
            int64_t times = (int64_t)moved / other_moved;
            if (times > 1 && times < 256)
                t->times = (uint8_t)times;
        }
        t->times_diff = a - t->times * other;
        t->last = other;
    }
    s->last = a;
}

static void settle(struct cf_packer *p, const struct student *s)
{
    unsigned best = s->stride_hits;
    if (s->same_hits > best + s->rows / 16u) {
        best = s->same_hits;
        p->times[s->kind] = 0;
    }
    best += s->rows / 16u + 1;
    for (unsigned c = 0; c < s->candidates; c++) {
        const struct trial *t = &s->trial[c];
        bool scaled = t->hits < t->times_hits;
        unsigned hits = scaled ? t->times_hits : t->hits;
        if (hits <= best)
            continue;
        best = hits;
        p->ref[s->kind] = t->kind;
        p->times[s->kind] = scaled ? t->times : 1;
    }
}

/* Finds what predicts the kinds that miss. */
static void learn(struct cf_packer *p, const uint64_t *addr)
{
    size_t n = pick_students(p, addr), left = n;
    for (unsigned part = 0; part < STRIPES; part++) {
        size_t end, i = stripe(p, part, &end);
        for (; i < end && left; i++) {
            uint32_t k = p->kind[p->code[i]];
            if (p->student_of[k]) {
                struct student *s = &p->student[p->student_of[k] - 1];
                if (s->rows < TRIALS) {
                    if (s->rows == 1)
                        pick_candidates(p, s, i);
                    if (s->rows)
                        try_candidates(p, s, addr[i]);
                    s->last = addr[i];
                    left -= ++s->rows == TRIALS;
                }
            }
            p->last[k] = addr[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        settle(p, &p->student[i]);
}

/* The first address of each kind that does not start at its pc, as the difference to that of the
   eight before it which is nearest: stack, heap and tables take turns. */
static int put_first(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out,
                     const uint64_t *addr)
{
    uint64_t recent[CF_RECENT] = {0};
    uint8_t *back = (uint8_t *)p->info; /* not needed any more */
    size_t n = 0;
    for (uint32_t k = 0; k < p->kinds; k++) {
        if (p->flags[k] & CF_AT_PC)
            continue;
        uint64_t a = addr[p->first_row[k]], least = UINT64_MAX;
        for (unsigned b = 1; b <= CF_RECENT; b++) {
            uint64_t v = cf_zigzag(a - recent[(n - b) % CF_RECENT]);
            if (cf_more_bytes(v) < cf_more_bytes(least) || b == 1) {
                least = v;
                back[n] = (uint8_t)b;
            }
        }
        p->table[n] = least;
        recent[n++ % CF_RECENT] = a;
    }
    return cf_zip_packet(z, out, back, n) < 0 ? -1 : cf_zip_table(z, out, p->table, n, false);
}

int cf_packer_addresses(struct cf_packer *p, struct cf_zip *z, struct cf_bytes *out,
                        const uint64_t *addr, const uint64_t *pc)
{
    for (uint32_t k = 0; k < p->kinds; k++) {
        p->ref[k] = (uint16_t)k;
        p->times[k] = 1;
    }
    if (!p->student && !(p->student = malloc(STUDENTS * sizeof *p->student)))
        return -1;
    begin_states(p, addr, pc);
    learn(p, addr);
    begin_states(p, addr, pc);
    predict(p, addr);
    uint8_t *table = (uint8_t *)p->table;
    size_t n = p->kinds;
    for (size_t k = 0; k < n; k++) {
        unsigned away = p->ref[k] - (unsigned)k;
        table[k] = p->flags[k];
        table[n + k] = p->times[k];
        table[2 * n + k] = (uint8_t)away;
        table[3 * n + k] = (uint8_t)(away >> 8);
    }
    if (cf_zip_packet(z, out, table, 4 * n) < 0 || put_first(p, z, out, addr) < 0 ||
        cf_zip_packet(z, out, p->gap, p->gaps_used) < 0)
        return -1;
    return cf_zip_packet(z, out, p->value, p->values_used);
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
