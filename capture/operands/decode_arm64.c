/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decode_arm64.c - what an instruction's operands in memory are, of AArch64. See operands.h.
 *
 * Encodings: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1, "Loads and Stores",
 * one function here for each of its groups; those that it leaves unallocated are refused.
 */
#include <string.h>

#include "capture/operands/operands.h"
#include "capture/operands/repeats.h"
#include "formats/stream/cf.h"

enum {
    LENGTH = 4,
    ZERO_OR_SP = 31,
    TAG_BYTES = 16, /* memory of one allocation tag */
};

enum what { NONE, LOAD, STORE, BOTH, PREFETCH };

static unsigned bits(uint32_t word, unsigned high, unsigned low)
{
    return word >> low & ((1u << (high - low + 1)) - 1);
}

static uint64_t with_sign(uint32_t word, unsigned high, unsigned low)
{
    const uint64_t sign = 1ull << (high - low);

    return (bits(word, high, low) ^ sign) - sign;
}

/* So many registers of so many bytes, one after the other from the base on. */
static int transfer(struct cf_operands *o, uint32_t word, enum what what, unsigned registers,
                    uint32_t bytes, uint64_t displacement)
{
    if (what == NONE)
        return -1;
    o->places = (uint8_t)registers;
    for (unsigned i = 0; i < registers; i++)
        o->place[i] = (struct cf_operand){
            .displacement = displacement + i * bytes,
            .base = (int8_t)bits(word, 9, 5),
            .index = -1,
            .bit = -1,
            .op = what == PREFETCH ? CF_PREFETCH : 0,
            .size = bytes,
            .loads = what == LOAD || what == BOTH,
            .stores = what == STORE || what == BOTH,
        };
    return 0;
}

static enum what direction(uint32_t word)
{
    return bits(word, 22, 22) ? LOAD : STORE;
}

/* Load/store exclusive, pair and register; ordered; compare and swap, pair and register. */
static int exclusive(struct cf_operands *o, uint32_t word)
{
    const unsigned size = bits(word, 31, 30);
    const int lone = bits(word, 14, 10) == ZERO_OR_SP; /* Rt2 is not used */

    switch (bits(word, 23, 23) << 1 | bits(word, 21, 21)) {
    case 0:
        o->needs |= CF_OPERANDS_MONITOR;
        return transfer(o, word, direction(word), 1, 1u << size, 0);
    case 1:
        if (size < 2) /* casp, of even registers and the next */
            return lone && !(word & 1) && !bits(word, 16, 16)
                       ? transfer(o, word, BOTH, 2, 4u << size, 0)
                       : -1;
        o->needs |= CF_OPERANDS_MONITOR;
        return transfer(o, word, direction(word), 2, 1u << size, 0);
    case 2:
        return transfer(o, word, direction(word), 1, 1u << size, 0);
    default:
        return lone ? transfer(o, word, BOTH, 1, 1u << size, 0) : -1;
    }
}

/* Of the pc. */
static int literal(struct cf_operands *o, uint32_t word)
{
    const unsigned opc = bits(word, 31, 30), vector = bits(word, 26, 26);
    const uint32_t bytes = vector ? 4u << opc : opc == 1 ? 8 : 4;

    if (vector && opc == 3)
        return -1;
    transfer(o, word, !vector && opc == 3 ? PREFETCH : LOAD, 1, bytes,
             4 * with_sign(word, 23, 5) - LENGTH);
    o->place[0].base = OPERANDS_NEXT;
    return 0;
}

/* The offset counts unless it is added only after the access. */
static int pair(struct cf_operands *o, uint32_t word)
{
    enum { NO_ALLOCATE, POST };
    const unsigned opc = bits(word, 31, 30), vector = bits(word, 26, 26), mode = bits(word, 24, 23);
    const int tagged = !vector && opc == 1 && direction(word) == STORE; /* stgp */
    const uint32_t bytes = vector ? 4u << opc : opc == 2 || tagged ? 8 : 4;

    if (opc == 3 || (!vector && opc == 1 && mode == NO_ALLOCATE))
        return -1;
    return transfer(o, word, direction(word), 2, bytes,
                    mode == POST ? 0 : with_sign(word, 21, 15) * (tagged ? TAG_BYTES : bytes));
}

