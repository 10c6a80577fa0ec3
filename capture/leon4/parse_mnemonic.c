/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse_mnemonic.c - what the names of SPARC V8 instructions mean (see parse.h).
 *
 * The manual's names and its synthetic instructions (V8 manual, appendix A and table A-1). A name
 * has a shape, which says what its operands are; branches and traps are put together from a prefix
 * and a condition. Nothing is kept.
 */
#include <string.h>

#include "capture/leon4/parse.h"

enum shape {
    THREE,   /* a, b, rd */
    RD_LAST, /* anything, rd */
    MEM,     /* a memory access: [a], rd, rd, [a], or [a], rs2, rd */
    CLEAR,   /* a store of %g0 */
    NO_RD,
    STEP, /* inc and dec: rd or number, rd */
    TWO,  /* operands of cmp, tst, btst, not, neg: see `alu` */
    SET_HIGH,
    MOVE,
    WRITE,
    READ,
    GO, /* call, jmp, jmpl */
    BACK,
    WINDOW,
};

struct mnemonic {
    const char *name;
    uint8_t shape, kind, what, size;
};

#define ALU(name, alu)                                                                             \
    {name, THREE, SPARC_ALU, alu, 0},                                                              \
    {                                                                                              \
        name "cc", THREE, SPARC_ALU, alu, 0                                                        \
    }
#define RES(name)                                                                                  \
    {                                                                                              \
        name, RD_LAST, SPARC_RESULT, 0, 0                                                          \
    }
#define L SPARC_LOADS
#define S SPARC_STORES
#define N SPARC_INTEGER
#define G SPARC_SIGNED
#define A SPARC_ALTERNATE
#define M(name, size, flags)                                                                       \
    {name, MEM, SPARC_MEMORY, flags, size},                                                        \
    {                                                                                              \
        name "a", MEM, SPARC_MEMORY, (flags) | A, size                                             \
    }

