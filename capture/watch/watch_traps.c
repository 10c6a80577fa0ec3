/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch_traps.c - where the points are in a program: trap instructions and debug registers.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/watch/watch_parts.h"
#include "capture/watch/watch_symbol.h"

/* Another trap that stands at the same address, or NULL. */
static const struct trap *same(const struct process *p, const struct trap *trap)
{
    for (unsigned i = 0; i <= CF_WATCH_POINTS; i++) {
        const struct trap *other = i < CF_WATCH_POINTS ? &p->trap[i] : &p->entry;

        if (other != trap && other->in && other->addr == trap->addr)
            return other;
    }
    return NULL;
}

int cf_watch_poke(const struct process *p, pid_t tid, struct trap *trap, int in)
{
    const struct trap *other = same(p, trap);
    uint64_t value, mask;
    const unsigned bytes = cf_watch_arch_trap(&value);
    long word;

    if (!other) {
        mask = ((uint64_t)1 << 8 * bytes) - 1;
        errno = 0;
        word = ptrace(PTRACE_PEEKTEXT, tid, trap->addr, NULL);
        if (errno)
            return -1;
        if (in)
            trap->word = word;
        word = (long)(((uint64_t)word & ~mask) | ((in ? value : (uint64_t)trap->word) & mask));
        if (ptrace(PTRACE_POKETEXT, tid, trap->addr, word) != 0)
            return -1;
    } else if (in) {
        trap->word = other->word;
    }
    trap->in = in;
    return 0;
}

static void warn_once(struct cf_watch *w, unsigned i, const char *what)
{
    if (!(w->warned >> i & 1))
        cf_warn(w->tool, "%s: %s+0x%llx: %s", w->option,
                w->point[i].symbol ? w->point[i].symbol : "address",
                (unsigned long long)w->point[i].offset, what);
    w->warned |= 1u << i;
}

/* Whether a process may execute what is there: elsewhere a trap would be a change of its data. */
static int is_code(pid_t pid, uint64_t addr)
{
    char path[64], line[512];
    uint64_t start, end;
    char perms[8] = "";
    int code = 0;
    FILE *f;

    errno = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    f = fopen(path, "re");
    while (f && !code && fgets(line, sizeof line, f))
        code = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, perms) == 3 &&
               addr >= start && addr < end && perms[2] == 'x';
    if (f)
        fclose(f);
    return code;
}

/* Where no size is given: the most that can be watched there of what is left of the symbol. */
static unsigned fitting(uint64_t addr, uint64_t symbol_bytes, uint64_t offset)
{
    const uint64_t left = offset < symbol_bytes ? symbol_bytes - offset : 1;
    unsigned bytes = 8;

    while (bytes > 1 && (bytes > left || addr % bytes))
        bytes /= 2;
    return bytes;
}

int cf_watch_refused(const struct cf_watch *w)
{
    return w->refused;
}

void cf_watch_note_refusal(struct cf_watch *w)
{
    if (!w->refused && cf_is_refusal(errno))
        w->refused = errno;
}

/* Finds the places that have none yet, in the program itself or in its libraries. */
static void place(struct cf_watch *w, struct process *p, pid_t tid, int libraries)
{
    for (unsigned i = 0; i < w->points && !w->released; i++) {
        const struct cf_watch_point *point = &w->point[i];
        uint64_t addr = 0, bytes = UINT64_MAX, symbol_bytes;
        unsigned places = 1;

        if (p->placed >> i & 1)
            continue;
        if (point->symbol)
            places = cf_watch_symbol(p->pid, point->symbol, libraries, &addr, &bytes);
        else if (point->linked)
            places = !libraries && cf_watch_bias(p->pid, &addr) == 0;
        cf_watch_note_refusal(w);
        if (!places)
            continue;
        w->found |= 1u << i;
        if (places > 1 && !w->several)
            cf_watch_several(p->pid, point->symbol, libraries, w->places, sizeof w->places);
        w->several |= (unsigned)(places > 1) << i;
        p->placed |= 1u << i;
        addr += point->offset;
        if (!addr)
            continue;
        if (point->kind == CF_WATCH_BREAK) {
            p->trap[i].addr = addr;
            if (!is_code(p->pid, addr) || cf_watch_poke(p, tid, &p->trap[i], 1) != 0) {
                p->trap[i].addr = 0;
                cf_watch_note_refusal(w);
                if (!w->refused)
                    warn_once(w, i, "is no code of the program");
            }
            continue;
        }
        symbol_bytes = bytes;
        bytes = point->bytes ? point->bytes : fitting(addr, bytes, point->offset);
        if (point->symbol && !point->bytes && !point->offset && bytes < symbol_bytes)
            warn_once(w, i, "has more bytes than can be watched: only its first are");
        if (addr % bytes) {
            warn_once(w, i, "its address is no multiple of the bytes to watch");
            continue;
        }
        p->data[p->data_count++] = (struct cf_watch_data){addr, (unsigned)bytes, point->kind};
    }
}

