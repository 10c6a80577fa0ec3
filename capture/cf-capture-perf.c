/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-perf - samples the loads and stores of a program by the processor's counters, and
 * records each access of instructions that miss, by hardware breakpoints: the sampling of
 * "CachePerf", sections 3.1 to 3.3.
 *
 * In: a program, or a process that runs. Out: tables access (columns level, weight, stage, data_src
 * beside the usual ones), task, map and lost; time counts nanoseconds.
 * Memory: the kernel's rings, the records of two readings, the mappings of the processes.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/perf/earlier.h"
#include "capture/events/opened.h"
#include "capture/perf/options.h"
#include "capture/perf/samples.h"
#include "capture/watch/watch.h"
#include "formats/program/cf_options.h"

enum { TURN_MS = 10 }; /* between two readings of the rings */

static volatile sig_atomic_t segment_due;

struct capture {
    struct cf_tool *tool;
    struct cf_perf_options o;
    struct cf_command run;
    struct cf_writer *writer;
    struct cf_records *records;
    struct cf_tasks *tasks;
    struct cf_fine *fine;
    struct cf_perf_rows samples;
    struct cf_heap heap;
    uint64_t start_ns;
    pid_t child; /* 0: attached */
    int status, reaped, failed;
    int begun; /* attached, or the program has run */
    char *command;
};

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void on_usr1(int s)
{
    (void)s;
    segment_due = 1;
}

/* States what weights are of. -1 when it is not taken. */
static int state_weights(struct capture *k)
{
    if (k->o.faults || k->o.file)
        return cf_writer_fact(k->writer, "weight", "event",
                              k->o.faults ? "page-faults" : "earlier-stream");
    return cf_writer_number(k->writer, "weight", "loads", k->o.loads) != 0 ||
                   cf_writer_number(k->writer, "weight", "stores", k->o.stores) != 0 ||
                   cf_writer_number(k->writer, "weight", "jitter_percent", k->o.jitter) != 0 ||
                   cf_writer_number(k->writer, "weight", "seed", k->o.seed) != 0
               ? -1
               : 0;
}

static int header(struct capture *k)
{
    const struct cf_header h = {.clock_unit = (char *)"nanoseconds",
                                .clock_hz = 1000000000,
                                .line_size = k->o.fine.line_size,
                                .source = (char *)k->tool->name,
                                .command = k->command,
                                .here = 1};

    return state_weights(k) == 0 &&
                   cf_writer_number(k->writer, "stage", "fine", k->o.fine.most) == 0 &&
                   cf_writer_number(k->writer, "stage", "same_set", k->o.fine.same_set) == 0
               ? cf_writer_header(k->writer, &h)
               : -1;
}

/* A program's words, or the name of the process. */
static char *command_of(const struct capture *k, char **argv)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);

    if (f && k->o.pid)
        fprintf(f, "--pid %u", k->o.pid);
    else if (f)
        cf_command_print(f, argv);
    if (!f || fclose(f) != 0)
        cf_out_of_memory(k->tool);
    return line;
}

/* ---- recording ---- */

/* Tasks and mappings first, in which call stacks of heap objects are found; then these. */
static void take(struct capture *k, int all)
{
    struct cf_record r;

    while (!k->failed && cf_records_next(k->records, all, &r)) {
        k->begun = 1;
        if (r.type == PERF_RECORD_SAMPLE)
            k->failed = cf_perf_rows_take(&k->samples, &r) != 0;
        else if (cf_perf_rows_note(&k->samples, &r) != 0 || cf_tasks_record(k->tasks, &r) != 0)
            k->failed = 1;
    }
    if ((all ? cf_heap_end(&k->heap)
             : cf_heap_rows(&k->heap, cf_records_sure(k->records), now_ns())) != 0 ||
        cf_perf_rows_put(&k->samples) != 0)
        k->failed = 1;
}

/* Also where nobody waits for it; a main thread may end before the others. */
static int has_ended(pid_t pid)
{
    const struct cf_process is = cf_process_look(pid);

    return (kill(pid, 0) != 0 && errno == ESRCH) || (is.state == 'Z' && is.threads <= 1);
}

static int ended(struct capture *k)
{
    if (k->o.pid)
        return cf_command_caught() || has_ended((pid_t)k->o.pid);
    if (!k->reaped)
        k->reaped = cf_command_reap(k->child, &k->status, WNOHANG);
    return k->reaped;
}

