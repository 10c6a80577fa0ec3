/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_command.h - what captures that run a command share: where it stands, how it is started and
 * hears signals, how its end is told, and when the stream is flushed meanwhile.
 *
 * A capture of one command goes through these in this order: find, quoted, prepare, fork, in the
 * child exec; then flush_due while it records; finish. One that runs several commands, or stops
 * them, takes the parts that suit it.
 */
#ifndef CF_COMMAND_H
#define CF_COMMAND_H

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "formats/cf_tool.h"

/* Exit statuses, as shells have them. */
enum {
    CF_COMMAND_NOT_EXECUTABLE = 126,
    CF_COMMAND_NOT_FOUND = 127,
    CF_COMMAND_SIGNAL = 128, /* and the number of the signal that ended the command */
};

/* How often a live stream is flushed at least. */
enum { CF_COMMAND_FLUSH_MS = 100 };

struct cf_command {
    struct cf_tool *tool;
    const char *output;         /* file of the stream, or NULL: it goes to our standard output */
    const char *command_output; /* where the command's standard output goes, or NULL: it is left
                                   alone, or goes to standard error when ours carries the stream */
    /* What follows belongs to the functions below. */
    sigset_t mask;
    void (*pipe_action)(int);
    struct timespec flushed;
};

/* Looks for a program as execvp() does. 0, or one of the first two statuses. */
int cf_command_find(const char *name, char *path, size_t size);

/* Writes the words so that a shell reads them back, separated by blanks. */
void cf_command_print(FILE *f, char *const *argv);

/* The same as a string, which the caller frees; NULL: out of memory. */
char *cf_command_quoted(char *const *argv);

/* To be called before the first byte is written: a reader that goes away becomes an error of the
 * writer, so that the command runs on. */
void cf_command_prepare(struct cf_command *c);

/* Whether the signal is ignored, as nohup and a shell's background jobs have it: then it stays so.
 */
int cf_command_ignored(int number);

/* Forks. The parent gets the child's id or -1 (errno), and from then on hands SIGINT and SIGTERM on
 * to it: the first as it is (unless the terminal has sent it to both), the second as SIGKILL. A
 * signal that was ignored when we were started stays so, for the command too. The child gets 0. */
pid_t cf_command_fork(struct cf_command *c);

/* In the child: directs standard output, gives signals back and becomes the program; a failure is
 * told, and ends the child. */
void cf_command_exec(struct cf_command *c, const char *const *argv) __attribute__((noreturn));

/* 1 when the stream was not flushed for so long that it should be now; counts from then on anew. */
int cf_command_flush_due(struct cf_command *c);

/* Closes the stream; says nothing when nobody reads it any more, and *caught, unless it holds a
 * signal already, becomes SIGPIPE. CF_EXIT_OK, or the status of output that failed. */
int cf_command_close(struct cf_tool *t, struct cf_writer *w, const char *output, int *caught);

/* The exit status that tells of what waitpid() said. */
int cf_command_status(int ended);

/* Ends this process by the signal. */
void cf_command_raise(int number);

/* The end of a capture of one command: closes the stream, ends by the signal that asked us to end
 * or by SIGPIPE if nobody read the stream; else returns what to exit with, which is `status` if
 * that is not 0, that of a stream that could not be written, or what `ended` says of the command.
 */
int cf_command_finish(struct cf_command *c, struct cf_writer *w, int status, int ended);

#endif
