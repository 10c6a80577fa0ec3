/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * accesses.c - addresses of operands from registers. See operands.h.
 */
#include <string.h>

#include "capture/operands/operands.h"
#include "capture/operands/repeats.h"
#include "formats/stream/cf.h"

enum {
    RCX = 1,
    FLAG_BACKWARDS = 1 << 10,
    REPEATED_MOST = 1 << 30, /* bytes of a repeated string instruction that a row can state */
};

static uint64_t wrapped(const struct cf_operands *o, uint64_t address)
{
    if (o->address_bits == CF_OPERANDS_TAGGED) /* of a user program's half, where bit 55 is clear */
        return address >> 55 & 1 ? address : address & (UINT64_MAX >> 8);
    return o->address_bits == 32 ? (uint32_t)address : address;
}

static uint64_t little(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static uint64_t index_of(const struct cf_operand *p, const struct cf_operands_state *s)
{
    const uint64_t value = p->index >= 0 ? s->general[p->index % CF_OPERANDS_GENERAL] : 0;

    return p->extended == OPERANDS_LOW_HALF      ? (uint32_t)value
           : p->extended == OPERANDS_SIGNED_HALF ? (uint64_t)(int32_t)value
                                                 : value;
}

/* Without the code by which it was signed, and without a tag. */
static uint64_t authenticated(const struct cf_operands_state *s, uint64_t pointer)
{
    const uint64_t address = UINT64_MAX >> (64 - s->pointer_bits);

    return pointer >> 55 & 1 ? pointer | ~address : pointer & address;
}

/* Without the index of a gather, which each lane has its own. */
static uint64_t address(const struct cf_operands *o, const struct cf_operand *p,
                        const struct cf_operands_state *s, uint64_t index)
{
    uint64_t sum = p->displacement + index * p->scale;

    if (p->base == OPERANDS_NEXT)
        sum += s->pc + o->length;
    else if (p->base >= 0 && o->needs & CF_OPERANDS_POINTER)
        sum += authenticated(s, s->general[p->base % CF_OPERANDS_GENERAL]);
    else if (p->base >= 0)
        sum += s->general[p->base % CF_OPERANDS_GENERAL];
    sum = wrapped(o, sum);
    return sum + (p->segment == 1 ? s->fs_base : p->segment == 2 ? s->gs_base : 0);
}

static int chosen(const struct cf_operands *o, const struct cf_operands_state *s,
                  const struct cf_operand *p, unsigned lane)
{
    if (o->mask < 0)
        return 1;
    if (!o->mask_is_vector)
        return s->mask[o->mask & 7] >> lane & 1;
    return s->vector[o->mask & 31][(lane + 1) * p->element - 1] >> 7;
}

struct into {
    struct cf_access *access;
    int count;
};

static void add(struct into *to, uint64_t addr, uint32_t size, unsigned op)
{
    if (to->count < CF_OPERANDS_MOST && size)
        to->access[to->count++] = (struct cf_access){addr, size, (uint8_t)op};
}

static void add_lanes(const struct cf_operands *o, const struct cf_operand *p,
                      const struct cf_operands_state *s, unsigned op, struct into *to)
{
    for (unsigned lane = 0; lane < p->lanes && (lane + 1) * p->index_bytes <= 64; lane++) {
        const uint8_t *from = s->vector[p->index & 31] + lane * p->index_bytes;
        const uint64_t index =
            p->index_bytes == 4 ? (uint64_t)(int32_t)little(from, 4) : little(from, 8);

        if (chosen(o, s, p, lane))
            add(to, address(o, p, s, index), p->element, op);
    }
}

/* The elements that a mask chooses, neighbours as one access. */
static void add_masked(const struct cf_operands *o, const struct cf_operand *p,
                       const struct cf_operands_state *s, uint64_t addr, unsigned op,
                       struct into *to)
{
    unsigned count = 0, all = 0;

    for (unsigned lane = 0; lane <= p->lanes && lane <= 64; lane++)
        if (lane < p->lanes && chosen(o, s, p, lane)) {
            count++;
            all++;
        } else {
            if (!o->packed)
                add(to, addr + (lane - count) * p->element, count * p->element, op);
            count = 0;
        }
    if (o->packed)
        add(to, addr, all * p->element, op);
}

static void add_repeated(const struct cf_operands *o, const struct cf_operand *p,
                         const struct cf_operands_state *s, uint64_t addr, unsigned op,
                         struct into *to)
{
    uint64_t count = wrapped(o, s->general[RCX]);

    if (o->repeats == OPERANDS_ONCE_OR_MORE && count)
        count = 1;
    if (count > REPEATED_MOST / (p->size ? p->size : 1))
        count = REPEATED_MOST / (p->size ? p->size : 1);
    if (count && s->flags & FLAG_BACKWARDS)
        addr -= (count - 1) * p->size;
    add(to, addr, (uint32_t)count * p->size, op);
}

static void add_operand(const struct cf_operands *o, const struct cf_operand *p,
                        const struct cf_operands_state *s, unsigned op, struct into *to)
{
    uint64_t addr;

    if (p->index_bytes) {
        add_lanes(o, p, s, op, to);
        return;
    }
    addr = address(o, p, s, index_of(p, s));
    if (p->bit >= 0) { /* the bit may lie anywhere beside the operand */
        uint64_t bit = s->general[p->bit % CF_OPERANDS_GENERAL];

        bit = p->size == 2 ? (uint64_t)(int16_t)bit : p->size == 4 ? (uint64_t)(int32_t)bit : bit;
        addr += (uint64_t)((int64_t)bit >> (p->size == 2 ? 4 : p->size == 4 ? 5 : 6)) * p->size;
    }
    if (o->needs & CF_OPERANDS_ZEROED)
        add(to, addr & ~(uint64_t)(s->zeroed - 1), s->zeroed, op);
    else if (o->mask >= 0)
        add_masked(o, p, s, addr, op, to);
    else if (o->repeats != OPERANDS_ONCE)
        add_repeated(o, p, s, addr, op, to);
    else
        add(to, addr, p->op == CF_PREFETCH ? 1 : p->size, op);
}

int cf_operands_accesses(const struct cf_operands *o, const struct cf_operands_state *s,
                         struct cf_access *access)
{
    struct into to = {access, 0};

    if (o->needs & CF_OPERANDS_VECTOR && (!s->vector || (!o->mask_is_vector && !s->mask)))
        return -1;
    if ((o->needs & CF_OPERANDS_ZEROED && !s->zeroed) ||
        (o->needs & CF_OPERANDS_POINTER && (!s->pointer_bits || s->pointer_bits > 55)))
        return -1;
    for (unsigned i = 0; i < o->places; i++)
        if (o->place[i].op)
            add_operand(o, &o->place[i], s, o->place[i].op, &to);
        else if (o->place[i].loads)
            add_operand(o, &o->place[i], s, CF_LOAD, &to);
    for (unsigned i = 0; i < o->places; i++)
        if (!o->place[i].op && o->place[i].stores)
            add_operand(o, &o->place[i], s, CF_STORE, &to);
    return to.count;
}
