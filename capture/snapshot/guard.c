/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.c - what outlives the capture. See guard.h.
 *
 * It sleeps until the capture's end of a pipe is closed, and then reads the list, a file in memory
 * that both have: no snapshot wakes it. It is no child of the capture, all of which are observed,
 * and in a session of its own, since who kills a whole process group would kill it, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/snapshot/guard.h"

static void guard(const struct cf_observed *t, int alive)
{
    struct cf_observed_task o;
    sigset_t all;
    char byte;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setsid();
    while (read(alive, &byte, 1) < 0 && errno == EINTR)
        ;
    for (off_t at = 0; pread(t->guarded, &o, sizeof o, at) == sizeof o; at += sizeof o)
        cf_observed_signal(&o, SIGCONT);
    _exit(0);
}

void cf_guard_start(struct cf_observed *t)
{
    int alive[2], status = 0;
    pid_t between = -1;

    t->guarded = t->alive = -1;
    if (getpid() == 1) /* of a PID namespace: all end with us */
        return;
    t->guarded = memfd_create("cf-capture-snapshot", MFD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (t->guarded >= 0 && pipe2(alive, O_CLOEXEC) == 0)
        between = fork();
    if (between == 0) {
        close(alive[1]);
        between = fork();
        if (between == 0)
            guard(t, alive[0]);
        _exit(between < 0 ? errno : 0);
    }
    if (between > 0 && waitpid(between, &status, 0) == between)
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    if (between < 0 || status)
        cf_die(t->tool, CF_EXIT_ENVIRONMENT,
               "no process that lets the programs go on, should this one be killed: %s",
               strerror(errno));
    close(alive[0]);
    t->alive = alive[1];
}

int cf_guard_add(const struct cf_observed *t, const struct cf_observed_task *o)
{
    return t->guarded < 0 || write(t->guarded, o, sizeof *o) == sizeof *o ? 0 : -1;
}

void cf_guard_end(const struct cf_observed *t)
{
    if (t->guarded >= 0 && ftruncate(t->guarded, 0) != 0)
        cf_warn(t->tool, "programs that have stopped themselves go on: %s", strerror(errno));
}
