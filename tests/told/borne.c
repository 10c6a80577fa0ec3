/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * borne - a program that looks whether being timed changes anything in it, for the suites of
 * cf-capture pages.
 *
 *     borne MODE CLOCK
 *
 * observed() adds 7000 ticks to CLOCK (tests/told/clock.c). MODE r: registers and flags at its
 * entry and return are as they were, its code is as it was, and signals are heard, of which many
 * come meanwhile; b: its caller is as it was; s: the program has a filter of system calls; a: it
 * may map nothing more; f, l: it forks in the function, of which the child returns at once, or
 * late; c: it takes 500,000 ticks of the processor's counter. Returns 5, or else what is wrong.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static char area[3 * 4096] = {1};
static int clock_fd;
static char mode;
static pid_t child = -1;
static volatile sig_atomic_t heard;
static uint64_t seen[4];
static uint64_t *at __attribute__((used)) = seen;

int observed(void);
static int call(void);

static void tick(void)
{
    uint64_t now = 0;

    if (pread(clock_fd, &now, 8, 0) != 8)
        _exit(90);
    now += 7000;
    if (pwrite(clock_fd, &now, 8, 0) != 8)
        _exit(91);
}

__attribute__((noinline, used)) static void in_function(const void *caller)
{
    const char *own = (const char *)(uintptr_t)call;
    const uint64_t begin = __rdtsc();

    tick();
    while (mode == 'c' && __rdtsc() - begin < 500000)
        ;
    if (mode == 'b' && ((const char *)caller < own || (const char *)caller > own + 200))
        abort();
    if (mode != 'f' && mode != 'l')
        return;
    child = fork();
    if (child == 0 && mode == 'l')
        usleep(300000);
    if (child > 0 && mode == 'f') {
        siginfo_t info;

        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0)
            _exit(92);
    }
}

/* Keeps its registers and flags, and returns others. */
__asm__(".text\n"
        ".globl observed\n"
        ".type observed, @function\n"
        "observed:\n"
        "    push %rbp\n"
        "    mov at(%rip), %rbp\n"
        "    mov %rax, (%rbp)\n"
        "    mov %rcx, 8(%rbp)\n"
        "    mov %rdx, 16(%rbp)\n"
        "    pushfq\n"
        "    pop 24(%rbp)\n"
        "    mov 8(%rsp), %rdi\n"
        "    call in_function\n"
        "    mov $0x1111111111111111, %rax\n"
        "    mov $0x2222222222222222, %rcx\n"
        "    mov $0x3333333333333333, %rdx\n"
        "    pop %rbp\n"
        "    stc\n"
        "    ret\n"
        ".size observed, .-observed\n");

static void hear(int number)
{
    heard += number == SIGALRM;
}

static void filter(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {1, &all};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(93);
}

/* 0, or which of them is not as it should be. */
__attribute__((noinline)) static int call(void)
{
    uint64_t a = 0x4444444444444444, c = 0x5555555555555555, d = 0x6666666666666666, flags;

    __asm__ volatile("mov %%rsp, %%rbx\n\tsub $256, %%rsp\n\tand $-16, %%rsp\n\tstc\n\t"
                     "call observed\n\tpushfq\n\tpop %%rdi\n\tmov %%rbx, %%rsp"
                     : "+a"(a), "+c"(c), "+d"(d), "=D"(flags)
                     :
                     : "rbx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1");
    if (seen[0] != 0x4444444444444444 || seen[1] != 0x5555555555555555 ||
        seen[2] != 0x6666666666666666 || !(seen[3] & 1))
        return 20;
    if (a != 0x1111111111111111 || c != 0x2222222222222222 || d != 0x3333333333333333 ||
        !(flags & 1))
        return 21;
    return 5;
}

int main(int argc, char **argv)
{
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    const struct rlimit least = {4096, 4096};
    int status = 5, its = 0;

    if (argc != 3)
        return 2;
    mode = *argv[1];
    clock_fd = open(argv[2], O_RDWR);
    area[4096] = area[8192] = 1;
    signal(SIGALRM, hear);
    if (mode == 's')
        filter();
    if (mode == 'a' && setrlimit(RLIMIT_AS, &least) != 0)
        return 24;
    if (mode == 'r')
        setitimer(ITIMER_REAL, &often, NULL);
    status = call();
    while (mode == 'r' && heard < 20)
        pause();
    setitimer(ITIMER_REAL, &never, NULL);
    if (*(const unsigned char *)(uintptr_t)observed != 0x55)
        status = 22;
    if (child > 0 && (waitpid(child, &its, 0) != child || !WIFEXITED(its) || WEXITSTATUS(its) != 5))
        status = 23;
    return status;
}
