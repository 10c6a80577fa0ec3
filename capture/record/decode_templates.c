/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_templates.c - from descriptions of superblocks to templates: for each outcome of a
 * superblock the columns that its rows will have, in groups of four rows, with what has to be added
 * at run time.
 *
 * Most superblocks have one or two rows, and what follows them repeats: so a template may remember
 * an outcome that came next, and with it a template for the whole sequence so far. One link a
 * template and short sequences: trees of sequences were slower, they did not fit the caches.
 *
 * Memory: 256 bytes a template of up to four rows, made when its outcome is first seen; those of
 * sequences up to CHAIN_BYTES a process.
 */
#include <stdlib.h>
#include <string.h>

#include "decode_templates.h"
#include "formats/base/cf_memory.h"

enum {
    CHAIN_RECORDS = 16,
    CHAIN_BYTES = 64 << 20,
};

int cf_rows_init(struct cf_rows *r, const struct cf_decode_options *options,
                 struct cf_writer *writer)
{
    size_t n = CF_ROWS_MOST + CF_ROWS_GROUP + CF_REPEAT_MOST;

    memset(r, 0, sizeof(*r));
    r->instructions = options->instructions;
    r->calls = options->calls != 0;
    r->writer = writer;
    r->fetch_line = options->fetch_line ? options->fetch_line : 64;
    r->staging.time = malloc(n * sizeof(*r->staging.time));
    r->staging.addr = malloc(n * sizeof(*r->staging.addr));
    r->staging.hint = malloc(n * sizeof(*r->staging.hint));
    r->work = malloc(n * sizeof(*r->work));
    r->stretch = malloc(n * sizeof(*r->stretch));
    r->origins = cf_strings_new();
    if (!r->staging.time || !r->staging.addr || !r->staging.hint || !r->work || !r->stretch ||
        !r->origins) {
        cf_rows_free(r);
        return -1;
    }
    return 0;
}

void cf_rows_free(struct cf_rows *r)
{
    cf_strings_free(r->origins);
    free(r->staging.time);
    free(r->staging.addr);
    free(r->staging.hint);
    free(r->work);
    free(r->stretch);
    memset(r, 0, sizeof(*r));
}

static int valid(const struct cf_rows_block *b)
{
    for (uint32_t i = 0; i < b->accesses; i++) {
        const struct cf_wire_access *a = &b->access[i];
        unsigned op = a->op & ~CF_WIRE_CONDITIONAL;

        if (a->insn >= b->insns || (i && a->insn < a[-1].insn) || a->size == 0 ||
            (op != CF_WIRE_LOAD && op != CF_WIRE_STORE))
            return 0;
        if (a->slot == CF_WIRE_NO_SLOT ? (a->op & CF_WIRE_CONDITIONAL) : a->slot >= b->slots)
            return 0;
    }
    for (uint32_t i = 0; i < b->exits; i++) {
        const struct cf_wire_exit *e = &b->exit[i];

        if (e->insn >= b->insns || e->accesses > b->accesses ||
            (i && (e->insn < e[-1].insn || e->accesses < e[-1].accesses)))
            return 0;
    }
    for (uint32_t i = 0; i < b->sections; i++)
        if (b->section[i].first > b->section[i].last || b->section[i].last >= b->insns)
            return 0;
    return !b->end.kind || (b->end.kind <= CF_WIRE_MOVES && b->end.slot < b->slots);
}

/* The last instruction may repeat itself, and then stand there more than once. */
static void find_repeat(struct cf_rows_block *b)
{
    uint32_t i = b->insns;
    uint64_t last = b->insn[i - 1].pc_length;

    b->repeat = b->repeat_access = 0;
    if (!(last & CF_WIRE_REPEATS))
        return;
    while (i > 1 && b->insn[i - 2].pc_length == last)
        i--;
    b->repeat = (uint16_t)i;
    while (b->repeat_access < b->accesses && b->access[b->repeat_access].insn + 1u < i)
        b->repeat_access++;
}

/* Room for so many outcomes and superblocks more; -1 without memory. */
static int more_code(struct cf_rows_code *c, uint32_t outcomes, uint32_t blocks)
{
    return cf_array_room(&c->map, &c->map_room, (size_t)c->outcomes + outcomes, sizeof(*c->map)) !=
                       0 ||
                   cf_array_room(&c->blocks, &c->blocks_room, (size_t)c->n_blocks + blocks,
                                 sizeof(*c->blocks)) != 0
               ? -1
               : 0;
}

void cf_rows_code_free(struct cf_rows_code *c)
{
    for (uint32_t i = 0; i < c->n_blocks; i++)
        if (--c->blocks[i]->users == 0)
            free(c->blocks[i]);
    free(c->blocks);
    free(c->map);
    free(c->arena);
    memset(c, 0, sizeof(*c));
}

