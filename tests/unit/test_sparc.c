/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sparc.c - every instruction word's decoding against tables that are written down from The
 * SPARC Architecture Manual, Version 8, appendix B and tables F-3 and F-4, one line an instruction,
 * and against the text that a disassembler prints for it. UMAC, SMAC and CASA are those of LEON.
 */
#include <string.h>

#include "capture/leon4/parse.c"
#include "capture/leon4/parse_mnemonic.c"
#include "capture/leon4/sparc.c"
#include "tests/unit/tap.h"

/* ---- loads and stores: op 3 ---- */

static const struct {
    uint8_t op3;
    const char *name;
    uint8_t size;
    const char *does; /* R reads, W writes, A names an address space, I r[rd], S extends the sign */
} accesses[] = {
    {0x00, "ld", 4, "RI"},      {0x01, "ldub", 1, "RI"},      {0x02, "lduh", 2, "RI"},
    {0x03, "ldd", 8, "RI"},     {0x04, "st", 4, "WI"},        {0x05, "stb", 1, "WI"},
    {0x06, "sth", 2, "WI"},     {0x07, "std", 8, "WI"},       {0x09, "ldsb", 1, "RIS"},
    {0x0a, "ldsh", 2, "RIS"},   {0x0d, "ldstub", 1, "RWI"},   {0x0f, "swap", 4, "RWI"},
    {0x10, "lda", 4, "RIA"},    {0x11, "lduba", 1, "RIA"},    {0x12, "lduha", 2, "RIA"},
    {0x13, "ldda", 8, "RIA"},   {0x14, "sta", 4, "WIA"},      {0x15, "stba", 1, "WIA"},
    {0x16, "stha", 2, "WIA"},   {0x17, "stda", 8, "WIA"},     {0x19, "ldsba", 1, "RISA"},
    {0x1a, "ldsha", 2, "RISA"}, {0x1d, "ldstuba", 1, "RWIA"}, {0x1f, "swapa", 4, "RWIA"},
    {0x20, "ldf", 4, "R"},      {0x21, "ldfsr", 4, "R"},      {0x23, "lddf", 8, "R"},
    {0x24, "stf", 4, "W"},      {0x25, "stfsr", 4, "W"},      {0x26, "stdfq", 8, "W"},
    {0x27, "stdf", 8, "W"},     {0x30, "ldc", 4, "R"},        {0x31, "ldcsr", 4, "R"},
    {0x33, "lddc", 8, "R"},     {0x34, "stc", 4, "W"},        {0x35, "stcsr", 4, "W"},
    {0x36, "stdcq", 8, "W"},    {0x37, "stdc", 8, "W"},       {0x3c, "casa", 4, "RWIA"},
};

/* ---- arithmetic and the like: op 2 ---- */

