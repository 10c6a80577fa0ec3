/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_arch.c - registers of traced threads. See watch_arch.h.
 */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#if defined(__aarch64__)
#include <asm/ptrace.h>
#endif

#include "capture/watch/watch_arch.h"

#if defined(__x86_64__)

int cf_watch_arch_known(void)
{
    return 1;
}

unsigned cf_watch_arch_trap(uint64_t *value)
{
    *value = 0xcc; /* int3 */
    return 1;
}

int cf_watch_arch_pc(pid_t tid, uint64_t *pc)
{
    long value;

    errno = 0;
    value = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rip), NULL);
    *pc = (uint64_t)value;
    return errno ? -1 : 0;
}

int cf_watch_arch_set_pc(pid_t tid, uint64_t pc)
{
    return (int)ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rip), pc);
}

int cf_watch_arch_sp(pid_t tid, uint64_t *sp)
{
    long value;

    errno = 0;
    value = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rsp), NULL);
    *sp = (uint64_t)value;
    return errno ? -1 : 0;
}

int cf_watch_arch_call(pid_t tid, uint64_t *to, uint64_t *sp)
{
    long value;

    if (cf_watch_arch_sp(tid, sp) != 0)
        return -1;
    errno = 0;
    value = ptrace(PTRACE_PEEKDATA, tid, *sp, NULL); /* the call has put it there */
    *to = (uint64_t)value;
    *sp += sizeof value;
    return errno ? -1 : 0;
}

unsigned cf_watch_arch_behind(void)
{
    return 1;
}

static int debug_register(pid_t tid, unsigned number, uint64_t value)
{
    return (int)ptrace(PTRACE_POKEUSER, tid,
                       offsetof(struct user, u_debugreg) + number * sizeof(long), value);
}

int cf_watch_arch_data(pid_t tid, const struct cf_watch_data *data, unsigned count)
{
    uint64_t control = 0;

    if (debug_register(tid, 7, 0) != 0 || debug_register(tid, 6, 0) != 0)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t length = data[i].bytes == 8 ? 2 : data[i].bytes - 1; /* 1, 2, 4: 0, 1, 3 */
        const uint64_t access = data[i].kind == CF_WATCH_WRITE ? 1 : 3;

        if (debug_register(tid, i, data[i].addr) != 0)
            return -1;
        control |= (uint64_t)1 << 2 * i | (access | length << 2) << (16 + 4 * i);
    }
    return control ? debug_register(tid, 7, control) : 0;
}

static int byte_at(pid_t tid, uint64_t addr)
{
    long word;

    errno = 0;
    word = ptrace(PTRACE_PEEKTEXT, tid, addr & ~(uint64_t)7, NULL);
    return errno ? -1 : (int)((uint64_t)word >> 8 * (addr % 8) & 0xff);
}

enum cf_watch_way cf_watch_arch_way(pid_t tid, uint64_t pc, uint64_t *behind)
{
    static const unsigned char prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                             0x66, 0x67, 0xf0, 0xf2, 0xf3};
    int rep = 0, op, next;

    while ((op = byte_at(tid, pc)) >= 0 &&
           (memchr(prefixes, op, sizeof prefixes) || (op & 0xf0) == 0x40 /* REX */)) {
        rep |= op == 0xf2 || op == 0xf3;
        pc++;
    }
    next = byte_at(tid, pc + 1);
    *behind = pc + 1;
    if ((op == 0x0f && (next == 0x05 || next == 0x34)) || (op == 0xcd && next == 0x80))
        return CF_WAY_CALL;
    if (rep &&
        ((op >= 0x6c && op <= 0x6f) || (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf)))
        return CF_WAY_STRING;
    return op == 0x9c ? CF_WAY_FLAGS : CF_WAY_STEP;
}

void cf_watch_arch_clean(pid_t tid)
{
    const uint64_t trap_flag = 0x100;
    uint64_t sp;
    long word;

    if (cf_watch_arch_sp(tid, &sp) != 0)
        return;
    errno = 0;
    word = ptrace(PTRACE_PEEKDATA, tid, sp, NULL);
    if (!errno)
        (void)ptrace(PTRACE_POKEDATA, tid, sp, (uint64_t)word & ~trap_flag);
}

/* By the values of the kernel's include/linux/errno.h: it sets the program counter back last. */
int cf_watch_arch_restarts(pid_t tid, uint64_t call)
{
    struct user_regs_struct r;

    if (!call || ptrace(PTRACE_GETREGS, tid, NULL, &r) != 0 || r.rip <= call || r.rip > call + 15 ||
        (long)r.orig_rax < 0)
        return 0;
    return r.rax >= (uint64_t)-516 && r.rax <= (uint64_t)-512 && r.rax != (uint64_t)-515;
}

int cf_watch_arch_step_hit(pid_t tid)
{
    errno = 0;
    return (ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, u_debugreg) + 6 * sizeof(long),
                   NULL) &
            15) != 0 &&
           !errno;
}

int cf_watch_arch_data_first(void)
{
    return 0;
}

#elif defined(__aarch64__)

int cf_watch_arch_known(void)
{
    return 1;
}

unsigned cf_watch_arch_trap(uint64_t *value)
{
    *value = 0xd4200000; /* brk #0 */
    return 4;
}

