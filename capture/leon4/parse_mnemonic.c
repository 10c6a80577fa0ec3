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
    {name, THREE, CF_SPARC_ALU, alu, 0},                                                           \
    {                                                                                              \
        name "cc", THREE, CF_SPARC_ALU, alu, 0                                                     \
    }
#define RES(name)                                                                                  \
    {                                                                                              \
        name, RD_LAST, CF_SPARC_RESULT, 0, 0                                                       \
    }
#define L CF_SPARC_LOADS
#define S CF_SPARC_STORES
#define N CF_SPARC_INTEGER
#define G CF_SPARC_SIGNED
#define A CF_SPARC_ALTERNATE
#define M(name, size, flags)                                                                       \
    {name, MEM, CF_SPARC_MEMORY, flags, size},                                                     \
    {                                                                                              \
        name "a", MEM, CF_SPARC_MEMORY, (flags) | A, size                                          \
    }

static const struct mnemonic list[] = {
    ALU("add", CF_SPARC_ADD),
    ALU("sub", CF_SPARC_SUB),
    ALU("and", CF_SPARC_AND),
    ALU("or", CF_SPARC_OR),
    ALU("xor", CF_SPARC_XOR),
    ALU("andn", CF_SPARC_ANDN),
    ALU("orn", CF_SPARC_ORN),
    ALU("xnor", CF_SPARC_XNOR),
    ALU("umul", CF_SPARC_MUL),
    ALU("smul", CF_SPARC_MUL),
    ALU("tadd", CF_SPARC_ADD),
    ALU("tsub", CF_SPARC_SUB),
    {"taddcctv", THREE, CF_SPARC_ALU, CF_SPARC_ADD, 0},
    {"tsubcctv", THREE, CF_SPARC_ALU, CF_SPARC_SUB, 0},
    {"sll", THREE, CF_SPARC_ALU, CF_SPARC_SLL, 0},
    {"srl", THREE, CF_SPARC_ALU, CF_SPARC_SRL, 0},
    {"sra", THREE, CF_SPARC_ALU, CF_SPARC_SRA, 0},
    {"bset", STEP, CF_SPARC_ALU, CF_SPARC_OR, 0},
    {"bclr", STEP, CF_SPARC_ALU, CF_SPARC_ANDN, 0},
    {"btog", STEP, CF_SPARC_ALU, CF_SPARC_XOR, 0},
    {"inc", STEP, CF_SPARC_ALU, CF_SPARC_ADD, 0},
    {"inccc", STEP, CF_SPARC_ALU, CF_SPARC_ADD, 0},
    {"dec", STEP, CF_SPARC_ALU, CF_SPARC_SUB, 0},
    {"deccc", STEP, CF_SPARC_ALU, CF_SPARC_SUB, 0},
    {"cmp", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"tst", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"btst", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"not", TWO, CF_SPARC_ALU, CF_SPARC_XNOR, 0},
    {"neg", TWO, CF_SPARC_ALU, CF_SPARC_SUB, 0},
    {"mov", MOVE, CF_SPARC_ALU, CF_SPARC_OR, 0},
    {"clr", CLEAR, CF_SPARC_MEMORY, S | N, 4},
    {"clrb", CLEAR, CF_SPARC_MEMORY, S | N, 1},
    {"clrh", CLEAR, CF_SPARC_MEMORY, S | N, 2},
    {"sethi", SET_HIGH, CF_SPARC_SETHI, 0, 0},
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
    {"nop", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"flush", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"iflush", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"unimp", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"stbar", NO_RD, CF_SPARC_PLAIN, 0, 0},
    {"rd", READ, 0, 0, 0},
    {"wr", WRITE, 0, 0, 0},
    {"call", GO, CF_SPARC_CALL, 0, 0},
    {"jmp", GO, CF_SPARC_JMPL, 0, 0},
    {"jmpl", GO, CF_SPARC_JMPL, 1, 0},
    {"rett", GO, CF_SPARC_RETT, 0, 0},
    {"ret", BACK, CF_SPARC_JMPL, 31, 0},
    {"retl", BACK, CF_SPARC_JMPL, 15, 0},
    {"save", WINDOW, CF_SPARC_SAVE, 0, 0},
    {"restore", WINDOW, CF_SPARC_RESTORE, 0, 0},
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
    {"ldf", MEM, CF_SPARC_MEMORY, L, 4},
    {"lddf", MEM, CF_SPARC_MEMORY, L, 8},
    {"stf", MEM, CF_SPARC_MEMORY, S, 4},
    {"stdf", MEM, CF_SPARC_MEMORY, S, 8},
    {"ldfsr", MEM, CF_SPARC_MEMORY, L, 4},
    {"stfsr", MEM, CF_SPARC_MEMORY, S, 4},
    {"stdfq", MEM, CF_SPARC_MEMORY, S, 8},
    {"ldc", MEM, CF_SPARC_MEMORY, L, 4},
    {"lddc", MEM, CF_SPARC_MEMORY, L, 8},
    {"stc", MEM, CF_SPARC_MEMORY, S, 4},
    {"stdc", MEM, CF_SPARC_MEMORY, S, 8},
    {"stdcq", MEM, CF_SPARC_MEMORY, S, 8},
    {"ldcsr", MEM, CF_SPARC_MEMORY, L, 4},
    {"stcsr", MEM, CF_SPARC_MEMORY, S, 4},
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
                       struct cf_sparc_insn *i)
{
    static const char integer[] = "a n ne nz e z g le ge l gu leu cc geu cs lu pos neg vc vs";
    static const char floating[] = "a n u g ug l ul lg ne nz e z ue ge uge le ule o";
    static const char coprocessor[] = "a n 3 2 23 1 13 12 123 0 03 02 023 01 013 012";
    const char *condition = name + (name[0] == 'b' || name[0] == 't' ? 1 : 2);
    const size_t rest = (size_t)(name + n - condition);
    const char *names;

