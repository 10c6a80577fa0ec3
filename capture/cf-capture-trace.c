/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-trace - records every memory access of a program.
 *
 * In: a program, which runs under a Valgrind tool of ours (capture/trace/). Out: tables access,
 * task, map, object, stack and switch; time counts instructions. The program keeps its standard
 * input, standard error and exit status. Memory: descriptions of the code that the program ran
 * through, a frame, and up to 4 MiB of shared memory a traced process. Nothing that grows with the
 * trace.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_resolved.h"
#include "capture/trace/missing.h"
#include "capture/trace/reader.h"
#include "formats/files/cf_suite.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture-trace [OPTION]... [--] PROGRAM [ARGUMENT...]\n"
    "Record every load and store of PROGRAM and of the processes that it starts, their\n"
    "threads, mappings and heap blocks.\n"
    "\n"
    "  -o, --output FILE          write a packed file; PROGRAM keeps its standard output\n"
    "      --resolve              name mappings, functions, lines, objects now, by cf-resolve\n"
    "  -i, --instructions         record instruction fetches too, as straight-line runs\n"
    "  -f, --follow               record child processes: the default\n"
    "      --no-follow            record no child processes, and no program that PROGRAM\n"
    "                             runs in its place; say which ran\n"
    "      --function NAME        record accesses only while function NAME is on the stack\n"
    "  -n, --limit N              record N accesses; PROGRAM then continues unrecorded\n"
    "      --calls[=DEPTH]        keep the calls that led to each access, the outermost DEPTH:\n"
    "                             column stack\n"
    "      --own-allocator        leave PROGRAM its allocator, which Valgrind else replaces\n"
    "      --stack-depth N        callers kept for each heap block, 0 to 64  [8]\n"
    "      --fetch-line BYTES     with -i: the order of fetches and data is exact for cache\n"
    "                             lines of this size and above  [64]\n"
    "      --max-threads N        most threads of a process at a time  [2000]\n"
    "      --command-output FILE  where PROGRAM's standard output goes; without -o it\n"
    "                             goes to standard error\n"
    "      --probe                report whether this machine can record, and exit\n"
    "  -q, --quiet                print no remarks\n"
    "  -h, --help, --version\n"
    "\n"
    "Examples:\n"
    "  cf-capture-trace -o ls.cf ls -l\n"
    "  cf-capture-trace -i ./filter <in | cf-resolve | cf-rank\n";

struct options {
    const char *output, *command_output, *function;
    int resolve;
    const char *calls_depth;
    int calls, own_allocator;
    uint32_t stack_depth, max_threads;
    struct cf_trace_options read;
};

enum {
    OPTION = 32,        /* bytes of one with a number */
    LATE = 20,          /* in CF_COMMAND_FLUSH_MS */
    PIPE_READS = 32,    /* more than a pipe has for */
    LEAST_FILES = 16,   /* 12 of Valgrind, the standard ones, and one to open */
    MAX_THREADS = 2000, /* Valgrind touches 7 KB for each when it starts */
};

/* Valgrind reserves it, so that nothing else is mapped there. */
static const rlim_t most_stack = (rlim_t)2 << 30;

struct capture {
    struct cf_tool *tool;
    struct cf_writer *writer;
    struct cf_trace *trace;
    struct cf_resolved resolved;
    char directory[2][PATH_MAX]; /* or "" */
    FILE *log;                   /* Valgrind's messages, or NULL */
    pid_t child;
    int status, reaped;
    int lost;      /* recording ended before what is recorded */
    int silent;    /* the program's process ended without a word */
    unsigned left; /* processes that were being recorded when it ended */
    unsigned late; /* how long these go on since the program has ended, in CF_COMMAND_FLUSH_MS */
};

/* ---- finding things ---- */

/* Valgrind itself, or NULL: Debian's command is a script, which puts more into the program's
 * environment. */
