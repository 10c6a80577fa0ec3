/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_leon4_forgotten.c - registers and addresses out of a trace: what must be known at a place,
 * and what must be forgotten, one case after the other.
 */
#include "registers_machine.h"

enum { LD = 0, LDUB = 1, LDUH = 2, LDD = 3, ST = 4, STB = 5, STH = 6, STD = 7, LDSB = 9 };

static uint64_t ld(unsigned base) /* ld [base], %g7 without a result */
{
    return step(three(3, LD, 7, base, 1, 0), 0, 0, 0, 0);
}

static int is_known(uint64_t got, uint32_t address)
{
    return got == (CF_REGISTERS_KNOWN | address);
}

static void narrow_stores(void)
{
    uint8_t bytes[4] = {0x11, 0x22, 0x33, 0x44};

    begin((struct cf_registers_options){.alone = 1});
    cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | 0x11223344, 4);
    for (unsigned size = 1; size <= 2; size++)
        for (unsigned at = 0; at < 4; at += size) {
            const uint32_t value = 0xa0b1c2d3 + at;

            cf_registers_remember(memory_of_r, BASE + at, CF_REGISTERS_KNOWN | value, size);
            bytes[at + size - 1] = (uint8_t)value;
            if (size == 2)
                bytes[at] = (uint8_t)(value >> 8);
            is_u64(cf_registers_recall(memory_of_r, BASE),
                   CF_REGISTERS_KNOWN | (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 |
                       (uint64_t)bytes[2] << 8 | bytes[3],
                   "%u bytes at offset %u of a word", size, at);
        }
    cf_registers_remember(memory_of_r, BASE + 1, 0, 1);
    is_u64(cf_registers_recall(memory_of_r, BASE), 0,
           "a byte that is not known takes the word with it");
    cf_registers_remember(memory_of_r, BASE + 4, CF_REGISTERS_KNOWN | 7, 1);
    is_u64(cf_registers_recall(memory_of_r, BASE + 4), 0, "a byte of a word that is not known");
}

static void contradictions(void)
{
    begin((struct cf_registers_options){.store = CF_REGISTERS_STORE_ADDRESS});
    shown = ALL;
    execute_set(1, BASE);
    execute_set(2, BASE + 64);
    ok(is_known(ld(2), BASE + 64), "a register is known");
    ok(is_known(step(three(3, ST, 3, 1, 1, 8), 1, BASE + 8, 0, 0), BASE + 8),
       "a store where the registers say");
    is_u64(r.counts.contradictions, 0, "nothing contradicts");
    ok(is_known(step(three(3, ST, 3, 1, 1, 8), 1, BASE + 32, 0, 0), BASE + 32),
       "one elsewhere: its address is that of the trace");
    is_u64(r.counts.contradictions, 1, "it contradicts");
    ok(!(ld(2) & CF_REGISTERS_KNOWN), "and all other registers are forgotten");
    ok(is_known(ld(1), BASE + 24), "its base follows from it");

    begin((struct cf_registers_options){0});
    execute_set(1, BASE);
    execute_set(2, BASE + 64);
    step(three(2, 0, 3, 1, 1, 4), 1, BASE + 5, 0, 0);
    is_u64(r.counts.contradictions, 1, "so does a result");
    ok(!(ld(2) & CF_REGISTERS_KNOWN), "all is forgotten");
    ok(is_known(ld(3), BASE + 5), "but for that result");

    begin((struct cf_registers_options){0});
    execute_set(1, BASE);
    step(three(2, 0x29, 2, 0, 0, 0), 1, 3, 0, 0); /* rd %psr */
    step(three(2, 0x29, 2, 0, 0, 0), 1, 3, 0, 0);
    is_u64(r.counts.contradictions, 0, "the same window");
    step(three(2, 0x3c, 0, 0, 1, 0), 0, 0, 0, 0); /* save */
    step(three(2, 0x29, 2, 0, 0, 0), 1, 2, 0, 0);
    is_u64(r.counts.contradictions, 0, "SAVE goes down by one");
    ok(is_known(ld(1), BASE), "registers hold");
    step(three(2, 0x29, 2, 0, 0, 0), 1, 3, 0, 0);
    is_u64(r.counts.contradictions, 1, "another window than it must be");
    ok(!(ld(1) & CF_REGISTERS_KNOWN), "all is forgotten");
}

