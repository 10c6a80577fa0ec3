/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_listed.c - translation blocks: executions, each with the accesses that happened, to rows.
 * What accesses of an instruction have in common is looked up once for loads and once for stores
 * (struct cf_rows_block), so that nearly all words go through put_known().
 */
#include <string.h>

#include "decode_parts.h"
#include "decode_templates.h"

/* In a list of crossings: the instruction does not follow the one before it in memory. */
#define APART 0x8000

enum { KNOWN = 0x80, NO_ACCESS = UINT16_MAX };

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline unsigned kind_of(uint64_t word)
{
    return word >> CF_WIRE_KIND_SHIFT & (CF_WIRE_KINDS - 1);
}

static inline unsigned index_of(uint64_t word)
{
    return word >> CF_WIRE_INSN_SHIFT & (CF_WIRE_MAX_INSNS - 1);
}

void cf_rows_find_crossings(struct cf_rows_block *b, uint64_t line)
{
    for (uint32_t i = 1; i < b->insns; i++) {
        uint64_t end = cf_rows_pc(b, i - 1) + cf_rows_length(b, i - 1);
        uint64_t pc = cf_rows_pc(b, i);

        if (pc != end)
            b->crossing[b->crossings++] = (uint16_t)(i | APART);
        else if ((pc + cf_rows_length(b, i) - 1) / line != (end - 1) / line)
            b->crossing[b->crossings++] = (uint16_t)i;
    }
}

/* One row; those that fill a place go the way that takes care of it. */
static inline int put_row(struct cf_decode *t, uint64_t time, uint64_t addr, uint32_t hint)
{
    const struct cf_rows_columns *c = &t->rows.staging;
    uint32_t row = 0;

    if (__builtin_expect(t->out.rows + 1 < t->out.room, 1)) {
        c = &t->out.columns;
        row = t->out.rows++;
    }
    c->time[row] = time;
    c->addr[row] = addr;
    c->hint[row] = hint;
    return c == &t->out.columns ? 0 : cf_decode_put_staged(t, 1);
}

/* Plain accesses of kinds that are known, of instructions below `below`, as long as there is room.
 */
static void put_known(struct cf_decode *t, const struct cf_decode_thread *th, unsigned below,
                      const uint8_t **from, const uint8_t *end)
{
    const uint64_t *known = th->listed->known;
    const uint64_t start = th->start, step = th->step;
    const uint32_t room = t->out.room ? t->out.room - t->out.rows - 1 : 0;
    const uint64_t words = (uint64_t)(end - *from) / sizeof(uint64_t);
    const uint32_t most = words < room ? (uint32_t)words : room;
    const uint8_t *p = *from;
    uint64_t *time, *addr;
    uint32_t *hint, n = 0;

    if (!most) /* without room there are no places either */
        return;
    time = t->out.columns.time + t->out.rows;
    addr = t->out.columns.addr + t->out.rows;
    hint = t->out.columns.hint + t->out.rows;
    for (; n < most; n++, p += sizeof(uint64_t)) {
        uint64_t word = load64(p), entry;
        unsigned index = index_of(word), kind = kind_of(word);

        if ((word & (CF_WIRE_ACCESS | CF_WIRE_WIDE)) != CF_WIRE_ACCESS || index >= below)
            break;
        entry = known[2 * index + (kind >= CF_WIRE_KIND_STORE)];
        if ((entry & 0xff) != (KNOWN | kind))
            break;
        time[n] = start + index * step;
        addr[n] = (uint64_t)((int64_t)(word << 16) >> 16);
        hint[n] = (uint32_t)(entry >> 8);
    }
    t->out.rows += n;
    *from = p;
}

/* The access at *from, whatever it is. */
static int put_access(struct cf_decode *t, struct cf_decode_process *p,
                      const struct cf_decode_thread *th, const uint8_t **from, const uint8_t *end)
{
    struct cf_rows_block *b = th->listed;
    uint64_t word = load64(*from), addr = (uint64_t)((int64_t)(word << 16) >> 16);
    unsigned index = index_of(word), kind = kind_of(word);
    struct cf_rows_row row = {.op = kind & CF_WIRE_KIND_STORE ? CF_WIRE_STORE : CF_WIRE_LOAD};
    uint32_t staged = 0;

    *from += sizeof(word);
    if (word & CF_WIRE_WIDE) {
        if ((size_t)(end - *from) < sizeof(addr))
            return -2;
        addr = load64(*from);
        *from += sizeof(addr);
    }
    if (!b || index >= b->insns)
        return -2;
    row.pc = cf_rows_pc(b, index);
    row.size = 1u << (kind & (CF_WIRE_KIND_STORE - 1));
    if (p->code.repeat.pc && index + 1u == b->repeat && b->insn[index].pc_length & CF_WIRE_JOINED) {
        if (cf_rows_repeat_access(&t->rows, &p->code, 1, row.op, addr, row.size, &staged) != 0)
            return cf_decode_no_memory(t);
        return cf_decode_put_staged(t, staged);
    }
    if (cf_rows_hint(&t->rows, &row) != 0)
        return cf_decode_no_memory(t);
    if (!(b->insn[index].pc_length & CF_WIRE_JOINED))
        b->known[2 * index + (kind >= CF_WIRE_KIND_STORE)] = (uint64_t)row.hint << 8 | KNOWN | kind;
    return put_row(t, th->start + index * th->step, addr, row.hint);
}

