/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpus.h - the code of each processor that this one can run (cf_cpu.h), for unit tests.
 *
 *     for (unsigned cpu = CF_CPU_NONE; cpu <= best_cpu(); cpu++) {
 *         take_cpu(cpu);     engines made from here on have that code
 */
#ifndef CPUS_H
#define CPUS_H

#include <stdlib.h>

#include "formats/cpu/cf_cpu.h"

static const char *const cpu_names[CF_CPUS]
    __attribute__((unused)) = {"none", "base", "avx2", "avx512"};

static inline void take_cpu(unsigned cpu)
{
    setenv("CF_CPU", cpu_names[cpu], 1);
}

static inline unsigned best_cpu(void)
{
    unsetenv("CF_CPU");
    return cf_cpu();
}

#endif
