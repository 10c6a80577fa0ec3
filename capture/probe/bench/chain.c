/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain.c - the instructions of chains.
 *
 * Sources: clflush, Intel SDM, volume 2; DC CIVAC, which Linux lets programs execute (arm64,
 * SCTLR_EL1.UCI), and LDR, BR and NOP, Arm DDI 0487, C5.3 and C6.2; JMP r/m64 and CLC, Intel SDM,
 * volume 2.
 */
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "capture/base/cf_clock.h"
#include "capture/probe/bench/chain.h"

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

/* No-operations, then: take the next target, go there. */
#if defined(__x86_64__)
static const unsigned char jump[] = {0x48, 0x8b, 0x07,                 /* mov (%rdi), %rax */
                                     0x48, 0x83, 0xc7, 0x08,           /* add $8, %rdi */
                                     0xff, 0xe0};                      /* jmp *%rax */
static const unsigned char nothing[] = {0x90}, one_nothing[] = {0xf8}; /* clc */
#elif defined(__aarch64__)
static const unsigned char jump[] = {0x01, 0x84, 0x40, 0xf8,  /* ldr x1, [x0], #8 */
                                     0x20, 0x00, 0x1f, 0xd6}; /* br x1 */
static const unsigned char nothing[] = {0x1f, 0x20, 0x03, 0xd5};
#define one_nothing nothing
#endif

int cf_chain_code(unsigned char *base, const uint64_t *offset, uint32_t count, unsigned bytes,
                  int single)
{
#if defined(__x86_64__) || defined(__aarch64__)
    const unsigned fill = (bytes - (unsigned)sizeof jump) / sizeof nothing * sizeof nothing;

    for (uint32_t i = 0; i < count; i++) {
        unsigned char *at = base + offset[i];

        for (unsigned k = 0; k < fill; k += sizeof nothing)
            memcpy(at + k, single ? one_nothing : nothing, sizeof nothing);
        memcpy(at + fill, jump, sizeof jump);
        __builtin___clear_cache((char *)at, (char *)at + bytes);
    }
    return 0;
#else
    (void)base, (void)offset, (void)count, (void)bytes, (void)single;
    return -1;
#endif
}

static __attribute__((noinline)) void last(const unsigned char *const *rest)
{
    (void)rest;
    __asm__ volatile("");
}

void cf_chain_list(const unsigned char **target, const unsigned char *base, const uint64_t *offset,
                   uint32_t count, uint32_t rounds, uint64_t *seed)
{
    void (*end)(const unsigned char *const *) = last;

    for (uint32_t r = 0; r < rounds; r++, target += count)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t k;

            /* Fisher and Yates's shuffle, as the list grows; the generator is Knuth's, MMIX */
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            k = (uint32_t)((*seed >> 33) * (i + (uint64_t)1) >> 31);
            target[i] = target[k];
            target[k] = base + offset[i];
        }
    memcpy(target, &end, sizeof end);
}

void cf_chain_go(const unsigned char *const *target)
{
    void (*begin)(const unsigned char *const *);

    memcpy(&begin, target, sizeof begin);
    begin(target + 1);
}
