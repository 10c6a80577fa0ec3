/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * by_hand_arm64.h - the part of kernels.c that is of AArch64: each addressing mode with each width
 * and kind of register. Not here is what the emulator's plugins do not see access memory: dc zva.
 */
/* One of each width, from and to the same place. */
#define GENERAL(load, store, at)                                                                   \
    load " x10, " at "\n" load " w11, " at "\n" load "b w11, " at "\n" load "h w11, " at "\n" load \
         "sb x10, " at "\n" load "sb w11, " at "\n" load "sh x10, " at "\n" load "sh w11, " at     \
         "\n" load "sw x10, " at "\n" store " x12, " at "\n" store " w12, " at "\n" store          \
         "b w12, " at "\n" store "h w12, " at "\n"
#define VECTOR(load, store, at)                                                                    \
    load " b1, " at "\n" load " h1, " at "\n" load " s1, " at "\n" load " d1, " at "\n" load       \
         " q1, " at "\n" store " b2, " at "\n" store " h2, " at "\n" store " s2, " at "\n" store   \
         " d2, " at "\n" store " q2, " at "\n"
#define BOTH(load, store, at) GENERAL(load, store, at) VECTOR(load, store, at)
#define PAIRS(load, store, at)                                                                     \
    load " w10, w11, " at "\n" store " w10, w11, " at "\n" load " s1, s2, " at "\n" store          \
         " s1, s2, " at "\n" load " x10, x11, " at "\n" store " x10, x12, " at "\n" load           \
         " d1, d2, " at "\n" store " d1, d2, " at "\n" load " q1, q2, " at "\n" store              \
         " q1, q2, " at "\n"
#define ATOMIC(what, kind) what kind " x10, x11, [%[to]]\n" what kind " w10, w11, [%[to]]\n"
#define NARROW(what, kind) what kind "b w10, w11, [%[to]]\n" what kind "h w10, w11, [%[to]]\n"
#define ORDERS(what)                                                                               \
    ATOMIC(what, "")                                                                               \
    ATOMIC(what, "a") ATOMIC(what, "l") ATOMIC(what, "al") NARROW(what, "") NARROW(what, "al")

/* i: up to 15, n: as much below 0; of both the upper half has nothing to do with it. */
#define RUN(text)                                                                                  \
    __asm__ volatile(".arch armv8.5-a+memtag\n" text "\n"                                          \
                     : [to] "+r"(to)                                                               \
                     : [i] "r"(i), [g] "r"(i | 0xdeadul << 32),                                    \
                       [n] "r"((u64)(u32)-i | 0x5aul << 40), [s] "r"(-i)                           \
                     : "memory", "cc", "x10", "x11", "x12", "x13", "x14", "x15", "v0", "v1", "v2", \
                       "v3", "v4", "v5")

static __attribute__((noinline)) void single(u8 *to, u64 i)
{
    RUN(BOTH("ldr", "str", "[%[to], #32]"));
    RUN(BOTH("ldur", "stur", "[%[to], #-3]"));
    RUN(BOTH("ldr", "str", "[%[to]], #3"));
    RUN(BOTH("ldr", "str", "[%[to], #-5]!"));
    RUN(GENERAL("ldtr", "sttr", "[%[to], #9]"));
    RUN(BOTH("ldr", "str", "[%[to], %[i]]"));
    RUN(BOTH("ldr", "str", "[%[to], %w[g], uxtw]"));
    RUN(BOTH("ldr", "str", "[%[to], %w[n], sxtw]"));
    RUN(BOTH("ldr", "str", "[%[to], %[s], sxtx]"));
    RUN(BOTH("ldr", "str", "[%[to], xzr]"));
    RUN("ldr x10, [%[to], %[i], lsl #3]\n str w11, [%[to], %[i], lsl #2]\n"
        "ldrh w11, [%[to], %w[n], sxtw #1]\n ldr q1, [%[to], %[s], sxtx #4]\n"
        "str d1, [%[to], %w[g], uxtw #3]\n strb w10, [%[to], %[i], lsl #0]\n"
        "prfm pldl1keep, [%[to], %[i], lsl #3]\n prfm pstl1strm, [%[to], #64]\n"
        "prfum pldl2keep, [%[to], #-1]\n");
    RUN("ldr x10, 1f\n ldr w11, 1f\n ldrsw x10, 1f\n ldr s1, 1f\n ldr d1, 1f\n ldr q1, 1f\n b 2f\n"
        ".balign 16\n 1: .quad 1, 2\n 2: ldr x10, 1b\n");
    /* By the stack's pointer, and with a tag in the top byte. */
    RUN("sub sp, sp, #256\n str x10, [sp, #8]\n ldr q1, [sp], #16\n stp x10, x11, [sp, #-16]!\n"
        "ldr w11, [sp, %[i], lsl #2]\n ldrb w11, [sp, %w[g], uxtw]\n add sp, sp, #256\n"
        "mov x13, #0x5500000000000000\n orr x13, x13, %[to]\n ldr x10, [x13, #8]\n str q1, [x13], "
        "#16\n"
        "ldp x10, x11, [x13, #-16]\n ldrb w10, [x13, %[s]]\n");
}

