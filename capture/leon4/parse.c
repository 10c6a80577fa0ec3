/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.c - SPARC V8 instructions from their text (see sparc_parse() in sparc.h).
 *
 * Understands what monitors and binutils print: the manual's names and its synthetic instructions
 * (V8 manual, appendix A and table A-1), numbers in decimal and hex, signs before or inside hex,
 * %hi() and %lo(). An operand is a register, a number or an address in brackets; the mnemonic says
 * what they mean. What is not understood becomes SPARC_UNKNOWN. Memory: none; importers keep what
 * was parsed for each instruction of the program.
 */
#include <string.h>

#include "capture/leon4/sparc.h"

enum operand_kind { NONE, REGISTER, NUMBER, ADDRESS, FLOATING, STATE, TEXT };
enum { Y_STATE, PSR_STATE, OTHER_STATE };

struct operand {
    uint8_t kind;
    uint8_t reg;     /* of REGISTER and FLOATING; of STATE which */
    uint8_t index;   /* second register of a sum */
    uint8_t has_imm; /* of ADDRESS and sums: `value` counts, not `index` */
    uint8_t asi;
    uint8_t has_asi;
    uint8_t is_sum; /* REGISTER + something without brackets, as in jmpl */
    uint32_t value;
};

struct scan {
    const char *at, *end;
};

static void blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static int take(struct scan *s, char c)
{
    blanks(s);
    if (s->at == s->end || *s->at != c)
        return 0;
    s->at++;
    return 1;
}

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* A number with sign: decimal, or hex after 0x. */
static int number(struct scan *s, uint32_t *value)
{
    int minus = 0, base = 10;
    const char *start;
    uint64_t v = 0;

    blanks(s);
    while (s->at < s->end && (*s->at == '-' || *s->at == '+' || *s->at == ' '))
        minus ^= *s->at++ == '-';
    if (s->end - s->at > 2 && s->at[0] == '0' && (s->at[1] == 'x' || s->at[1] == 'X')) {
        s->at += 2;
        base = 16;
    }
    for (start = s->at; s->at < s->end && digit(*s->at) < base; s->at++) {
        v = v * (unsigned)base + (unsigned)digit(*s->at);
        if (v > UINT32_MAX)
            return 0;
    }
    if (s->at == start || (s->at < s->end && is_word(*s->at)))
        return 0;
    *value = minus ? 0 - (uint32_t)v : (uint32_t)v;
    return 1;
}

/* What follows a %: a register, a state register, or %hi(...), %lo(...). */
static int percent(struct scan *s, struct operand *o)
{
    static const char *const states[] = {"y", "psr", "wim", "tbr", "fsr", "fq", "csr", "cq"};
    static const char bank[] = "goli";
    const char *name = s->at;
    size_t n = 0;

    while (s->at < s->end && is_word(*s->at))
        s->at++;
    n = (size_t)(s->at - name);
    if (n == 2 && s->at < s->end && *s->at == '(') {
        s->at++;
        if (!number(s, &o->value) || !take(s, ')'))
            return 0;
        o->kind = NUMBER;
        if (memcmp(name, "lo", 2) == 0)
            o->value &= 0x3ff;
        else if (memcmp(name, "hi", 2) == 0)
            o->value >>= 10;
        else
            return 0;
        return 1;
    }
    o->kind = REGISTER;
    if (n == 2 && (memcmp(name, "sp", 2) == 0 || memcmp(name, "fp", 2) == 0)) {
        o->reg = name[0] == 's' ? 14 : 30;
        return 1;
    }
    if (n == 2 && strchr(bank, name[0]) && name[1] >= '0' && name[1] <= '7') {
        o->reg = (uint8_t)((strchr(bank, name[0]) - bank) * 8 + name[1] - '0');
        return 1;
    }
    if ((n == 2 || n == 3) && (name[0] == 'r' || name[0] == 'f' || name[0] == 'c') &&
        digit(name[1]) < 10 && (n == 2 || digit(name[2]) < 10)) {
        const int which = n == 2 ? digit(name[1]) : 10 * digit(name[1]) + digit(name[2]);

        o->kind = name[0] == 'r' ? REGISTER : FLOATING;
        o->reg = (uint8_t)which;
        return which < 32;
    }
    o->kind = STATE;
    o->reg = OTHER_STATE;
    for (unsigned i = 0; i < sizeof states / sizeof *states; i++)
        if (strlen(states[i]) == n && memcmp(states[i], name, n) == 0) {
            o->reg = i == 0 ? Y_STATE : i == 1 ? PSR_STATE : OTHER_STATE;
            return 1;
        }
    return n >= 4 && memcmp(name, "asr", 3) == 0;
}

