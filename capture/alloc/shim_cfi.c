/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_cfi.c - how a frame is left, by the call frame information that compilers write for
 * exceptions: DWARF 4, section 6.4, in the form of the Linux Standard Base, "Exception Frames"
 * (.eh_frame, and .eh_frame_hdr with its table for binary search).
 *
 * What it takes in is what code between calls has on the processors below. Anything else - a signal
 * frame, a stack pointer kept in another register - ends the stack there.
 */
#include <dlfcn.h>
#include <string.h>

#include "shim.h"

#if defined(__x86_64__)
enum { REG_SP = 7, REG_FP = 6, REG_RA = 16 };
#elif defined(__aarch64__)
enum { REG_SP = 31, REG_FP = 29, REG_RA = 30 };
#else
#error "only x86-64 and AArch64"
#endif

enum { STATES = 8 }; /* that may be remembered */

enum where { SAME, LOST, FROM_END, FROM_FP };

struct place {
    enum where where;
    int64_t offset;
};

struct row {
    enum shim_step step;
    int64_t end;
    struct place fp, ra;
};

struct reader {
    const uint8_t *at, *end;
    int bad;
};

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointers; /* how addresses are encoded in FDEs */
    int augmented, signal;
    const uint8_t *code, *code_end;
};

static uint64_t fixed(struct reader *r, unsigned bytes)
{
    uint64_t v = 0;

    if ((size_t)(r->end - r->at) < bytes) {
        r->bad = 1;
        r->at = r->end;
        return 0;
    }
    memcpy(&v, r->at, bytes);
    r->at += bytes;
    return v;
}

