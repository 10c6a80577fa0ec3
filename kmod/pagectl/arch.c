// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the policies are in an entry of a page table, and how caches and TLBs are made to follow.
 *
 * arm64 (ARM DDI 0487, D8.5 and D8.14): the entry's AttrIndx names one of the memory types that
 * Linux has put into MAIR_EL1; non-cacheable is Normal, Inner and Outer Non-cacheable. Its type may
 * change by break-before-make only, so an entry is first made invalid, then TLBs are invalidated.
 * x86 (Intel SDM volume 3, 12.5.2 and 12.12.4): PCD, PWT and PAT name one of the types in IA32_PAT.
 * Linux has WB, WC, UC-, UC in the first four where pat_enabled(), and WB, WT, UC-, UC where not.
 * The manual, too, has the entry made not present, TLBs and then caches flushed, in that order.
 */
#include <linux/highmem.h>
#include <linux/smp.h>

#include <asm/tlbflush.h>

#include "control.h"

#if defined(CONFIG_ARM64)

#include <asm/memory.h>

#include "../clean.h"

#define TYPE_OF(entry) ((entry)&PTE_ATTRINDX_MASK)

u32 arch_policies(void)
{
    return 1u << PAGECTL_CACHED | 1u << PAGECTL_NONCACHEABLE;
}

u8 arch_policy(u64 entry, bool large)
{
    switch (TYPE_OF(entry)) {
    case PTE_ATTRINDX(MT_NORMAL):
#ifdef MT_NORMAL_TAGGED
    case PTE_ATTRINDX(MT_NORMAL_TAGGED):
#endif
        return PAGECTL_CACHED;
    case PTE_ATTRINDX(MT_NORMAL_NC):
        return PAGECTL_NONCACHEABLE;
    default:
        return PAGECTL_OTHER;
    }
}

/* Memory with tags (MTE) has none while it is not cacheable. */
bool arch_plain(pte_t entry)
{
    return TYPE_OF(pte_val(entry)) == PTE_ATTRINDX(MT_NORMAL);
}

pte_t arch_with_policy(pte_t entry, u8 policy)
{
    u64 type =
        policy == PAGECTL_NONCACHEABLE ? PTE_ATTRINDX(MT_NORMAL_NC) : PTE_ATTRINDX(MT_NORMAL);

    return __pte((pte_val(entry) & ~(u64)PTE_ATTRINDX_MASK) | type);
}

/* Without what set_pte_at() does for a frame that is new to the process: it had it before. */
void arch_set(struct mm_struct *mm, unsigned long address, pte_t *at, pte_t entry)
{
#if KERNEL_HAS(6, 9)
    __set_pte(at, entry);
#else
    set_pte(at, entry);
#endif
}

/* What flush_tlb_page() does; since 6.6 that calls what modules have not. */
void arch_flush_tlbs(struct mm_struct *mm, const unsigned long *addresses, u32 count)
{
    u32 i;

    dsb(ishst);
    for (i = 0; i < count; i++) {
        unsigned long operand = __TLBI_VADDR(addresses[i], ASID(mm));

        __tlbi(vale1is, operand);
        __tlbi_user(vale1is, operand);
    }
    dsb(ish);
}

void arch_clean(struct page *page)
{
    clean_page(page_address(page));
}

void arch_clean_end(void)
{
    asm volatile("ic ialluis\n\tdsb ish\n\tisb" ::: "memory");
}

#elif defined(CONFIG_X86_64)

#include <asm/cacheflush.h>
#include <asm/processor-flags.h>
#include <asm/special_insns.h>
#if __has_include(<asm/memtype.h>)
#include <asm/memtype.h>
#else
#include <asm/pat.h>
#endif

#define TYPE_MASK ((u64)(_PAGE_PWT | _PAGE_PCD | _PAGE_PAT))

u32 arch_policies(void)
{
    return 1u << PAGECTL_CACHED | 1u << PAGECTL_UNCACHED |
           (pat_enabled() ? 1u << PAGECTL_WRITE_COMBINING : 0);
}

/* In that of a large page PAT has another place, and its own says that the page is large. */
u8 arch_policy(u64 entry, bool large)
{
    if (large)
        entry = pgprot_val(pgprot_large_2_4k(__pgprot(entry)));
    switch (entry & TYPE_MASK) {
    case 0:
        return PAGECTL_CACHED;
    case _PAGE_PWT:
        return pat_enabled() ? PAGECTL_WRITE_COMBINING : PAGECTL_OTHER;
    case _PAGE_PWT | _PAGE_PCD:
        return PAGECTL_UNCACHED;
    default:
        return PAGECTL_OTHER;
    }
}

bool arch_plain(pte_t entry)
{
    return (pte_val(entry) & TYPE_MASK) == 0;
}

pte_t arch_with_policy(pte_t entry, u8 policy)
{
    u64 type = policy == PAGECTL_UNCACHED          ? _PAGE_PCD | _PAGE_PWT
               : policy == PAGECTL_WRITE_COMBINING ? _PAGE_PWT
                                                   : 0;

    return __pte((pte_val(entry) & ~TYPE_MASK) | type);
}

/* set_pte() would not count the entry, which has been counted as cleared (PAGE_TABLE_CHECK). */
void arch_set(struct mm_struct *mm, unsigned long address, pte_t *at, pte_t entry)
{
    set_pte_at(mm, address, at, entry);
}

/* Writing CR4 with another PGE invalidates everything, of all PCIDs (SDM volume 3, 4.10.4.1). What
   Linux has for single pages is not there for modules. */
static void flush_here(void *unused)
{
    unsigned long cr4, cr3;

    asm volatile("mov %%cr4, %0" : "=r"(cr4));
    if (cr4 & X86_CR4_PGE) {
        asm volatile("mov %0, %%cr4" ::"r"(cr4 ^ X86_CR4_PGE) : "memory");
        asm volatile("mov %0, %%cr4" ::"r"(cr4) : "memory");
    } else {
        asm volatile("mov %%cr3, %0\n\tmov %0, %%cr3" : "=r"(cr3)::"memory");
    }
}

void arch_flush_tlbs(struct mm_struct *mm, const unsigned long *addresses, u32 count)
{
    on_each_cpu(flush_here, NULL, 1);
}

/* Instruction caches follow. */
void arch_clean(struct page *page)
{
    clflush_cache_range(page_address(page), PAGE_SIZE);
}

void arch_clean_end(void)
{
}

#endif