void cf_watch_begin(struct cf_watch *w, struct process *p, pid_t tid)
{
    *p = (struct process){.pid = p->pid, .program = cf_watch_program(p->pid)};
    w->begun++;
    place(w, p, tid, 0);
    if (p->placed == (1u << w->points) - 1 || w->released)
        return;
    p->entry.addr = cf_watch_entry(p->pid);
    cf_watch_note_refusal(w);
    if (p->entry.addr && cf_watch_poke(p, tid, &p->entry, 1) != 0)
        p->entry.addr = 0;
}

void cf_watch_arm(struct cf_watch *w, const struct thread *t, int on)
{
    const struct process *p = cf_watch_find_process(w, t->pid);

    if (p && p->data_count &&
        cf_watch_arch_data(t->tid, p->data, on && !w->released ? p->data_count : 0) != 0 &&
        errno != ESRCH)
        cf_warn(w->tool, "%s: debug registers: %s", w->option, strerror(errno));
}

void cf_watch_complete(struct cf_watch *w, const struct thread *t)
{
    /* a further thread of a process finds all as it should be */
    struct process *p = cf_watch_find_process(w, t->tid);
    uint64_t value;
    const unsigned bytes = cf_watch_arch_trap(&value);
    const uint64_t mask = ((uint64_t)1 << 8 * bytes) - 1;

    for (unsigned i = 0; p && !w->released && i < w->points; i++) {
        struct trap *trap = &p->trap[i];

        errno = 0;
        if (trap->addr && !trap->out) {
            const long word = ptrace(PTRACE_PEEKTEXT, t->tid, trap->addr, NULL);

            trap->in = errno ? trap->in : ((uint64_t)word & mask) == value;
        }
    }
    for (unsigned i = 0; p && !w->released && i < w->points; i++)
        if (p->trap[i].addr && !p->trap[i].out && !p->trap[i].in)
            (void)cf_watch_poke(p, t->tid, &p->trap[i], 1);
    cf_watch_arm(w, t, 1);
}

int cf_watch_data_stops(void)
{
    enum { EITHER = WSTOPPED | WEXITED | WNOWAIT };
    static volatile long cell;
    const struct cf_watch_data data = {(uint64_t)(uintptr_t)&cell, 4, CF_WATCH_WRITE};
    const pid_t parent = getpid(), pid = fork();
    siginfo_t info;
    int untold;

    if (pid < 0)
        return 1;
    if (pid == 0) {
        /* where the parent has gone, another one would trace it, and leave it stopped */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
            ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) {
            raise(SIGSTOP);
            cell = 1;
        }
        _exit(0);
    }
    untold = waitid(P_PID, (id_t)pid, &info, EITHER) == 0 &&
             cf_watch_arch_data(pid, &data, 1) == 0 && ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 &&
             waitid(P_PID, (id_t)pid, &info, EITHER) == 0 && info.si_code == CLD_EXITED;
    kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return !untold;
}

int cf_watch_on_entry(struct cf_watch *w, struct thread *t)
{
    struct process *p = cf_watch_find_process(w, t->pid);
    uint64_t pc;

    if (!p || !p->entry.addr || cf_watch_arch_pc(t->tid, &pc) != 0 ||
        pc != p->entry.addr + cf_watch_arch_behind())
        return 0;
    (void)cf_watch_arch_set_pc(t->tid, p->entry.addr);
    (void)cf_watch_poke(p, t->tid, &p->entry, 0);
    p->entry.addr = 0;
    place(w, p, t->tid, 1);
    cf_watch_arm(w, t, 1);
    return 1;
}

struct trap *cf_watch_trap_of(struct cf_watch *w, const struct thread *t, uint64_t *pc)
{
    struct process *p = cf_watch_find_process(w, t->pid);

    if (!p || cf_watch_arch_pc(t->tid, pc) != 0)
        return NULL;
    for (unsigned i = 0; i < w->points; i++)
        if (p->trap[i].addr && p->trap[i].addr + cf_watch_arch_behind() == *pc)
            return &p->trap[i];
    return NULL;
}
