/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-snapshot - runs programs and takes snapshots of what a cache holds meanwhile: the
 * Trigger of "Observing the Invisible" (Tarapore et al.), sections 5 and 6.2. The Shutter, which
 * reads the cache, is the kernel module of kmod/.
 *
 * In: commands, and /dev/cacheflow. Out: snapshot, line, task and, with --maps, map; time is in
 * nanoseconds since the commands began. An activation is: all observed tasks are stopped, the
 * Shutter is called, what it has read is written and the cache thrashed (flush mode), or left where
 * it is until the end (transparent mode), and the tasks go on.
 * Memory: one snapshot and, in flush mode, a buffer some times as large as the cache. In
 * transparent mode also the lists of mappings that changed; the snapshots lie in the Shutter's
 * buffer.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_device.h"
#include "capture/snapshot/guard.h"
#include "capture/snapshot/note.h"
#include "capture/snapshot/open.h"
#include "capture/snapshot/options.h"
#include "capture/watch/reap.h"

struct taken { /* a snapshot that is still in the Shutter's buffer */
    struct cacheflow_shot shot;
    unsigned mode;
};

struct capture {
    struct cf_tool tool;
    struct cf_snapshot_options o;
    struct cf_observed tasks;
    struct cf_device device;
    struct cacheflow_info info;
    struct cf_writer *writer;
    struct cf_emit emit;
    struct cf_watch *watch; /* NULL: no places in programs are watched */
    timer_t timer;
    struct taken *taken;
    size_t count, room;
    void *bytes; /* of one snapshot */
    size_t bytes_room;
    volatile char *thrash;
    size_t thrash_bytes;
    uint64_t activations, written, moving, overruns;
    int done;     /* no more snapshots are taken */
    int stopping; /* we stop the tasks, nobody else */
    int status;   /* worst exit status so far */
    int caught;   /* signal that ends us */
};

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void give_up(struct capture *k, int status)
{
    k->done = 1;
    if (k->status == CF_EXIT_OK)
        k->status = status;
    if (cf_writer_problem(k->writer) && k->o.output && k->tasks.running)
        cf_warn(&k->tool, "%s: what is run goes on without snapshots",
                cf_writer_problem(k->writer));
}

/* ---- the observed tasks ---- */

static void on_ended(void *arg, pid_t pid, int status)
{
    struct capture *k = arg;

    (void)cf_note_ended(&k->emit, &k->tasks, pid, now_ns());
    cf_observed_ended(&k->tasks, pid, status);
}

/* Ended and stopped children; returns how many have stopped themselves. */
static unsigned reap(struct capture *k)
{
    unsigned stopped = 0;
    int status;
    pid_t pid;

    if (k->watch)
        return cf_watch_handle(k->watch, on_ended, k);
    while ((pid = cf_reap_next(&status, 0)) > 0) {
        if (WIFSTOPPED(status))
            stopped += !k->stopping;
        else
            on_ended(k, pid, status);
    }
    return stopped;
}

static void stop(struct capture *k)
{
    k->stopping = 1;
    if (k->watch) {
        k->moving += cf_watch_stop(k->watch, on_ended, k) != 0;
        (void)cf_observed_find(&k->tasks);
    } else if (!k->o.asynchronous) {
        k->moving += cf_observed_stop(&k->tasks) != 0;
        (void)reap(k); /* stops of our making */
    } else {
        (void)cf_observed_find(&k->tasks);
    }
}

static void go_on(struct capture *k)
{
    if (k->watch && k->done)
        cf_watch_release(k->watch);
    else if (k->watch)
        cf_watch_continue(k->watch);
    else if (!k->o.asynchronous)
        cf_observed_continue(&k->tasks);
    k->stopping = 0;
}

/* ---- snapshots ---- */

