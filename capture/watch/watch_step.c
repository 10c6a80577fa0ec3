/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_step.c - passing what was hit, while all other threads stand still, so that none slips
 * past: what stood in the trap's place is put back, the thread executes it, and the trap is put in
 * again.
 *
 * Signals wait in the kernel meanwhile, so that each comes once, with its siginfo. A fault of the
 * instruction itself is delivered: the thread comes to the trap again if it returns. A system call
 * is begun and not made: the trap is in and the signals are as they were when it does anything, so
 * that a child has both. What else waits in the kernel for long, as for a page, is left alone with
 * its step.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/base/cf_command.h"
#include "capture/watch/reap.h"
#include "capture/watch/watch_parts.h"

enum { POLL_US = 20 };
enum awaited { STANDS, WAITS, HAS_ENDED };

void cf_watch_rest(void)
{
    const struct timespec pause = {.tv_nsec = POLL_US * 1000};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

int64_t cf_watch_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int cf_watch_mask(struct thread *t)
{
    static const int open[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
    uint64_t all = UINT64_MAX;

    if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof t->mask, &t->mask) != 0)
        return -1;
    for (unsigned i = 0; i < sizeof open / sizeof *open; i++)
        all &= ~((uint64_t)1 << (open[i] - 1));
    all |= t->mask;
    t->masked = ptrace(PTRACE_SETSIGMASK, t->tid, sizeof all, &all) == 0;
    return t->masked ? 0 : -1;
}

void cf_watch_unmask(struct thread *t)
{
    if (t->masked)
        (void)ptrace(PTRACE_SETSIGMASK, t->tid, sizeof t->mask, &t->mask);
    t->masked = 0;
}

/* Until the thread stands, or has waited in the kernel for long. */
static enum awaited await(pid_t tid, int *status)
{
    const int64_t until = cf_watch_now_ms() + CF_WATCH_WAIT_MS;

    for (;;) {
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 ||
            (info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED))
            return HAS_ENDED; /* as cf_watch_handle() will find */
        if (info.si_pid && cf_reap_stop(tid, status, __WALL) != 0)
            return STANDS;
        if (!info.si_pid) {
            const char state = cf_watch_now_ms() < until ? 'R' : cf_process_look(tid).state;

            if (state == 'S' || state == 'D')
                return WAITS;
            cf_watch_rest();
        }
    }
}

/* Whether a SIGTRAP says that the instruction is done: 1; 0: not yet; -1: it is the program's. */
static int is_done(struct cf_watch *w, struct thread *t, enum cf_watch_way way, uint64_t behind)
{
    siginfo_t info;
    uint64_t pc;

    if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info) != 0 || cf_watch_arch_pc(t->tid, &pc) != 0)
        return 1;
    if (info.si_code == TRAP_HWBKPT) { /* an iteration's, or on AArch64 the access to come */
        t->hit = w->released ? NO_HIT : HIT_NEXT;
        cf_watch_arm(w, t, 1);
        return way != CF_WAY_STRING;
    }
    if (way == CF_WAY_STRING && pc == behind + cf_watch_arch_behind() && info.si_code > 0) {
        (void)cf_watch_arch_set_pc(t->tid, behind);
        return 1;
    }
    if (info.si_code != TRAP_TRACE)
        return -1;
    if (cf_watch_arch_step_hit(t->tid)) {
        t->hit = w->released ? NO_HIT : HIT_NEXT;
        cf_watch_arm(w, t, 1);
    }
    if (way == CF_WAY_FLAGS && pc != t->from)
        cf_watch_arch_clean(t->tid);
    return 1;
}

/* Until the instruction is executed, or something is known that prevents it. 1 where it waited in
   the kernel and is not executed. */