static int registers(int request, pid_t tid, struct user_pt_regs *r)
{
    struct iovec v = {r, sizeof *r};

    return (int)ptrace(request, tid, NT_PRSTATUS, &v);
}

int cf_watch_arch_pc(pid_t tid, uint64_t *pc)
{
    struct user_pt_regs r;

    if (registers(PTRACE_GETREGSET, tid, &r) != 0)
        return -1;
    *pc = r.pc;
    return 0;
}

int cf_watch_arch_set_pc(pid_t tid, uint64_t pc)
{
    struct user_pt_regs r;

    if (registers(PTRACE_GETREGSET, tid, &r) != 0)
        return -1;
    r.pc = pc;
    return registers(PTRACE_SETREGSET, tid, &r);
}

int cf_watch_arch_sp(pid_t tid, uint64_t *sp)
{
    struct user_pt_regs r;

    if (registers(PTRACE_GETREGSET, tid, &r) != 0)
        return -1;
    *sp = r.sp;
    return 0;
}

int cf_watch_arch_call(pid_t tid, uint64_t *to, uint64_t *sp)
{
    struct user_pt_regs r;

    if (registers(PTRACE_GETREGSET, tid, &r) != 0)
        return -1;
    *to = r.regs[30];
    *sp = r.sp;
    return 0;
}

unsigned cf_watch_arch_behind(void)
{
    return 0;
}

int cf_watch_arch_data(pid_t tid, const struct cf_watch_data *data, unsigned count)
{
    struct user_hwdebug_state state = {0};
    struct iovec v = {&state, sizeof state};

    if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_HW_WATCH, &v) != 0)
        return -1;
    if (count > (state.dbg_info & 0xff)) {
        errno = ENOSPC;
        return -1;
    }
    v.iov_len = offsetof(struct user_hwdebug_state, dbg_regs) +
                (state.dbg_info & 0xff) * sizeof state.dbg_regs[0];
    memset(state.dbg_regs, 0, sizeof state.dbg_regs);
    for (unsigned i = 0; i < count; i++) {
        const uint32_t bytes = ((1u << data[i].bytes) - 1) << data[i].addr % 8;
        const uint32_t access = data[i].kind == CF_WATCH_WRITE ? 2 : 3;

        state.dbg_regs[i].addr = data[i].addr & ~(uint64_t)7;
        state.dbg_regs[i].ctrl = bytes << 5 | access << 3 | 2 << 1 | 1; /* of EL0, on */
    }
    return (int)ptrace(PTRACE_SETREGSET, tid, NT_ARM_HW_WATCH, &v);
}

enum cf_watch_way cf_watch_arch_way(pid_t tid, uint64_t pc, uint64_t *behind)
{
    const long word = ptrace(PTRACE_PEEKTEXT, tid, pc & ~(uint64_t)7, NULL);

    *behind = 0;
    return ((uint64_t)word >> 8 * (pc % 8) & 0xffe0001f) == 0xd4000001 ? CF_WAY_CALL /* svc */
                                                                       : CF_WAY_STEP;
}

void cf_watch_arch_clean(pid_t tid)
{
    (void)tid;
}

/* The kernel sets the program counter back first. */
int cf_watch_arch_restarts(pid_t tid, uint64_t call)
{
    uint64_t pc;

    return call && cf_watch_arch_pc(tid, &pc) == 0 && pc == call;
}

int cf_watch_arch_step_hit(pid_t tid)
{
    (void)tid;
    return 0;
}

int cf_watch_arch_data_first(void)
{
    return 1;
}

#else

int cf_watch_arch_known(void)
{
    return 0;
}

unsigned cf_watch_arch_trap(uint64_t *value)
{
    *value = 0;
    return 0;
}

int cf_watch_arch_pc(pid_t tid, uint64_t *pc)
{
    (void)tid, (void)pc;
    errno = ENOSYS;
    return -1;
}

int cf_watch_arch_set_pc(pid_t tid, uint64_t pc)
{
    (void)tid, (void)pc;
    errno = ENOSYS;
    return -1;
}

int cf_watch_arch_sp(pid_t tid, uint64_t *sp)
{
    (void)tid, (void)sp;
    errno = ENOSYS;
    return -1;
}

int cf_watch_arch_call(pid_t tid, uint64_t *to, uint64_t *sp)
{
    (void)tid, (void)to, (void)sp;
    errno = ENOSYS;
    return -1;
}

unsigned cf_watch_arch_behind(void)
{
    return 0;
}

int cf_watch_arch_data(pid_t tid, const struct cf_watch_data *data, unsigned count)
{
    (void)tid, (void)data, (void)count;
    errno = ENOSYS;
    return -1;
}

enum cf_watch_way cf_watch_arch_way(pid_t tid, uint64_t pc, uint64_t *behind)
{
    (void)tid, (void)pc;
    *behind = 0;
    return CF_WAY_STEP;
}

void cf_watch_arch_clean(pid_t tid)
{
    (void)tid;
}

int cf_watch_arch_restarts(pid_t tid, uint64_t call)
{
    (void)tid, (void)call;
    return 0;
}

int cf_watch_arch_step_hit(pid_t tid)
{
    (void)tid;
    return 0;
}

int cf_watch_arch_data_first(void)
{
    return 0;
}

#endif
