/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.c - the instructions of chains.
 *
 * Sources: clflush, Intel SDM, volume 2; DC CIVAC, which Linux lets programs execute (arm64,
 * SCTLR_EL1.UCI), and B, RET, Arm DDI 0487, C5.3 and C6.2; JMP rel32 and RET, Intel SDM, volume 2.
 */
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "capture/cf_clock.h"
#include "capture/probe/chain.h"

#if defined(__x86_64__)
#define STEP "mov (%0), %0\n\t"
#elif defined(__aarch64__)
#define STEP "ldr %0, [%0]\n\t"
#endif

enum { NODE = 16 };

#ifdef STEP
#define STEP_8         STEP STEP STEP STEP STEP STEP STEP STEP
#define WALK(steps, p) __asm__ volatile(steps : "+r"(p) : : "memory")
#else
#define WALK_ONE(p) ((p) = *(void *volatile *)(p))
#endif

void cf_chain_link(unsigned char *base, const uint64_t *offset, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        void *next = base + offset[i + 1 < count ? i + 1 : 0];

        memcpy(base + offset[i], &next, sizeof next);
    }
}

void *cf_chain_walk(void *node, uint64_t steps)
{
#ifdef STEP
    for (uint64_t i = 0; i < steps / 8; i++)
        WALK(STEP_8, node);
    for (uint64_t i = 0; i < steps % 8; i++)
        WALK(STEP, node);
#else
    for (uint64_t i = 0; i < steps; i++)
        WALK_ONE(node);
#endif
    return node;
}

void *cf_chain_time(void *node, uint64_t steps, struct cf_chain_times *t)
{
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t ticks = cf_clock();

#ifdef STEP
        WALK(STEP, node);
#else
        WALK_ONE(node);
#endif
        ticks = cf_clock() - ticks;
        t->time += ticks;
        t->slow += ticks > t->limit;
        if (t->each)
            t->each[i] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    }
    return node;
}

int cf_chain_flush(const unsigned char *from, uint64_t bytes)
{
#if defined(__x86_64__)
    static unsigned line; /* in a virtual machine, to ask takes as long as a thousand misses */
    unsigned a = 0, b = 0, c = 0, d = 0;

    if (!line) {
        (void)__get_cpuid(1, &a, &b, &c, &d);
        line = (b >> 8 & 255) * 8; /* CPUID.01H:EBX[15:8], in units of 8 bytes */
        line = line ? line : NODE;
    }
    for (uint64_t at = 0; at < bytes; at += line)
        __asm__ volatile("clflush (%0)" : : "r"(from + at) : "memory");
    __asm__ volatile("mfence" : : : "memory");
    return 0;
#elif defined(__aarch64__)
    uint64_t ctr, line;

    __asm__("mrs %0, ctr_el0" : "=r"(ctr));
    line = 4u << (ctr >> 16 & 15); /* CTR_EL0.DminLine, log2 of words */
    for (uint64_t at = 0; at < bytes; at += line)
        __asm__ volatile("dc civac, %0" : : "r"(from + at) : "memory");
    __asm__ volatile("dsb ish" : : : "memory");
    return 0;
#else
    (void)from, (void)bytes;
    return -1;
#endif
}

int cf_chain_jumps(unsigned char *base, const uint64_t *offset, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        unsigned char *at = base + offset[i];
        const int64_t by = i + 1 < count ? (int64_t)(offset[i + 1] - offset[i]) : 0;

#if defined(__x86_64__)
        const int32_t displacement = (int32_t)(by - 5); /* from the end of the instruction */

        if (by > INT32_MAX || by < INT32_MIN + 5)
            return -1;
        at[0] = i + 1 < count ? 0xe9 : 0xc3;
        if (i + 1 < count)
            memcpy(at + 1, &displacement, sizeof displacement);
#elif defined(__aarch64__)
        const uint32_t word =
            i + 1 < count ? 0x14000000u | ((uint32_t)(by / 4) & 0x3ffffffu) : 0xd65f03c0u;

        if (by >= 1 << 27 || by < -(1 << 27))
            return -1;
        memcpy(at, &word, sizeof word);
#else
        (void)at, (void)by;
        return -1;
#endif
    }
#if defined(__aarch64__)
    for (uint32_t i = 0; i < count; i++)
        __builtin___clear_cache((char *)base + offset[i], (char *)base + offset[i] + 4);
#endif
    return 0;
}

void cf_chain_run(unsigned char *base, uint64_t first, uint64_t rounds)
{
    void (*begin)(void);
    const unsigned char *at = base + first;

    memcpy(&begin, &at, sizeof begin);
    for (uint64_t i = 0; i < rounds; i++)
        begin();
}
