/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_chain.c - see cf_chain.h. Memory: none. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/program/cf_chain.h"
#include "formats/files/cf_suite.h"

static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
enum { ENDING = sizeof ending / sizeof *ending };

/* For a handler: children that were not waited for, and files. */
static volatile pid_t running[CF_CHAIN_MOST];
static const char *volatile guarded[CF_CHAIN_GUARDED];
static volatile unsigned guards;

/* A file, or a folder with the files in it; in a handler, where opendir() must not be called. */
static void drop(const char *path)
{
    const int fd =
        unlink(path) == 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    _Alignas(struct dirent64) char room[4096];
    ssize_t n;

    while (fd >= 0 && (n = getdents64(fd, room, sizeof room)) > 0)
        for (char *at = room; at < room + n;) {
            const struct dirent64 *entry = (const void *)at;

            (void)unlinkat(fd, entry->d_name, 0);
            at += entry->d_reclen;
        }
    (void)rmdir(path);
}

static void end_all(int sig)
{
    for (unsigned i = 0; i < CF_CHAIN_MOST; i++)
        if (running[i] > 0)
            kill(running[i], SIGTERM);
    for (unsigned i = 0; i < CF_CHAIN_MOST; i++)
        while (running[i] > 0 && waitpid(running[i], NULL, 0) < 0 && errno == EINTR)
            continue;
    for (unsigned i = 0; i < guards; i++)
        drop(guarded[i]);
    signal(sig, SIG_DFL);
    raise(sig); /* when this one returns */
}

void cf_chain_guard(const char *file)
{
    struct sigaction action = {.sa_handler = end_all}, before;

    guarded[guards] = file;
    guards++; /* a signal in between finds the place empty or whole */
    for (unsigned i = 0; i < ENDING; i++)
        sigaddset(&action.sa_mask, ending[i]);
    for (unsigned i = 0; i < ENDING; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
}

void cf_chain_unguard(void)
{
    guards--;
}

/* fork() with a place in `running`, before which no signal is handled. In the child the signals
   have their default action again. */
static pid_t start(unsigned place)
{
    struct sigaction action;
    sigset_t block, before;
    pid_t child;

    sigemptyset(&block);
    for (unsigned i = 0; i < ENDING; i++)
        sigaddset(&block, ending[i]);
    sigprocmask(SIG_BLOCK, &block, &before);
    child = fork();
    for (unsigned i = 0; child == 0 && i < ENDING; i++)
        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler == end_all)
            signal(ending[i], SIG_DFL);
    if (child > 0)
        running[place] = child;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

void cf_chain_add(struct cf_chain *c, const char *const *words)
{
    static char strings[24]; /* the same for all */
    const char **to = c->program[c->programs++];
    unsigned n = 0;

    *to++ = words[n++];
    if (c->tool->quiet)
        *to++ = "-q";
    if (c->tool->max_strings) {
        snprintf(strings, sizeof strings, "%" PRIu64, c->tool->max_strings);
        *to++ = "--max-strings";
        *to++ = strings;
    }
    while (words[n])
        *to++ = words[n++];
}

/* In a child. */
static void become(const struct cf_tool *t, const char *const *words, int in, int out)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", cf_suite_dir("bin"), words[0]);
    if ((in == STDIN_FILENO || dup2(in, STDIN_FILENO) >= 0) &&
        (out == STDOUT_FILENO || dup2(out, STDOUT_FILENO) >= 0))
        execv(path, (char *const *)(uintptr_t)words);
    cf_warn(t, "%s: %s", path, strerror(errno));
    _exit(CF_EXIT_ENVIRONMENT);
}

void cf_chain_begin(struct cf_chain *c)
{
    int in = STDIN_FILENO;

    fflush(NULL);
    for (unsigned i = 0; i < c->programs; i++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) != 0 || (c->child[i] = start(i)) < 0)
            cf_die(c->tool, CF_EXIT_ENVIRONMENT, "%s: %s", c->program[i][0], strerror(errno));
        if (c->child[i] == 0)
            become(c->tool, c->program[i], in, ends[1]);
        close(ends[1]);
        if (in != STDIN_FILENO)
            close(in);
        in = ends[0];
    }
    if (dup2(in, STDIN_FILENO) < 0)
        cf_die(c->tool, CF_EXIT_ENVIRONMENT, "%s", strerror(errno));
    close(in);
}

static int reap(const struct cf_tool *t, unsigned place, pid_t child, const char *name)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return CF_EXIT_ENVIRONMENT;
    running[place] = 0;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGPIPE)
        return CF_EXIT_OK;
    cf_warn(t, "%s was ended by signal %d", name, WTERMSIG(status));
    return CF_EXIT_ENVIRONMENT;
}

int cf_chain_end(struct cf_chain *c)
{
    int status = CF_EXIT_OK;

    close(STDIN_FILENO);
    for (unsigned i = 0; i < c->programs; i++) {
        const int its = reap(c->tool, i, c->child[i], c->program[i][0]);

        status = its > status ? its : status;
    }
    return status;
}

int cf_chain_run(const struct cf_tool *t, const char *const *words)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before[2];
    pid_t child;
    int status;

    fflush(NULL);
    sigaction(SIGINT, &ignore, &before[0]);
    sigaction(SIGQUIT, &ignore, &before[1]);
    child = start(0);
    if (child < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: %s", words[0], strerror(errno));
    if (child == 0) {
        sigaction(SIGINT, &before[0], NULL);
        sigaction(SIGQUIT, &before[1], NULL);
        become(t, words, STDIN_FILENO, STDOUT_FILENO);
    }
    status = reap(t, 0, child, words[0]);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGQUIT, &before[1], NULL);
    return status;
}
