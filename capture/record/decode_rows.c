/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_rows.c - the inner loop of the decoder. A record is expanded by copying the groups of its
 * template (decode_templates.c); only addresses and times are computed. Groups are stored whole, so
 * that short superblocks need no loop and no branch that depends on their length; what was written
 * too much is overwritten by the next.
 *
 * A template may have a link to what often comes next. The decoder follows these links as long as
 * they agree with the records and expands the longest sequence at once. Where the traced program's
 * branches are predictable, so are the decoder's.
 *
 * To a pipe no rows are made: each record or sequence is a stretch (cf_stretches.h), of which the
 * number and the slots go on.
 */
#include <string.h>

#include "decode_templates.h"

typedef uint64_t v4u64 __attribute__((vector_size(32)));
typedef uint32_t v4u32 __attribute__((vector_size(16)));
typedef uint16_t v4u16 __attribute__((vector_size(8)));

/* AVX2 where the processor has it, chosen when the program is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(CF_SANITIZED) &&                         \
    (!defined(__clang__) || __clang_major__ >= 14)
#define MULTIVERSION __attribute__((target_clones("avx2", "default")))
#else
#define MULTIVERSION
#endif

#define ALWAYS inline __attribute__((always_inline))

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

void cf_rows_stack(struct cf_rows_output *out, uint32_t context)
{
    for (uint32_t i = out->stacked; out->stack && i < out->rows; i++)
        out->stack[i] = context;
    out->stacked = out->rows;
}

static ALWAYS void put_group(const struct cf_rows_columns *c, uint32_t row,
                             const struct cf_rows_group *g, const uint8_t *record, uint64_t time)
{
    v4u64 v, mask, delta;
    v4u16 step;

    memcpy(&step, g->step, sizeof(step));
    v = __builtin_convertvector(step, v4u64) + time;
    memcpy(&c->time[row], &v, sizeof(v));
    v = (v4u64){load64(record + g->slot[0]), load64(record + g->slot[1]),
                load64(record + g->slot[2]), load64(record + g->slot[3])};
    memcpy(&mask, g->mask, sizeof(mask));
    memcpy(&delta, g->delta, sizeof(delta));
    v = ((v & mask) + delta) & CF_WIRE_ADDRESS_MASK;
    memcpy(&c->addr[row], &v, sizeof(v));
    memcpy(&c->hint[row], g->hint, sizeof(g->hint));
}

uint32_t cf_rows_stage(struct cf_rows *r, const struct cf_rows_template *t, const uint8_t *record,
                       uint64_t time)
{
    struct cf_rows_columns *c = &r->staging;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->rows; i += CF_ROWS_GROUP)
        put_group(c, i, &t->group[i / CF_ROWS_GROUP], record, time);
    if (!(t->flags & CF_ROWS_CONDITIONAL))
        return t->rows;
    for (uint32_t i = 0; i < t->rows; i++) {
        const struct cf_rows_group *g = &t->group[i / CF_ROWS_GROUP];

        if (g->conditional[i % CF_ROWS_GROUP] && (load64(record + g->slot[i % CF_ROWS_GROUP]) &
                                                  CF_WIRE_ADDRESS_MASK) == CF_WIRE_ADDRESS_MASK)
            continue;
        c->time[n] = c->time[i];
        c->addr[n] = c->addr[i];
        c->hint[n] = c->hint[i];
        n++;
    }
    return n;
}

/* A record that a fault cut short: *from is after it, at the event that tells where. */
static enum cf_rows_result stage_cut(struct cf_rows *r, struct cf_rows_code *code,
                                     const struct cf_rows_block *b, const uint8_t *record,
                                     const uint8_t **from, const uint8_t *end, uint64_t *time,
                                     uint32_t *staged)
{
    struct cf_rows_columns *c = &r->staging;
    struct cf_wire_cut cut;
    uint32_t outcome, e, skipped, first, stop, insns, accesses = 0, rows = 0, executed = 0, done;

    if ((size_t)(end - *from) < sizeof(cut))
        return CF_ROWS_BAD;
    memcpy(&cut, *from, sizeof(cut));
    if (cut.header.type != CF_WIRE_CUT || cut.header.bytes != sizeof(cut))
        return CF_ROWS_BAD;
    *from += sizeof(cut);
    outcome = cut.progress >> CF_WIRE_SLOT_BITS;
    if (outcome < b->first || (outcome - b->first) >> b->sections > b->exits)
        return CF_ROWS_BAD;
    e = (outcome - b->first) >> b->sections;
    skipped = (outcome - b->first) & ((1u << b->sections) - 1);
    first = e > 1 ? b->exit[e - 2].insn : e == 0 && b->exits ? b->exit[b->exits - 1].insn : 0;
    stop = e ? b->exit[e - 1].insn + 1u : b->insns;
    for (insns = first; insns < stop; insns++)
        if (cf_rows_pc(b, insns) == cut.pc)
            break;
    if (insns == stop)
        insns = first;
    while (accesses < b->accesses && b->access[accesses].insn < insns)
        accesses++;
    done = b->repeat && insns >= b->repeat ? accesses : 0; /* of iterations before the fault */
    if (!code->repeat.pc)
        rows = cf_rows_make(r, b, done ? b->repeat : insns, done ? b->repeat_access : accesses,
                            skipped, &executed);
    *staged = 0;
    for (uint32_t i = 0; i < rows; i++) {
        struct cf_rows_row *row = &r->work[i];
        uint64_t raw = row->slot ? load64(record + row->slot) & CF_WIRE_ADDRESS_MASK : 0;
        uint32_t n = *staged;

        if (cf_rows_hint(r, row) != 0)
            return CF_ROWS_MEMORY;
        if (row->op & CF_WIRE_CONDITIONAL && raw == CF_WIRE_ADDRESS_MASK)
            continue;
        c->time[n] = *time + row->step;
        c->addr[n] = (raw + row->delta) & CF_WIRE_ADDRESS_MASK;
        c->hint[n] = row->hint;
        (*staged)++;
    }
    *time += executed;
    if (done) {
        code->repeat.time = *time - 1;
        if (cf_rows_repeat_accesses(r, code, b, done, record, staged) != 0)
            return CF_ROWS_MEMORY;
    }
    return cf_rows_repeat_end(r, code, staged);
}

