// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The page tables of every process, walked once for the page frames of a snapshot.
 *
 * Page tables are walked under the mmap lock of their process and inside its mappings only, which
 * is what keeps them from being freed; they are read without their spin locks, since an entry that
 * is changing at this moment may count either way.
 */
#include <linux/highmem.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <asm/pgtable.h>

#include "resolve.h"

struct walk {
    struct resolver *resolver;
    const struct vm_area_struct *vma;
    u32 pid;
    bool locked; /* a lock is held under which no memory may be asked for */
};

static u32 mapping_flags(const struct walk *walk, u64 pfn)
{
    struct page *page = resolver_page(pfn);
    u32 flags = walk->vma->vm_flags & VM_EXEC ? CACHEFLOW_OWNER_EXEC : 0;

    /* A page of a private file mapping that was written to is anonymous. */
    if (walk->vma->vm_file && !(page && PageAnon(page)))
        flags |= CACHEFLOW_OWNER_FILE;
    return flags;
}

/* A frame may stand in one mapping thousands of times: that of zeros wherever memory was read and
   never written, and what KSM has merged. The first place is noted. */
static void note(const struct walk *walk, u32 index, unsigned long virt)
{
    struct resolver *r = walk->resolver;
    const struct frame *frame = &r->frames[index];
    const struct mapping *last = frame->last == RESOLVER_NONE ? NULL : &r->mappings[frame->last];

    if (last && last->pid == walk->pid && last->virt >= walk->vma->vm_start &&
        last->virt < walk->vma->vm_end)
        return;
    resolver_note(r, index, virt, walk->pid, mapping_flags(walk, frame->pfn));
}

static void see(const struct walk *walk, u64 pfn, unsigned long virt)
{
    u32 index = walk->resolver->table[resolver_slot(walk->resolver, pfn)];

    if (index != RESOLVER_NONE)
        note(walk, index, virt);
}

/* `pages` pages from a large one. */
static void see_large(const struct walk *walk, u64 pfn, unsigned long virt, unsigned long end)
{
    struct resolver *r = walk->resolver;
    u64 pages = (end - virt) >> PAGE_SHIFT;
    u64 i;

    if (pages <= r->frames_used) {
        for (i = 0; i < pages; i++)
            see(walk, pfn + i, virt + (i << PAGE_SHIFT));
        return;
    }
    for (i = 0; i < r->frames_used; i++) {
        u64 offset = r->frames[i].pfn - pfn;

        if (r->frames[i].pfn >= pfn && offset < pages)
            note(walk, (u32)i, virt + (offset << PAGE_SHIFT));
    }
}

/* Large pages: the names changed in 5.6. */
#if KERNEL_HAS(5, 6)
#define large_pud(pud) pud_leaf(pud)
#define large_pmd(pmd) pmd_leaf(pmd)
#elif defined(CONFIG_ARM64)
#define large_pud(pud) pud_sect(pud)
#define large_pmd(pmd) pmd_sect(pmd)
#elif defined(CONFIG_ARM)
#define large_pud(pud) 0
#define large_pmd(pmd) pmd_large(pmd)
#else
#define large_pud(pud) pud_large(pud)
#define large_pmd(pmd) pmd_large(pmd)
#endif

#if defined(CONFIG_ARM) && !defined(CONFIG_ARM_LPAE)
#define large_pmd_frame(pmd) ((u64)(pmd_val(pmd) & PMD_MASK) >> PAGE_SHIFT)
#else
#define large_pmd_frame(pmd) pmd_pfn(pmd)
#endif

/* Page tables in high memory (32-bit ARM, by configuration) have to be mapped to be read. */
#ifdef CONFIG_HIGHPTE
#define map_ptes(pmd, at) pte_offset_map(pmd, at)
#define unmap_ptes(pte)   pte_unmap(pte)
#else
#define map_ptes(pmd, at) pte_offset_kernel(pmd, at)
#define unmap_ptes(pte)                                                                            \
    do {                                                                                           \
    } while (0)