static void read_rings(struct capture *k)
{
    const uint64_t now = now_ns();

    if (cf_records_read(k->records, now, cf_heap_known(&k->heap)) != 0) {
        cf_warn(k->tool, "out of memory: what comes is not recorded");
        k->failed = 1;
    }
    take(k, 0);
    cf_fine_turn(k->fine, now);
}

static void new_segment(struct capture *k)
{
    segment_due = 0;
    if (header(k) != 0 || cf_tasks_repeat(k->tasks, cf_perf_rows_time(&k->samples)) != 0 ||
        cf_heap_repeat(&k->heap) != 0 || cf_writer_flush(k->writer) != 0)
        k->failed = 1;
}

static void record(struct capture *k)
{
    int last = 0;

    while (!k->failed && !last) {
        const struct timespec turn = {0, cf_heap_pause(&k->heap, TURN_MS) * 1000000};

        last = ended(k);
        if (!last)
            nanosleep(&turn, NULL);
        read_rings(k);
        if (segment_due)
            new_segment(k);
        if (!cf_command_flush_due(&k->run))
            continue;
        cf_command_show(&k->run, k->writer, k->samples.rows);
        if (cf_writer_flush(k->writer) != 0)
            k->failed = 1;
    }
    cf_fine_stop(k->fine);
    if (!k->failed && cf_records_read(k->records, now_ns(), UINT64_MAX) == 0)
        take(k, 1);
    if (!k->failed && cf_perf_rows_untold(&k->samples, cf_records_untold(k->records)) != 0)
        k->failed = 1;
    if (k->failed || !k->begun)
        cf_writer_cut(k->writer);
}

/* ---- what is to be said ---- */

static void tell_fine(const struct capture *k)
{
    const struct cf_fine_census c = cf_fine_census(k->fine);
    char text[256];

    if (c.error)
        cf_warn(k->tool, "breakpoints could not be set: %s",
                cf_perf_why(c.error, text, sizeof text));
    if (c.others)
        cf_warn(
            k->tool,
            "%s%s: not the build that was recorded in %s: no breakpoints were set there: record "
            "that stream again",
            c.other, c.others > 1 ? cf_tool_text(k->tool, ", and %u more files", c.others - 1) : "",
            k->o.file);
    if (c.segments)
        cf_warn(k->tool,
                "%llu threads: their segment bases could not be read: ptrace is not permitted (see "
                "kernel.yama.ptrace_scope), or they ended",
                (unsigned long long)c.segments);
    if (c.vectors)
        cf_warn(k->tool,
                "%llu instructions address memory by vector registers (gathers, masks), which the "
                "kernel does not sample: their accesses are missing",
                (unsigned long long)c.vectors);
    if (c.exclusives)
        cf_warn(k->tool,
                "%llu instructions are exclusive loads or stores, which fail while a breakpoint "
                "interrupts them: none was set there",
                (unsigned long long)c.exclusives);
    if (c.authenticated)
        cf_warn(k->tool,
                "%llu instructions address memory by signed pointers, of which no sample says how "
                "many bits are the address: their accesses are missing",
                (unsigned long long)c.authenticated);
    if (c.unknown)
        cf_warn(k->tool, "%llu instructions could not be read or decoded",
                (unsigned long long)c.unknown);
    if (k->o.file && !c.accesses && !c.others && !c.error)
        cf_warn(k->tool,
                "no breakpoint saw an access: the program ended before, or runs nothing of what "
                "missed in %s, or only in threads that end within %d ms: let it run longer, or "
                "give a shorter --expire (%llu ms)",
                k->o.file, TURN_MS, (unsigned long long)k->o.fine.expire_ns / 1000000);
    if (k->tool->quiet)
        return;
    if (k->o.fine.most)
        cf_warn(k->tool,
                "breakpoints on %llu instructions: %llu saw all accesses that were asked for, %llu "
                "ended early on one set, %llu expired, %llu at the end; %llu accesses",
                (unsigned long long)c.installed, (unsigned long long)c.full,
                (unsigned long long)c.early, (unsigned long long)c.expired,
                (unsigned long long)(c.installed - c.full - c.early - c.expired),
                (unsigned long long)c.accesses);
}

