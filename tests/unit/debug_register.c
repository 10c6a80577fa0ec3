/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug_register: whether a write to a word that a debug register watches stops a child. Written
 * apart from capture/watch, whose refusals suites hold against it. Exit status: 0 it does, 1 it
 * does not, 2 that cannot be told here.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
#if defined(__x86_64__)
    enum {
        ON = 1,
        WRITES = 1 << 16,
        EIGHT_BYTES = 2 << 18
    }; /* Intel SDM, 3B, "Debug Control Register (DR7)" */
    static volatile long word;
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        word = 1;
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
        return 2;
    if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg), &word) == 0 &&
        ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]),
               ON | WRITES | EIGHT_BYTES) == 0 &&
        ptrace(PTRACE_CONT, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child)
        status = WIFSTOPPED(status) ? 0 : 1;
    else
        status = 2;
    if (status != 1)
        kill(child, SIGKILL);
    return status;
#else
    return 2;
#endif
}