static __attribute__((noinline)) void several(u8 *to, u64 i)
{
    RUN(PAIRS("ldp", "stp", "[%[to], #64]") "ldpsw x10, x11, [%[to], #-4]\n");
    RUN(PAIRS("ldp", "stp", "[%[to]], #16") "ldpsw x10, x11, [%[to]], #4\n");
    RUN(PAIRS("ldp", "stp", "[%[to], #-16]!") "ldpsw x10, x11, [%[to], #8]!\n");
    RUN(PAIRS("ldnp", "stnp", "[%[to], #-32]"));
    RUN("ld1 {v0.16b}, [%[to]]\n ld1 {v0.4h, v1.4h}, [%[to]], #16\n st1 {v0.2d-v2.2d}, [%[to]]\n"
        "ld1 {v0.1d-v3.1d}, [%[to]], %[i]\n st1 {v0.8b}, [%[to]], %[s]\n st1 {v1.4s}, [%[to]]\n"
        "ld2 {v0.16b, v1.16b}, [%[to]], #32\n st2 {v0.2s, v1.2s}, [%[to]]\n"
        "ld3 {v0.8h-v2.8h}, [%[to]], %[s]\n st3 {v0.8b-v2.8b}, [%[to]]\n"
        "ld4 {v0.2d-v3.2d}, [%[to]]\n st4 {v0.4h-v3.4h}, [%[to]], %[i]\n");
    RUN("ld1 {v0.b}[3], [%[to]]\n st1 {v0.h}[5], [%[to]], #2\n ld1 {v0.s}[1], [%[to]], %[i]\n"
        "st1 {v1.d}[1], [%[to]]\n ld2 {v0.b, v1.b}[9], [%[to]], #2\n st2 {v0.d, v1.d}[0], [%[to]]\n"
        "ld3 {v0.h-v2.h}[7], [%[to]]\n st3 {v0.s-v2.s}[3], [%[to]], %[s]\n"
        "ld4 {v0.s-v3.s}[0], [%[to]], #16\n st4 {v0.b-v3.b}[15], [%[to]]\n"
        "ld1r {v0.8b}, [%[to]]\n ld2r {v0.2d, v1.2d}, [%[to]], #16\n"
        "ld3r {v0.4h-v2.4h}, [%[to]], %[i]\n ld4r {v0.4s-v3.4s}, [%[to]]\n");
}

/* The place is aligned. */
static __attribute__((noinline)) void ordered(u8 *to, u64 i)
{
    RUN(ORDERS("ldadd") ORDERS("ldclr") ORDERS("ldeor") ORDERS("ldset") ORDERS("swp")
            ORDERS("cas"));
    RUN(ATOMIC("ldsmax", "") ATOMIC("ldsmin", "al") ATOMIC("ldumax", "a") ATOMIC("ldumin", "l"));
    RUN("stadd x10, [%[to]]\n stsetl w10, [%[to]]\n"
        "casp x10, x11, x12, x13, [%[to]]\n caspal w10, w11, w12, w13, [%[to]]\n");
    RUN("ldxr x10, [%[to]]\n stxr w13, x10, [%[to]]\n ldaxr w10, [%[to]]\n"
        "stlxr w13, w10, [%[to]]\n ldxrb w10, [%[to]]\n stxrb w13, w10, [%[to]]\n"
        "ldaxrh w10, [%[to]]\n stlxrh w13, w10, [%[to]]\n ldxp x10, x11, [%[to]]\n"
        "stxp w13, x10, x11, [%[to]]\n ldaxp w10, w11, [%[to]]\n stlxp w13, w10, w11, [%[to]]\n");
    RUN("ldar x10, [%[to]]\n stlr w10, [%[to]]\n ldarb w10, [%[to]]\n stlrh w10, [%[to]]\n"
        "ldlar x10, [%[to]]\n stllr x10, [%[to]]\n ldapr x10, [%[to]]\n ldaprb w10, [%[to]]\n"
        "ldapur x10, [%[to], #8]\n ldapursh w10, [%[to], #-2]\n ldapursw x10, [%[to], #4]\n"
        "stlur w10, [%[to], #-4]\n stlurb w10, [%[to], #1]\n ldapurb w10, [%[to]]\n");
    RUN("mov x13, %[to]\n pacdza x13\n ldraa x10, [x13, #16]\n ldraa x10, [x13, #-8]!\n"
        "mov x13, %[to]\n pacdzb x13\n ldrab x10, [x13]\n ldrab x10, [x13, #4088]!\n"
        "stgp x10, x11, [%[to], #16]\n stgp x10, x11, [%[to]], #-16\n"
        "stzg x10, [%[to], #32]\n stz2g x10, [%[to], #-16]!\n");
}

static void by_hand(u64 i)
{
    i %= 16;
    single(copy + 256, i);
    several(bytes + 256, i);
    ordered((u8 *)nodes + 512, i);
}

static void begin(void)
{
}

static void end(void)
{
    register long number __asm__("x8") = 94, a __asm__("x0") = 0;

    __asm__ volatile("svc 0" : : "r"(number), "r"(a));
}

__asm__(".globl _start\n_start: adrp x0, stack+32768\n add x0, x0, :lo12:stack+32768\n mov sp, x0\n"
        " mov x29, 0\n bl run\n");
