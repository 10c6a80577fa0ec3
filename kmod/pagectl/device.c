// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pagectl.ko: pages of a process become cacheable or not, or move to a pool of memory, by
 * /dev/pagectl. This file has the device and checks what is asked for; pagectl.h is what a program
 * sees of it, control.h how the module is put together, pagectl(4) what a user has to know.
 *
 * A descriptor has one process, and what it did to it is undone when it is closed. Requests of one
 * descriptor wait for each other, those of others do not.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "control.h"

#define VERSION "0.1.0"

static char *pool = "";
module_param(pool, charp, 0444);
MODULE_PARM_DESC(pool, "ADDRESS,SIZE of memory that pages move to, bytes [none]");

struct client {
    struct mutex lock;
    struct target *target; /* NULL: none */
    struct pagectl_mapping *mappings;
    u32 have, total; /* the list is complete when they are equal and not 0 */
};

/* ---- requests: each is called with the mutex held ---- */

static long client_info(void __user *user)
{
    struct pagectl_info info = {.abi = PAGECTL_ABI, .page_size = PAGE_SIZE};

    strscpy(info.version, VERSION, sizeof(info.version));
    info.policies = arch_policies();
    pool_info(&info);
    return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
}

static void forget_mappings(struct client *client)
{
    kvfree(client->mappings);
    client->mappings = NULL;
    client->have = client->total = 0;
}

static void forget_target(struct client *client)
{
    if (client->target)
        target_free(client->target);
    client->target = NULL;
    forget_mappings(client);
}

static long client_target(struct client *client, void __user *user)
{
    struct pagectl_target wanted;

    if (copy_from_user(&wanted, user, sizeof(wanted)))
        return -EFAULT;
    if (wanted.reserved)
        return -EINVAL;
    /* First, so that the same process may be named again. */
    forget_target(client);
    if (wanted.pid == 0)
        return 0;
    client->target = target_make(wanted.pid);
    if (!IS_ERR(client->target))
        return 0;
    wanted.pid = PTR_ERR(client->target);
    client->target = NULL;
    return wanted.pid;
}

static bool mappings_valid(const struct client *client, const struct pagectl_expect *expect)
{
    u64 at = expect->first ? client->mappings[expect->first - 1].end : 0;
    u32 i;

    for (i = 0; i < expect->count; i++) {
        const struct pagectl_mapping *mapping = &expect->mapping[i];

        if (mapping->start < at || mapping->end <= mapping->start || mapping->reserved ||
            (mapping->flags & ~(PAGECTL_READ | PAGECTL_WRITE | PAGECTL_EXEC | PAGECTL_SHARED)))
            return false;
        at = mapping->end;
    }
    return true;
}

static long take_mappings(struct client *client, struct pagectl_expect *expect)
{
    u32 have = expect->first ? client->have : 0;
    long differs;

    if (expect->count == 0 || expect->count > PAGECTL_MAPPINGS || expect->first != have ||
        expect->total > PAGECTL_MAPPINGS_MOST || expect->total < have + expect->count ||
        (expect->first && expect->total != client->total) || !mappings_valid(client, expect))
        return -EINVAL;
    if (!expect->first) {
        forget_mappings(client);
        client->mappings = kvmalloc_array(expect->total, sizeof(*client->mappings), GFP_KERNEL);
        if (!client->mappings)
            return -ENOMEM;
        client->total = expect->total;
    }
    memcpy(client->mappings + have, expect->mapping, expect->count * sizeof(*expect->mapping));
    client->have = have + expect->count;
    if (client->have < client->total)
        return 0;
    differs = target_compare(client->target, client->mappings, client->total);
    if (differs < -1)
        return differs;
    expect->differs = differs < 0 ? 0 : (u32)differs;
    return differs < 0 ? 0 : -ESTALE;
}

static long client_expect(struct client *client, struct pagectl_expect __user *user)
{
    struct pagectl_expect *expect;
    long error;

    if (!client->target)
        return -ESRCH;
    expect = memdup_user(user, sizeof(*expect));
    if (IS_ERR(expect))
        return PTR_ERR(expect);
    error = take_mappings(client, expect);
    if (error == -ESTALE && put_user(expect->differs, &user->differs))
        error = -EFAULT;
    kfree(expect);
    return error;
}

static long pages_valid(unsigned int command, struct pagectl_pages *pages)
{
    u32 i, k;

    if (pages->count > PAGECTL_PAGES || pages->reserved)
        return -EINVAL;
    for (i = 0; i < pages->count; i++) {
        struct pagectl_page *page = &pages->page[i];

        for (k = 0; k < ARRAY_SIZE(page->reserved); k++)
            if (page->reserved[k])
                return -EINVAL;
        if (page->addr & ~PAGE_MASK)
            return -EINVAL;
        page->result = PAGECTL_NOT_TRIED;
    }
    if (command != PAGECTL_SET)
        return pages->policy                                 ? -EINVAL
               : command == PAGECTL_MIGRATE && !pool_there() ? -EOPNOTSUPP
                                                             : 0;
    if (pages->policy > PAGECTL_WRITE_COMBINING)
        return -EINVAL;
    return arch_policies() >> pages->policy & 1 ? 0 : -EOPNOTSUPP;
}

