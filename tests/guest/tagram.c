// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tagram.ko, for tests only: cache tag memories that do not exist. Emulators have no caches, and
 * what RAMINDEX does is undefined there. This module replaces each such instruction of
 * cacheflow.ko, by the names in kmod/ramindex_arm64.S, while that module is being loaded, and
 * answers it from tables that a test has written (tagram_detour.h): so everything in cacheflow.ko
 * runs as it would on the real CPU. It encodes entries on its own, from the manuals' tables, and
 * does not share code with what decodes them.
 *
 * whole=1 answers the command and the reading of its result in one instead of two or three, after
 * looking whether the instructions are the right ones.
 *
 * Entries that are not valid hold noise, as do the bits that a real memory does not hold reliably.
 * A command that no such CPU would take, or one that comes with interrupts on, is counted in the
 * parameter `wrong`. On x86 it writes into the table of backend=model instead.
 *
 * Further it stands for what else a machine may have: claim=N lets the L2 cache claim N sets,
 * hidden=1 has the firmware's node of the device tree under another path, divide=1 the cycle
 * counter set to each 64th cycle and off, divide=2 and on; and it holds the lock of mappings of a
 * file (tagram.h).
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "tagram.h"

static unsigned int l2_kb = 2048;
module_param(l2_kb, uint, 0444);

static bool whole;
module_param(whole, bool, 0444);

static unsigned long answered, wrong;
module_param(answered, ulong, 0444);
module_param(wrong, ulong, 0444);

static DEFINE_MUTEX(lock);

static u64 line_number(const struct cacheflow_line *line)
{
    return (u64)line->frame_high << 32 | line->frame_low;
}

/* The file whose mappings nobody else may change or look at now: from one call to a later one, of
   which the proof of locks (PROVE_LOCKING) shall know nothing. */
static struct file *held;

static int hold(int number)
{
    if (held) {
        rwsem_acquire(&held->f_mapping->i_mmap_rwsem.dep_map, 0, 0, _RET_IP_);
        i_mmap_unlock_write(held->f_mapping);
        fput(held);
        held = NULL;
    }
    if (number < 0)
        return 0;
    held = fget(number);
    if (!held)
        return -EBADF;
    i_mmap_lock_write(held->f_mapping);
    rwsem_release(&held->f_mapping->i_mmap_rwsem.dep_map, _RET_IP_);
    return 0;
}

#ifdef CONFIG_ARM64

#include "tagram_cycles.h"
#include "tagram_detour.h"

static unsigned int claim;
module_param(claim, uint, 0644);

static bool hidden;
module_param(hidden, bool, 0444);

