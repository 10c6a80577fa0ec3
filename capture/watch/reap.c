/* SPDX-License-Identifier: BSD-2-Clause */
/* reap.c - waiting for children at a real-time priority. See reap.h. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/watch/reap.h"

static pid_t release(pid_t pid, int *status, int options)
{
    static const struct sched_param ordinary;
    const int policy = sched_getscheduler(0);
    struct sched_param own = {0};
    int lowered = 0;

    if ((policy == SCHED_FIFO || policy == SCHED_RR) && sched_getparam(0, &own) == 0)
        lowered = sched_setscheduler(0, SCHED_OTHER, &ordinary) == 0;
    pid = waitpid(pid, status, WNOHANG | options);
    if (lowered)
        (void)sched_setscheduler(0, policy, &own);
    return pid;
}

pid_t cf_reap_stop(pid_t pid, int *status, int options)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | options) != 0 || info.si_pid != pid)
        return 0;
    *status = W_STOPCODE(info.si_status); /* with the event of a trace above the signal */
    return pid;
}

pid_t cf_reap_next(int *status, int options)
{
    for (;;) {
        siginfo_t info;
        pid_t pid;

        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | options) != 0)
            return -1;
        pid = info.si_pid;
        if (pid == 0)
            return 0;
        if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED) {
            pid = release(pid, status, options);
            if (pid != 0)
                return pid;
            continue;
        }
        if (cf_reap_stop(pid, status, options) == pid)
            return pid;
    }
}