/* What the decoder holds in registers while it goes through a piece. */
struct walk {
    const uint32_t *map;
    uint32_t outcomes;
    uint8_t *arena;
};

static ALWAYS struct cf_rows_template *at_place(const struct walk *w, uint32_t where)
{
    return (struct cf_rows_template *)(w->arena + 64 * (size_t)where);
}

/* The template of the record at p, by its place, and the record's length. From the header and not
   from the template: the next record's place is then known early. */
static ALWAYS enum cf_rows_result find_template(struct cf_rows *r, struct cf_rows_code *code,
                                                struct walk *w, const uint8_t *p,
                                                const uint8_t *end, uint32_t *where,
                                                uint32_t *bytes)
{
    uint32_t word, slots, wanted;

    if (__builtin_expect(end - p < 4, 0))
        return CF_ROWS_BAD;
    word = load32(p);
    slots = word & CF_WIRE_SLOTS_LONG;
    if (__builtin_expect(word < CF_WIRE_EVENTS, 0))
        return CF_ROWS_EVENT;
    if (__builtin_expect(word >> CF_WIRE_SLOT_BITS >= w->outcomes, 0))
        return CF_ROWS_BAD;
    *where = w->map[word >> CF_WIRE_SLOT_BITS];
    if (__builtin_expect(*where & CF_ROWS_UNSEEN, 0)) {
        if (cf_rows_template(r, code, word >> CF_WIRE_SLOT_BITS) != 0)
            return CF_ROWS_MEMORY;
        *where = w->map[word >> CF_WIRE_SLOT_BITS];
        w->arena = code->arena;
    }
    *bytes = 4 + CF_WIRE_SLOT_BYTES * slots;
    wanted = at_place(w, *where)->bytes;
    if (__builtin_expect(*bytes != wanted, 0)) {
        if (slots != CF_WIRE_SLOTS_LONG)
            return CF_ROWS_BAD;
        *bytes = wanted;
    }
    return __builtin_expect(*bytes > (size_t)(end - p), 0) ? CF_ROWS_BAD : CF_ROWS_DONE;
}

/* Goes on to what followed the last time, while it is what follows now. */
static ALWAYS void follow(struct cf_rows_code *code, struct walk *w, const uint8_t *p,
                          const uint8_t *end, uint32_t *where, uint32_t *bytes)
{
    struct cf_rows_template *t = at_place(w, *where);

    while (end - p - (ptrdiff_t)*bytes >= 4) {
        const uint32_t next = load32(p + *bytes);

        if (next != t->next_word) {
            if (__builtin_expect(++t->turns == CF_ROWS_CHAIN_AFTER, 0)) {
                cf_rows_chain(code, *where, next);
                w->arena = code->arena;
            }
            break;
        }
        if (__builtin_expect(!t->next, 0)) /* a damaged stream has CF_ROWS_NO_WORD */
            break;
        *where = t->next;
        t = at_place(w, *where);
        *bytes = t->bytes;
    }
}

/* What the end of a record, whose last byte stands before `end`, does to the stack. */
static enum cf_rows_result follow_end(const struct cf_rows_thread *thread,
                                      const struct cf_rows_block *b, const uint8_t *end,
                                      struct cf_rows_output *out)
{
    const uint64_t value = load64(end - (b->slots - b->end.slot) * (ptrdiff_t)CF_WIRE_SLOT_BYTES);
    struct cf_calls *c = thread->calls;