static u32 random_next(u32 *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

struct memory {
    u32 ramid, sets, ways, ccsidr;
    u32 *words[2]; /* what the data registers 0 and 1 give */
};

/* Geometry of the Cortex-A57 and A72. */
static struct memory memories[] = {
    [CACHEFLOW_L2_TAG] = {.ramid = 0x10, .ways = 16},
    [CACHEFLOW_L1D_TAG] = {.ramid = 0x08, .sets = 256, .ways = 2},
    [CACHEFLOW_L1I_TAG] = {.ramid = 0x00, .sets = 256, .ways = 3},
};

/* An emulated CPU can be switched between the instructions of others only while the snapshot has
   not stopped it, so one set of data registers is as good as one a CPU. */
static u32 d_data[2], i_data[2];

#define DSB_SY 0xd5033f9fu
#define ISB    0xd5033fdfu
#define MRS_D0 0xd538f100u /* mrs x0, s3_0_c15_c1_0 and so on */
#define MRS_D1 0xd538f121u
#define MRS_I0 0xd538f000u
#define MRS_I1 0xd538f021u

/* What follows the command; false when it is not what must follow. */
static bool answer_rest(struct detour_frame *regs, u32 ram, const u32 data[2])
{
    const u32 *next = (const u32 *)regs->pc;
    bool both = ram != CACHEFLOW_L2_TAG;

    if (next[0] != DSB_SY || next[1] != ISB ||
        next[2] != (ram == CACHEFLOW_L1I_TAG ? MRS_I0 : MRS_D0) ||
        (both && next[3] != (ram == CACHEFLOW_L1I_TAG ? MRS_I1 : MRS_D1)))
        return false;
    regs->regs[0] = data[0];
    if (both)
        regs->regs[1] = data[1];
    regs->pc += both ? 16 : 12;
    return true;
}

static void on_command(struct detour_frame *regs, u32 ram, u32 which)
{
    u32 command = (u32)regs->regs[0], way = command >> 18 & 0xf, set = (command & 0x3ffff) >> 6;
    u32 *to, at, i;

    answered++;
    if (regs->regs[0] >> 32 || (command & 0x00c0003f) || !irqs_disabled())
        wrong++;
    for (i = 0; i < ARRAY_SIZE(memories); i++) {
        const struct memory *memory = &memories[i];

        if (memory->ramid != command >> 24)
            continue;
        to = i == CACHEFLOW_L1I_TAG ? i_data : d_data;
        at = set * memory->ways + way;
        if (set >= memory->sets || way >= memory->ways) {
            wrong++;
            at = 0;
        }
        to[0] = memory->words[0][at];
        to[1] = memory->words[1][at];
        if (whole && !answer_rest(regs, i, to))
            wrong++;
        return;
    }
    wrong++;
}

static void on_data(struct detour_frame *regs, u32 ram, u32 which)
{
    regs->regs[which] = ram == CACHEFLOW_L1I_TAG ? i_data[which] : d_data[which];
}

/* The register that selects a cache exists in the emulator too. */
static void on_ccsidr(struct detour_frame *regs, u32 ram, u32 which)
{
    u64 selector = read_sysreg(csselr_el1);

    regs->regs[0] = selector == 2 && claim
                        ? (memories[CACHEFLOW_L2_TAG].ccsidr & 0x1fff) | (claim - 1) << 13
                    : selector == 2 ? memories[CACHEFLOW_L2_TAG].ccsidr
                    : selector == 0 ? memories[CACHEFLOW_L1D_TAG].ccsidr
                                    : memories[CACHEFLOW_L1I_TAG].ccsidr;
}

#define INSN(text) "cacheflow:cacheflow_insn_" text
static struct detour detours[DETOURS] = {
    {INSN("l2_command"), on_command, CACHEFLOW_L2_TAG, 0},
    {INSN("l2_data0"), on_data, CACHEFLOW_L2_TAG, 0},
    {INSN("l1d_command"), on_command, CACHEFLOW_L1D_TAG, 0},
    {INSN("l1d_data0"), on_data, CACHEFLOW_L1D_TAG, 0},
    {INSN("l1d_data1"), on_data, CACHEFLOW_L1D_TAG, 1},
    {INSN("l1i_command"), on_command, CACHEFLOW_L1I_TAG, 0},
    {INSN("l1i_data0"), on_data, CACHEFLOW_L1I_TAG, 0},
    {INSN("l1i_data1"), on_data, CACHEFLOW_L1I_TAG, 1},
    {INSN("ccsidr"), on_ccsidr, 0, 0},
};

/* Called by the stubs. */
asmlinkage void detour_answer(struct detour_frame *frame)
{
    const struct detour *detour = &detours[frame->index];

    frame->pc = (u64)(detour->at + 1);
    detour->answer(frame, detour->memory, detour->which);
}

static void take_detours(void)
{
    unsigned int i;

    for (i = 0; i < DETOURS; i++)
        detour_unset(&detours[i]);
}

static int on_module(struct notifier_block *block, unsigned long event, void *data)
{
    struct module *module = data;
    unsigned int i;
    int error;

    if (strcmp(module->name, "cacheflow") != 0)
        return NOTIFY_DONE;
    if (event == MODULE_STATE_COMING) {
        for (i = 0; i < DETOURS; i++) {
            if (whole && detours[i].answer == on_data)
                continue;
            error = detour_set(&detours[i], i);
            if (error) {
                pr_err("tagram: %s: %d\n", detours[i].name, error);
                take_detours();
                return notifier_from_errno(error);
            }
        }
    } else if (event == MODULE_STATE_GOING) {
        take_detours();
    }
    return NOTIFY_OK;
}

static struct notifier_block notifier = {.notifier_call = on_module};

static void encode(u32 ram, const struct cacheflow_line *line, u32 noise, u32 words[2])
{
    u64 number = line_number(line);
    u32 secure_bit = line->state & CACHEFLOW_NON_SECURE ? 1 : 0;

    words[0] = words[1] = noise;
    switch (ram) {
    case CACHEFLOW_L2_TAG: {
        u32 lost = (memories[ram].sets - 1) >> 9; /* bits of the tag that the set tells as well */

        words[0] = (u32)(((number >> 9) & ~(u64)lost) | (noise & lost)) << 2;
        words[0] = (words[0] & 0x7ffffffc) | secure_bit << 31;
        words[0] |= line->state & CACHEFLOW_M ? 1 : line->state & CACHEFLOW_S ? 3 : 2;
        break;
    }
    case CACHEFLOW_L1D_TAG:
        words[0] = ((u32)(number >> 8) & 0x3fffffff) | secure_bit << 30 | (noise & 1u << 31);
        words[1] = (noise & ~3u) | (line->state & CACHEFLOW_M   ? 3
                                    : line->state & CACHEFLOW_E ? 1
                                                                : 2);
        break;
    default:
        words[0] = (u32)(number >> 6);
        words[1] = (noise & ~3u) | 2 | secure_bit;
    }
}

static int fill(const struct tagram_content *content, const struct cacheflow_line *lines)
{
    struct memory *memory;
    u32 i, at, noise = content->noise | 1, words[2];

    if (content->ram >= ARRAY_SIZE(memories))
        return -EINVAL;
    memory = &memories[content->ram];
    for (at = 0; at < memory->sets * memory->ways; at++) {
        words[0] = random_next(&noise);
        words[1] = words[0] & ~(content->ram == CACHEFLOW_L1I_TAG ? 2u : 3u);
        memory->words[0][at] = content->ram == CACHEFLOW_L2_TAG ? words[0] & ~3u : words[0];
        memory->words[1][at] = words[1];
    }
    for (i = 0; i < content->count; i++) {
        if (lines[i].set >= memory->sets || lines[i].way >= memory->ways)
            return -EINVAL;
        at = lines[i].set * memory->ways + lines[i].way;
        encode(content->ram, &lines[i], random_next(&noise), words);
        memory->words[0][at] = words[0];
        memory->words[1][at] = words[1];
    }
    return 0;
}

static void machine_free(void)
{
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(memories); i++) {
        vfree(memories[i].words[0]);
        vfree(memories[i].words[1]);
    }
}