static const char *find_valgrind(void)
{
    static char path[PATH_MAX];
    const char *const end = ".bin";
    size_t length;

    if (cf_command_find("valgrind", path, sizeof(path) - strlen(end)) != 0)
        return NULL;
    length = strlen(path);
    memcpy(path + length, end, strlen(end) + 1);
    if (access(path, X_OK) != 0)
        path[length] = 0;
    return path;
}

/* Directory of our Valgrind tool, or NULL with the reason why it cannot be used. */
static const char *find_tool(const char **why)
{
    static char directory[PATH_MAX];
    char path[PATH_MAX];
    struct rlimit files;
#if defined(__aarch64__)
    const char *arch = "arm64";
#else
    const char *arch = "amd64";
#endif

    /* By its real path: the program sees the name in its environment, and its length matters. */
    snprintf(path, sizeof(path), "%s/valgrind/cftrace-%s-linux", cf_suite_dir("libexec/cacheflow"),
             arch);
    if (!realpath(path, directory))
        directory[0] = 0;
    *why = NULL;
    if (!find_valgrind())
        *why = "Valgrind is missing: install the package valgrind";
    else if (access("/proc/self/exe", F_OK) != 0)
        *why = "/proc/self/exe cannot be read, nor what else Valgrind needs of /proc: mount it";
    else if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < LEAST_FILES)
        *why = "the hard limit of open files (ulimit -Hn) must be 16 at least: Valgrind takes 12";
    else if (access(directory, X_OK) != 0)
        *why = "our Valgrind tool is missing: install the package valgrind and build again";
    if (*why)
        return NULL;
    *strrchr(directory, '/') = 0;
    /* LD_PRELOAD cannot hold such a path. By this name others find it as long as we live. */
    if (strpbrk(directory, " :$")) {
        static int fd; /* stays open */

        fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0) {
            *why = "the directory of our Valgrind tool cannot be opened";
            return NULL;
        }
        snprintf(directory, sizeof(directory), "/proc/%d/fd/%d", (int)getpid(), fd);
    }
    return directory;
}

/* The first two of the usual places: the second one is for shared memory that finds no room in the
 * first. */
static int make_directories(struct capture *k)
{
    const char *candidates[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof(candidates) / sizeof(*candidates) && n < 2; i++) {
        char *to = k->directory[n];

        if (!candidates[i] || candidates[i][0] != '/')
            continue;
        if (snprintf(to, PATH_MAX, "%s/cf-trace.XXXXXX", candidates[i]) < PATH_MAX - 64 &&
            mkdtemp(to))
            n++;
        else
            to[0] = 0;
    }
    return n > 0 ? 0 : -1;
}

/* ---- running ---- */

/* Opens a file that stays open in what is run, and makes an option of its number. */
static void give(const struct cf_tool *t, char to[OPTION], const char *name, const char *path,
                 int flags)
{
    int fd = open(path, flags, 0600);

    if (fd < 0) {
        cf_warn(t, "%s: %s", path, strerror(errno));
        _exit(CF_EXIT_ENVIRONMENT);
    }
    snprintf(to, OPTION, "%s=%d", name, fd);
    /* cppcheck-suppress resourceLeak */
}

