/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fine.c - one breakpoint at a time. See fine.h.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "capture/perf/tasks/code.h"
#include "capture/perf/fine.h"
#include "capture/perf/suspects.h"
#include "formats/base/cf_memory.h"
#include "formats/base/cf_strings.h"
#include "formats/program/cf_build.h"

enum {
    PAGE = 4096,         /* bytes, at least */
    PLACES_MOST = 10000, /* of an earlier stream */
    /* of a breakpoint, with the state's word for its kind */
    SAMPLE_BYTES = 64 + 8 * __builtin_popcountll(CF_RECORD_REGISTERS),
};

struct place {
    uint32_t pid; /* of an address; 0: an offset, wherever the file is mapped */
    uint64_t at;
    char *file, *build;
    uint64_t misses; /* of a place, which are still to be stated */
};

struct watched { /* a thread with the breakpoint, or that had it until its samples have come */
    uint32_t pid, tid;
    uint64_t addr, fs, gs; /* of its segments, where they are needed */
    int fd;                /* -1: it had it */
};

struct cf_fine {
    struct cf_fine_options o;
    struct cf_records *records;
    struct cf_tasks *tasks;
    struct cf_code *code;
    struct cf_suspects *suspects; /* of samples */
    struct place *waiting;        /* of an earlier stream */
    size_t waits, waits_room, next;
    struct place now; /* being watched, if active */
    struct watched *watched;
    size_t count, room;
    struct cf_operands operands; /* of the instruction */
    int active, known, unsuitable, set_once;
    int other;                 /* the file is mapped, but another build of it */
    struct cf_strings *others; /* such files */
    uint64_t *why;             /* it is being taken away, for this; counted */
    uint64_t stopped;          /* since then */
    size_t ring_bytes;         /* of a thread */
    uint64_t until, line;      /* line: of the access before */
    uint32_t seen, run;
    uint64_t idle; /* since when nothing is watched */
    struct cf_fine_census census;
};

struct cf_fine *cf_fine_new(const struct cf_fine_options *o, struct cf_records *records,
                            struct cf_tasks *tasks)
{
    struct cf_fine *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->o = *o;
    f->records = records;
    f->tasks = tasks;
    f->ring_bytes = (size_t)sysconf(_SC_PAGESIZE);
    while (f->ring_bytes < (size_t)o->most * SAMPLE_BYTES)
        f->ring_bytes *= 2;
    f->code = cf_code_new(records, tasks);
    f->suspects = cf_suspects_new(o->sets, o->line_size);
    f->others = cf_strings_new();
    if (f->code && f->suspects && f->others)
        return f;
    cf_fine_free(f);
    return NULL;
}

static void free_place(struct place *p)
{
    free(p->file);
    free(p->build);
    p->file = p->build = NULL;
}

void cf_fine_free(struct cf_fine *f)
{
    if (!f)
        return;
    for (size_t i = f->next; i < f->waits; i++)
        free_place(&f->waiting[i]);
    free(f->waiting);
    free_place(&f->now);
    cf_strings_free(f->others);
    free(f->watched);
    cf_suspects_free(f->suspects);
    cf_code_free(f->code);
    free(f);
}

/* ---- what waits ---- */

int cf_fine_place(struct cf_fine *f, const char *file, const char *build, uint64_t offset,
                  uint64_t misses)
{
    struct place p = {.at = offset, .misses = misses};

    if (!f->o.most || f->waits - f->next >= PLACES_MOST)
        return 0;
    p.file = strdup(file);
    p.build = strdup(build);
    if (!p.file || !p.build ||
        cf_array_room(&f->waiting, &f->waits_room, f->waits + 1, sizeof *f->waiting) != 0) {
        free_place(&p);
        return -1;
    }
    f->waiting[f->waits++] = p;
    return 0;
}

/* Whether an instruction that had its turn may have another: none waits, and the one that has the
   breakpoint had its time, or none has had it for as long. */
static int gives_again(const struct cf_fine *f, const struct cf_record *r)
{
    if (cf_suspects_waiting(f->suspects))
        return 0;
    if (f->active)
        return r->time >= f->until && (r->pid != f->now.pid || r->ip != f->now.at);
    return r->time >= f->idle && r->time - f->idle >= f->o.expire_ns;
}

int cf_fine_sampled(struct cf_fine *f, const struct cf_record *r, int missed)
{
    return f->o.most ? cf_suspects_sampled(f->suspects, r->pid, r->tid, r->ip, r->addr, missed,
                                           gives_again(f, r))
                     : 0;
}

/* ---- the breakpoint ---- */

static int watches(const struct cf_fine *f, uint32_t tid, uint64_t addr)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->watched[i].tid == tid && f->watched[i].addr == addr)
            return 1;
    return 0;
}

