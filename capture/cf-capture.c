/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf-capture - runs the capture program of a source, as git runs its commands.
 *
 * `cf-capture SOURCE ...` becomes `cf-capture-SOURCE ...`, which stands beside this program, in
 * libexec/cacheflow or in PATH. Without a SOURCE it takes the best that can record the program
 * here: the tracer, else snapshots of a cache; an emulator, if the program
 * is made for another architecture. Each source says by itself whether it can be used:
 * `cf-capture-SOURCE --probe` prints one line and exits 0 if it can.
 *
 * In: the command line. Out: what the source writes; with --list a table of the sources.
 * Memory: the names of the sources found.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_elf.h"
#include "formats/base/cf_text.h"
#include "formats/files/cf_suite.h"
#include "formats/program/cf_tool.h"

static const char usage[] =
    "Usage: cf-capture SOURCE [options] ...\n"
    "       cf-capture [options] -- PROGRAM [ARGUMENT...]\n"
    "       cf-capture --list\n"
    "Record memory accesses or cache contents from a source. Without a SOURCE, record\n"
    "PROGRAM by the best means that this machine offers (trace, else snapshot; qemu if it is\n"
    "made for another architecture); the options go to that source.\n"
    "\n"
    "  -l, --list       list the sources found, and whether each can be used here\n"
    "  -q, --quiet      do not report which source is used\n"
    "  -h, --help       show this text; 'cf-capture SOURCE --help' shows that of a source\n"
    "      --version    show the version\n"
    "\n"
    "Example: cf-capture -o ls.cf -- ls -l\n";

enum { PROBE_MS = 5000 };

/* What the sources are that come with the suite; others may be found too. */
static const struct {
    const char *name, *text;
} known[] = {
    {"bbprof", "profiles of pages of the published BBProf tool"},
    {"csv", "any CSV file whose header names our columns"},
    {"din", "traces of Dinero"},
    {"dumpcache", "snapshots of the published CacheFlow tool"},
    {"lackey", "text of Valgrind's lackey"},
    {"leon4", "instruction and bus trace of a LEON4 board"},
    {"pages", "run time of a function by which pages are cached"},
    {"perf", "samples of loads and stores, breakpoints"},
    {"perf-data", "samples in files of perf record"},
    {"perf-mem", "samples as perf mem report -D prints them"},
    {"perf-script", "samples as perf script prints them"},
    {"probe", "what caches a machine has, by measurements"},
    {"qemu", "programs of other architectures"},
    {"snapshot", "contents of a real cache"},
    {"trace", "every access of a program"},
};

/* In the order of preference. Snapshots come last, since they show what a cache holds and not what
   the program accesses; a program of another architecture takes what emulates it. */
static const char *const recorders[] = {"trace", "snapshot", NULL};
static const char *const emulators[] = {"qemu", NULL};

struct source {
    char *name, *path;
};

struct sources {
    struct source *list;
    size_t count, room;
};

/* ---- finding sources ---- */

static int is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int is_source_name(const char *s)
{
    return isalnum((unsigned char)*s) && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
                                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];
}

static void add_source(struct cf_tool *t, struct sources *all, const char *name, const char *path)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0)
            return; /* what was found first counts, as in PATH */
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 16;
        all->list = cf_need(t, realloc(all->list, all->room * sizeof *all->list));
    }
    all->list[all->count].name = cf_need(t, strdup(name));
    all->list[all->count].path = cf_need(t, strdup(path));
    all->count++;
}

static void scan_dir(struct cf_tool *t, struct sources *all, const char *dir)
{
    static const char prefix[] = "cf-capture-";
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        char path[4096];
        const char *name = e->d_name + sizeof prefix - 1;

        if (strncmp(e->d_name, prefix, sizeof prefix - 1) != 0 || !is_source_name(name))
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < sizeof path &&
            is_program(path))
            add_source(t, all, name, path);
    }
    if (d)
        closedir(d);
}