#endif

static void walk_ptes(const struct walk *walk, pmd_t *pmd, unsigned long at, unsigned long end)
{
    pte_t *first, *pte;
    pmd_t entry;

    /* Since 6.6 the page table of a file may be replaced by a large page without the mmap lock, and
       is freed by RCU: what was read once is good for as long as this lasts. */
    rcu_read_lock();
    entry = READ_ONCE(*pmd);
    if (pmd_none(entry) || large_pmd(entry) || pmd_bad(entry)) {
        rcu_read_unlock();
        return;
    }
    first = map_ptes(&entry, at);
    for (pte = first; at != end; pte++, at += PAGE_SIZE) {
        pte_t found = READ_ONCE(*pte);

        if (pte_present(found))
            see(walk, pte_pfn(found), at);
    }
    unmap_ptes(first);
    rcu_read_unlock();
}

static void walk_pmds(const struct walk *walk, pud_t *pud, unsigned long at, unsigned long end)
{
    pmd_t *pmd = pmd_offset(pud, at);
    unsigned long next;

    for (; at != end; pmd++, at = next) {
        pmd_t entry = READ_ONCE(*pmd);

        next = pmd_addr_end(at, end);
        if (pmd_none(entry) || !pmd_present(entry))
            continue;
        if (large_pmd(entry)) {
            see_large(walk, large_pmd_frame(entry) + ((at & ~PMD_MASK) >> PAGE_SHIFT), at, next);
        } else {
            walk_ptes(walk, pmd, at, next);
        }
        if (!walk->locked)
            resolver_room(walk->resolver, PTRS_PER_PTE);
        /* One mapping may be of any size. */
        cond_resched();
        if (fatal_signal_pending(current))
            return;
    }
}

static void walk_puds(const struct walk *walk, p4d_t *p4d, unsigned long at, unsigned long end)
{
    pud_t *pud = pud_offset(p4d, at);
    unsigned long next;

    for (; at != end; pud++, at = next) {
        /* With two levels of tables (32-bit ARM) the macros below do not look at it. */
        pud_t __maybe_unused entry = READ_ONCE(*pud);

        next = pud_addr_end(at, end);
        if (pud_none(entry) || !pud_present(entry))
            continue;
        if (large_pud(entry)) {
#ifdef CONFIG_64BIT
            if (!walk->locked)
                resolver_room(walk->resolver, walk->resolver->frames_used);
            see_large(walk, pud_pfn(entry) + ((at & ~PUD_MASK) >> PAGE_SHIFT), at, next);
#endif
        } else if (!pud_bad(entry)) {
            walk_pmds(walk, pud, at, next);
        }
    }
}

static void walk_range(const struct walk *walk, struct mm_struct *mm, unsigned long at,
                       unsigned long end)
{
    pgd_t *pgd = pgd_offset(mm, at);
    unsigned long next, next4;

    for (; at != end; pgd++, at = next) {
        p4d_t *p4d;

        next = pgd_addr_end(at, end);
        if (pgd_none(*pgd))
            continue;
        for (p4d = p4d_offset(pgd, at); at != next; p4d++, at = next4) {
            next4 = p4d_addr_end(at, next);
            if (!p4d_none(*p4d))
                walk_puds(walk, p4d, at, next4);
        }
    }
}

/* How the lock is called changed in 5.8, the killable way of taking it came in 4.15. */
static int mm_lock(struct mm_struct *mm)
{
#if KERNEL_HAS(5, 8)
    return mmap_read_lock_killable(mm);
#elif KERNEL_HAS(4, 15)
    return down_read_killable(&mm->mmap_sem);
#else
    down_read(&mm->mmap_sem);
    return 0;
#endif
}

static void mm_unlock(struct mm_struct *mm)
{
#if KERNEL_HAS(5, 8)
    mmap_read_unlock(mm);
#else
    up_read(&mm->mmap_sem);
#endif
}

