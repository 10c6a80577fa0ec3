/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_leon4_registers.c - registers and addresses out of a trace, against a slow machine that
 * executes the same instructions. An address that is called known must be the machine's. What must
 * be forgotten is test_leon4_forgotten.c's.
 */
#include "registers_machine.h"

static unsigned known, unknown, wrong;

static void check(uint64_t got, uint32_t address)
{
    if (!(got & CF_REGISTERS_KNOWN))
        unknown++;
    else if ((uint32_t)got == address)
        known++;
    else
        wrong++;
}

static void execute_pair(uint32_t word, uint32_t address, unsigned rd)
{
    const uint32_t a = slow_get(address, 4), b = slow_get(address + 4, 4);

    *slow(rd) = rd ? a : 0;
    *slow(rd | 1) = b;
    check(step(word,
               shown == NOTHING  ? 0
               : shown == SINGLE ? 1
                                 : 2,
               shown == SINGLE ? b : a, b, 0),
          address);
}

static void execute_access(unsigned op3, unsigned size, unsigned rd, unsigned rs1)
{
    const int alternate = (op3 & 0x30) == 0x10, asi = 0xa;
    uint32_t address = *slow(rs1), low = 0, word, a, b = 0, old;

    if (size == 8)
        rd &= 30;
    /* a base that came about somehow, or else a new one */
    if (address % size || address - BASE > BYTES - size) {
        address = BASE + any(BYTES / size) * size;
        low = alternate ? 0 : address & 0xf;
        execute_set(rs1, address - low);
    }
    word = alternate ? three(3, op3, rd, rs1, 0, 0) | (uint32_t)asi << 5
                     : three(3, op3, rd, rs1, 1, low);
    switch (op3 & 15) {
    case 4: /* stores */
    case 5:
    case 6:
    case 7:
        a = *slow(rd);
        b = *slow(rd | 1);
        slow_put(address, size == 8 ? 4 : size, a);
        if (size == 8)
            slow_put(address + 4, 4, b);
        check(step(word,
                   shown == NOTHING  ? 0
                   : shown == SINGLE ? 1
                   : size == 8       ? 3
                                     : 2,
                   address, a, b),
              address);
        return;
    case 3: /* LDD */
        execute_pair(word, address, rd);
        return;
    case 13: /* LDSTUB, SWAP */
    case 15:
        a = *slow(rd);
        old = slow_get(address, size);
        slow_put(address, size, size == 1 ? 0xff : a);
        if (rd)
            *slow(rd) = old;
        check(step(word, shown != NOTHING, old, 0, 0), address);
        return;
    default:
        a = slow_get(address, size);
        if (op3 & 8 && a >> (8 * size - 1))
            a |= ~0u << 8 * size;
        if (rd)
            *slow(rd) = a;
        check(step(word, shown != NOTHING, a, 0, 0), address);
    }
}

static void execute_casa(unsigned rd, unsigned rs1, unsigned rs2)
{
    const uint32_t address = BASE + any(BYTES / 4) * 4;
    uint32_t old, new;
    uint64_t got;
    int stores;

    execute_set(rs1, address);
    old = slow_get(address, 4);
    new = *slow(rd);
    stores = old == *slow(rs2);
    if (stores)
        slow_put(address, 4, new);
    if (rd)
        *slow(rd) = old;
    got = step(three(3, 0x3c, rd, rs1, 0, rs2) | 0xa << 5, shown != NOTHING, old, 0, 0);
    check(got, address);
    wrong += got & CF_REGISTERS_NO_STORE && stores;
    wrong += shown == ALL && !(got & CF_REGISTERS_NO_STORE) && !stores;
}

static void execute_any(void)
{
    static const uint8_t alu[] = {0,    1,    2,    3,    4,    5,    6,    7,    0xa,
                                  0xb,  0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                                  0x1a, 0x1b, 0x20, 0x25, 0x26, 0x27, 0x3c, 0x3d};
    static const struct {
        uint8_t op3, size;
    } access[] = {{0, 4},  {1, 1},  {2, 2},  {3, 8},  {4, 4},    {5, 1},
                  {6, 2},  {7, 8},  {9, 1},  {10, 2}, {13, 1},   {15, 4},
                  {16, 4}, {20, 4}, {21, 1}, {22, 2}, {0x13, 8}, {0x17, 8}};
    const unsigned rd = any(32), rs1 = any(32), i = any(sizeof access / sizeof *access);
    unsigned base = 1 + any(31);

    /* half of the accesses go where a register happens to point to, loaded or computed */
    for (unsigned n = 1; n < 32 && any(64); n++)
        if (*slow(n) - BASE < BYTES - 8)
            base = n;
    switch (any(5)) {
    case 0:
        execute_alu(alu[any(sizeof alu)], rd, rs1, any(2), any(32));
        break;
    case 1:
        execute_alu(alu[any(sizeof alu)], rd, rs1, 1, any(8192) - 4096);
        break;
    case 2:
        if (any(8) == 0)
            execute_casa(rd, 1 + any(31), any(32));
        /* fall through */
    case 4:
        execute_access(access[i].op3, access[i].size, rd, base);
        break;
    case 3:
        execute_set(rd ? rd : 1, BASE + any(BYTES / 8) * 8);
    }
}

static void run(enum shown what, struct cf_registers_options o, const char *name)
{
    wrong = known = unknown = 0;
    shown = what;
    begin(o);
    for (unsigned i = 0; i < 32 * WINDOWS; i++) { /* the machine begins with zeros */
        if (i % 32 == 0)
            execute_alu(0x3c, 0, 0, 1, 0);
        execute_alu(2, i % 32, 0, 1, 0);
    }
    for (uint32_t a = BASE; a < BASE + BYTES; a += 8)
        execute_set(1, a), step(three(3, 7, 0, 1, 1, 0), what == ALL ? 3 : 1, a, 0, *slow(1)),
            slow_put(a + 4, 4, *slow(1));
    for (unsigned i = 0; i < 100000; i++)
        execute_any();
    is_u64(wrong, 0, "%s: no known address is wrong", name);
    is_u64(r.counts.contradictions + r.counts.gaps + r.counts.narrow, 0, "%s: nothing is odd",
           name);
    if (what == ALL)
        is_u64(unknown, 0, "%s: all are known", name);
    else
        ok(known > 20000, "%s: %u are known, %u are not", name, known, unknown);
}

static void random_runs(void)
{
    run(ALL, (struct cf_registers_options){.atomic = CF_REGISTERS_FIRST}, "all results");
    run(SINGLE,
        (struct cf_registers_options){.atomic = CF_REGISTERS_FIRST,
                                      .store = CF_REGISTERS_STORE_ADDRESS},
        "one word");
    run(NOTHING, (struct cf_registers_options){.alone = 1}, "no results");
}

int main(void)
{
    random_runs();
    free(memory_of_r);
    return done();
}
