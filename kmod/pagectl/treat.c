// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The requests that treat pages of a process: comparing its mappings, setting, moving and asking.
 * The mmap lock is held for reading all through one, so mappings do not change meanwhile.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "target.h"

/* How often a page is looked at anew before it counts as one that cannot be held. */
#define TRIES 100

/* ---- holding pages ---- */

/* Writing gives the process a page of its own where it would get one later: instead of the page of
   zeros, of one that it shares with a child, of a private file's. */
static struct page *page_hold(struct mm_struct *mm, struct vm_area_struct *vma,
                              unsigned long address)
{
    unsigned int flags = FOLL_SPLIT_PMD;
    struct page *page;
    long got;

    if (vma->vm_flags & VM_WRITE)
        flags |= FOLL_WRITE;
    else if (!(vma->vm_flags & VM_READ))
        flags |= FOLL_FORCE; /* it may be executed only */
#if KERNEL_HAS(6, 5)
    got = pin_user_pages_remote(mm, address, 1, flags, &page, NULL);
#elif KERNEL_HAS(5, 9)
    got = pin_user_pages_remote(mm, address, 1, flags, &page, NULL, NULL);
#elif KERNEL_HAS(5, 6)
    got = pin_user_pages_remote(NULL, mm, address, 1, flags, &page, NULL, NULL);
#else
    got = get_user_pages_remote(NULL, mm, address, 1, flags, &page, NULL, NULL);
#endif
    return got == 1 ? page : NULL;
}

/* ---- mappings ---- */

static u32 mapping_flags(const struct vm_area_struct *vma)
{
    return (vma->vm_flags & VM_READ ? PAGECTL_READ : 0) |
           (vma->vm_flags & VM_WRITE ? PAGECTL_WRITE : 0) |
           (vma->vm_flags & VM_EXEC ? PAGECTL_EXEC : 0) |
           (vma->vm_flags & VM_MAYSHARE ? PAGECTL_SHARED : 0);
}

static long compare(struct mm_struct *mm, const struct pagectl_mapping *mappings, u32 count)
{
    unsigned long at = 0;
    u32 i;

    for (i = 0; i < count; i++) {
        const struct vm_area_struct *vma = find_vma(mm, at);

        if (!vma || vma->vm_start != mappings[i].start || vma->vm_end != mappings[i].end ||
            mapping_flags(vma) != mappings[i].flags)
            return i;
        at = vma->vm_end;
    }
    return find_vma(mm, at) ? (long)i : -1;
}

/* 0, and the mmap lock and a reference are held, or an error. */
static long target_enter(struct target *target)
{
    if (!mmget_not_zero(target->mm))
        return -ESRCH;
    if (!mm_lock(target->mm))
        return 0;
    mmput(target->mm);
    return -EINTR;
}

static void target_leave(struct target *target)
{
    mm_unlock(target->mm);
    mmput(target->mm);
}

long target_compare(struct target *target, const struct pagectl_mapping *mappings, u32 count)
{
    long result = target_enter(target);

    if (result)
        return result;
    result = compare(target->mm, mappings, count);
    target_leave(target);
    return result;
}

static long enter_compared(struct target *target, const struct pagectl_mapping *mappings, u32 total)
{
    long error = target_enter(target);

    if (error || compare(target->mm, mappings, total) == -1)
        return error;
    target_leave(target);
    return -ESTALE;
}

/* ---- single pages: the mmap lock is held ---- */

/* What a page is by its mapping. */
static enum pagectl_result mapping_kind(struct mm_struct *mm, unsigned long address,
                                        struct vm_area_struct **found)
{
    struct vm_area_struct *vma = find_vma(mm, address);

    if (!vma || vma->vm_start > address || !(vma->vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
        return PAGECTL_UNMAPPED;
    *found = vma;
    /* Mappings of the kernel's own have a name and no file: vdso, uprobes. */
    if ((vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP)) ||
        (!vma->vm_file && vma->vm_ops && vma->vm_ops->name))
        return PAGECTL_SPECIAL;
    return vma->vm_flags & VM_HUGETLB ? PAGECTL_HUGE : PAGECTL_DONE;
}

/* Gives the page a record of policy "cached", unless it has one. */
static enum pagectl_result take(struct target *target, unsigned long address)
{
    struct vm_area_struct *vma;
    enum pagectl_result result = mapping_kind(target->mm, address, &vma);
    struct record *record;
    struct entry entry;
    bool there;