/* What stands behind a description's fixed part, in its order; a translation block has more. */
static struct cf_rows_block *new_block(const struct cf_wire_block *wire, const uint8_t *rest,
                                       size_t bytes)
{
    size_t more = wire->listed ? wire->insns * (3 * sizeof(uint64_t) + sizeof(uint16_t)) : 0;
    struct cf_rows_block *b = calloc(1, sizeof(*b) + bytes + more);

    if (!b)
        return NULL;
    b->users = 1;
    b->first = wire->first;
    b->insns = wire->insns;
    b->accesses = wire->accesses;
    b->slots = wire->slots;
    b->exits = wire->exits;
    b->sections = wire->sections;
    b->insn = (struct cf_wire_insn *)(b + 1);
    b->access = (struct cf_wire_access *)(b->insn + b->insns);
    b->exit = (struct cf_wire_exit *)(b->access + b->accesses);
    b->section = (struct cf_wire_section *)(b->exit + b->exits);
    memcpy(b->insn, rest, bytes);
    if (wire->ends)
        memcpy(&b->end, b->section + b->sections, sizeof(b->end));
    if (wire->listed) {
        b->known = (uint64_t *)(b->insn + b->insns);
        b->run = b->known + 2 * (size_t)b->insns;
        b->crossing = (uint16_t *)(b->run + b->insns);
    }
    return b;
}

int cf_rows_describe(const struct cf_rows *r, struct cf_rows_code *c, const uint8_t *event,
                     uint32_t bytes)
{
    struct cf_wire_block wire;
    struct cf_rows_block *b;
    uint32_t outcomes;

    if (bytes < sizeof(wire))
        return -1;
    memcpy(&wire, event, sizeof(wire));
    if (wire.insns < 1 || wire.insns > CF_WIRE_MAX_INSNS || wire.accesses > CF_WIRE_MAX_ACCESSES ||
        wire.slots > CF_WIRE_MAX_SLOTS || wire.exits > CF_WIRE_MAX_EXITS ||
        wire.sections > CF_WIRE_MAX_SECTIONS || wire.ends > 1)
        return -1;
    if (bytes != sizeof(wire) + wire.insns * sizeof(struct cf_wire_insn) +
                     wire.accesses * sizeof(struct cf_wire_access) +
                     wire.exits * sizeof(struct cf_wire_exit) +
                     wire.sections * sizeof(struct cf_wire_section) +
                     wire.ends * sizeof(struct cf_wire_end))
        return -1;
    if ((wire.listed &&
         (wire.accesses || wire.slots || wire.exits || wire.sections || wire.ends)) ||
        (c->n_blocks && c->listed != !!wire.listed))
        return -1;
    outcomes = wire.listed ? 1 : (wire.exits + 2u) << wire.sections;
    if (wire.first != c->outcomes || outcomes > CF_WIRE_OUTCOMES - c->outcomes)
        return -1;
    if (more_code(c, outcomes, 1) != 0)
        return -2;
    b = new_block(&wire, event + sizeof(wire), bytes - sizeof(wire));
    if (!b)
        return -2;
    if (!valid(b)) {
        free(b);
        return -1;
    }
    find_repeat(b);
    if (wire.listed)
        cf_rows_find_crossings(b, r->fetch_line);
    c->listed = !!wire.listed;
    while (outcomes--)
        c->map[c->outcomes++] = CF_ROWS_UNSEEN | c->n_blocks;
    c->blocks[c->n_blocks++] = b;
    return 0;
}

int cf_rows_hint(struct cf_rows *r, struct cf_rows_row *row)
{
    const enum cf_op op = row->op & ~CF_WIRE_CONDITIONAL;
    const uint64_t key[] = {row->pc, (uint64_t)row->size << 32 | row->insns, op};
    int fresh;

    row->hint = cf_strings_number(r->origins, (const char *)key, sizeof(key), &fresh);
    if (!row->hint)
        return -1;
    return fresh ? cf_writer_kind(r->writer, row->hint, row->pc, op, row->size, row->insns) : 0;
}

static int is_skipped(const struct cf_rows_block *b, uint32_t skipped, uint32_t insn)
{
    for (uint32_t i = 0; i < b->sections; i++)
        if (skipped >> i & 1 && insn >= b->section[i].first && insn <= b->section[i].last)
            return 1;
    return 0;
}

