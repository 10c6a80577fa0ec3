/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bases.c - where the segments of a thread begin, which a sample of its registers does not say: it
 * is stopped for a moment.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/perf/tasks/code.h"

#ifdef __x86_64__
/* Whether the end of a thread is waited for elsewhere: it is a process that we started. */
static int is_child(pid_t tid)
{
    const struct cf_process is = cf_process_look(tid);

    return is.pid == tid && is.parent == getpid();
}
#endif

int cf_code_bases(pid_t tid, uint64_t *fs, uint64_t *gs)
{
#ifdef __x86_64__
    struct user_regs_struct r;
    siginfo_t info;
    int status, known, pass_on = 0;

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return -1;
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    /* Its end is not ours to take: it may be that of the program. */
    while (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0)
        if (errno != EINTR)
            return -1;
    /* Of another thread it is: while its tracer does not wait for it, its process cannot end. */
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED && is_child(tid))
        return -1;
    if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
        return -1;
    known = ptrace(PTRACE_GETREGS, tid, NULL, &r) == 0;
    if (status >> 16 == 0) /* a signal was on its way, and we must not take it */
        pass_on = WSTOPSIG(status);
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)pass_on);
    if (!known)
        return -1;
    *fs = r.fs_base;
    *gs = r.gs_base;
    return 0;
#else
    (void)tid, (void)fs, (void)gs;
    return -1;
#endif
}
