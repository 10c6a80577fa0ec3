/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_resolved.h - a recording that gets names at once: cf-resolve runs beside the capture, which
 * writes to it instead of to its output. So names come from the files that are there while the
 * program runs.
 */
#ifndef CF_RESOLVED_H
#define CF_RESOLVED_H

#include <sys/types.h>

#include "capture/base/cf_command.h"

struct cf_resolved {
    pid_t child; /* 0: none */
    int output;  /* what was standard output */
};

/* Before the writer is opened, for c->output as it is then, and before cf_command_prepare():
   standard output leads to cf-resolve, which writes the file that c->output named, or what was
   standard output. It ends with its input alone, not by the signals that end a capture. Exits where
   that cannot be. */
void cf_resolved_begin(struct cf_resolved *r, struct cf_command *c);

/* After cf_command_end(): waits for cf-resolve. The worse of `status` and its own; where its reader
   has gone, that is the command's SIGPIPE. */
int cf_resolved_end(struct cf_resolved *r, struct cf_command *c, int status);

/* Where the header could not be written: closes the stream and ends as cf_command_finish() does. */
int cf_resolved_unbegun(struct cf_resolved *r, struct cf_command *c, struct cf_writer *w);

#endif
