/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-trace - records every memory access of a program.
 *
 * In: a program, which runs under a Valgrind tool of ours (capture/trace/). Out: tables access,
 * task, map, object, stack and switch; time counts instructions. The program keeps its standard
 * input, standard error and exit status. Memory: descriptions of the code that the program ran
 * through, a frame, and 4 MiB of shared memory a traced process. Nothing that grows with the trace.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/cf_command.h"
#include "capture/trace/decode.h"
#include "formats/cf_tool.h"

static const char usage[] =
    "Usage: cf-capture-trace [OPTION]... [--] PROGRAM [ARGUMENT...]\n"
    "Record every load and store of PROGRAM, its threads, mappings and heap blocks.\n"
    "\n"
    "  -o, --output FILE          write a packed file; PROGRAM keeps its standard output\n"
    "  -i, --instructions         record instruction fetches too, as straight-line runs\n"
    "  -f, --follow               record child processes too\n"
    "      --function NAME        record accesses only while function NAME is on the stack\n"
    "  -n, --limit N              record N accesses; PROGRAM then runs on unrecorded\n"
    "      --stack-depth N        callers kept for each heap block, 0 to 64  [8]\n"
    "      --fetch-line BYTES     with -i: cache line that runs need not cross  [64]\n"
    "      --command-output FILE  where PROGRAM's standard output goes; without -o it\n"
    "                             goes to standard error\n"
    "      --probe                say whether this machine can do it\n"
    "  -q, --quiet                no remarks\n"
    "  -h, --help, --version\n"
    "\n"
    "Examples:\n"
    "  cf-capture-trace -o ls.cf ls -l\n"
    "  cf-capture-trace -i ./filter <in | cf-resolve | cf-rank\n";

struct options {
    const char *output, *command_output, *function;
    int stack_depth;
    struct cf_trace_options decode;
};

enum {
    OPT_FUNCTION = 256,
    OPT_DEPTH,
    OPT_LINE,
    OPT_COMMAND,
    OPT_PROBE,
    FLUSH_MS = 100,
    LOG_BYTES = 65536,
};

static const struct option longs[] = {
    {"output", required_argument, NULL, 'o'},
    {"instructions", no_argument, NULL, 'i'},
    {"follow", no_argument, NULL, 'f'},
    {"function", required_argument, NULL, OPT_FUNCTION},
    {"limit", required_argument, NULL, 'n'},
    {"stack-depth", required_argument, NULL, OPT_DEPTH},
    {"fetch-line", required_argument, NULL, OPT_LINE},
    {"command-output", required_argument, NULL, OPT_COMMAND},
    {"probe", no_argument, NULL, OPT_PROBE},
    CF_COMMON_OPTIONS,
};

struct capture {
    struct cf_tool *tool;
    struct cf_writer *writer;
    int instructions;
    struct cf_trace *trace;
    char directory[PATH_MAX];
    int log; /* Valgrind's messages, or -1 */
    pid_t child;
    int begun, status, reaped;
    struct timespec flushed;
};

/* For the handlers: what came, and whom it concerns. */
static volatile sig_atomic_t caught, caught_count;
static volatile pid_t handler_child;

static void on_signal(int s, siginfo_t *info, void *context)
{
    (void)context;
    caught = s;
    if (++caught_count > 1)
        kill(handler_child, SIGKILL);
    else if (info->si_code != SI_KERNEL) /* a terminal tells the program itself */
        kill(handler_child, s);
}

/* ---- what the decoder hands over ---- */

static int origin(void *arg, uint32_t hint, const struct cf_trace_origin *o)
{
    struct capture *k = arg;

    return cf_writer_kind(k->writer, hint, o->pc, o->op, o->size, o->insns);
}