/* What path it has is all that changes. */
static void hide_firmware(void)
{
    static const char *name;
    static struct device_node *node;

    if (!node) {
        node = of_find_node_by_path("/psci");
        if (!node)
            return;
        name = node->full_name;
        node->full_name = "elsewhere";
    } else {
        node->full_name = name;
        of_node_put(node);
        node = NULL;
    }
}

static int machine_make(void)
{
    unsigned int i;
    int error;

    memories[CACHEFLOW_L2_TAG].sets = l2_kb;
    for (i = 0; i < ARRAY_SIZE(memories); i++) {
        struct memory *memory = &memories[i];
        size_t size = (size_t)memory->sets * memory->ways * sizeof(u32);

        memory->ccsidr = (memory->sets - 1) << 13 | (memory->ways - 1) << 3 | 2;
        memory->words[0] = vzalloc(size);
        memory->words[1] = vzalloc(size);
        if (!memory->words[0] || !memory->words[1]) {
            machine_free();
            return -ENOMEM;
        }
    }
    error = detour_prepare();
    if (!error)
        error = register_module_notifier(&notifier);
    if (error)
        machine_free();
    else if (hidden)
        hide_firmware();
    return error;
}

static void machine_end(void)
{
    unregister_module_notifier(&notifier);
    if (hidden)
        hide_firmware();
    take_detours();
    machine_free();
}

#else

extern u64 *cacheflow_model_tags;
extern unsigned int cacheflow_model_sets, cacheflow_model_ways;

static int fill(const struct tagram_content *content, const struct cacheflow_line *lines)
{
    u64 **tags = symbol_get(cacheflow_model_tags);
    unsigned int *sets = symbol_get(cacheflow_model_sets);
    unsigned int *ways = symbol_get(cacheflow_model_ways);
    int error = -ENODEV;
    u32 i;

    if (tags && sets && ways && *tags && content->ram == CACHEFLOW_L2_TAG) {
        error = 0;
        memset(*tags, 0, (size_t)*sets * *ways * sizeof(u64));
        for (i = 0; i < content->count && !error; i++) {
            if (lines[i].set >= *sets || lines[i].way >= *ways)
                error = -EINVAL;
            else
                (*tags)[lines[i].set * *ways + lines[i].way] =
                    line_number(&lines[i]) << 8 | lines[i].state;
        }
    }
    if (tags)
        symbol_put(cacheflow_model_tags);
    if (sets)
        symbol_put(cacheflow_model_sets);
    if (ways)
        symbol_put(cacheflow_model_ways);
    return error;
}

static int machine_make(void)
{
    return 0;
}

static void machine_end(void)
{
}

#endif

static ssize_t tagram_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
    struct tagram_content content;
    struct cacheflow_line *lines;
    int error;

    if (size < sizeof(content) || copy_from_user(&content, from, sizeof(content)))
        return -EFAULT;
    if (content.ram == TAGRAM_HOLD) {
        mutex_lock(&lock);
        error = hold((int)content.count);
        mutex_unlock(&lock);
        return error ? error : (ssize_t)size;
    }
    if (content.count > 1 << 20 ||
        size != sizeof(content) + content.count * sizeof(struct cacheflow_line))
        return -EINVAL;
    lines = vmalloc(size);
    if (!lines)
        return -ENOMEM;
    error = copy_from_user(lines, from + sizeof(content), size - sizeof(content)) ? -EFAULT : 0;
    mutex_lock(&lock);
    if (!error)
        error = fill(&content, lines);
    mutex_unlock(&lock);
    vfree(lines);
    return error ? error : (ssize_t)size;
}

static const struct file_operations operations = {
    .owner = THIS_MODULE,
    .write = tagram_write,
};

static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "tagram",
    .mode = 0600,
    .fops = &operations,
};

static int __init tagram_init(void)
{
    int error = machine_make();

    if (error)
        return error;
    error = misc_register(&device);
    if (error)
        machine_end();
    return error;
}

static void __exit tagram_exit(void)
{
    misc_deregister(&device);
    machine_end();
}

module_init(tagram_init);
module_exit(tagram_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Cache tag memories for tests");
