/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.c - patterns that run on a model of a machine. See model.h.
 *
 * What goes to cf-cache and what comes back are two pipes, of which each may be full while the
 * other is: so a thread of its own reads. Frames come back one for one, as soon as cf-cache has
 * them. One waits while the other works: so all run on one CPU, since waking a program on a CPU
 * that idles takes longer than switching to it (1.5 times as many accesses a second of CPU).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/probe/bench/model.h"
#include "formats/files/cf_suite.h"
#include "formats/machine/cf_machine.h"

enum {
    PROGRAMS = 2,
    BASE = 1 << 30, /* where the buffer begins */
    NEAR = 256,     /* bytes between nodes that one flush takes out together, */
    LONG = 1 << 16, /* and of one flush, at most */
    FLUSHES = 1024, /* that are sent together */
};

/* What comes back of a visit. */
struct answer {
    uint64_t skip, left; /* rows that are not measured, and those that are */
    unsigned level;
    uint32_t *each;
    struct cf_measured m;
};

struct cf_model {
    struct cf_tool *tool;
    struct model_options o;
    struct cf_bench bench;
    pid_t child[PROGRAMS];
    struct cf_writer *out;
    struct cf_reader *in;
    char *file; /* its name */
    pthread_t reader;
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct answer answer;
    int ended;
    uint64_t *visited;    /* a bit a node, */
    uint64_t first, last; /* and the words that have one: from `first` up to `last` */
};

/* ---- what comes back ---- */

static void take(struct cf_model *k, const struct cf_frame *f)
{
    const uint8_t *hit = k->o.by_time ? NULL : cf_u8(f, CF_HIT);
    const uint32_t *cost = k->o.by_time ? cf_u32(f, CF_COST) : NULL;
    struct answer *a = &k->answer;
    const uint32_t skip = a->skip < f->rows ? (uint32_t)a->skip : f->rows, rows = f->rows - skip;
    const unsigned level = a->level;
    uint64_t misses = 0, time = 0;

    a->skip -= skip;
    if (a->left < rows)
        return; /* more than was asked for: not of ours */
    a->left -= rows;
    for (uint32_t i = 0; hit && i < rows; i++)
        misses += hit[skip + i] > level;
    for (uint32_t i = 0; cost && i < rows; i++)
        time += cost[skip + i];
    a->m.misses += misses;
    a->m.time += time;
    if (a->each && cost && rows) {
        memcpy(a->each, cost + skip, rows * sizeof *cost);
        a->each += rows;
    }
}

static void *reading(void *arg)
{
    struct cf_model *k = arg;
    struct cf_frame *f;

    while (cf_reader_next(k->in, &f) > 0) {
        if (f->table != CF_ACCESS)
            continue;
        pthread_mutex_lock(&k->lock);
        take(k, f);
        if (!k->answer.skip && !k->answer.left)
            pthread_cond_signal(&k->done);
        pthread_mutex_unlock(&k->lock);
    }
    pthread_mutex_lock(&k->lock);
    k->ended = 1;
    pthread_cond_signal(&k->done);
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

/* Sends rows of one operation, at offsets; of `size` bytes each, where it is given. -1 when nobody
   takes them. */
static int send_rows(struct cf_model *k, const uint64_t *offset, const uint32_t *size,
                     uint32_t count, enum cf_op op)
{
    for (uint32_t at = 0, n; at < count; at += n) {
        struct cf_place place[] = {{CF_ADDR, NULL}, {CF_SIZE, NULL}};
        const struct cf_values constant[] = {{CF_OP, NULL, op}};
        uint64_t *addr;

        n = count - at;
        if (cf_writer_place(k->out, CF_ACCESS, constant, 1, place, size ? 2 : 1, NULL, &n) != 0)
            return -1;
        n = n < count - at ? n : count - at;
        addr = place[0].values;
        for (uint32_t i = 0; i < n; i++)
            addr[i] = BASE + offset[at + i];
        if (size)
            memcpy(place[1].values, size + at, n * sizeof *size);
        if (cf_writer_placed(k->out, CF_ACCESS, n) != 0)
            return -1;
    }
    return 0;
}

static int answered(struct cf_model *k)
{
    struct timespec until;
    int ended;

    if (cf_writer_flush(k->out) != 0)
        return -1;
    pthread_mutex_lock(&k->lock);
    while (!k->ended && !cf_command_caught() && (k->answer.skip || k->answer.left)) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++; /* a signal may ask us to end */
        pthread_cond_timedwait(&k->done, &k->lock, &until);
    }
    ended = k->ended || cf_command_caught();
    pthread_mutex_unlock(&k->lock);
    errno = EPIPE;
    return ended ? -1 : 0;
}