static const struct mnemonic list[] = {
    ALU("add", SPARC_ADD),
    ALU("sub", SPARC_SUB),
    ALU("and", SPARC_AND),
    ALU("or", SPARC_OR),
    ALU("xor", SPARC_XOR),
    ALU("andn", SPARC_ANDN),
    ALU("orn", SPARC_ORN),
    ALU("xnor", SPARC_XNOR),
    ALU("umul", SPARC_MUL),
    ALU("smul", SPARC_MUL),
    ALU("tadd", SPARC_ADD),
    ALU("tsub", SPARC_SUB),
    {"taddcctv", THREE, SPARC_ALU, SPARC_ADD, 0},
    {"tsubcctv", THREE, SPARC_ALU, SPARC_SUB, 0},
    {"sll", THREE, SPARC_ALU, SPARC_SLL, 0},
    {"srl", THREE, SPARC_ALU, SPARC_SRL, 0},
    {"sra", THREE, SPARC_ALU, SPARC_SRA, 0},
    {"bset", STEP, SPARC_ALU, SPARC_OR, 0},
    {"bclr", STEP, SPARC_ALU, SPARC_ANDN, 0},
    {"btog", STEP, SPARC_ALU, SPARC_XOR, 0},
    {"inc", STEP, SPARC_ALU, SPARC_ADD, 0},
    {"inccc", STEP, SPARC_ALU, SPARC_ADD, 0},
    {"dec", STEP, SPARC_ALU, SPARC_SUB, 0},
    {"deccc", STEP, SPARC_ALU, SPARC_SUB, 0},
    {"cmp", NO_RD, SPARC_PLAIN, 0, 0},
    {"tst", NO_RD, SPARC_PLAIN, 0, 0},
    {"btst", NO_RD, SPARC_PLAIN, 0, 0},
    {"not", TWO, SPARC_ALU, SPARC_XNOR, 0},
    {"neg", TWO, SPARC_ALU, SPARC_SUB, 0},
    {"mov", MOVE, SPARC_ALU, SPARC_OR, 0},
    {"clr", CLEAR, SPARC_MEMORY, S | N, 4},
    {"clrb", CLEAR, SPARC_MEMORY, S | N, 1},
    {"clrh", CLEAR, SPARC_MEMORY, S | N, 2},
    {"sethi", SET_HIGH, SPARC_SETHI, 0, 0},
    RES("addx"),
    RES("addxcc"),
    RES("subx"),
    RES("subxcc"),
    RES("udiv"),
    RES("udivcc"),
    RES("sdiv"),
    RES("sdivcc"),
    RES("mulscc"),
    RES("umac"),
    RES("smac"),
    RES("set"),
    {"nop", NO_RD, SPARC_PLAIN, 0, 0},
    {"flush", NO_RD, SPARC_PLAIN, 0, 0},
    {"iflush", NO_RD, SPARC_PLAIN, 0, 0},
    {"unimp", NO_RD, SPARC_PLAIN, 0, 0},
    {"stbar", NO_RD, SPARC_PLAIN, 0, 0},
    {"rd", READ, 0, 0, 0},
    {"wr", WRITE, 0, 0, 0},
    {"call", GO, SPARC_CALL, 0, 0},
    {"jmp", GO, SPARC_JMPL, 0, 0},
    {"jmpl", GO, SPARC_JMPL, 1, 0},
    {"rett", GO, SPARC_RETT, 0, 0},
    {"ret", BACK, SPARC_JMPL, 31, 0},
    {"retl", BACK, SPARC_JMPL, 15, 0},
    {"save", WINDOW, SPARC_SAVE, 0, 0},
    {"restore", WINDOW, SPARC_RESTORE, 0, 0},
    M("ld", 4, L | N),
    M("ldub", 1, L | N),
    M("lduh", 2, L | N),
    M("ldd", 8, L | N),
    M("ldsb", 1, L | N | G),
    M("ldsh", 2, L | N | G),
    M("st", 4, S | N),
    M("stb", 1, S | N),
    M("sth", 2, S | N),
    M("std", 8, S | N),
    M("ldstub", 1, L | S | N),
    M("swap", 4, L | S | N),
    M("cas", 4, L | S | N | A),
    {"ldf", MEM, SPARC_MEMORY, L, 4},
    {"lddf", MEM, SPARC_MEMORY, L, 8},
    {"stf", MEM, SPARC_MEMORY, S, 4},
    {"stdf", MEM, SPARC_MEMORY, S, 8},
    {"ldfsr", MEM, SPARC_MEMORY, L, 4},
    {"stfsr", MEM, SPARC_MEMORY, S, 4},
    {"stdfq", MEM, SPARC_MEMORY, S, 8},
    {"ldc", MEM, SPARC_MEMORY, L, 4},
    {"lddc", MEM, SPARC_MEMORY, L, 8},
    {"stc", MEM, SPARC_MEMORY, S, 4},
    {"stdc", MEM, SPARC_MEMORY, S, 8},
    {"stdcq", MEM, SPARC_MEMORY, S, 8},
    {"ldcsr", MEM, SPARC_MEMORY, L, 4},
    {"stcsr", MEM, SPARC_MEMORY, S, 4},
};

#undef ALU
#undef RES
#undef L
#undef S
#undef N
#undef G
#undef A
#undef M

static int is_one_of(const char *name, size_t n, const char *names)
{
    for (const char *p = names; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == n && memcmp(p, name, n) == 0)
            return 1;
    return 0;
}

/* Branches and traps: their names say which way they go. */
static int conditional(const char *name, size_t n, const struct operand *o, unsigned count,
                       struct sparc_insn *i)
{
    static const char integer[] = "a n ne nz e z g le ge l gu leu cc geu cs lu pos neg vc vs";
    static const char floating[] = "a n u g ug l ul lg ne nz e z ue ge uge le ule o";
    static const char coprocessor[] = "a n 3 2 23 1 13 12 123 0 03 02 023 01 013 012";
    const char *condition = name + (name[0] == 'b' || name[0] == 't' ? 1 : 2);
    const size_t rest = (size_t)(name + n - condition);