static void tell(const struct capture *k)
{
    const struct cf_perf_rows *s = &k->samples;
    /* a mapping of the library or of the memory may be among what was lost */
    const char *const unless = s->lost ? ", unless the records that show it were lost" : "";

    if (s->lost)
        cf_warn(k->tool,
                "%llu records were lost since a ring was full: give a larger --buffer (%llu bytes)",
                (unsigned long long)s->lost, (unsigned long long)k->o.buffer);
    if (s->truncated)
        cf_warn(
            k->tool,
            "samples were lost %llu times since the ring of their trace was full: give a larger "
            "--buffer (%llu bytes) or longer periods",
            (unsigned long long)s->truncated, (unsigned long long)k->o.buffer);
    if (s->collided)
        cf_warn(k->tool,
                "samples collided and were lost, in %llu parts of the trace: give longer periods",
                (unsigned long long)s->collided);
    if (s->throttled)
        cf_warn(k->tool,
                "the kernel throttled sampling %llu times: raise kernel.perf_event_max_sample_rate "
                "or the periods",
                (unsigned long long)s->throttled);
    if (s->placeless && !k->tool->quiet)
        cf_warn(k->tool, "%llu samples without address or operation were left out",
                (unsigned long long)s->placeless);
    if (s->undecoded)
        cf_warn(k->tool,
                "%llu samples of page faults were left out: their instructions could not be read "
                "or decoded",
                (unsigned long long)s->undecoded);
    if (s->long_cost)
        cf_warn(k->tool, "%llu samples have a latency above 32 bits: their cost is 4294967295",
                (unsigned long long)s->long_cost);
    if (cf_tasks_lacking(k->tasks, CF_TASKS_MEMORY))
        cf_warn(k->tool,
                "%llu programs have no heap objects: they cannot reach what these are recorded in, "
                "as those of another user or in other namespaces, under a limit of memory, or with "
                "an environment of their own%s",
                (unsigned long long)cf_tasks_lacking(k->tasks, CF_TASKS_MEMORY), unless);
    if (cf_tasks_lacking(k->tasks, CF_TASKS_LIBRARY))
        cf_warn(k->tool,
                "%llu programs have no heap objects: LD_PRELOAD was taken from their environment%s",
                (unsigned long long)cf_tasks_lacking(k->tasks, CF_TASKS_LIBRARY), unless);
    if (s->observer && !k->tool->quiet)
        cf_warn(k->tool, "%llu samples were left out, of the library that records heap objects",
                (unsigned long long)s->observer);
    if (cf_records_bad(k->records))
        cf_warn(k->tool, "%llu records were not understood",
                (unsigned long long)cf_records_bad(k->records));
    tell_fine(k);
    if (!k->o.pid && cf_tasks_alive(k->tasks) && !k->tool->quiet)
        cf_warn(k->tool, "the program has ended; %u processes that it started run on, unrecorded",
                cf_tasks_alive(k->tasks));
}

/* What will be missing of a program, or what is, since it has begun. */
static int tell_program(void *arg, const char *program, int stopped)
{
    struct capture *k = arg;

    if (!stopped)
        return cf_heap_program(&k->heap, program);
    cf_warn(k->tool,
            "%s changes its user or group: the kernel has ended its recording; record as root",
            program);
    return 0;
}

/* ---- start and end ---- */

static void open_all(struct capture *k, pid_t pid)
{
    struct cf_opened_options o = {
        .percent = k->o.jitter, .seed = k->o.seed, .pid = pid, .attached = k->o.pid != 0};
    char why[512];
    int lacking;

    o.count = cf_perf_events(&k->o, o.event);
    o.trace_bytes = cf_perf_trace_bytes(&k->o);
    lacking = cf_opened_all(k->records, &o, why, sizeof why);
    if (lacking < 0) {
        if (!k->o.pid)
            kill(pid, SIGKILL);
        cf_die(k->tool, CF_EXIT_ENVIRONMENT, "%s", why);
    }
    if (why[0])
        cf_warn(k->tool, "%s", why);
    if (lacking)
        cf_warn(k->tool, "%d CPUs have no PMU %s: what runs there is not sampled", lacking,
                o.event[0].pmu);
}

/* The kernel has ptrace's debug registers and perf's breakpoints out of the same hands. */
static void check_breakpoints(struct capture *k)
{
    static const struct cf_watch_point data = {.kind = CF_WATCH_WRITE};
    const char *why = k->o.fine.most ? cf_watch_unable(&data, 1) : NULL;

    if (!why)
        return;
    if (k->o.file || k->o.fine_given)
        cf_die(k->tool, CF_EXIT_ENVIRONMENT, "breakpoints: %s", why);
    cf_warn(k->tool, "breakpoints: %s: samples alone are recorded, as with --fine 0", why);
    k->o.fine.most = 0;
}