/* Calls f for each directory of PATH until it returns other than 0, and returns that. */
static int each_path(int (*f)(const char *dir, void *arg), void *arg)
{
    const char *p = getenv("PATH");
    int result = 0;

    while (p && !result) {
        size_t n = strcspn(p, ":");
        char dir[4096];

        /* An empty part means the current directory, which nobody wants searched unasked. */
        if (n > 0 && n < sizeof dir) {
            memcpy(dir, p, n);
            dir[n] = '\0';
            result = f(dir, arg);
        }
        p = p[n] ? p + n + 1 : NULL;
    }
    return result;
}

struct scan {
    struct cf_tool *tool;
    struct sources *all;
};

static int scan_path(const char *dir, void *arg)
{
    struct scan *s = arg;

    scan_dir(s->tool, s->all, dir);
    return 0;
}

static int holds_program(const char *dir, void *arg)
{
    char path[8192];

    snprintf(path, sizeof path, "%s/%s", dir, (const char *)arg);
    return is_program(path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->name, ((const struct source *)b)->name);
}

static void find_sources(struct cf_tool *t, struct sources *all)
{
    struct scan s = {t, all};
    char dir[PATH_MAX];

    if (cf_suite_own(dir) == 0)
        scan_dir(t, all, dir);
    scan_dir(t, all, cf_suite_dir("libexec/cacheflow"));
    each_path(scan_path, &s);
    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, by_name);
}

static const struct source *find_source(const struct sources *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0)
            return &all->list[i];
    return NULL;
}

static void free_sources(struct sources *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->list[i].name);
        free(all->list[i].path);
    }
    free(all->list);
}

/* ---- asking a source whether it can be used ---- */

static long ms_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

/* Reads what comes until the end, keeps the first line; -1 when it takes too long. */
static int first_line(int fd, char *line, size_t size)
{
    struct timespec start;
    size_t at = 0;
    char c[512];

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        long left = PROBE_MS - ms_since(&start);
        ssize_t n;

        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return -1;
        n = read(fd, c, sizeof c);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n && at + 1 < size; i++)
            line[at++] = c[i];
    }
    line[at] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

/* 1 if the source can be used; `line` gets what it says. */
static int probe(const struct source *s, char *line, size_t size)
{
    int ends[2], status = 0, late;
    pid_t child;

    *line = '\0';
    if (pipe(ends) < 0)
        return 0;
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (!freopen("/dev/null", "r", stdin))
            _exit(127);
        execl(s->path, s->path, "--probe", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return 0;
    }
    late = first_line(ends[0], line, size) < 0;
    close(ends[0]);
    if (late)
        kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (late)
        snprintf(line, size, "gives no answer to --probe in %d seconds", PROBE_MS / 1000);
    else if (WIFSIGNALED(status))
        snprintf(line, size, "--probe ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == CF_EXIT_USAGE || WEXITSTATUS(status) == 127)
        snprintf(line, size, "does not know --probe");
    else if (WEXITSTATUS(status) == 0)
        return 1;
    else if (!*line)
        snprintf(line, size, "not ready, and does not say why");
    return 0;
}

/* ---- what the command line asks for ---- */

static int list_sources(struct cf_tool *t)
{
    struct sources all = {0};
    int width = 0;

    find_sources(t, &all);
    for (size_t i = 0; i < all.count; i++)
        if ((int)strlen(all.list[i].name) > width)
            width = (int)strlen(all.list[i].name);
    for (size_t i = 0; i < all.count; i++) {
        const char *text = "";
        char line[512], safe[1024];

        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strcmp(known[k].name, all.list[i].name) == 0)
                text = known[k].text;
        (void)probe(&all.list[i], line, sizeof line);
        printf("%-*s  %-44s %s\n", width, all.list[i].name, text,
               cf_text_safe(safe, sizeof safe, line));
    }
    if (all.count == 0)
        cf_warn(t, "no source found: programs named cf-capture-NAME are looked for beside this one "
                   "and in PATH");
    free_sources(&all);
    return cf_tool_finish(t, NULL, NULL);
}

static void run(struct cf_tool *t, const struct source *s, char **argv) __attribute__((noreturn));

static void run(struct cf_tool *t, const struct source *s, char **argv)
{
    char name[300];

    snprintf(name, sizeof name, "cf-capture-%.255s", s->name);
    argv[0] = name;
    execv(s->path, argv);
    cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", s->path, strerror(errno));
}