/* What was sent before and is not back yet comes first: nobody waits for it. */
static void ask(struct cf_model *k, const struct answer *a)
{
    pthread_mutex_lock(&k->lock);
    const uint64_t before = k->answer.skip;

    k->answer = *a;
    k->answer.skip += before;
    pthread_mutex_unlock(&k->lock);
}

static void mark(struct cf_model *k, const struct cf_visit *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        const uint64_t node = v->offset[i] / CF_NODE, word = node / 64;

        k->visited[word] |= (uint64_t)1 << node % 64;
        k->first = word < k->first ? word : k->first;
        k->last = word >= k->last ? word + 1 : k->last;
    }
}

static int run(void *self, const struct cf_visit *v, struct cf_measured *m)
{
    struct cf_model *k = self;
    const struct answer a = {.skip = (uint64_t)v->warm * v->count,
                             .left = (uint64_t)v->rounds * v->count,
                             .level = v->level,
                             .each = v->each};

    ask(k, &a);
    mark(k, v);
    for (uint32_t round = 0; round < v->warm + v->rounds; round++)
        if (send_rows(k, v->offset, NULL, v->count, v->code ? CF_IFETCH : CF_LOAD) != 0) {
            errno = EPIPE;
            return -1;
        }
    if (v->rounds && answered(k) != 0)
        return -1;
    *m = v->rounds ? k->answer.m : a.m;
    m->accesses = (uint64_t)v->rounds * v->count;
    m->method = k->o.by_time ? CF_METHOD_CLOCK : CF_METHOD_COUNTER;
    m->has_misses = !k->o.by_time;
    return 0;
}

/* Takes the nodes so far behind those that were visited as visited, too. */
static void add_behind(struct cf_model *k, uint64_t nodes)
{
    const size_t words = nodes / 64;
    const unsigned bits = nodes % 64;

    for (size_t i = k->o.size / CF_NODE / 64; i-- > words;)
        k->visited[i] |= k->visited[i - words] << bits |
                         (bits && i > words ? k->visited[i - words - 1] >> (64 - bits) : 0);
    k->last += words + 1;
    if (k->last > k->o.size / CF_NODE / 64)
        k->last = k->o.size / CF_NODE / 64;
}

static int send_flushes(struct cf_model *k, const uint64_t *offset, const uint32_t *size,
                        uint32_t n)
{
    ask(k, &(struct answer){.skip = n});
    return send_rows(k, offset, size, n, CF_FLUSH);
}

/* What lies near together goes in one row. */
static int forget(void *self)
{
    struct cf_model *k = self;
    uint64_t offset[FLUSHES];
    uint32_t size[FLUSHES], n = 0;

    if (k->bench.behind)
        add_behind(k, k->bench.behind / CF_NODE);
    for (uint64_t i = k->first; i < k->last; i++) {
        for (uint64_t bits = k->visited[i]; bits; bits &= bits - 1) {
            const uint64_t at = (64 * i + (unsigned)__builtin_ctzll(bits)) * CF_NODE;

            if (n && at - offset[n - 1] < LONG && at - offset[n - 1] - size[n - 1] <= NEAR) {
                size[n - 1] = (uint32_t)(at - offset[n - 1] + CF_NODE);
                continue;
            }
            if (n == FLUSHES) {
                if (send_flushes(k, offset, size, n) != 0)
                    return -1;
                n = 0;
            }
            offset[n] = at;
            size[n++] = CF_NODE;
        }
        k->visited[i] = 0;
    }
    k->first = UINT64_MAX;
    k->last = 0;
    return send_flushes(k, offset, size, n);
}

/* ---- the programs ---- */

static void become(const struct cf_model *k, const char *name, int in, int out)
{
    char path[PATH_MAX], seed[32];
    const char *line[11] = {name, "-q", "-m", k->o.machine, "--columns", "op"};
    sigset_t end;

    /* it ends with its input alone */
    sigemptyset(&end);
    cf_command_end_signals(&end);
    for (int s = 1; s < NSIG; s++)
        if (sigismember(&end, s) == 1)
            signal(s, SIG_IGN);
    signal(SIGPIPE, SIG_DFL); /* the one behind it says why */
    if (strcmp(name, "cf-cache") == 0) {
        snprintf(seed, sizeof seed, "--seed=%llu", (unsigned long long)k->o.seed);
        line[6] = seed;
        line[7] = "--cores=1";
        line[8] = k->o.prefetch ? "--prefetch" : NULL;
        line[9] = k->o.prefetch;
    }
    snprintf(path, sizeof path, "%s/%s", cf_suite_dir("bin"), name);
    if (access(path, X_OK) != 0 && cf_command_find(name, path, sizeof path) != 0)
        cf_warn(k->tool, "--on: %s is missing beside this program", name);
    else if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
        execv(path, (char *const *)line);
        cf_warn(k->tool, "%s: %s", path, strerror(errno));
    }
    _exit(CF_EXIT_ENVIRONMENT);
}