static int execute(struct cf_watch *w, struct thread *t, enum cf_watch_way way, uint64_t behind)
{
    const int request = way == CF_WAY_CALL     ? PTRACE_SYSCALL
                        : way == CF_WAY_STRING ? PTRACE_CONT
                                               : PTRACE_SINGLESTEP;
    int given_up = 0;

    for (;;) {
        int status, event, number = t->signal;
        enum awaited a;

        t->signal = 0;
        if (ptrace(request, t->tid, NULL, (long)number) != 0)
            return 0;
        while ((a = await(t->tid, &status)) == WAITS && request != PTRACE_SINGLESTEP)
            given_up = ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) == 0;
        if (a == WAITS) {
            t->stopped = 0;
            t->step = STEP_TO_MAKE;
        }
        if (a != STANDS)
            return 0;
        event = status >> 16;
        number = WSTOPSIG(status);
        if (event) {
            t->halted |= event == PTRACE_EVENT_STOP && number != SIGTRAP;
            if (given_up)
                return 1;
        } else if (number == (SIGTRAP | 0x80)) {
            cf_watch_on_call(w, t);
            t->entered = t->from;
            return 0;
        } else if (number != SIGTRAP) {
            t->signal = number;
            if (number != SIGSTOP) /* which cannot wait: it has to go through to the stop */
                return 0;
        } else {
            const int done = is_done(w, t, way, behind);

            t->signal = done < 0 ? number : 0;
            if (done)
                return 0;
        }
    }
}

/* The traps at this address, or all that are not out for good. 1 where there was one. */
static int poke_all(struct cf_watch *w, pid_t pid, pid_t tid, uint64_t at, int in)
{
    struct process *p = cf_watch_find_process(w, pid);
    int some = 0;

    for (unsigned i = 0; p && i < w->points; i++) {
        struct trap *trap = &p->trap[i];

        if (trap->addr && !trap->out && trap->in != in && (!at || trap->addr == at))
            some |= cf_watch_poke(p, tid, trap, in) == 0;
    }
    return some;
}

static void step_over(struct cf_watch *w, struct thread *t)
{
    const struct process *p = cf_watch_find_process(w, t->pid);
    struct trap end = {0};
    int waited;
    enum cf_watch_way way = cf_watch_arch_way(t->tid, t->from, &end.addr);

    if (way == CF_WAY_STRING && cf_watch_poke(p, t->tid, &end, 1) != 0)
        way = CF_WAY_STEP;
    waited = cf_watch_mask(t) == 0 && execute(w, t, way, end.addr);
    if (end.in)
        (void)cf_watch_poke(p, t->tid, &end, 0);
    if (waited && way == CF_WAY_STRING) /* alone, up to the page; with the rest it hits again */
        (void)execute(w, t, CF_WAY_STEP, 0);
    if (t->step == NO_STEP)
        cf_watch_unmask(t);
}

int cf_watch_late(struct cf_watch *w, struct thread *t, int status)
{
    const int event = status >> 16, number = WSTOPSIG(status);
    uint64_t pc;
    int done = 0;

    if (t->step == STEP_TO_MAKE && (event || number == SIGSTOP) &&
        cf_watch_arch_pc(t->tid, &pc) == 0 && pc == t->from)
        return 0;
    if (!event && number == SIGTRAP)
        done = is_done(w, t, cf_watch_arch_way(t->tid, t->from, &pc), 0) > 0;
    t->step = !done && cf_watch_has_trap(t->tid) ? STEP_MADE : NO_STEP;
    if (!w->released)
        (void)poke_all(w, t->pid, t->tid, 0, 1);
    cf_watch_unmask(t);
    if (cf_watch_arch_data_first())
        cf_watch_arm(w, t, 1);
    return done;
}

static void pass(struct cf_watch *w, struct thread *t)
{
    const int data = t->hit == HIT_DATA;

    t->hit = NO_HIT;
    if (data && !cf_watch_arch_data_first())
        return;
    t->from = t->entered;
    if (!t->from && cf_watch_arch_pc(t->tid, &t->from) != 0)
        return;
    if (!poke_all(w, t->pid, t->tid, t->from, 0) && !data)
        return;
    if (data)
        cf_watch_arm(w, t, 0);
    step_over(w, t);
    if (t->step != NO_STEP)
        return;
    for (size_t i = 0; i < w->threads; i++) /* itself, or another one */
        if (w->thread[i].pid == t->pid && w->thread[i].stopped)
            (void)poke_all(w, t->pid, w->thread[i].tid, 0, 1);
    if (data)
        cf_watch_arm(w, t, 1);
}

void cf_watch_pass(struct cf_watch *w)
{
    for (size_t i = 0; i < w->threads; i++) {
        struct thread *t = &w->thread[i];

        if (!t->stopped)
            continue;
        /* a stop of ours has interrupted its system call, which comes to the trap again */
        if (t->hit == HIT_TRAP || t->hit == HIT_DATA ||
            (!t->group && !t->signal && cf_watch_arch_restarts(t->tid, t->entered)))
            pass(w, t);
    }
}