static int place(void *arg, uint32_t pid, uint32_t tid, struct cf_trace_columns *c, uint32_t *rows)
{
    struct capture *k = arg;
    const struct cf_values constants[] = {{CF_PID, NULL, pid},    {CF_TID, NULL, tid},
                                          {CF_OP, CF_BY_KIND, 0}, {CF_SIZE, CF_BY_KIND, 0},
                                          {CF_PC, CF_BY_KIND, 0}, {CF_INSNS, CF_BY_KIND, 0}};
    struct cf_place p[] = {{CF_TIME, NULL}, {CF_ADDR, NULL}};

    if (cf_writer_place(k->writer, CF_ACCESS, constants, k->instructions ? 6 : 5, p, 2, &c->hint,
                        rows) != 0)
        return -1;
    c->time = p[0].values;
    c->addr = p[1].values;
    return 0;
}

static int placed(void *arg, uint32_t rows)
{
    struct capture *k = arg;

    return cf_writer_placed(k->writer, CF_ACCESS, rows);
}

static int switched(void *arg, uint64_t time, uint32_t pid, uint32_t tid, uint64_t count)
{
    struct capture *k = arg;
    struct cf_values v[] = {{CF_TIME, NULL, time},
                            {CF_PID, NULL, pid},
                            {CF_TID, NULL, tid},
                            {CF_CPU, NULL, 0},
                            {CF_COUNT, NULL, count}};

    return cf_writer_rows(k->writer, CF_SWITCH, 1, v, 5, NULL);
}

static int task(void *arg, const struct cf_trace_task *t)
{
    struct capture *k = arg;
    unsigned op = t->kind == CF_TRACE_BEGIN   ? CF_BEGIN
                  : t->kind == CF_TRACE_NAMED ? CF_NAMED
                                              : CF_EXIT;
    struct cf_values v[] = {
        {CF_TIME, NULL, t->time}, {CF_PID, NULL, t->pid},
        {CF_TID, NULL, t->tid},   {CF_PARENT, NULL, t->parent},
        {CF_OP, NULL, op},        {CF_LABEL, NULL, cf_writer_string(k->writer, t->name)}};

    return cf_writer_rows(k->writer, CF_TASK, 1, v, 6, NULL);
}

static int map(void *arg, const struct cf_trace_map *m)
{
    struct capture *k = arg;
    struct cf_values v[] = {{CF_TIME, NULL, m->time},
                            {CF_PID, NULL, m->pid},
                            {CF_OP, NULL, m->kind == CF_TRACE_MAPPED ? CF_MAPPED : CF_UNMAPPED},
                            {CF_START, NULL, m->start},
                            {CF_STOP, NULL, m->end},
                            {CF_OFFSET, NULL, m->offset},
                            {CF_PERMS, NULL, m->perms},
                            {CF_LABEL, NULL, cf_writer_string(k->writer, m->name)}};

    return cf_writer_rows(k->writer, CF_MAP, 1, v, 8, NULL);
}

static int objects(void *arg, const struct cf_trace_objects *o)
{
    struct capture *k = arg;
    uint8_t op[1024];

    for (uint32_t done = 0, n; done < o->rows; done += n) {
        struct cf_values v[] = {{CF_TIME, o->time + done, 0},     {CF_PID, NULL, o->pid},
                                {CF_TID, o->tid + done, 0},       {CF_OP, op, 0},
                                {CF_ADDR, o->addr + done, 0},     {CF_BYTES, o->bytes + done, 0},
                                {CF_STACK_ID, o->stack + done, 0}};

        n = o->rows - done < sizeof(op) ? o->rows - done : (uint32_t)sizeof(op);
        for (uint32_t i = 0; i < n; i++)
            op[i] = o->kind[done + i] == CF_TRACE_ALLOC ? CF_ALLOC : CF_FREE;
        if (cf_writer_rows(k->writer, CF_OBJECT, n, v, 7, NULL) != 0)
            return -1;
    }
    return 0;
}

static int context(void *arg, const struct cf_trace_context *c)
{
    struct capture *k = arg;
    struct cf_values v[] = {{CF_PID, NULL, c->pid},
                            {CF_STACK_ID, NULL, c->stack},
                            {CF_PARENT, NULL, c->parent},
                            {CF_PC, NULL, c->pc}};

    return cf_writer_rows(k->writer, CF_STACK, 1, v, 4, NULL);
}