/* A single word beside a store: its address or its data. */
static void one_word(void)
{
    for (int address = 0; address < 2; address++) {
        begin((struct cf_registers_options){0});
        shown = ALL;
        ok(!(step(three(3, ST, 3, 2, 1, 0), 1, BASE, 0, 0) & CF_REGISTERS_KNOWN),
           "nothing tells what the word is");
        execute_set(1, BASE);
        execute_set(2, BASE + 64);
        step(three(3, ST, 2, 1, 1, 0), 1, address ? BASE : BASE + 64, 0, 0);
        is_u64(step(three(3, ST, 2, 4, 1, 0), 1, BASE + 64, 0, 0),
               address ? CF_REGISTERS_KNOWN | (BASE + 64) : 0, "once it was seen to be the %s",
               address ? "address" : "data");
        step(three(3, ST, 5, 1, 1, 0), 1, address ? BASE : BASE + 96, 0, 0);
        is_u64(ld(5), address ? 0 : CF_REGISTERS_KNOWN | (BASE + 96), "%s",
               address ? "no data follow from it" : "data follow from it");
    }
    /* of a byte, memory sees four times the same */
    begin((struct cf_registers_options){0});
    execute_set(1, BASE);
    execute_set(2, 0x12345678);
    step(three(3, STB, 2, 1, 1, 0), 1, 0x78787878, 0, 0);
    step(three(3, ST, 5, 1, 1, 0), 1, BASE + 96, 0, 0);
    ok(is_known(ld(5), BASE + 96), "it is the data: those of the next one are too");
}

static void narrow_loads(void)
{
    begin((struct cf_registers_options){0});
    shown = ALL;
    execute_set(1, BASE);
    step(three(3, LDUB, 2, 1, 1, 0), 1, 0x41, 0, 0);
    ok(is_known(ld(2), 0x41), "a byte");
    step(three(3, LDSB, 2, 1, 1, 0), 1, 0xffffff80, 0, 0);
    ok(is_known(ld(2), 0xffffff80), "a signed byte");
    is_u64(r.counts.narrow, 0, "they are extended");
    step(three(3, LDUH, 2, 1, 1, 0), 1, 0x12345678, 0, 0);
    is_u64(r.counts.narrow, 1, "a whole word is not");
    ok(!(ld(2) & CF_REGISTERS_KNOWN), "and its value is not used");
    step(three(3, LDUB, 2, 1, 1, 0), 1, 0xffffff80, 0, 0);
    ok(!(ld(2) & CF_REGISTERS_KNOWN), "nor is a sign where there is none");
}

