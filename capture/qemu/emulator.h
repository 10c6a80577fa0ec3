/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emulator.h - what our plugin uses of QEMU's plugin interface, version 1.
 *
 * Debian ships emulators that load plugins but no header for them, so the functions are declared
 * here from the interface's documentation: names, arguments and the order of enumerations. The
 * emulator exports the functions; what is opaque there is opaque here. Tried with QEMU 7.2. An
 * emulator whose version range does not hold CFQ_INTERFACE refuses the plugin, and we tell.
 */
#ifndef CF_QEMU_EMULATOR_H
#define CF_QEMU_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFQ_INTERFACE 1
#define CFQ_EXPORT    __attribute__((visibility("default")))

/* What qemu_plugin_install() is told; further members follow that we do not read. */
struct emulator_info {
    const char *target_name; /* "aarch64" */
    struct {
        int min, cur; /* interface versions it serves */
    } version;
    bool system_emulation;
};

struct qemu_plugin_tb;   /* a translation block, in the translation callback */
struct qemu_plugin_insn; /* an instruction of it */

enum { EMULATOR_NO_REGS = 0 };                          /* the callback reads no registers */
enum { EMULATOR_READS = 1, EMULATOR_READS_WRITES = 3 }; /* which accesses call back */

typedef void (*emulator_translated)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*emulator_executed)(unsigned vcpu, void *data);
/* `info` tells size and direction, through the functions below. */
typedef void (*emulator_accessed)(unsigned vcpu, uint32_t info, uint64_t addr, void *data);
typedef void (*emulator_vcpu)(uint64_t id, unsigned vcpu);
typedef void (*emulator_syscall)(uint64_t id, unsigned vcpu, int64_t number, uint64_t a1,
                                 uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                                 uint64_t a7, uint64_t a8);
typedef void (*emulator_returned)(uint64_t id, unsigned vcpu, int64_t number, int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, emulator_translated f);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, emulator_executed f, int flags,
                                          void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, emulator_accessed f, int flags,
                                      int which, void *data);
void qemu_plugin_register_vcpu_exit_cb(uint64_t id, emulator_vcpu f);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, emulator_syscall f);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, emulator_returned f);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);      /* bytes */
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);   /* its address */
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn); /* those */
/* Where the emulator has it: for a program, the guest's address plus a constant. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

/* Where a program's first segment with code begins. */
uint64_t qemu_plugin_start_code(void);

unsigned qemu_plugin_mem_size_shift(uint32_t info); /* log2 of the bytes */
bool qemu_plugin_mem_is_store(uint32_t info);

/* What we export. */
extern CFQ_EXPORT int qemu_plugin_version;
CFQ_EXPORT int qemu_plugin_install(uint64_t id, const struct emulator_info *info, int count,
                                   char **arguments);

#endif