/* What the fields size, V and opc say of one register: its bytes too. */
static enum what single(uint32_t word, uint32_t *bytes)
{
    const unsigned size = bits(word, 31, 30), opc = bits(word, 23, 22);

    *bytes = 1u << size;
    if (bits(word, 26, 26)) {
        if (opc >= 2 && size)
            return NONE;
        *bytes = opc >= 2 ? 16 : *bytes;
        return opc & 1 ? LOAD : STORE;
    }
    switch (opc) {
    case 0:
        return STORE;
    case 1:
        return LOAD;
    case 2: /* with the sign, to 64 bits */
        return size == 3 ? PREFETCH : LOAD;
    default: /* to 32 bits */
        return size < 2 ? LOAD : NONE;
    }
}

static int unsigned_offset(struct cf_operands *o, uint32_t word)
{
    uint32_t bytes;
    const enum what what = single(word, &bytes);

    return transfer(o, word, what, 1, bytes, (uint64_t)bits(word, 21, 10) * bytes);
}

/* Unscaled, post-indexed, unprivileged, pre-indexed. */
static int short_offset(struct cf_operands *o, uint32_t word)
{
    enum { UNSCALED, POST, UNPRIVILEGED };
    const unsigned mode = bits(word, 11, 10);
    uint32_t bytes;
    const enum what what = single(word, &bytes);

    if ((what == PREFETCH && mode != UNSCALED) || (mode == UNPRIVILEGED && bits(word, 26, 26)))
        return -1;
    return transfer(o, word, what, 1, bytes, mode == POST ? 0 : with_sign(word, 20, 12));
}

static int register_offset(struct cf_operands *o, uint32_t word)
{
    const unsigned option = bits(word, 15, 13), index = bits(word, 20, 16);
    uint32_t bytes;
    const enum what what = single(word, &bytes);

    /* A prefetch with such a number is of a range (rprfm), which the operand does not state so. */
    if (!(option & 2) || (what == PREFETCH && bits(word, 4, 3) == 3) ||
        transfer(o, word, what, 1, bytes, 0) != 0)
        return -1;
    if (index != ZERO_OR_SP)
        o->place[0].index = (int8_t)index;
    o->place[0].scale = (uint8_t)(bits(word, 12, 12) ? bytes : 1);
    o->place[0].extended = option == 2 ? OPERANDS_LOW_HALF : option == 6 ? OPERANDS_SIGNED_HALF : 0;
    return 0;
}

/* ld<op>, swp, ldapr. Others move 64 bytes of devices, or want more than the manual's Armv8. */
static int atomic(struct cf_operands *o, uint32_t word)
{
    const unsigned operation = bits(word, 15, 12);
    const uint32_t bytes = 1u << bits(word, 31, 30);

    if (bits(word, 26, 26))
        return -1;
    if (operation <= 8)
        return transfer(o, word, BOTH, 1, bytes, 0);
    return operation == 12 && bits(word, 23, 22) == 2 && bits(word, 20, 16) == ZERO_OR_SP
               ? transfer(o, word, LOAD, 1, bytes, 0)
               : -1;
}

/* ldraa, ldrab. */
static int authenticated(struct cf_operands *o, uint32_t word)
{
    if (bits(word, 31, 30) != 3 || bits(word, 26, 26))
        return -1;
    o->needs |= CF_OPERANDS_POINTER;
    return transfer(o, word, LOAD, 1, 8,
                    8 * ((uint64_t)bits(word, 20, 12) - (bits(word, 22, 22) ? 512 : 0)));
}

/* ldapur, stlur; and those of memory's tags that access the memory itself. */
static int ordered_or_tags(struct cf_operands *o, uint32_t word)
{
    const unsigned mode = bits(word, 11, 10), opc = bits(word, 23, 22);
    uint32_t bytes;
    enum what what;

    if (bits(word, 26, 26))
        return -1;
    if (!bits(word, 21, 21)) {
        what = single(word, &bytes);
        return mode || what == PREFETCH
                   ? -1
                   : transfer(o, word, what, 1, bytes, with_sign(word, 20, 12));
    }
    if (bits(word, 31, 30) != 3 || !mode || !(opc & 1)) /* stg, ldg: the tags alone */
        return -1;
    return transfer(o, word, STORE, opc == 3 ? 2 : 1, TAG_BYTES,
                    mode == 1 ? 0 : with_sign(word, 20, 12) * TAG_BYTES);
}