static void elsewhere(void)
{
    for (unsigned asi = 0; asi < 256; asi++) {
        const int is_memory = asi >= 8 && asi <= 0xb;
        const int leaves = asi == 2 || (asi >= 0xc && asi <= 0xe) || asi == 0x10 || asi == 0x11 ||
                           asi == 0x13 || asi == 0x1e || asi >= 0x80;
        uint64_t held;

        begin((struct cf_registers_options){.alone = 1});
        shown = NOTHING;
        execute_set(1, BASE);
        execute_set(2, 0x1234);
        step(three(3, ST, 2, 1, 1, 0), 0, 0, 0, 0);
        execute_set(2, 0x5678);
        step(three(3, 0x10 | ST, 2, 1, 0, 0) | asi << 5, 0, 0, 0, 0);
        held = cf_registers_recall(memory_of_r, BASE);
        if (held != (is_memory ? CF_REGISTERS_KNOWN | 0x5678
                     : leaves  ? CF_REGISTERS_KNOWN | 0x1234
                               : 0))
            ok(0, "address space 0x%x leaves 0x%llx", asi, (unsigned long long)held);
        cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | (BASE + 8), 4);
        step(three(3, 0x10 | LD, 3, 1, 0, 0) | asi << 5, 0, 0, 0, 0);
        held = ld(3);
        if (held != (is_memory ? CF_REGISTERS_KNOWN | (BASE + 8) : 0))
            ok(0, "a load from address space 0x%x gives 0x%llx", asi, (unsigned long long)held);
        step(three(3, 0x10 | LD, 3, 1, 0, 0) | asi << 5, 1, 7, 0, 0);
        held = cf_registers_recall(memory_of_r, BASE);
        if (held != (CF_REGISTERS_KNOWN | (is_memory ? 7 : BASE + 8)))
            ok(0, "a load from address space 0x%x leaves 0x%llx", asi, (unsigned long long)held);
    }
    ok(1, "address spaces: what is memory and what is not");
    begin((struct cf_registers_options){.alone = 1});
    cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | 5, 4);
    step(three(3, ST, 2, 1, 1, 0), 0, 0, 0, 0);
    is_u64(cf_registers_recall(memory_of_r, BASE), 0,
           "a store to anywhere: nothing is known of memory");
    cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | 5, 4);
    step(three(3, 15, 2, 1, 1, 0), 0, 0, 0, 0);
    is_u64(cf_registers_recall(memory_of_r, BASE), 0, "nor after a swap");
    execute_set(1, BASE);
    for (unsigned asi = 0xa; asi <= 0x1c; asi += 0x12) {
        cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | 5, 4);
        cf_registers_remember(memory_of_r, BASE + 4, CF_REGISTERS_KNOWN | 6, 4);
        step(three(3, 0x1f, 2, 1, 0, 0) | asi << 5, 0, 0, 0, 0);
        is_u64(cf_registers_recall(memory_of_r, BASE), 0, "swapa in 0x%x: the word is not known",
               asi);
        is_u64(cf_registers_recall(memory_of_r, BASE + 4), asi == 0xa ? CF_REGISTERS_KNOWN | 6 : 0,
               "and others%s", asi == 0xa ? " are" : " are not either");
    }
    cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | 5, 4);
    is_u64(cf_registers_recall(memory_of_r, BASE + 0x40004), 0,
           "a word that would stand at its place");
}

/* What memory tells of loads: only where the trace confirms it, or nobody else writes. */
static void recalled(void)
{
    for (int alone = 0; alone < 2; alone++) {
        begin((struct cf_registers_options){.alone = alone});
        shown = ALL;
        cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | (BASE + 8), 4);
        cf_registers_remember(memory_of_r, BASE + 4, CF_REGISTERS_KNOWN | (BASE + 16), 4);
        execute_set(1, BASE);
        step(three(3, LD, 6, 1, 1, 0), 0, 0, 0, 0);
        is_u64(ld(6), alone ? CF_REGISTERS_KNOWN | (BASE + 8) : 0, "a word without result%s",
               alone ? ", nobody else writes" : "");
        step(three(3, LDD, 5, 1, 1, 0), 0, 0, 0, 0);
        is_u64(ld(4), alone ? CF_REGISTERS_KNOWN | (BASE + 8) : 0, "the first of two words");
        is_u64(ld(5), alone ? CF_REGISTERS_KNOWN | (BASE + 16) : 0, "the second");
        cf_registers_remember(memory_of_r, BASE, CF_REGISTERS_KNOWN | (BASE + 8), 4);
        cf_registers_remember(memory_of_r, BASE + 4, CF_REGISTERS_KNOWN | (BASE + 16), 4);
        step(three(3, LDD, 4, 1, 1, 0), 1, BASE + 16, 0, 0);
        ok(is_known(ld(4), BASE + 8) && is_known(ld(5), BASE + 16),
           "one word that memory has tells the other");
        step(three(3, LDD, 4, 1, 1, 0), 1, BASE + 24, 0, 0);
        ok(!(ld(4) & CF_REGISTERS_KNOWN) && !(ld(5) & CF_REGISTERS_KNOWN),
           "one that it has not tells nothing");
        ok(!cf_registers_recall(memory_of_r, BASE) && !cf_registers_recall(memory_of_r, BASE + 4),
           "and what memory held is not known");
    }
}

