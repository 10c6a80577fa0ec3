/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin.c - the plugin that QEMU loads: when code is translated, it describes the code once and
 * has itself called for each execution of a translation block and each access; each call writes
 * one word (protocol.h).
 *
 * Memory: 32 bytes an instruction that the emulator holds a translation of, given back when it
 * drops all its translations.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

/* What an access of one instruction has in common with its others; most instructions know one or
   two kinds of access. `info` is opaque and is only compared: the same always means the same. */
struct insn {
    uint32_t info[2];
    uint64_t word[2]; /* without the address; [0] = 0: not yet known */
    uint64_t index;   /* in its translation block, shifted into place */
};

enum { UNKNOWN = UINT32_MAX, ARENA_BYTES = 1 << 20 };

struct arena {
    struct arena *next;
    uint64_t pad; /* so that what follows is aligned */
};

CFQ_EXPORT int qemu_plugin_version = CFQ_INTERFACE;

int cfq_system;
static struct arena *arenas;
static size_t arena_left;
static int begun;

/* ---- called while the program runs ---- */

static inline void put(struct cfq_block *b, uint32_t at, uint64_t word)
{
    cfq_words(b)[at] = word;
    /* Whoever sees the count sees the word, even if this process is killed right now. */
    __atomic_store_n(&b->used, at + 1, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void put_wide(unsigned vcpu, uint64_t word, uint64_t addr)
{
    struct slot *s = &cfq_slots[vcpu];

    if (s->block->used + 2 > CFQ_WORDS)
        cfq_more_room(s, vcpu);
    cfq_words(s->block)[s->block->used] = word | (uint64_t)CFQ_WIDE << CFQ_TAG_SHIFT;
    cfq_words(s->block)[s->block->used + 1] = addr;
    __atomic_store_n(&s->block->used, s->block->used + 2, __ATOMIC_RELEASE);
}

static inline void put_access(unsigned vcpu, uint64_t word, uint64_t addr)
{
    struct slot *s = &cfq_slots[vcpu];
    struct cfq_block *b = s->block;
    uint32_t used = b->used;

    if (__builtin_expect((uint64_t)((int64_t)(addr << 16) >> 16) != addr, 0)) {
        put_wide(vcpu, word, addr);
        return;
    }
    if (__builtin_expect(used + 2 > CFQ_WORDS, 0)) {
        cfq_more_room(s, vcpu);
        b = s->block;
        used = b->used;
    }
    put(b, used, word | (addr & CFQ_ADDRESS_MASK));
}

/* An atomic instruction of the emulated program calls back once for its load and its store: both
   directions are then set in `info`, above the 16 bits that describe the operation. */
static int reads_and_writes(uint32_t info)
{
    enum { READ = 1u << 16, WRITE = 1u << 17 };

    return (info & (READ | WRITE)) == (READ | WRITE) && qemu_plugin_mem_is_store(info & ~READ) &&
           !qemu_plugin_mem_is_store(info & ~WRITE);
}

static __attribute__((noinline)) void first_access(unsigned vcpu, struct insn *n, uint32_t info,
                                                   uint64_t addr)
{
    uint64_t shift = qemu_plugin_mem_size_shift(info) & 7;
    uint64_t word = n->index | shift << CFQ_KIND_SHIFT;

    if (reads_and_writes(info)) {
        put_access(vcpu, word, addr);
        put_access(vcpu, word | (uint64_t)CFQ_KIND_STORE << CFQ_KIND_SHIFT, addr);
        return;
    }
    if (qemu_plugin_mem_is_store(info))
        word |= (uint64_t)CFQ_KIND_STORE << CFQ_KIND_SHIFT;
    /* Threads may do so at once, with other kinds: the word before the info that makes it count. */
    for (int i = 0; i < 2; i++)
        if (__atomic_load_n(&n->info[i], __ATOMIC_RELAXED) == UNKNOWN) {
            uint64_t none = 0;

            if (__atomic_compare_exchange_n(&n->word[i], &none, word | UINT64_C(1) << 63, 0,
                                            __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                __atomic_store_n(&n->info[i], info, __ATOMIC_RELEASE);
            break;
        }
    put_access(vcpu, word, addr);
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t addr, void *data)
{
    struct insn *n = data;

    if (__builtin_expect(vcpu >= CFQ_SLOTS, 0))
        return;
    if (__builtin_expect(__atomic_load_n(&n->info[0], __ATOMIC_ACQUIRE) == info, 1))
        put_access(vcpu, n->word[0] & ~(UINT64_C(1) << 63), addr);
    else if (__atomic_load_n(&n->info[1], __ATOMIC_ACQUIRE) == info)
        put_access(vcpu, n->word[1] & ~(UINT64_C(1) << 63), addr);
    else
        first_access(vcpu, n, info, addr);
}

static void on_execution(unsigned vcpu, void *data)
{
    struct slot *s = &cfq_slots[vcpu];

    if (__builtin_expect(vcpu >= CFQ_SLOTS, 0))
        return;
    if (__builtin_expect(
            --s->turns < 0 || cfq_owner != vcpu + 1 || s->block->used > CFQ_WORDS - CFQ_ROOM, 0))
        cfq_take_turn(vcpu);
    s->execution = (uint32_t)(uintptr_t)data;
    put(s->block, s->block->used, (uint64_t)CFQ_EXECUTE << CFQ_TAG_SHIFT | (uintptr_t)data);
}

static void on_syscall(uint64_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    const uint64_t argument[6] = {a1, a2, a3, a4, a5, a6};

    (void)id, (void)a7, (void)a8;
    if (vcpu >= CFQ_SLOTS)
        return;
    cfq_maps_called(&cfq_slots[vcpu], number, argument);
    cfq_give_turn(vcpu);
}

static void on_return(uint64_t id, unsigned vcpu, int64_t number, int64_t result)
{
    (void)id;
    if (vcpu < CFQ_SLOTS)
        cfq_maps_returned(&cfq_slots[vcpu], vcpu, number, result);
}

static void on_exit_of(uint64_t id, unsigned vcpu)
{
    (void)id;
    if (vcpu < CFQ_SLOTS)
        cfq_leave(vcpu);
}

/* ---- called when code is translated; the emulator lets in one thread at a time ---- */

static void *allocate(size_t bytes)
{
    if (bytes > arena_left) {
        size_t room = bytes > ARENA_BYTES ? bytes : ARENA_BYTES;
        struct arena *a = malloc(sizeof(*a) + room);

        if (!a)
            return NULL;
        a->next = arenas;
        arenas = a;
        arena_left = room;
        memset(a + 1, 0, room);
    }
    arena_left -= bytes;
    return (uint8_t *)(arenas + 1) + arena_left;
}

/* All translations are gone, and no thread is in one. */
static void on_flush(uint64_t id)
{
    (void)id;
    while (arenas) {
        struct arena *a = arenas;

        arenas = a->next;
        free(a);
    }
    arena_left = 0;
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct insn *insns;
    uint64_t *event;
    uint32_t number;

    (void)id;
    if (count == 0 || count > CFQ_MAX_INSNS || __atomic_load_n(&cfq_shared->stop, __ATOMIC_RELAXED))
        return;
    if (!begun) {
        const struct qemu_plugin_insn *n = qemu_plugin_tb_get_insn(tb, 0);

        begun = 1;
        if (!cfq_system)
            cfq_maps_begin((uint64_t)(uintptr_t)qemu_plugin_insn_haddr(n) -
                           qemu_plugin_insn_vaddr(n));
    }
    insns = allocate(count * sizeof(*insns));
    number = insns ? cfq_new_number() : UNKNOWN;
    event = number != UNKNOWN ? cfq_early_event(CFQ_DESCRIBE, (uint32_t)count + 2) : NULL;
    if (!event)
        return;
    event[1] = number;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *n = qemu_plugin_tb_get_insn(tb, i);

        event[i + 2] = (qemu_plugin_insn_vaddr(n) & ((UINT64_C(1) << 56) - 1)) |
                       (uint64_t)qemu_plugin_insn_size(n) << 56;
        insns[i].info[0] = insns[i].info[1] = UNKNOWN;
        insns[i].word[0] = insns[i].word[1] = 0;
        insns[i].index = (uint64_t)i << CFQ_INSN_SHIFT;
        qemu_plugin_register_vcpu_mem_cb(n, on_access, EMULATOR_NO_REGS, EMULATOR_READS_WRITES,
                                         &insns[i]);
    }
    cfq_early_event_done((uint32_t)count + 2);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_execution, EMULATOR_NO_REGS,
                                         (void *)(uintptr_t)number);
}

CFQ_EXPORT int qemu_plugin_install(uint64_t id, const struct emulator_info *info, int count,
                                   char **arguments)
{
    int descriptor = -1;

    for (int i = 0; i < count; i++)
        if (strncmp(arguments[i], "fd=", 3) == 0)
            descriptor = atoi(arguments[i] + 3);
    if (cfq_blocks_open(descriptor) != 0)
        return -1;
    cfq_system = info->system_emulation;
    if (!cfq_system) {
        cfq_maps_install(info->target_name);
        qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_exit_cb(id, on_exit_of);
    qemu_plugin_register_flush_cb(id, on_flush);
    __atomic_store_n(&cfq_shared->begun, 1, __ATOMIC_RELEASE);
    return 0;
}