uint32_t cf_rows_make(struct cf_rows *r, const struct cf_rows_block *b, uint32_t insns,
                      uint32_t accesses, uint32_t skipped, uint32_t *executed)
{
    struct cf_rows_row *run = NULL;
    uint32_t n = 0, a = 0, step = 0;
    uint64_t line = r->fetch_line;
    int data = 0; /* since the run began */

    *executed = 0;
    if (b->left_out)
        return 0;
    for (uint32_t i = 0; i < insns; i++) {
        uint64_t pc = cf_rows_pc(b, i);
        uint32_t length = cf_rows_length(b, i);

        if (is_skipped(b, skipped, i)) {
            while (a < accesses && b->access[a].insn == i)
                a++;
            continue;
        }
        if (r->instructions) {
            uint64_t last = length ? pc + length - 1 : pc;

            if (run && run->pc + run->size == pc &&
                !(data && last / line != (run->pc + (run->size ? run->size - 1 : 0)) / line)) {
                run->size += length;
                run->insns++;
            } else {
                run = &r->work[n++];
                *run = (struct cf_rows_row){.pc = pc, .delta = pc, .size = length, .insns = 1};
                run->step = (uint16_t)step;
                run->op = CF_IFETCH;
                data = 0;
            }
        }
        for (; a < accesses && b->access[a].insn == i; a++) {
            const struct cf_wire_access *w = &b->access[a];
            struct cf_rows_row *row = &r->work[n++];

            *row = (struct cf_rows_row){.pc = pc, .delta = w->offset, .size = w->size, .op = w->op};
            row->step = (uint16_t)step;
            row->slot =
                w->slot == CF_WIRE_NO_SLOT ? 0 : (uint16_t)(4 + w->slot * CF_WIRE_SLOT_BYTES);
            data = 1;
        }
        step++;
    }
    *executed = step;
    return n;
}

/* A template for `rows` rows; its place in units of 64 bytes, or -1. The arena may move. */
static int64_t new_template(struct cf_rows_code *c, uint32_t rows)
{
    uint32_t groups = rows ? (rows + CF_ROWS_GROUP - 1) / CF_ROWS_GROUP : 1;
    size_t bytes = (sizeof(struct cf_rows_template) + groups * sizeof(struct cf_rows_group) + 63) &
                   ~(size_t)63;
    size_t from = c->arena_bytes;
    struct cf_rows_template *t;

    if (from + bytes > c->arena_room) {
        size_t room = c->arena_room ? 2 * c->arena_room : 1 << 20;
        uint8_t *more;

        while (room < from + bytes)
            room *= 2;
        more = aligned_alloc(64, room);
        if (!more)
            return -1;
        if (from)
            memcpy(more, c->arena, from);
        free(c->arena);
        c->arena = more;
        c->arena_room = room;
    }
    if (from / 64 >= CF_ROWS_UNSEEN)
        return -1;
    memset(c->arena + from, 0, bytes);
    c->arena_bytes += bytes;
    t = (struct cf_rows_template *)(c->arena + from);
    t->rows = rows;
    t->padded = (uint16_t)(groups * CF_ROWS_GROUP);
    t->next_word = CF_ROWS_NO_WORD;
    return (int64_t)(from / 64);
}

int cf_rows_code_init(struct cf_rows_code *c)
{
    if (more_code(c, 1, 1) != 0 || new_template(c, 0) < 0) /* no link leads to the first */
        return -1;
    c->map[0] = CF_ROWS_UNSEEN; /* no record has this outcome */
    c->outcomes = 1;
    return 0;
}

int cf_rows_code_inherit(struct cf_rows_code *c, const struct cf_rows_code *parent,
                         uint32_t outcomes)
{
    if (more_code(c, outcomes, parent->n_blocks) != 0 || new_template(c, 0) < 0)
        return -1;
    for (uint32_t i = 0; i < outcomes; i++) {
        uint32_t where = parent->map[i];

        /* Templates are not shared: their sequences hold for one process. */
        if (!(where & CF_ROWS_UNSEEN))
            where = CF_ROWS_UNSEEN |
                    ((const struct cf_rows_template *)(parent->arena + 64 * (size_t)where))->block;
        c->map[i] = where;
    }
    c->outcomes = outcomes;
    for (uint32_t i = 0; i < parent->n_blocks; i++) {
        c->blocks[i] = parent->blocks[i];
        c->blocks[i]->users++;
    }
    c->n_blocks = parent->n_blocks;
    c->listed = parent->listed;
    return 0;
}

/* The i-th row of a template. */
static void put_row(struct cf_rows_template *t, uint32_t i, const struct cf_rows_row *row)
{
    struct cf_rows_group *g = &t->group[i / CF_ROWS_GROUP];
    const unsigned k = i % CF_ROWS_GROUP;

    g->delta[k] = row->delta;
    g->mask[k] = row->slot ? CF_WIRE_ADDRESS_MASK : 0;
    g->hint[k] = row->hint;
    g->step[k] = t->last_step = row->step;
    g->slot[k] = row->slot;
    g->place[k] = row->slot ? (uint16_t)((row->slot - 4) / CF_WIRE_SLOT_BYTES) : CF_STRETCH_NO_SLOT;
    g->conditional[k] = !!(row->op & CF_WIRE_CONDITIONAL);
    if (row->op & CF_WIRE_CONDITIONAL)
        t->flags |= CF_ROWS_CONDITIONAL;
}

