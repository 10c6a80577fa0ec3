/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_observed: whom cf-capture-snapshot takes for a descendant and stops. Its children are
 * processes that share our memory, since it takes thousands of them to fill what Linux lists at
 * once.
 */
#include <stdint.h>
#include <time.h>

static uint64_t slow_us; /* by which the clock goes on whenever it is read */

static int read_clock(clockid_t clock, struct timespec *ts)
{
    static uint64_t ahead;
    const int r = clock_gettime(clock, ts);

    ahead += slow_us;
    ts->tv_sec += (time_t)(ahead / 1000000); /* tv_nsec may be a second and more */
    ts->tv_nsec += (long)(ahead % 1000000) * 1000;
    return r;
}

#define clock_gettime read_clock
#include "capture/snapshot/guard.c"
#include "capture/snapshot/observed.c"
#undef clock_gettime
#include "tap.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { LIST_BYTES = 16500, CHILDREN_MOST = 10000, STACK = 4096, CHAIN = 400 };

static pid_t child[CHILDREN_MOST];
static size_t children;

static int wait_for_ever(void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test die */
    while (!arg)
        pause();
    return 0;
}

static void end_children(void)
{
    while (children > 0) {
        kill(child[--children], SIGKILL);
        waitpid(child[children], NULL, 0);
    }
}

static char state(pid_t pid)
{
    struct stat_line s = {0};

    return read_stat_of(pid, &s) ? s.state : 0;
}

/* More of them than 16 KB hold the numbers of. */
static void many(void)
{
    char *stacks = mmap(NULL, (size_t)CHILDREN_MOST * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, 0, 0);
    struct cf_observed t = {.guarded = -1};
    size_t bytes = 0, wrong = 0, stopped = 0;
    unsigned rounds = 0;

    need(stacks != MAP_FAILED, "stacks");
    while (bytes < LIST_BYTES && children < CHILDREN_MOST) {
        const pid_t pid =
            clone(wait_for_ever, stacks + (children + 1) * STACK, CLONE_VM | SIGCHLD, NULL);
        char text[16];

        if (pid < 0)
            break;
        child[children++] = pid;
        bytes += (size_t)snprintf(text, sizeof text, "%d ", pid);
    }
    ok(bytes >= LIST_BYTES, "a list of %zu bytes", bytes);
    is_u64(cf_observed_find(&t), children, "all of %zu children are found", children);
    for (size_t i = 0; i < children; i++)
        wrong += !find(&t, child[i]);
    is_u64(wrong, 0, "and no number is cut");
    is_u64(t.count, children, "and nobody else is");
    is_u64(cf_observed_find(&t), 0, "none is new the second time");

    while (cf_observed_stop(&t) != 0 && ++rounds < 600)
        continue;
    for (size_t i = 0; i < children; i++)
        stopped += state(child[i]) == 'T';
    is_u64(stopped, children, "all are stopped");
    end_children();
    is_u64(cf_observed_find(&t), 0, "after their end none is new");
    is_u64(t.count, 0, "and none is left");
    cf_observed_free(&t);
}

/* A number in our list that belongs to another process by now. */
static int stops_stranger(pid_t stranger)
{
    struct cf_observed t = {.guarded = -1};
    struct stat_line s;
    const pid_t own = fork();

    if (own == 0)
        wait_for_ever(NULL);
    if (!read_stat_of(stranger, &s) || cf_observed_find(&t) != 1)
        return 2;
    if (add(&t, stranger) != 0 || add(&t, 1) != 0 || t.count != 1)
        return 3;
    t.observed = realloc(t.observed, 2 * sizeof *t.observed);
    t.observed[1] = (struct cf_observed_task){
        .pid = stranger, .start = s.start - 1, .mark = t.mark, .fresh = 1};
    t.count = t.room = 2;
    while (cf_observed_stop(&t) != 0)
        continue;
    if (state(stranger) == 'T')
        return 4;
    if (state(own) != 'T' || t.count != 1)
        return 5;
    cf_observed_continue(&t);
    if (state(own) == 'T')
        return 6;
    kill(own, SIGKILL);
    waitpid(own, NULL, 0);
    cf_observed_free(&t);
    return 0;
}