    if (result != PAGECTL_DONE)
        return result;
    spin_lock(&target->lock);
    there = record_find(target, address) != NULL;
    spin_unlock(&target->lock);
    if (there)
        return PAGECTL_DONE;
    record = kzalloc(sizeof(*record), GFP_KERNEL);
    if (!record)
        return PAGECTL_NO_MEMORY;
    record->address = address;
    record->page = page_hold(target->mm, vma, address);
    if (!record->page) {
        kfree(record);
        return PAGECTL_NO_MEMORY;
    }
    entry = entry_read(target->mm, address);
    if (entry.present && (entry.large || !entry.plain)) {
        page_let_go(record->page);
        kfree(record);
        return entry.large ? PAGECTL_HUGE : PAGECTL_SPECIAL;
    }
    spin_lock(&target->lock);
    record_insert(target, record);
    spin_unlock(&target->lock);
    return PAGECTL_DONE;
}

/* Changes those of the pages, all of one page table and not all unmapped, that have a record and
   stand. The others stay PAGECTL_NOT_TRIED, and have lost their record. */
static void change(struct target *target, struct pagectl_page *pages, u32 count, u8 policy)
{
    unsigned long addresses[ENTRIES_MOST];
    struct table table;
    u32 i, k, used = 0;

    spin_lock(&target->lock);
    if (!target->changing && table_lock(target->mm, pages[0].addr, &table)) {
        for (i = 0; i < count; i++) {
            struct record *record = record_find(target, pages[i].addr);

            if (pages[i].result != PAGECTL_NOT_TRIED || !record)
                continue;
            for (k = 0; k < used && addresses[k] != record->address; k++)
                continue;
            pages[i].result = PAGECTL_DONE;
            if (k < used)
                continue; /* it is listed twice */
            if (record_stands(record, &table)) {
                record->policy = policy;
                addresses[used++] = record->address;
            } else {
                pages[i].result = PAGECTL_NOT_TRIED;
                record_free(target, record);
            }
        }
        if (used)
            entries_change(target->mm, &table, addresses, used, policy);
        table_unlock(&table);
    }
    spin_unlock(&target->lock);
}

/* Those of one page table. False when the caller is to die. */
static bool set_some(struct target *target, struct pagectl_page *pages, u32 count, u8 policy)
{
    u32 i, tries, left = count;

    for (tries = 0; left && tries < TRIES; tries++) {
        if (fatal_signal_pending(current))
            return false;
        if (tries)
            schedule_timeout_killable(1);
        for (i = left = 0; i < count; i++) {
            enum pagectl_result result = PAGECTL_DONE;

            if (pages[i].result == PAGECTL_NOT_TRIED)
                result = take(target, pages[i].addr);
            if (result != PAGECTL_DONE)
                pages[i].result = result;
            left += pages[i].result == PAGECTL_NOT_TRIED;
        }
        if (left)
            change(target, pages, count, policy);
        for (i = left = 0; i < count; i++)
            left += pages[i].result == PAGECTL_NOT_TRIED;
    }
    for (i = 0; i < count; i++)
        if (pages[i].result == PAGECTL_NOT_TRIED)
            pages[i].result = PAGECTL_NO_MEMORY;
    return true;
}

/* What is now. Only the page tables of what is mapped are held by the mmap lock; at another address
   those of the kernel may be, which it frees when it likes and has no lock for. */
static void report(struct target *target, struct pagectl_pages *pages)
{
    struct vm_area_struct *vma;
    u32 i;

    pages->failed = 0;
    for (i = 0; i < pages->count; i++) {
        struct entry entry = {0};

        if (mapping_kind(target->mm, pages->page[i].addr, &vma) != PAGECTL_UNMAPPED)
            entry = entry_read(target->mm, pages->page[i].addr);
        pages->page[i].frame = entry.frame;
        pages->page[i].policy = entry.policy;
        pages->page[i].pool = entry.present && pool_holds(entry.frame);
        pages->failed += pages->page[i].result != PAGECTL_DONE;
    }
}

/* ---- requests ---- */

long target_set(struct target *target, const struct pagectl_mapping *mappings, u32 total,
                struct pagectl_pages *pages)
{
    long error = enter_compared(target, mappings, total);
    u32 i, end;

