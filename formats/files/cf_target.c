/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that the name of an output stands for. A link stays one, and what it points to is
 * written, as a shell's redirection does it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf_target.h"

enum { MOST_LINKS = 40 /* as the kernel has it */ };

/* The number behind /dev/fd/ or /proc/self/fd/, or -1. Such a link can lead to what has no name. */
static int descriptor(const char *path)
{
    int fd = -1, end = 0;

    if (sscanf(path, "/dev/fd/%d%n", &fd, &end) != 1)
        (void)sscanf(path, "/proc/self/fd/%d%n", &fd, &end);
    return end && !path[end] && fd >= 0 ? fd : -1;
}

/* What the link at *path points to takes its place: 1, 0 where it is no link, or -1. */
static int follow(char **path)
{
    char to[4096], *next;
    ssize_t n = readlink(*path, to, sizeof(to));
    const char *slash = strrchr(*path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - *path) : 0;

    if (n < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : -1;
    if (n == sizeof(to)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (to[0] == '/')
        folder = 0;
    next = malloc(folder + (size_t)n + 1);
    if (!next)
        return -1;
    memcpy(next, *path, folder);
    memcpy(next + folder, to, (size_t)n);
    next[folder + (size_t)n] = 0;
    free(*path);
    *path = next;
    return 1;
}

int cf_target_find(struct cf_target *t, const char *path)
{
    struct stat st;
    int links = 0, more = 1;

    *t = (struct cf_target){.path = strdup(path), .descriptor = -1};
    if (!t->path)
        return -1;
    /* The kernel's own rules for links come first, such as for those of others in /tmp. */
    if (stat(path, &st) == 0) {
        t->exists = S_ISREG(st.st_mode);
        t->in_place = !t->exists;
        t->mode = st.st_mode & 0777;
        t->owner = st.st_uid;
        t->group = st.st_gid;
    } else if (errno != ENOENT) {
        return -1;
    }
    while (more > 0) {
        t->descriptor = descriptor(t->path);
        if (t->descriptor >= 0) {
            t->in_place = 1;
            t->exists = 0;
            return 0;
        }
        more = follow(&t->path);
        if (more > 0 && ++links > MOST_LINKS) {
            errno = ELOOP;
            return -1;
        }
    }
    return more;
}

int cf_target_open(const struct cf_target *t)
{
    return t->descriptor >= 0 ? fcntl(t->descriptor, F_DUPFD_CLOEXEC, 3)
                              : open(t->path, O_WRONLY | O_CLOEXEC);
}

void cf_target_keep(const struct cf_target *t, int fd)
{
    /* What another user's file does not let us keep, or this file system, stays at 0600 and ours.
     */
    if (!t->exists)
        return;
    if (fchown(fd, t->owner, t->group) != 0)
        (void)fchown(fd, (uid_t)-1, t->group);
    (void)fchmod(fd, t->mode);
}