static void run_child(const struct capture *k, struct cf_command *run, const struct options *o,
                      const char *tool, char **argv)
{
    char directory[PATH_MAX + 16], spare[PATH_MAX + 16], path[PATH_MAX + 16], depth[32],
        threads[32], stack[40], proc[OPTION], log[OPTION];
    char *function = NULL;
    struct rlimit limit;
    const char **line;
    int n = 0, args = 0;

    while (argv[args])
        args++;
    line = calloc((size_t)args + 24, sizeof(*line));
    if (!line || (o->function && asprintf(&function, "--function=%s", o->function) < 0) ||
        setenv("VALGRIND_LIB", tool, 1) != 0) {
        cf_warn(k->tool, "out of memory");
        _exit(CF_EXIT_ENVIRONMENT);
    }
    snprintf(directory, sizeof(directory), "--directory=%s", k->directory[0]);
    snprintf(spare, sizeof(spare), "--spare=%s", k->directory[1]);
    give(k->tool, proc, "--proc", "/proc", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof(path), "%s/log", k->directory[0]);
    give(k->tool, log, "--log-fd", path, O_WRONLY | O_CREAT | O_APPEND);
    snprintf(depth, sizeof(depth), "--stack-depth=%u", o->stack_depth);
    snprintf(threads, sizeof(threads), "--max-threads=%u", o->max_threads);
    /* By itself it would take 16 MiB at most. */
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > most_stack)
        limit.rlim_cur = most_stack;
    snprintf(stack, sizeof(stack), "--main-stacksize=%llu", (unsigned long long)limit.rlim_cur);
    line[n++] = find_valgrind();
    line[n++] = "--command-line-only=yes";
    line[n++] = o->own_allocator ? "--tool=cftraceown" : "--tool=cftrace";
    line[n++] = "-q";
    line[n++] = "--sigill-diagnostics=yes";
    line[n++] = "--vgdb=no";
    line[n++] = log;
    line[n++] = directory;
    line[n++] = proc;
    if (k->directory[1][0])
        line[n++] = spare;
    line[n++] = depth;
    line[n++] = threads;
    if (limit.rlim_cur > 16 << 20)
        line[n++] = stack;
    if (o->calls)
        line[n++] = "--calls=yes";
    if (o->own_allocator)
        line[n++] = "--own-allocator=yes";
    if (o->read.follow) {
        line[n++] = "--follow=yes";
        line[n++] = "--trace-children=yes";
    }
    if (function)
        line[n++] = function;
    line[n++] = "--";
    for (int i = 0; i < args; i++)
        line[n++] = argv[i];
    cf_command_exec(run, line);
}

static void remove_directory(struct capture *k, char *path)
{
    DIR *d = path[0] ? opendir(path) : NULL;
    const struct dirent *e;

    while (d && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        if (strcmp(e->d_name, "log") == 0 && !k->log)
            k->log = fdopen(openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC), "r");
        unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
    if (rmdir(path) == 0 || errno == ENOENT) /* what runs on unrecorded removes it, too */
        path[0] = 0;
}

/* Removes the directories and what is in them; the log stays open. */
static void remove_directories(struct capture *k)
{
    remove_directory(k, k->directory[0]);
    remove_directory(k, k->directory[1]);
}

/* Whether the program has ended; waits for that unless `options` is WNOHANG. */
static int reap(struct capture *k, int options)
{
    if (!k->reaped)
        k->reaped = cf_command_reap(k->child, &k->status, options);
    return k->reaped;
}

/* A process that it has left in the background may never end. */
static void tell_late(struct capture *k)
{
    const unsigned n = reap(k, WNOHANG) ? cf_trace_alive(k->trace) : 0;

    if (n && ++k->late == LATE && !k->tool->quiet)
        cf_warn(k->tool,
                "the program has ended; %u process%s that it started run%s on and %s recorded: "
                "interrupt to end the recording",
                n, n > 1 ? "es" : "", n > 1 ? "" : "s", n > 1 ? "are" : "is");
}

/* Everything until all traced processes are gone, or the program is that was asked to end. Where
 * the stream cannot be written any more, what is recorded runs on. */