static void unknown_source(struct cf_tool *t, const struct sources *all, const char *name)
    __attribute__((noreturn));

static void unknown_source(struct cf_tool *t, const struct sources *all, const char *name)
{
    char line[1024] = "";
    size_t at = 0;

    if (strchr(name, '/') ? is_program(name) : each_path(holds_program, (void *)name))
        cf_die(t, CF_EXIT_USAGE,
               "'%s' is no source but a program: to record it, write 'cf-capture -- %s ...'", name,
               name);
    for (size_t i = 0; i < all->count && at < sizeof line; i++)
        at +=
            (size_t)snprintf(line + at, sizeof line - at, "%s%s", i ? ", " : "", all->list[i].name);
    cf_die(t, CF_EXIT_USAGE, "no source '%s': give one of %s; 'cf-capture --list' describes them",
           name, *line ? line : "those that you install as cf-capture-NAME");
}

/* No SOURCE was named: the best recorder gets the whole command line. */
static void run_best(struct cf_tool *t, int quiet, const char *program, char **argv)
{
    const char *const *name = recorders;
    struct sources all = {0};
    char why[1024] = "", line[512], path[4096];
    size_t at = 0;

    if (cf_command_find(program, path, sizeof path) == 0 && cf_elf_foreign(path)) {
        name = emulators;
        at =
            (size_t)snprintf(why, sizeof why, "'%.512s' is made for another architecture", program);
    }
    find_sources(t, &all);
    for (; *name; name++) {
        const struct source *s = find_source(&all, *name);

        if (s && probe(s, line, sizeof line)) {
            if (!quiet)
                cf_warn(t, "recording with '%s'%s%s", s->name, at ? "; " : "", why);
            run(t, s, argv);
        }
        if (at < sizeof why)
            at += (size_t)snprintf(why + at, sizeof why - at, "%s%s: %s", at ? "; " : "", *name,
                                   s ? line : "not installed");
    }
    cf_die(t, CF_EXIT_ENVIRONMENT, "nothing here can record a program: %s", why);
}

int main(int argc, char **argv)
{
    /* No getopt here: what is not ours belongs to the source, and we cannot know which of its
       options take an argument. */
    struct cf_tool t;
    struct sources all = {0};
    const struct source *s;
    const char *other = NULL;
    int quiet = 0, list = 0;

    cf_tool_init(&t, argc, argv, "cf-capture", usage);
    if (argc < 2) {
        cf_warn(&t, "no SOURCE and no PROGRAM given");
        cf_common_option(&t, '?');
    }
    if (argv[1][0] != '-') {
        find_sources(&t, &all);
        s = find_source(&all, argv[1]);
        if (!s)
            unknown_source(&t, &all, argv[1]);
        run(&t, s, argv + 1);
    }
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];

        if (strcmp(a, "--") == 0 && !list) {
            if (i + 1 == argc)
                cf_die(&t, CF_EXIT_USAGE, "no PROGRAM after '--'");
            run_best(&t, quiet, argv[i + 1], argv);
        }
        /* A source may have options with these letters, so ours count in the first place only. */
        if ((i == 1 && strcmp(a, "-l") == 0) || strcmp(a, "--list") == 0) {
            list = 1;
            continue;
        }
        if ((i == 1 && strcmp(a, "-h") == 0) || strcmp(a, "--help") == 0)
            cf_common_option(&t, 'h');
        if (strcmp(a, "--version") == 0)
            cf_common_option(&t, 1000);
        if (strcmp(a, "-q") == 0 || strcmp(a, "--quiet") == 0)
            quiet = 1;
        else if (!other)
            other = a;
    }
    if (list && other)
        cf_die(&t, CF_EXIT_USAGE, "'%s': --list takes no arguments", other);
    if (list)
        return list_sources(&t);
    cf_warn(&t, "'%s': no SOURCE before it and no '-- PROGRAM' after it", argv[1]);
    cf_common_option(&t, '?');
    return CF_EXIT_USAGE;
}