static const struct {
    uint8_t op3, kind, alu;
    const char *name;
} operations[] = {
    {0x00, CF_SPARC_ALU, CF_SPARC_ADD, "add"},
    {0x01, CF_SPARC_ALU, CF_SPARC_AND, "and"},
    {0x02, CF_SPARC_ALU, CF_SPARC_OR, "or"},
    {0x03, CF_SPARC_ALU, CF_SPARC_XOR, "xor"},
    {0x04, CF_SPARC_ALU, CF_SPARC_SUB, "sub"},
    {0x05, CF_SPARC_ALU, CF_SPARC_ANDN, "andn"},
    {0x06, CF_SPARC_ALU, CF_SPARC_ORN, "orn"},
    {0x07, CF_SPARC_ALU, CF_SPARC_XNOR, "xnor"},
    {0x08, CF_SPARC_RESULT, 0, "addx"},
    {0x0a, CF_SPARC_ALU, CF_SPARC_MUL, "umul"},
    {0x0b, CF_SPARC_ALU, CF_SPARC_MUL, "smul"},
    {0x0c, CF_SPARC_RESULT, 0, "subx"},
    {0x0e, CF_SPARC_RESULT, 0, "udiv"},
    {0x0f, CF_SPARC_RESULT, 0, "sdiv"},
    {0x10, CF_SPARC_ALU, CF_SPARC_ADD, "addcc"},
    {0x11, CF_SPARC_ALU, CF_SPARC_AND, "andcc"},
    {0x12, CF_SPARC_ALU, CF_SPARC_OR, "orcc"},
    {0x13, CF_SPARC_ALU, CF_SPARC_XOR, "xorcc"},
    {0x14, CF_SPARC_ALU, CF_SPARC_SUB, "subcc"},
    {0x15, CF_SPARC_ALU, CF_SPARC_ANDN, "andncc"},
    {0x16, CF_SPARC_ALU, CF_SPARC_ORN, "orncc"},
    {0x17, CF_SPARC_ALU, CF_SPARC_XNOR, "xnorcc"},
    {0x18, CF_SPARC_RESULT, 0, "addxcc"},
    {0x1a, CF_SPARC_ALU, CF_SPARC_MUL, "umulcc"},
    {0x1b, CF_SPARC_ALU, CF_SPARC_MUL, "smulcc"},
    {0x1c, CF_SPARC_RESULT, 0, "subxcc"},
    {0x1e, CF_SPARC_RESULT, 0, "udivcc"},
    {0x1f, CF_SPARC_RESULT, 0, "sdivcc"},
    {0x20, CF_SPARC_ALU, CF_SPARC_ADD, "taddcc"},
    {0x21, CF_SPARC_ALU, CF_SPARC_SUB, "tsubcc"},
    {0x22, CF_SPARC_ALU, CF_SPARC_ADD, "taddcctv"},
    {0x23, CF_SPARC_ALU, CF_SPARC_SUB, "tsubcctv"},
    {0x24, CF_SPARC_RESULT, 0, "mulscc"},
    {0x25, CF_SPARC_ALU, CF_SPARC_SLL, "sll"},
    {0x26, CF_SPARC_ALU, CF_SPARC_SRL, "srl"},
    {0x27, CF_SPARC_ALU, CF_SPARC_SRA, "sra"},
    {0x28, CF_SPARC_RESULT, 0, NULL},
    {0x29, CF_SPARC_RDPSR, 0, NULL},
    {0x2a, CF_SPARC_RESULT, 0, NULL},
    {0x2b, CF_SPARC_RESULT, 0, NULL},
    {0x30, CF_SPARC_PLAIN, 0, NULL},
    {0x31, CF_SPARC_WRPSR, 0, NULL},
    {0x32, CF_SPARC_PLAIN, 0, NULL},
    {0x33, CF_SPARC_PLAIN, 0, NULL},
    {0x34, CF_SPARC_PLAIN, 0, NULL},
    {0x35, CF_SPARC_PLAIN, 0, NULL},
    {0x36, CF_SPARC_PLAIN, 0, NULL},
    {0x37, CF_SPARC_PLAIN, 0, NULL},
    {0x38, CF_SPARC_JMPL, 0, NULL},
    {0x39, CF_SPARC_RETT, 0, NULL},
    {0x3a, CF_SPARC_PLAIN, 0, NULL},
    {0x3b, CF_SPARC_PLAIN, 0, NULL},
    {0x3c, CF_SPARC_SAVE, 0, "save"},
    {0x3d, CF_SPARC_RESTORE, 0, "restore"},
    {0x3e, CF_SPARC_RESULT, 0, "umac"},
    {0x3f, CF_SPARC_RESULT, 0, "smac"},
};

static uint64_t seed = 88172645463325252u;

static uint32_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 13);
}

/* Bits `from` to `to` of a word, counted as the manual does, sign-extended or not. */
static int64_t field(uint32_t word, unsigned from, unsigned to, int is_signed)
{
    int64_t value = 0, weight = 1;

    for (unsigned bit = to; bit <= from; bit++, weight *= 2)
        value += (word >> bit) % 2 ? weight : 0;
    return is_signed && (word >> from) % 2 ? value - weight : value;
}

static uint32_t three(unsigned op, unsigned op3)
{
    return (any() & ~0xc1f80000u) | op << 30 | op3 << 19;
}

/* Registers and operands of format 3. */
static int operands(const struct cf_sparc_insn *n, uint32_t word)
{
    const int immediate = (n->flags & CF_SPARC_IMMEDIATE) != 0;

    return n->rd == field(word, 29, 25, 0) && n->rs1 == field(word, 18, 14, 0) &&
           immediate == field(word, 13, 13, 0) && n->rs2 == field(word, 4, 0, 0) &&
           (!immediate || n->simm == (uint32_t)field(word, 12, 0, 1));
}

static int has(const char *does, char what)
{
    return strchr(does, what) != NULL;
}