/* ---- finding things ---- */

/* Directory of our Valgrind tool, or NULL with the reason why it cannot be used. */
static const char *find_tool(const char **why)
{
    static char directory[PATH_MAX];
    char path[PATH_MAX], valgrind[PATH_MAX];
#if defined(__aarch64__)
    const char *arch = "arm64";
#else
    const char *arch = "amd64";
#endif

    /* By its real path: the program sees the name in its environment, and its length matters. */
    snprintf(path, sizeof(path), "%s/valgrind/cftrace-%s-linux", cf_tool_dir("libexec/cacheflow"),
             arch);
    if (!realpath(path, directory))
        directory[0] = 0;
    *why = NULL;
    if (cf_command_find("valgrind", valgrind, sizeof(valgrind)) != 0)
        *why = "Valgrind is missing: install the package valgrind";
    else if (access(directory, X_OK) != 0)
        *why = "our Valgrind tool is missing: install the package valgrind and build again";
    if (*why)
        return NULL;
    *strrchr(directory, '/') = 0;
    return directory;
}

static char *quoted_command(char **argv)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);

    for (int i = 0; f && argv[i]; i++) {
        const char *s = argv[i];

        if (i)
            fputc(' ', f);
        if (*s && !s[strcspn(s, " \t\n'\"\\$`*?[]{}()<>|&;#~!")]) {
            fputs(s, f);
            continue;
        }
        fputc('\'', f);
        for (; *s; s++)
            if (*s == '\'')
                fputs("'\\''", f);
            else
                fputc(*s, f);
        fputc('\'', f);
    }
    if (f && fclose(f) == 0)
        return line;
    return NULL;
}

static int make_directory(struct capture *k)
{
    const char *candidates[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};

    for (unsigned i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
        if (!candidates[i] || candidates[i][0] != '/')
            continue;
        if (snprintf(k->directory, sizeof(k->directory), "%s/cf-trace.XXXXXX", candidates[i]) <
                (int)sizeof(k->directory) - 64 &&
            mkdtemp(k->directory))
            return 0;
    }
    k->directory[0] = 0;
    return -1;
}

/* ---- running ---- */

static void run_child(const struct capture *k, const struct options *o, const char *tool,
                      const sigset_t *mask, void (*pipe_action)(int), char **argv)
{
    char directory[PATH_MAX + 16], log[PATH_MAX + 32], depth[32], *function = NULL;
    const char **run;
    int n = 0, args = 0, out = STDERR_FILENO;

    while (argv[args])
        args++;
    run = calloc((size_t)args + 16, sizeof(*run));
    if (!run || (o->function && asprintf(&function, "--function=%s", o->function) < 0))
        _exit(CF_EXIT_ENVIRONMENT);
    snprintf(directory, sizeof(directory), "--directory=%s", k->directory);
    /* Valgrind ends a process that cannot open its log, and followed ones may outlive our
     * directory. */
    if (o->decode.follow)
        snprintf(log, sizeof(log), "--log-file=/dev/null");
    else
        snprintf(log, sizeof(log), "--log-file=%s/log", k->directory);
    snprintf(depth, sizeof(depth), "--stack-depth=%d", o->stack_depth);
    run[n++] = "valgrind";
    run[n++] = "--command-line-only=yes";
    run[n++] = "--tool=cftrace";
    run[n++] = "-q";
    run[n++] = "--vgdb=no";
    run[n++] = log;
    run[n++] = directory;
    run[n++] = depth;
    if (o->decode.follow) {
        run[n++] = "--follow=yes";
        run[n++] = "--trace-children=yes";
    }
    if (function)
        run[n++] = function;
    run[n++] = "--";
    for (int i = 0; i < args; i++)
        run[n++] = argv[i];

    if (o->command_output) {
        out = open(o->command_output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (out < 0) {
            cf_warn(k->tool, "%s: %s", o->command_output, strerror(errno));
            _exit(CF_EXIT_ENVIRONMENT);
        }
    }
    if (o->command_output || !o->output)
        dup2(out, STDOUT_FILENO);
    if (o->command_output && out != STDOUT_FILENO)
        close(out);
    setenv("VALGRIND_LIB", tool, 1);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, pipe_action);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(run[0], (char **)run);
    cf_warn(k->tool, "valgrind: %s", strerror(errno));
    _exit(CF_EXIT_ENVIRONMENT);
}

