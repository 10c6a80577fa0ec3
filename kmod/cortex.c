// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Cortex-A57, A72 and A15: tag memories by RAMINDEX.
 *
 * A command word (Cortex-A57 MPCore Technical Reference Manual, DDI 0488D, section 4.3.64 and table
 * 4-73) holds the RAMID in bits 31:24, the way from bit 18 up and the index from bit 0 up. What
 * comes back: L2 tag    DL1DATA0: 1:0 state (0 invalid, 1 exclusive or modified, 3 shared or
 * owned), 30:2 physical address 43:15, 31 non-secure. Bits of the address that are also bits of the
 *             set are taken from the set: what the memory holds there is not reliable.
 *   L1-D tag  DL1DATA1 1:0 MESI (0 I, 1 E, 2 S, 3 M); DL1DATA0 29:0 physical address 43:14, 30
 *             non-secure
 *   L1-I tag  IL1DATA0 physical address 43:12; IL1DATA1 bit 1 valid, bit 0 non-secure
 * The layouts are those of the A72 (Technical Reference Manual 100095, section 4.3.62 ff. and the
 * tables of its direct access to internal memory). That of the A57's L2 is the same by what the
 * paper's own program for the Tegra X1 reads. The A57's first level and all of the A15 are taken
 * over from them without a document: only with assume=1.
 */
#include <asm/cputype.h>

#include "ramindex.h"
#include "shutter.h"

#define RAMID(n)        ((u32)(n) << 24)
#define RAMID_L1I_TAG   RAMID(0x00)
#define RAMID_L1D_TAG   RAMID(0x08)
#define RAMID_L2_TAG    RAMID(0x10)
#define WAY_SHIFT       18
#define INDEX_MASK      ((1u << WAY_SHIFT) - 1)
#define IMPLEMENTER_ARM 0x41u

static u32 part_here(void)
{
    u32 midr = (u32)read_cpuid_id();

    return midr >> 24 == IMPLEMENTER_ARM ? midr >> 4 & 0xfff : 0;
}

static bool able_a57(void)
{
    return part_here() == 0xd07;
}

static bool able_a72(void)
{
    return part_here() == 0xd08;
}

static bool able_a15(void)
{
    return part_here() == 0xc0f;
}

/* CCSIDR in the format that these CPUs have: 2:0 log2 of the line's bytes minus 4, 12:3 ways minus
   1, 27:13 sets minus 1. L2CTLR holds the number of CPUs and latencies, nothing that is needed
   here. */
static void from_ccsidr(struct cacheflow_ram *ram, u32 level, bool instructions, u32 flags)
{
    u32 ccsidr = (u32)cacheflow_ccsidr((level - 1) << 1 | instructions);

    ram->flags = CACHEFLOW_RAM_PRESENT | flags;
    ram->level = level;
    ram->line_size = 16u << (ccsidr & 7);
    ram->ways = (ccsidr >> 3 & 0x3ff) + 1;
    ram->sets = (ccsidr >> 13 & 0x7fff) + 1;
}

static void cortex_probe(const struct shutter_backend *backend, struct cacheflow_ram *ram)
{
    from_ccsidr(&ram[CACHEFLOW_L2_TAG], 2, false, 0);
    from_ccsidr(&ram[CACHEFLOW_L1D_TAG], 1, false, CACHEFLOW_RAM_PRIVATE);
    from_ccsidr(&ram[CACHEFLOW_L1I_TAG], 1, true, CACHEFLOW_RAM_PRIVATE | CACHEFLOW_RAM_VIRTUAL);
}

static bool l2_entry(const struct cacheflow_ram *geometry, u32 set, u32 way,
                     struct cacheflow_line *line)
{
    static const u8 states[4] = {0, CACHEFLOW_E | CACHEFLOW_M, 0, CACHEFLOW_S | CACHEFLOW_O};
    u32 tag = cacheflow_ramindex_l2(RAMID_L2_TAG | way << WAY_SHIFT | (set << 6 & INDEX_MASK));
    u64 set_bits = (u64)(geometry->sets - 1) << 6;
    u64 phys;

    if (!(tag & 3))
        return false;
    phys = (u64)(tag >> 2 & 0x1fffffff) << 15;
    phys = (phys & ~set_bits) | (u64)set << 6;
    shutter_set_line(line, phys, states[tag & 3] | (tag >> 31 ? CACHEFLOW_NON_SECURE : 0));
    return true;
}

static bool l1d_entry(u32 set, u32 way, struct cacheflow_line *line)
{
    static const u8 states[4] = {0, CACHEFLOW_E, CACHEFLOW_S, CACHEFLOW_M};
    u64 data = cacheflow_ramindex_l1d(RAMID_L1D_TAG | way << WAY_SHIFT | (set << 6 & INDEX_MASK));
    u32 low = (u32)data, high = (u32)(data >> 32);

    if (!(high & 3))
        return false;
    shutter_set_line(line, (u64)(low & 0x3fffffff) << 14 | (u64)(set & 0xff) << 6,
                     states[high & 3] | (low >> 30 & 1 ? CACHEFLOW_NON_SECURE : 0));
    return true;
}

static bool l1i_entry(u32 set, u32 way, struct cacheflow_line *line)
{
    u64 data = cacheflow_ramindex_l1i(RAMID_L1I_TAG | way << WAY_SHIFT | (set << 6 & INDEX_MASK));
    u32 low = (u32)data, high = (u32)(data >> 32);

    if (!(high & 2))
        return false;
    /* Of the set, which is of the virtual address, only what lies in a page is physical too. */
    shutter_set_line(line, (u64)low << 12 | (u64)(set & 0x3f) << 6,
                     CACHEFLOW_VALID | (high & 1 ? CACHEFLOW_NON_SECURE : 0));
    return true;
}

static bool cortex_entry(u32 ram, const struct cacheflow_ram *geometry, u32 set, u32 way,
                         struct cacheflow_line *line)
{
    switch (ram) {
    case CACHEFLOW_L2_TAG:
        return l2_entry(geometry, set, way, line);
    case CACHEFLOW_L1D_TAG:
        return l1d_entry(set, way, line);
    case CACHEFLOW_L1I_TAG:
        return l1i_entry(set, way, line);
    default:
        return false;
    }
}

#define L2_BIT  (1u << CACHEFLOW_L2_TAG)
#define L1_BITS (1u << CACHEFLOW_L1D_TAG | 1u << CACHEFLOW_L1I_TAG)

const struct shutter_backend backend_cortex[] = {
    {
        .name = "cortex-a57",
        .able = able_a57,
        .probe = cortex_probe,
        .entry = cortex_entry,
        .part = 0xd07,
        .sure = L2_BIT,
        .assumed = L1_BITS,
    },
    {
        .name = "cortex-a72",
        .able = able_a72,
        .probe = cortex_probe,
        .entry = cortex_entry,
        .part = 0xd08,
        .sure = L2_BIT | L1_BITS,
    },
    {
        .name = "cortex-a15",
        .able = able_a15,
        .probe = cortex_probe,
        .entry = cortex_entry,
        .part = 0xc0f,
        .assumed = L2_BIT | L1_BITS,
    },
};
const unsigned int backend_cortex_count = ARRAY_SIZE(backend_cortex);
