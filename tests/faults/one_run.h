/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * one_run.h - one run of the program under test, in which one call fails.
 */
#ifndef ONE_RUN_H
#define ONE_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "tests/faults/faults.h"

enum { KINDS = FAULT_MMAP + 1, CALLS = 8, FILES = 8 };

extern const struct kind {
    const char *name;
    int error;       /* that its calls end with; 0: those of the preloaded library */
    int call[CALLS]; /* ends with 0, which is read(2) and stands first where it is meant */
} kinds[KINDS];

struct content {
    char *bytes;
    size_t size;
    int there;
};

struct run {
    int status;     /* as from waitpid() */
    int hung, left; /* processes went on after the program's end */
    int verified;   /* by the command -v */
    struct content out, err, seen, file[FILES];
    char stray[256]; /* a new file that is none of these, and that no message names; else empty */
};

/* What all runs have in common. */
extern struct setup {
    char **command; /* the program and its arguments */
    const char *preload;
    char page_name[32];                               /* the file of `page` */
    const char *input, *before, *compared, *verifies; /* -i, -b, -c, -v; NULL: none */
    const char *files[FILES];                         /* those that are compared */
    unsigned file_count;
    int started;  /* as the option -s */
    int patience; /* milliseconds without a call or an end, after which a run hangs */
} setup;
extern struct faults *page;
extern const struct content before_run;

/* Ends all, since a run cannot be made. */
void die(const char *what) __attribute__((noreturn));

/* Runs the program with the nth call of a kind failing. What the run holds is for forget(). Of the
   files before_run is there before a run of an even nth, the others of none; files that the first
   run leaves are right, those of others are removed. */
struct run run_once(enum fault_kind kind, uint64_t nth);

void forget(struct run *r);

#endif