    if (name[0] == 't') {
        if (!is_one_of(condition, rest, integer))
            return 0;
        i->kind = CF_SPARC_PLAIN;
        return 1;
    }
    names = name[0] == 'b'            ? integer
            : n < 2 || name[1] != 'b' ? NULL
            : name[0] == 'f'          ? floating
            : name[0] == 'c'          ? coprocessor
                                      : NULL;
    /* binutils print b, fb and cb for "always" */
    if (!names || (rest && !is_one_of(condition, rest, names)))
        return 0;
    i->kind = CF_SPARC_BRANCH;
    i->way = rest == 0 || (rest == 1 && *condition == 'a') ? CF_SPARC_ALWAYS
             : rest == 1 && *condition == 'n'              ? CF_SPARC_NEVER
                                                           : CF_SPARC_EITHER;
    if (count == 1 && o[0].kind == NUMBER) {
        i->flags |= CF_SPARC_TARGET;
        i->value = o[0].value;
    }
    return 1;
}

static void first_of(struct cf_sparc_insn *i, const struct operand *o)
{
    i->rs1 = o->reg;
}

/* The second operand of an operation. */
static void second_of(struct cf_sparc_insn *i, const struct operand *o)
{
    if (o->kind == NUMBER) {
        i->flags |= CF_SPARC_IMMEDIATE;
        i->simm = o->value;
    } else {
        i->rs2 = o->reg;
    }
}

/* A sum in one operand: of jmpl and of addresses. */
static void address_of(struct cf_sparc_insn *i, const struct operand *o)
{
    i->rs1 = o->reg;
    if (o->kind == NUMBER || (o->kind == ADDRESS && o->has_imm) || (o->is_sum && o->has_imm)) {
        if (o->kind == NUMBER)
            i->rs1 = 0;
        i->flags |= CF_SPARC_IMMEDIATE;
        i->simm = o->value;
    } else {
        i->rs2 = o->is_sum ? o->index : 0;
    }
}

static int access_of(const struct mnemonic *m, const struct operand *o, unsigned count,
                     struct cf_sparc_insn *i)
{
    const struct operand *a = NULL, *data = NULL;

    i->size = m->size;
    i->flags = m->what & ~CF_SPARC_IMMEDIATE;
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
            i->flags |= CF_SPARC_ALTERNATE;
        }
    } else if (count > 2) {
        return 0;
    }
    if (m->shape == MEM && !data)
        return 0;
    address_of(i, a);
    if (count == 3 && o[1].kind == REGISTER) {
        /* CASA, which adds nothing to its address */
        i->flags |= CF_SPARC_IMMEDIATE | CF_SPARC_ALTERNATE;
        i->simm = 0;
        i->rs2 = o[1].reg;
    }
    if (a->has_asi) {
        i->asi = a->asi;
        i->flags |= CF_SPARC_ALTERNATE;
    }
    if (data && data->kind == REGISTER)
        i->rd = data->reg;
    else
        i->flags &= m->shape == CLEAR ? 0xff : (uint8_t)~CF_SPARC_INTEGER;
    return 1;
}

