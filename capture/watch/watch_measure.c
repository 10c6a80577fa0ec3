/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_measure.c - for one who measures between two traps: which thread has hit, moving a trap,
 * and what a stop costs.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "capture/watch/reap.h"
#include "capture/watch/watch_parts.h"

int cf_watch_wait(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL);
}

void cf_watch_single(struct cf_watch *w)
{
    w->single = 1;
}

int cf_watch_get_hit(const struct cf_watch *w, struct cf_watch_hit *hit)
{
    for (size_t i = 0; i < w->threads; i++) {
        const struct thread *t = &w->thread[i];
        const struct process *p = NULL;
        uint64_t pc;

        for (size_t j = 0; j < w->processes; j++)
            if (w->process[j].pid == t->pid)
                p = &w->process[j];
        if (!t->stopped || t->hit != HIT_TRAP || !p || cf_watch_arch_pc(t->tid, &pc) != 0)
            continue;
        *hit = (struct cf_watch_hit){.tid = t->tid, .pid = t->pid};
        for (; hit->point < w->points; hit->point++)
            if (p->trap[hit->point].addr == pc && pc && !p->trap[hit->point].out)
                return 0;
    }
    return -1;
}

int cf_watch_move(struct cf_watch *w, pid_t tid, unsigned point, uint64_t addr)
{
    const struct thread *t = cf_watch_find_thread(w, tid);
    struct process *p = t ? cf_watch_find_process(w, t->pid) : NULL;
    struct trap *trap = p ? &p->trap[point] : NULL;

    if (!trap) {
        errno = ESRCH;
        return -1;
    }
    if (trap->addr && !trap->out && cf_watch_poke(p, tid, trap, 0) != 0)
        return -1;
    trap->out = 1;
    if (!addr)
        return 0;
    *trap = (struct trap){.addr = addr};
    if (cf_watch_poke(p, tid, trap, 1) != 0) {
        trap->addr = 0;
        return -1;
    }
    return 0;
}

/* One try; UINT64_MAX where something else came between. */
static uint64_t once(struct thread *t, uint64_t addr, uint64_t (*clock)(void))
{
    uint64_t from, to, pc;
    siginfo_t info;
    int status;

    from = clock();
    if (ptrace(PTRACE_CONT, t->tid, NULL, (long)t->signal) != 0 ||
        waitid(P_PID, (id_t)t->tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0)
        return UINT64_MAX;
    to = clock();
    t->signal = 0;
    if (cf_reap_stop(t->tid, &status, __WALL) == 0)
        return UINT64_MAX; /* it has ended */
    if (status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP && cf_watch_arch_pc(t->tid, &pc) == 0 &&
        pc == addr + cf_watch_arch_behind()) {
        (void)cf_watch_arch_set_pc(t->tid, addr);
        return to - from;
    }
    /* a signal that cannot wait, before it hit: it gets it when it goes on */
    if (status >> 16 == 0)
        t->signal = WSTOPSIG(status);
    else
        t->halted |= status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    return UINT64_MAX;
}

uint64_t cf_watch_least(struct cf_watch *w, pid_t tid, unsigned tries, uint64_t (*clock)(void))
{
    struct thread *t = cf_watch_find_thread(w, tid);
    uint64_t addr, least = UINT64_MAX;

    if (!t || cf_watch_arch_pc(tid, &addr) != 0 || cf_watch_mask(t) != 0)
        return UINT64_MAX;
    for (unsigned i = 0; i < tries; i++) {
        const uint64_t took = once(t, addr, clock);

        least = took < least ? took : least;
    }
    cf_watch_unmask(t);
    return least;
}

unsigned cf_watch_begun(const struct cf_watch *w)
{
    return w->begun;
}

unsigned cf_watch_found(const struct cf_watch *w, unsigned point)
{
    return !(w->found >> point & 1) ? 0 : w->several >> point & 1 ? 2 : 1;
}

const char *cf_watch_places(const struct cf_watch *w)
{
    return w->places;
}
