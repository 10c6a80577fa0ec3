// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A process whose pages are treated. Each such page has a record and is pinned, so that its frame
 * stays what it is. Pages can still be taken away from their place (munmap, mremap, mprotect, fork,
 * exec, the end), by the process or by the kernel: whoever changes a part of an address space tells
 * the MMU notifiers first, and what is treated there is restored before that. So no entry with a
 * policy of ours is ever moved, copied to a child, or left.
 *
 * The kernel may be at changing something while a page is being treated (`changing`): then it is
 * waited for. After that the page is looked at anew.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "target.h"

static DEFINE_MUTEX(targets_lock);
static LIST_HEAD(targets);

/* ---- the mmap lock, called otherwise before 5.8 ---- */

int mm_lock(struct mm_struct *mm)
{
#if KERNEL_HAS(5, 8)
    return mmap_read_lock_killable(mm);
#else
    return down_read_killable(&mm->mmap_sem);
#endif
}

static void mm_lock_always(struct mm_struct *mm)
{
#if KERNEL_HAS(5, 8)
    mmap_read_lock(mm);
#else
    down_read(&mm->mmap_sem);
#endif
}

void mm_unlock(struct mm_struct *mm)
{
#if KERNEL_HAS(5, 8)
    mmap_read_unlock(mm);
#else
    up_read(&mm->mmap_sem);
#endif
}

void page_let_go(struct page *page)
{
#if KERNEL_HAS(5, 6)
    unpin_user_page(page);
#else
    put_page(page);
#endif
}

/* ---- records: under the target's lock, but for restore_range() ---- */

/* The one of the lowest address from there on, or NULL. */
static struct record *record_from(struct target *target, unsigned long address)
{
    struct rb_node *node = target->records.rb_node;
    struct record *found = NULL;

    while (node) {
        struct record *record = rb_entry(node, struct record, node);

        if (record->address >= address) {
            found = record;
            node = node->rb_left;
        } else {
            node = node->rb_right;
        }
    }
    return found;
}

struct record *record_find(struct target *target, unsigned long address)
{
    struct record *record = record_from(target, address);

    return record && record->address == address ? record : NULL;
}

/* There is none of that address. */
void record_insert(struct target *target, struct record *record)
{
    struct rb_node **at = &target->records.rb_node, *parent = NULL;

    while (*at) {
        parent = *at;
        at = record->address < rb_entry(parent, struct record, node)->address ? &parent->rb_left
                                                                              : &parent->rb_right;
    }
    rb_link_node(&record->node, parent, at);
    rb_insert_color(&record->node, &target->records);
}

void record_free(struct target *target, struct record *record)
{
    rb_erase(&record->node, &target->records);
    page_let_go(record->page);
    kfree(record);
}

/* Whether the page is where it was. */
bool record_stands(const struct record *record, const struct table *table)
{
    pte_t entry = READ_ONCE(*table_entry(table, record->address));

    return pte_present(entry) && pte_pfn(entry) == page_to_pfn(record->page);
}

/* Restores pages of one page table, the first of which is given, below `end`. With the lock. */
static void restore_some(struct target *target, struct record *record, unsigned long end)
{
    unsigned long addresses[ENTRIES_MOST], area = record->address & PMD_MASK;
    struct record *done[ENTRIES_MOST];
    u32 count = 0, all = 0;
    struct table table;
    bool there = table_lock(target->mm, record->address, &table);

    while (record && record->address < end && (record->address & PMD_MASK) == area &&
           all < ENTRIES_MOST) {
        if (record->policy != PAGECTL_CACHED) {
            if (there && record_stands(record, &table))
                addresses[count++] = record->address;
            else
                arch_clean(record->page);
        }
        done[all++] = record;
        record = rb_entry_safe(rb_next(&record->node), struct record, node);
    }
    if (count)
        entries_change(target->mm, &table, addresses, count, PAGECTL_CACHED);
    if (there)
        table_unlock(&table);
    while (all--)
        record_free(target, done[all]);
}