    if (error)
        return error;
    for (i = 0; i < pages->count && !error; i = end) {
        for (end = i + 1; end < pages->count && end - i < ENTRIES_MOST; end++)
            if ((pages->page[end].addr ^ pages->page[i].addr) & PMD_MASK)
                break;
        if (!set_some(target, &pages->page[i], end - i, pages->policy))
            error = -EINTR;
        cond_resched();
    }
    report(target, pages);
    target_leave(target);
    return error;
}

/* Faults a page in that is to move, or says why it cannot. */
static enum pagectl_result fault_in(struct target *target, unsigned long address)
{
    struct vm_area_struct *vma;
    enum pagectl_result result = mapping_kind(target->mm, address, &vma);
    struct page *page;

    if (result != PAGECTL_DONE)
        return result;
    page = page_hold(target->mm, vma, address);
    if (!page)
        return PAGECTL_NO_MEMORY;
    page_let_go(page);
    return PAGECTL_NOT_TRIED;
}

static enum pagectl_result move(struct target *target, unsigned long address)
{
    struct entry entry = entry_read(target->mm, address);
    struct page *page;

    if (entry.large)
        return PAGECTL_HUGE;
    if (entry.present && pool_holds_of(target, entry.frame))
        return PAGECTL_DONE;
    page = entry_page(target->mm, address);
    return page ? pool_move(target, page) : PAGECTL_PINNED;
}

/* One with a policy has it again in its new place. */
static bool migrate_one(struct target *target, struct pagectl_page *page)
{
    struct pagectl_page again = {.addr = page->addr, .result = PAGECTL_NOT_TRIED};
    const struct record *record;
    bool had;
    u8 policy = 0;

    spin_lock(&target->lock);
    record = record_find(target, page->addr);
    had = record != NULL;
    if (had)
        policy = record->policy;
    spin_unlock(&target->lock);
    if (had)
        restore_range(target, page->addr, page->addr + PAGE_SIZE, true);
    page->result = move(target, page->addr);
    if (!had)
        return true;
    if (!set_some(target, &again, 1, policy))
        return false;
    if (again.result != PAGECTL_DONE)
        page->result = again.result;
    return true;
}

long target_migrate(struct target *target, const struct pagectl_mapping *mappings, u32 total,
                    struct pagectl_pages *pages)
{
    long error = enter_compared(target, mappings, total);
    u32 i;

    if (error)
        return error;
    for (i = 0; i < pages->count && !fatal_signal_pending(current); i++)
        pages->page[i].result = fault_in(target, pages->page[i].addr);
    pool_prepare();
    for (i = 0; i < pages->count && !error; i++) {
        struct pagectl_page *page = &pages->page[i];

        if (fatal_signal_pending(current) ||
            (page->result == PAGECTL_NOT_TRIED && !migrate_one(target, page)))
            error = -EINTR;
        cond_resched();
    }
    report(target, pages);
    target_leave(target);
    return error;
}

long target_query(struct target *target, struct pagectl_pages *pages)
{
    long error = target_enter(target);
    struct vm_area_struct *vma;
    u32 i;

    if (error)
        return error;
    for (i = 0; i < pages->count; i++) {
        struct pagectl_page *page = &pages->page[i];

        page->result = mapping_kind(target->mm, page->addr, &vma);
        if (page->result == PAGECTL_DONE && entry_read(target->mm, page->addr).large)
            page->result = PAGECTL_HUGE;
    }
    report(target, pages);
    target_leave(target);
    return 0;
}
