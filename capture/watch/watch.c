/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.c - what is asked for, stops, and going on. See watch.h, and ptrace(2) for kinds of stops.
 *
 * A thread that has hit a trap instruction is set back to it, and passes it before it goes on: see
 * watch_step.c. One that hits while another's hit is being served hits again when it is let go.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "capture/base/cf_command.h"
#include "capture/watch/reap.h"
#include "capture/watch/watch_parts.h"
#include "formats/base/cf_number.h"

enum { END_MS = 10000 };

/* ---- what is asked for ---- */

int cf_watch_parse(char *text, struct cf_watch_point *p)
{
    static const char *const kinds[] = {"break:", "write:", "access:"};
    char *where = NULL, *end;
    uint64_t bytes;

    *p = (struct cf_watch_point){0};
    for (unsigned i = 0; i < 3; i++)
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0) {
            p->kind = (enum cf_watch_kind)i;
            where = text + strlen(kinds[i]);
        }
    if (!where || !*where)
        return -1;
    end = strrchr(where, ':');
    if (end && p->kind != CF_WATCH_BREAK) {
        if (cf_read_number(end + 1, CF_READ_NUMBER, 8, &bytes) < 0 ||
            (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
            return -1;
        p->bytes = (unsigned)bytes;
        *end = '\0';
        where = strchr(text, ':') + 1;
    }
    if (*where >= '0' && *where <= '9')
        return cf_read_number(where, CF_READ_NUMBER, UINT64_MAX, &p->offset) == 0 && p->offset ? 0
                                                                                               : -1;
    p->symbol = where;
    end = strchr(where, '+');
    if (end) {
        *end = '\0';
        if (cf_read_number(end + 1, CF_READ_NUMBER, UINT64_MAX, &p->offset) < 0)
            return -1;
    }
    return *p->symbol ? 0 : -1;
}

const char *cf_watch_unable(const struct cf_watch_point *point, unsigned points)
{
    unsigned data = 0;

    if (points && !cf_watch_arch_known())
        return "places in programs can be watched on x86-64 and AArch64 only";
    for (unsigned i = 0; i < points; i++)
        data += point[i].kind != CF_WATCH_BREAK;
    if (data > CF_WATCH_DATA_MOST)
        return "processors watch four places of data at most";
    return data && !cf_watch_data_stops()
               ? "this machine's debug registers can be set and stop nothing, as in some virtual "
                 "machines"
               : NULL;
}

struct cf_watch *cf_watch_new(struct cf_tool *tool, const char *option,
                              const struct cf_watch_point *point, unsigned points)
{
    struct cf_watch *w = calloc(1, sizeof *w);

    if (w) {
        w->tool = tool;
        w->option = option;
        w->point = point;
        w->points = points;
    }
    return w;
}

void cf_watch_free(struct cf_watch *w)
{
    if (!w)
        return;
    free(w->process);
    free(w->thread);
    free(w);
}

void cf_watch_tell(struct cf_watch *w)
{
    for (unsigned i = 0; i < w->points; i++) {
        const char *symbol = w->point[i].symbol;

        if (w->several >> i & 1)
            cf_warn(w->tool,
                    "%s: several functions, data or libraries of a program have the symbol '%s': "
                    "the first that was found is watched alone",
                    w->option, symbol);
        if (w->found >> i & 1 || !symbol)
            continue;
        if (w->refused) {
            cf_warn(w->tool, "%s: symbol '%s' cannot be looked up: %s", w->option, symbol,
                    strerror(w->refused));
            w->tool->status = CF_EXIT_ENVIRONMENT; /* what was recorded is whole all the same */
        } else {
            cf_warn(w->tool,
                    "%s: no program that ran has a symbol '%s', nor its libraries: is it "
                    "stripped, or a variable of each thread?",
                    w->option, symbol);
        }
    }
    if (w->shared)
        cf_warn(w->tool, "%llu accesses came while another was served and share its snapshot",
                (unsigned long long)w->shared);
}

/* ---- stops ---- */

static void go_on(const struct cf_watch *w, struct thread *t)
{
    const int number = t->signal;

    t->stopped = 0;
    t->hit = NO_HIT;
    t->signal = 0;
    if (t->step == STEP_TO_MAKE) {
        t->halted |= t->group;
        t->group = 0;
        (void)ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (long)number);
        return;
    }
    if (t->group) {
        t->group = 0;
        (void)ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
        return;
    }
    if (t->halted) /* it stops at once as its process has, where that is still so */
        (void)ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
    t->halted = 0;
    (void)ptrace(w->returned ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL, (long)number);
}