    if (name[0] == 't') {
        if (!is_one_of(condition, rest, integer))
            return 0;
        i->kind = SPARC_PLAIN;
        return 1;
    }
    if (!(name[0] == 'b' && (rest == 0 || is_one_of(condition, rest, integer))) &&
        !(n > 2 && memcmp(name, "fb", 2) == 0 && is_one_of(condition, rest, floating)) &&
        !(n > 2 && memcmp(name, "cb", 2) == 0 && is_one_of(condition, rest, coprocessor)))
        return 0;
    i->kind = SPARC_BRANCH;
    i->way = rest == 0 || (rest == 1 && *condition == 'a') ? SPARC_ALWAYS
             : rest == 1 && *condition == 'n'              ? SPARC_NEVER
                                                           : SPARC_EITHER;
    if (count == 1 && o[0].kind == NUMBER) {
        i->flags |= SPARC_TARGET;
        i->value = o[0].value;
    }
    return 1;
}

static void first_of(struct sparc_insn *i, const struct operand *o)
{
    i->rs1 = o->reg;
}

/* The second operand of an operation. */
static void second_of(struct sparc_insn *i, const struct operand *o)
{
    if (o->kind == NUMBER) {
        i->flags |= SPARC_IMMEDIATE;
        i->simm = o->value;
    } else {
        i->rs2 = o->reg;
    }
}

/* A sum in one operand: of jmpl and of addresses. */
static void address_of(struct sparc_insn *i, const struct operand *o)
{
    i->rs1 = o->reg;
    if (o->kind == NUMBER || (o->kind == ADDRESS && o->has_imm) || (o->is_sum && o->has_imm)) {
        if (o->kind == NUMBER)
            i->rs1 = 0;
        i->flags |= SPARC_IMMEDIATE;
        i->simm = o->value;
    } else {
        i->rs2 = o->is_sum ? o->index : 0;
    }
}

static int access_of(const struct mnemonic *m, const struct operand *o, unsigned count,
                     struct sparc_insn *i)
{
    const struct operand *a = NULL, *data = NULL;

    i->size = m->size;
    i->flags = m->what & ~SPARC_IMMEDIATE;
    for (unsigned k = 0; k < count; k++) {
        if (o[k].kind == ADDRESS)
            a = &o[k];
        else
            data = &o[k];
    }
    if (!a)
        return 0;
    if (count == 3 && (o[1].kind == NUMBER || m->shape == MEM)) {
        /* casa [a] asi, rs2, rd; some print an address space as an operand of its own */
        if (o[1].kind == NUMBER) {
            i->asi = (uint8_t)o[1].value;
            i->flags |= SPARC_ALTERNATE;
        }
    } else if (count > 2) {
        return 0;
    }
    if (m->shape == MEM && !data)
        return 0;
    address_of(i, a);
    if (count == 3 && o[1].kind == REGISTER) {
        /* CASA, which adds nothing to its address */
        i->flags |= SPARC_IMMEDIATE | SPARC_ALTERNATE;
        i->simm = 0;
        i->rs2 = o[1].reg;
    }
    if (a->has_asi) {
        i->asi = a->asi;
        i->flags |= SPARC_ALTERNATE;
    }
    if (data && data->kind == REGISTER)
        i->rd = data->reg;
    else
        i->flags &= m->shape == CLEAR ? 0xff : (uint8_t)~SPARC_INTEGER;
    return 1;
}

static int understand(const struct mnemonic *m, const struct operand *o, unsigned count,
                      struct sparc_insn *i)
{
    const struct operand *last = count ? &o[count - 1] : NULL;

