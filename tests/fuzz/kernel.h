/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.h - as much of a kernel as a device's file takes to be compiled into a fuzz target: what
 * it includes from linux/ is this file (tests/run-long makes those names). A user's memory is
 * `user`, of which `user_bytes` are there; what lies beyond cannot be copied. One thread.
 */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <linux/ioctl.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#define PAGE_SIZE          4096ul
#define PAGE_MASK          (~(PAGE_SIZE - 1))
#define ERESTARTSYS        512
#define GFP_KERNEL         0
#define MISC_DYNAMIC_MINOR 255
#define CAP_SYS_RAWIO      17
#define THIS_MODULE        NULL
#define __user
#define __init                         __attribute__((unused))
#define __exit                         __attribute__((unused))
#define ARRAY_SIZE(a)                  (sizeof(a) / sizeof *(a))
#define BUILD_BUG_ON(wrong)            _Static_assert(!(wrong), #wrong)
#define KERNEL_VERSION(a, b, c)        (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE             KERNEL_VERSION(6, 1, 0)
#define module_param(name, type, mode) struct fuzz_parameter_##name
#define MODULE_PARM_DESC(name, text)   struct fuzz_text_##name
#define MODULE_LICENSE(text)           struct fuzz_licence
#define MODULE_DESCRIPTION(text)       struct fuzz_description
#define MODULE_VERSION(text)           struct fuzz_version
#define module_init(f)                 struct fuzz_init
#define module_exit(f)                 struct fuzz_exit
#define pr_err(...)                    ((void)0)

typedef struct {
    u64 value;
} pte_t;
typedef int spinlock_t;

struct inode;
struct mm_struct;
struct page;
struct file {
    void *private_data;
};
struct file_operations {
    const void *owner;
    int (*open)(struct inode *inode, struct file *file);
    int (*release)(struct inode *inode, struct file *file);
    long (*unlocked_ioctl)(struct file *file, unsigned int command, unsigned long arg);
};
struct miscdevice {
    int minor;
    const char *name;
    unsigned mode;
    const struct file_operations *fops;
};
struct mutex {
    int locked;
};

static uint8_t *user;
static size_t user_bytes;

static inline void mutex_init(struct mutex *m)
{
    m->locked = 0;
}

static inline int mutex_lock_interruptible(struct mutex *m)
{
    if (m->locked++)
        abort();
    return 0;
}

static inline void mutex_unlock(struct mutex *m)
{
    if (--m->locked)
        abort();
}

static inline int user_has(const void *at, size_t n)
{
    const uint8_t *p = at;

    return p >= user && (size_t)(p - user) <= user_bytes && n <= user_bytes - (size_t)(p - user);
}

static inline unsigned long copy_from_user(void *to, const void *from, size_t n)
{
    if (!user_has(from, n))
        return n;
    memcpy(to, from, n);
    return 0;
}

static inline unsigned long copy_to_user(void *to, const void *from, size_t n)
{
    if (!user_has(to, n))
        return n;
    memcpy(to, from, n);
    return 0;
}

#define put_user(value, at)                                                                        \
    ({                                                                                             \
        __typeof__(*(at)) it_ = (value);                                                           \
        copy_to_user((at), &it_, sizeof it_) ? -EFAULT : 0;                                        \
    })

static inline void *ERR_PTR(long error)
{
    return (void *)error;
}

static inline long PTR_ERR(const void *p)
{
    return (long)p;
}

static inline bool IS_ERR(const void *p)
{
    return (unsigned long)p >= (unsigned long)-4095;
}

static inline void *kzalloc(size_t n, int flags)
{
    (void)flags;
    return calloc(1, n);
}

static inline void *kvmalloc_array(size_t n, size_t size, int flags)
{
    (void)flags;
    return size && n > SIZE_MAX / size ? NULL : malloc(n * size);
}

static inline void kfree(const void *p)
{
    free((void *)p);
}

#define kvfree kfree

static inline void *memdup_user(const void *from, size_t n)
{
    void *copy = malloc(n);

    if (!copy)
        return ERR_PTR(-ENOMEM);
    if (!copy_from_user(copy, from, n))
        return copy;
    free(copy);
    return ERR_PTR(-EFAULT);
}

static inline void strscpy(char *to, const char *from, size_t n)
{
    strncpy(to, from, n - 1);
    to[n - 1] = 0;
}

static inline bool capable(int what)
{
    return what == CAP_SYS_RAWIO;
}

static inline unsigned long long memparse(const char *text, char **end)
{
    return strtoull(text, end, 0);
}

static inline int misc_register(struct miscdevice *m)
{
    return m->fops ? 0 : -EINVAL;
}

static inline void misc_deregister(struct miscdevice *m)
{
    (void)m;
}

#endif