/* Stays on the CPU where it is, and what is started from now on. Where that is not allowed, it
   takes longer. */
static void stay(void)
{
    const int cpu = sched_getcpu();
    cpu_set_t here;

    CPU_ZERO(&here);
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_SET(cpu, &here);
    (void)sched_setaffinity(0, sizeof here, &here);
}

/* Starts a program that reads `in`; the descriptor from which its output is read. */
static int start(struct cf_model *k, unsigned number, const char *name, int in)
{
    int ends[2];

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0 || (k->child[number] = fork()) < 0)
        cf_die(k->tool, CF_EXIT_ENVIRONMENT, "--on: %s", strerror(errno));
    if (k->child[number] == 0)
        become(k, name, in, ends[1]);
    close(in);
    close(ends[1]);
    return ends[0];
}

/* Nodes of a pattern stand CF_NODE apart: lines between two of them would be overlooked. And a time
   of 0 is none. */
static void check_machine(const struct cf_tool *t, const char *name, int by_time)
{
    struct cf_machine *m = cf_tool_machine(t, name);

    for (uint32_t i = 0; i < m->levels; i++) {
        if (m->level[i].kind != CF_INSTRUCTION_CACHE && m->level[i].line < CF_NODE)
            cf_die(t, CF_EXIT_USAGE,
                   "--on %s: lines of %" PRIu32 " bytes of %s cannot be told apart: at least %d",
                   name, m->level[i].line, m->level[i].name, CF_NODE);
        if (by_time && m->level[i].kind != CF_INSTRUCTION_CACHE && m->level[i].depth == 1 &&
            cf_latency_cycles(&m->level[i].latency, CF_LOAD, 0) == 0)
            cf_die(t, CF_EXIT_USAGE,
                   "--on %s: a load that %s serves costs nothing, so that it has no time: take "
                   "--by misses",
                   name, m->level[i].name);
    }
    cf_machine_free(m);
}

struct cf_model *cf_model_new(struct cf_tool *t, const struct model_options *o)
{
    struct cf_model *k = cf_tool_room(t, 1, sizeof *k);
    struct cf_header h = {.clock_unit = (char *)"cycles", .source = (char *)"cf-capture-probe"};
    int ends[2], back;

    check_machine(t, o->machine, o->by_time);
    k->tool = t;
    k->o = *o;
    k->bench = (struct cf_bench){.self = k, .forget = forget, .run = run, .size = o->size};
    k->visited = cf_tool_room(t, o->size / CF_NODE / 64 + 1, sizeof *k->visited);
    k->first = UINT64_MAX;
    if (pipe2(ends, O_CLOEXEC) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--on: %s", strerror(errno));
    stay();
    back = start(k, 0, "cf-cache", ends[0]);
    if (o->by_time)
        back = start(k, 1, "cf-latency", back);
    k->out = cf_need(t, cf_writer_pipe(ends[1], t->line));
    k->file = cf_tool_text(t, "/dev/fd/%d", back);
    k->in = cf_tool_reader(t, &k->file, 1);
    cf_reader_want(k->in, CF_ACCESS, o->by_time ? CF_COST : CF_HIT, CF_REQUIRED);
    (void)cf_writer_header(k->out, &h); /* where it has ended at once, its status says why */
    (void)cf_writer_flush(k->out);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->done, NULL);
    if (pthread_create(&k->reader, NULL, reading, k) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--on: no thread can be started");
    return k;
}

struct cf_bench *cf_model_bench(struct cf_model *m)
{
    return &m->bench;
}

int cf_model_free(struct cf_model *k)
{
    char problem[1024] = "";
    int worst = CF_EXIT_OK, ended, status;

    (void)!cf_writer_close(k->out, 1, problem, sizeof problem);
    pthread_join(k->reader, NULL);
    if (!*problem && cf_reader_problem(k->in))
        snprintf(problem, sizeof problem, "%s", cf_reader_problem(k->in));
    cf_reader_close(k->in);
    for (unsigned i = 0; i < PROGRAMS; i++)
        if (k->child[i] && waitpid(k->child[i], &ended, 0) > 0) {
            status = cf_command_status(ended);
            if (status > worst && status != 128 + SIGPIPE)
                worst = status;
        }
    if (*problem && worst <= CF_EXIT_INPUT) { /* where not, that program has said why */
        cf_warn(k->tool, "--on: %s", problem);
        worst = CF_EXIT_ENVIRONMENT;
    }
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->done);
    return worst;
}
