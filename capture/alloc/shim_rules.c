/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shim_rules.c - the rules of the places that were asked for before: a cache in which threads read
 * and write without a lock. A way holds a rule, and its pc XOR the rule: so words of two writers do
 * not fit together (Hyatt and Mann, "A lock-less transposition-table implementation for parallel
 * search", ICGA Journal 25(1), 2002).
 */
#include "shim.h"

struct shim_way shim_ways[SHIM_RULE_SETS][SHIM_RULE_WAYS] __attribute__((aligned(64)));
uint32_t shim_code_age;

static int fits(int64_t value, unsigned bits)
{
    return value >= -(1LL << (bits - 1)) && value < 1LL << (bits - 1);
}

static uint64_t bits_of(int64_t value, unsigned bits)
{
    return (uint64_t)value & ((1ULL << bits) - 1);
}

static uint64_t pack(struct shim_rule r)
{
    const unsigned before = SHIM_STEP_BITS + SHIM_SAVED_BITS;

    if (r.step == SHIM_BY_CHAIN) {
        r.fp_saved = 1;
        r.fp = -2 * (int32_t)sizeof(uintptr_t);
        r.ra = -(int32_t)sizeof(uintptr_t);
    }
    if (r.ra % 8 || r.fp % 8 || !fits(r.ra / 8, SHIM_OFFSET_BITS) ||
        !fits(r.fp / 8, SHIM_OFFSET_BITS) || !fits(r.end, SHIM_END_BITS))
        return SHIM_END;
    return (uint64_t)r.step | (uint64_t)r.fp_saved << SHIM_STEP_BITS |
           bits_of(r.ra / 8, SHIM_OFFSET_BITS) << before |
           bits_of(r.fp / 8, SHIM_OFFSET_BITS) << (before + SHIM_OFFSET_BITS) |
           bits_of(r.end, SHIM_END_BITS) << (64 - SHIM_END_BITS);
}

uint64_t shim_rule_new(uintptr_t pc)
{
    const uint64_t rule = pack(shim_cfi_rule(pc));
    struct shim_way *set = shim_set(pc), *way = &set[pc >> 1 & (SHIM_RULE_WAYS - 1)];

    for (unsigned i = 0; i < SHIM_RULE_WAYS; i++)
        if (!__atomic_load_n(&set[i].rule, __ATOMIC_RELAXED))
            way = &set[i];
    __atomic_store_n(&way->rule, rule, __ATOMIC_RELAXED);
    __atomic_store_n(&way->key, pc ^ rule, __ATOMIC_RELAXED);
    return rule;
}

void shim_rules_forget(void)
{
    for (unsigned i = 0; i < SHIM_RULE_SETS; i++)
        for (unsigned j = 0; j < SHIM_RULE_WAYS; j++)
            if (__atomic_load_n(&shim_ways[i][j].key, __ATOMIC_RELAXED))
                __atomic_store_n(&shim_ways[i][j].key, 0, __ATOMIC_RELAXED);
    __atomic_add_fetch(&shim_code_age, 1, __ATOMIC_RELEASE);
}