/* 0 or the exit status that a failure leads to, as take(). */
static int write_snapshot(struct capture *k, const struct taken *t)
{
    if (t->shot.bytes > k->info.buffer_bytes || t->shot.bytes < sizeof(struct cacheflow_snapshot)) {
        cf_warn(&k->tool, "%s: announces a snapshot of %llu bytes", k->o.device,
                (unsigned long long)t->shot.bytes);
        return CF_EXIT_INPUT;
    }
    if (t->shot.bytes > k->bytes_room) {
        free(k->bytes);
        k->bytes = malloc(t->shot.bytes);
        k->bytes_room = k->bytes ? t->shot.bytes : 0;
        if (!k->bytes) {
            cf_warn(&k->tool, "out of memory");
            return CF_EXIT_ENVIRONMENT;
        }
    }
    if (cf_device_read(&k->device, t->shot.offset, k->bytes, t->shot.bytes) != 0) {
        cf_warn(&k->tool, "%s: read: %s", k->o.device, strerror(errno));
        return CF_EXIT_INPUT;
    }
    errno = 0;
    if (cf_emit_snapshot(&k->emit, k->bytes, t->shot.bytes, t->mode) != 0) {
        if (k->emit.problem)
            cf_warn(&k->tool, "%s: snapshot %llu %s", k->o.device,
                    (unsigned long long)t->shot.number, k->emit.problem);
        return errno == ENOMEM ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT;
    }
    k->written++;
    return cf_writer_flush(k->writer) != 0 ? CF_EXIT_ENVIRONMENT : CF_EXIT_OK;
}

/* Writes to as many lines as make it unlikely that a line of the programs is left, also under
   random replacement: of W ways, n lines a set leave one with (1 - 1/W)^n. Section 6.3 of the
   paper. */
static void thrash(const struct capture *k)
{
    const size_t step = k->info.ram[k->o.ram].line_size;

    for (size_t i = 0; i < k->thrash_bytes; i += step)
        k->thrash[i]++;
}

static int keep(struct capture *k, const struct taken *t)
{
    if (k->count == k->room) {
        const size_t room = k->room ? 2 * k->room : 256;
        struct taken *more = realloc(k->taken, room * sizeof *more);

        if (!more)
            return -1;
        k->taken = more;
        k->room = room;
    }
    k->taken[k->count++] = *t;
    return 0;
}

/* One snapshot, with what belongs to it; 0 or the exit status that it leads to. */
static int take(struct capture *k, int event)
{
    struct taken t = {.mode = (k->o.transparent ? 0 : CF_MODE_FLUSH) |
                              (k->o.asynchronous ? 0 : CF_MODE_SYNCHRONOUS) |
                              (k->o.maps ? CF_MODE_LAYOUT : 0) | (event ? CF_MODE_EVENT : 0)};
    int status = CF_EXIT_OK;

    if (cf_device_call(&k->device, CACHEFLOW_SNAPSHOT, &t.shot) != 0) {
        if (errno == ENOSPC)
            cf_warn(
                &k->tool,
                "%s: its buffer is full after %zu snapshots, no more are taken: load the module "
                "with a larger size, or leave --transparent out",
                k->o.device, k->count);
        else
            cf_warn(&k->tool, "%s: snapshot: %s", k->o.device,
                    errno == EBUSY ? "another program owns its buffer" : strerror(errno));
        return errno == ENOSPC ? CF_EXIT_INPUT : CF_EXIT_ENVIRONMENT;
    }
    if (cf_note_observed(&k->emit, &k->tasks, k->o.maps, t.shot.time_ns) != 0 ||
        (k->o.transparent && keep(k, &t) != 0)) {
        cf_warn(&k->tool, "out of memory");
        return CF_EXIT_ENVIRONMENT;
    }
    if (!k->o.transparent && (status = write_snapshot(k, &t)) == CF_EXIT_OK)
        thrash(k);
    return status;
}

static void set_timer(const struct capture *k, uint64_t ns)
{
    struct itimerspec it = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};

    /* Asynchronous: a grid of time. Else what counts is how long the tasks run. */
    if (k->o.asynchronous && k->o.period_ns)
        it.it_interval = (struct timespec){(time_t)(k->o.period_ns / 1000000000),
                                           (long)(k->o.period_ns % 1000000000)};
    timer_settime(k->timer, 0, &it, NULL);
}

static void activate(struct capture *k, int event)
{
    const int early = now_ns() < k->emit.start_ns + k->o.delay_ns;
    int status;

    if (k->done || early) {
        if (k->watch)
            stop(k), go_on(k);
        else if (k->o.on_stop && event)
            (void)cf_observed_find(&k->tasks), cf_observed_continue(&k->tasks);
        return;
    }
    stop(k);
    status = take(k, event);
    if (status == CF_EXIT_OK && k->o.twice)
        status = take(k, event);
    if (status != CF_EXIT_OK)
        give_up(k, status);
    if (++k->activations == k->o.count)
        k->done = 1;
    go_on(k);
    if (k->o.period_ns && !k->o.asynchronous)
        set_timer(k, k->done ? 0 : k->o.period_ns);
}