/* Valgrind's messages, if they are not just about the signal that ended the program. */
static void show_log(int fd)
{
    char text[LOG_BYTES];
    ssize_t n = read(fd, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = 0;
    if (!strstr(text, "default action of signal") || strstr(text, "unhandled instruction"))
        fputs(text, stderr);
}

/* Removes the directory and what is in it; the log stays open. Once that runs,
 * nobody needs the names any more unless children are followed, and gone early they do not stay
 * behind if we are killed. */
static void remove_directory(struct capture *k)
{
    DIR *d = k->directory[0] ? opendir(k->directory) : NULL;
    const struct dirent *e;

    if (!d)
        return;
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        if (strcmp(e->d_name, "log") == 0 && k->log < 0)
            k->log = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
        unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    if (rmdir(k->directory) == 0)
        k->directory[0] = 0;
}

static int64_t milliseconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

static void reap(struct capture *k)
{
    while (!k->reaped)
        if (waitpid(k->child, &k->status, 0) == k->child || errno != EINTR)
            k->reaped = 1;
}

/* Whether the program is gone although it never began to be traced. */
static int stillborn(struct capture *k)
{
    if (!cf_trace_begun(k->trace) && waitpid(k->child, &k->status, WNOHANG) == k->child)
        k->reaped = 1;
    return k->reaped;
}

/* Whether nobody reads our standard output any more: no reason for a message. */
static int reader_gone(const struct capture *k, const struct options *o)
{
    struct pollfd p = {.fd = STDOUT_FILENO};

    return !o->output && cf_writer_problem(k->writer) && poll(&p, 1, 0) == 1 &&
           (p.revents & POLLERR);
}

/* Everything until all traced processes are gone. */
static void record(struct capture *k, const struct options *o)
{
    int r;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &k->flushed);
    while ((r = cf_trace_read(k->trace, FLUSH_MS)) > 0) {
        if (!o->decode.follow && cf_trace_begun(k->trace))
            remove_directory(k);
        if (r == CF_TRACE_IDLE && stillborn(k))
            break;
        if (milliseconds_since(&k->flushed) >= FLUSH_MS) {
            if (cf_trace_flush(k->trace) < 0 || cf_writer_flush(k->writer) != 0)
                break;
            clock_gettime(CLOCK_MONOTONIC_COARSE, &k->flushed);
        }
    }
    cf_trace_finish(k->trace);
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    const char *why;
    uint64_t line;
    int c;

    *o = (struct options){.stack_depth = 8};
    while ((c = getopt_long(argc, argv, "+o:ifn:" CF_COMMON_LETTERS, longs, NULL)) != -1) {
        switch (c) {
        case 'o':
            o->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
            break;
        case 'i':
            o->decode.instructions = 1;
            break;
        case 'f':
            o->decode.follow = 1;
            break;
        case 'n':
            o->decode.limit = cf_parse_u64(t, "--limit", optarg, 1, UINT64_MAX);
            break;
        case OPT_FUNCTION:
            o->function = optarg;
            break;
        case OPT_DEPTH:
            o->stack_depth = (int)cf_parse_u64(t, "--stack-depth", optarg, 0, 64);
            break;
        case OPT_LINE:
            line = cf_parse_u64(t, "--fetch-line", optarg, 1, 1 << 20);
            if (line & (line - 1))
                cf_die(t, CF_EXIT_USAGE, "--fetch-line: %s is not a power of two", optarg);
            o->decode.fetch_line = (uint32_t)line;
            break;
        case OPT_COMMAND:
            o->command_output = optarg;
            break;
        case OPT_PROBE:
            if (!find_tool(&why)) {
                puts(why);
                exit(CF_EXIT_ENVIRONMENT);
            }
            puts("ready: records every access, by Valgrind");
            exit(CF_EXIT_OK);
        default:
            cf_common_option(t, c);
        }
    }
    if (optind == argc)
        cf_die(t, CF_EXIT_USAGE, "no PROGRAM given: see --help");
}

