/* SPDX-License-Identifier: BSD-2-Clause */
/* What kernels write of where an access was served, as levels of the stream. */
#include <linux/perf_event.h>

#include "capture/base/cf_samples.h"
#include "tap.h"

#define S(what, value) PERF_MEM_S(what, value)

enum { BEYOND = CF_FROM_BEYOND, MEMORY = CF_FROM_MEMORY };

struct entry {
    uint64_t value;
    unsigned level, op, both;
    const char *name;
};

#define NUMBER(n) ((uint64_t)(n) << 33)
#define HOPS(n)   ((uint64_t)(n) << 43)
#define LOAD_HIT  (S(OP, LOAD) | S(LVL, HIT))
#define STORE     S(OP, STORE)
#define REMOTE    S(REMOTE, REMOTE)

/* Nehalem to Sapphire Rapids: with the older bits alone, as Linux before 4.14 has them, and with
   numbers. */
static const struct entry intel[] = {
    {S(OP, LOAD) | S(LVL, MISS) | S(LVL, L3), MEMORY, CF_LOAD, 0, "unknown, missed L3"},
    {S(OP, LOAD) | S(LVL, MISS) | S(LVL, L3) | NUMBER(3), MEMORY, CF_LOAD, 0, "the same by number"},
    {LOAD_HIT | S(LVL, L1), 1, CF_LOAD, 0, "L1"},
    {LOAD_HIT | S(LVL, L1) | NUMBER(1), 1, CF_LOAD, 0, "L1 by number"},
    {LOAD_HIT | S(LVL, LFB), BEYOND, CF_LOAD, 0, "a fill buffer, which is no hit"},
    {LOAD_HIT | S(LVL, LFB) | NUMBER(12), BEYOND, CF_LOAD, 0, "a fill buffer by number"},
    {LOAD_HIT | S(LVL, L2) | NUMBER(2), 2, CF_LOAD, 0, "L2"},
    {LOAD_HIT | S(LVL, L3) | NUMBER(3), 3, CF_LOAD, 0, "L3"},
    {LOAD_HIT | S(LVL, L3) | S(SNOOP, HITM) | NUMBER(3), 3, CF_LOAD, 0, "L3, another core's"},
    {LOAD_HIT | S(LVL, REM_CCE1) | S(SNOOP, HITM), BEYOND, CF_LOAD, 0, "a remote cache"},
    {LOAD_HIT | S(LVL, REM_CCE1) | REMOTE | NUMBER(3), BEYOND, CF_LOAD, 0, "the same by number"},
    {LOAD_HIT | S(LVL, LOC_RAM) | NUMBER(13), MEMORY, CF_LOAD, 0, "local memory"},
    {LOAD_HIT | S(LVL, REM_RAM1) | REMOTE | NUMBER(13), MEMORY, CF_LOAD, 0, "remote memory"},
    {LOAD_HIT | REMOTE | NUMBER(14), MEMORY, CF_LOAD, 0, "remote persistent memory"},
    {LOAD_HIT | NUMBER(4), 4, CF_LOAD, 0, "L4"},
    {LOAD_HIT | S(LVL, IO) | NUMBER(15), MEMORY, CF_LOAD, 0, "input and output"},
    {LOAD_HIT | S(LVL, UNC) | NUMBER(15), MEMORY, CF_LOAD, 0, "uncached"},
    {STORE | S(LVL, L1) | S(LVL, HIT), 1, CF_STORE, 0, "a store that hit L1"},
    {STORE | S(LVL, L1) | S(LVL, MISS), BEYOND, CF_STORE, 0, "a store that missed L1"},
    {STORE | S(LVL, NA), 0, CF_STORE, 0, "a store of which no more is known"},
};

/* IBS of Zen; SPE of Neoverse. */
static const struct entry others[] = {
    {LOAD_HIT | S(LVL, L1) | NUMBER(1), 1, CF_LOAD, 0, "AMD: L1"},
    {LOAD_HIT | NUMBER(11), BEYOND, CF_LOAD, 0, "AMD: some cache"},
    {LOAD_HIT | S(LVL, L3) | NUMBER(3), 3, CF_LOAD, 0, "AMD: its own L3"},
    {LOAD_HIT | NUMBER(11) | REMOTE | HOPS(2), BEYOND, CF_LOAD, 0, "AMD: a cache two hops away"},
    {LOAD_HIT | NUMBER(13), MEMORY, CF_LOAD, 0, "AMD: memory"},
    {LOAD_HIT | NUMBER(9), MEMORY, CF_LOAD, 0, "AMD: CXL memory"},
    {S(OP, LOAD) | STORE | S(LVL, L2) | S(LVL, HIT) | NUMBER(2), 2, CF_STORE, 1,
     "AMD: one that loads and stores"},
    {S(OP, LOAD) | S(LVL, NA) | NUMBER(15), 0, CF_LOAD, 0, "AMD: a load that states none"},
    {S(OP, LOAD) | S(LVL, L1) | S(LVL, MISS), BEYOND, CF_LOAD, 0, "ARM: missed L1"},
    {S(OP, LOAD) | S(LVL, L3) | S(LVL, HIT), 3, CF_LOAD, 0, "ARM: last level"},
    {S(OP, LOAD) | S(LVL, REM_CCE1), BEYOND, CF_LOAD, 0, "ARM: another socket's cache"},
    {S(OP, PFETCH) | S(LVL, L2) | S(LVL, HIT), 2, CF_PREFETCH, 0, "a prefetch"},
    {S(OP, EXEC) | S(LVL, L1) | S(LVL, HIT), 1, CF_IFETCH, 0, "a fetch of an instruction"},
    {LOAD_HIT | NUMBER(7), 0, CF_LOAD, 0, "a number of a later kernel"},
    {LOAD_HIT | S(LVL, L2) | NUMBER(2) | UINT64_C(3) << 46, 2, CF_LOAD, 0,
     "bits of a later kernel"},
    {S(OP, NA) | S(LVL, NA), 0, 0, 0, "neither operation nor level"},
    {0, 0, 0, 0, "nothing"},
};

static void each(const struct entry *e, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int both = 0;

        is_u64(cf_data_src_level(e[i].value), e[i].level, "%s: level", e[i].name);
        is_u64(cf_data_src_op(e[i].value, &both), e[i].op, "%s: operation", e[i].name);
        is_u64((uint64_t)both, e[i].both, "%s: both", e[i].name);
    }
}

int main(void)
{
    each(intel, sizeof intel / sizeof *intel);
    each(others, sizeof others / sizeof *others);
    return done();
}
