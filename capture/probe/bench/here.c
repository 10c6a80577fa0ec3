/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * here.c - a visit on the machine at hand.
 *
 * What comes between spoils a measurement: another CPU, another program on this one, a clock that
 * runs at another rate. So before and after it a loop of arithmetic is timed, which needs no
 * memory, and the switches of the thread are compared. A visit that begins with rounds of its own
 * is repeated, since what was there before does not matter to it; another is marked. A processor
 * changes its frequency by some percent all the time, more than what a miss in one set adds to a
 * visit of the whole cache. So times are those at the frequency at which the loop took its best.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "capture/base/cf_clock.h"
#include "capture/probe/bench/buffer.h"
#include "capture/probe/bench/chain.h"
#include "capture/probe/bench/counter.h"
#include "capture/probe/bench/here.h"
#include "capture/probe/bench/pace.h"
#include "formats/stream/cf.h"

enum {
    TRIES = 4,          /* of a visit that is spoilt */
    DRIFT_PERCENT = 10, /* by which the reference may take longer than at its best */
    FLUSHED = 200,      /* lines that a counter has to count */
    PAGE = 4096,        /* of what was visited, whatever pages the system has */
    LEVELS = 4,         /* that have counters of their own; the last one of code */
};

struct cf_here {
    struct cf_bench bench;
    struct cf_buffer buffer;
    struct cf_counter counter[LEVELS];
    char why[LEVELS][160];
    unsigned char asked[LEVELS];
    struct cf_here_options o;
    cpu_set_t allowed;
    unsigned cpu;                 /* on which measurements run */
    unsigned char *visited;       /* by PAGE of the buffer */
    const unsigned char **target; /* of jumps */
    size_t targets;               /* that there is room for */
    uint64_t seed;                /* of their order */
    int executable;               /* the buffer is, and can't be written */
    struct pace pace;
};

/* ---- the CPU ---- */

static int move_to(unsigned cpu)
{
    cpu_set_t set;

    if (cpu >= CPU_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* ---- a visit ---- */

static long switches(void)
{
    struct rusage u;

    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nvcsw + u.ru_nivcsw : 0;
}

static int protect(struct cf_here *h, int executable)
{
    if (h->executable == executable)
        return 0;
    if (mprotect(h->buffer.base, h->buffer.size, PROT_READ | (executable ? PROT_EXEC : PROT_WRITE)))
        return -1;
    h->executable = executable;
    return 0;
}

static int check(struct cf_here *h, const struct cf_visit *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->offset[i] % CF_NODE || v->offset[i] > h->buffer.size - CF_NODE ||
            v->offset[i] + v->code > h->buffer.size)
            return -1;
        h->visited[v->offset[i] / PAGE] = 1;
    }
    return v->count && (!v->code || v->code >= CF_NODE) ? 0 : -1;
}

/* All rounds of jumps, each in another order. */
static int list_targets(struct cf_here *h, const struct cf_visit *v)
{
    const size_t count = (size_t)v->count * v->rounds;

    if (count + 1 > h->targets) {
        const unsigned char **more = realloc(h->target, (count + 1) * sizeof *more);

        if (!more)
            return -1;
        h->target = more;
        h->targets = count + 1;
    }
    cf_chain_list(h->target, h->buffer.base, v->offset, v->count, v->rounds, &h->seed);
    return 0;
}

static int prepare(struct cf_here *h, const struct cf_visit *v)
{
    if (v->again)
        return 0;
    if (protect(h, 0) != 0)
        return -1;
    if (!v->code) {
        cf_chain_link(h->buffer.base, v->offset, v->count);
        return 0;
    }
    if (cf_chain_code(h->buffer.base, v->offset, v->count, v->code, v->single) != 0) {
        errno = ENOTSUP;
        return -1;
    }
    return list_targets(h, v) == 0 ? protect(h, 1) : -1;
}

/* The nodes that prepare() wrote. */
static int take_out(const struct cf_here *h, const struct cf_visit *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (cf_chain_flush(h->buffer.base + v->offset[i], CF_NODE) != 0) {
            errno = ENOTSUP;
            return -1;
        }
    return 0;
}

static void walk_all(struct cf_here *h, const struct cf_visit *v, struct cf_measured *m)
{
    void *node = h->buffer.base + v->offset[0];
    uint64_t ticks;

    if (v->code) {
        if (v->warm)
            cf_chain_go(h->target);
        ticks = cf_clock();
        cf_chain_go(h->target);
    } else {
        node = cf_chain_walk(node, (uint64_t)v->count * v->warm);
        ticks = cf_clock();
        node = cf_chain_walk(node, (uint64_t)v->count * v->rounds);
    }
    ticks = cf_clock() - ticks;
    m->time = ticks > h->pace.overhead ? ticks - h->pace.overhead : 0;
    m->method = CF_METHOD_CLOCK;
}

