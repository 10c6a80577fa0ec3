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

/* op 2: by op3 (V8 manual, table F-3). The result of TADDcc is that of ADD; UMAC and SMAC (0x3e,
   0x3f) are the LEON's; what comes of Ticc (0x3a), the row says. */
static void arithmetic(unsigned op3, struct cf_sparc_insn *n)
{
    enum {
        P = CF_SPARC_PLAIN,
        A = CF_SPARC_ALU,
        R = CF_SPARC_RESULT,
        U = CF_SPARC_UNKNOWN,
        RD = CF_SPARC_RDPSR,
        WR = CF_SPARC_WRPSR,
        JM = CF_SPARC_JMPL,
        RT = CF_SPARC_RETT,
        SV = CF_SPARC_SAVE,
        RS = CF_SPARC_RESTORE
    };
    static const uint8_t kinds[64] = {
        A, A,  A, A, A, A, A, A, R,  U,  A, A, R,  U,  R, R, /* 0x00 */
        A, A,  A, A, A, A, A, A, R,  U,  A, A, R,  U,  R, R, /* 0x10: and the condition codes */
        A, A,  A, A, R, A, A, A, R,  RD, R, R, U,  U,  U, U, /* 0x20 */
        P, WR, P, P, P, P, P, P, JM, RT, P, P, SV, RS, R, R, /* 0x30 */
    };
    static const uint8_t operations[64] = {
        [0x00] = CF_SPARC_ADD, CF_SPARC_AND,  CF_SPARC_OR,           CF_SPARC_XOR,
        [0x04] = CF_SPARC_SUB, CF_SPARC_ANDN, CF_SPARC_ORN,          CF_SPARC_XNOR,
        [0x0a] = CF_SPARC_MUL, CF_SPARC_MUL,  [0x10] = CF_SPARC_ADD, CF_SPARC_AND,
        CF_SPARC_OR,           CF_SPARC_XOR,  [0x14] = CF_SPARC_SUB, CF_SPARC_ANDN,
        CF_SPARC_ORN,          CF_SPARC_XNOR, [0x1a] = CF_SPARC_MUL, CF_SPARC_MUL,
        [0x20] = CF_SPARC_ADD, CF_SPARC_SUB,  CF_SPARC_ADD,          CF_SPARC_SUB,
        [0x25] = CF_SPARC_SLL, CF_SPARC_SRL,  CF_SPARC_SRA,
    };

    n->kind = kinds[op3];
    n->alu = operations[op3];
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
