/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_cpu.h - which of the code that is compiled for several processors runs on this one.
 *
 * A source whose name ends in _simd.c is compiled for CF_CPU_BASE and, where the architecture has
 * it, CF_CPU_AVX2 (Makefile). It names what it exports CF_SIMD(name), of which name_base and
 * name_avx2 become; its header declares them, and what makes an engine takes one:
 *
 *     typedef uint32_t cf_adder(const uint64_t *value, uint32_t count);
 *     CF_SIMD_CODE(cf_adder, cf_add);             in NAME_parts.h
 *     uint32_t CF_SIMD(cf_add)(const uint64_t *value, uint32_t count) { ... }    in NAME_simd.c
 *     s->add = CF_SIMD_CHOICE(cf_add);            in NAME.c
 *
 * Where AVX-512 wins 1.3 times over AVX2, a whole program from a file to its result, the source's
 * name ends in _simd512.c, and the two macros are CF_SIMD512_CODE and CF_SIMD512_CHOICE.
 *
 * All have the same results, to the bit. For tests and for figures the environment variable CF_CPU
 * names less than the processor has; it is looked at each time.
 */
#ifndef CF_CPU_H
#define CF_CPU_H

enum cf_cpu {
    CF_CPU_NONE,   /* only by CF_CPU=none: no faster way where there is one, just the definition */
    CF_CPU_BASE,   /* what every processor of the architecture has: SSE2, NEON */
    CF_CPU_AVX2,   /* AVX2, BMI, BMI2, POPCNT: Haswell (2013), Zen (2017) */
    CF_CPU_AVX512, /* and AVX-512 F, BW, DQ, VL: Skylake-X (2017), Zen 4 (2022) */
    CF_CPUS
};

/* The best that this processor has and CF_CPU (none, base, avx2, avx512) allows. Another word
   allows all. */
enum cf_cpu cf_cpu(void);

#ifdef __x86_64__
#define CF_SIMD_CODE(type, name)    extern type name##_base, name##_avx2
#define CF_SIMD_CHOICE(name)        (cf_cpu() < CF_CPU_AVX2 ? name##_base : name##_avx2)
#define CF_SIMD512_CODE(type, name) extern type name##_base, name##_avx2, name##_avx512
#define CF_SIMD512_CHOICE(name)     (cf_cpu() > CF_CPU_AVX2 ? name##_avx512 : CF_SIMD_CHOICE(name))
#else
#define CF_SIMD_CODE(type, name)    extern type name##_base
#define CF_SIMD_CHOICE(name)        name##_base
#define CF_SIMD512_CODE(type, name) CF_SIMD_CODE(type, name)
#define CF_SIMD512_CHOICE(name)     CF_SIMD_CHOICE(name)
#endif

/* In such a source: for whom this time. */
#ifndef CF_SIMD_FOR
#define CF_SIMD_FOR base
#endif
#define CF_SIMD(name)           CF_SIMD_JOIN(name, CF_SIMD_FOR)
#define CF_SIMD_JOIN(name, cpu) CF_SIMD_GLUE(name, cpu)
#define CF_SIMD_GLUE(name, cpu) name##_##cpu

#endif