static void walk_each(struct cf_here *h, const struct cf_visit *v, struct cf_measured *m)
{
    struct cf_chain_times t = {.limit = v->limit, .each = v->each};
    void *node = cf_chain_walk(h->buffer.base + v->offset[0], (uint64_t)v->count * v->warm);

    (void)cf_chain_time(node, (uint64_t)v->count * v->rounds, &t);
    m->time = t.time;
    m->misses = t.slow;
    m->has_misses = v->limit != 0;
    m->method = CF_METHOD_EACH;
}

static int walk_counted(struct cf_here *h, const struct cf_visit *v, struct cf_measured *m,
                        const struct cf_counter *c)
{
    int status;

    if (v->code && v->warm)
        cf_chain_go(h->target);
    else if (!v->code)
        (void)cf_chain_walk(h->buffer.base + v->offset[0], (uint64_t)v->count * v->warm);
    cf_counter_start(c);
    walk_all(h,
             &(struct cf_visit){
                 .offset = v->offset, .count = v->count, .rounds = v->rounds, .code = v->code},
             m);
    status = cf_counter_stop(c, &m->misses);
    if (status < 0)
        return -1;
    if (status)
        m->spoilt = CF_SPOILT_MULTIPLEXED;
    m->has_misses = 1;
    m->method = CF_METHOD_COUNTER;
    return 0;
}

/* Whether a counter of misses counts those of lines that were flushed: in some virtual machines it
   stays at 0. */
static int counts(struct cf_here *h, const struct cf_counter *c)
{
    uint64_t offset[FLUSHED], count = 0;
    uint32_t n = 0;

    for (uint64_t at = 0; n < FLUSHED && at <= h->buffer.size - CF_NODE; at += PAGE + 64)
        offset[n++] = at;
    if (protect(h, 0) != 0)
        return 1;
    cf_chain_link(h->buffer.base, offset, n);
    for (uint32_t i = 0; i < n; i++)
        if (cf_chain_flush(h->buffer.base + offset[i], CF_NODE) != 0)
            return 1;
    cf_counter_start(c);
    (void)cf_chain_walk(h->buffer.base, n);
    return cf_counter_stop(c, &count) != 0 || count;
}

static const struct cf_counter *counter_of(struct cf_here *h, unsigned level, int code)
{
    const unsigned i = code ? LEVELS - 1 : level - 1;
    struct cf_counter *c;

    if (h->o.time || !level || i >= LEVELS)
        return NULL;
    c = &h->counter[i];
    if (!h->asked[i]) {
        h->asked[i] = 1;
        if (cf_counter_open(c, level, code, h->o.event, h->why[i], sizeof h->why[i]) == 0 &&
            !h->o.event && !code && !counts(h, c)) {
            cf_counter_close(c);
            snprintf(h->why[i], sizeof h->why[i],
                     "the event for level %u counts nothing, not even lines that were flushed",
                     level);
        }
    }
    return c->fd >= 0 ? c : NULL;
}

static int once(struct cf_here *h, const struct cf_visit *v, struct cf_measured *m)
{
    const struct cf_counter *counter = counter_of(h, v->level, v->code);
    const uint64_t limit = h->pace.best + h->pace.best * DRIFT_PERCENT / 100 + h->pace.step;
    const long switched = switches();
    uint64_t before = pace_loop(), after;
    int cpu;

    memset(m, 0, sizeof *m);
    if (prepare(h, v) != 0 || (v->fresh && take_out(h, v) != 0))
        return -1;
    if (counter && !v->each) {
        if (walk_counted(h, v, m, counter) != 0)
            return -1;
    } else if ((v->each || v->limit > 4 * h->pace.step) && !v->code)
        walk_each(h, v, m);
    else
        walk_all(h, v, m);
    after = pace_loop();
    m->accesses = (uint64_t)v->count * v->rounds;
    cpu = sched_getcpu();
    m->cpu = cpu < 0 ? h->cpu : (unsigned)cpu;
    if (!m->spoilt && (switches() != switched || before > limit || after > limit))
        m->spoilt = CF_SPOILT_DRIFT;
    if (m->spoilt != CF_SPOILT_MULTIPLEXED && m->cpu != (v->cpu ? v->cpu - 1 : h->cpu))
        m->spoilt = CF_SPOILT_MIGRATED;
    before = after < before ? after : before;
    if (m->method == CF_METHOD_CLOCK && before > h->pace.best)
        m->time = (uint64_t)((double)m->time * (double)h->pace.best / (double)before);
    return 0;
}