static void watch_thread(struct cf_fine *f, uint32_t pid, uint32_t tid, uint64_t addr)
{
    struct perf_event_attr attr;
    struct watched w = {.pid = pid, .tid = tid, .addr = addr};

    if (watches(f, tid, addr) || cf_array_room(&f->watched, &f->room, f->count + 1, sizeof w) != 0)
        return;
    cf_perf_breakpoint(&attr, addr);
    w.fd = cf_perf_open(&attr, (pid_t)tid, -1);
    if (w.fd >= 0 && cf_records_add(f->records, w.fd, CF_PERF_BREAKPOINT, 0, (pid_t)tid, -1,
                                    f->ring_bytes) != 0) {
        f->census.error = errno;
        close(w.fd);
        return;
    }
    if (w.fd < 0) {
        if (errno != ESRCH)
            f->census.error = errno;
        return;
    }
    if (f->operands.needs & CF_OPERANDS_SEGMENT) {
        if (cf_code_bases((pid_t)tid, &w.fs, &w.gs) != 0) {
            f->census.segments++;
            cf_records_remove(f->records, w.fd);
            return;
        }
    }
    f->census.installed += !f->set_once;
    f->set_once = 1;
    f->watched[f->count++] = w;
    ioctl(w.fd, PERF_EVENT_IOC_REFRESH, (int)f->o.most);
}

/* Whether a breakpoint there would tell nothing, or harm the program; counted. */
static int is_unsuitable(struct cf_fine *f)
{
    const uint8_t needs = f->operands.needs;

    f->census.vectors += (needs & CF_OPERANDS_VECTOR) != 0;
    f->census.exclusives += (needs & CF_OPERANDS_MONITOR) != 0;
    f->census.authenticated += (needs & CF_OPERANDS_POINTER) != 0;
    return (needs & (CF_OPERANDS_VECTOR | CF_OPERANDS_MONITOR | CF_OPERANDS_POINTER)) != 0;
}

static void watch_process(struct cf_fine *f, uint32_t pid, uint64_t addr)
{
    const struct dirent *e;
    char path[64];
    DIR *d;

    if (f->unsuitable)
        return;
    if (!f->known) {
        if (cf_code_read(f->code, pid, addr, &f->operands) != 0) {
            f->census.unknown += kill((pid_t)pid, 0) == 0; /* it has not ended meanwhile */
            f->unsuitable = 1;
            return;
        }
        f->unsuitable = is_unsuitable(f);
        if (f->unsuitable)
            return;
        f->known = 1;
    }
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            watch_thread(f, pid, (uint32_t)strtoul(e->d_name, NULL, 10), addr);
    if (d)
        closedir(d);
}

static void watch_mapped(void *arg, uint32_t pid, uint64_t addr, const char *build)
{
    struct cf_fine *f = arg;
    int fresh;

    if (!f->now.build[0] || cf_build_same(f->now.build, build)) {
        watch_process(f, pid, addr);
        return;
    }
    f->other = 1;
    if (!cf_strings_number(f->others, f->now.file, strlen(f->now.file), &fresh))
        f->census.error = ENOMEM;
}

/* All threads of now; those that came since the last time too. */
static void watch(struct cf_fine *f)
{
    if (f->now.file) {
        cf_tasks_places(f->tasks, f->now.file, f->now.at, watch_mapped, f);
        f->unsuitable |= f->other && !f->known;
    } else
        watch_process(f, f->now.pid, f->now.at);
}

void cf_fine_stop(struct cf_fine *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->watched[i].fd >= 0) {
            cf_records_remove(f->records, f->watched[i].fd);
            f->watched[i].fd = -1;
        }
}

