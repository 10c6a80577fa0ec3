/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * observed.h - the commands under observation: started together on the CPUs and with the priorities
 * that were asked for, found with all their descendants, stopped and let go.
 */
#ifndef CF_SNAPSHOT_OBSERVED_H
#define CF_SNAPSHOT_OBSERVED_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/program/cf_tool.h"

struct cf_observed_command {
    char **argv; /* ends with NULL */
    int cpu;     /* -1 any */
    int policy;  /* SCHED_OTHER, SCHED_FIFO, SCHED_RR */
    int priority;
    pid_t pid;
    int ended, status; /* status: of waitpid() */
};

struct cf_observed_task {
    pid_t pid, parent;
    unsigned long long start;
    int fresh;     /* not seen at the last snapshot */
    int gone;      /* was not found any more, */
    int ended;     /* and that is noted; its parent may still list it */
    uint32_t mark; /* of the last search that found it */
    char name[16]; /* comm */
    char *maps;    /* what was read last, or NULL */
    size_t maps_bytes;
};

struct cf_observed {
    struct cf_tool *tool;
    struct cf_observed_command *command;
    unsigned commands, running;
    const char *output;       /* where standard output of the commands goes; NULL: see own_output */
    int own_output;           /* standard output is ours: theirs goes to standard error */
    int barrier[2];           /* the commands wait until its end */
    int ready[2];             /* its end says that all are where they wait */
    sigset_t mask;            /* signal mask for them */
    void (*pipe_action)(int); /* what SIGPIPE does to them */
    struct cf_observed_task *observed;
    size_t count, room;
    uint32_t mark;
    int no_children; /* the kernel has no /proc/PID/task/TID/children */
    int guarded;     /* file of those that were observed so far, for guard.c, */
    int alive;       /* and our end of its pipe */
};

/* Starts all commands and returns when each is on its CPU and about to run its program; -1 after a
 * message. */
int cf_observed_start(struct cf_observed *t);
/* Lets them run. */
void cf_observed_release(struct cf_observed *t);
void cf_observed_free(struct cf_observed *t);

/* Brings `observed` up to date: every descendant of this process that is alive, and those that are
   gone, unless they are fresh. Returns how many are new. */
size_t cf_observed_find(struct cf_observed *t);

/* SIGSTOP to all of them, also those that come meanwhile; returns when all threads stand still, or
   after 100 ms with the number of processes that did not. */
unsigned cf_observed_stop(struct cf_observed *t);
void cf_observed_continue(struct cf_observed *t);
void cf_observed_kill(struct cf_observed *t, int number);
/* To one process, if it is still the one that was found. */
void cf_observed_signal(struct cf_observed_task *o, int number);

/* A whole file of /proc, with a zero behind it, that the caller frees; NULL when it is empty,
   cannot be read to its end, or there is no memory. */
char *cf_observed_read(const char *path, size_t *length);

/* A child has ended: notes it. */
void cf_observed_ended(struct cf_observed *t, pid_t pid, int status);
/* The exit status of the first command whose status is not 0, or 0. */
int cf_observed_status(const struct cf_observed *t);

/* The commands, as a shell would read them, that the caller frees; NULL without memory. */
char *cf_observed_line(const struct cf_observed *t);

#endif