static int here_run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct cf_here *h = self;
    int status = 0;

    if (check(h, v) != 0) {
        errno = EINVAL;
        return -1;
    }
    if (v->cpu && move_to(v->cpu - 1) != 0)
        return -1;
    for (unsigned i = 0; i < (v->warm || v->fresh ? TRIES : 1); i++) {
        status = once(h, v, m);
        if (status != 0 || !m->spoilt)
            break;
    }
    if (v->cpu && move_to(h->cpu) != 0)
        return -1;
    return status;
}

static int here_forget(void *self)
{
    struct cf_here *h = self;

    for (uint64_t page = 0; page < h->buffer.size / PAGE; page++) {
        if (!h->visited[page])
            continue;
        if (cf_chain_flush(h->buffer.base + page * PAGE, PAGE) != 0) {
            errno = ENOTSUP;
            return -1;
        }
        h->visited[page] = 0;
    }
    return 0;
}

/* ---- the bench ---- */

/* "0, 2": the CPUs of a set. */
static void list_cpus(const cpu_set_t *set, char *to, size_t size)
{
    size_t at = 0;

    to[0] = 0;
    for (unsigned i = 0; i < CPU_SETSIZE && at < size; i++)
        if (CPU_ISSET(i, set))
            at += (size_t)snprintf(to + at, size - at, "%s%u", at ? ", " : "", i);
}

/* One of those that this process may use, by taskset(1) as by its cgroup: what whoever limits it
   wants is not undone. */
static int choose_cpu(struct cf_here *h, char *why, size_t size)
{
    const int cpu = h->o.cpu >= 0 ? h->o.cpu : sched_getcpu();
    char allowed[128];
    cpu_set_t set;

    if (cpu < 0 || sched_getaffinity(0, sizeof set, &set) != 0) {
        snprintf(why, size, "CPU: %s", strerror(errno));
        return -1;
    }
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &set)) {
        list_cpus(&set, allowed, sizeof allowed);
        snprintf(why, size, "CPU %d: this process may run on CPUs %s (taskset, cgroup)", cpu,
                 allowed);
        return -1;
    }
    h->allowed = set;
    if (move_to((unsigned)cpu) != 0) {
        snprintf(why, size, "CPU %d: %s", cpu, strerror(errno));
        return -1;
    }
    h->cpu = (unsigned)cpu;
    return 0;
}

struct cf_here *cf_here_new(const struct cf_here_options *o, char *why, size_t size)
{
    struct cf_here *h = calloc(1, sizeof *h);

    if (!h) {
        snprintf(why, size, "%s", strerror(errno));
        return NULL;
    }
    h->o = *o;
    for (unsigned i = 0; i < LEVELS; i++)
        h->counter[i].fd = -1;
    if (choose_cpu(h, why, size) != 0) {
        cf_here_free(h);
        return NULL;
    }
    if (cf_buffer_new(&h->buffer, o->size, o->ordinary) != 0 ||
        !(h->visited = calloc(h->buffer.size / PAGE, 1))) {
        snprintf(why, size, "a buffer of %" PRIu64 " MiB: %s: give a smaller --max", o->size >> 20,
                 strerror(errno));
        cf_here_free(h);
        return NULL;
    }
    pace_take(&h->pace);
    if (pace_check(&h->pace, why, size) != 0) {
        cf_here_free(h);
        return NULL;
    }
    h->bench = (struct cf_bench){.self = h,
                                 .forget = here_forget,
                                 .run = here_run,
                                 .step = h->pace.step,
                                 .size = h->buffer.size};
    return h;
}

void cf_here_free(struct cf_here *h)
{
    if (!h)
        return;
    for (unsigned i = 0; i < LEVELS; i++)
        cf_counter_close(&h->counter[i]);
    cf_buffer_free(&h->buffer);
    free(h->visited);
    free(h->target);
    free(h);
}

struct cf_bench *cf_here_bench(struct cf_here *h)
{
    return &h->bench;
}

unsigned cf_here_others(const struct cf_here *h, unsigned *cpu, unsigned most)
{
    unsigned n = 0;

    for (unsigned i = 0; i < CPU_SETSIZE && n < most; i++)
        if (i != h->cpu && CPU_ISSET(i, &h->allowed))
            cpu[n++] = i;
    return n;
}

unsigned cf_here_cpu(const struct cf_here *h)
{
    return h->cpu;
}

uint64_t cf_here_page(const struct cf_here *h)
{
    return h->buffer.page;
}

const char *cf_here_pages_why(const struct cf_here *h)
{
    return h->buffer.why;
}

const char *cf_here_event(struct cf_here *h, unsigned level, const char **why)
{
    const struct cf_counter *c = counter_of(h, level, 0);

    *why = h->o.time ? "the clock was asked for" : h->why[level - 1];
    return c ? c->name : NULL;
}