/* clr of a register or of memory. */
static int clear(const struct mnemonic *m, const struct operand *o, unsigned count,
                 struct cf_sparc_insn *i)
{
    if (count == 1 && o->kind == ADDRESS)
        return access_of(m, o, count, i);
    i->kind = CF_SPARC_ALU;
    i->alu = CF_SPARC_OR;
    i->rd = o->reg;
    return m->size == 4 && count == 1 && o->kind == REGISTER;
}

/* jmp, jmpl, rett, and call of a place or of a register. */
static int go(const struct mnemonic *m, const struct operand *o, unsigned count,
              struct cf_sparc_insn *i)
{
    if (m->kind == CF_SPARC_CALL && (o[0].kind == NUMBER || o[0].kind == TEXT)) {
        i->rd = 15;
        i->flags = o[0].kind == NUMBER ? CF_SPARC_TARGET : 0;
        i->value = o[0].value;
        return count >= 1;
    }
    if (count == 0 || (o[0].kind != REGISTER && o[0].kind != NUMBER && o[0].kind != ADDRESS))
        return 0;
    address_of(i, &o[0]);
    if (m->kind == CF_SPARC_CALL) {
        i->kind = CF_SPARC_JMPL;
        i->rd = 15;
    } else if (m->what) {
        i->rd = o[count - 1].reg;
        return count == 2 && o[1].kind == REGISTER;
    }
    return 1;
}

/* wr, and mov to a state register. */
static int write_state(const struct operand *o, unsigned count, struct cf_sparc_insn *i)
{
    if (count < 2 || o[count - 1].kind != STATE)
        return 0;
    i->kind = o[count - 1].reg == PSR_STATE ? CF_SPARC_WRPSR : CF_SPARC_PLAIN;
    if (count == 3)
        first_of(i, &o[0]);
    second_of(i, &o[count - 2]);
    return 1;
}

/* What names rd last. */
static int to_register(const struct mnemonic *m, const struct operand *o, unsigned count,
                       struct cf_sparc_insn *i)
{
    const struct operand *last = count ? &o[count - 1] : NULL;

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
            i->flags = CF_SPARC_IMMEDIATE;
            i->simm = 1;
        }
        return count <= 2;
    case TWO: /* neg: 0 - a; not: a xnor 0 */
        if (m->what == CF_SPARC_SUB)
            i->rs2 = o[0].reg;
        else
            i->rs1 = o[0].reg;
        return count <= 2;
    case READ:
    case MOVE:
        if (count == 2 && o[0].kind == STATE) {
            i->kind = o[0].reg == PSR_STATE ? CF_SPARC_RDPSR : CF_SPARC_RESULT;
            return 1;
        }
        second_of(i, &o[0]);
        return m->shape == MOVE && count == 2 && (o[0].kind == REGISTER || o[0].kind == NUMBER);
    default:
        return 0;
    }
}

static int understand(const struct mnemonic *m, const struct operand *o, unsigned count,
                      struct cf_sparc_insn *i)
{
    i->kind = m->kind;
    i->alu = m->what;
    switch (m->shape) {
    case NO_RD:
        return 1;
    case MEM:
        return access_of(m, o, count, i);
    case CLEAR:
        return clear(m, o, count, i);
    case BACK:
        i->rs1 = m->what;
        i->flags = CF_SPARC_IMMEDIATE;
        i->simm = 8;
        return count == 0;
    case GO:
        return go(m, o, count, i);
    case WRITE:
        return write_state(o, count, i);
    case SET_HIGH:
        i->value = o[0].value << 10;
        i->rd = count ? o[count - 1].reg : 0;
        return count == 2 && o[0].kind == NUMBER && o[1].kind == REGISTER;
    case WINDOW:
        return count == 0 || to_register(m, o, count, i);
    case MOVE:
        if (count == 2 && o[1].kind == STATE)
            return write_state(o, count, i);
        return to_register(m, o, count, i);
    default:
        return to_register(m, o, count, i);
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

int cf_sparc_mnemonic(const char *name, size_t n, int annul, const struct operand *o,
                      unsigned count, struct cf_sparc_insn *i)
{
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (strlen(list[k].name) == n && memcmp(list[k].name, name, n) == 0)
            return understand(&list[k], o, count, i);
    i->flags = annul ? CF_SPARC_ANNUL : 0;
    if (conditional(name, n, o, count, i))
        return 1;
    i->kind = CF_SPARC_PLAIN; /* floating point and coprocessor: no integer register */
    return is_floating(name, n);
}