static uint64_t uleb(struct reader *r)
{
    uint64_t v = 0, byte;
    unsigned shift = 0;

    do {
        byte = fixed(r, 1);
        if (shift < 64)
            v |= (byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    return v;
}

static int64_t sleb(struct reader *r)
{
    uint64_t v = 0, byte;
    unsigned shift = 0;

    do {
        byte = fixed(r, 1);
        if (shift < 64)
            v |= (byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    if (shift < 64 && byte & 64)
        v |= ~0ULL << shift;
    return (int64_t)v;
}

/* An encoded address; `base` is what relative ones of the table are relative to. */
static uintptr_t encoded(struct reader *r, uint8_t how, uintptr_t base)
{
    const uintptr_t place = (uintptr_t)r->at;
    uint64_t v;

    switch (how & 15) {
    case 0:
    case 4:
    case 12:
        v = fixed(r, 8);
        break;
    case 1:
        v = uleb(r);
        break;
    case 2:
        v = fixed(r, 2);
        break;
    case 3:
        v = fixed(r, 4);
        break;
    case 9:
        v = (uint64_t)sleb(r);
        break;
    case 10:
        v = (uint64_t)(int64_t)(int16_t)fixed(r, 2);
        break;
    case 11:
        v = (uint64_t)(int64_t)(int32_t)fixed(r, 4);
        break;
    default:
        r->bad = 1;
        return 0;
    }
    switch (how & 0xf0) {
    case 0:
        return v;
    case 0x10:
        return v + place;
    case 0x30:
        return v + base;
    default:
        r->bad = 1;
        return 0;
    }
}

/* The description of the function at pc, by the table that is sorted by addresses; or NULL. */
static const uint8_t *find_fde(const uint8_t *header, uintptr_t pc)
{
    struct reader r = {.at = header, .end = header + 64};
    const uintptr_t base = (uintptr_t)header;
    const int32_t *table;
    uint64_t count, low = 0;
    uint8_t frame_how, count_how, table_how;

    if (fixed(&r, 1) != 1)
        return NULL;
    frame_how = (uint8_t)fixed(&r, 1);
    count_how = (uint8_t)fixed(&r, 1);
    table_how = (uint8_t)fixed(&r, 1);
    if (count_how == 0xff || table_how != 0x3b)
        return NULL;
    (void)encoded(&r, frame_how, base);
    count = encoded(&r, count_how, base);
    table = (const int32_t *)r.at;
    if (r.bad || !count || pc < base + (intptr_t)table[0])
        return NULL;
    while (count > 1) {
        const uint64_t half = count / 2;

        if (base + (intptr_t)table[2 * (low + half)] <= pc) {
            low += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return header + table[2 * low + 1];
}

/* Its length is before it, and then what tells it apart: the record's reader, or one of no bytes.
   */
static struct reader record_of(const uint8_t *at)
{
    struct reader r = {.at = at, .end = at + 12};
    uint64_t bytes = fixed(&r, 4);

    if (bytes == 0xffffffff)
        bytes = fixed(&r, 8);
    r.end = r.at + bytes;
    return r;
}

static int read_cie(const uint8_t *at, struct cie *c)
{
    struct reader r = record_of(at);
    const char *augmentation;
    uint64_t version;

    *c = (struct cie){0};
    if (fixed(&r, 4) != 0)
        return -1;
    version = fixed(&r, 1);
    augmentation = (const char *)r.at;
    r.at += strnlen(augmentation, (size_t)(r.end - r.at)) + 1;
    if (version != 1 && version != 3)
        return -1;
    c->code_align = uleb(&r);
    c->data_align = sleb(&r);
    if ((version == 1 ? fixed(&r, 1) : uleb(&r)) != REG_RA)
        return -1;
    if (*augmentation == 'z') {
        const uint64_t bytes = uleb(&r);
        const uint8_t *code = r.at + bytes;

        c->augmented = 1;
        while (*++augmentation) {
            if (*augmentation == 'R') {
                c->pointers = (uint8_t)fixed(&r, 1);
            } else if (*augmentation == 'P') {
                const uint8_t how = (uint8_t)fixed(&r, 1);

                (void)encoded(&r, how & 0x7f, 0);
            } else if (*augmentation == 'L') {
                (void)fixed(&r, 1);
            } else if (*augmentation == 'S') {
                c->signal = 1;
            } else if (*augmentation != 'B') {
                return -1;
            }
        }
        r.at = code;
    } else if (*augmentation) {
        return -1;
    }
    c->code = r.at;
    c->code_end = r.end;
    return r.bad || r.at > r.end ? -1 : 0;
}

static void set_place(struct row *row, uint64_t reg, enum where where, int64_t offset)
{
    if (reg == REG_FP)
        row->fp = (struct place){where, offset};
    else if (reg == REG_RA)
        row->ra = (struct place){where, offset};
}

/* The end of the frame by register and offset. */
static void set_end(struct row *row, uint64_t reg, int64_t offset)
{
    row->step = reg == REG_SP ? SHIM_BY_SP : reg == REG_FP ? SHIM_BY_FP : SHIM_END;
    row->end = offset;
}

/* An expression: the frame pointer with an offset, and what stands there where `deref` is set. */
static int by_fp(struct reader *r, int64_t *offset, int deref)
{
    struct reader e = *r;
    uint64_t bytes = uleb(&e);

    r->at = e.at + bytes;
    if (bytes > (size_t)(r->end - e.at)) {
        r->bad = 1;
        return 0;
    }
    e.end = r->at;
    if (fixed(&e, 1) != 0x70 + REG_FP)
        return 0;
    *offset = sleb(&e);
    return (!deref || fixed(&e, 1) == 6) && e.at == e.end && !e.bad;
}

/* What says where the frame ends; -1: not known. */
static int ends(struct reader *r, const struct cie *c, uint8_t op, struct row *row)
{
    uint64_t reg;

    switch (op) {
    case 0x0c: /* def_cfa */
        reg = uleb(r);
        set_end(row, reg, (int64_t)uleb(r));
        return 0;
    case 0x12: /* def_cfa_sf */
        reg = uleb(r);
        set_end(row, reg, sleb(r) * c->data_align);
        return 0;
    case 0x0d: /* def_cfa_register */
        set_end(row, uleb(r), row->end);
        return 0;
    case 0x0e: /* def_cfa_offset */
        row->end = (int64_t)uleb(r);
        return 0;
    case 0x13: /* def_cfa_offset_sf */
        row->end = sleb(r) * c->data_align;
        return 0;
    case 0x0f: /* def_cfa_expression */
        row->step = by_fp(r, &row->end, 1) ? SHIM_BY_SLOT : SHIM_END;
        return 0;
    default:
        return -1;
    }
}

/* An instruction whose operand is not in its first byte; -1: not known. */
static int extended(struct reader *r, const struct cie *c, uint8_t op, struct row *row)
{
    int64_t offset = 0;
    uint64_t reg;

    switch (op) {
    case 0x00: /* nop */
    case 0x2d: /* GNU_window_save; of AArch64: the return address is signed from here on */
        return 0;
    case 0x2e: /* GNU_args_size */
        (void)uleb(r);
        return 0;
    case 0x05: /* offset_extended */
        reg = uleb(r);
        set_place(row, reg, FROM_END, (int64_t)uleb(r) * c->data_align);
        return 0;
    case 0x11: /* offset_extended_sf */
        reg = uleb(r);
        set_place(row, reg, FROM_END, sleb(r) * c->data_align);
        return 0;
    case 0x07: /* undefined */
        set_place(row, uleb(r), LOST, 0);
        return 0;
    case 0x08: /* same_value */
        set_place(row, uleb(r), SAME, 0);
        return 0;
    case 0x09: /* register */
        set_place(row, uleb(r), LOST, 0);
        (void)uleb(r);
        return 0;
    case 0x10: /* expression */
        reg = uleb(r);
        if (by_fp(r, &offset, 0))
            set_place(row, reg, FROM_FP, offset);
        else
            set_place(row, reg, LOST, 0);
        return 0;
    case 0x14: /* val_offset, and val_offset_sf */
    case 0x15:
        set_place(row, uleb(r), LOST, 0);
        (void)uleb(r);
        return 0;
    case 0x16: /* val_expression */
        set_place(row, uleb(r), LOST, 0);
        (void)by_fp(r, &offset, 0);
        return 0;
    default:
        return ends(r, c, op, row);
    }
}

/* Runs the instructions as far as they hold before `pc`. -1: they cannot be understood. */
static int run(struct reader *r, const struct cie *c, const struct row *first, uintptr_t at,
               uintptr_t pc, struct row *row)
{
    struct row kept[STATES];
    unsigned n = 0;

    while (r->at < r->end && !r->bad) {
        const uint8_t op = (uint8_t)fixed(r, 1), low = op & 63;
        uint64_t advance = 0;

        if (op >> 6 == 1) {
            advance = low;
        } else if (op >> 6 == 2) {
            set_place(row, low, FROM_END, (int64_t)uleb(r) * c->data_align);
        } else if (op >> 6 == 3) {
            set_place(row, low, low == REG_FP ? first->fp.where : first->ra.where,
                      low == REG_FP ? first->fp.offset : first->ra.offset);
        } else if (op >= 2 && op <= 4) {
            advance = fixed(r, 1U << (op - 2));
        } else if (op == 1) {
            at = encoded(r, c->pointers, 0);
            if (at > pc)
                return 0;
        } else if (op == 6) {
            const uint64_t reg = uleb(r);

            set_place(row, reg, reg == REG_FP ? first->fp.where : first->ra.where,
                      reg == REG_FP ? first->fp.offset : first->ra.offset);
        } else if (op == 0x0a) {
            if (n == STATES)
                return -1;
            kept[n++] = *row;
        } else if (op == 0x0b) {
            if (!n)
                return -1;
            *row = kept[--n];
        } else if (extended(r, c, op, row) != 0) {
            return -1;
        }
        at += advance * c->code_align;
        if (at > pc)
            return 0;
    }
    return r->bad ? -1 : 0;
}

static struct shim_rule rule_of(const struct row *row)
{
    struct shim_rule rule = {.step = row->step,
                             .end = (int32_t)row->end,
                             .ra = (int32_t)row->ra.offset,
                             .fp = (int32_t)row->fp.offset};

    if (row->ra.where != FROM_END || row->end != rule.end || row->ra.offset != rule.ra ||
        row->fp.offset != rule.fp)
        return (struct shim_rule){.step = SHIM_END};
    rule.fp_saved = row->fp.where == FROM_END ? 1 : row->fp.where == FROM_FP ? 2 : 0;
    return rule;
}

struct shim_rule shim_cfi_rule(uintptr_t pc)
{
    const struct shim_rule none = {.step = SHIM_END}, by_chain = {.step = SHIM_BY_CHAIN};
    struct dl_find_object object;
    struct row row = {.step = SHIM_END}, first;
    struct reader r, code;
    struct cie cie;
    const uint8_t *fde;
    uintptr_t begin, bytes;
    uint32_t to_cie;

    /* pc is where the call returns to: the call is before it. */
    pc--;
    if (_dl_find_object((void *)pc, &object) != 0 || !object.dlfo_eh_frame)
        return by_chain;
    fde = find_fde(object.dlfo_eh_frame, pc);
    if (!fde)
        return by_chain;
    r = record_of(fde);
    to_cie = (uint32_t)fixed(&r, 4);
    if (!to_cie || read_cie(r.at - 4 - to_cie, &cie) != 0 || cie.signal)
        return none;
    begin = encoded(&r, cie.pointers, 0);
    bytes = encoded(&r, cie.pointers & 15, 0);
    if (pc < begin || pc - begin >= bytes)
        return by_chain;
    if (cie.augmented) {
        const uint64_t skip = uleb(&r);

        r.at += skip;
    }
    code = (struct reader){.at = cie.code, .end = cie.code_end};
    if (run(&code, &cie, &row, begin, UINTPTR_MAX, &row) != 0)
        return none;
    first = row;
    return run(&r, &cie, &first, begin, pc, &row) == 0 ? rule_of(&row) : none;
}
