/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_stub.c - see watch_stub.h. On x86-64 only.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "capture/watch/reap.h"
#include "capture/watch/watch_parts.h"
#include "capture/watch/watch_stub.h"

#if defined(__x86_64__)

enum { PAGE = 4096, BYTES = 2 * PAGE, BELOW = 4 * PAGE, MOST = 8 };
/* words of the second page */
enum { START = 8, END = 16, FUNCTION = 24, TO = 32 };

/*
 * Data are in a page of their own: a processor clears its pipeline where a program writes beside
 * code that it executes (Intel 64 and IA-32 Optimization Reference Manual, "Mixing Code and Data").
 * All registers and the flags stay as they are, of which the ABI wants less: functions of one file
 * agree on others. LOOP, 20,000 times, takes some 10 to 50 microseconds and changes no flag.
 */
__asm__(".pushsection .rodata\n"
        "cf_stub_code:\n"
        "    mov %rax, cf_stub_code+4096+64(%rip)\n"
        "    mov %rcx, cf_stub_code+4096+72(%rip)\n"
        "    mov %rdx, cf_stub_code+4096+80(%rip)\n"
        "    mov $20000, %ecx\n"
        "1:  loop 1b\n"
        "    mov (%rsp), %rax\n"
        "    mov cf_stub_code+4096+24(%rip), %rax\n"
        "    lfence\n"
        "    rdtsc\n"
        "    lfence\n"
        "    mov %eax, cf_stub_code+4096+8(%rip)\n"
        "    mov %edx, cf_stub_code+4096+12(%rip)\n"
        "    mov cf_stub_code+4096+64(%rip), %rax\n"
        "    mov cf_stub_code+4096+72(%rip), %rcx\n"
        "    mov cf_stub_code+4096+80(%rip), %rdx\n"
        "    jmp *cf_stub_code+4096+24(%rip)\n"
        "    .balign 64, 0xcc\n"
        "cf_stub_return:\n"
        "    mov %rax, cf_stub_code+4096+88(%rip)\n"
        "    mov %rcx, cf_stub_code+4096+96(%rip)\n"
        "    mov %rdx, cf_stub_code+4096+104(%rip)\n"
        "    lfence\n"
        "    rdtsc\n"
        "    lfence\n"
        "    mov %eax, cf_stub_code+4096+16(%rip)\n"
        "    mov %edx, cf_stub_code+4096+20(%rip)\n"
        "cf_stub_trap:\n"
        "    nop\n"
        "    mov cf_stub_code+4096+88(%rip), %rax\n"
        "    mov cf_stub_code+4096+96(%rip), %rcx\n"
        "    mov cf_stub_code+4096+104(%rip), %rdx\n"
        "    jmp *cf_stub_code+4096+32(%rip)\n"
        "cf_stub_empty:\n"
        "    ret\n"
        "    .balign 8, 0xcc\n"
        "cf_stub_end:\n"
        ".popsection\n");

extern const char cf_stub_code[] __attribute__((visibility("hidden")));
extern const char cf_stub_return[] __attribute__((visibility("hidden")));
extern const char cf_stub_trap[] __attribute__((visibility("hidden")));
extern const char cf_stub_empty[] __attribute__((visibility("hidden")));
extern const char cf_stub_end[] __attribute__((visibility("hidden")));

static uint64_t place(const struct cf_watch_stub *s, const char *in_code)
{
    return s->page + (uint64_t)(in_code - cf_stub_code);
}

static int put(pid_t tid, uint64_t at, uint64_t word)
{
    return (int)ptrace(PTRACE_POKEDATA, tid, at, word);
}

static int get(pid_t tid, uint64_t at, uint64_t *word)
{
    errno = 0;
    *word = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, at, NULL);
    return errno ? -1 : 0;
}

