/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sparc.c - decodes SPARC V8 instruction words (see sparc.h).
 *
 * By op and op3, as tables F-3 and F-4 of the manual have them. Of floating-point and coprocessor
 * instructions only the memory accesses matter. Nothing is kept.
 */
#include "capture/leon4/sparc.h"

static uint32_t extend(uint32_t value, unsigned bits)
{
    const uint32_t sign = 1U << (bits - 1);

    value &= (sign << 1) - 1;
    return (value ^ sign) - sign;
}

static void branch(uint32_t word, uint32_t pc, struct cf_sparc_insn *n)
{
    const unsigned cond = word >> 25 & 15;

    n->kind = CF_SPARC_BRANCH;
    n->way = cond == 8 ? CF_SPARC_ALWAYS : cond == 0 ? CF_SPARC_NEVER : CF_SPARC_EITHER;
    n->flags = CF_SPARC_TARGET | (word >> 29 & 1 ? CF_SPARC_ANNUL : 0);
    n->value = pc + (extend(word, 22) << 2);
}

/* op 2: by op3. 255 is the mark of what is no instruction. */
static void arithmetic(unsigned op3, struct cf_sparc_insn *n)
{
    enum { NONE = 255, OTHER = 254 };
    static const uint8_t logic[16] = {
        CF_SPARC_ADD, CF_SPARC_AND,  CF_SPARC_OR, CF_SPARC_XOR, CF_SPARC_SUB, CF_SPARC_ANDN,
        CF_SPARC_ORN, CF_SPARC_XNOR, OTHER,       NONE,         CF_SPARC_MUL, CF_SPARC_MUL,
        OTHER,        NONE,          OTHER,       OTHER,
    };

    n->kind = CF_SPARC_RESULT;
    if (op3 < 0x20) {
        const uint8_t what = logic[op3 & 15];

        if (what == NONE)
            n->kind = CF_SPARC_UNKNOWN;
        else if (what != OTHER) {
            n->kind = CF_SPARC_ALU;
            n->alu = what;
        }
        return;
    }
    switch (op3) {
    case 0x20: /* TADDcc: its result is that of ADD */
    case 0x22:
        n->kind = CF_SPARC_ALU;
        n->alu = CF_SPARC_ADD;
        return;
    case 0x21:
    case 0x23:
        n->kind = CF_SPARC_ALU;
        n->alu = CF_SPARC_SUB;
        return;
    case 0x24: /* MULScc */
    case 0x28: /* RDY, RDASR */
    case 0x2a: /* RDWIM */
    case 0x2b: /* RDTBR */
    case 0x3e: /* UMAC, SMAC of the LEON */
    case 0x3f:
        return;
    case 0x25:
    case 0x26:
    case 0x27:
        n->kind = CF_SPARC_ALU;
        n->alu = (uint8_t)(CF_SPARC_SLL + op3 - 0x25);
        return;
    case 0x29:
        n->kind = CF_SPARC_RDPSR;
        return;
    case 0x31:
        n->kind = CF_SPARC_WRPSR;
        return;
    case 0x30: /* WRY, WRASR */
    case 0x32: /* WRWIM */
    case 0x33: /* WRTBR */
    case 0x34: /* FPop, CPop */
    case 0x35:
    case 0x36:
    case 0x37:
    case 0x3a: /* Ticc: what comes of it, the row says */
    case 0x3b: /* FLUSH */
        n->kind = CF_SPARC_PLAIN;
        return;
    case 0x38:
        n->kind = CF_SPARC_JMPL;
        return;
    case 0x39:
        n->kind = CF_SPARC_RETT;
        return;
    case 0x3c:
        n->kind = CF_SPARC_SAVE;
        return;
    case 0x3d:
        n->kind = CF_SPARC_RESTORE;
        return;
    default:
        n->kind = CF_SPARC_UNKNOWN;
    }
}

static void memory(unsigned op3, struct cf_sparc_insn *n)
{
    enum { L = CF_SPARC_LOADS, S = CF_SPARC_STORES, I = CF_SPARC_INTEGER, G = CF_SPARC_SIGNED };
    static const struct {
        uint8_t size, flags;
    } integer[16] =
        {
            {4, L | I}, {1, L | I},     {2, L | I}, {8, L | I},     {4, S | I},     {1, S | I},
            {2, S | I}, {8, S | I},     {0, 0},     {1, L | I | G}, {2, L | I | G}, {0, 0},
            {0, 0},     {1, L | S | I}, {0, 0},     {4, L | S | I},
        },
      other[8] = {{4, L}, {4, L}, {0, 0}, {8, L}, {4, S}, {4, S}, {8, S}, {8, S}};

    n->kind = CF_SPARC_MEMORY;
    if (op3 < 0x20) {
        n->size = integer[op3 & 15].size;
        n->flags |= integer[op3 & 15].flags;
        if (op3 & 16)
            n->flags |= CF_SPARC_ALTERNATE;
    } else if ((op3 & 15) < 8) {
        n->size = other[op3 & 7].size;
        n->flags |= other[op3 & 7].flags;
    } else if (op3 == 0x3c) {
        /* CASA: its address is r[rs1] alone, rs2 holds what is compared */
        n->size = 4;
        n->flags = L | S | I | CF_SPARC_ALTERNATE | CF_SPARC_IMMEDIATE;
        n->simm = 0;
    }
    if (!n->size || (n->flags & CF_SPARC_ALTERNATE && op3 != 0x3c && n->flags & CF_SPARC_IMMEDIATE))
        n->kind = CF_SPARC_UNKNOWN;
}

void cf_sparc_decode(uint32_t word, uint32_t pc, struct cf_sparc_insn *n)
{
    const unsigned op = word >> 30, op2 = word >> 22 & 7;

    *n = (struct cf_sparc_insn){.rd = word >> 25 & 31};
    if (op == 1) {
        n->kind = CF_SPARC_CALL;
        n->flags = CF_SPARC_TARGET;
        n->rd = 15;
        n->value = pc + (word << 2);
        return;
    }
    if (op == 0) {
        if (op2 == 4) {
            n->kind = CF_SPARC_SETHI;
            n->value = word << 10;
        } else if (op2 == 2 || op2 == 6 || op2 == 7) {
            branch(word, pc, n);
        } else {
            n->kind = op2 == 0 ? CF_SPARC_PLAIN : CF_SPARC_UNKNOWN; /* UNIMP traps */
        }
        return;
    }
    n->rs1 = word >> 14 & 31;
    n->rs2 = word & 31;
    n->asi = (uint8_t)(word >> 5);
    if (word >> 13 & 1) {
        n->flags = CF_SPARC_IMMEDIATE;
        n->simm = extend(word, 13);
    }
    if (op == 2)
        arithmetic(word >> 19 & 63, n);
    else
        memory(word >> 19 & 63, n);
}
