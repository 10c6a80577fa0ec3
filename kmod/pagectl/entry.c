// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Entries of page tables. The kernel's own walkers are not there for modules in most versions, or
 * complain of large pages; a table is locked as the kernel does it (pte_offset_map_lock()): what
 * points to the table is read, the table's lock taken, and what points to it compared.
 */
#include <linux/rcupdate.h>

#include <asm/pgtable.h>

#include "control.h"

/* Large pages: the names changed in 5.6. */
#if KERNEL_HAS(5, 6)
#define large_pud(pud) pud_leaf(pud)
#define large_pmd(pmd) pmd_leaf(pmd)
#elif defined(CONFIG_ARM64)
#define large_pud(pud) pud_sect(pud)
#define large_pmd(pmd) pmd_sect(pmd)
#else
#define large_pud(pud) pud_large(pud)
#define large_pmd(pmd) pmd_large(pmd)
#endif

/* NULL where no level below is there; *large tells of a large page in this one. */
static pmd_t *find_pmd(struct mm_struct *mm, unsigned long address, struct entry *large)
{
    pgd_t *pgd = pgd_offset(mm, address);
    p4d_t *p4d;
    pud_t *pud, found;
    pmd_t *pmd, entry;

    if (pgd_none(*pgd))
        return NULL;
    p4d = p4d_offset(pgd, address);
    if (p4d_none(*p4d))
        return NULL;
    pud = pud_offset(p4d, address);
    found = READ_ONCE(*pud);
    if (pud_none(found) || !pud_present(found))
        return NULL;
    if (large_pud(found)) {
        large->large = large->present = true;
        large->policy = arch_policy(pud_val(found), true);
        large->frame = pud_pfn(found) + ((address & ~PUD_MASK) >> PAGE_SHIFT);
        return NULL;
    }
    if (pud_bad(found))
        return NULL;
    pmd = pmd_offset(pud, address);
    entry = READ_ONCE(*pmd);
    if (pmd_none(entry) || !pmd_present(entry))
        return NULL;
    if (large_pmd(entry)) {
        large->large = large->present = true;
        large->policy = arch_policy(pmd_val(entry), true);
        large->frame = pmd_pfn(entry) + ((address & ~PMD_MASK) >> PAGE_SHIFT);
        return NULL;
    }
    return pmd_bad(entry) ? NULL : pmd;
}

static bool lock_table(struct mm_struct *mm, unsigned long address, struct table *table,
                       struct entry *large)
{
    for (;;) {
        pmd_t *pmd, entry;

        /* Since 6.6 the table of a file may be replaced without the mmap lock; RCU frees it. */
        rcu_read_lock();
        pmd = find_pmd(mm, address, large);
        if (!pmd)
            break;
        entry = READ_ONCE(*pmd);
        if (pmd_none(entry) || large_pmd(entry) || pmd_bad(entry))
            break;
        table->lock = pte_lockptr(mm, &entry);
        table->first = pte_offset_kernel(&entry, address & PMD_MASK);
        spin_lock(table->lock);
        if (pmd_val(READ_ONCE(*pmd)) == pmd_val(entry))
            return true;
        spin_unlock(table->lock);
        rcu_read_unlock();
    }
    rcu_read_unlock();
    return false;
}

bool table_lock(struct mm_struct *mm, unsigned long address, struct table *table)
{
    struct entry unused = {0};

    return lock_table(mm, address, table, &unused);
}

void table_unlock(struct table *table)
{
    spin_unlock(table->lock);
    rcu_read_unlock();
}

pte_t *table_entry(const struct table *table, unsigned long address)
{
    return table->first + ((address & ~PMD_MASK) >> PAGE_SHIFT);
}

struct entry entry_read(struct mm_struct *mm, unsigned long address)
{
    struct entry entry = {0};
    struct table table;
    pte_t found;

    if (!lock_table(mm, address, &table, &entry))
        return entry;
    found = READ_ONCE(*table_entry(&table, address));
    if (pte_present(found)) {
        entry.present = true;
        entry.frame = pte_pfn(found);
        entry.policy = arch_policy(pte_val(found), false);
        entry.plain = arch_plain(found);
    }
    table_unlock(&table);
    return entry;
}

struct page *entry_page(struct mm_struct *mm, unsigned long address)
{
    struct page *page = NULL;
    struct table table;
    pte_t found;

    if (!table_lock(mm, address, &table))
        return NULL;
    found = READ_ONCE(*table_entry(&table, address));
    if (pte_present(found) && !pte_special(found)) {
        page = pfn_to_page(pte_pfn(found));
        get_page(page);
    }
    table_unlock(&table);
    return page;
}

/*
 * Nobody sees the entries while they are not valid: a page fault waits for the table's lock and
 * looks again. Hardware may set the bits "accessed" and "dirty" up to the moment when an entry is
 * taken away.
 */
void entries_change(struct mm_struct *mm, const struct table *table, const unsigned long *addresses,
                    u32 count, u8 policy)
{
    pte_t entries[ENTRIES_MOST];
    u32 i;

    for (i = 0; i < count; i++)
        entries[i] = ptep_get_and_clear(mm, addresses[i], table_entry(table, addresses[i]));
    arch_flush_tlbs(mm, addresses, count);
    /* No access by the old type is under way any more, none by the new type has begun. */
    for (i = 0; i < count; i++)
        arch_clean(pfn_to_page(pte_pfn(entries[i])));
    arch_clean_end();
    for (i = 0; i < count; i++)
        arch_set(mm, addresses[i], table_entry(table, addresses[i]),
                 arch_with_policy(entries[i], policy));
}