/* The breakpoint is gone; what it has seen is on its way still, up to now. */
static void leave(struct cf_fine *f, uint64_t *why)
{
    struct timespec now;

    cf_fine_stop(f);
    clock_gettime(CLOCK_MONOTONIC, &now);
    f->why = why;
    f->stopped = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void left(struct cf_fine *f, uint64_t now)
{
    *f->why += f->set_once || f->why == &f->census.unsuitable;
    /* A place of a file that has not run may belong to a later phase. */
    if (f->why == &f->census.expired && f->now.file && !f->seen &&
        cf_fine_place(f, f->now.file, f->now.build, f->now.at, f->now.misses) != 0)
        f->census.error = ENOMEM;
    free_place(&f->now);
    f->why = NULL;
    f->active = 0;
    f->idle = now;
}

static void note_mapped(void *arg, uint32_t pid, uint64_t addr, const char *build)
{
    (void)pid;
    (void)addr;
    (void)build;
    *(int *)arg = 1;
}

/* The first place that waits and that a program has now: f->waits where there is none. */
static size_t first_mapped(const struct cf_fine *f)
{
    size_t i = f->next;
    int mapped = 0;

    for (; i < f->waits; i++) {
        cf_tasks_places(f->tasks, f->waiting[i].file, f->waiting[i].at, note_mapped, &mapped);
        if (mapped)
            break;
    }
    return i;
}

/* Of an earlier stream, in its order; there are no samples beside it. */
static void take_place(struct cf_fine *f, size_t at)
{
    f->now = f->waiting[at];
    memmove(f->waiting + f->next + 1, f->waiting + f->next, (at - f->next) * sizeof *f->waiting);
    f->next++;
    if (f->next > 1024 && f->next * 2 > f->waits) { /* those before are done with */
        memmove(f->waiting, f->waiting + f->next, (f->waits - f->next) * sizeof *f->waiting);
        f->waits -= f->next;
        f->next = 0;
    }
}

static int another_waits(const struct cf_fine *f)
{
    return first_mapped(f) < f->waits || cf_suspects_waiting(f->suspects);
}

static void next(struct cf_fine *f, uint64_t now)
{
    const size_t at = first_mapped(f);

    if (at < f->waits) {
        take_place(f, at);
    } else if (cf_suspects_waiting(f->suspects)) {
        f->now = (struct place){0};
        cf_suspects_next(f->suspects, &f->now.pid, &f->now.at);
    } else {
        return;
    }
    f->count = f->seen = f->run = 0;
    f->known = f->unsuitable = f->set_once = f->other = 0;
    f->active = 1;
    f->until = now + f->o.expire_ns;
    watch(f);
}

void cf_fine_turn(struct cf_fine *f, uint64_t now)
{
    if (f->active && f->why) {
        if (cf_records_sure(f->records) >= f->stopped)
            left(f, now);
    } else if (f->active) {
        if (f->unsuitable)
            leave(f, &f->census.unsuitable);
        else if (f->seen >= f->o.most)
            leave(f, &f->census.full);
        else if (f->o.sets > 1 && f->run >= f->o.same_set)
            leave(f, &f->census.early);
        else if (now >= f->until && another_waits(f))
            leave(f, &f->census.expired);
        else
            watch(f);
    }
    if (!f->active)
        next(f, now);
}

/* ---- samples ---- */

/* Accesses in succession on one set; one to the line of the one before says nothing. */
static void see_line(struct cf_fine *f, uint64_t line)
{
    if (f->seen == 1 || line != f->line)
        f->run = f->seen > 1 && line % f->o.sets == f->line % f->o.sets ? f->run + 1 : 1;
    f->line = line;
}

int cf_fine_accesses(struct cf_fine *f, const struct cf_record *r, struct cf_access *access,
                     uint64_t *misses)
{
    struct cf_operands_state state = r->state;
    struct cf_operands o;
    size_t i = 0;
    int n;

    *misses = 0;
    while (i < f->count && f->watched[i].tid != r->tid)
        i++;
    if (!r->has_state || i == f->count || cf_code_read(f->code, r->pid, r->ip, &o) != 0)
        return 0;
    state.pc = r->ip;
    state.fs_base = f->watched[i].fs;
    state.gs_base = f->watched[i].gs;
    n = cf_operands_accesses(&o, &state, access);
    if (n <= 0 || f->seen >= f->o.most) /* threads beside each other see more */
        return 0;
    f->seen++;
    f->census.accesses++;
    *misses = f->now.misses;
    f->now.misses = 0;
    see_line(f, access[0].addr / f->o.line_size);
    return n;
}

int cf_fine_decode(struct cf_fine *f, const struct cf_record *r, struct cf_access *access)
{
    struct cf_access all[CF_OPERANDS_MOST];
    struct cf_operands_state state = r->state;
    struct cf_operands o;
    int n;

    state.pc = r->ip;
    if (cf_code_read(f->code, r->pid, r->ip, &o) != 0)
        return 0;
    n = cf_operands_accesses(&o, &state, all);
    if (n < 0 && o.places) { /* by vector registers: of an element it is known */
        const struct cf_operand *p = &o.place[0];

        all[0].op = p->op ? p->op : p->loads ? CF_LOAD : CF_STORE;
        all[0].addr = r->addr;
        all[0].size = p->element ? p->element : 1;
        n = 1;
    }
    if (n <= 0)
        return 0;
    *access = all[0];
    for (int i = 0; r->has_state && i < n; i++)
        if (all[i].addr <= r->addr && r->addr - all[i].addr < all[i].size) {
            const uint64_t before = r->addr - all[i].addr, page = PAGE - r->addr % PAGE;

            *access = all[i];
            access->size -= (uint32_t)before;
            if (access->size > page) /* of the rest its own faults say, if it has any */
                access->size = (uint32_t)page;
            break;
        }
    access->addr = r->addr;
    return 1;
}

struct cf_fine_census cf_fine_census(const struct cf_fine *f)
{
    struct cf_fine_census c = f->census;

    c.others = cf_strings_count(f->others);
    c.other = cf_strings_text(f->others, 1);
    return c;
}