/* ld1 to ld4, st1 to st4 of whole registers; what they add to the base comes after the access. */
static int structures(struct cf_operands *o, uint32_t word)
{
    static const uint8_t registers[16] = {
        [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    const unsigned opcode = bits(word, 15, 12), wide = bits(word, 30, 30);

    if (bits(word, 31, 31) || bits(word, 21, 21) || !registers[opcode] ||
        (!bits(word, 23, 23) && bits(word, 20, 16)) ||
        (!(opcode & 2) && bits(word, 11, 10) == 3 && !wide)) /* structures of one element each */
        return -1;
    return transfer(o, word, direction(word), registers[opcode], wide ? 16 : 8, 0);
}

/* The same of one element of each register, or of one for all of them. */
static int elements(struct cf_operands *o, uint32_t word)
{
    const unsigned opcode = bits(word, 15, 13), size = bits(word, 11, 10), s = bits(word, 12, 12);
    const unsigned registers = ((opcode & 1) << 1 | bits(word, 21, 21)) + 1;
    unsigned scale = opcode >> 1;

    if (bits(word, 31, 31) || (!bits(word, 23, 23) && bits(word, 20, 16)))
        return -1;
    if (scale == 3) {
        if (s || direction(word) == STORE)
            return -1;
        scale = size;
    } else if (scale == 2 && size) {
        if (size != 1 || s)
            return -1;
        scale = 3;
    } else if (scale == 1 && size & 1) {
        return -1;
    }
    return transfer(o, word, direction(word), registers, 1u << scale, 0);
}

/* dc as user programs may (op1 3, CRn 7): the base is Rt. */
static void of_caches(struct cf_operands *o, uint32_t word)
{
    const unsigned line = bits(word, 11, 8), op2 = bits(word, 7, 5);
    const int zeroes = line == 4 && (op2 == 1 || op2 == 4); /* zva, gzva */

    if ((word & 0xfffff000) != 0xd50b7000 || !(zeroes || (line >= 10 && op2 == 1)))
        return;
    transfer(o, word, STORE, 1, 1, 0);
    o->place[0].base = bits(word, 4, 0) == ZERO_OR_SP ? -1 : (int8_t)bits(word, 4, 0);
    if (zeroes) {
        o->needs |= CF_OPERANDS_ZEROED;
    } else {
        o->place[0].op = CF_FLUSH;
        o->place[0].stores = 0;
    }
}

static int load_or_store(struct cf_operands *o, uint32_t word)
{
    switch (bits(word, 29, 28) << 2 | bits(word, 24, 24)) {
    case 0:
        return bits(word, 26, 26) ? structures(o, word) : exclusive(o, word);
    case 1:
        return bits(word, 26, 26) ? elements(o, word) : -1;
    case 4:
        return literal(o, word);
    case 5:
        return ordered_or_tags(o, word);
    case 8:
    case 9:
        return pair(o, word);
    case 12:
        if (!bits(word, 21, 21))
            return short_offset(o, word);
        return bits(word, 10, 10)        ? authenticated(o, word)
               : bits(word, 11, 10) == 2 ? register_offset(o, word)
                                         : atomic(o, word);
    default:
        return unsigned_offset(o, word);
    }
}

int cf_operands_decode_arm64(struct cf_operands *o, const uint8_t *code, size_t length)
{
    uint32_t word;
    unsigned group;

    memset(o, 0, sizeof *o);
    o->mask = -1;
    if (length < LENGTH)
        return -1;
    o->length = LENGTH;
    o->address_bits = CF_OPERANDS_TAGGED;
    word = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
           (uint32_t)code[3] << 24;
    group = bits(word, 28, 25);
    if (word >> 31 && (group == 2 || group == 0)) /* memory by SVE and SME */
        return -1;
    if ((group & 5) == 4)
        return load_or_store(o, word);
    of_caches(o, word);
    return 0;
}
