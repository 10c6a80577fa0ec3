// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cacheflow.ko: snapshots of what is in the CPU's caches, by /dev/cacheflow. This file has the
 * device and decides who may do what; cacheflow.h is what a program sees of it, shutter.h how the
 * module is put together, cacheflow(4) what a user has to know.
 *
 * One mutex covers everything. The first descriptor that changes the buffer owns it until it is
 * closed, so that two programs cannot mix up or discard each other's snapshots; others may read.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "shutter.h"

#define VERSION "0.1.0"

static unsigned long long phys;
module_param(phys, ullong, 0444);
MODULE_PARM_DESC(phys, "buffer: physical address of memory that Linux does not use [0: allocate]");

static unsigned long size = 16ul << 20;
module_param(size, ulong, 0444);
MODULE_PARM_DESC(size, "buffer: bytes [16777216]");

static char *backend_name = "";
module_param_named(backend, backend_name, charp, 0444);
MODULE_PARM_DESC(backend, "cortex-a57, cortex-a72, cortex-a15 or model [whatever CPU is there]");

static bool assume;
module_param(assume, bool, 0444);
MODULE_PARM_DESC(assume, "also memories whose layout is only taken over from a related CPU [0]");

static bool force;
module_param(force, bool, 0444);
MODULE_PARM_DESC(force, "also below a hypervisor, which may kill the kernel for RAMINDEX [0]");

struct client {
    struct cacheflow_config config;
};

static DEFINE_MUTEX(lock);
static struct shutter_buffer buffer;
static const struct shutter_backend *backend;
static struct cacheflow_ram rams[CACHEFLOW_RAMS];
static u64 cpu_id;
static u64 last_number;
static struct client *owner;

/* ---- ioctls: each is called with the mutex held ---- */

static long client_info(struct client *client, struct cacheflow_info *info)
{
    u64 bytes = shutter_bytes(&rams[client->config.ram], client->config.flags);

    memset(info, 0, sizeof(*info));
    info->abi = CACHEFLOW_ABI;
    info->buffer_flags = buffer.flags;
    strscpy(info->version, VERSION, sizeof(info->version));
    strscpy(info->backend, backend->name, sizeof(info->backend));
    info->cpu_id = cpu_id;
    info->cpus_online = num_online_cpus();
    info->cpus_able = backend_count_able(backend);
    info->timer_hz = cycles_timer_hz();
    info->buffer_bytes = buffer.size;
    info->snapshot_bytes = bytes;
    info->snapshots = (u32)div64_u64(buffer.size, bytes);
    memcpy(info->ram, rams, sizeof(rams));
    return 0;
}

static long client_configure(struct client *client, const struct cacheflow_config *config)
{
    if (config->ram >= CACHEFLOW_RAMS || config->reserved ||
        (config->flags & ~(CACHEFLOW_RESOLVE | CACHEFLOW_REPLACE)))
        return -EINVAL;
    if (config->cpu != CACHEFLOW_CPU_ANY &&
        (config->cpu < 0 || config->cpu >= nr_cpu_ids || !cpu_possible(config->cpu)))
        return -EINVAL;
    if (!(rams[config->ram].flags & CACHEFLOW_RAM_PRESENT))
        return -ENODEV;
    client->config = *config;
    return 0;
}

static bool is_of_another(const struct client *client)
{
    return owner && owner != client;
}

static long client_snapshot(struct client *client, struct cacheflow_shot *shot)
{
    const struct cacheflow_config *config = &client->config;
    long error;

    if (is_of_another(client))
        return -EBUSY;
    if (!(rams[config->ram].flags & CACHEFLOW_RAM_PRESENT))
        return -ENODEV;
    /* stop_machine() would do nothing there: then nothing is to be discarded either. */
    if (config->cpu != CACHEFLOW_CPU_ANY && !cpu_online(config->cpu))
        return -ENODEV;
    error = shutter_take(&buffer, backend, &rams[config->ram], config, last_number + 1, shot);
    if (error)
        return error;
    owner = client;
    last_number++;
    return 0;
}

static long client_state(struct client *client, struct cacheflow_state *state)
{
    const struct cacheflow_config *config = &client->config;

    memset(state, 0, sizeof(*state));
    state->bytes_used = buffer.used;
    state->bytes_free = buffer.size - buffer.used;
    state->last_number = last_number;
    state->discards = buffer.discards;
    state->snapshots = buffer.snapshots;
    if (owner)
        state->flags |= owner == client ? CACHEFLOW_STATE_MINE : CACHEFLOW_STATE_OTHER;
    if (shutter_room(&buffer, config->flags) < shutter_bytes(&rams[config->ram], config->flags))
        state->flags |= CACHEFLOW_STATE_FULL;
    return 0;
}

