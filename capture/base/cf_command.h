/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_command.h - what captures that run a command share: where it stands, how it is started and
 * hears signals, how its end is reported, and when the stream is flushed meanwhile.
 *
 * A capture of one command goes through these in this order: find, quoted, prepare, fork, in the
 * child exec; then flush_due while it records; end; finish. One that runs several commands, or
 * stops them, takes the parts that suit it.
 *
 * Captures are asked to end by SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXFSZ, unless they were
 * ignored when we were started: then they stay so. All captures treat them alike: what came until
 * then is a whole recording, and the capture dies by the same signal.
 */
#ifndef CF_COMMAND_H
#define CF_COMMAND_H

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "formats/program/cf_tool.h"

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
    int standard_output;        /* where it goes then instead, or 0 */
    /* What follows belongs to the functions below. */
    sigset_t mask;
    void (*pipe_action)(int);
    struct timespec begun, flushed;
    int failed, signalled;
};

/* Looks for a program as execvp() does. 0, or one of the first two statuses. */
int cf_command_find(const char *name, char *path, size_t size);

/* Writes the words so that a shell reads them back, separated by blanks. */
void cf_command_print(FILE *f, char *const *argv);

/* The header of what the program itself records of a command that runs here and counts
   instructions; `machine` may be NULL. -1 when it could not be written. */
int cf_command_header(const struct cf_command *run, struct cf_writer *w, const char *machine,
                      char *const *argv);

/* To be called before the first byte is written: a reader that goes away becomes an error of the
 * writer, so that the command runs on. */
void cf_command_prepare(struct cf_command *c);

/* Adds to the set the signals that ask us to end. */
void cf_command_end_signals(sigset_t *set);

/* Has f called for each of them, with SA_SIGINFO and the flags. */
void cf_command_catch(void (*f)(int, siginfo_t *, void *), int flags);

/* Whether the signal is the SIGXFSZ of a write of our own, which then fails: not to be obeyed. */
int cf_command_own_limit(const siginfo_t *info);

/* Forks. The parent gets the child's id or -1 (errno), and from then on hands signals that ask us
 * to end on to it: the first as it is (unless the terminal has sent it to both), the second as
 * SIGKILL. The child gets 0. */
pid_t cf_command_fork(struct cf_command *c);

/* What /proc says of a thread; all is 0 where it is gone. The state is that of /proc/PID/stat: R
 * where it runs or could, S where it waits in the kernel, D where no signal reaches it meanwhile, Z
 * where it has ended, as a main thread may before the others. */
struct cf_process {
    char state;
    int threads;  /* of its process, with a main thread that has ended */
    pid_t pid;    /* its process, */
    pid_t parent; /* that one's parent, */
    pid_t tracer; /* and who traces it, or 0 */
};
struct cf_process cf_process_look(pid_t tid);

/* Instead of the fork, where what is recorded runs already: it gets no signals of ours. */
void cf_command_attached(struct cf_command *c);

/* A further process that gets them; 0: none. */
void cf_command_beside(pid_t process);

/* Whether such a process has ended, whose status is then in *ended: waits for that unless `options`
 * is WNOHANG. Signals are not handed on to it any more. */
int cf_command_reap(pid_t child, int *ended, int options);

/* The same for one that was reaped otherwise. */
void cf_command_ended(void);

/* The signal that asked us to end since the fork, or 0. */
int cf_command_caught(void);

/* In the child: directs standard output, gives signals back and becomes the program; a failure is
 * reported, and ends the child. */
void cf_command_exec(struct cf_command *c, const char *const *argv) __attribute__((noreturn));

/* 1 when the stream was not flushed for so long that it should be now; counts from then on anew. */
int cf_command_flush_due(struct cf_command *c);

/* Closes the stream; says nothing when nobody reads it any more, and *caught, unless it holds a
 * signal already, becomes SIGPIPE. Returns what cf_tool_finish() does. */
int cf_command_close(struct cf_tool *t, struct cf_writer *w, const char *output, int *caught);

/* The exit status that stands for what waitpid() said. */
int cf_command_status(int ended);

/* Ends this process by the signal. */
void cf_command_raise(int number);

/* While it records, on a terminal where what the command prints does not stand too: accesses, bytes
 * and how fast. */
void cf_command_show(struct cf_command *c, const struct cf_writer *w, uint64_t accesses);

/* The same at the end, on a terminal, of what became this file (or NULL: none). */
void cf_command_tell(const struct cf_command *c, const char *file, uint64_t accesses);

/* The same for a capture of one command, at the end of the recording. */
void cf_command_end(struct cf_command *c, struct cf_writer *w);

/* After that, and after the command: ends by the signal that asked us to end or by SIGPIPE if
 * nobody read the stream; else returns what to exit with, which is the worse of `status` and of how
 * the stream was closed if that is not 0, or what `ended` says of the command. */
int cf_command_finish(struct cf_command *c, int status, int ended);

/* Both, where the header could not be written and the command was not begun. */
int cf_command_unbegun(struct cf_command *c, struct cf_writer *w);

#endif
