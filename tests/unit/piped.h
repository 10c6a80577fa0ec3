/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * piped.h - a file that holds what a pipe gets: a writer sees that standard output is no file, and
 * writes no packed stream.
 */
#ifndef PIPED_H
#define PIPED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int piped_saved = -1;
static pid_t piped_cat;

/* Standard output goes through a pipe into the file. */
static inline void piped_begin(const char *path)
{
    int ends[2], fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    fflush(stdout);
    piped_saved = dup(1);
    if (fd < 0 || piped_saved < 0 || pipe(ends) != 0 || (piped_cat = fork()) < 0)
        abort();
    if (!piped_cat) {
        dup2(ends[0], 0);
        dup2(fd, 1);
        close(ends[1]);
        execlp("cat", "cat", (char *)NULL);
        _exit(127);
    }
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    close(fd);
}

/* It goes where it went before, if it did not; the file is whole. */
static inline void piped_end(void)
{
    if (piped_saved < 0)
        return;
    fflush(stdout);
    dup2(piped_saved, 1);
    close(piped_saved);
    piped_saved = -1;
    if (waitpid(piped_cat, NULL, 0) < 0)
        abort();
}

#endif
