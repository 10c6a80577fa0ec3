// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pagetab.ko, for tests only: entries of the page tables of other processes, as they are, and how
 * often their frames are held. It shares no code with pagectl.ko, and finds entries by the kernel's
 * own follow_pte(), which is gone since 6.12.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#ifdef CONFIG_X86
#include <asm/msr.h>
#endif

#include "pagetab.h"

static u64 types(void)
{
    u64 value;

#ifdef CONFIG_X86
    rdmsrl(MSR_IA32_CR_PAT, value);
#else
    value = read_sysreg(mair_el1);
#endif
    return value;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static int entry_of(struct vm_area_struct *vma, unsigned long addr, pte_t *entry)
{
    spinlock_t *lock;
    pte_t *at;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
    int error = follow_pte(vma, addr, &at, &lock);
#else
    int error = follow_pte(vma->vm_mm, addr, &at, &lock);
#endif

    if (!error) {
        *entry = *at;
        pte_unmap_unlock(at, lock);
    }
    return error;
}
#else
static int entry_of(struct vm_area_struct *vma, unsigned long addr, pte_t *entry)
{
    pgd_t *pgd = pgd_offset(vma->vm_mm, addr);
    p4d_t *p4d = pgd_none(*pgd) ? NULL : p4d_offset(pgd, addr);
    pud_t *pud = !p4d || p4d_none(*p4d) ? NULL : pud_offset(p4d, addr);
    pmd_t *pmd = !pud || pud_none(*pud) || pud_leaf(*pud) ? NULL : pmd_offset(pud, addr);

    if (!pmd || !pmd_present(*pmd) || pmd_leaf(*pmd))
        return -EINVAL;
    *entry = READ_ONCE(*pte_offset_kernel(pmd, addr));
    return pte_present(*entry) ? 0 : -EINVAL;
}
#endif

static int look_in(struct mm_struct *mm, struct pagetab *look)
{
    struct vm_area_struct *vma;
    pte_t entry;
    int error = -ENOENT;

    mmap_read_lock(mm);
    vma = find_vma(mm, look->addr);
    if (vma && vma->vm_start <= look->addr)
        error = entry_of(vma, look->addr, &entry);
    if (!error) {
        struct page *page = pfn_to_page(pte_pfn(entry));

        look->entry = pte_val(entry);
        look->pins = page_count(page) - (atomic_read(&page->_mapcount) + 1);
    }
    mmap_read_unlock(mm);
    return error;
}

static int look_at(struct pagetab *look)
{
    struct pid *pid = find_get_pid(look->pid);
    struct task_struct *task = pid ? get_pid_task(pid, PIDTYPE_PID) : NULL;
    struct mm_struct *mm = task ? get_task_mm(task) : NULL;
    int error = -ESRCH;

    if (mm) {
        error = look_in(mm, look);
        mmput(mm);
    }
    if (task)
        put_task_struct(task);
    put_pid(pid);
    return error;
}

static ssize_t pagetab_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
    struct pagetab look;

    if (size != sizeof(look) || copy_from_user(&look, to, size))
        return -EINVAL;
    look.types = types();
    look.error = look_at(&look);
    return copy_to_user(to, &look, size) ? -EFAULT : size;
}

static const struct file_operations operations = {.owner = THIS_MODULE, .read = pagetab_read};

static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "pagetab",
    .fops = &operations,
};

module_misc_device(device);
MODULE_LICENSE("Dual BSD/GPL");
