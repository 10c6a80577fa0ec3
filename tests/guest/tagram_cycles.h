/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cycle counter as somebody else may have left it, for tagram.c: divide=1 sets it to each 64th
 * cycle and off, divide=2 and on, divide=0 to what it is otherwise.
 */
#ifndef TAGRAM_CYCLES_H
#define TAGRAM_CYCLES_H

#include <linux/module.h>
#include <linux/smp.h>

#define PMCR_ENABLE   1u
#define PMCR_DIVIDE   8u
#define PMCR_LONG     64u
#define CYCLE_COUNTER (1u << 31)

static void divide_here(void *arg)
{
    unsigned int how = *(unsigned int *)arg;
    u64 control = read_sysreg(pmcr_el0) & ~(u64)(PMCR_ENABLE | PMCR_DIVIDE | PMCR_LONG);

    write_sysreg(CYCLE_COUNTER, pmcntenclr_el0);
    if (how == 2) {
        write_sysreg(0, pmccfiltr_el0);
        write_sysreg(CYCLE_COUNTER, pmcntenset_el0);
    }
    write_sysreg(control | (how ? PMCR_DIVIDE : PMCR_LONG) | (how == 2 ? PMCR_ENABLE : 0),
                 pmcr_el0);
    isb();
}

static int divide_set(const char *text, const struct kernel_param *param)
{
    unsigned int how;
    int error = kstrtouint(text, 0, &how);

    if (!error)
        on_each_cpu(divide_here, &how, 1);
    return error;
}

struct divided {
    u64 control, on, count;
};

static void divided_here(void *arg)
{
    struct divided *divided = arg;

    divided->control = read_sysreg(pmcr_el0);
    divided->on = read_sysreg(pmcntenset_el0) & CYCLE_COUNTER;
    divided->count = read_sysreg(pmccntr_el0);
}

/* Of the first CPU: as it was set, and how many cycles have been counted. */
static int divide_get(char *text, const struct kernel_param *param)
{
    struct divided divided = {0};
    int error = smp_call_function_single(0, divided_here, &divided, 1);
    u64 control = divided.control, on = divided.on;

    if (error)
        return error;

    return sprintf(text, "%u %llu\n",
                   !(control & PMCR_DIVIDE)             ? 0
                   : on && (control & PMCR_ENABLE) != 0 ? 2
                                                        : 1,
                   divided.count);
}

static const struct kernel_param_ops divide_ops = {.set = divide_set, .get = divide_get};
module_param_cb(divide, &divide_ops, NULL, 0644);

#endif
