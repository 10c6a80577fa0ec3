/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_code.c - the code of the emulated program as the plugin describes it. An emulator
 * translates the same code again and again (other flags, a full cache of translations): its
 * instructions are then found by address, so that kinds do not multiply.
 */
#include <stdlib.h>
#include <string.h>

#include "decode_code.h"

/* Descriptions that may be missing: the plugin numbers code and finds no room for its words. */
enum { NUMBERS_AHEAD = 1 << 16 };

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* Room for one more element of `size` bytes; -1 without memory. New elements are zero. */
static int grow(void *array, uint32_t *room, uint32_t used, size_t size, uint32_t first)
{
    void **p = array;
    uint32_t more = *room ? *room : first;
    char *q;

    if (used < *room)
        return 0;
    while (more <= used) {
        if (more > UINT32_MAX / 2)
            return -1;
        more *= 2;
    }
    q = realloc(*p, more * size);
    if (!q)
        return -1;
    memset(q + *room * size, 0, (more - *room) * size);
    *p = q;
    *room = more;
    return 0;
}

static int bigger_table(struct code *c)
{
    uint32_t size = c->table_size ? 2 * c->table_size : 1 << 14;
    uint32_t *table = calloc(size, sizeof(*table));

    if (!table)
        return -1;
    for (uint32_t i = 0; i < c->insns; i++) {
        uint64_t at = mix(c->insn[i].pc);

        while (table[at & (size - 1)])
            at++;
        table[at & (size - 1)] = i + 1;
    }
    free(c->table);
    c->table = table;
    c->table_size = size;
    return 0;
}

/* The number of an instruction, or UINT32_MAX without memory. */
static uint32_t insn_number(struct code *c, uint64_t pc, uint32_t bytes)
{
    uint64_t at;

    if (c->insns >= c->table_size / 2 && bigger_table(c) != 0)
        return UINT32_MAX;
    for (at = mix(pc);; at++) {
        uint32_t n = c->table[at & (c->table_size - 1)];

        if (!n)
            break;
        if (c->insn[n - 1].pc == pc && c->insn[n - 1].bytes == bytes)
            return n - 1;
    }
    if (c->insns == 1 << 28 ||
        grow(&c->insn, &c->insn_room, c->insns, sizeof(*c->insn), 1 << 12) != 0)
        return UINT32_MAX;
    c->insn[c->insns].pc = pc;
    c->insn[c->insns].bytes = (uint16_t)bytes;
    c->table[at & (c->table_size - 1)] = ++c->insns;
    return c->insns - 1;
}

static uint64_t line_of(const struct code *c, uint64_t address)
{
    return address / c->fetch_line;
}

int code_describe(struct code *c, const uint64_t *words, uint32_t count)
{
    uint32_t insns = count - 1, first = c->list_used;
    struct code_block *b;
    uint64_t end = 0;

    /* The plugin counts up; a number far ahead would only take memory. */
    if (count < 2 || insns > CFQ_MAX_INSNS || words[0] >= c->described + NUMBERS_AHEAD)
        return CODE_BAD;
    if (grow(&c->block, &c->blocks, (uint32_t)words[0], sizeof(*c->block), 1 << 12) != 0 ||
        first > UINT32_MAX - 2 * CFQ_MAX_INSNS ||
        grow(&c->list, &c->list_room, first + 2 * CFQ_MAX_INSNS, sizeof(*c->list), 1 << 14) != 0)
        return CODE_MEMORY;
    b = &c->block[words[0]];
    if (b->insns)
        return CODE_BAD;
    b->first = first;
    for (uint32_t i = 0; i < insns; i++) {
        uint32_t n = insn_number(c, (uint64_t)((int64_t)(words[i + 1] << 8) >> 8),
                                 words[i + 1] >> 56 & 0x3f);

        if (n == UINT32_MAX)
            return CODE_MEMORY;
        c->insn[n].repeats = !!(words[i + 1] & CFQ_REPEATS);
        c->insn[n].joined = !!(words[i + 1] & CFQ_JOINED);
        c->list[first + i] = n;
    }
    for (uint32_t i = 0; i < insns; i++) {
        const struct code_insn *n = &c->insn[c->list[first + i]];

        if (i && n->pc != end)
            c->list[first + insns + b->crossings++] = i | CODE_APART;
        else if (i && line_of(c, n->pc + n->bytes - 1) != line_of(c, end - 1))
            c->list[first + insns + b->crossings++] = i;
        end = n->pc + n->bytes;
    }
    c->list_used += insns + b->crossings;
    b->insns = (uint16_t)insns;
    c->described++;
    return 0;
}

