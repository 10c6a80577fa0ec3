/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool_file.c - files of results, which take their name when they are whole.
 *
 * In: what an option says, and a function that writes. Out: a file, or the end of the program with
 * a message. A file that could not be finished is removed, also where a signal ends the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/files/cf_target.h"
#include "cf_chain.h"
#include "cf_tool.h"

/* A descriptor of what is written, or -1 with errno: a device or a pipe itself, else a new file
   `beside` the target. */
static int open_target(struct cf_target *target, const char *path, char **beside)
{
    int fd;

    if (cf_target_find(target, path) != 0)
        return -1;
    if (target->in_place)
        return cf_target_open(target);
    if (asprintf(beside, "%s.%ld.tmp", target->path, (long)getpid()) < 0) {
        *beside = NULL;
        return -1;
    }
    (void)unlink(*beside); /* of a process that had our number */
    cf_chain_guard(*beside);
    fd = open(*beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target->exists ? 0600 : 0666);
    if (fd >= 0)
        cf_target_keep(target, fd);
    return fd;
}

/* Whether it is a regular file; "-" is the standard stream. */
static int is_file(const char *name, int standard, struct stat *st)
{
    return !(strcmp(name, "-") ? stat(name, st) : fstat(standard, st)) && S_ISREG(st->st_mode);
}

void cf_tool_apart(const struct cf_tool *t, const char *output, const char *input)
{
    struct stat in, out;

    if (!output || !is_file(output, STDOUT_FILENO, &out) || !is_file(input, STDIN_FILENO, &in) ||
        in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return;
    if (!strcmp(output, "-"))
        cf_die(t, CF_EXIT_USAGE,
               "standard output is an input, which it would damage: send it elsewhere");
    cf_die(t, CF_EXIT_USAGE,
           "'%s' is an input, which the output would replace: give the output another name",
           output);
}

void cf_tool_file(const struct cf_tool *t, const char *path,
                  int (*write)(const void *what, FILE *out), const void *what)
{
    struct cf_target target = {0};
    char *beside = NULL;
    FILE *out;
    int fd, bad, why;

    errno = 0;
    if (!strcmp(path, "-")) {
        if (write(what, stdout) != 0)
            cf_die(t, CF_EXIT_ENVIRONMENT, "standard output: cannot be written: %s",
                   errno ? strerror(errno) : "out of memory");
        return; /* what is not flushed yet, cf_tool_finish() does */
    }
    if (t->refused)
        return; /* a file that is there is not replaced by a part of what it should be */
    fd = open_target(&target, path, &beside);
    out = fd < 0 ? NULL : fdopen(fd, "wb");
    bad = !out;
    if (out) {
        errno = 0;
        bad = write(what, out) || fflush(out) || ferror(out);
        bad |= fclose(out) != 0;
    }
    if (!bad && beside)
        bad = rename(beside, target.path) != 0;
    if (bad) {
        why = errno;
        if (beside)
            unlink(beside);
        cf_die(t, CF_EXIT_ENVIRONMENT, "%s: cannot be written: %s", path,
               why ? strerror(why) : "out of memory");
    }
    if (beside)
        cf_chain_unguard();
    free(beside);
    free(target.path);
}
