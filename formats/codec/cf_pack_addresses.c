/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_pack_addresses.c - the packed form of accesses: how their addresses are coded (cf-stream(5),
 * codec predict).
 *
 * Addresses are predicted from the last address of the same kind or, where that is better, of
 * another kind: address = multiplier * last + difference, the difference being that of the last
 * miss. So strides, fields of one object, and tables of different element size under one index cost
 * nothing. Which kind and multiplier suit a kind is learned from some stripes of the frame.
 */
#include <stdlib.h>

#include "cf_packer.h"

enum {
    STRIPES = 16,          /* parts of a frame from which is learned */
    STRIPE_ROWS = 1 << 10, /* ... and their size; */
    MANY_KINDS = 2048,     /* where there are more kinds, four times as large */
    MIN_MISSES = 4,        /* of a kind in all stripes, before it is worth to learn */
    CANDIDATES = 6,        /* kinds that are tried as reference of a kind */
    NEAR_ROWS = 12,        /* ... out of so many rows before its second row */
    TRIALS = 32,           /* rows of a kind that are tried */
    STUDENTS = 32768,      /* kinds that are learned in one frame */
};

struct trial {
    uint16_t kind;
    uint8_t times;             /* second multiplier to try, 0 = none found yet */
    uint8_t hits, times_hits;  /* with multiplier 1, and with the second */
    uint64_t last;             /* address of the candidate at the student's row before */
    uint64_t diff, times_diff; /* ... and the differences there */
};

struct cf_pack_student {
    uint32_t kind;
    uint8_t rows, stride_hits, same_hits, candidates;
    uint64_t last, stride;
    struct trial trial[CANDIDATES];
};

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
        p->info[c] = (struct cf_info){k, p->ref[k], p->times[k]};
    }
    uint64_t *last = p->last, *ahead = p->difference;
    const struct cf_info *info = p->info;
    uint8_t *gap = p->gap, *value = p->value;
    size_t rows = p->rows, next = 0;
    for (size_t i = 0; i < rows; i += CHUNK) {
        const uint16_t *code = p->code + i;
        size_t end = rows - i < CHUNK ? rows - i : CHUNK;
        for (size_t q = 0; q < end; q++) {
            const struct cf_info *of = &info[code[q]];
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
            __builtin_prefetch(addr + i + CF_AHEAD + q);
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
        struct cf_pack_student *s = &p->student[n++];
        p->student_of[k] = (uint16_t)n;
        *s = (struct cf_pack_student){.kind = k};
    }
    return n;
}

static void pick_candidates(struct cf_packer *p, struct cf_pack_student *s, size_t row)
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

static void try_candidates(const struct cf_packer *p, struct cf_pack_student *s, uint64_t a)
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

static void settle(struct cf_packer *p, const struct cf_pack_student *s)
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
                struct cf_pack_student *s = &p->student[p->student_of[k] - 1];
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
