/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leon4_program.h - a random SPARC V8 program, for make_leon4, made up where it is first executed:
 * functions that call each other deeper than there are windows, with real overflow and underflow
 * handlers, branches of all kinds, accesses of all sizes, misaligned ones that trap. Code that is
 * executed twice is the same twice.
 */
#ifndef LEON4_PROGRAM_H
#define LEON4_PROGRAM_H

#include <stdint.h>

#include "tests/unit/leon4_text.h"

enum { WINDOWS = 8, CODE = 1 << 14, FUNCTIONS = 12, BASE = 0x40000000, TRAPS = 0x4000 };

static uint32_t code[CODE];
static uint8_t made[CODE];
static uint64_t random_state = 1;

static inline uint32_t random32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

static inline unsigned below(unsigned n)
{
    return random32() % n;
}

static inline uint32_t three(unsigned op, unsigned op3, unsigned rd, unsigned rs1, int immediate,
                             uint32_t second)
{
    return op << 30 | rd << 25 | op3 << 19 | rs1 << 14 | (immediate ? 1U << 13 : 0) |
           (immediate ? second & 0x1fff : second & 31);
}

#define ALU(op3, rd, rs1, imm) three(2, op3, rd, rs1, 1, (uint32_t)(imm))

/* Handlers, at TRAPS + 256 * type: 1 overflow, 2 underflow, 3 skip the instruction. */
static inline void put(uint32_t *at_, uint32_t word)
{
    code[*at_ >> 2 & (CODE - 1)] = word;
    made[*at_ >> 2 & (CODE - 1)] = 1;
    *at_ += 4;
}

static inline void handlers(void)
{
    uint32_t p = BASE + TRAPS + 256;

    put(&p, ALU(0x2a, 19, 0, 0)); /* rd %wim, %l3 */
    put(&p, ALU(0x02, 23, 1, 0)); /* mov %g1, %l7 */
    put(&p, ALU(0x26, 1, 19, 1)); /* srl %l3, 1, %g1 */
    put(&p, ALU(0x25, 20, 19, WINDOWS - 1));
    put(&p, three(2, 0x02, 1, 20, 0, 1));
    put(&p, ALU(0x3c, 0, 0, 0)); /* save */
    put(&p, ALU(0x32, 0, 1, 0)); /* wr %g1, %wim */
    put(&p, NOP);
    for (unsigned i = 0; i < 8; i++) /* std %l0, [%sp] ... std %i6, [%sp + 56] */
        put(&p, three(3, 7, 16 + 2 * i, 14, 1, 8 * i));
    put(&p, ALU(0x3d, 0, 0, 0));
    put(&p, ALU(0x02, 1, 23, 0));
    put(&p, ALU(0x38, 0, 17, 0));
    put(&p, ALU(0x39, 0, 18, 0));
    p = BASE + TRAPS + 512;
    put(&p, ALU(0x2a, 19, 0, 0));
    put(&p, ALU(0x25, 20, 19, 1));
    put(&p, ALU(0x26, 21, 19, WINDOWS - 1));
    put(&p, three(2, 0x02, 20, 20, 0, 21));
    put(&p, ALU(0x32, 0, 20, 0));
    put(&p, NOP);
    put(&p, ALU(0x3d, 0, 0, 0));
    put(&p, ALU(0x3d, 0, 0, 0));
    for (unsigned i = 0; i < 8; i++)
        put(&p, three(3, 3, 16 + 2 * i, 14, 1, 8 * i));
    put(&p, ALU(0x3c, 0, 0, 0));
    put(&p, ALU(0x3c, 0, 0, 0));
    put(&p, ALU(0x38, 0, 17, 0));
    put(&p, ALU(0x39, 0, 18, 0));
    p = BASE + TRAPS + 768;
    put(&p, ALU(0x29, 16, 0, 0)); /* rd %psr, %l0 */
    put(&p, ALU(0x29, 7, 0, 0));
    put(&p, ALU(0x31, 0, 7, 1)); /* wr %g7, 1, %psr: another window */
    put(&p, NOP);
    put(&p, ALU(0x00, 21, 21, 8)); /* which changes */
    put(&p, ALU(0x31, 0, 7, 0));
    put(&p, NOP);
    put(&p, ALU(0x38, 0, 18, 0)); /* goes on behind the instruction */
    put(&p, ALU(0x39, 0, 18, 4));
}

/* Registers that programs count with, and those that they point with. */
static inline unsigned number_reg(void)
{
    static const uint8_t list[] = {1, 2, 3, 5, 8, 9, 10, 11, 16, 17, 18, 19, 22, 24, 25, 26, 27};

    return list[below(sizeof list)];
}

static inline unsigned pointer_reg(void)
{
    static const uint8_t list[] = {4, 12, 20, 28, 14, 30};

    return list[below(sizeof list)];
}