static void windows(void)
{
    struct cf_registers_entry e = {.insn = &decoded, .trapped = 1};

    begin((struct cf_registers_options){0});
    shown = ALL;
    execute_set(1, BASE);
    execute_set(16, BASE + 8); /* %l0 */
    execute_set(8, BASE + 16); /* %o0 */
    cf_sparc_decode(three(3, LD, 2, 1, 1, 1), pc, &decoded);
    e.pc = pc;
    (void)cf_registers_step(&r, &e);
    ok(!(ld(16) & CF_REGISTERS_KNOWN), "a trap gets a window of its own");
    ok(is_known(ld(24), BASE + 16), "whose ins are the outs before");
    step(three(2, 0x39, 0, 17, 1, 0), 0, 0, 0, 0); /* rett %l1 */
    ld(1);
    pc = e.pc;
    ok(is_known(ld(16), BASE + 8), "RETT goes back");

    begin((struct cf_registers_options){0});
    execute_set(16, BASE + 8);
    execute_set(1, 3);
    step(three(2, 0x29, 2, 0, 0, 0), 1, 3, 0, 0); /* rd %psr */
    step(three(2, 0x31, 0, 1, 1, 7), 0, 0, 0, 0); /* wr %g1, 7, %psr: exclusive or, window 4 */
    ok(!(ld(16) & CF_REGISTERS_KNOWN), "another window");
    step(three(2, 0x31, 0, 1, 1, 0), 0, 0, 0, 0);
    ok(is_known(ld(16), BASE + 8), "and back");
    step(three(2, 0x31, 0, 5, 1, 0), 0, 0, 0, 0);
    ok(!(ld(16) & CF_REGISTERS_KNOWN), "where it is not known: no window is");
    ok(is_known(ld(1), 3), "globals are");
    execute_set(16, BASE + 8);
    step(three(2, 0x31, 0, 1, 1, 0), 0, 0, 0, 0);
    ok(!(ld(16) & CF_REGISTERS_KNOWN), "nor from a window that is not known");
    execute_set(16, BASE + 8);
    step(three(2, 0x31, 0, 1, 1, 0), 0, 0, 0, 0);
    ok(is_known(ld(16), BASE + 8), "then it is");
}

/* Learned from results: the operand that was not known. */
static void operands(void)
{
    static const uint8_t op3[] = {0, 4, 3, 2, 0x10, 0x14, 0x13, 0x20, 0x21};

    for (unsigned i = 0; i < sizeof op3; i++)
        for (int which = 0; which < 3; which++) { /* rs1 beside a constant, rs1, rs2 */
            const uint32_t x = BASE + 64, y = op3[i] == 2 ? 0 : 0x12345;
            const unsigned op = op3[i] == 0x20 ? 0 : op3[i] == 0x21 ? 4 : op3[i];
            const uint32_t b = which == 0 ? y & 4095 : y;

            begin((struct cf_registers_options){0});
            shown = ALL;
            execute_set(2, y);
            if (which == 2)
                step(three(2, op3[i], 3, 2, 0, 4), 1, slow_alu(op, y, x), 0, 0);
            else
                step(three(2, op3[i], 3, 4, which == 0, which == 0 ? b : 2), 1, slow_alu(op, x, b),
                     0, 0);
            if (!is_known(ld(4), x))
                ok(0, "op3 0x%x, operand %d", op3[i], which);
            is_u64(r.counts.learned, 1, "op3 0x%x: a register learned", op3[i]);
        }
    begin((struct cf_registers_options){0});
    execute_set(2, 7);
    step(three(2, 2, 3, 2, 0, 4), 1, 15, 0, 0);
    ok(!(ld(4) & CF_REGISTERS_KNOWN), "OR does not tell its operand");
    step(three(2, 1, 3, 2, 0, 4), 1, 7, 0, 0);
    ok(!(ld(4) & CF_REGISTERS_KNOWN), "nor does AND");

    begin((struct cf_registers_options){0});
    step(three(3, STD, 4, 1, 1, 0), 3, BASE, BASE + 64, BASE + 96);
    ok(is_known(ld(4), BASE + 64) && is_known(ld(5), BASE + 96), "a pair of data that was stored");
    begin((struct cf_registers_options){0});
    step(three(3, ST, 4, 1, 1, 0), 2, BASE, BASE + 64, BASE + 96);
    ok(is_known(ld(4), BASE + 64) && !(ld(5) & CF_REGISTERS_KNOWN),
       "a word that was stored, and no pair");
}

