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
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_resolved.h"
#include "capture/qemu/reader.h"
#include "capture/qemu/target.h"
#include "formats/files/cf_suite.h"
#include "formats/program/cf_options.h"

static const char usage[] =
    "Usage: cf-capture-qemu [OPTION]... [--] PROGRAM [ARGUMENT...]\n"
    "       cf-capture-qemu --system [OPTION]... [--] EMULATOR [ARGUMENT...]\n"
    "Record every load and store of PROGRAM, made for another architecture, in QEMU's\n"
    "user emulation; or of a whole machine, in the EMULATOR (qemu-system-...) given.\n"
    "\n"
    "  -o, --output FILE          write a packed file; PROGRAM keeps its standard output\n"
    "      --resolve              name mappings, functions and lines now, by cf-resolve\n"
    "  -i, --instructions         record instruction fetches too, as straight-line runs\n"
    "  -a, --arch ARCH            use the emulator qemu-ARCH  [ARCH of PROGRAM's ELF header]\n"
    "  -L, --sysroot DIR          where PROGRAM's libraries are  [Debian's for its ARCH]\n"
    "  -n, --limit N              record N accesses; PROGRAM then continues unrecorded\n"
    "      --emulator-option OPT  a further option or argument for the emulator; repeatable\n"
    "      --image FILE           with --system: ELF file that runs there, to name its code\n"
    "      --fetch-line BYTES     with -i: the order of fetches and data is exact for cache\n"
    "                             lines of this size and above  [64]\n"
    "      --command-output FILE  where PROGRAM's standard output goes; without -o it\n"
    "                             goes to standard error\n"
    "      --probe                report whether this machine can record, and exit\n"
    "  -q, --quiet                print no remarks\n"
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
    unsigned extras, images;
    int system, resolve;
    struct cfq_options read;
};

enum { WAIT_MS = 10 }; /* so long the end of the emulator may go unnoticed */

/* ---- finding things ---- */