/* The program waits at the pipe until its events are open. */
static void start(struct capture *k, char **argv)
{
    int gate[2];
    char c;

    if (pipe(gate) != 0)
        cf_die(k->tool, CF_EXIT_ENVIRONMENT, "pipe: %s", strerror(errno));
    k->child = cf_command_fork(&k->run);
    if (k->child < 0)
        cf_die(k->tool, CF_EXIT_ENVIRONMENT, "fork: %s", strerror(errno));
    if (k->child == 0) {
        close(gate[1]);
        while (read(gate[0], &c, 1) < 0 && errno == EINTR)
            ;
        close(gate[0]);
        cf_heap_environment(&k->heap);
        cf_command_exec(&k->run, (const char *const *)argv);
    }
    close(gate[0]);
    open_all(k, k->child);
    close(gate[1]);
}

static int finish(struct capture *k)
{
    if (k->failed && !k->reaped && k->child)
        k->reaped = cf_command_reap(k->child, &k->status, 0);
    if (cf_heap_end(&k->heap) != 0)
        k->failed = 1;
    tell(k);
    cf_command_end(&k->run, k->writer);
    cf_fine_free(k->fine);
    cf_tasks_free(k->tasks);
    cf_records_free(k->records);
    cf_perf_rows_free(&k->samples);
    free(k->command);
    if (k->samples.rows && !k->run.failed)
        cf_command_tell(&k->run, k->o.output, k->samples.rows);
    return cf_command_finish(&k->run, k->failed || !k->begun ? CF_EXIT_ENVIRONMENT : CF_EXIT_OK,
                             k->status);
}

int main(int argc, char **argv)
{
    struct cf_tool tool;
    struct capture k = {.tool = &tool};
    char path[PATH_MAX];
    uint64_t trace;
    pid_t process;
    int status;

    cf_tool_init(&tool, argc, argv, "cf-capture-perf", cf_perf_usage);
    cf_perf_options(&tool, &k.o, argc, argv);
    check_breakpoints(&k);
    status = k.o.pid ? 0 : cf_command_find(argv[optind], path, sizeof path);
    if (status)
        cf_die(&tool, status, "%s: %s", argv[optind],
               status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    if (k.o.pid && kill((pid_t)k.o.pid, 0) != 0)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "--pid %u: %s", k.o.pid, strerror(errno));
    process = cf_process_look((pid_t)k.o.pid).pid;
    if (k.o.pid && process && process != (pid_t)k.o.pid)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "--pid %u: a thread of process %d: give its number",
               k.o.pid, (int)process);
    k.run = (struct cf_command){
        .tool = &tool, .output = k.o.output, .command_output = k.o.command_output};
    k.command = command_of(&k, argv + optind);
    k.start_ns = now_ns();
    trace = cf_perf_trace_bytes(&k.o);
    k.records = cf_need(&tool, cf_records_new(trace ? trace : k.o.buffer));
    k.writer = cf_tool_recording(&tool, k.o.output);
    k.tasks = cf_need(&tool, cf_tasks_new(k.writer, k.start_ns));
    k.fine = cf_need(&tool, cf_fine_new(&k.o.fine, k.records, k.tasks));
    if (k.o.file && cf_earlier_read(&tool, k.o.file, k.fine) == 0)
        cf_die(&tool, CF_EXIT_INPUT, "%s: has no misses in files that were mapped", k.o.file);
    cf_perf_rows_begin(&k.samples, k.writer, k.fine, k.tasks, &k.heap, k.start_ns);
    k.samples.latencies = !k.o.coarse;
    cf_command_prepare(&k.run);
    if (header(&k) != 0)
        return cf_command_unbegun(&k.run, k.writer);
    signal(SIGUSR1, on_usr1);
    k.o.heap.none |= k.o.pid != 0;
    cf_heap_begin(&k.heap, &tool, &k.o.heap, k.writer, k.start_ns);
    cf_tasks_programs(k.tasks, tell_program, &k, cf_heap_library(&k.heap));
    if (k.o.pid) {
        if (!tool.quiet)
            cf_warn(&tool, "no heap objects are recorded of a process that runs already, into "
                           "which nothing can be preloaded");
        cf_command_attached(&k.run);
        k.begun = 1;
        open_all(&k, (pid_t)k.o.pid);
        if (cf_tasks_attach(k.tasks, k.o.pid) != 0)
            cf_die(&tool, CF_EXIT_ENVIRONMENT, "/proc/%u/maps: %s", k.o.pid, strerror(errno));
    } else {
        (void)tell_program(&k, path, 0);
        start(&k, argv + optind);
    }
    record(&k);
    return finish(&k);
}
