/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_target.h - the file that the name of an output stands for: what a program must know before it
 * writes a new file that takes that name by rename().
 */
#ifndef CF_TARGET_H
#define CF_TARGET_H

#include <sys/types.h>

struct cf_target {
    char *path;     /* behind all links of the last part, the last of which may point to nothing */
    int in_place;   /* a device, a FIFO or an open descriptor: to be written, not replaced */
    int descriptor; /* of /dev/stdout, /dev/fd/N and their kind, else -1 */
    int exists;     /* as a regular file, with: */
    mode_t mode;    /* its permissions */
    uid_t owner;
    gid_t group;
};

/* Follows the links of `path`. 0, or -1 with errno; `t->path` is to be freed either way. */
int cf_target_find(struct cf_target *t, const char *path);

/* Opens a target that is written in place: a descriptor to be closed, or -1 with errno. */
int cf_target_open(const struct cf_target *t);

/* Gives a new file, which was made with mode 0600 and is to take the target's name, what we may of
   owner, group and permissions of the one that has it. */
void cf_target_keep(const struct cf_target *t, int fd);

#endif