static int find_plugin(char *path, size_t size)
{
    char beside[PATH_MAX];

    snprintf(beside, sizeof(beside), "%s/qemu/cacheflow.so", cf_suite_dir("libexec/cacheflow"));
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

/* ---- running ---- */

/* The command line: emulator, our options, the user's, the program's. */
struct emulator {
    char *argv0; /* of the emulator, to be searched in PATH */
    char plugin[PATH_MAX + 64];
    const char **line;
    char *machine;
    char *found; /* the program, as PATH gives it */
    char *path;  /* the real path of its file */
};

/* What the program is and which emulator it needs. Exits when that cannot be. */
static void choose(struct cf_tool *t, struct options *o, struct emulator *c, char **argv)
{
    char path[PATH_MAX], library[PATH_MAX];
    struct target target = {0};
    int status = cf_command_find(argv[0], path, sizeof(path));

    if (status)
        cf_die(t, status, "%s: %s", argv[0],
               status == CF_COMMAND_NOT_FOUND ? "no such program" : "cannot be executed");
    if (o->system) {
        c->argv0 = cf_need(t, strdup(argv[0]));
        c->machine = cf_need(t, strdup(argv[0]));
        return;
    }
    if (target_read(path, &target) != 0)
        cf_die(t, cf_is_refusal(errno) ? CF_EXIT_ENVIRONMENT : CF_COMMAND_NOT_EXECUTABLE, "%s: %s",
               path,
               errno == ENOEXEC ? "no ELF file: give a program, not a script" : strerror(errno));
    if (!o->arch && !target.arch)
        cf_die(t, CF_EXIT_USAGE,
               "%s: made for machine %u (%d bits, %s-endian), whose emulator is not known: give it "
               "with --arch",
               path, target.machine, target.bits, target.big_endian ? "big" : "little");
    c->found = strdup(path);
    c->path = realpath(path, NULL);
    if (!c->found || !c->path)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", path, strerror(errno));
    if (!o->arch)
        o->arch = target.arch;
    if (asprintf(&c->argv0, strchr(o->arch, '/') ? "%s" : "qemu-%s", o->arch) < 0)
        cf_out_of_memory(t);
    c->machine = cf_need(t, strdup(c->argv0));
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

static void build_line(struct cf_tool *t, const struct options *o, struct emulator *c, int fd,
                       char **argv)
{
    char plugin[PATH_MAX];
    int n = 0, args = 0;

    while (argv[args])
        args++;
    c->line = cf_need(t, calloc((size_t)args + (size_t)o->extras + 16, sizeof(*c->line)));
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
    for (unsigned i = 0; i < o->extras; i++)
        c->line[n++] = o->extra[i];
    /* The emulator looks for a program in no PATH and, when it finds none, ends without a word. */
    if (!o->system) {
        c->line[n++] = "-0";
        c->line[n++] = argv[0];
        c->line[n++] = c->found;
    }
    for (int i = 1; i < args; i++)
        c->line[n++] = argv[i];
}

/* Everything until the emulator is gone, whose status is left in *status: 1. Where the stream
   cannot be written, or is long enough, the program runs on: 0. */
static int record(struct cf_command *run, struct cfq_reader *d, struct cf_writer *w, pid_t child,
                  int *status)
{
    for (;;) {
        int r = cfq_reader_read(d, WAIT_MS);

        if (r <= 0 && cf_command_reap(child, status, WNOHANG))
            break;
        if (r < 0)
            return 0;
        if (!cf_command_flush_due(run))
            continue;
        cf_command_show(run, w, cf_decode_rows(cfq_reader_decoder(d)));
        if (cf_decode_flush(cfq_reader_decoder(d)) == 0)
            (void)cf_writer_flush(w);
    }
    cfq_reader_finish(d);
    return 1;
}

/* The code of a system's images, as far as it runs where the file says. */
static void map_images(struct cf_tool *t, const struct options *o, struct cfq_reader *d)
{
    struct target_segment s;

    for (unsigned i = 0; i < o->images; i++) {
        char path[PATH_MAX];
        unsigned n = 0;
        int there;

        if (!realpath(o->image[i], path))
            cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", o->image[i], strerror(errno));
        for (; (there = target_segment(path, n, &s)) > 0; n++)
            if (s.file_bytes &&
                cfq_reader_map(d, s.address, s.address + s.bytes, s.offset, s.perms, path) != 0)
                return;
        if (there < 0)
            cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", path, strerror(errno));
        if (!n)
            cf_die(t, CF_EXIT_USAGE, "%s: no ELF file with anything to load", path);
    }
}

static void parse(struct cf_tool *t, struct options *o, int argc, char **argv)
{
    uint64_t fetch_line = 0;
    int is_probe = 0;
    const struct cf_option table[] = {
        {"output", 'o', CF_FILE(&o->output)},
        {"resolve", 0, CF_FLAG(&o->resolve)},
        {"instructions", 'i', CF_FLAG(&o->read.decode.instructions)},
        {"arch", 'a', CF_TEXT(&o->arch)},
        {"sysroot", 'L', CF_TEXT(&o->sysroot)},
        {"limit", 'n', CF_NUMBER(&o->read.decode.limit, 1, UINT64_MAX)},
        {"system", 0, CF_FLAG(&o->system)},
        {"emulator-option", 0, CF_TEXTS(o->extra, &o->extras, MAX_OPTIONS)},
        {"image", 0, CF_TEXTS(o->image, &o->images, MAX_OPTIONS), .reads = CF_READS_FILE},
        {"fetch-line", 0, CF_POWER(&fetch_line, 1, 1 << 20)},
        {"command-output", 0, CF_FILE(&o->command_output)},
        {"probe", 0, CF_FLAG(&is_probe)},
        CF_END_COMMAND_OPTIONS,
    };

    *o = (struct options){0};
    cf_options_read(t, argc, argv, table);
    if (is_probe)
        probe();
    if (o->output && !strcmp(o->output, "-"))
        o->output = NULL;
    if (o->arch && !*o->arch)
        cf_die(t, CF_EXIT_USAGE, "--arch: an empty name");
    if (fetch_line && !o->read.decode.instructions)
        cf_die(t, CF_EXIT_USAGE, "--fetch-line is for instruction fetches: give -i as well");
    o->read.decode.fetch_line = (uint32_t)fetch_line;
    o->read.decode.processors = o->system;
    if (optind == argc)
        cf_die(t, CF_EXIT_USAGE, "no %s given: see --help", o->system ? "EMULATOR" : "PROGRAM");
    if (o->images && !o->system)
        cf_die(t, CF_EXIT_USAGE, "--image is for --system: of a program the mappings are known");
    if (o->system && (o->arch || o->sysroot))
        cf_die(t, CF_EXIT_USAGE, "--arch and --sysroot are for programs, not for --system");
    if (o->sysroot)
        cf_parse_directory(t, "--sysroot", o->sysroot);
}

static void free_emulator(struct emulator *c)
{
    free(c->argv0);
    free(c->machine);
    free(c->found);
    free(c->path);
    free(c->line);
}

/* Reports what went wrong with a recording; the exit status for it. */
static int how_it_went(const struct cf_tool *t, struct cfq_reader *d, const char *emulator,
                       int whole)
{
    const struct cf_decode *decode = cfq_reader_decoder(d);
    const unsigned children = cfq_reader_children(d);

    if (children && !t->quiet)
        cf_warn(t, "%u child process%s not recorded", children, children > 1 ? "es were" : " was");
    if (cfq_reader_left(d) && !t->quiet)
        cf_warn(t, "the program was replaced by another one, which was not recorded");
    if (cf_decode_trouble(decode)) {
        cf_warn(t, "%s", cf_decode_trouble(decode));
        return cf_decode_was_refused(decode) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT;
    }
    if (!cfq_reader_begun(d) && cf_command_caught()) /* which its status tells */
        return CF_EXIT_ENVIRONMENT;
    if (!cfq_reader_begun(d))
        cf_warn(t,
                "%s did not load the plugin: it must know -plugin (Debian's qemu-user, not "
                "qemu-user-static)",
                emulator);
    else if (whole && !cfq_reader_ran(d))
        cf_warn(t, "%s ended before the program began", emulator);
    else
        return CF_EXIT_OK;
    return CF_EXIT_ENVIRONMENT;
}

/* Starts the emulator, which the reader hears of by the descriptor; its process. */
static pid_t start(struct cf_command *run, int descriptor, const char **line)
{
    const pid_t child = cf_command_fork(run);

    if (child < 0)
        cf_die(run->tool, CF_EXIT_ENVIRONMENT, "fork: %s", strerror(errno));
    if (child == 0) {
        /* the plugin closes it before the program begins */
        fcntl(descriptor, F_SETFD, 0);
        cf_command_exec(run, line);
    }
    return child;
}

int main(int argc, char **argv)
{
    struct emulator emulator = {0};
    struct cf_resolved resolved = {0};
    struct options o;
    struct cf_tool tool;
    struct cf_writer *writer;
    struct cfq_reader *d;
    struct cf_command run;
    char text[512];
    pid_t child;
    uint64_t rows;
    int status = CF_EXIT_OK, ended = 0, whole;

    cf_tool_init(&tool, argc, argv, "cf-capture-qemu", usage);
    parse(&tool, &o, argc, argv);
    argv += optind;
    choose(&tool, &o, &emulator, argv);
    o.read.path = emulator.path;
    o.read.name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

    run =
        (struct cf_command){.tool = &tool, .output = o.output, .command_output = o.command_output};
    if (o.resolve)
        cf_resolved_begin(&resolved, &run);
    writer = cf_tool_recording(&tool, run.output);
    cf_command_prepare(&run);
    if (cf_command_header(&run, writer, emulator.machine, argv) != 0) {
        free_emulator(&emulator);
        return cf_resolved_unbegun(&resolved, &run, writer);
    }
    d = cfq_reader_open(&o.read, writer, text, sizeof(text));
    if (!d)
        cf_die(&tool, CF_EXIT_ENVIRONMENT, "%s", text);
    build_line(&tool, &o, &emulator, cfq_reader_descriptor(d), argv);
    map_images(&tool, &o, d);
    child = start(&run, cfq_reader_descriptor(d), emulator.line);
    whole = record(&run, d, writer, child, &ended);
    status = how_it_went(&tool, d, emulator.argv0, whole);
    rows = cf_decode_rows(cfq_reader_decoder(d));
    if (!whole || !cfq_reader_ran(d))
        cf_writer_cut(writer);
    cfq_reader_close(d);
    free_emulator(&emulator);
    cf_command_end(&run, writer);
    status = cf_resolved_end(&resolved, &run, status);
    if (!whole && !run.signalled)
        cf_warn(&tool, "the program runs on, unrecorded");
    if (!whole)
        (void)cf_command_reap(child, &ended, 0);
    if (rows && !run.failed)
        cf_command_tell(&run, o.output, rows);
    return cf_command_finish(&run, status, ended);
}