/* Lets the thread go on alone until it hits the trap in front of `until`. */
static int run_until(struct thread *t, uint64_t until)
{
    for (int i = 0; i < MOST; i++) {
        const int number = t->signal; /* one that cannot wait */
        siginfo_t info;
        uint64_t pc;
        int status;

        t->signal = 0;
        if (ptrace(PTRACE_CONT, t->tid, NULL, (long)number) != 0 ||
            waitid(P_PID, (id_t)t->tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0 ||
            cf_reap_stop(t->tid, &status, __WALL) == 0)
            return -1; /* it has ended */
        if (status >> 16) {
            t->halted |= status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
            continue;
        }
        if (WSTOPSIG(status) == SIGTRAP && cf_watch_arch_pc(t->tid, &pc) == 0 && pc == until)
            return 0;
        t->signal = WSTOPSIG(status);
    }
    return -1;
}

/* Has the thread go on with these registers until there, with no signal but those that cannot wait,
   and gives it its own back. */
static int borrow(struct thread *t, struct user_regs_struct *r, uint64_t until)
{
    struct user_regs_struct own;
    int status;

    if (ptrace(PTRACE_GETREGS, t->tid, NULL, &own) != 0 || cf_watch_mask(t) != 0)
        return -1;
    r->orig_rax = (unsigned long long)-1; /* in no system call that would be made again */
    status = ptrace(PTRACE_SETREGS, t->tid, NULL, r) != 0 || run_until(t, until) != 0 ||
                     ptrace(PTRACE_GETREGS, t->tid, NULL, r) != 0
                 ? -1
                 : 0;
    (void)ptrace(PTRACE_SETREGS, t->tid, NULL, &own);
    cf_watch_unmask(t);
    return status;
}

/* ---- whether it may be ---- */

/* What /proc says of filters of system calls, and of shadow stacks, which refuse a return to where
   no call came from: "Control-flow Enforcement Technology Shadow Stack", in the kernel's manual. */
static void read_limits(const char *pid, char *limits, size_t size, int *shadow)
{
    char path[64], line[512];
    size_t used = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%s/status", pid);
    f = fopen(path, "re");
    limits[0] = '\0';
    while (f && fgets(line, sizeof line, f)) {
        if (!strncmp(line, "Seccomp", 7) && used < size)
            used += (size_t)snprintf(limits + used, size - used, "%s", line);
        *shadow |= !strncmp(line, "x86_Thread_features:", 20) && strstr(line, "shstk");
    }
    if (f)
        fclose(f);
}

static const char *unable(pid_t tid)
{
    char ours[512], its[512], pid[32];
    int shadow = 0, none = 0;

    snprintf(pid, sizeof pid, "%d", tid);
    read_limits("self", ours, sizeof ours, &none);
    read_limits(pid, its, sizeof its, &shadow);
    return shadow                   ? "it has a shadow stack"
           : strcmp(ours, its) != 0 ? "it filters its system calls"
                                    : NULL;
}

/* ---- mapping it ---- */

/* Below all that is mapped, where neither heap nor mmap() gets to. 0: anywhere,
   or with errno not known. */
static uint64_t below(pid_t tid)
{
    uint64_t lowest = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/maps", tid);
    f = fopen(path, "re");
    if (f && fscanf(f, "%" SCNx64, &lowest) != 1)
        lowest = 0;
    if (f)
        fclose(f);
    return lowest > 65536 + BELOW ? lowest - BELOW : 0;
}

const char *cf_watch_stub_map(struct cf_watch *w, pid_t tid, struct cf_watch_stub *s)
{
    const uint64_t call = 0xcc050f; /* syscall; int3 */
    struct thread *t = cf_watch_find_thread(w, tid);
    struct user_regs_struct r;
    const char *why = unable(tid);
    uint64_t word, at = 0, to;
    int status;

    if (why)
        return why;
    errno = 0;
    to = below(tid);
    cf_watch_note_refusal(w);
    if (!to && cf_watch_refused(w))
        return "where its memory begins cannot be read";
    if (!t || ptrace(PTRACE_GETREGS, tid, NULL, &r) != 0 || get(tid, r.rip, &word) != 0 ||
        put(tid, r.rip, (word & ~(uint64_t)0xffffff) | call) != 0)
        return "it is gone";
    at = r.rip;
    r.rax = SYS_mmap;
    r.rdi = to;
    r.rsi = BYTES;
    r.rdx = PROT_READ | PROT_WRITE | PROT_EXEC;
    r.r10 = MAP_PRIVATE | MAP_ANONYMOUS;
    r.r8 = (unsigned long long)-1;
    r.r9 = 0;
    status = borrow(t, &r, at + 3);
    if (put(tid, at, word) != 0 || status != 0)
        return "it is gone";
    if (r.rax > (uint64_t)-4096)
        return "it may not map memory to execute";
    *s = (struct cf_watch_stub){.page = r.rax, .function = at};
    s->trap = place(s, cf_stub_trap);
    for (uintptr_t i = 0; i < (uintptr_t)cf_stub_end - (uintptr_t)cf_stub_code; i += sizeof word) {
        memcpy(&word, cf_stub_code + i, sizeof word);
        if (put(tid, s->page + i, word) != 0)
            return "it is gone";
    }
    return NULL;
}

/* ---- going through it ---- */

int cf_watch_stub_enter(pid_t tid, struct cf_watch_stub *s)
{
    uint64_t sp;

    if (cf_watch_arch_sp(tid, &sp) != 0 || get(tid, sp, &s->to) != 0 ||
        put(tid, s->page + PAGE + TO, s->to) != 0)
        return -1;
    return put(tid, sp, place(s, cf_stub_return));
}

uint64_t cf_watch_stub_empty(struct cf_watch *w, pid_t tid, const struct cf_watch_stub *s)
{
    struct thread *t = cf_watch_find_thread(w, tid);
    struct user_regs_struct r;
    uint64_t ticks;

    if (!t || ptrace(PTRACE_GETREGS, tid, NULL, &r) != 0 ||
        put(tid, s->page + PAGE + FUNCTION, place(s, cf_stub_empty)) != 0)
        return UINT64_MAX;
    r.rip = s->page;
    if (borrow(t, &r, s->trap + cf_watch_arch_behind()) != 0 ||
        cf_watch_stub_read(tid, s, &ticks) != 0)
        return UINT64_MAX;
    return ticks;
}

int cf_watch_stub_go(pid_t tid, const struct cf_watch_stub *s)
{
    if (put(tid, s->page + PAGE + FUNCTION, s->function) != 0)
        return -1;
    return cf_watch_arch_set_pc(tid, s->page);
}

int cf_watch_stub_read(pid_t tid, const struct cf_watch_stub *s, uint64_t *ticks)
{
    uint64_t start, end;

    if (get(tid, s->page + PAGE + START, &start) != 0 || get(tid, s->page + PAGE + END, &end) != 0)
        return -1;
    *ticks = end > start ? end - start : 0;
    return 0;
}

#else

const char *cf_watch_stub_map(struct cf_watch *w, pid_t tid, struct cf_watch_stub *s)
{
    (void)w, (void)tid, (void)s;
    return "that is made for x86-64";
}

int cf_watch_stub_enter(pid_t tid, struct cf_watch_stub *s)
{
    (void)tid, (void)s;
    errno = ENOSYS;
    return -1;
}

uint64_t cf_watch_stub_empty(struct cf_watch *w, pid_t tid, const struct cf_watch_stub *s)
{
    (void)w, (void)tid, (void)s;
    return UINT64_MAX;
}

int cf_watch_stub_go(pid_t tid, const struct cf_watch_stub *s)
{
    (void)tid, (void)s;
    errno = ENOSYS;
    return -1;
}

int cf_watch_stub_read(pid_t tid, const struct cf_watch_stub *s, uint64_t *ticks)
{
    (void)tid, (void)s, (void)ticks;
    errno = ENOSYS;
    return -1;
}

#endif
