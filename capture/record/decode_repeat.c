/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_repeat.c - string instructions that repeat themselves (rep movs and its kin): one
 * instruction, of which there is a superblock or translation block for every iteration or some of
 * them. It is counted and fetched once; its accesses are joined (cf_repeat.h), or stand as they are
 * at its time.
 */
#include <string.h>

#include "decode_templates.h"

static int put_row(struct cf_rows *r, struct cf_rows_code *code, uint8_t op, uint64_t addr,
                   uint32_t bytes, uint32_t *staged)
{
    struct cf_rows_row row = {.pc = code->repeat.pc, .size = bytes, .op = op};

    if (cf_rows_hint(r, &row) != 0)
        return -1;
    r->staging.time[*staged] = code->repeat.time;
    r->staging.addr[*staged] = addr;
    r->staging.hint[(*staged)++] = row.hint;
    return 0;
}

static int put_pieces(struct cf_rows *r, struct cf_rows_code *code,
                      const struct cf_repeat_piece *piece, unsigned n, uint32_t *staged)
{
    for (unsigned i = 0; i < n; i++)
        if (put_row(r, code, piece[i].store ? CF_WIRE_STORE : CF_WIRE_LOAD, piece[i].addr,
                    piece[i].bytes, staged) != 0)
            return -1;
    return 0;
}

enum cf_rows_result cf_rows_repeat_end(struct cf_rows *r, struct cf_rows_code *code,
                                       uint32_t *staged)
{
    struct cf_repeat_piece pieces[CF_REPEAT_MOST];
    unsigned n = cf_repeat_end(&code->repeat.joined, pieces);
    int bad = put_pieces(r, code, pieces, n, staged);

    memset(&code->repeat, 0, sizeof(code->repeat));
    return bad ? CF_ROWS_MEMORY : CF_ROWS_STAGED;
}

int cf_rows_repeat_access(struct cf_rows *r, struct cf_rows_code *code, int joined, uint8_t op,
                          uint64_t addr, uint32_t bytes, uint32_t *staged)
{
    struct cf_repeat_piece pieces[CF_REPEAT_MOST];

    if (!joined || bytes > CF_REPEAT_OVERLAP)
        return put_row(r, code, op, addr, bytes, staged);
    return put_pieces(r, code, pieces,
                      cf_repeat_add(&code->repeat.joined, op == CF_WIRE_STORE, addr, bytes, pieces),
                      staged);
}

int cf_rows_repeat_accesses(struct cf_rows *r, struct cf_rows_code *code,
                            const struct cf_rows_block *b, uint32_t to, const uint8_t *record,
                            uint32_t *staged)
{
    int joined = !!(b->insn[b->insns - 1].pc_length & CF_WIRE_JOINED);

    code->repeat.pc = cf_rows_pc(b, b->insns - 1u);
    for (uint32_t i = b->repeat_access; i < to; i++) {
        const struct cf_wire_access *a = &b->access[i];
        uint64_t addr = 0;

        if (a->slot != CF_WIRE_NO_SLOT) {
            memcpy(&addr, record + 4 + a->slot * CF_WIRE_SLOT_BYTES, CF_WIRE_SLOT_BYTES);
            if (a->op & CF_WIRE_CONDITIONAL && addr == CF_WIRE_ADDRESS_MASK)
                continue;
        }
        if (cf_rows_repeat_access(r, code, joined, a->op & ~CF_WIRE_CONDITIONAL,
                                  (addr + a->offset) & CF_WIRE_ADDRESS_MASK, a->size, staged) != 0)
            return -1;
    }
    return 0;
}

int cf_rows_continues(struct cf_rows *r, struct cf_rows_code *code, const uint8_t *p,
                      const uint8_t *end)
{
    const struct cf_rows_block *b;
    uint32_t word, outcome;

    if (end - p < (ptrdiff_t)sizeof(word))
        return 0;
    memcpy(&word, p, sizeof(word));
    outcome = word >> CF_WIRE_SLOT_BITS;
    if (word < CF_WIRE_EVENTS)
        return 1; /* which event it is decides */
    if (outcome >= code->outcomes)
        return 0;
    if (code->map[outcome] & CF_ROWS_UNSEEN && cf_rows_template(r, code, outcome) != 0)
        return -1;
    b = code->blocks[cf_rows_at(code, code->map[outcome])->block];
    return b->repeat == 1 && cf_rows_pc(b, 0) == code->repeat.pc;
}

/* The template of a record that repeats an instruction and is there in whole; else NULL. Its first
 * word is read here alone: the recorded program can write there meanwhile. */
static const struct cf_rows_template *repeating(const struct cf_rows_code *code, const uint8_t *p,
                                                const uint8_t *end, uint32_t *word)
{
    const struct cf_rows_template *t;
    uint32_t outcome;

    if (end - p < (ptrdiff_t)sizeof(*word))
        return NULL;
    memcpy(word, p, sizeof(*word));
    outcome = *word >> CF_WIRE_SLOT_BITS;
    if (*word < CF_WIRE_EVENTS || outcome >= code->outcomes || code->map[outcome] & CF_ROWS_UNSEEN)
        return NULL;
    t = cf_rows_at(code, code->map[outcome]);
    return (t->flags & (CF_ROWS_REPEAT | CF_ROWS_CUT)) == CF_ROWS_REPEAT &&
                   t->bytes <= (size_t)(end - p)
               ? t
               : NULL;
}

enum cf_rows_result cf_rows_repeat(struct cf_rows *r, struct cf_rows_code *code,
                                   const uint8_t **from, const uint8_t *end, uint64_t *time,
                                   uint32_t *staged)
{
    uint32_t word;
    const struct cf_rows_template *t = repeating(code, *from, end, &word);

    *staged = 0;
    if (!t)
        return CF_ROWS_BAD;
    for (;;) {
        const struct cf_rows_block *b = code->blocks[t->block];
        uint32_t e = ((word >> CF_WIRE_SLOT_BITS) - b->first) >> b->sections;
        int continues;

        if (!code->repeat.pc) {
            *staged = cf_rows_stage(r, t, *from, *time);
            *time += t->insns;
            code->repeat.time = *time - 1;
        }
        if (cf_rows_repeat_accesses(r, code, b, e ? b->exit[e - 1].accesses : b->accesses, *from,
                                    staged) != 0)
            return CF_ROWS_MEMORY;
        *from += t->bytes;
        /* The next, if that goes on in the same way and surely finds room. */
        continues = cf_rows_continues(r, code, *from, end);
        if (continues < 0)
            return CF_ROWS_MEMORY;
        t = continues ? repeating(code, *from, end, &word) : NULL;
        if (!t)
            return CF_ROWS_STAGED;
        b = code->blocks[t->block];
        if ((word & CF_WIRE_SLOTS_LONG) !=
                (b->slots < CF_WIRE_SLOTS_LONG ? b->slots : CF_WIRE_SLOTS_LONG) ||
            *staged + b->accesses > CF_ROWS_MOST)
            return CF_ROWS_STAGED;
    }
}