/* The instruction of the access at p; NO_ACCESS if there is none. */
static unsigned access_at(const uint8_t *p, const uint8_t *end)
{
    uint64_t word = (size_t)(end - p) < sizeof(word) ? 0 : load64(p);

    return word & CF_WIRE_ACCESS ? index_of(word) : NO_ACCESS;
}

static int put_run(struct cf_decode *t, const struct cf_decode_thread *th, unsigned from,
                   unsigned stop)
{
    struct cf_rows_block *b = th->listed;
    uint64_t pc = cf_rows_pc(b, from);

    if (b->run[from] >> 32 != stop) {
        struct cf_rows_row row = {.pc = pc, .insns = stop - from, .op = CF_IFETCH};

        row.size = (uint32_t)(cf_rows_pc(b, stop - 1) + cf_rows_length(b, stop - 1) - pc);
        if (cf_rows_hint(&t->rows, &row) != 0)
            return cf_decode_no_memory(t);
        b->run[from] = (uint64_t)stop << 32 | row.hint;
    }
    return put_row(t, th->start + from, pc, (uint32_t)b->run[from]);
}

/* One execution with its runs of instructions among its accesses. Words that come in another block
 * have no more runs to come. */
static int put_runs(struct cf_decode *t, struct cf_decode_process *p,
                    const struct cf_decode_thread *th, const uint8_t **from, const uint8_t *end)
{
    const struct cf_rows_block *b = th->listed;
    unsigned x = 0, run = 0;

    while (run < b->insns) {
        unsigned stop = b->insns, next = access_at(*from, end);
        int r;

        for (; x < b->crossings; x++) {
            unsigned at = b->crossing[x] & ~APART;

            if (at > run && (b->crossing[x] & APART || next < at)) {
                stop = at;
                break;
            }
        }
        if (put_run(t, th, run, stop) != 0)
            return -1;
        while ((next = access_at(*from, end)) != NO_ACCESS && (stop == b->insns || next < stop)) {
            const uint8_t *before = *from;

            put_known(t, th, stop, from, end);
            if (*from == before && (r = put_access(t, p, th, from, end)) != 0)
                return r;
        }
        run = stop;
    }
    return 0;
}

/* An execution begins: 0; 1: a further iteration of the string instruction before. */
static int begin(struct cf_decode *t, struct cf_decode_process *p, struct cf_decode_thread *th,
                 struct cf_rows_block *b)
{
    int again = p->code.repeat.pc && b->repeat == 1 && cf_rows_pc(b, 0) == p->code.repeat.pc;

    if (!again && p->code.repeat.pc && cf_decode_end_repeat(t) != 0)
        return -1;
    th->listed = b;
    th->step = 1;
    if (again) {
        th->start = p->code.repeat.time;
        return 1;
    }
    th->start = t->time;
    t->time += b->insns;
    if (b->repeat) {
        p->code.repeat.pc = cf_rows_pc(b, b->insns - 1u);
        p->code.repeat.time = t->time - 1;
    }
    return 0;
}

int cf_decode_listed(struct cf_decode *t, struct cf_decode_process *p, const uint8_t **from,
                     const uint8_t *end)
{
    struct cf_decode_thread *th =
        p->running == CF_DECODE_NO_THREAD ? NULL : &p->threads[p->running];
    int r = 0;

    while (r == 0 && *from < end && !t->stopping) {
        struct cf_rows_block *b;
        uint64_t word;
        uint32_t outcome;

        if ((size_t)(end - *from) < sizeof(word))
            return -2;
        word = load64(*from);
        if (!(word & CF_WIRE_ACCESS) && (uint32_t)word < CF_WIRE_EVENTS)
            return 0;
        if (!th)
            return -2;
        if (word & CF_WIRE_ACCESS) {
            const uint8_t *before = *from;

            if (th->listed)
                put_known(t, th, th->listed->insns, from, end);
            if (*from == before)
                r = put_access(t, p, th, from, end);
            continue;
        }
        outcome = (uint32_t)word >> CF_WIRE_SLOT_BITS;
        if ((word & ~CF_WIRE_RESUMED) != CF_WIRE_LISTED(outcome) || outcome < 1 ||
            outcome >= p->code.outcomes)
            return -2;
        *from += sizeof(word);
        b = p->code.blocks[p->code.map[outcome] & ~CF_ROWS_UNSEEN];
        if (word & CF_WIRE_RESUMED && th->listed == b)
            continue;
        r = begin(t, p, th, b);
        if (r < 0)
            return r;
        if (t->options.instructions && r == 0 && !(word & CF_WIRE_RESUMED))
            r = put_runs(t, p, th, from, end);
        else
            r = 0;
    }
    return r;
}
