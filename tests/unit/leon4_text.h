/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leon4_text.h - text of SPARC V8 instructions, for make_leon4: the ones that it makes up, written
 * in the ways that monitors have.
 */
#ifndef LEON4_TEXT_H
#define LEON4_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOP 0x01000000U

static const char *name_of(unsigned r)
{
    static char names[4][8];
    static unsigned turn;
    char *s = names[turn++ % 4];

    if (r == 14 || r == 30)
        return r == 14 ? "%sp" : "%fp";
    snprintf(s, 8, "%%%c%u", "goli"[r / 8], r % 8);
    return s;
}

/* Names by op3 of arithmetic and of memory instructions, and by the condition of a branch. */
static const char *const alu_names[64] = {"add",
                                          "and",
                                          "or",
                                          "xor",
                                          "sub",
                                          "andn",
                                          "orn",
                                          "xnor",
                                          "addx",
                                          0,
                                          "umul",
                                          "smul",
                                          "subx",
                                          0,
                                          "udiv",
                                          "sdiv",
                                          "addcc",
                                          "andcc",
                                          "orcc",
                                          "xorcc",
                                          "subcc",
                                          "andncc",
                                          "orncc",
                                          "xnorcc",
                                          [0x20] = "taddcc",
                                          [0x24] = "mulscc",
                                          [0x25] = "sll",
                                          [0x26] = "srl",
                                          [0x27] = "sra",
                                          [0x3c] = "save",
                                          [0x3d] = "restore"};
static const char *const memory_names[64] = {"ld",
                                             "ldub",
                                             "lduh",
                                             "ldd",
                                             "st",
                                             "stb",
                                             "sth",
                                             "std",
                                             [9] = "ldsb",
                                             [10] = "ldsh",
                                             [0x0d] = "ldstub",
                                             [0x0f] = "swap",
                                             [0x10] = "lda",
                                             [0x14] = "sta",
                                             [0x1f] = "swapa",
                                             [0x20] = "ld",
                                             [0x23] = "ldd",
                                             [0x24] = "st",
                                             [0x27] = "std",
                                             [0x3c] = "casa"};
static const char *const condition_names[] = {"n", "e",  "le", "l",  "leu", "cs", "neg", "vs",
                                              "a", "ne", "g",  "ge", "gu",  "cc", "pos", "vc"};

static void disassemble_branch(char *s, size_t size, uint32_t word, uint32_t pc)
{
    const unsigned rd = word >> 25 & 31;

    if (word == NOP)
        snprintf(s, size, "nop");
    else if ((word >> 22 & 7) == 4)
        snprintf(s, size, "sethi  %%hi(0x%x), %s", word << 10, name_of(rd));
    else
        snprintf(s, size, "b%s%s  0x%08x", condition_names[rd & 15], rd >> 4 ? ",a" : "",
                 pc + (uint32_t)((int)(word << 10) >> 8));
}

static void disassemble_arithmetic(char *s, size_t size, uint32_t word, const char *second)
{
    const unsigned rd = word >> 25 & 31, op3 = word >> 19 & 63, rs1 = word >> 14 & 31;
    const int simm = (int)(word << 19) >> 19, immediate = word >> 13 & 1;

    if (op3 == 0x38 && rd == 0 && rs1 == 31 && simm == 8)
        snprintf(s, size, "ret");
    else if (op3 == 0x38)
        snprintf(s, size, simm ? "jmp  %s + %d" : "jmp  %s", name_of(rs1), simm);
    else if (op3 == 0x39)
        snprintf(s, size, simm ? "rett  %s + %d" : "rett  %s", name_of(rs1), simm);
    else if (op3 == 0x3a)
        snprintf(s, size, "ta  0x%x", word & 127);
    else if (op3 == 0x28)
        snprintf(s, size, "rd  %%y, %s", name_of(rd));
    else if (op3 == 0x29)
        snprintf(s, size, "mov  %%psr, %s", name_of(rd));
    else if (op3 == 0x2a)
        snprintf(s, size, "mov  %%wim, %s", name_of(rd));
    else if (op3 >= 0x30 && op3 <= 0x33)
        snprintf(s, size, "wr  %s, %s, %%%s", name_of(rs1), second,
                 op3 == 0x30   ? "y"
                 : op3 == 0x31 ? "psr"
                               : "wim");
    else if (op3 == 0x14 && rd == 0)
        snprintf(s, size, "cmp  %s, %s", name_of(rs1), second);
    else if (op3 == 2 && immediate && simm == 0)
        snprintf(s, size, "mov  %s, %s", name_of(rs1), name_of(rd));
    else if ((op3 == 0x3c || op3 == 0x3d) && rd == 0 && rs1 == 0)
        snprintf(s, size, "%s", alu_names[op3]);
    else
        snprintf(s, size, "%s  %s, %s, %s", alu_names[op3], name_of(rs1), second, name_of(rd));
}

static void disassemble_memory(char *s, size_t size, uint32_t word, const char *second)
{
    const unsigned rd = word >> 25 & 31, op3 = word >> 19 & 63;
    const unsigned rs1 = word >> 14 & 31, rs2 = word & 31;
    const int simm = (int)(word << 19) >> 19, immediate = word >> 13 & 1;
    char sum[40], data[8];

    snprintf(data, sizeof data, "%s", name_of(rd));
    if (op3 >= 0x20 && op3 < 0x30)
        snprintf(data, sizeof data, "%%f%u", rd);
    if (!immediate && (rs2 == 0 || op3 == 0x3c))
        snprintf(sum, sizeof sum, "[%s]", name_of(rs1));
    else if (immediate && simm == 0)
        snprintf(sum, sizeof sum, "[%s]", name_of(rs1));
    else if (immediate && simm < 0)
        snprintf(sum, sizeof sum, "[%s - 0x%x]", name_of(rs1), -simm);
    else
        snprintf(sum, sizeof sum, "[%s + %s]", name_of(rs1), second);
    if (op3 >= 0x10 && (op3 < 0x20 || op3 == 0x3c))
        snprintf(sum + strlen(sum), sizeof sum - strlen(sum), " 0x%x", word >> 5 & 255);
    if (op3 == 0x3c)
        snprintf(s, size, "casa  %s, %s, %s", sum, name_of(rs2), name_of(rd));
    else if (memory_names[op3][0] == 's' && memory_names[op3][1] == 't')
        snprintf(s, size, "%s  %s, %s", memory_names[op3], data, sum);
    else
        snprintf(s, size, "%s  %s, %s", memory_names[op3], sum, data);
}

__attribute__((unused)) static void disassemble(char *s, size_t size, uint32_t word, uint32_t pc)
{
    const unsigned op = word >> 30;
    const int simm = (int)(word << 19) >> 19, immediate = word >> 13 & 1;
    char second[16];

    if (immediate)
        snprintf(second, sizeof second,
                 simm < 0              ? "-0x%x"
                 : pc & 4 || simm < 10 ? "%d"
                                       : "0x%x",
                 simm < 0 ? -simm : simm);
    else
        snprintf(second, sizeof second, "%s", name_of(word & 31));
    if (op == 0)
        disassemble_branch(s, size, word, pc);
    else if (op == 1)
        snprintf(s, size, "call  0x%08x", pc + (word << 2));
    else if (op == 2)
        disassemble_arithmetic(s, size, word, second);
    else
        disassemble_memory(s, size, word, second);
}

#endif
