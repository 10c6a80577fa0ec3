/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_chain.c - a recording on its way to the page: cf-capture, where a program is to be recorded;
 * then cf-resolve where there are no names yet, cf-merge where threads are to stand side by side,
 * cf-classify, which says what cf-cache does too, and cf-distance, side by side as in a shell.
 *
 * Names come first, since mappings and objects come and go in the order of the recording; they are
 * kept in a file where cf-merge follows. Processes of one thread each stay in that order, on one
 * core: they did run at the same time as far as the recording shows it, while threads of one
 * process are recorded by turns.
 *
 * Two looks at the file come first (page_look.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/parts/report/page.h"

static char temporary[PATH_MAX]; /* a recording that goes with the program, or "" */

static void remove_temporary(void)
{
    if (*temporary)
        unlink(temporary);
}

/* A name for a recording that nobody wants to keep. */
static const char *make_temporary(const struct cf_tool *t)
{
    const char *dir = getenv("TMPDIR");
    int fd;

    snprintf(temporary, sizeof temporary, "%s/cf-report.XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkstemp(temporary);
    if (fd < 0) {
        const char *why = strerror(errno);

        *temporary = '\0';
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s%s: %s", dir && *dir ? "TMPDIR " : "",
               dir && *dir ? dir : "/tmp", why);
    }
    close(fd);
    atexit(remove_temporary);
    cf_chain_guard(temporary);
    return temporary;
}

/* Whether the file is there and no more what it was. */
static int is_new(const char *file, const struct stat *was)
{
    struct stat now;

    return stat(file, &now) == 0 &&
           (!S_ISREG(now.st_mode) || now.st_ino != was->st_ino || now.st_dev != was->st_dev ||
            now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != was->st_mtim.tv_nsec);
}

/* Returns where the recording is: where it was cut off, beside the file, of which an older one is
   another recording. The program's own standard input and output stay its own. */
static const char *record(struct page *p, const char *file)
{
    const char *partial = cf_tool_text(p->tool, "%s.partial", file);
    struct stat was = {0}, was_partial = {0};
    unsigned count = 0, n = 0;
    const char **words;

    (void)stat(file, &was); /* all 0 where there is none */
    (void)stat(partial, &was_partial);
    while (p->o.command[count])
        count++;
    words = cf_tool_room(p->tool, count + 8, sizeof *words);
    words[n++] = "cf-capture";
    words[n++] = "trace";
    if (p->tool->quiet)
        words[n++] = "-q";
    words[n++] = "-o";
    words[n++] = file;
    words[n++] = "--";
    memcpy(words + n, p->o.command, count * sizeof *words);
    p->tool->status = cf_chain_run(p->tool, words); /* the program's, whatever that is */
    if (!is_new(file, &was)) {
        if (!is_new(partial, &was_partial))
            exit(p->tool->status ? p->tool->status : CF_EXIT_ENVIRONMENT);
        /* what goes with the program, goes with it in part, too */
        if (file != temporary || rename(partial, file) != 0)
            file = partial;
    }
    if (p->tool->status)
        cf_warn(p->tool, "the recording ended with status %d: the page is of what there is",
                p->tool->status);
    return file;
}

/* Names for threads that are to stand side by side, which takes a file that can be read at several
   places: one without a name. Returns what opens it. */
static const char *resolve(const struct page *p, const char *file)
{
    const char *dir = getenv("TMPDIR");
    char *name = cf_tool_text(p->tool, "%s/cf-report.XXXXXX", dir && *dir ? dir : "/tmp");
    const int to = mkstemp(name), out = dup(STDOUT_FILENO);
    struct cf_chain c = {.tool = p->tool};

    if (to < 0 || out < 0)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT, "%s: %s", name, strerror(errno));
    unlink(name);
    fflush(stdout);
    if (dup2(to, STDOUT_FILENO) < 0)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT, "%s: %s", name, strerror(errno));
    cf_chain_add(&c, (const char *[]){"cf-resolve", file, NULL});
    const int status = cf_chain_run(p->tool, c.program[0]);
    cf_tool_note(p->tool, status);
    if (status == CF_EXIT_ENVIRONMENT)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT,
               "no names for the threads that are to stand side by side: the variable TMPDIR names "
               "a folder with room");
    if (dup2(out, STDOUT_FILENO) < 0)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT, "standard output: %s", strerror(errno));
    close(out);
    return cf_tool_text(p->tool, "/proc/self/fd/%d", to);
}

struct cf_chain page_chain(struct page *p, char *const *files, int count)
{
    static char cores[16], line[16];
    const char *machine = p->o.machine;
    const char *file = p->o.record ? p->o.record : count ? files[0] : "-";
    struct cf_chain c = {.tool = p->tool};
    struct stat st;

    if (p->o.command) {
        file = p->o.record ? p->o.record : make_temporary(p->tool);
        file = record(p, file);
    } else if (!strcmp(file, "-") || (stat(file, &st) == 0 && S_ISFIFO(st.st_mode))) {
        const char *const from = strcmp(file, "-") != 0 ? file : NULL;
        struct cf_chain cat = {.tool = p->tool};

        if (!from && isatty(STDIN_FILENO))
            cf_die(p->tool, CF_EXIT_USAGE,
                   "no recording: give a FILE, or a program after --: see --help");
        file = make_temporary(p->tool);
        cf_chain_add(&cat, (const char *[]){"cf-cat", "-o", file, from, NULL});
        cf_tool_note(p->tool, cf_chain_run(p->tool, cat.program[0]));
    }
    if (p->tool->status && access(file, R_OK) != 0)
        exit(p->tool->status);
    page_look_at_kind(p, (char *const *)&file);
    page_look_through(p, (char *const *)&file);
    p->interleaved = p->cores > 1 && (p->threaded || p->placed);
    if (p->interleaved && !p->placed && p->lacks_tid)
        cf_die(
            p->tool, CF_EXIT_INPUT,
            "threads ran, and accesses have no column tid, which says whose they are: they can't "
            "be put side by side: keep column tid, or model one core, by --cores 1");
    if (p->interleaved && !p->placed && p->lacks_names) {
        file = resolve(p, file);
        p->lacks_names = 0;
    }
    if (freopen(file, "r", stdin) == NULL)
        cf_die(p->tool, CF_EXIT_ENVIRONMENT, "%s: %s", file, strerror(errno));
    p->in_order = p->cores > 1 && p->several && !p->interleaved && !p->threads;
    if (p->in_order)
        p->cores = 1;
    snprintf(cores, sizeof cores, "%u", p->cores);
    snprintf(line, sizeof line, "%" PRIu32, p->machine->line_size);
    if (p->lacks_names)
        cf_chain_add(&c, (const char *[]){"cf-resolve", NULL});
    if (p->interleaved && !p->placed)
        cf_chain_add(&c, (const char *[]){"cf-merge", "--interleave", "--cores", cores, NULL});
    cf_chain_add(&c, (const char *[]){"cf-classify", "--hit", "-m", machine,
                                      p->o.cores || p->in_order ? "--cores" : NULL, cores, NULL});
    cf_chain_add(&c, (const char *[]){"cf-distance", "--line-size", line, NULL});
    cf_chain_begin(&c);
    return c;
}
