/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_command.h - what captures that run a command share: where it stands, and how its end is told.
 */
#ifndef CF_COMMAND_H
#define CF_COMMAND_H

#include <stddef.h>

/* Exit statuses, as shells have them. */
enum {
    CF_COMMAND_NOT_EXECUTABLE = 126,
    CF_COMMAND_NOT_FOUND = 127,
    CF_COMMAND_SIGNAL = 128, /* and the number of the signal that ended the command */
};

/* Looks for a program as execvp() does. 0, or one of the first two statuses. */
int cf_command_find(const char *name, char *path, size_t size);

#endif
