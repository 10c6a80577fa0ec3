/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CF_CPU takes less than the processor has, and never more: else the tests that make engines for
 * each processor would all make the same one.
 */
#include "cpus.h"
#include "tap.h"

int main(void)
{
    const unsigned best = best_cpu();

    for (unsigned cpu = CF_CPU_NONE; cpu < CF_CPUS; cpu++) {
        take_cpu(cpu);
        ok((unsigned)cf_cpu() == (cpu < best ? cpu : best), "CF_CPU=%s", cpu_names[cpu]);
    }
    setenv("CF_CPU", "z80", 1);
    ok((unsigned)cf_cpu() == best, "an unknown word allows all");
    unsetenv("CF_CPU");
    ok((unsigned)cf_cpu() == best, "so does none");
    return done();
}