    if (!thread->thread)
        return CF_ROWS_DONE;
    cf_rows_stack(out, cf_calls_now(c, thread->thread));
    return cf_calls_end(c, thread->thread, thread->image, &b->end,
                        (value + b->end.offset) & CF_WIRE_ADDRESS_MASK) == 0
               ? CF_ROWS_DONE
               : CF_ROWS_MEMORY;
}

/* A record that is cut, repeats an instruction, or has no room in the rows. */
static enum cf_rows_result stage(struct cf_rows *r, struct cf_rows_code *code,
                                 const struct cf_rows_thread *thread,
                                 const struct cf_rows_template *t, const uint8_t **p,
                                 const uint8_t *end, struct cf_rows_output *out, uint64_t *now,
                                 uint32_t *staged)
{
    const uint8_t *const record = *p;

    if (thread->thread)
        r->context = cf_calls_now(thread->calls, thread->thread);
    if (t->flags & CF_ROWS_CUT) {
        *p += t->bytes;
        return stage_cut(r, code, code->blocks[t->block], record, p, end, now, staged);
    }
    if (t->flags & CF_ROWS_REPEAT)
        return cf_rows_repeat(r, code, p, end, now, staged);
    *staged = cf_rows_stage(r, t, record, *now);
    *now += t->insns;
    *p += t->bytes;
    if (t->flags & CF_ROWS_END &&
        follow_end(thread, code->blocks[t->block], *p, out) != CF_ROWS_DONE)
        return CF_ROWS_MEMORY;
    return CF_ROWS_STAGED;
}

/* Static: clang gives the clones of what is not a name that other files do not find. */
static MULTIVERSION enum cf_rows_result expand(struct cf_rows *r, struct cf_rows_code *code,
                                               const struct cf_rows_thread *thread,
                                               const uint8_t **from, const uint8_t *end,
                                               struct cf_rows_output *out, uint64_t *time,
                                               uint32_t *staged)
{
    const struct cf_rows_columns columns = out->columns;
    struct walk w = {.map = code->map, .outcomes = code->outcomes};
    const uint8_t *p = *from;
    uint32_t row = out->rows, room = out->room, where, bytes;
    uint64_t now = *time;
    enum cf_rows_result result = CF_ROWS_DONE;

    if (code->repeat.pc && p < end) {
        int continues = cf_rows_continues(r, code, p, end);

        *staged = 0;
        if (continues == 0)
            return cf_rows_repeat_end(r, code, staged);
        if (continues < 0)
            return CF_ROWS_MEMORY;
    }
    w.arena = code->arena;
    while (p < end) {
        const struct cf_rows_template *t;

        result = find_template(r, code, &w, p, end, &where, &bytes);
        if (__builtin_expect(result != CF_ROWS_DONE, 0))
            break;
        follow(code, &w, p, end, &where, &bytes);
        if (__builtin_expect(bytes > (size_t)(end - p), 0)) {
            result = CF_ROWS_BAD;
            break;
        }
        t = at_place(&w, where);
        if (__builtin_expect(t->flags & ~CF_ROWS_END || t->padded > room - row, 0)) {
            out->rows = row;
            result = stage(r, code, thread, t, &p, end, out, &now, staged);
            break;
        }
        put_group(&columns, row, &t->group[0], p, now);
        for (uint32_t i = CF_ROWS_GROUP; i < t->rows; i += CF_ROWS_GROUP)
            put_group(&columns, row + i, &t->group[i / CF_ROWS_GROUP], p, now);
        p += bytes;
        row += t->rows;
        now += t->insns;
        if (t->flags) {
            out->rows = row;
            result = follow_end(thread, code->blocks[t->block], p, out);
            if (__builtin_expect(result != CF_ROWS_DONE, 0))
                break;
        }
    }
    *from = p;
    *time = now;
    out->rows = row;
    return result;
}

enum cf_rows_result cf_rows_expand(struct cf_rows *r, struct cf_rows_code *code,
                                   const struct cf_rows_thread *thread, const uint8_t **from,
                                   const uint8_t *end, struct cf_rows_output *out, uint64_t *time,
                                   uint32_t *staged)
{
    if (thread->thread)
        r->context = cf_calls_now(thread->calls, thread->thread);
    return expand(r, code, thread, from, end, out, time, staged);
}

/* ---- into stretches ---- */

/* Numbers a template's stretch in this frame. */
static int number_stretch(struct cf_rows *r, struct cf_rows_template *t, struct cf_stretches *s)
{
    int number;

    for (uint32_t i = 0; i < t->rows; i++) {
        const struct cf_rows_group *g = &t->group[i / CF_ROWS_GROUP];
        const unsigned k = i % CF_ROWS_GROUP;

        r->stretch[i] = (struct cf_stretch_row){g->delta[k], g->hint[k], g->step[k], g->place[k]};
    }
    number = cf_stretches_add(s, r->stretch, t->rows, cf_rows_slots(t), (int32_t)t->insns);
    if (number >= 0)
        t->stretch = s->frame << 16 | (unsigned)number;
    return number;
}

