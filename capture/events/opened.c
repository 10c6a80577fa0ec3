/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opened.c - events on all CPUs. See opened.h.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "capture/events/opened.h"

enum { THREADS_MOST = 4096, ROUNDS = 8, TOO_MANY = -2 };

struct opening {
    struct cf_records *records;
    const struct cf_opened_options *o;
    uint64_t seed;
    int *ring; /* event that owns it, of each CPU, or -1 */
    int cpus, lacking;
    pid_t tid[THREADS_MOST];
    unsigned tids;
};

/* 0, 1 where the CPU is offline or the thread has ended, 2 where the CPU has no such PMU, -1. */
static int open_one(struct opening *g, const struct cf_perf_event *e, pid_t tid, int cpu)
{
    struct perf_event_attr attr = e->attr;
    const size_t trace = e->traced ? g->o->trace_bytes : 0;
    int fd;

    attr.enable_on_exec = !g->o->attached;
    attr.aux_watermark = (uint32_t)(trace / 4);
    fd = cf_perf_open(&attr, tid, cpu);
    if (fd < 0)
        return errno == ENODEV || errno == ESRCH ? 1 : errno == ENOENT && e->pmu ? 2 : -1;
    if (cf_records_add(g->records, fd, e->kind, attr.sample_period, tid, g->ring[cpu], 0) != 0) {
        const int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    if (trace && cf_records_trace(g->records, fd, g->ring[cpu], cpu, trace) != 0)
        return -1;
    if (g->ring[cpu] < 0)
        g->ring[cpu] = fd;
    if (g->o->attached)
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    return 0;
}

static int open_thread(struct opening *g, pid_t tid)
{
    for (int cpu = 0; cpu < g->cpus; cpu++) {
        struct cf_perf_event e = {.kind = CF_PERF_TRACK};
        int status, lacks = 0;

        cf_perf_track(&e.attr);
        status = open_one(g, &e, tid, cpu);
        if (status < 0)
            return -1;
        for (unsigned i = 0; !status && i < g->o->count; i++) {
            int each;

            e = g->o->event[i];
            e.attr.sample_period = cf_perf_jitter(&e, g->o->percent, &g->seed);
            each = open_one(g, &e, tid, cpu);
            if (each < 0)
                return -1;
            lacks |= each == 2;
        }
        g->lacking += lacks && g->tids <= 1; /* the same of each thread */
    }
    return 0;
}

static int is_open(const struct opening *g, pid_t tid)
{
    for (unsigned i = 0; i < g->tids; i++)
        if (g->tid[i] == tid)
            return 1;
    return 0;
}

/* Threads of the process to which none were given; returns how many there were, TOO_MANY, or -1.
   In later rounds they may have inherited some. */
static int open_threads(struct opening *g, int round)
{
    const unsigned before = g->tids;
    const struct dirent *e;
    struct timespec now;
    char path[64];
    int many = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/task", (int)g->o->pid);
    d = opendir(path);
    if (!d)
        return -1;
    while (!many && (e = readdir(d)) != NULL) {
        const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

        if (e->d_name[0] == '.' || is_open(g, tid))
            continue;
        many = g->tids == THREADS_MOST;
        if (!many)
            g->tid[g->tids++] = tid;
    }
    closedir(d);
    if (many)
        return TOO_MANY;
    for (unsigned i = before; i < g->tids; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((round && cf_records_own(g->records, (uint32_t)g->tid[i],
                                     (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec)) ||
            open_thread(g, g->tid[i]) != 0)
            return -1;
    }
    return (int)(g->tids - before);
}

int cf_opened_all(struct cf_records *r, const struct cf_opened_options *o, char *why, size_t size)
{
    static struct opening g;
    char text[256];
    int status = 0;

    why[0] = '\0';
    g = (struct opening){.records = r, .o = o, .seed = o->seed};
    g.cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
    g.ring = malloc((size_t)g.cpus * sizeof *g.ring);
    if (!g.ring) {
        snprintf(why, size, "out of memory");
        return -1;
    }
    for (int i = 0; i < g.cpus; i++)
        g.ring[i] = -1;
    if (!o->attached)
        status = open_thread(&g, o->pid);
    /* Threads that begin meanwhile are of one that has events by then, or come in a later round. */
    for (int round = 0; o->attached && round < ROUNDS; round++) {
        status = open_threads(&g, round);
        if (status <= 0)
            break;
    }
    if (status > 0)
        snprintf(why, size,
                 "threads of the process begin as fast as they are attached: some may be missing");
    if (status == TOO_MANY)
        snprintf(why, size, "the process has more than %d threads, more than can be recorded",
                 THREADS_MOST);
    else if (status < 0)
        snprintf(why, size, "%s", cf_perf_why(errno, text, sizeof text));
    free(g.ring);
    return status < 0 ? -1 : g.lacking;
}
