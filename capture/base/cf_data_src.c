/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_data_src.c - what the kernel's word of a sample says (cf_samples.h). Its numbers are those of
 * linux/perf_event.h.
 */
#include <linux/perf_event.h>

#include "capture/base/cf_samples.h"

/* Later than the oldest header that the suite is built with. */
enum { LEVEL_NUMBER_CXL = 0x09, LEVEL_NUMBER_IO = 0x0a, NUMBER_SHIFT = 33, HOPS_SHIFT = 43 };

unsigned cf_data_src_op(uint64_t data_src, int *both)
{
    const uint64_t op = data_src & 31;

    *both = (op & PERF_MEM_OP_LOAD) && (op & PERF_MEM_OP_STORE);
    if (op & PERF_MEM_OP_STORE)
        return CF_STORE;
    if (op & PERF_MEM_OP_LOAD)
        return CF_LOAD;
    if (op & PERF_MEM_OP_PFETCH)
        return CF_PREFETCH;
    return op & PERF_MEM_OP_EXEC ? CF_IFETCH : 0;
}

/* Where the older bits say that the access was served, or missed. */
static unsigned place_of_bits(uint64_t lvl)
{
    if (lvl & (PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 |
               PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC))
        return CF_FROM_MEMORY;
    if (lvl & (PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2))
        return CF_FROM_BEYOND;
    if (lvl & PERF_MEM_LVL_L3)
        return 3;
    if (lvl & PERF_MEM_LVL_L2)
        return 2;
    if (lvl & PERF_MEM_LVL_LFB)
        return CF_FROM_BEYOND;
    return lvl & PERF_MEM_LVL_L1 ? 1 : 0;
}

static unsigned place_of_number(unsigned number)
{
    switch (number) {
    case PERF_MEM_LVLNUM_L1:
    case PERF_MEM_LVLNUM_L2:
    case PERF_MEM_LVLNUM_L3:
    case PERF_MEM_LVLNUM_L4:
        return number;
    case LEVEL_NUMBER_CXL:
    case LEVEL_NUMBER_IO:
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
        return CF_FROM_MEMORY;
    case PERF_MEM_LVLNUM_ANY_CACHE:
    case PERF_MEM_LVLNUM_LFB:
        return CF_FROM_BEYOND;
    default:
        return 0;
    }
}

unsigned cf_data_src_level(uint64_t data_src)
{
    const uint64_t lvl = data_src >> PERF_MEM_LVL_SHIFT & 0x3fff;
    const unsigned number = data_src >> NUMBER_SHIFT & 15;
    const int remote = (data_src >> PERF_MEM_REMOTE_SHIFT & 1) || (data_src >> HOPS_SHIFT & 7);
    const int numbered = number != 0 && number != PERF_MEM_LVLNUM_NA;
    const unsigned place = numbered ? place_of_number(number) : place_of_bits(lvl);

    if (place == 0) /* a remote one is none of the core's, whatever it is */
        return remote && !numbered ? CF_FROM_BEYOND : 0;
    if (place >= CF_FROM_BEYOND)
        return place;
    if ((lvl & PERF_MEM_LVL_MISS) && !(lvl & PERF_MEM_LVL_HIT))
        return place >= 3 && !remote ? CF_FROM_MEMORY : CF_FROM_BEYOND;
    return remote ? CF_FROM_BEYOND : place;
}