static inline uint32_t make_memory(void)
{
    static const uint8_t loads[] = {0, 0, 0, 1, 2, 9, 10, 3}, stores[] = {4, 4, 5, 6, 7};
    static const uint8_t others[] = {0x0d, 0x0f, 0x20, 0x24, 0x23, 0x27, 0x10, 0x14, 0x1f};
    const unsigned kind = below(20);
    unsigned op3 = kind < 11   ? loads[below(sizeof loads)]
                   : kind < 18 ? stores[below(sizeof stores)]
                               : others[below(sizeof others)];
    const int wide = op3 == 3 || op3 == 7 || op3 == 0x23 || op3 == 0x27;
    unsigned rd = number_reg(), base = below(12) ? pointer_reg() : number_reg();

    if (wide)
        rd = 2 + 8 * below(3);
    if (op3 >= 0x10 && op3 < 0x20) /* alternate space 10, no immediate */
        return three(3, op3, rd, base, 0, 0) | 10U << 5;
    if (op3 == 0x3c)
        return three(3, op3, rd, base, 0, number_reg()) | 10U << 5;
    return three(3, op3, rd, base, 1, 8 * (below(64) - 32) + (op3 == 1 || op3 == 5 ? below(8) : 0));
}

static inline uint32_t make_plain(void)
{
    static const uint8_t alu[] = {0,    1,    2,    3,    4,    5,    6,    7,
                                  0x10, 0x11, 0x12, 0x14, 0x25, 0x26, 0x27, 0x08,
                                  0x0c, 0x0a, 0x0b, 0x0e, 0x24, 0x20, 0x28};
    const unsigned what = below(40), rd = number_reg();

    if (what < 16)
        return make_memory();
    if (what < 18) /* a pointer is made in two steps, as compilers do */
        return 4U << 22 | pointer_reg() % 32 << 25 | (BASE >> 10 | below(64));
    if (what < 20) {
        unsigned p = 4 + 8 * below(4);

        return below(2) ? ALU(0x02, p, p, 8 * below(100)) : ALU(0x00, p, p, 8 * (below(40) - 20));
    }
    if (what == 20)
        return NOP;
    if (what < 23)
        return ALU(0x14, 0, number_reg(), below(100)); /* cmp */
    if (what == 23)
        return 4U << 22 | rd << 25 | random32() % (1U << 22);
    if (what == 24)
        return ALU(0x30, 0, rd, 0); /* wr %y */
    if (what == 25)
        return ALU(0x02, pointer_reg() & 28, pointer_reg(), 0); /* a pointer moves */
    return below(2) ? three(2, alu[below(sizeof alu)], rd, number_reg(), 0, number_reg())
                    : ALU(alu[below(sizeof alu)], rd, number_reg(), below(8192));
}

/* Forward in every way there is, back only on a condition, so that no loop is endless. */
static inline uint32_t make_branch(uint32_t offset)
{
    const int back = offset > 40 && below(3) == 0;
    const unsigned condition = back ? 1 + below(7) + 8 * below(2) : below(16);
    const uint32_t distance = back ? 0U - 1 - below(8) : 2 + below(3);

    return (back && condition == 8 ? 9 : condition) << 25 | below(2) << 29 | 2U << 22 |
           (distance & 0x3fffff);
}

/* The word at pc, made up if need be. */
static inline uint32_t fetch(uint32_t pc, int delayed)
{
    const uint32_t index = pc >> 2 & (CODE - 1), offset = pc & 0x3ff;
    const unsigned f = pc >> 10 & 15;
    uint32_t word;

    if (made[index])
        return code[index];
    if (offset == 0)
        word = ALU(0x3c, 14, 14, -96);
    else if (offset <= 12) /* pointers that point somewhere, also the %i4 of what is called */
        word = 4U << 22 | (BASE >> 10 | below(64)) |
               (offset == 4   ? 20U
                : offset == 8 ? 12U
                : f == 0      ? 4U
                              : 28U)
                   << 25;
    else if (offset == 0x200)
        word = f == 0 ? 0x10800000U | ((0U - 0x1f0U / 4) & 0x3fffff) : ALU(0x38, 0, 31, 8);
    else if (offset == 0x204)
        word = f == 0 ? NOP : ALU(0x3d, number_reg() | 8, number_reg(), below(16));
    else if (!delayed && offset < 0x1f0 && below(9) == 0)
        word = make_branch(offset);
    else if (!delayed && offset < 0x1f0 && f + 1 < FUNCTIONS && below(14) == 0)
        word =
            1U << 30 | ((((f + 1 + below(3)) % 16 < FUNCTIONS ? f + 1 + below(1) : f + 1) * 1024 -
                         (pc & 0x3fff)) >>
                            2 &
                        0x3fffffff);
    else if (below(60) == 0)
        word = 0x91d02000U | below(64); /* ta */
    else
        word = make_plain();
    code[index] = word;
    made[index] = 1;
    return word;
}

#endif