/* ---- running ---- */

static void on_end_signal(struct capture *k, const siginfo_t *info)
{
    if (cf_command_own_limit(info))
        return;
    if (k->caught && info->si_signo != SIGHUP)
        cf_observed_kill(&k->tasks, SIGKILL);
    else if (info->si_code != SI_KERNEL) /* a terminal signals the programs itself */
        cf_observed_kill(&k->tasks, info->si_signo);
    k->caught = info->si_signo;
    k->done = 1;
}

static void run(struct capture *k, const sigset_t *set)
{
    while (k->tasks.running || (!k->tasks.commands && !k->done)) {
        siginfo_t info;
        const int number = sigwaitinfo(set, &info);
        unsigned events = 0;

        if (number == SIGRTMAX) {
            k->overruns += (uint64_t)(info.si_overrun > 0 ? info.si_overrun : 0);
            activate(k, 0);
        } else if (number == SIGRTMAX - 1) {
            if (k->o.on_signal)
                activate(k, 1);
        } else if (number == SIGCHLD) {
            while ((events = reap(k)) && k->watch)
                activate(k, 1);
        } else if (number > 0) {
            on_end_signal(k, &info);
        }
        if (events && k->o.on_stop)
            activate(k, 1);
    }
}

static void own_rank(struct capture *k)
{
    const int most = sched_get_priority_max(SCHED_FIFO);
    const struct sched_param sp = {.sched_priority = k->o.own_priority ? k->o.own_priority : most};

    if (k->o.own_cpu >= 0) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        CPU_SET((size_t)k->o.own_cpu, &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
            cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "--own-cpu %d: %s", k->o.own_cpu,
                   strerror(errno));
    }
    if (k->o.own_priority != PRIORITY_NONE && sched_setscheduler(0, SCHED_FIFO, &sp) != 0)
        cf_warn(&k->tool,
                "no real-time priority for this program (%s): programs may run on between an event "
                "and its snapshot",
                strerror(errno));
}

static void make_thrash(struct capture *k)
{
    const struct cacheflow_ram *r = &k->info.ram[k->o.ram];
    void *memory;

    k->thrash_bytes = (size_t)r->sets * r->ways * r->line_size * k->o.thrash;
    if (k->o.transparent || !k->thrash_bytes) {
        k->thrash_bytes = 0;
        return;
    }
    if (posix_memalign(&memory, 4096, k->thrash_bytes) != 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "no memory for --thrash");
    k->thrash = memset(memory, 1, k->thrash_bytes); /* now, not at the first snapshot */
}

static void begin(struct capture *k)
{
    struct cf_header h = {.clock_unit = (char *)"nanoseconds",
                          .clock_hz = 1000000000,
                          .line_size = k->info.ram[k->o.ram].line_size,
                          .source = (char *)"cf-capture-snapshot",
                          .here = 1};

    k->writer = cf_tool_recording(&k->tool, k->o.output);
    cf_writer_private(k->writer); /* physical addresses: as the device, for its owner alone */
    h.command = cf_observed_line(&k->tasks);
    if (!h.command || cf_emit_open(&k->emit, k->writer) != 0)
        cf_out_of_memory(&k->tool);
    k->emit.owners = k->o.owners;
    if (cf_writer_header(k->writer, &h) != 0)
        exit(cf_tool_finish(&k->tool, NULL, k->writer));
    free(h.command);
}

static void start(struct capture *k, sigset_t *set)
{
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX};

    sigemptyset(set);
    sigaddset(set, SIGRTMAX);
    sigaddset(set, SIGRTMAX - 1);
    sigaddset(set, SIGCHLD);
    cf_command_end_signals(set);
    sigprocmask(SIG_BLOCK, set, &k->tasks.mask);
    k->tasks.pipe_action = signal(SIGPIPE, SIG_IGN);
    k->tasks.own_output = !k->o.output;
    if (timer_create(CLOCK_MONOTONIC, &ev, &k->timer) != 0)
        cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "timer: %s", strerror(errno));
    if (cf_observed_start(&k->tasks) != 0)
        exit(CF_EXIT_ENVIRONMENT);
    for (unsigned i = 0; k->watch && i < k->tasks.commands; i++)
        if (cf_watch_seize(k->watch, k->tasks.command[i].pid) != 0) {
            cf_observed_kill(&k->tasks, SIGKILL);
            cf_die(&k->tool, CF_EXIT_ENVIRONMENT, "ptrace: %s", strerror(errno));
        }
    own_rank(k);
    k->emit.start_ns = now_ns();
    if (k->o.period_ns)
        set_timer(k, k->o.delay_ns ? k->o.delay_ns : k->o.period_ns);
    cf_observed_release(&k->tasks);
}