/* A register, a number, or the sum of a register and one of both. */
static int sum(struct scan *s, struct operand *o)
{
    struct operand more = {0};

    blanks(s);
    if (!take(s, '%')) {
        o->kind = NUMBER;
        return number(s, &o->value);
    }
    if (!percent(s, o))
        return 0;
    blanks(s);
    if (o->kind != REGISTER || s->at == s->end || (*s->at != '+' && *s->at != '-'))
        return 1;
    o->is_sum = 1;
    if (*s->at == '+') {
        struct scan after = {s->at + 1, s->end};

        if (take(&after, '%')) {
            *s = after;
            if (!percent(s, &more) || (more.kind != REGISTER && more.kind != NUMBER))
                return 0;
            o->has_imm = more.kind == NUMBER;
            o->index = more.reg;
            o->value = more.value;
            return 1;
        }
    }
    o->has_imm = 1;
    return number(s, &o->value);
}

static int operand(struct scan *s, struct operand *o)
{
    struct scan start;
    uint32_t asi;

    *o = (struct operand){0};
    blanks(s);
    start = *s;
    if (take(s, '[')) {
        if (!sum(s, o) || !take(s, ']') || (o->kind != REGISTER && o->kind != NUMBER))
            return 0;
        if (o->kind == NUMBER) { /* [number] counts from %g0 */
            o->reg = 0;
            o->has_imm = 1;
        }
        o->kind = ADDRESS;
        blanks(s);
        if (s->at < s->end && *s->at == '(') /* an address space in parentheses */
            s->at++;
        if (s->at < s->end && *s->at != ',' && *s->at != '%') {
            if (!number(s, &asi))
                return 0;
            o->asi = (uint8_t)asi;
            o->has_asi = 1;
            (void)take(s, ')');
        }
        return 1;
    }
    if (sum(s, o))
        return 1;
    /* a symbol */
    *s = start;
    o->kind = TEXT;
    while (s->at < s->end && *s->at != ',')
        s->at++;
    return s->at > start.at;
}

/* ---- what the mnemonics mean ---- */

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
static int conditional(const char *name, size_t n, struct operand *o, unsigned count,
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

void sparc_parse(const char *text, size_t length, struct sparc_insn *i)
{
    struct scan s = {text, text + length};
    struct operand o[3] = {{0}};
    unsigned count = 0;
    size_t n;

    *i = (struct sparc_insn){0};
    for (const char *p = text; p < s.end; p++)
        if (*p == '<' || *p == '!') /* <symbol> and comments */
            s.end = p;
    while (s.end > text && s.end[-1] == ' ')
        s.end--;
    while (s.at < s.end && is_word(*s.at))
        s.at++;
    n = (size_t)(s.at - text);
    if (s.end - s.at >= 2 && s.at[0] == ',' && s.at[1] == 'a') {
        i->flags = SPARC_ANNUL;
        s.at += 2;
    }
    blanks(&s);
    while (s.at < s.end) {
        if (count == 3 || !operand(&s, &o[count]))
            break;
        count++;
        blanks(&s);
        if (s.at < s.end && !take(&s, ','))
            break;
        blanks(&s);
    }
    if (n > 0 && s.at == s.end) {
        const uint8_t annul = i->flags;

        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            if (strlen(list[k].name) == n && memcmp(list[k].name, text, n) == 0) {
                if (understand(&list[k], o, count, i))
                    return;
                *i = (struct sparc_insn){.kind = SPARC_UNKNOWN};
                return;
            }
        i->flags = annul;
        if (conditional(text, n, o, count, i))
            return;
        if (is_floating(text, n)) {
            i->kind = SPARC_PLAIN; /* floating point and coprocessor: no integer register */
            return;
        }
    }
    *i = (struct sparc_insn){.kind = SPARC_UNKNOWN};
}
