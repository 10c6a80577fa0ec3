/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_operands: reads instructions of AArch64, a number a line, and prints what capture/operands
 * finds that each accesses: "unknown", or operation, address and size of each access. Registers are
 * those of tests/operands/disassembled.py.
 */
#include <stdio.h>

#include "capture/operands/operands.h"

int main(void)
{
    static const char *const names[] = {"", "load", "store", "ifetch", "prefetch", "flush"};
    struct cf_operands_state s = {.pc = 0x10000000, .zeroed = 64, .pointer_bits = 48};
    unsigned word;

    for (uint64_t i = 0; i < CF_OPERANDS_GENERAL; i++)
        s.general[i] = 0x7f0000000000 + (i << 32) + (i % 2 << 31) + i * 0x1010;
    while (scanf("%x", &word) == 1) {
        const uint8_t code[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                                 (uint8_t)(word >> 24)};
        struct cf_access a[CF_OPERANDS_MOST];
        struct cf_operands o;
        const int n = cf_operands_decode_arm64(&o, code, sizeof code) == 0
                          ? cf_operands_accesses(&o, &s, a)
                          : -1;

        printf("%08x:%s", word, n < 0 ? " unknown" : "");
        for (int i = 0; i < n; i++)
            printf(" %s,0x%llx,%u", names[a[i].op], (unsigned long long)a[i].addr, a[i].size);
        putchar('\n');
    }
    return 0;
}