int cf_watch_has_trap(pid_t tid)
{
    struct __ptrace_peeksiginfo_args some = {.nr = 8};
    siginfo_t info[8];
    long n;

    for (; (n = ptrace(PTRACE_PEEKSIGINFO, tid, &some, info)) > 0; some.off += (uint64_t)n)
        for (long i = 0; i < n; i++)
            if (info[i].si_signo == SIGTRAP)
                return 1;
    return 0;
}

/* A thread that stands goes on untraced, and nothing of ours is left in it. Forgets it, unless a
   trap of ours is on its way: then that is awaited first. */
static void let_go(struct cf_watch *w, struct thread *t)
{
    struct process *p = cf_watch_find_process(w, t->pid);

    t->hit = NO_HIT;
    cf_watch_arm(w, t, 0);
    for (unsigned i = 0; p && i < w->points; i++)
        if (p->trap[i].addr && !p->trap[i].out)
            p->trap[i].out = cf_watch_poke(p, t->tid, &p->trap[i], 0) == 0;
    if (p && p->entry.addr && !p->entry.out)
        p->entry.out = cf_watch_poke(p, t->tid, &p->entry, 0) == 0;
    if (cf_watch_has_trap(t->tid)) {
        go_on(w, t);
        return;
    }
    cf_watch_unmask(t);
    (void)ptrace(PTRACE_DETACH, t->tid, NULL, (long)t->signal);
    cf_watch_drop_thread(w, t->tid);
}

/* A SIGTRAP that is no event: 1 for a hit, 0 for one of our own stops, -1 for the program's own. */
static int on_trap(struct cf_watch *w, struct thread *t)
{
    siginfo_t info;
    struct trap *trap;
    uint64_t pc;

    if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info) != 0)
        return 0;
    if (info.si_code == TRAP_HWBKPT) {
        t->hit = w->released ? NO_HIT : HIT_DATA;
        cf_watch_arm(w, t, 1); /* and with that the reason in the status register is gone */
        return !w->released;
    }
    if (cf_watch_on_entry(w, t))
        return 0;
    trap = info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT ? cf_watch_trap_of(w, t, &pc)
                                                                   : NULL;
    if (!trap)
        return -1;
    (void)cf_watch_arch_set_pc(t->tid, trap->addr);
    t->hit = w->released || trap->out ? NO_HIT : HIT_TRAP;
    return t->hit != NO_HIT;
}

void cf_watch_on_call(struct cf_watch *w, struct thread *t)
{
    struct __ptrace_syscall_info info = {0};

    if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        t->calls = 1;
        t->call = (struct cf_watch_call){.pid = t->pid, .number = info.entry.nr};
        memcpy(t->call.argument, info.entry.args, sizeof t->call.argument);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->calls) {
        t->calls = 0;
        t->call.result = info.exit.rval;
        if (w->returned)
            w->returned(w->returned_arg, &t->call);
    }
}

void cf_watch_calls(struct cf_watch *w,
                    void (*returned)(void *arg, const struct cf_watch_call *call), void *arg)
{
    w->returned = returned;
    w->returned_arg = arg;
}

static void on_exec(struct cf_watch *w, struct thread *t)
{
    const pid_t tid = t->tid, pid = t->pid;
    struct process *p;

    t->step = NO_STEP;
    /* of all threads of the process this one is left */
    for (size_t i = w->threads; i-- > 0;)
        if (w->thread[i].pid == pid && w->thread[i].tid != tid)
            w->thread[i] = w->thread[--w->threads];
    p = cf_watch_find_process(w, pid);
    if (p)
        cf_watch_begin(w, p, tid);
    t = cf_watch_find_thread(w, tid);
    if (t) {
        t->fresh = 0;
        cf_watch_arm(w, t, 1);
    }
}

