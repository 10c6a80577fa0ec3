/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_builds.c - builds of mapped files. See cf_builds.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/base/cf_builds.h"

static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

const char *cf_builds_find(struct cf_builds *b, const char *name, uint64_t device, uint64_t inode)
{
    struct stat st;
    int fd;

    if (name[0] != '/')
        return "";
    if (stat(name, &st) != 0)
        return CF_BUILD_UNKNOWN;
    if (!S_ISREG(st.st_mode)) /* a device: opening one may do things */
        return "";
    if (inode && (st.st_dev != device || st.st_ino != inode))
        return CF_BUILD_UNKNOWN;
    if (same_file(&st, &b->st) && strcmp(name, b->path) == 0)
        return b->text;
    b->path[0] = '\0';
    fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return CF_BUILD_UNKNOWN;
    cf_build_read(fd, b->text);
    if (fstat(fd, &b->st) != 0 || !same_file(&st, &b->st))
        snprintf(b->text, sizeof b->text, CF_BUILD_UNKNOWN);
    else if (strlen(name) < sizeof b->path)
        strcpy(b->path, name);
    close(fd);
    return b->text;
}