static void decode_accesses(void)
{
    for (unsigned op3 = 0; op3 < 64; op3++) {
        const char *name = "no instruction", *does = NULL;
        unsigned size = 0, wrong = 0, is_unknown = 0;

        for (size_t i = 0; i < sizeof(accesses) / sizeof(*accesses); i++)
            if (accesses[i].op3 == op3) {
                name = accesses[i].name;
                does = accesses[i].does;
                size = accesses[i].size;
            }
        for (int i = 0; i < 200; i++) {
            const uint32_t word = three(3, op3);
            const int immediate = (word >> 13) % 2, casa = op3 == 0x3c;
            struct cf_sparc_insn n;

            cf_sparc_decode(word, 0x40000000, &n);
            /* an address space stands where the immediate operand would */
            is_unknown = !does || (has(does, 'A') && immediate && !casa);
            wrong += (n.kind == CF_SPARC_UNKNOWN) != is_unknown;
            if (is_unknown)
                continue;
            wrong += n.kind != CF_SPARC_MEMORY || n.size != size;
            wrong += ((n.flags & CF_SPARC_LOADS) != 0) != has(does, 'R');
            wrong += ((n.flags & CF_SPARC_STORES) != 0) != has(does, 'W');
            wrong += ((n.flags & CF_SPARC_INTEGER) != 0) != has(does, 'I');
            wrong += ((n.flags & CF_SPARC_SIGNED) != 0) != has(does, 'S');
            wrong += ((n.flags & CF_SPARC_ALTERNATE) != 0) != has(does, 'A');
            wrong += has(does, 'A') && n.asi != field(word, 12, 5, 0);
            wrong += sparc_compares(&n) != casa;
            if (casa) /* its address is r[rs1] */
                wrong += !(n.flags & CF_SPARC_IMMEDIATE) || n.simm ||
                         n.rs1 != field(word, 18, 14, 0) || n.rs2 != field(word, 4, 0, 0) ||
                         n.rd != field(word, 29, 25, 0);
            else
                wrong += !operands(&n, word);
        }
        is_u64(wrong, 0, "op 3, op3 0x%02x: %s", op3, name);
    }
}

static void decode_operations(void)
{
    for (unsigned op3 = 0; op3 < 64; op3++) {
        unsigned kind = CF_SPARC_UNKNOWN, alu = 0, wrong = 0;

        for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
            if (operations[i].op3 == op3) {
                kind = operations[i].kind;
                alu = operations[i].alu;
            }
        for (int i = 0; i < 50; i++) {
            const uint32_t word = three(2, op3);
            struct cf_sparc_insn n;

            cf_sparc_decode(word, 0x40000000, &n);
            wrong +=
                n.kind != kind || (kind == CF_SPARC_ALU && n.alu != alu) || !operands(&n, word);
        }
        is_u64(wrong, 0, "op 2, op3 0x%02x", op3);
    }
}

/* Formats 1 and 2. */
static void decode_others(void)
{
    unsigned wrong[5] = {0};

    for (int i = 0; i < 4000; i++) {
        const uint32_t word = any() & 0x3fffffff, pc = any() & ~3u;
        const unsigned op2 = (unsigned)field(word, 24, 22, 0);
        const unsigned cond = (unsigned)field(word, 28, 25, 0);
        struct cf_sparc_insn n;

        cf_sparc_decode(word, pc, &n);
        if (op2 == 2 || op2 == 6 || op2 == 7) /* Bicc, FBfcc, CBccc */
            wrong[0] += n.kind != CF_SPARC_BRANCH || !(n.flags & CF_SPARC_TARGET) ||
                        n.value != (uint32_t)(pc + 4 * field(word, 21, 0, 1)) ||
                        ((n.flags & CF_SPARC_ANNUL) != 0) != field(word, 29, 29, 0) ||
                        n.way != (cond == 8   ? CF_SPARC_ALWAYS
                                  : cond == 0 ? CF_SPARC_NEVER
                                              : CF_SPARC_EITHER);
        else if (op2 == 4)
            wrong[1] += n.kind != CF_SPARC_SETHI || n.rd != field(word, 29, 25, 0) ||
                        n.value != (uint32_t)(1024 * field(word, 21, 0, 0));
        else
            wrong[2] += n.kind != (op2 == 0 ? CF_SPARC_PLAIN : CF_SPARC_UNKNOWN);
        cf_sparc_decode(word | 1u << 30, pc, &n);
        wrong[3] += n.kind != CF_SPARC_CALL || n.rd != 15 || !(n.flags & CF_SPARC_TARGET) ||
                    n.value != (uint32_t)(pc + 4 * field(word, 29, 0, 0));
    }
    is_u64(wrong[0], 0, "branches");
    is_u64(wrong[1], 0, "SETHI");
    is_u64(wrong[2], 0, "UNIMP, and what is no instruction");
    is_u64(wrong[3], 0, "CALL");
}