/* Processes that map the same part of a hugetlbfs file share its page tables, and one that lets go
   of them may do so without the mmap lock of the others: by the file's lock of mappings, which is
   what keeps them here. (The lock that Linux 6.1 has added for this is not exported; letting go
   takes both.) */
static void walk_hugetlb(struct walk *walk, struct mm_struct *mm)
{
    struct address_space *mapping = walk->vma->vm_file->f_mapping;
    unsigned long at = walk->vma->vm_start, next;

    for (; at != walk->vma->vm_end && !fatal_signal_pending(current); at = next) {
        next = pmd_addr_end(at, walk->vma->vm_end);
        resolver_room(walk->resolver, PTRS_PER_PTE);
        i_mmap_lock_read(mapping);
        walk->locked = true;
        walk_range(walk, mm, at, next);
        walk->locked = false;
        i_mmap_unlock_read(mapping);
    }
}

static int walk_mm(struct resolver *r, struct mm_struct *mm, u32 pid)
{
    struct walk walk = {.resolver = r, .pid = pid};
    struct vm_area_struct *vma;
    unsigned long at = 0;

    if (mm_lock(mm))
        return -EINTR;
    resolver_room(r, PTRS_PER_PTE);
    while ((vma = find_vma(mm, at)) && !fatal_signal_pending(current)) {
        walk.vma = vma;
        if (vma->vm_flags & VM_HUGETLB)
            walk_hugetlb(&walk, mm);
        else
            walk_range(&walk, mm, vma->vm_start, vma->vm_end);
        at = vma->vm_end;
        cond_resched();
    }
    mm_unlock(mm);
    return fatal_signal_pending(current) ? -EINTR : 0;
}

/* A process whose first thread has ended lives on in the others, which still have its memory. */
static struct mm_struct *process_mm(struct task_struct *process)
{
    struct mm_struct *mm = get_task_mm(process);
    struct task_struct *thread, *held;

    while (!mm) {
        held = NULL;
        rcu_read_lock();
        for_each_thread(process, thread)
        {
            if (thread != process && READ_ONCE(thread->mm) && !(thread->flags & PF_EXITING)) {
                get_task_struct(thread);
                held = thread;
                break;
            }
        }
        rcu_read_unlock();
        if (!held)
            return NULL;
        mm = get_task_mm(held);
        put_task_struct(held);
    }
    return mm;
}

/* Numbers of all processes in ascending order of their start; the caller frees them. One that
   begins later has had nothing in the cache. */
static pid_t *list_processes(u32 *count)
{
    struct task_struct *process;
    u32 room = 256;

    for (;; room *= 2) {
        pid_t *pids = vmalloc(room * sizeof(*pids));
        u32 found = 0;

        if (!pids)
            return NULL;
        rcu_read_lock();
        for_each_process(process)
        {
            if (found < room)
                pids[found] = process->pid;
            found++;
        }
        rcu_read_unlock();
        if (found <= room) {
            *count = found;
            return pids;
        }
        vfree(pids);
    }
}

static int walk_process(struct resolver *r, pid_t pid)
{
    struct task_struct *process;
    struct mm_struct *mm = NULL;
    int error = 0;

    rcu_read_lock();
    process = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
    /* It may have ended, and a thread of another one have the number now. */
    if (process && !thread_group_leader(process))
        process = NULL;
    if (process)
        get_task_struct(process);
    rcu_read_unlock();
    if (!process)
        return 0;
    mm = process_mm(process);
    if (mm) {
        error = walk_mm(r, mm, (u32)pid);
        mmput(mm);
    }
    put_task_struct(process);
    return error;
}

int resolver_walk(struct resolver *r)
{
    u32 i, count = 0;
    pid_t *pids = list_processes(&count);
    int error = pids ? 0 : -ENOMEM;

    for (i = 0; i < count && !error; i++) {
        error = walk_process(r, pids[i]);
        cond_resched();
    }
    vfree(pids);
    return error;
}
