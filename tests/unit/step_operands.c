/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_operands PROGRAM: runs it one instruction at a time by ptrace, and prints the accesses that
 * capture/operands finds in each instruction and the registers before it, as CSV: pc, op, addr,
 * size. Exit status 3 where an instruction is not known or its registers are not.
 */
#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/operands/operands.h"

#ifdef __x86_64__
enum { SLOTS = 1 << 16, STATE = 4096, LEGACY_XMM = 160, AVX_AT = 576 };

struct slot {
    uint64_t pc;
    struct cf_operands o;
};

static struct slot slots[SLOTS];
static uint8_t vector[32][64];

static const struct cf_operands *at(pid_t pid, uint64_t pc)
{
    struct slot *s = &slots[pc % SLOTS];
    uint64_t code[2];

    if (s->pc == pc)
        return &s->o;
    for (unsigned i = 0; i < 2; i++)
        code[i] = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, pc + 8 * i, NULL);
    s->pc = pc;
    if (cf_operands_decode(&s->o, (const uint8_t *)code, CF_OPERANDS_BYTES) != 0) {
        fprintf(stderr, "0x%lx: not decoded\n", pc);
        exit(3);
    }
    return &s->o;
}

static void read_vectors(pid_t pid)
{
    static uint8_t state[STATE];
    struct iovec io = {state, sizeof state};

    if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &io) != 0)
        exit(3);
    for (unsigned i = 0; i < 16; i++) {
        memcpy(vector[i], state + LEGACY_XMM + 16 * i, 16);
        memcpy(vector[i] + 16, state + AVX_AT + 16 * i, 16);
    }
}

static void step(pid_t pid)
{
    static const char *const names[] = {"", "load", "store", "ifetch", "prefetch", "flush"};
    struct cf_access a[CF_OPERANDS_MOST];
    struct user_regs_struct r;
    const struct cf_operands *o;
    int n;

    ptrace(PTRACE_GETREGS, pid, NULL, &r);
    {
        struct cf_operands_state s = {
            .general = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10,
                        r.r11, r.r12, r.r13, r.r14, r.r15},
            .pc = r.rip,
            .flags = r.eflags,
            .fs_base = r.fs_base,
            .gs_base = r.gs_base,
            .vector = (const uint8_t(*)[64])vector,
        };
        o = at(pid, r.rip);
        if (o->needs & CF_OPERANDS_VECTOR)
            read_vectors(pid);
        n = cf_operands_accesses(o, &s, a);
    }
    if (n < 0)
        exit(3);
    for (int i = 0; i < n; i++)
        printf("0x%llx,%s,0x%lx,%u\n", r.rip, names[a[i].op], a[i].addr, a[i].size);
}

int main(int argc, char **argv)
{
    cpu_set_t here;
    int status;
    pid_t pid;

    if (argc < 2)
        return 2;
    CPU_ZERO(&here); /* both on one CPU: no wake-ups across them */
    CPU_SET((unsigned)sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    puts("pc,op,addr,size");
    waitpid(pid, &status, 0);
    while (WIFSTOPPED(status)) {
        if (WSTOPSIG(status) != SIGTRAP) {
            fprintf(stderr, "signal %d\n", WSTOPSIG(status));
            kill(pid, SIGKILL);
            return 3;
        }
        step(pid);
        ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
        waitpid(pid, &status, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
#else
int main(void)
{
    return 77;
}
#endif
