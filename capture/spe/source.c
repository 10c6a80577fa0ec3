/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.c - what a record says of where its access was served. See spe.h.
 */
#include <linux/perf_event.h>

#include "capture/base/cf_samples.h"
#include "capture/spe/spe.h"
#include "formats/stream/cf.h"

#define NUMBER(n) ((uint64_t)PERF_MEM_LVLNUM_##n << PERF_MEM_LVLNUM_SHIFT)
/* Later than the oldest header that the suite is built with. */
#define FROM_PEER      ((uint64_t)2 << 38) /* PERF_MEM_SNOOPX_PEER */
#define S(what, value) PERF_MEM_S(what, value)

/* MIDR_EL1: implementer, architecture and part, without variant and revision. */
enum { MODEL = 0xff0ffff0, AMPERE_1A = 0xc00fac40 };

/* Processors whose manuals have the data sources of Neoverse N1 (100616, "Data source packet"), as
   tools/perf/util/arm-spe.c of Linux lists them. */
static const uint32_t neoverse[] = {
    0x410fd0c0, /* Neoverse N1 */
    0x410fd400, /* V1 */
    0x410fd490, /* N2 */
    0x410fd4f0, /* V2 */
    0x410fd4c0, /* Cortex-X1C */
    0x410fd4e0, /* X3 */
    0x410fd850, /* X925 */
    0x410fd810, /* A720 */
    0x410fd890, /* A720AE */
    0x410fd870, /* A725 */
};

/* Data sources of Neoverse. */
enum source {
    FROM_L1 = 0,
    FROM_L2 = 8,
    FROM_CORE,    /* another one of the cluster */
    FROM_CLUSTER, /* this one */
    FROM_SYSTEM,  /* the system's cache */
    FROM_OTHER,   /* another cluster */
    FROM_REMOTE,  /* another chip */
    FROM_DRAM,
};

static uint64_t word_of_source(unsigned source)
{
    switch (source) {
    case FROM_L1:
        return S(LVL, L1) | S(LVL, HIT) | NUMBER(L1) | S(SNOOP, NONE);
    case FROM_L2:
        return S(LVL, L2) | S(LVL, HIT) | NUMBER(L2) | S(SNOOP, NONE);
    case FROM_CORE:
        return S(LVL, L2) | S(LVL, HIT) | NUMBER(L2) | FROM_PEER;
    case FROM_CLUSTER:
    case FROM_OTHER:
        return S(LVL, L3) | S(LVL, HIT) | NUMBER(L3) | FROM_PEER;
    case FROM_SYSTEM:
        return S(LVL, L3) | S(LVL, HIT) | NUMBER(L3) | S(SNOOP, HIT);
    case FROM_REMOTE:
        return S(LVL, NA) | NUMBER(NA) | S(REMOTE, REMOTE) | FROM_PEER;
    case FROM_DRAM:
        return S(LVL, LOC_RAM) | S(LVL, HIT) | NUMBER(RAM) | S(SNOOP, NONE);
    default:
        return 0;
    }
}

/* The same of AmpereOne's, by Neoverse's. */
static unsigned source_of_ampere(unsigned source)
{
    static const uint8_t same[] = {[0] = FROM_CORE, [3] = FROM_SYSTEM, [5] = FROM_REMOTE,
                                   [7] = FROM_DRAM, [8] = 0xfe,        [9] = FROM_L2};
    const unsigned known = source < sizeof same ? same[source] : 0;

    return known == 0xfe ? FROM_L1 : known ? known : 0xff;
}

static uint64_t word_of_events(uint64_t events)
{
    uint64_t word = 0;

    if (events & (CF_SPE_LLC_ACCESS | CF_SPE_LLC_REFILL))
        word = S(LVL, L3) | (events & CF_SPE_LLC_REFILL ? S(LVL, MISS) : S(LVL, HIT));
    else if (events & (CF_SPE_L1D_ACCESS | CF_SPE_L1D_REFILL))
        word = S(LVL, L1) | (events & CF_SPE_L1D_REFILL ? S(LVL, MISS) : S(LVL, HIT));
    return word | (events & CF_SPE_REMOTE ? S(REMOTE, REMOTE) : 0);
}

static int is_neoverse(uint64_t midr)
{
    for (unsigned i = 0; i < sizeof neoverse / sizeof *neoverse; i++)
        if ((midr & MODEL) == neoverse[i])
            return 1;
    return 0;
}

/* Of a processor whose data sources are known: those state nothing of stores. */
static uint64_t word_of_processor(const struct cf_spe_record *r, unsigned source)
{
    return r->op == CF_STORE ? S(LVL, NA) | NUMBER(NA) | S(SNOOP, NA) : word_of_source(source);
}

uint64_t cf_spe_data_src(const struct cf_spe_record *r, uint64_t midr)
{
    uint64_t word = r->op == CF_STORE ? S(OP, STORE) : S(OP, LOAD);

    if (!r->op)
        return 0;
    if (r->op == CF_LOAD && !(r->has & CF_SPE_SOURCE))
        word |= word_of_events(r->events);
    else if (is_neoverse(midr))
        word |= word_of_processor(r, r->source);
    else if ((midr & MODEL) == (uint32_t)AMPERE_1A)
        word |= word_of_processor(r, source_of_ampere(r->source));
    else
        word |= word_of_events(r->events);
    if (r->events & (CF_SPE_TLB_ACCESS | CF_SPE_TLB_WALK))
        word |= S(TLB, WK) | (r->events & CF_SPE_TLB_WALK ? S(TLB, MISS) : S(TLB, HIT));
    return word;
}

unsigned cf_spe_level(const struct cf_spe_record *r, uint64_t midr)
{
    const unsigned level = cf_data_src_level(cf_spe_data_src(r, midr));

    return level ? level : cf_data_src_level(word_of_events(r->events));
}