/* Programs that ended before what was asked for was there. */
static void check_count(struct capture *k)
{
    if (k->status != CF_EXIT_OK || k->caught)
        return;
    if (!k->activations) {
        k->status = cf_observed_status(&k->tasks);
        if (k->status == CF_EXIT_OK)
            k->status = CF_EXIT_INPUT;
        cf_warn(&k->tool, "no snapshot was taken: the programs ended before one was due: see "
                          "--period, --delay and --event");
    } else if (k->activations < k->o.count) {
        cf_warn(&k->tool, "the programs ended after %llu of the %llu snapshots of --count",
                (unsigned long long)k->activations, (unsigned long long)k->o.count);
    }
}

/* What transparent mode has kept for the end, and what is to say about it all. */
static void end(struct capture *k)
{
    const size_t left = k->watch ? cf_watch_end(k->watch, on_ended, k) : 0;
    int status = CF_EXIT_OK;

    if (left)
        cf_warn(&k->tool, "%zu threads of programs do not stop, and end with this program", left);
    for (size_t i = 0; i < k->count && status == CF_EXIT_OK; i++)
        if ((status = write_snapshot(k, &k->taken[i])) != CF_EXIT_OK)
            give_up(k, status);
    (void)cf_observed_find(&k->tasks);
    cf_guard_end(&k->tasks);
    (void)cf_note_ended(&k->emit, &k->tasks, 0, now_ns());
    (void)cf_emit_notes(&k->emit, UINT64_MAX); /* a failure shows when the writer is closed */
    if (k->o.transparent && k->count)
        (void)cf_device_call(&k->device, CACHEFLOW_DISCARD, NULL); /* room for the next */
    if (k->watch)
        cf_watch_tell(k->watch);
    check_count(k);
    if (k->emit.bad_maps)
        cf_warn(&k->tool, "%u lines of /proc/PID/maps were not understood", k->emit.bad_maps);
    if (k->emit.maps_refused)
        cf_warn(&k->tool, "--maps: mappings of programs are missing, which could not be read: %s",
                strerror(k->emit.maps_refused));
    if (k->moving)
        cf_warn(&k->tool, "%llu times a program did not stop within 100 ms",
                (unsigned long long)k->moving);
    if (k->overruns)
        cf_warn(&k->tool, "%llu snapshots fell due while one was being taken and were left out",
                (unsigned long long)k->overruns);
    if (k->emit.owners_missing)
        cf_warn(&k->tool, "%llu owners of lines had no room in the Shutter's buffer",
                (unsigned long long)k->emit.owners_missing);
}

static int finish(struct capture *k)
{
    int failed, status;

    if (!k->written)
        cf_writer_cut(k->writer);
    failed = cf_command_close(&k->tool, k->writer, k->o.output, &k->caught);
    status = failed > k->status ? failed : k->status;
    cf_emit_free(&k->emit);
    cf_watch_free(k->watch);
    cf_device_close(&k->device);
    free(k->taken);
    free(k->bytes);
    free((void *)k->thrash);
    if (k->caught)
        cf_command_raise(k->caught);
    return status != CF_EXIT_OK ? status : cf_observed_status(&k->tasks);
}

int main(int argc, char **argv)
{
    static struct cf_observed_command commands[COMMANDS_MOST];
    static struct capture k;
    sigset_t set;
    int status;

    cf_tool_init(&k.tool, argc, argv, "cf-capture-snapshot", cf_snapshot_usage);
    k.tasks.tool = &k.tool;
    k.tasks.command = commands;
    cf_snapshot_options(&k.o, &k.tasks, argc, argv);
    cf_guard_start(&k.tasks);
    cf_snapshot_open(&k.device, &k.info, &k.tool, &k.o, k.tasks.commands);
    make_thrash(&k);
    if (k.o.points)
        k.watch = cf_need(&k.tool, cf_watch_new(&k.tool, "--event", k.o.point, k.o.points));
    begin(&k);
    start(&k, &set);
    run(&k, &set);
    end(&k);
    status = finish(&k);
    cf_observed_free(&k.tasks);
    return status;
}
