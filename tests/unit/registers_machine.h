/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers_machine.h - the registers out of a trace, and a slow machine that executes the same
 * instructions: arithmetic bit by bit, memory byte by byte (the most significant first), windows as
 * separate registers.
 */
#ifndef REGISTERS_MACHINE_H
#define REGISTERS_MACHINE_H

#include <string.h>

#include "capture/leon4/registers.c"
#include "capture/leon4/registers_flow.c"
#include "capture/leon4/registers_memory.c"
#define branch decode_branch
#define memory decode_memory
#include "capture/leon4/sparc.c"
#include "tests/unit/tap.h"

enum { WINDOWS = 8, BASE = 0x40000000, BYTES = 512, PC = 0x40100000 };

static uint64_t seed = 88172645463325252u;

static inline uint32_t any(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 13) % below;
}

/* ---- the slow machine ---- */

static struct {
    uint32_t global[8], out[WINDOWS][8], local[WINDOWS][8];
    unsigned cwp;
    uint8_t byte[BYTES];
} m;

static inline uint32_t *slow(unsigned n)
{
    static uint32_t zero;

    zero = 0;
    switch (n / 8) {
    case 0:
        return n ? &m.global[n] : &zero;
    case 1:
        return &m.out[m.cwp][n - 8];
    case 2:
        return &m.local[m.cwp][n - 16];
    default:
        return &m.out[(m.cwp + 1) % WINDOWS][n - 24];
    }
}

static inline uint32_t slow_get(uint32_t address, unsigned size)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value = value * 256 + m.byte[address - BASE + i];
    return value;
}

static inline void slow_put(uint32_t address, unsigned size, uint32_t value)
{
    for (unsigned i = size; i-- > 0; value /= 256)
        m.byte[address - BASE + i] = (uint8_t)(value % 256);
}

static inline uint32_t slow_add(uint32_t a, uint32_t b, unsigned carry)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < 32; i++) {
        const unsigned ones = (a >> i) % 2 + (b >> i) % 2 + carry;

        sum |= (uint32_t)(ones % 2) << i;
        carry = ones / 2;
    }
    return sum;
}

static inline uint32_t slow_alu(unsigned op3, uint32_t a, uint32_t b)
{
    uint32_t v = 0;

    if (op3 == 0x25 || op3 == 0x26 || op3 == 0x27) {
        for (v = a, b %= 32; b; b--)
            v = op3 == 0x25 ? v + v : v / 2 | (op3 == 0x27 ? v & 0x80000000 : 0);
        return v;
    }
    if (op3 % 16 == 0)
        return slow_add(a, b, 0);
    if (op3 % 16 == 4)
        return slow_add(a, ~b, 1);
    if (op3 % 16 == 0xa || op3 % 16 == 0xb) {
        for (unsigned i = 0; i < 32; i++)
            v = slow_add(slow_add(v, v, 0), (b >> (31 - i)) % 2 ? a : 0, 0);
        return v;
    }
    for (unsigned i = 0; i < 32; i++) {
        const unsigned x = (a >> i) % 2, y = (b >> i) % 2;
        const unsigned bit = op3 % 8 == 1   ? x && y
                             : op3 % 8 == 2 ? x || y
                             : op3 % 8 == 3 ? x != y
                             : op3 % 8 == 5 ? x && !y
                             : op3 % 8 == 6 ? x || !y
                                            : x == y;

        v |= (uint32_t)bit << i;
    }
    return v;
}

/* ---- both of them ---- */

enum shown { ALL, SINGLE, NOTHING }; /* results: all words, one of a double word, none */

static struct cf_registers r;
static struct cf_registers_memory *memory_of_r;
static struct cf_sparc_insn decoded;
static uint32_t pc;
static enum shown shown;

static inline void begin(struct cf_registers_options o)
{
    o.windows = WINDOWS;
    o.memory_asi[1] = 0x0f;
    free(memory_of_r);
    memory_of_r = cf_registers_memory_new();
    cf_registers_begin(&r, &o, memory_of_r);
    memset(&m, 0, sizeof m);
    pc = PC;
}

/* One instruction of the trace. */
static inline uint64_t step(uint32_t word, unsigned words, uint32_t a, uint32_t b, uint32_t c)
{
    struct cf_registers_entry e = {
        .insn = &decoded, .pc = pc, .words = (uint8_t)words, .word = {a, b, c}};

    cf_sparc_decode(word, pc, &decoded);
    pc += 4;
    return cf_registers_step(&r, &e);
}

static inline uint32_t three(unsigned op, unsigned op3, unsigned rd, unsigned rs1, int immediate,
                             uint32_t second)
{
    return op << 30 | rd << 25 | op3 << 19 | rs1 << 14 | (uint32_t)immediate << 13 |
           (second & (immediate ? 8191 : 31));
}

static inline void execute_alu(unsigned op3, unsigned rd, unsigned rs1, int immediate,
                               uint32_t second)
{
    const uint32_t b = immediate ? second : *slow(second);
    uint32_t v =
        op3 == 0x3c || op3 == 0x3d ? slow_add(*slow(rs1), b, 0) : slow_alu(op3, *slow(rs1), b);

    if (op3 == 0x3c || op3 == 0x3d)
        m.cwp = (m.cwp + (op3 == 0x3c ? WINDOWS - 1 : 1)) % WINDOWS;
    if (rd)
        *slow(rd) = v;
    step(three(2, op3, rd, rs1, immediate, second), shown != NOTHING, v, 0, 0);
}

/* Sets a register, in two steps that need no other. */
static inline void execute_set(unsigned rd, uint32_t value)
{
    const uint32_t high = value & ~0x3ffu;

    *slow(rd) = high;
    step(rd << 25 | 4u << 22 | high >> 10, shown != NOTHING, high, 0, 0);
    execute_alu(2, rd, rd, 1, value & 0x3ff);
}

#endif
