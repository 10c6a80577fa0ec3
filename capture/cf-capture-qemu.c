/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture-qemu - records every memory access of a program or system of another architecture.
 *
 * In: a program, which runs in QEMU's emulator for its architecture, or with --system the command
 * line of an emulator of whole machines; a plugin of ours (capture/qemu/) is loaded there. Out:
 * tables access, task, map and switch; time counts instructions. The program keeps its standard
 * input, standard error and exit status. Memory: descriptions of the code that was translated, a
 * frame, and some MiB of shared memory. Nothing that grows with the trace.
 */
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
#include "capture/qemu/decode.h"
#include "capture/qemu/decode_target.h"
#include "formats/cf_tool.h"

static const char usage[] =
    "Usage: cf-capture-qemu [OPTION]... [--] PROGRAM [ARGUMENT...]\n"
    "       cf-capture-qemu --system [OPTION]... [--] EMULATOR [ARGUMENT...]\n"
    "Record every load and store of PROGRAM, made for another architecture, in QEMU's\n"
    "user emulation; or of a whole machine, whose emulator (qemu-system-...) you name.\n"
    "\n"
    "  -o, --output FILE          write a packed file; PROGRAM keeps its standard output\n"
    "  -i, --instructions         record instruction fetches too, as straight-line runs\n"
    "  -a, --arch ARCH            take the emulator qemu-ARCH  [as PROGRAM's ELF header says]\n"
    "  -L, --sysroot DIR          where PROGRAM's libraries are  [Debian's for its ARCH]\n"
    "  -n, --limit N              record N accesses; PROGRAM then runs on unrecorded\n"
    "      --emulator-option OPT  a further option or argument for the emulator; repeatable\n"
    "      --image FILE           with --system: ELF file that runs there, to name its code\n"
    "      --fetch-line BYTES     with -i: cache line that runs need not cross  [64]\n"
    "      --command-output FILE  where PROGRAM's standard output goes; without -o it\n"
    "                             goes to standard error\n"
    "      --probe                say whether this machine can do it\n"
    "  -q, --quiet                no remarks\n"
    "  -h, --help, --version\n"
    "\n"
    "Examples:\n"
    "  cf-capture-qemu -o t.cf -- ./filter-arm64 <in\n"
    "  cf-capture-qemu --system --image a.elf -- qemu-system-sparc -M leon3_generic \\\n"
    "      -nographic -no-reboot -kernel a.elf | cf-resolve | cf-rank\n";

enum { MAX_OPTIONS = 64 };

struct options {
    const char *output, *command_output, *arch, *sysroot;
    const char *extra[MAX_OPTIONS], *image[MAX_OPTIONS];
    int extras, images, system;
    struct cfq_options decode;
};

enum {
    OPT_SYSTEM = 256,
    OPT_EXTRA,
    OPT_IMAGE,
    OPT_LINE,
    OPT_COMMAND,
    OPT_PROBE,
    FLUSH_MS = 100,
    WAIT_MS = 10, /* so long the end of the emulator may go unnoticed */
};

static const struct option longs[] = {
    {"output", required_argument, NULL, 'o'},
    {"instructions", no_argument, NULL, 'i'},
    {"arch", required_argument, NULL, 'a'},
    {"sysroot", required_argument, NULL, 'L'},
    {"limit", required_argument, NULL, 'n'},
    {"system", no_argument, NULL, OPT_SYSTEM},
    {"emulator-option", required_argument, NULL, OPT_EXTRA},
    {"image", required_argument, NULL, OPT_IMAGE},
    {"fetch-line", required_argument, NULL, OPT_LINE},
    {"command-output", required_argument, NULL, OPT_COMMAND},
    {"probe", no_argument, NULL, OPT_PROBE},
    CF_COMMON_OPTIONS,
};

/* For the handler: what came, and whom it concerns. */
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

/* ---- finding things ---- */

static int find_plugin(char *path, size_t size)
{
    char beside[PATH_MAX];

    snprintf(beside, sizeof(beside), "%s/qemu/cacheflow.so", cf_tool_dir("libexec/cacheflow"));
    return size >= PATH_MAX && realpath(beside, path) && access(path, R_OK) == 0 ? 0 : -1;
}

