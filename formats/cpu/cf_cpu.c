/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "formats/cpu/cf_cpu.h"

static enum cf_cpu processor(void)
{
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return CF_CPU_BASE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return CF_CPU_AVX2;
    return CF_CPU_AVX512;
#else
    return CF_CPU_BASE;
#endif
}

enum cf_cpu cf_cpu(void)
{
    static const char *const words[CF_CPUS] = {"none", "base", "avx2", "avx512"};
    const enum cf_cpu best = processor();
    const char *word = getenv("CF_CPU");

    for (unsigned k = 0; word && k < (unsigned)best; k++)
        if (strcmp(word, words[k]) == 0)
            return (enum cf_cpu)k;
    return best;
}