/* Returns 1 when this is a hit that is to be served. */
static int on_stop(struct cf_watch *w, pid_t tid, int status)
{
    struct thread *t = cf_watch_add_thread(w, tid);
    const int event = status >> 16, number = WSTOPSIG(status);
    int hit = 0, stepped;

    t->stopped = 1;
    t->group = 0;
    stepped = t->step != NO_STEP && event != PTRACE_EVENT_EXEC && cf_watch_late(w, t, status);
    if ((!event && number != (SIGTRAP | 0x80)) || !cf_watch_arch_restarts(tid, t->entered))
        t->entered = 0;
    switch (event) {
    case PTRACE_EVENT_EXEC:
        on_exec(w, t);
        break;
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
        cf_watch_add_born(w, tid);
        break;
    case PTRACE_EVENT_STOP:
        t->group = number != SIGTRAP;
        if (t->fresh)
            cf_watch_complete(w, t);
        t->fresh = 0;
        break;
    default:
        if (number == (SIGTRAP | 0x80)) {
            cf_watch_on_call(w, t);
            break;
        }
        hit = stepped ? t->hit == HIT_NEXT : number == SIGTRAP ? on_trap(w, t) : -1;
        if (stepped && hit)
            t->hit = HIT_DATA;
        if (hit < 0)
            t->signal = number;
        break;
    }
    t = cf_watch_find_thread(w, tid); /* the list may have moved */
    if (!t)
        return 0;
    if (hit == 1 && !w->stopping)
        return 1;
    if (hit == 1 && t->hit == HIT_DATA && !cf_watch_arch_data_first())
        w->shared++;
    if (hit == 1 && (t->hit == HIT_TRAP || cf_watch_arch_data_first()))
        t->hit = NO_HIT; /* it will come again */
    if (w->released)
        let_go(w, t);
    else if (!w->stopping)
        go_on(w, t);
    return 0;
}

/* Returns 1 where a thread has hit data while it passed another point. */
static unsigned next_hit(struct cf_watch *w)
{
    unsigned hits = 0;

    for (size_t i = 0; !w->stopping && i < w->threads; i++)
        if (w->thread[i].hit == HIT_NEXT) {
            w->thread[i].hit = HIT_DATA;
            hits++;
        }
    w->shared += hits ? hits - 1 : 0;
    return hits != 0;
}

unsigned cf_watch_handle(struct cf_watch *w, void (*ended)(void *arg, pid_t pid, int status),
                         void *arg)
{
    unsigned hits = next_hit(w);
    int status;
    pid_t tid;

    /* Only one hit at a time: another's thread is then stopped like all, and hits again. */
    while (!hits && (tid = cf_reap_next(&status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            hits += (unsigned)on_stop(w, tid, status);
        } else {
            cf_watch_drop_thread(w, tid);
            ended(arg, tid, status);
        }
        if (w->single && !w->stopping)
            break;
    }
    return hits;
}

int cf_watch_seize(struct cf_watch *w, pid_t pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL,
               (long)(PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                      PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD)) != 0)
        return -1;
    cf_watch_add_thread(w, pid)->fresh = 0;
    return 0;
}

static int is_moving(pid_t tid)
{
    const char state = cf_process_look(tid).state;

    return state != 0 && state != 'D' && state != 'Z';
}

unsigned cf_watch_stop(struct cf_watch *w, void (*ended)(void *arg, pid_t pid, int status),
                       void *arg)
{
    const int64_t until = cf_watch_now_ms() + CF_WATCH_WAIT_MS;
    unsigned moving;

    w->stopping = 1;
    for (size_t i = 0; i < w->threads; i++)
        if (!w->thread[i].stopped)
            (void)ptrace(PTRACE_INTERRUPT, w->thread[i].tid, NULL, NULL);
    for (;;) {
        (void)cf_watch_handle(w, ended, arg);
        moving = 0;
        for (size_t i = 0; i < w->threads; i++)
            moving += !w->thread[i].stopped && is_moving(w->thread[i].tid);
        if (!moving || cf_watch_now_ms() >= until)
            return moving;
        cf_watch_rest();
    }
}

/* ---- going on ---- */

void cf_watch_continue(struct cf_watch *w)
{
    cf_watch_pass(w);
    w->stopping = 0;
    for (size_t i = 0; i < w->threads; i++)
        if (w->thread[i].stopped && w->thread[i].hit != HIT_NEXT)
            go_on(w, &w->thread[i]);
}

void cf_watch_release(struct cf_watch *w)
{
    w->released = 1;
    w->stopping = 0;
    for (size_t i = w->threads; i-- > 0;) /* the last takes the place of one that goes */
        if (w->thread[i].stopped)
            let_go(w, &w->thread[i]);
}

size_t cf_watch_end(struct cf_watch *w, void (*ended)(void *arg, pid_t pid, int status), void *arg)
{
    const int64_t until = cf_watch_now_ms() + END_MS;

    w->released = 1;
    while (w->threads && cf_watch_now_ms() < until) {
        (void)cf_watch_stop(w, ended, arg);
        cf_watch_release(w);
        if (w->threads)
            cf_watch_rest();
    }
    return w->threads;
}