    i->kind = m->kind;
    i->alu = m->what;
    switch (m->shape) {
    case NO_RD:
        return 1;
    case MEM:
        return access_of(m, o, count, i);
    case CLEAR:
        if (count == 1 && o[0].kind == ADDRESS)
            return access_of(m, o, count, i);
        if (m->size != 4 || count != 1 || o[0].kind != REGISTER)
            return 0;
        i->kind = SPARC_ALU;
        i->alu = SPARC_OR;
        i->rd = o[0].reg;
        return 1;
    case BACK:
        i->rs1 = m->what;
        i->flags = SPARC_IMMEDIATE;
        i->simm = 8;
        return count == 0;
    case GO:
        if (m->kind == SPARC_CALL && (o[0].kind == NUMBER || o[0].kind == TEXT)) {
            i->rd = 15;
            i->flags = o[0].kind == NUMBER ? SPARC_TARGET : 0;
            i->value = o[0].value;
            return count >= 1;
        }
        if (count == 0 || (o[0].kind != REGISTER && o[0].kind != NUMBER && o[0].kind != ADDRESS))
            return 0;
        address_of(i, &o[0]);
        if (m->kind == SPARC_CALL) {
            i->kind = SPARC_JMPL;
            i->rd = 15;
        } else if (m->what) {
            i->rd = last->reg;
            return count == 2 && last->kind == REGISTER;
        }
        return 1;
    case WRITE:
        if (count < 2 || last->kind != STATE)
            return 0;
        i->kind = last->reg == PSR_STATE ? SPARC_WRPSR : SPARC_PLAIN;
        if (count == 3) {
            first_of(i, &o[0]);
            second_of(i, &o[1]);
        } else {
            second_of(i, &o[0]);
        }
        return 1;
    case SET_HIGH:
        i->value = o[0].value << 10;
        i->rd = count ? last->reg : 0;
        return count == 2 && o[0].kind == NUMBER && last->kind == REGISTER;
    case WINDOW:
        if (count == 0)
            return 1;
        break;
    case MOVE:
        if (count == 2 && last->kind == STATE) {
            i->kind = last->reg == PSR_STATE ? SPARC_WRPSR : SPARC_PLAIN;
            second_of(i, &o[0]);
            return 1;
        }
        break;
    default:
        break;
    }
    if (!last || last->kind != REGISTER)
        return 0;
    i->rd = last->reg;
    switch (m->shape) {
    case THREE:
    case WINDOW:
        first_of(i, &o[0]);
        second_of(i, &o[1]);
        return count == 3 && o[0].kind == REGISTER &&
               (o[1].kind == REGISTER || o[1].kind == NUMBER);
    case RD_LAST:
        return 1;
    case STEP:
        first_of(i, last);
        if (count == 2) {
            second_of(i, &o[0]);
        } else {
            i->flags = SPARC_IMMEDIATE;
            i->simm = 1;
        }
        return count <= 2;
    case TWO: /* neg: 0 - a; not: a xnor 0 */
        if (m->what == SPARC_SUB)
            i->rs2 = o[0].reg;
        else
            i->rs1 = o[0].reg;
        return count <= 2;
    case READ:
    case MOVE:
        if (count == 2 && o[0].kind == STATE) {
            i->kind = o[0].reg == PSR_STATE ? SPARC_RDPSR : SPARC_RESULT;
            return 1;
        }
        second_of(i, &o[0]);
        return m->shape == MOVE && count == 2 && (o[0].kind == REGISTER || o[0].kind == NUMBER);
    default:
        return 0;
    }
}

/* FPop and CPop, which write no integer register. */
static int is_floating(const char *name, size_t n)
{
    static const char *const starts[] = {"fadd", "fsub",  "fmul",  "fdiv", "fsqrt", "fcmp",
                                         "fmov", "fneg",  "fabs",  "fito", "fsto",  "fdto",
                                         "fqto", "fsmul", "fdmul", "cpop"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (n >= strlen(starts[i]) && memcmp(name, starts[i], strlen(starts[i])) == 0)
            return 1;
    return 0;
}

int parse_mnemonic(const char *name, size_t n, int annul, const struct operand *o, unsigned count,
                   struct sparc_insn *i)
{
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (strlen(list[k].name) == n && memcmp(list[k].name, name, n) == 0)
            return understand(&list[k], o, count, i);
    i->flags = annul ? SPARC_ANNUL : 0;
    if (conditional(name, n, o, count, i))
        return 1;
    i->kind = SPARC_PLAIN; /* floating point and coprocessor: no integer register */
    return is_floating(name, n);
}