static void record(struct capture *k, struct cf_command *run)
{
    /* after its end; the first that finds nothing may find the pipe's end next */
    unsigned reads = 0;
    int r;

    while ((r = cf_trace_read(k->trace, CF_COMMAND_FLUSH_MS)) > 0) {
        if (r == CF_TRACE_IDLE && !cf_trace_begun(k->trace) && reap(k, WNOHANG))
            break;
        if (cf_command_caught() && reap(k, WNOHANG) &&
            (reads += r == CF_TRACE_IDLE ? PIPE_READS / 2 : 1) >= PIPE_READS)
            break;
        if (!cf_command_flush_due(run))
            continue;
        tell_late(k);
        cf_command_show(run, k->writer, cf_decode_rows(cf_trace_decoder(k->trace)));
        if (cf_decode_flush(cf_trace_decoder(k->trace)) != 0 || cf_writer_flush(k->writer) != 0) {
            r = CF_TRACE_STOPPED;
            break;
        }
    }
    k->left = r == CF_TRACE_END ? 0 : cf_trace_alive(k->trace);
    k->lost = r == CF_TRACE_STOPPED;
    k->silent = r == CF_TRACE_END && cf_trace_silent(k->trace, (uint32_t)k->child);
    if (r == CF_TRACE_END && cf_command_caught() && (k->silent || !cf_trace_begun(k->trace)) &&
        reap(k, 0) && WTERMSIG(k->status) == cf_command_caught()) {
        cf_trace_early(k->trace, (uint32_t)k->child); /* it met Valgrind without its handlers */
        k->silent = 0;
    }
    cf_trace_finish(k->trace);
    if (k->lost)
        cf_writer_cut(k->writer);
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    const char *why;
    uint64_t fetch_line = 0;
    int probe = 0, follow = 0, alone = 0;
    const struct cf_option table[] = {
        {"output", 'o', CF_FILE(&o->output)},
        {"resolve", 0, CF_FLAG(&o->resolve)},
        {"instructions", 'i', CF_FLAG(&o->read.decode.instructions)},
        {"follow", 'f', CF_FLAG(&follow)}, /* what scripts say since it was no default */
        {"no-follow", 0, CF_FLAG(&alone)},
        {"function", 0, CF_TEXT(&o->function)},
        {"limit", 'n', CF_NUMBER(&o->read.decode.limit, 1, UINT64_MAX)},
        {"calls", 0, CF_TEXT(&o->calls_depth), .given = &o->calls, .may_lack = 1},
        {"own-allocator", 0, CF_FLAG(&o->own_allocator)},
        {"stack-depth", 0, CF_NUMBER(&o->stack_depth, 0, 64)},
        {"fetch-line", 0, CF_POWER(&fetch_line, 1, 1 << 20)},
        {"max-threads", 0, CF_NUMBER(&o->max_threads, 100, 100000)},
        {"command-output", 0, CF_FILE(&o->command_output)},
        {"probe", 0, CF_FLAG(&probe)},
        CF_END_COMMAND_OPTIONS,
    };

    *o = (struct options){.stack_depth = 8, .max_threads = MAX_THREADS};
    cf_options_read(t, argc, argv, table);
    o->read.follow = !alone;
    if (o->calls)
        o->read.decode.calls = CF_DECODE_DEPTH;
    if (o->calls_depth)
        o->read.decode.calls =
            (uint32_t)cf_parse_u64(t, "--calls", o->calls_depth, 1, CF_DECODE_DEPTH);
    if (follow && alone)
        cf_die(t, CF_EXIT_USAGE, "--follow and --no-follow: give one of them");
    if (probe && !find_tool(&why)) {
        puts(why);
        exit(CF_EXIT_ENVIRONMENT);
    }
    if (probe) {
        puts("ready: records every access, by Valgrind");
        exit(CF_EXIT_OK);
    }
    if (o->output && !strcmp(o->output, "-"))
        o->output = NULL;
    if (fetch_line && !o->read.decode.instructions)
        cf_die(t, CF_EXIT_USAGE, "--fetch-line is for instruction fetches: give -i as well");
    o->read.decode.fetch_line = (uint32_t)fetch_line;
    if (optind == argc)
        cf_die(t, CF_EXIT_USAGE, "no PROGRAM given: see --help");
}