int main(int argc, char **argv)
{
    struct cf_trace_handler handler = {NULL, origin, place,   placed, switched,
                                       task, map,    objects, context};
    struct capture k = {.log = -1};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    struct cf_header header = {.clock_unit = "instructions", .source = "cf-capture-trace"};
    struct options o;
    struct cf_tool tool;
    char path[PATH_MAX], problem[512];
    const char *directory, *why;
    void (*pipe_action)(int);
    sigset_t block, before;
    int status;

    cf_tool_init(&tool, argc, argv, "cf-capture-trace", usage);
    parse(&tool, &o, argc, argv);
    status = cf_command_find(argv[optind], path, sizeof(path));
    if (status)
        cf_die(&tool, status, "%s: %s", argv[optind],
               status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    directory = find_tool(&why);
    if (!directory)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "%s", why);

    k.tool = &tool;
    k.instructions = o.decode.instructions;
    k.writer = cf_tool_writer(&tool, o.output);
    header.command = quoted_command(argv + optind);
    pipe_action = signal(SIGPIPE, SIG_IGN);
    status = cf_writer_header(k.writer, &header);
    free(header.command);
    if (status != 0)
        return cf_tool_finish(&tool, NULL, k.writer);
    /* Valgrind gives up without it, in words that do not tell why */
    if (getenv("TMPDIR") && access(getenv("TMPDIR"), W_OK) != 0)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "TMPDIR %s cannot be written to: set another",
               getenv("TMPDIR"));
    if (make_directory(&k) != 0)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "no directory for temporary files: set TMPDIR");
    handler.arg = &k;
    k.trace = cf_trace_open(k.directory, &o.decode, &handler, problem, sizeof(problem));
    if (!k.trace) {
        rmdir(k.directory);
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "%s", problem);
    }

    /* No signal between the fork and the handlers. */
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigprocmask(SIG_BLOCK, &block, &before);
    fflush(NULL);
    k.child = fork();
    if (k.child < 0) {
        remove_directory(&k);
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "fork: %s", strerror(errno));
    }
    if (k.child == 0)
        run_child(&k, &o, directory, &before, pipe_action, argv + optind);
    handler_child = k.child;
    action.sa_sigaction = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);

    record(&k, &o);
    if (cf_trace_problem(k.trace)) {
        cf_warn(&tool, "%s", cf_trace_problem(k.trace));
        status = CF_EXIT_INPUT;
    }
    k.begun = cf_trace_begun(k.trace);
    if (k.begun && o.function && cf_trace_rows(k.trace) == 0 && !tool.quiet)
        cf_warn(&tool, "--function '%s': never called, inlined everywhere, or without a symbol",
                o.function);
    /* Before the program has ended: if it still runs, it does so unrecorded and must not wait. */
    cf_trace_close(k.trace);
    remove_directory(&k);
    reap(&k);
    if (k.log >= 0)
        show_log(k.log);
    if (reader_gone(&k, &o)) {
        if (cf_writer_close(k.writer, 0, problem, sizeof(problem)) != 0 && !caught)
            caught = SIGPIPE;
        free(tool.line);
    } else if (cf_tool_finish(&tool, NULL, k.writer) != CF_EXIT_OK) {
        status = CF_EXIT_ENVIRONMENT;
    }
    if (caught) {
        signal(caught, SIG_DFL);
        raise(caught);
    }
    if (status != CF_EXIT_OK)
        return status;
    return WIFSIGNALED(k.status) ? CF_COMMAND_SIGNAL + WTERMSIG(k.status) : WEXITSTATUS(k.status);
}
