/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin.c - the plugin that QEMU loads: when code is translated, it describes the code once and
 * has itself called for each execution of a translation block and each access; each call writes
 * one word (protocol.h).
 *
 * Memory: none that grows.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "capture/record/cf_repeat.h"
#include "plugin.h"

/* Sizes and directions that were asked for. There are some dozens of different `info`; where two
   fall into one place, the emulator is asked again. An entry is one word, so that threads may
   write it at any time: info << 8 | kinds, with SURE. */
enum { INFOS = 1024, SURE = 0x80, BOTH = 0x40 /* load, and then store */ };

static uint64_t infos[INFOS];
static int is_x86;

CFQ_EXPORT int qemu_plugin_version = CFQ_INTERFACE;

int cfq_system;
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
    cfq_words(s->block)[s->block->used] = word | CF_WIRE_WIDE;
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
    put(b, used, word | (addr & CF_WIRE_ADDRESS_MASK));
}

/* An atomic instruction of the emulated program calls back once for its load and its store: both
   directions are then set in `info`, above the 16 bits that describe the operation. */
static int reads_and_writes(uint32_t info)
{
    enum { READ = 1u << 16, WRITE = 1u << 17 };

    return (info & (READ | WRITE)) == (READ | WRITE) && qemu_plugin_mem_is_store(info & ~READ) &&
           !qemu_plugin_mem_is_store(info & ~WRITE);
}

static __attribute__((noinline)) uint64_t learn(uint32_t info, uint64_t *place)
{
    uint64_t entry = (uint64_t)info << 8 | SURE | (qemu_plugin_mem_size_shift(info) & 7);

    if (qemu_plugin_mem_is_store(info))
        entry |= reads_and_writes(info) ? BOTH : CF_WIRE_KIND_STORE;
    __atomic_store_n(place, entry, __ATOMIC_RELAXED);
    return entry;
}

/* The data is the outcome of the translation block and the instruction's index, no memory: QEMU 7.2
   may call with the data of an earlier instruction, long gone, when a helper of the emulator was
   left by a jump, as when it writes a signal's frame. Such an access is no instruction's. */
static void on_access(unsigned vcpu, uint32_t info, uint64_t addr, void *data)
{
    uint64_t where = (uintptr_t)data, word;
    uint64_t *place = &infos[(info ^ info >> 8) % INFOS];
    uint64_t entry = __atomic_load_n(place, __ATOMIC_RELAXED);

    if (__builtin_expect(vcpu >= CFQ_SLOTS, 0))
        return;
    if (__builtin_expect(cfq_slots[vcpu].execution != where >> 16, 0))
        return;
    if (__builtin_expect(entry >> 8 != info || !(entry & SURE), 0))
        entry = learn(info, place);
    word = CF_WIRE_ACCESS | (where & (CF_WIRE_MAX_INSNS - 1)) << CF_WIRE_INSN_SHIFT |
           (entry & 15) << CF_WIRE_KIND_SHIFT;
    put_access(vcpu, word, addr);
    if (__builtin_expect(entry & BOTH, 0))
        put_access(vcpu, word | (uint64_t)CF_WIRE_KIND_STORE << CF_WIRE_KIND_SHIFT, addr);
}

/* Code that was translated goes on calling when nothing is recorded any more, and its words go
   nowhere. qemu_plugin_reset() would have it translated anew, without calls; but QEMU 7.2 then
   aborts the program when a helper was left by a jump, as by a signal: it looks at the calls of an
   instruction that are gone. */
static void on_execution(unsigned vcpu, void *data)
{
    struct slot *s = &cfq_slots[vcpu];

    if (__builtin_expect(vcpu >= CFQ_SLOTS, 0))
        return;
    if (__builtin_expect(
            --s->turns < 0 || cfq_owner != vcpu + 1 || s->block->used > CFQ_WORDS - CFQ_ROOM, 0))
        cfq_take_turn(vcpu);
    s->execution = (uint32_t)(uintptr_t)data;
    put(s->block, s->block->used, CF_WIRE_LISTED((uintptr_t)data));
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

static uint64_t repetition(const struct qemu_plugin_insn *n)
{
    unsigned kind =
        is_x86 ? cf_repeat_kind(qemu_plugin_insn_data(n), (unsigned)qemu_plugin_insn_size(n)) : 0;

    return (kind ? CF_WIRE_REPEATS : 0) | (kind == CF_REPEAT_JOINED ? CF_WIRE_JOINED : 0);
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *tb)
{
    static struct {
        struct cf_wire_block block;
        struct cf_wire_insn insn[CF_WIRE_MAX_INSNS];
    } d = {.block = {.listed = 1}};
    size_t count = qemu_plugin_tb_n_insns(tb);

    (void)id;
    if (count == 0 || count > CF_WIRE_MAX_INSNS || d.block.first == CF_WIRE_OUTCOMES - 1 ||
        __atomic_load_n(&cfq_shared->stop, __ATOMIC_RELAXED))
        return;
    if (!begun) {
        const struct qemu_plugin_insn *n = qemu_plugin_tb_get_insn(tb, 0);

        begun = 1;
        if (!cfq_system)
            cfq_maps_begin((uint64_t)(uintptr_t)qemu_plugin_insn_haddr(n) -
                           qemu_plugin_insn_vaddr(n));
    }
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *n = qemu_plugin_tb_get_insn(tb, i);

        d.insn[i].pc_length = (qemu_plugin_insn_vaddr(n) & CF_WIRE_PC_MASK) |
                              (uint64_t)qemu_plugin_insn_size(n) << 56 | repetition(n);
    }
    d.block.first++;
    d.block.insns = (uint16_t)count;
    if (cfq_put(NULL, 0, CF_WIRE_BLOCK, &d, sizeof(d.block) + count * sizeof(*d.insn), "") != 0) {
        d.block.first--; /* as if there were no such code */
        return;
    }
    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
                                         EMULATOR_NO_REGS, EMULATOR_READS_WRITES,
                                         (void *)((uintptr_t)d.block.first << 16 | i));
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_execution, EMULATOR_NO_REGS,
                                         (void *)(uintptr_t)d.block.first);
}

/* All of a text; -1 if it is no descriptor. */
static int descriptor_of(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end == text || *end || n < 0 || n > INT_MAX ? -1 : (int)n;
}

CFQ_EXPORT int qemu_plugin_install(uint64_t id, const struct emulator_info *info, int count,
                                   char **arguments)
{
    int descriptor = -1;

    for (int i = 0; i < count; i++)
        if (strncmp(arguments[i], "fd=", 3) == 0)
            descriptor = descriptor_of(arguments[i] + 3);
    if (cfq_blocks_open(descriptor) != 0)
        return -1;
    cfq_system = info->system_emulation;
    is_x86 = strcmp(info->target_name, "x86_64") == 0 || strcmp(info->target_name, "i386") == 0;
    if (!cfq_system) {
        cfq_maps_install(info->target_name);
        qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_exit_cb(id, on_exit_of);
    __atomic_store_n(&cfq_shared->begun, 1, __ATOMIC_RELEASE);
    return 0;
}
