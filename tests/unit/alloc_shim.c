/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc_shim [OPTION]... PROGRAM [ARGUMENT]... - runs a program with libcf-alloc.so and writes a
 * stream of what that records; for tests and benchmarks of capture/alloc. Options:
 *
 *     -o FILE   the stream; without it none
 *     -d N      frames of a call stack
 *     -r BYTES  of a ring
 *     -x NODE   leaves out what is allocated by this node, as soon as there is one
 *     -n MS     pauses so long between looks, in place of what the library says
 *     -k        dies by SIGKILL after some looks
 *     -q        reads nothing after the first look
 *
 * The program keeps its output and exit status. On descriptor 9, if that is open, what became of it
 * stands as NAME=VALUE, one a line.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/alloc/alloc.h"
#include "capture/base/cf_command.h"
#include "capture/base/cf_maps.h"

enum { RESULTS = 9 };

static struct options {
    const char *output;
    struct cf_alloc_options alloc;
    uint32_t left_out;
    int pause, dies, quiet;
} o;

static void die(const char *what)
{
    fprintf(stderr, "alloc_shim: %s\n", what);
    exit(CF_EXIT_ENVIRONMENT);
}

static void parse(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "+o:d:r:x:n:kq")) != -1)
        switch (c) {
        case 'o':
            o.output = optarg;
            break;
        case 'd':
            o.alloc.depth = (uint32_t)atoi(optarg);
            break;
        case 'r':
            o.alloc.ring_bytes = (uint32_t)atoi(optarg);
            break;
        case 'x':
            o.left_out = (uint32_t)atoi(optarg);
            break;
        case 'n':
            o.pause = atoi(optarg);
            break;
        case 'k':
            o.dies = 1;
            break;
        case 'q':
            o.quiet = 1;
            break;
        default:
            exit(CF_EXIT_USAGE);
        }
    if (optind == argc)
        die("no program");
}

/* The child's mappings, so that its functions can be named. */
static void show_maps(struct cf_maps *m, struct cf_writer *w, pid_t child)
{
    static char text[1 << 20];
    char path[32];
    unsigned bad = 0;
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)child);
    f = fopen(path, "r");
    if (!f)
        return;
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    if (n && cf_maps_update(m, w, 0, (uint32_t)child, text, n, &bad) != 0)
        die("mappings");
}

static void report(const struct cf_alloc_result *r)
{
    if (fcntl(RESULTS, F_GETFD) < 0)
        return;
    dprintf(RESULTS,
            "objects=%llu\nnodes=%llu\nprocesses=%llu\nlost=%llu\nnested=%llu\nunplaced=%"
            "llu\nforeign=%llu\n"
            "own=%llu\nsites=%llu\nleft_out=%llu\nunknown=%llu\nlate=%llu\ndamaged=%llu\n",
            (unsigned long long)r->objects, (unsigned long long)r->nodes,
            (unsigned long long)r->processes, (unsigned long long)r->lost,
            (unsigned long long)r->nested, (unsigned long long)r->unplaced,
            (unsigned long long)r->foreign, (unsigned long long)r->own,
            (unsigned long long)r->sites, (unsigned long long)r->left_out,
            (unsigned long long)r->unknown, (unsigned long long)r->late,
            (unsigned long long)r->damaged);
}

static int watch(struct cf_alloc *a, struct cf_writer *w, pid_t child)
{
    struct cf_maps *m = cf_maps_new(1);
    int status, gone = 0, looks = 0;

    if (!m)
        die("no memory");
    while (!gone) {
        const int ms = o.pause ? o.pause : cf_alloc_pause(a);
        const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

        nanosleep(&t, NULL);
        gone = waitpid(child, &status, WNOHANG) == child;
        if (looks++ && o.quiet)
            continue;
        if (!gone && o.output)
            show_maps(m, w, child);
        if (cf_alloc_rows(a, cf_alloc_known(a)) != 0)
            die("rows");
        if (o.left_out && cf_alloc_leave_out(a, (uint32_t)child, o.left_out) == 0)
            o.left_out = 0;
        if (o.dies && looks > 3)
            raise(SIGKILL);
    }
    cf_maps_free(m);
    return status;
}

int main(int argc, char **argv)
{
    const char *why;
    char text[512], path[4096];
    struct cf_alloc_result result;
    struct cf_alloc *a;
    struct cf_writer *w;
    pid_t child;
    int status;

    parse(argc, argv);
    if (cf_command_find(argv[optind], path, sizeof(path)) != 0)
        die("no such program");
    why = cf_alloc_refuses(path);
    if (why) {
        fprintf(stderr, "alloc_shim: %s: %s\n", path, why);
        return CF_EXIT_ENVIRONMENT;
    }
    w = cf_writer_open(o.output ? o.output : "/dev/null", "alloc_shim");
    if (!w || cf_writer_header(w, &(struct cf_header){.clock_unit = "nanoseconds",
                                                      .clock_hz = 1000000000,
                                                      .source = "alloc_shim"}) != 0)
        die("no stream");
    a = cf_alloc_begin(&o.alloc, w, text, sizeof(text));
    if (!a)
        die(text);
    child = fork();
    if (child == 0) {
        if (cf_alloc_environment(a) == 0)
            execvp(argv[optind], argv + optind);
        _exit(127);
    }
    status = watch(a, w, child);
    if (cf_alloc_end(a, &result) != 0)
        die("the last rows");
    report(&result);
    if (cf_writer_close(w, 1, text, sizeof(text)) != 0)
        die(text);
    return cf_command_status(status);
}
