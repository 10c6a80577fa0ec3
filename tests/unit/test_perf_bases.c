/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segment bases of threads that end at any moment: whatever is read, their process ends as it would
 * have. A thread that ended while it was stopped and is not waited for keeps it from ending.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/perf/tasks/bases.c"
#include "tests/unit/tap.h"

enum { THREADS = 3000, STATUS = 7, LIMIT = 120 /* seconds: a process that never ends */ };

static int out[2];

static void *brief(void *loops)
{
    const pid_t tid = (pid_t)syscall(SYS_gettid);

    if (write(out[1], &tid, sizeof tid) != sizeof tid)
        _exit(1);
    for (volatile long i = 0; i < (long)(intptr_t)loops; i++)
        ;
    return NULL;
}

static void threads(void)
{
    pthread_t t;

    close(out[0]);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&t, NULL, brief, (void *)(intptr_t)(i * 7)) != 0 ||
            pthread_join(t, NULL) != 0)
            _exit(1);
    _exit(STATUS);
}

int main(void)
{
    unsigned seen = 0, known = 0;
    uint64_t fs, gs;
    int status = 0;
    pid_t child, tid;

    if (pipe(out) != 0 || (child = fork()) < 0)
        return 1;
    if (child == 0)
        threads();
    close(out[1]);
    for (; read(out[0], &tid, sizeof tid) == sizeof tid; seen++)
        if (cf_code_bases(tid, &fs, &gs) == 0)
            known += fs != 0;
    is_u64(seen, THREADS, "threads were there");
    alarm(LIMIT);
    ok(waitpid(child, &status, 0) == child && WIFEXITED(status), "their process ends");
    is_u64((uint64_t)WEXITSTATUS(status), STATUS, "as it would have; bases of %u were read", known);
#ifdef __x86_64__
    ok(known > 0, "of some they were read");
#endif
    return done();
}