static long treat(struct client *client, unsigned int command, struct pagectl_pages *pages)
{
    const struct pagectl_mapping *mappings = client->mappings;

    if (command == PAGECTL_QUERY)
        return target_query(client->target, pages);
    if (client->total == 0 || client->have != client->total)
        return -ESTALE;
    if (command == PAGECTL_SET)
        return target_set(client->target, mappings, client->total, pages);
    return target_migrate(client->target, mappings, client->total, pages);
}

static long client_pages(struct client *client, unsigned int command,
                         struct pagectl_pages __user *user)
{
    struct pagectl_pages *pages = memdup_user(user, sizeof(*pages));
    long error;

    if (IS_ERR(pages))
        return PTR_ERR(pages);
    error = pages_valid(command, pages);
    if (!error)
        error = client->target ? treat(client, command, pages) : -ESRCH;
    if ((!error || error == -EINTR) &&
        copy_to_user(user, pages, offsetof(struct pagectl_pages, page[pages->count])))
        error = -EFAULT;
    kfree(pages);
    return error;
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
    struct client *client = file->private_data;
    void __user *user = (void __user *)arg;
    long error;

    if (mutex_lock_interruptible(&client->lock))
        return -ERESTARTSYS;
    switch (command) {
    case PAGECTL_INFO:
        error = client_info(user);
        break;
    case PAGECTL_TARGET:
        error = client_target(client, user);
        break;
    case PAGECTL_EXPECT:
        error = client_expect(client, user);
        break;
    case PAGECTL_SET:
    case PAGECTL_MIGRATE:
    case PAGECTL_QUERY:
        error = client_pages(client, command, user);
        break;
    case PAGECTL_RESTORE:
        error = client->target ? target_restore(client->target) : -ESRCH;
        break;
    default:
        error = -ENOTTY;
    }
    mutex_unlock(&client->lock);
    return error;
}

#ifdef CONFIG_COMPAT
static long device_compat_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
    return device_ioctl(file, command, (unsigned long)compat_ptr(arg));
}
#endif

/* ---- the rest of the device ---- */

static int device_open(struct inode *inode, struct file *file)
{
    struct client *client;

    if (!capable(CAP_SYS_RAWIO))
        return -EPERM;
    client = kzalloc(sizeof(*client), GFP_KERNEL);
    if (!client)
        return -ENOMEM;
    mutex_init(&client->lock);
    file->private_data = client;
    return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
    struct client *client = file->private_data;

    forget_target(client);
    kfree(client);
    return 0;
}

static const struct file_operations device_operations = {
    .owner = THIS_MODULE,
    .open = device_open,
    .release = device_release,
    .unlocked_ioctl = device_ioctl,
#ifdef CONFIG_COMPAT
    .compat_ioctl = device_compat_ioctl,
#endif
};

static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "pagectl",
    .mode = 0600,
    .fops = &device_operations,
};

/* ADDRESS,SIZE, each as memparse() takes it: 0x or decimal, K, M or G after it. */
static int make_pool(void)
{
    char *end;
    u64 phys, size;

    if (!*pool)
        return 0;
    phys = memparse(pool, &end);
    size = *end == ',' ? memparse(end + 1, &end) : 0;
    if (*end || size == 0) {
        pr_err("pagectl: pool=%s: not ADDRESS,SIZE\n", pool);
        return -EINVAL;
    }
    return pool_make(phys, size);
}

static int __init pagectl_init(void)
{
    int error;

    /* What programs were compiled with. */
    BUILD_BUG_ON(sizeof(struct pagectl_info) != 72 || sizeof(struct pagectl_target) != 8 ||
                 sizeof(struct pagectl_mapping) != 24 || sizeof(struct pagectl_page) != 24 ||
                 sizeof(struct pagectl_expect) != 16 + PAGECTL_MAPPINGS * 24 ||
                 sizeof(struct pagectl_pages) != 16 + PAGECTL_PAGES * 24);
    error = make_pool();
    if (error)
        return error;
    error = misc_register(&device);
    if (error)
        pool_free();
    return error;
}

static void __exit pagectl_exit(void)
{
    misc_deregister(&device);
    pool_free();
}

module_init(pagectl_init);
module_exit(pagectl_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("How pages of a process are cached, and where they are");
MODULE_VERSION(VERSION);