static long client_discard(struct client *client)
{
    if (is_of_another(client))
        return -EBUSY;
    owner = client;
    buffer_discard(&buffer);
    return 0;
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
    struct client *client = file->private_data;
    void __user *user = (void __user *)arg;
    union {
        struct cacheflow_info info;
        struct cacheflow_config config;
        struct cacheflow_shot shot;
        struct cacheflow_state state;
    } data;
    size_t give = 0;
    long error;

    /* All copying is outside of the mutex: a page fault there may take any time. */
    memset(&data, 0, sizeof(data));
    if (command == CACHEFLOW_CONFIGURE && copy_from_user(&data.config, user, sizeof(data.config)))
        return -EFAULT;
    if (mutex_lock_interruptible(&lock))
        return -ERESTARTSYS;
    switch (command) {
    case CACHEFLOW_INFO:
        error = client_info(client, &data.info);
        give = sizeof(data.info);
        break;
    case CACHEFLOW_CONFIGURE:
        error = client_configure(client, &data.config);
        break;
    case CACHEFLOW_GET_CONFIG:
        data.config = client->config;
        error = 0;
        give = sizeof(data.config);
        break;
    case CACHEFLOW_SNAPSHOT:
        error = client_snapshot(client, &data.shot);
        give = sizeof(data.shot);
        break;
    case CACHEFLOW_STATE:
        error = client_state(client, &data.state);
        give = sizeof(data.state);
        break;
    case CACHEFLOW_DISCARD:
        error = client_discard(client);
        break;
    default:
        error = -ENOTTY;
    }
    mutex_unlock(&lock);
    if (!error && give && copy_to_user(user, &data, give))
        return -EFAULT;
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
    client->config.ram = CACHEFLOW_L2_TAG;
    client->config.cpu = CACHEFLOW_CPU_ANY;
    file->private_data = client;
    return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
    mutex_lock(&lock);
    if (owner == file->private_data)
        owner = NULL;
    mutex_unlock(&lock);
    kfree(file->private_data);
    return 0;
}

/* Bytes go to the caller by way of this much memory: its own may take any time to be there, which
   no other client shall wait for with the mutex. */
#define READ_CHUNK SZ_64K

static ssize_t device_read(struct file *file, char __user *to, size_t count, loff_t *at)
{
    char *chunk = kvmalloc(min_t(size_t, count, READ_CHUNK), GFP_KERNEL);
    ssize_t given = 0, error = 0;

    if (!chunk)
        return -ENOMEM;
    while ((size_t)given < count && !error) {
        size_t size = min_t(size_t, count - given, READ_CHUNK);

        if (mutex_lock_interruptible(&lock)) {
            error = -ERESTARTSYS;
            break;
        }
        if (*at >= 0 && *at < buffer.used) {
            size = min_t(size_t, size, buffer.used - *at);
            memcpy(chunk, buffer.base + *at, size);
        } else {
            size = 0;
        }
        mutex_unlock(&lock);
        if (size == 0)
            break;
        if (copy_to_user(to + given, chunk, size)) {
            error = -EFAULT;
        } else {
            given += size;
            *at += size;
        }
    }
    kvfree(chunk);
    return given ? given : error;
}

static loff_t device_llseek(struct file *file, loff_t offset, int whence)
{
    return fixed_size_llseek(file, offset, whence, READ_ONCE(buffer.used));
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
    return buffer_mmap(&buffer, vma);
}

static const struct file_operations device_operations = {
    .owner = THIS_MODULE,
    .open = device_open,
    .release = device_release,
    .read = device_read,
    .llseek = device_llseek,
    .mmap = device_mmap,
    .unlocked_ioctl = device_ioctl,
#ifdef CONFIG_COMPAT
    .compat_ioctl = device_compat_ioctl,
#endif
};

static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "cacheflow",
    .mode = 0600,
    .fops = &device_operations,
};

static int __init cacheflow_init(void)
{
    bool model = strcmp(backend_name, backend_model.name) == 0;
    int error = model ? model_make() : 0;

    /* What programs were compiled with. */
    BUILD_BUG_ON(sizeof(struct cacheflow_info) != 184 || sizeof(struct cacheflow_config) != 16 ||
                 sizeof(struct cacheflow_shot) != 72 || sizeof(struct cacheflow_state) != 40 ||
                 sizeof(struct cacheflow_snapshot) != 128 || sizeof(struct cacheflow_line) != 12 ||
                 sizeof(struct cacheflow_owner) != 24);
    if (error) {
        pr_err("cacheflow: model_sets or model_ways invalid, or no memory\n");
        return error;
    }
    backend = backend_find(backend_name, assume, rams, &cpu_id);
    if (IS_ERR(backend)) {
        error = PTR_ERR(backend);
        pr_err("cacheflow: %s\n", error == -EINVAL ? "backend=: no such backend"
                                                   : "no CPU here whose caches can be read");
        goto fail_model;
    }
    if (!(rams[CACHEFLOW_L2_TAG].flags & CACHEFLOW_RAM_PRESENT)) {
        pr_err("cacheflow: %s: what is known of its memories is not sure; assume=1 reads them\n",
               backend->name);
        error = -ENODEV;
        goto fail_model;
    }
    if (!model && !force && backend_below_hypervisor()) {
        pr_err("cacheflow: below a hypervisor, where reading caches may be fatal; force=1 tries\n");
        error = -ENODEV;
        goto fail_model;
    }
    if ((phys_addr_t)phys != phys) {
        pr_err("cacheflow: phys=0x%llx is beyond what this kernel can address\n", phys);
        error = -EINVAL;
        goto fail_model;
    }
    error = buffer_make(&buffer, (phys_addr_t)phys, size);
    if (error)
        goto fail_model;
    error = misc_register(&device);
    if (error)
        goto fail_buffer;
    pr_info("cacheflow: %s, L2 of %u sets and %u ways, buffer of %lu bytes\n", backend->name,
            rams[CACHEFLOW_L2_TAG].sets, rams[CACHEFLOW_L2_TAG].ways, size);
    return 0;
fail_buffer:
    buffer_free(&buffer);
fail_model:
    if (model)
        model_free();
    return error;
}

static void __exit cacheflow_exit(void)
{
    misc_deregister(&device);
    buffer_free(&buffer);
    model_free();
}

module_init(cacheflow_init);
module_exit(cacheflow_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Snapshots of the contents of CPU caches");
MODULE_VERSION(VERSION);
