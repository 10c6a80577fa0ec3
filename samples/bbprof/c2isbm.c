/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * c2isbm - C2ISBM of BBProf's section 7.3: more instructions than the instruction cache holds.
 *
 * A function of 65 text pages of nops, 4 bytes each, is called again and again. Alone, it is
 * served by the shared second level; with others on that level, each line has to come from memory,
 * and the processor has nothing to do meanwhile.
 */
#include "payload.h"

/* 65 pages, but for some bytes in which the function returns. */
#define NOPS "65 * 1024 - 16"
#if defined __x86_64__ || defined __i386__
#define NOP ".byte 0x0f, 0x1f, 0x40, 0x00"
#else
#define NOP "nop"
#endif

static const char arguments[] = "c2isbm [CALLS [1000]]";
static unsigned calls;

__attribute__((noinline, aligned(4096))) static void nops(void)
{
    __asm__ volatile(".rept " NOPS "\n" NOP "\n.endr");
}

uint32_t observed(void)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < calls; i++) {
        nops();
        sum = mix(sum, i + 1);
    }
    return sum;
}

int main(int argc, char **argv)
{
    calls = number(argc, argv, 1, 1000, 100000000, arguments);
    printf("%08x\n", (unsigned)observe());
    return 0;
}