/* Copies the slots of a record of a block that ends at `end`. In pieces, most often one: what is
   too much is overwritten by the next. */
static ALWAYS void copy_slots(uint8_t *to, const uint8_t *from, uint32_t bytes, const uint8_t *end)
{
    const uint32_t piece = 32;

    if (__builtin_expect(end - from > (ptrdiff_t)(bytes + piece), 1)) {
        memcpy(to, from, piece);
        for (uint32_t i = piece; i < bytes; i += piece)
            memcpy(to + i, from + i, piece);
    } else {
        memcpy(to, from, bytes);
    }
}

/* Copies the slots of the sequence of records at *p that begins with the template at *where, as
   follow() finds it; *where and *p become its template's place and what is behind it. Returns the
   bytes of the slots. */
static ALWAYS uint32_t gather_sequence(struct cf_rows_code *code, struct walk *w, uint32_t *where,
                                       uint32_t bytes, const uint8_t **p, const uint8_t *end,
                                       uint8_t *to)
{
    struct cf_rows_template *t = at_place(w, *where);
    const uint8_t *const begin = to, *at = *p;

    for (;;) {
        uint32_t next;

        copy_slots(to, at + 4, bytes - 4, end);
        to += bytes - 4;
        at += bytes;
        if (end - at < 4)
            break;
        next = load32(at);
        if (next != t->next_word) {
            if (__builtin_expect(++t->turns == CF_ROWS_CHAIN_AFTER, 0)) {
                cf_rows_chain(code, *where, next);
                w->arena = code->arena;
            }
            break;
        }
        /* From the header, as in find_template(): its template has as many (cf_rows_chain()). */
        bytes = 4 + CF_WIRE_SLOT_BYTES * (next & CF_WIRE_SLOTS_LONG);
        if (__builtin_expect(bytes > (size_t)(end - at) || !t->next, 0))
            break;
        *where = t->next;
        t = at_place(w, *where);
    }
    *p = at;
    return (uint32_t)(to - begin);
}

/* A stretch that begins now comes, whose slots are in place. -1 where the frame is full. */
static ALWAYS int come(struct cf_rows *r, struct cf_rows_template *t, struct cf_stretches *s,
                       uint64_t now, uint32_t slot_bytes)
{
    if ((__builtin_expect(now != s->clock, 0) && cf_stretches_wait(s, now) < 0) ||
        (__builtin_expect(cf_stretches_void(s, t->stretch), 0) && number_stretch(r, t, s) < 0))
        return -1;
    cf_stretches_come(s, t->stretch, t->rows, slot_bytes, t->first_step, t->last_step, t->insns);
    return 0;
}

enum cf_rows_result cf_rows_gather(struct cf_rows *r, struct cf_rows_code *code,
                                   const struct cf_rows_thread *thread, const uint8_t **from,
                                   const uint8_t *end, struct cf_stretches *s, uint64_t *time,
                                   uint32_t *staged)
{
    struct cf_rows_output none = {.room = 0};
    struct walk w = {.map = code->map, .outcomes = code->outcomes};
    const uint8_t *p = *from;
    uint64_t now = *time;
    enum cf_rows_result result = CF_ROWS_DONE;

    if (code->repeat.pc && p < end) {
        const int continues = cf_rows_continues(r, code, p, end);

        *staged = 0;
        if (continues <= 0)
            return continues ? CF_ROWS_MEMORY : cf_rows_repeat_end(r, code, staged);
    }
    w.arena = code->arena;
    while (p < end) {
        struct cf_rows_template *t;
        const uint8_t *behind = p;
        uint32_t where, bytes;

        result = find_template(r, code, &w, p, end, &where, &bytes);
        if (__builtin_expect(result != CF_ROWS_DONE, 0))
            break;
        t = at_place(&w, where);
        if (__builtin_expect(t->flags != 0, 0)) {
            result = stage(r, code, thread, t, &p, end, &none, &now, staged);
            break;
        }
        if (__builtin_expect(cf_stretches_full(s, t->rows + CF_ROWS_CHAIN_ROWS), 0)) {
            result = CF_ROWS_FULL;
            break;
        }
        bytes = gather_sequence(code, &w, &where, bytes, &behind, end, s->slot + s->slot_bytes);
        t = at_place(&w, where);
        if (t->rows && come(r, t, s, now, bytes) != 0) {
            result = CF_ROWS_FULL;
            break;
        }
        p = behind;
        now += t->insns;
    }
    *from = p;
    *time = now;
    return result;
}