static void branches(void)
{
    begin((struct cf_registers_options){0});
    shown = ALL;
    execute_set(1, BASE);
    ok(is_known(ld(1), BASE), "the next instruction");
    pc += 4;
    ok(!(ld(1) & CF_REGISTERS_KNOWN), "one is missing: nothing is known");
    is_u64(r.counts.gaps, 1, "a gap");

    /* be,a +64: its delay slot and then the target, or neither */
    for (int taken = 0; taken < 2; taken++) {
        begin((struct cf_registers_options){0});
        execute_set(1, BASE);
        step(1u << 29 | 1 << 25 | 2 << 22 | 16, 0, 0, 0, 0);
        pc += taken ? 0 : 4;
        ld(1);
        pc += taken ? 56 : 0;
        ok(is_known(ld(1), BASE) && !r.counts.gaps, "a branch that is %staken",
           taken ? "" : "not ");
    }
    begin((struct cf_registers_options){0});
    execute_set(1, BASE);
    step(1u << 29 | 8 << 25 | 2 << 22 | 16, 0, 0, 0, 0); /* ba,a: no delay slot */
    ok(!(ld(1) & CF_REGISTERS_KNOWN) && r.counts.gaps == 1,
       "the delay slot of ba,a is not executed");

    /* call +256: its delay slot and then the target, not what comes after the slot */
    for (int there = 1; there >= 0; there--) {
        begin((struct cf_registers_options){0});
        execute_set(1, BASE);
        step(1u << 30 | 64, 0, 0, 0, 0);
        ld(1);
        pc += there ? 256 - 8 : 0;
        ok(is_known(ld(1), BASE) == there && r.counts.gaps == (uint64_t)!there, "a call %s",
           there ? "goes to its target" : "goes nowhere else");
    }
}

static void jumps(void)
{
    begin((struct cf_registers_options){0});
    shown = ALL;
    execute_set(1, BASE);
    execute_set(9, PC + 4096);
    step(three(2, 0x38, 0, 9, 1, 8), 0, 0, 0, 0); /* jmp %o1 + 8 */
    ld(1);
    pc = PC + 4104;
    ok(is_known(ld(1), BASE) && !r.counts.gaps, "a jump to where a register says");
    step(three(2, 0x38, 0, 9, 1, 16), 0, 0, 0, 0);
    ld(1);
    pc = PC + 4116;
    ok(!(ld(1) & CF_REGISTERS_KNOWN) && r.counts.gaps == 1, "and not elsewhere");
    ld(1);
    step(2 << 22 | 16, 0, 0, 0, 0); /* bn */
    ld(1);
    pc += 56;
    ld(1);
    is_u64(r.counts.gaps, 2, "a branch that never is");
}

static void traps(void)
{
    struct cf_registers_entry e = {.insn = &decoded};

    begin((struct cf_registers_options){0});
    shown = ALL;
    execute_set(1, BASE);
    cf_sparc_decode(three(3, LD, 2, 1, 1, 1), pc, &decoded);
    e.pc = pc;
    e.trapped = 1;
    is_u64(cf_registers_step(&r, &e), 0, "what trapped has no access");
    pc = 0x40000090;
    ok(is_known(ld(1), BASE) && !r.counts.gaps, "a trap goes anywhere, globals hold");
    ok(is_known(ld(17), e.pc), "%%l1 is where it came from");

    begin((struct cf_registers_options){0});
    execute_set(1, BASE);
    step(3u << 30 | 8 << 19, 0, 0, 0, 0);
    ok(!(ld(1) & CF_REGISTERS_KNOWN), "an instruction that is none may have written anything");
}

int main(void)
{
    narrow_stores();
    contradictions();
    one_word();
    narrow_loads();
    elsewhere();
    recalled();
    windows();
    operands();
    branches();
    jumps();
    traps();
    free(memory_of_r);
    return done();
}