void restore_range(struct target *target, unsigned long start, unsigned long end, bool may_sleep)
{
    struct record *record;
    bool found;

    do {
        spin_lock(&target->lock);
        record = record_from(target, start);
        found = record && record->address < end;
        if (found)
            restore_some(target, record, end);
        spin_unlock(&target->lock);
        if (may_sleep)
            cond_resched();
    } while (found);
}

/* ---- what becomes of the address space ---- */

static int on_change(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
    struct target *target = container_of(notifier, struct target, notifier);

    spin_lock(&target->lock);
    target->changing++;
    spin_unlock(&target->lock);
    restore_range(target, range->start, range->end, mmu_notifier_range_blockable(range));
    return 0;
}

static void on_changed(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
    struct target *target = container_of(notifier, struct target, notifier);

    spin_lock(&target->lock);
    target->changing--;
    spin_unlock(&target->lock);
}

/* The last user is gone, and the pages are about to go. */
static void on_end(struct mmu_notifier *notifier, struct mm_struct *mm)
{
    struct target *target = container_of(notifier, struct target, notifier);

    restore_range(target, 0, ULONG_MAX, true);
}

static const struct mmu_notifier_ops notifier_operations = {
    .invalidate_range_start = on_change,
    .invalidate_range_end = on_changed,
    .release = on_end,
};

/* ---- making and undoing ---- */

static struct mm_struct *find_mm(pid_t number)
{
    struct pid *pid = number > 0 ? find_get_pid(number) : NULL;
    struct task_struct *task = pid ? get_pid_task(pid, PIDTYPE_PID) : NULL;
    struct mm_struct *mm = NULL;

    if (task && thread_group_leader(task))
        mm = get_task_mm(task);
    if (task)
        put_task_struct(task);
    put_pid(pid);
    return mm;
}

static bool is_taken(const struct mm_struct *mm)
{
    const struct target *other;

    list_for_each_entry(other, &targets, all) if (other->mm == mm) return true;
    return false;
}

struct target *target_make(pid_t pid)
{
    struct mm_struct *mm = find_mm(pid);
    struct target *target = NULL;
    int error;

    if (!mm)
        return ERR_PTR(-ESRCH);
    mutex_lock(&targets_lock);
    /* What ptrace(2) would ask for is not there for modules; this is as strict as it is at most. */
    error = !ns_capable(mm->user_ns, CAP_SYS_PTRACE) ? -EPERM : is_taken(mm) ? -EBUSY : 0;
    if (!error) {
        target = kzalloc(sizeof(*target), GFP_KERNEL);
        error = target ? 0 : -ENOMEM;
    }
    if (!error) {
        target->mm = mm;
        spin_lock_init(&target->lock);
        target->records = RB_ROOT;
        target->notifier.ops = &notifier_operations;
        error = mmu_notifier_register(&target->notifier, mm);
    }
    if (!error)
        list_add(&target->all, &targets);
    mutex_unlock(&targets_lock);
    mmput(mm);
    if (!error)
        return target;
    kfree(target);
    return ERR_PTR(error);
}

long target_restore(struct target *target)
{
    struct mm_struct *mm = target->mm;
    bool lives = mmget_not_zero(mm);

    if (lives) {
        mm_lock_always(mm);
        restore_range(target, 0, ULONG_MAX, true);
        mm_unlock(mm);
        mmput(mm);
    }
    if (pool_there() && pool_retake(target, false))
        return -EBUSY;
    return lives ? 0 : -ESRCH;
}

void target_free(struct target *target)
{
    target_restore(target);
    mutex_lock(&targets_lock);
    list_del(&target->all);
    mutex_unlock(&targets_lock);
    /* Where the process is ending, this calls on_end() or waits for it. */
    mmu_notifier_unregister(&target->notifier, target->mm);
    if (pool_there()) {
        pool_retake(target, true);
        pool_retake(NULL, true); /* and what others could not have back */
    }
    kfree(target);
}
