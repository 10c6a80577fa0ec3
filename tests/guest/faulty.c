// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * faulty.ko, for tests only: an error of each kind that the kernel of tests/guest/debug is to
 * report (run-long kernel). KASAN comes last: lockdep is off after what it finds. It does not stay
 * loaded.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);
static DEFINE_SPINLOCK(spinning);

static int __init faulty_init(void)
{
    volatile char *freed = kmalloc(100, GFP_KERNEL);

    mutex_lock(&one);
    mutex_lock(&other);
    mutex_unlock(&other);
    mutex_unlock(&one);
    mutex_lock(&other);
    mutex_lock(&one);
    mutex_unlock(&one);
    mutex_unlock(&other);

    spin_lock(&spinning);
    kfree(kmalloc(100, GFP_KERNEL));
    spin_unlock(&spinning);

    if (!kmalloc(200, GFP_KERNEL) || !freed)
        return -ENOMEM;
    kfree((void *)freed);
    freed[50] = 1;
    return -ENODEV;
}
module_init(faulty_init);

MODULE_DESCRIPTION("errors that a kernel for tests has to find");
MODULE_LICENSE("Dual BSD/GPL");