int cf_rows_template(struct cf_rows *r, struct cf_rows_code *c, uint32_t outcome)
{
    uint32_t index = c->map[outcome] & ~CF_ROWS_UNSEEN;
    const struct cf_rows_block *b = c->blocks[index];
    uint32_t e = (outcome - b->first) >> b->sections;
    uint32_t skipped = (outcome - b->first) & ((1u << b->sections) - 1);
    uint32_t rows = 0, executed = 0, insns = 0, accesses = 0;
    struct cf_rows_template *t;
    int64_t where;
    int repeats;

    if (e == 0) {
        insns = b->insns;
        accesses = b->accesses;
    } else if (e <= b->exits) {
        insns = b->exit[e - 1].insn + 1u;
        accesses = b->exit[e - 1].accesses;
    }
    repeats = b->repeat && insns >= b->repeat;
    if (repeats) {
        insns = b->repeat;
        accesses = b->repeat_access;
    }
    rows = cf_rows_make(r, b, insns, accesses, skipped, &executed);
    where = new_template(c, rows);
    if (where < 0)
        return -1;
    t = cf_rows_at(c, (uint32_t)where);
    t->insns = executed;
    t->bytes = 4 + CF_WIRE_SLOT_BYTES * (uint32_t)b->slots;
    t->block = index;
    t->records = 1;
    if (e > b->exits)
        t->flags |= CF_ROWS_CUT;
    if (repeats)
        t->flags |= CF_ROWS_REPEAT;
    else if (e == 0 && b->end.kind && r->calls)
        t->flags |= CF_ROWS_END;
    for (uint32_t i = 0; i < rows; i++) {
        if (cf_rows_hint(r, &r->work[i]) != 0)
            return -1;
        put_row(t, i, &r->work[i]);
    }
    t->first_step = t->group[0].step[0];
    c->map[outcome] = (uint32_t)where;
    return 0;
}

void cf_rows_chain(struct cf_rows_code *c, uint32_t first, uint32_t word)
{
    struct cf_rows_template *t = cf_rows_at(c, first), *u, *both;
    uint32_t outcome = word >> CF_WIRE_SLOT_BITS, second, slots = word & CF_WIRE_SLOTS_LONG;
    int64_t where;

    t->turns = 0;
    if (t->next_word != CF_ROWS_NO_WORD || word < CF_WIRE_EVENTS || outcome >= c->outcomes ||
        c->map[outcome] & CF_ROWS_UNSEEN || c->chain_bytes >= CHAIN_BYTES)
        return;
    second = c->map[outcome];
    u = cf_rows_at(c, second);
    if (t->flags || u->flags & ~CF_ROWS_END || slots == CF_WIRE_SLOTS_LONG ||
        u->bytes != 4 + CF_WIRE_SLOT_BYTES * slots || t->rows + u->rows > CF_ROWS_CHAIN_ROWS ||
        t->records >= CHAIN_RECORDS)
        return;
    where = new_template(c, t->rows + u->rows);
    if (where < 0)
        return;
    t = cf_rows_at(c, first);
    u = cf_rows_at(c, second);
    both = cf_rows_at(c, (uint32_t)where);
    c->chain_bytes += sizeof(*both) + both->padded * sizeof(struct cf_rows_group) / CF_ROWS_GROUP;
    both->insns = t->insns + u->insns;
    both->bytes = t->bytes + u->bytes;
    both->records = t->records + 1;
    both->flags = u->flags;
    both->block = u->block;
    both->first_step = t->rows ? t->first_step : (uint16_t)(t->insns + u->first_step);
    both->last_step = (uint16_t)(u->rows ? t->insns + u->last_step : t->last_step);
    for (uint32_t i = 0; i < t->rows + u->rows; i++) {
        int second_part = i >= t->rows;
        uint32_t j = second_part ? i - t->rows : i;
        const struct cf_rows_group *g = &(second_part ? u : t)->group[j / CF_ROWS_GROUP];
        struct cf_rows_group *h = &both->group[i / CF_ROWS_GROUP];
        unsigned k = j % CF_ROWS_GROUP, l = i % CF_ROWS_GROUP;

        h->delta[l] = g->delta[k];
        h->mask[l] = g->mask[k];
        h->hint[l] = g->hint[k];
        h->step[l] = (uint16_t)(g->step[k] + (second_part ? t->insns : 0));
        h->slot[l] = (uint16_t)(g->slot[k] + (second_part && g->mask[k] ? t->bytes : 0));
        h->place[l] = (uint16_t)(g->place[k] + (second_part && g->mask[k] ? cf_rows_slots(t) : 0));
    }
    t->next = (uint32_t)where;
    t->next_word = word;
}
