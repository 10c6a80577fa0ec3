// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a snapshot costs in cycles: by the CPU's own cycle counter (PMCCNTR of the ARM performance
 * monitors), which is turned on for the time being unless somebody else has it counting, and counts
 * each cycle meanwhile; where there is none, or it counts user mode alone, by the counter of
 * constant rate that the kernel keeps its time by.
 */
#include <linux/timex.h>

#include "shutter.h"

#define PMCR_ENABLE   1u
#define PMCR_DIVIDE   8u /* count each 64th cycle */
#define CYCLE_COUNTER (1u << 31)
#define FILTER_NO_EL1 (1u << 31)

#if defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
#include <asm/sysreg.h>

static bool counter_exists(void)
{
    u64 version = read_sysreg(id_aa64dfr0_el1) >> 8 & 0xf;

    return version != 0 && version != 0xf;
}

#define pmu_read(name)         ((u32)read_sysreg(name##_el0))
#define pmu_write(name, value) write_sysreg((u64)(value), name##_el0)
#define pmu_cycles()           read_sysreg(pmccntr_el0)
#define pmu_set_cycles(value)  write_sysreg((u64)(value), pmccntr_el0)
#define pmu_filter()           pmu_read(pmccfiltr)
#define pmu_set_filter(value)  pmu_write(pmccfiltr, value)
#define CYCLES_MASK            (~0ULL)

#elif defined(CONFIG_ARM)
#include <asm/cp15.h>

#define CP_pmcr       "c9, c12, 0"
#define CP_pmcntenset "c9, c12, 1"
#define CP_pmcntenclr "c9, c12, 2"
#define CP_pmselr     "c9, c12, 5"
#define CP_pmccntr    "c9, c13, 0"
#define CP_pmxevtyper "c9, c13, 1"
#define pmu_read(name)                                                                             \
    ({                                                                                             \
        u32 value_;                                                                                \
        asm volatile("mrc p15, 0, %0, " CP_##name : "=r"(value_));                                 \
        value_;                                                                                    \
    })
#define pmu_write(name, value) asm volatile("mcr p15, 0, %0, " CP_##name ::"r"((u32)(value)))
#define pmu_cycles()           pmu_read(pmccntr)
#define pmu_set_cycles(value)  pmu_write(pmccntr, value)
#define CYCLES_MASK            0xffffffffULL

static bool counter_exists(void)
{
    u32 features;

    asm volatile("mrc p15, 0, %0, c0, c1, 2" : "=r"(features)); /* ID_DFR0 */
    features = features >> 24 & 0xf;
    return features != 0 && features != 0xf;
}

/* The cycle counter's filter is that of event counter 31. */
static u32 pmu_filter(void)
{
    u32 filter, selected = pmu_read(pmselr);

    pmu_write(pmselr, 31);
    isb();
    filter = pmu_read(pmxevtyper);
    pmu_write(pmselr, selected);
    isb();
    return filter;
}

static void pmu_set_filter(u32 filter)
{
    u32 selected = pmu_read(pmselr);

    pmu_write(pmselr, 31);
    isb();
    pmu_write(pmxevtyper, filter);
    pmu_write(pmselr, selected);
    isb();
}
#endif

#if defined(CONFIG_ARM64) || defined(CONFIG_ARM)

void cycles_begin(struct shutter_cycles *cycles)
{
    cycles->ours = false;
    if (counter_exists()) {
        cycles->control = pmu_read(pmcr);
        cycles->enabled = pmu_read(pmcntenset);
        cycles->filter = pmu_filter();
        cycles->source = CACHEFLOW_CYCLES_CPU;
        cycles->ours = !(cycles->control & PMCR_ENABLE) || !(cycles->enabled & CYCLE_COUNTER);
        if (cycles->ours) {
            /* Where nothing counts, other counters that are set up must not start now. */
            if (!(cycles->control & PMCR_ENABLE))
                pmu_write(pmcntenclr, cycles->enabled);
            pmu_set_filter(0);
            pmu_write(pmcntenset, CYCLE_COUNTER);
        } else if (cycles->filter & FILTER_NO_EL1) {
            cycles->source = CACHEFLOW_CYCLES_TIMER;
        }
        if (cycles->source == CACHEFLOW_CYCLES_CPU)
            pmu_write(pmcr, (cycles->control | PMCR_ENABLE) & ~PMCR_DIVIDE);
        isb();
    } else {
        cycles->source = CACHEFLOW_CYCLES_TIMER;
    }
    cycles->begin = cycles->source == CACHEFLOW_CYCLES_CPU ? pmu_cycles() : (u64)get_cycles();
}

u64 cycles_end(struct shutter_cycles *cycles)
{
    u64 passed;

    isb();
    if (cycles->source != CACHEFLOW_CYCLES_CPU)
        return (u64)get_cycles() - cycles->begin;
    passed = (pmu_cycles() - cycles->begin) & CYCLES_MASK;
    if (cycles->ours) {
        pmu_write(pmcr, cycles->control);
        pmu_write(pmcntenclr, CYCLE_COUNTER);
        pmu_write(pmcntenset, cycles->enabled);
        pmu_set_filter(cycles->filter);
        isb();
    } else if (cycles->control & PMCR_DIVIDE) {
        /* A user that has it counting finds what it would have counted. */
        pmu_set_cycles(cycles->begin + passed / 64);
        pmu_write(pmcr, cycles->control);
        isb();
    }
    return passed;
}

u64 cycles_timer_hz(void)
{
#if defined(CONFIG_ARM64)
    return arch_timer_get_cntfrq();
#else
    return 0;
#endif
}

#else /* x86 */

#include <asm/msr.h>
#include <asm/tsc.h>

void cycles_begin(struct shutter_cycles *cycles)
{
    cycles->source = CACHEFLOW_CYCLES_TIMER;
    cycles->begin = rdtsc_ordered();
}

u64 cycles_end(struct shutter_cycles *cycles)
{
    return rdtsc_ordered() - cycles->begin;
}

u64 cycles_timer_hz(void)
{
    return (u64)tsc_khz * 1000;
}

#endif
