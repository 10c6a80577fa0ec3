/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_arch.h - what differs between processors: the trap instruction, the program counter, the
 * debug registers. x86-64: Intel SDM, volume 3B, chapter "Debug, branch profile, TSC". AArch64: Arm
 * ARM (DDI 0487), self-hosted debug; ptrace's NT_ARM_HW_WATCH.
 */
#ifndef CF_WATCH_ARCH_H
#define CF_WATCH_ARCH_H

#include <stdint.h>
#include <sys/types.h>

#include "capture/watch/watch.h"

/* How an instruction is passed: by one step; as a system call; as a string instruction, whose every
   iteration is a step; by a step whose flag it would push. */
enum cf_watch_way { CF_WAY_STEP, CF_WAY_CALL, CF_WAY_STRING, CF_WAY_FLAGS };

struct cf_watch_data {
    uint64_t addr;
    unsigned bytes;
    enum cf_watch_kind kind;
};

/* Whether this processor is known here. */
int cf_watch_arch_known(void);
/* Bytes of the trap instruction, and its value in the lowest bytes. */
unsigned cf_watch_arch_trap(uint64_t *value);
/* Program counter of a thread that stands still: 0, or -1 with errno. */
int cf_watch_arch_pc(pid_t tid, uint64_t *pc);
int cf_watch_arch_set_pc(pid_t tid, uint64_t pc);
int cf_watch_arch_sp(pid_t tid, uint64_t *sp);
/* At the first instruction of a function: where it returns to, and the stack pointer when it has
   returned; -1 with errno. System V ABI of x86-64, 3.2; AAPCS64, 6.1. */
int cf_watch_arch_call(pid_t tid, uint64_t *to, uint64_t *sp);
/* How far the program counter is behind a trap instruction that was executed. */
unsigned cf_watch_arch_behind(void);
/* Watches these data, at most CF_WATCH_DATA_MOST; count 0 ends it. */
int cf_watch_arch_data(pid_t tid, const struct cf_watch_data *data, unsigned count);
/* How the instruction at pc is passed; `behind` becomes the address behind a string instruction. */
enum cf_watch_way cf_watch_arch_way(pid_t tid, uint64_t pc, uint64_t *behind);
/* Takes the step's flag out of those that were pushed. */
void cf_watch_arch_clean(pid_t tid);
/* Whether the system call at that address, in which the thread was, will be made again as it goes
   on. */
int cf_watch_arch_restarts(pid_t tid, uint64_t call);
/* Whether a step has also accessed watched data. */
int cf_watch_arch_step_hit(pid_t tid);
/* Whether data are reported before the access, which must then be stepped over. */
int cf_watch_arch_data_first(void);

#endif