static void probe(void)
{
    static const char *const archs[] = {"aarch64", "arm", "riscv64", "sparc32plus", "x86_64"};
    char path[PATH_MAX], name[64], list[256] = "";
    size_t at = 0;

    if (find_plugin(path, sizeof(path)) != 0) {
        puts("our plugin is missing: build again");
        exit(CF_EXIT_ENVIRONMENT);
    }
    for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++) {
        snprintf(name, sizeof(name), "qemu-%s", archs[i]);
        if (cf_command_find(name, path, sizeof(path)) == 0)
            at += (size_t)snprintf(list + at, sizeof(list) - at, "%s %s", at ? "," : "", archs[i]);
    }
    if (!at) {
        puts("no emulator qemu-ARCH: install the package qemu-user");
        exit(CF_EXIT_ENVIRONMENT);
    }
    printf("ready: records programs for%s\n", list);
    exit(CF_EXIT_OK);
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

/* ---- running ---- */

/* The command line: emulator, our options, the user's, the program's. */
struct command {
    char *argv0; /* of the emulator, to be searched in PATH */
    char plugin[PATH_MAX + 64];
    const char **line;
    char *machine;
    char *path; /* of the program's file */
};

/* What the program is and which emulator it needs. Exits when that cannot be. */
static void choose(struct cf_tool *t, struct options *o, struct command *c, char **argv)
{
    char path[PATH_MAX], library[PATH_MAX];
    struct target target = {0};
    int status = cf_command_find(argv[0], path, sizeof(path));

    if (status)
        cf_die(t, status, "%s: %s", argv[0],
               status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    if (o->system) {
        c->argv0 = strdup(argv[0]);
        c->machine = strdup(argv[0]);
        return;
    }
    if (target_read(path, &target) != 0)
        cf_die(t, CF_COMMAND_NOT_EXECUTABLE, "%s: %s", path,
               errno == ENOEXEC ? "no ELF file: give a program, not a script" : strerror(errno));
    if (!o->arch && !target.arch)
        cf_die(t, CF_EXIT_USAGE,
               "%s: made for machine %u (%d bits, %s-endian), whose emulator is not known: give it "
               "with --arch",
               path, target.machine, target.bits, target.big_endian ? "big" : "little");
    c->path = realpath(path, NULL);
    if (!o->arch)
        o->arch = target.arch;
    if (asprintf(&c->argv0, strchr(o->arch, '/') ? "%s" : "qemu-%s", o->arch) < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "out of memory");
    c->machine = strdup(c->argv0);
    if (cf_command_find(c->argv0, library, sizeof(library)) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT,
               "%s is missing: install the package qemu-user, or name "
               "another with --arch",
               c->argv0);
    /* Where a dynamic linker of this machine's own stands, the emulator finds it by itself. */
    if (!o->sysroot && !getenv("QEMU_LD_PREFIX") && target.interpreter[0] &&
        access(target.interpreter, R_OK) != 0 && target_libraries(o->arch)) {
        snprintf(library, sizeof(library), "%s%s", target_libraries(o->arch), target.interpreter);
        if (access(library, R_OK) == 0)
            o->sysroot = target_libraries(o->arch);
        else
            cf_die(t, CF_EXIT_ENVIRONMENT,
                   "%s needs %s, which is neither here nor in %s: install its libraries (such as "
                   "libc6-dev-...-cross), or say with --sysroot where they are",
                   argv[0], target.interpreter, target_libraries(o->arch));
    }
}

static void build_command(struct cf_tool *t, const struct options *o, struct command *c, int fd,
                          char **argv)
{
    char plugin[PATH_MAX];
    int n = 0, args = 0;

    while (argv[args])
        args++;
    c->line = calloc((size_t)args + (size_t)o->extras + 16, sizeof(*c->line));
    if (!c->line || !c->argv0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "out of memory");
    if (find_plugin(plugin, sizeof(plugin)) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "our plugin is missing: build again");
    if (strchr(plugin, ','))
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: the emulator takes no path with a comma", plugin);
    snprintf(c->plugin, sizeof(c->plugin), "%s,fd=%d", plugin, fd);
    c->line[n++] = c->argv0;
    c->line[n++] = "-plugin";
    c->line[n++] = c->plugin;
    if (o->sysroot) {
        c->line[n++] = "-L";
        c->line[n++] = o->sysroot;
    }
    for (int i = 0; i < o->extras; i++)
        c->line[n++] = o->extra[i];
    for (int i = o->system; i < args; i++)
        c->line[n++] = argv[i];
}

static void run_child(struct cf_tool *t, const struct options *o, const struct command *c, int fd,
                      const sigset_t *mask, void (*pipe_action)(int))
{
    int out = STDERR_FILENO;

    if (o->command_output) {
        out = open(o->command_output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (out < 0) {
            cf_warn(t, "%s: %s", o->command_output, strerror(errno));
            _exit(CF_EXIT_ENVIRONMENT);
        }
    }
    if (o->command_output || !o->output)
        dup2(out, STDOUT_FILENO);
    if (o->command_output && out != STDOUT_FILENO)
        close(out);
    fcntl(fd, F_SETFD, 0); /* the plugin closes it before the program begins */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, pipe_action);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(c->line[0], (char **)c->line);
    cf_warn(t, "%s: %s", c->line[0], strerror(errno));
    _exit(CF_EXIT_ENVIRONMENT);
}

static int64_t milliseconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* Whether nobody reads our standard output any more: no reason for a message. */
static int reader_gone(const struct cf_writer *w, const struct options *o)
{
    struct pollfd p = {.fd = STDOUT_FILENO};

    return !o->output && cf_writer_problem(w) && poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* Everything until the emulator is gone; its status. Where the stream cannot be written, or is long
   enough, the program runs on. */
static int record(struct cfq_decoder *d, struct cf_writer *w, pid_t child)
{
    struct timespec flushed;
    int status = 0;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &flushed);
    for (;;) {
        int r = cfq_decoder_read(d, WAIT_MS);
        pid_t gone = r > 0 ? 0 : waitpid(child, &status, r < 0 ? 0 : WNOHANG);

        if (gone == child || (gone < 0 && errno != EINTR))
            break;
        if (milliseconds_since(&flushed) >= FLUSH_MS) {
            if (cfq_decoder_flush(d) == 0)
                (void)cf_writer_flush(w);
            clock_gettime(CLOCK_MONOTONIC_COARSE, &flushed);
        }
    }
    cfq_decoder_finish(d);
    return status;
}

/* The code of a system's images, as far as it runs where the file says. */
static void map_images(struct cf_tool *t, const struct options *o, struct cfq_decoder *d)
{
    struct target_segment s;

    for (int i = 0; i < o->images; i++) {
        char path[PATH_MAX];
        unsigned n = 0;

        if (!realpath(o->image[i], path))
            cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", o->image[i], strerror(errno));
        for (; target_segment(path, n, &s); n++)
            if (s.file_bytes &&
                cfq_decoder_map(d, 1, s.address, s.address + s.bytes, s.offset, s.perms, path) != 0)
                return;
        if (!n)
            cf_die(t, CF_EXIT_USAGE, "%s: no ELF file with anything to load", path);
    }
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    uint64_t line;
    int c;

    *o = (struct options){.decode.fetch_line = 64};
    while ((c = getopt_long(argc, argv, "+o:ia:L:n:" CF_COMMON_LETTERS, longs, NULL)) != -1) {
        switch (c) {
        case 'o':
            o->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
            break;
        case 'i':
            o->decode.instructions = 1;
            break;
        case 'a':
            if (!*optarg)
                cf_die(t, CF_EXIT_USAGE, "--arch: an empty name");
            o->arch = optarg;
            break;
        case 'L':
            o->sysroot = optarg;
            break;
        case 'n':
            o->decode.limit = cf_parse_u64(t, "--limit", optarg, 1, UINT64_MAX);
            break;
        case OPT_SYSTEM:
            o->system = o->decode.system = 1;
            break;
        case OPT_EXTRA:
        case OPT_IMAGE:
            if ((c == OPT_EXTRA ? o->extras : o->images) == MAX_OPTIONS)
                cf_die(t, CF_EXIT_USAGE, "more than %d times the same option", MAX_OPTIONS);
            if (c == OPT_EXTRA)
                o->extra[o->extras++] = optarg;
            else
                o->image[o->images++] = optarg;
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
            probe();
            break;
        default:
            cf_common_option(t, c);
        }
    }
    if (optind == argc)
        cf_die(t, CF_EXIT_USAGE, "no %s given: see --help", o->system ? "EMULATOR" : "PROGRAM");
    if (o->images && !o->system)
        cf_die(t, CF_EXIT_USAGE, "--image is for --system: of a program the mappings are known");
    if (o->system && (o->arch || o->sysroot))
        cf_die(t, CF_EXIT_USAGE, "--arch and --sysroot are for programs, not for --system");
}

/* Starts the emulator; signals reach the handlers only when its process is known. */
static pid_t start(struct cf_tool *t, const struct options *o, const struct command *c, int fd,
                   void (*pipe_action)(int))
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t block, before;
    pid_t child;

    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigprocmask(SIG_BLOCK, &block, &before);
    fflush(NULL);
    child = fork();
    if (child < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "fork: %s", strerror(errno));
    if (child == 0)
        run_child(t, o, c, fd, &before, pipe_action);
    handler_child = child;
    action.sa_sigaction = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

static void free_command(struct command *c)
{
    free(c->argv0);
    free(c->machine);
    free(c->path);
    free(c->line);
}

int main(int argc, char **argv)
{
    struct cf_header header = {.clock_unit = "instructions", .source = "cf-capture-qemu"};
    struct command command = {0};
    struct options o;
    struct cf_tool tool;
    struct cf_writer *writer;
    struct cfq_decoder *d;
    char text[512];
    void (*pipe_action)(int);
    int status = CF_EXIT_OK, ended;

    cf_tool_init(&tool, argc, argv, "cf-capture-qemu", usage);
    parse(&tool, &o, argc, argv);
    argv += optind;
    choose(&tool, &o, &command, argv);
    o.decode.path = command.path;
    o.decode.name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

    writer = cf_tool_writer(&tool, o.output);
    header.command = quoted_command(argv);
    header.machine = command.machine;
    pipe_action = signal(SIGPIPE, SIG_IGN);
    status = cf_writer_header(writer, &header);
    free(header.command);
    if (status != 0) {
        free_command(&command);
        return cf_tool_finish(&tool, NULL, writer);
    }
    d = cfq_decoder_open(&o.decode, writer, text, sizeof(text));
    if (!d)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "%s", text);
    build_command(&tool, &o, &command, cfq_decoder_descriptor(d), argv);
    map_images(&tool, &o, d);
    ended = record(d, writer, start(&tool, &o, &command, cfq_decoder_descriptor(d), pipe_action));
    if (cfq_decoder_problem(d)) {
        cf_warn(&tool, "%s", cfq_decoder_problem(d));
        status = CF_EXIT_INPUT;
    } else if (!cfq_decoder_begun(d)) {
        cf_warn(&tool,
                "%s did not load the plugin: it must know -plugin (Debian's qemu-user, not "
                "qemu-user-static)",
                command.argv0);
        status = CF_EXIT_ENVIRONMENT;
    }
    cfq_decoder_close(d);
    if (reader_gone(writer, &o)) {
        if (cf_writer_close(writer, 0, text, sizeof(text)) != 0 && !caught)
            caught = SIGPIPE;
        free(tool.line);
    } else if (cf_tool_finish(&tool, NULL, writer) != CF_EXIT_OK) {
        status = CF_EXIT_ENVIRONMENT;
    }
    free_command(&command);
    if (caught) {
        signal(caught, SIG_DFL);
        raise(caught);
    }
    if (status != CF_EXIT_OK)
        return status;
    return WIFSIGNALED(ended) ? CF_COMMAND_SIGNAL + WTERMSIG(ended) : WEXITSTATUS(ended);
}
