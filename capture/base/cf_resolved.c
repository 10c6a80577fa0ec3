/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_resolved.c - cf-resolve beside a capture. See cf_resolved.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/base/cf_resolved.h"
#include "formats/files/cf_suite.h"

static void become(const struct cf_resolved *r, const struct cf_tool *t, const char *path,
                   const char *output, int input)
{
    const char *line[] = {"cf-resolve", "--recording", NULL, NULL, NULL, NULL};
    sigset_t end;
    int n = 2;

    sigemptyset(&end);
    cf_command_end_signals(&end);
    for (int s = 1; s < NSIG; s++)
        if (sigismember(&end, s) == 1)
            signal(s, SIG_IGN);
    if (t->quiet)
        line[n++] = "-q";
    if (output) {
        line[n++] = "-o";
        line[n++] = output;
    }
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(r->output, STDOUT_FILENO) >= 0)
        execv(path, (char *const *)line);
    cf_warn(t, "%s: %s", path, strerror(errno));
    _exit(CF_EXIT_ENVIRONMENT);
}

void cf_resolved_begin(struct cf_resolved *r, struct cf_command *c)
{
    const struct cf_tool *t = c->tool;
    const char *output = c->output;
    char path[PATH_MAX];
    int ends[2];

    if (!output && isatty(STDOUT_FILENO))
        cf_die(t, CF_EXIT_USAGE,
               "the output is binary and standard output is a terminal: use -o "
               "FILE, or pipe it");
    snprintf(path, sizeof path, "%s/cf-resolve", cf_suite_dir("bin"));
    if (access(path, X_OK) != 0 && cf_command_find("cf-resolve", path, sizeof path) != 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--resolve: cf-resolve is missing beside this program");
    r->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fflush(NULL);
    if (r->output < 0 || pipe2(ends, O_CLOEXEC) != 0 || (r->child = fork()) < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--resolve: %s", strerror(errno));
    if (r->child == 0)
        become(r, t, path, output, ends[0]);
    if (dup2(ends[1], STDOUT_FILENO) < 0)
        cf_die(t, CF_EXIT_ENVIRONMENT, "--resolve: %s", strerror(errno));
    close(ends[0]);
    close(ends[1]);
    c->standard_output = output ? r->output : 0;
    c->output = NULL;
}

int cf_resolved_end(struct cf_resolved *r, struct cf_command *c, int status)
{
    int ended = 0, its;

    if (!r->child)
        return status;
    cf_command_beside(r->child);    /* before it may say that it has all: only the second ends it */
    dup2(r->output, STDOUT_FILENO); /* the end of its input */
    close(r->output);
    (void)cf_command_reap(r->child, &ended, 0);
    its = cf_command_status(ended);
    if (c->signalled == SIGPIPE && its != CF_COMMAND_SIGNAL + SIGPIPE)
        c->signalled = 0;
    if (its == CF_COMMAND_SIGNAL + SIGPIPE && !c->signalled)
        c->signalled = SIGPIPE;
    if (its > CF_COMMAND_SIGNAL && its != CF_COMMAND_SIGNAL + SIGPIPE) {
        cf_warn(c->tool, "cf-resolve was ended by signal %d", its - CF_COMMAND_SIGNAL);
        its = CF_EXIT_ENVIRONMENT;
    }
    return its > status ? its : status;
}

int cf_resolved_unbegun(struct cf_resolved *r, struct cf_command *c, struct cf_writer *w)
{
    cf_command_end(c, w);
    return cf_command_finish(c, cf_resolved_end(r, c, CF_EXIT_ENVIRONMENT), 0);
}