static void strangers(void)
{
    const pid_t stranger = fork();
    pid_t observer;
    int status = -1;

    if (stranger == 0)
        wait_for_ever(NULL);
    observer = fork();
    if (observer == 0)
        _exit(stops_stranger(stranger));
    waitpid(observer, &status, 0);
    is_u64((unsigned)status, 0, "neither a stranger nor one who has an old number is signalled");
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
}

/* The same where it is of ours, too, and was noted: that one is gone, and this one is new. */
static void number_again(void)
{
    struct cf_observed t = {.guarded = -1};
    const pid_t own = fork();

    if (own == 0)
        wait_for_ever(NULL);
    need(cf_observed_find(&t) == 1, "a child");
    t.observed[0].fresh = 0;
    t.observed[0].start--;
    is_u64(cf_observed_find(&t), 1, "a child with the number of another one is new");
    ok(t.count == 2 && t.observed[0].gone && !t.observed[1].gone && t.observed[1].pid == own,
       "and the other one is gone");
    kill(own, SIGKILL);
    waitpid(own, NULL, 0);
    t.observed[0].ended = 1;
    t.observed[1].fresh = 0;
    is_u64(cf_observed_find(&t), 0, "nobody is new");
    ok(t.count == 1 && t.observed[0].gone, "and who is gone stays until it is noted");
    cf_observed_free(&t);
}

/* Each process of a chain forks the next one at once. */
static void chain(volatile int *length)
{
    while (*length < CHAIN) {
        const pid_t next = fork();

        if (next == 0) {
            ++*length;
            continue;
        }
        wait_for_ever(NULL);
    }
    wait_for_ever(NULL);
}

static void being_born(void)
{
    volatile int *length =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, 0, 0);
    unsigned grown = 0, rounds = 0;

    for (; rounds < 20; rounds++) {
        const struct timespec pause = {.tv_nsec = 3000000};
        struct cf_observed t = {.guarded = -1};
        const pid_t first = fork();
        int before;

        if (first == 0)
            chain(length);
        while (*length < 3 + (int)rounds)
            continue;
        while (cf_observed_stop(&t) != 0)
            continue;
        before = *length;
        nanosleep(&pause, NULL);
        grown += *length != before;
        do {
            (void)cf_observed_find(&t);
            for (size_t i = t.count; i-- > 0;)
                kill(t.observed[i].pid, SIGKILL);
            while (waitpid(-1, NULL, WNOHANG) > 0)
                continue;
        } while (t.count > 0);
        cf_observed_free(&t);
        *length = 0;
    }
    is_u64(grown, 0, "in %u rounds nobody forks on after a stop", rounds);
}

/* The parent of a vfork waits where no signal reaches it. With a child that has memory of its own,
   it stands for one that waits for something else, and may go on at once. */
static void waits_for_child(int flags, const char *who, int stands_still)
{
    const pid_t parent = fork();
    struct cf_observed t = {.guarded = -1};
    const unsigned most = stands_still ? 600 : 3;
    unsigned rounds = 0;

    if (parent == 0) {
        if (syscall(SYS_clone, CLONE_VFORK | flags | SIGCHLD, NULL, NULL, NULL, NULL) == 0)
            for (;;)
                pause();
        _exit(1);
    }
    while (state(parent) != 'D')
        sched_yield();
    while (cf_observed_stop(&t) != 0 && ++rounds < most)
        continue;
    ok((rounds < most) == stands_still, "%s %s still", who,
       stands_still ? "stands" : "does not stand");
    is_u64(t.count, 2, "its child is found");
    for (size_t i = t.count; i-- > 0;)
        kill(t.observed[i].pid, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    cf_observed_free(&t);
}

/* Where two looks take longer than there is time for, a third one sees that all stand. */
static void slow_looks(void)
{
    struct cf_observed t = {.guarded = -1};
    const pid_t own = fork();

    if (own == 0)
        wait_for_ever(NULL);
    slow_us = 60000;
    is_u64(cf_observed_stop(&t), 0, "a process that is found by the first slow look stands");
    slow_us = 0;
    ok(state(own) == 'T', "it does");
    kill(own, SIGKILL);
    waitpid(own, NULL, 0);
    cf_observed_free(&t);
}

int main(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    many();
    strangers();
    number_again();
    being_born();
    waits_for_child(CLONE_VM, "the parent of a vfork", 1);
    waits_for_child(0, "who waits for something else", 0);
    slow_looks();
    return done();
}
