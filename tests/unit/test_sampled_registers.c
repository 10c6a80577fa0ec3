/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sampled_registers.c - user registers in a sample of the kernel become those that operands
 * are evaluated by. Built for this machine, and for AArch64 by tests/operands.bats, which runs it
 * in emulation.
 */
#include "capture/events/aux.c"
#include "capture/events/owned.c"
#include "capture/events/records.c"
#include "tests/unit/tap.h"

enum { BEFORE = 0x1000 };

/* As the kernel writes them: their kind, then each register that was asked for. */
static size_t sample(uint8_t *to, uint64_t kind)
{
    size_t at = 8;

    memcpy(to, &kind, 8);
    for (uint64_t bit = 0; bit < 64; bit++)
        if (CF_RECORD_REGISTERS >> bit & 1) {
            const uint64_t value = BEFORE + bit;

            memcpy(to + at, &value, 8);
            at += 8;
        }
    return at;
}

static void registers(const struct cf_operands_state *s)
{
#if defined(__x86_64__)
    static const uint8_t bit[] = {
        PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_BX,
        PERF_REG_X86_SP,  PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
        PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
        PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};

    for (unsigned i = 0; i < 16; i++)
        ok(s->general[i] == BEFORE + (uint64_t)bit[i], "register %u", i);
    ok(s->pc == BEFORE + PERF_REG_X86_IP, "pc");
    ok(s->flags == BEFORE + PERF_REG_X86_FLAGS, "flags");
    ok(s->zeroed == 0, "no instruction zeroes a block");
#elif defined(__aarch64__)
    for (unsigned i = 0; i < 32; i++)
        ok(s->general[i] == BEFORE + i, "register %u", i);
    ok(s->pc == BEFORE + 32, "pc");
    ok((s->zeroed & (s->zeroed - 1)) == 0 && (!s->zeroed || (s->zeroed >= 4 && s->zeroed <= 2048)),
       "dc zva clears %u bytes", s->zeroed);
    ok(s->pointer_bits == 0, "the form of signed pointers is not known");
#else
    (void)s;
#endif
}

int main(void)
{
    uint8_t bytes[8 + 8 * 64];
    struct cf_record r = {0};
    const size_t size = sample(bytes, PERF_SAMPLE_REGS_ABI_64);

    take_state(bytes, size, &r);
    ok(r.has_state == 1, "all registers of a 64-bit program are there");
    registers(&r.state);
    r = (struct cf_record){0};
    take_state(bytes, size - 8, &r);
    ok(r.has_state == 0, "the last one is missing");
    take_state(bytes, 4, &r);
    ok(r.has_state == 0, "even their kind is missing");
    sample(bytes, PERF_SAMPLE_REGS_ABI_32);
    take_state(bytes, size, &r);
    ok(r.has_state == 0, "those of a 32-bit program are none");
    sample(bytes, PERF_SAMPLE_REGS_ABI_NONE);
    take_state(bytes, size, &r);
    ok(r.has_state == 0, "the kernel had none");
    return done();
}