static uint32_t next_hint(struct code *c, uint64_t pc, unsigned op, uint32_t bytes, uint32_t insns)
{
    if (cf_writer_kind(c->writer, c->hints + 1, pc, op, bytes, insns) != 0)
        return 0;
    return ++c->hints;
}

uint32_t code_new_hint(struct code *c, uint32_t insn, unsigned kind)
{
    struct code_insn *n = &c->insn[insn];

    n->hint[kind] = next_hint(c, n->pc, kind & CFQ_KIND_STORE ? CF_STORE : CF_LOAD,
                              1u << (kind & (CFQ_KIND_STORE - 1)), 0);
    return n->hint[kind];
}

static int bigger_runs(struct code *c)
{
    uint32_t old = c->run_size, size = old ? 2 * old : 1 << 12;
    struct code_run *was = c->run;
    struct code_run *more = calloc(size, sizeof(*more));

    if (!more)
        return -1;
    for (uint32_t i = 0; i < old; i++) {
        uint64_t at = mix(was[i].key);

        if (!was[i].key)
            continue;
        while (more[at & (size - 1)].key)
            at++;
        more[at & (size - 1)] = was[i];
    }
    free(was);
    c->run = more;
    c->run_size = size;
    return 0;
}

/* The kind that was given under a key, or a new one; 0 on failure. */
static uint32_t known_hint(struct code *c, uint64_t key, uint64_t pc, unsigned op, uint32_t bytes,
                           uint32_t insns)
{
    uint64_t at;

    if (c->runs >= c->run_size / 2 && bigger_runs(c) != 0)
        return 0;
    for (at = mix(key); c->run[at & (c->run_size - 1)].key; at++)
        if (c->run[at & (c->run_size - 1)].key == key)
            return c->run[at & (c->run_size - 1)].hint;
    at &= c->run_size - 1;
    c->run[at].hint = next_hint(c, pc, op, bytes, insns);
    if (!c->run[at].hint)
        return 0;
    c->run[at].key = key;
    c->runs++;
    return c->run[at].hint;
}

uint32_t code_run_hint(struct code *c, struct code_block *b, unsigned from, unsigned count,
                       uint64_t *pc)
{
    const uint32_t *list = &c->list[b->first];
    const struct code_insn *first = &c->insn[list[from]];
    const struct code_insn *last = &c->insn[list[from + count - 1]];
    uint32_t hint;

    *pc = first->pc;
    if (count == b->insns && b->run)
        return b->run;
    hint = known_hint(c, ((uint64_t)list[from] + 1) << 16 | count, first->pc, CF_IFETCH,
                      (uint32_t)(last->pc + last->bytes - first->pc), count);
    if (count == b->insns)
        b->run = hint;
    return hint;
}

uint32_t code_piece_hint(struct code *c, uint32_t insn, int store, uint32_t bytes)
{
    uint64_t key = ((uint64_t)insn + 1) << 16 | CODE_PIECE | bytes << 1 | (store != 0);

    return known_hint(c, key, c->insn[insn].pc, store ? CF_STORE : CF_LOAD, bytes, 0);
}

void code_free(struct code *c)
{
    free(c->insn);
    free(c->table);
    free(c->block);
    free(c->list);
    free(c->run);
}