/* ---- text ---- */

/* The same in what counts for the kind. */
static int alike(const char *text, uint32_t word)
{
    struct cf_sparc_insn a, b;
    int same;

    cf_sparc_parse(text, strlen(text), &a);
    cf_sparc_decode(word, 0x40000000, &b);
    if (b.kind == CF_SPARC_BRANCH)
        return a.kind == b.kind && a.flags == b.flags && a.way == b.way && a.value == b.value;
    same = a.kind == b.kind && a.rd == b.rd;
    if (b.kind == CF_SPARC_RESULT)
        return same;
    same &= a.flags == b.flags && a.rs1 == b.rs1;
    same &= b.flags & CF_SPARC_IMMEDIATE ? a.simm == b.simm : a.rs2 == b.rs2;
    if (b.kind == CF_SPARC_ALU)
        same &= a.alu == b.alu;
    if (b.kind == CF_SPARC_MEMORY)
        same &= a.size == b.size;
    if (b.flags & CF_SPARC_ALTERNATE)
        same &= a.asi == b.asi;
    return same && (!sparc_compares(&b) || a.rs2 == b.rs2);
}

static void text(void)
{
    char s[80];

    for (size_t i = 0; i < sizeof(accesses) / sizeof(*accesses); i++) {
        const char *name = accesses[i].name, *does = accesses[i].does;
        const uint32_t op = 3u << 30 | (uint32_t)accesses[i].op3 << 19;

        if (!has(does, 'I')) /* written in many ways, such as "ld [%g1], %fsr" */
            continue;
        if (has(does, 'A') && strcmp(name, "casa"))
            snprintf(s, sizeof s,
                     has(does, 'R') ? "%s  [%%l1 + %%i2] 0x2, %%g4" : "%s  %%g4, [%%l1 + %%i2] 0x2",
                     name);
        else if (has(does, 'A'))
            snprintf(s, sizeof s, "casa  [%%l1] 0x2, %%i2, %%g4");
        else
            snprintf(s, sizeof s,
                     has(does, 'R') ? "%s  [%%l1 - 12], %%g4" : "%s  %%g4, [%%l1 - 12]", name);
        ok(alike(s,
                 op | 4 << 25 | 17 << 14 | (has(does, 'A') ? 2 << 5 | 26 : 1 << 13 | (-12 & 8191))),
           "%s", s);
    }
    for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
        const uint32_t op = 2u << 30 | (uint32_t)operations[i].op3 << 19;

        if (!operations[i].name)
            continue;
        snprintf(s, sizeof s, "%s  %%o3, 17, %%g4", operations[i].name);
        ok(alike(s, op | 4 << 25 | 11 << 14 | 1 << 13 | 17), "%s", s);
        snprintf(s, sizeof s, "%s  %%o3, %%l5, %%g4", operations[i].name);
        ok(alike(s, op | 4 << 25 | 11 << 14 | 21), "%s", s);
    }
}

/* FBA is also written "fb", and so on. */
static void branch_text(void)
{
    static const struct {
        const char *name;
        uint32_t op2;
    } kinds[] = {{"b", 2}, {"fb", 6}, {"cb", 7}};
    static const struct {
        const char *name;
        uint32_t cond;
    } conditions[] = {{"", 8}, {"a", 8}, {"n", 0}};
    char s[80];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        for (size_t k = 0; k < sizeof(conditions) / sizeof(*conditions); k++)
            for (uint32_t annul = 0; annul < 2; annul++) {
                snprintf(s, sizeof s, "%s%s%s  0x40000040", kinds[i].name, conditions[k].name,
                         annul ? ",a" : "");
                ok(alike(s, annul << 29 | conditions[k].cond << 25 | kinds[i].op2 << 22 | 16), "%s",
                   s);
            }
}

int main(void)
{
    decode_accesses();
    decode_operations();
    decode_others();
    text();
    branch_text();
    return done();
}