/* Tells how it went; the exit status. */
static int finish(struct capture *k, struct cf_command *run, const struct options *o)
{
    const struct cf_trace_census census = cf_trace_census(k->trace);
    const struct cf_decode *decoder = cf_trace_decoder(k->trace);
    const char *problem = cf_decode_trouble(decoder);
    const uint64_t rows = cf_decode_rows(decoder);
    int begun = cf_trace_begun(k->trace), status = problem ? CF_EXIT_INPUT : CF_EXIT_OK;

    if (problem)
        cf_warn(k->tool, "%s", problem);
    if (cf_missing_tell(k->tool, k->trace) != CF_EXIT_OK)
        status = CF_EXIT_INPUT;
    if (cf_decode_was_refused(decoder))
        status = CF_EXIT_ENVIRONMENT;
    if (begun && o->function && rows == 0 && !k->tool->quiet)
        cf_warn(k->tool, "--function '%s': never called, inlined everywhere, or without a symbol",
                o->function);
    if (!k->tool->quiet) {
        cf_missing_heaps(k->tool, decoder);
        cf_missing_calls(k->tool, decoder, o->read.decode.calls);
    }
    if (!begun || census.all == census.unrecorded)
        cf_writer_cut(k->writer);
    /* Before the program has ended: if it still runs, it does so unrecorded and must not wait. */
    cf_trace_close(k->trace);
    remove_directories(k);
    if (!k->lost)
        reap(k, 0);
    if (k->log && !k->lost)
        cf_missing_log(k->tool, k->log);
    /* Whatever else ends a program, Valgrind lives to say so. */
    if (k->silent && !(WIFSIGNALED(k->status) && WTERMSIG(k->status) == SIGKILL)) {
        cf_warn(k->tool, "Valgrind failed while the program ran: the trace ends there");
        cf_writer_cut(k->writer);
        status = CF_EXIT_ENVIRONMENT;
    }
    cf_command_end(run, k->writer);
    status = cf_resolved_end(&k->resolved, run, status);
    if (k->left && (k->lost ? !reap(k, WNOHANG) && !run->signalled : cf_command_caught()))
        cf_warn(k->tool, "%u process%s on, unrecorded", k->left, k->left > 1 ? "es run" : " runs");
    reap(k, 0);
    remove_directories(k); /* what it has begun meanwhile */
    for (unsigned i = 0; i < 2; i++)
        if (k->directory[i][0])
            cf_warn(k->tool, "%s: could not be removed", k->directory[i]);
    if (!begun)
        status = CF_EXIT_ENVIRONMENT;
    else if (rows && !run->failed)
        cf_command_tell(run, o->output, rows);
    return cf_command_finish(run, status, k->status);
}

int main(int argc, char **argv)
{
    struct capture k = {0};
    struct options o;
    struct cf_tool tool;
    char path[PATH_MAX], problem[512];
    const char *directory, *why;
    struct cf_command run;
    int status;

    cf_tool_init(&tool, argc, argv, "cf-capture-trace", usage);
    parse(&tool, &o, argc, argv);
    status = cf_command_find(argv[optind], path, sizeof(path));
    if (status)
        cf_die(&tool, status, "%s: %s", argv[optind],
               status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    why = cf_missing_refuses(path);
    if (why)
        cf_die(&tool, CF_COMMAND_NOT_EXECUTABLE, "%s: %s", argv[optind], why);
    directory = find_tool(&why);
    if (!directory)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "%s", why);
    k.tool = &tool;
    run =
        (struct cf_command){.tool = &tool, .output = o.output, .command_output = o.command_output};
    if (o.resolve)
        cf_resolved_begin(&k.resolved, &run);
    k.writer = cf_tool_recording(&tool, run.output);
    cf_command_prepare(&run);
    if ((o.calls && cf_writer_number(k.writer, "stack", "depth", o.read.decode.calls) != 0) ||
        cf_command_header(&run, k.writer, NULL, argv + optind) != 0)
        return cf_resolved_unbegun(&k.resolved, &run, k.writer);
    if (make_directories(&k) != 0)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "no directory for temporary files: set TMPDIR");
    o.read.spare = k.directory[1];
    k.trace = cf_trace_open(k.directory[0], &o.read, k.writer, problem, sizeof(problem));
    if (!k.trace) {
        remove_directories(&k);
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "%s", problem);
    }

    k.child = cf_command_fork(&run);
    if (k.child < 0) {
        remove_directories(&k);
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "fork: %s", strerror(errno));
    }
    if (k.child == 0)
        run_child(&k, &run, &o, directory, argv + optind);
    record(&k, &run);
    return finish(&k, &run, &o);
}
