/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registers_memory.c - words of memory, as far as stores and loads have shown them.
 *
 * Window handlers store registers and load them again. Where the trace shows one word of two, or
 * none, what was stored gives the rest. It is used only where the trace confirms it, or where the
 * user says that no other master writes to memory. A store whose address is not known may have gone
 * anywhere, so all is forgotten at one.
 * Memory: a table of 1 MiB for all processors; what finds its place taken goes.
 */
#include <stdlib.h>

#include "capture/leon4/registers.h"

enum { WORDS = 1 << 16 };

struct cf_registers_memory {
    uint32_t era; /* counts up when all is forgotten */
    struct {
        uint32_t address, era, value;
    } word[WORDS];
};

struct cf_registers_memory *cf_registers_memory_new(void)
{
    struct cf_registers_memory *m = calloc(1, sizeof *m);

    if (m)
        m->era = 1;
    return m;
}

static uint32_t place(uint32_t address)
{
    return (address >> 2 ^ address >> 18) & (WORDS - 1);
}

uint64_t cf_registers_recall(const struct cf_registers_memory *m, uint32_t address)
{
    const uint32_t i = place(address);

    return m->word[i].era == m->era && m->word[i].address == (address & ~3U)
               ? CF_REGISTERS_KNOWN | m->word[i].value
               : 0;
}

void cf_registers_remember(struct cf_registers_memory *m, uint32_t address, uint64_t value,
                           unsigned size)
{
    const uint32_t i = place(address);

    if (size < 4) {
        const unsigned shift = 8 * (4 - size - (address & 3 & ~(size - 1)));
        const uint32_t mask = ((1U << 8 * size) - 1) << shift;
        const uint64_t old = cf_registers_recall(m, address);

        value = (old & value & CF_REGISTERS_KNOWN) | ((uint32_t)old & ~mask) |
                ((uint32_t)value << shift & mask);
    }
    if (value & CF_REGISTERS_KNOWN) {
        m->word[i].address = address & ~3U;
        m->word[i].era = m->era;
        m->word[i].value = (uint32_t)value;
    } else if (m->word[i].address == (address & ~3U)) {
        m->word[i].era = 0;
    }
}

void cf_registers_forget_memory(struct cf_registers_memory *m)
{
    if (++m->era == 0) { /* old entries must not come to life again */
        for (uint32_t i = 0; i < WORDS; i++)
            m->word[i].era = 0;
        m->era = 1;
    }
}
