/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.c - runs a program again and again, and each time lets one more call fail.
 *
 *     faults [-k KIND] [-m MOST] [-n NTH] [-f FILE]... [-i FILE] [-b COMMAND] [-c COMMAND]
 *            [-v COMMAND] [-a] [-s] [-w SECONDS] [-x TEXT] -- PROGRAM [ARGUMENT]...
 *
 * For each KIND (malloc, open, read, write, close, mmap; all without -k) the first call fails, then
 * the second, until a run ends before any has failed; with -m, only MOST of them, spread evenly;
 * with -n that one alone. Standard input is the file -i, or empty; before each run the shell runs
 * the COMMAND. A run is right when it exits
 *     0  with the same standard output and the same files -f as the run without a fault;
 *     3  with a message that begins with the program's name, and with each file -f as it was
 *        before: absent, or in every other run what we put there. One that no message names may
 *        also be that of the run without a fault, or with -v one with which the shell's COMMAND
 *        ends with 0.
 * So a fault in reading an input is 3 too: the input is none the worse for it. No other file may be
 * left in the folder, where temporary ones are as well, but what a message names or what the run
 * without a fault leaves. With -a the output differs from run to run, and is not compared; with -c
 * what the shell's COMMAND prints about it is. With -s the calls of processes that the PROGRAM
 * starts fail, and not its own; memory and close only with -k, and of one that runs the same
 * program. A run with the TEXT of a -x in its messages is right whatever its status. A run that
 * neither calls nor ends for -w SECONDS (120) hangs, and one whose processes do so after the
 * program's end leaves them behind.
 * Each wrong run is one line on standard output; the last line counts the runs. Exit status 0 when
 * all were right, 1 when not, 2 for wrong usage, 3 when runs could not be made.
 *
 * Standard error is left alone, where the message goes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/one_run.h"

static const char *excused[FILES];
static unsigned excuses;
static int any_output;
static const char *name; /* of the program, in its messages */

/* ---- what is right ---- */

static int differs(const struct content *a, const struct content *b)
{
    return a->there != b->there || a->size != b->size ||
           (a->size && memcmp(a->bytes, b->bytes, a->size) != 0);
}

/* A line that begins with the program's name, or cf-capture's with that of a capture. */
static int told(const struct run *r)
{
    size_t n = strlen(name);

    for (const char *s = r->err.bytes; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (strncmp(s, name, n) == 0 && (s[n] == ':' || s[n] == '-'))
            return 1;
    return 0;
}

static int mentions(const struct run *r, const char *file)
{
    return r->err.bytes && strstr(r->err.bytes, file);
}

/* What is wrong with a run, NULL if nothing. */
static const char *wrong(const struct run *r, const struct run *whole)
{
    static char text[320];

    if (r->hung)
        return "hangs";
    if (r->left)
        return "leaves processes behind";
    if (WIFSIGNALED(r->status)) {
        snprintf(text, sizeof text, "signal %d", WTERMSIG(r->status));
        return text;
    }
    for (unsigned i = 0; i < excuses; i++)
        if (mentions(r, excused[i]))
            return NULL;
    if (*r->stray) {
        snprintf(text, sizeof text, "leaves %s", r->stray);
        return text;
    }
    int status = WEXITSTATUS(r->status);
    if (status == 0) {
        if (differs(&r->seen, &whole->seen))
            return "status 0, other output";
        if (any_output)
            return NULL;
        if (differs(&r->out, &whole->out))
            return "status 0, other output";
        for (unsigned i = 0; i < setup.file_count; i++)
            if (differs(&r->file[i], &whole->file[i]))
                return "status 0, another file";
        return NULL;
    }
    if (status != 3) {
        snprintf(text, sizeof text, "status %d", status);
        return text;
    }
    for (unsigned i = 0; i < setup.file_count; i++)
        if (r->file[i].there && differs(&r->file[i], &before_run) &&
            ((differs(&r->file[i], &whole->file[i]) && !r->verified) ||
             mentions(r, setup.files[i]))) {
            snprintf(text, sizeof text, "status 3, makes %s", setup.files[i]);
            return text;
        }
    return told(r) ? NULL : "no message";
}

/* ---- all runs ---- */

static uint64_t runs, failed, bad;

static int try(enum fault_kind kind, uint64_t nth, const struct run *whole)
{
    struct run r = run_once(kind, nth);
    const char *why = wrong(&r, whole);
    int reached = page->count >= nth;

    if (why) {
        bad++;
        printf("%s: %s %" PRIu64 ": %s: %.*s%s", name, kinds[kind].name, nth, why,
               (int)strcspn(r.err.bytes ? r.err.bytes : "", "\n"), r.err.bytes, "\n");
        fflush(stdout);
    }
    runs++;
    failed += (uint64_t)reached;
    forget(&r);
    return reached;
}

static void try_all(enum fault_kind kind, uint64_t most, const struct run *whole)
{
    if (most == 0) {
        for (uint64_t n = 1; try(kind, n, whole); n++)
            ;
        return;
    }
    struct run r = run_once(kind, UINT64_MAX);
    uint64_t all = page->count;
    forget(&r);
    for (uint64_t i = 0; i < most && i < all; i++)
        try(kind, all <= most ? i + 1 : 1 + i * (all - 1) / (most > 1 ? most - 1 : 1), whole);
}

static int kind_named(const char *text)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, text) == 0)
            return k;
    return -1;
}

struct options {
    unsigned chosen; /* kinds, bit by bit; 0: all that fit */
    uint64_t most, only;
};

/* -1: wrong usage. */
static int parse(int argc, char **argv, struct options *o)
{
    int option;

    while ((option = getopt(argc, argv, "+k:m:n:f:i:b:c:v:asw:x:")) != -1) {
        switch (option) {
        case 'k':
            if (kind_named(optarg) < 0)
                return -1;
            o->chosen |= 1u << kind_named(optarg);
            break;
        case 'm':
            o->most = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            o->only = strtoull(optarg, NULL, 10);
            break;
        case 'f':
            if (setup.file_count < FILES)
                setup.files[setup.file_count++] = optarg;
            break;
        case 'i':
            setup.input = optarg;
            break;
        case 'b':
            setup.before = optarg;
            break;
        case 'c':
            setup.compared = optarg;
            break;
        case 'v':
            setup.verifies = optarg;
            break;
        case 'a':
            any_output = 1;
            break;
        case 's':
            setup.started = 1;
            break;
        case 'w':
            setup.patience = 1000 * atoi(optarg);
            break;
        case 'x':
            if (excuses < FILES)
                excused[excuses++] = optarg;
            break;
        default:
            return -1;
        }
    }
    setup.command = argv + optind;
    return setup.command[0] ? 0 : -1;
}

/* Each fault that is asked for, against a run without any. */
static int all_runs(const struct options *o)
{
    struct run whole = run_once(FAULT_MALLOC, UINT64_MAX);
    if (!WIFEXITED(whole.status) || WEXITSTATUS(whole.status) != 0 || page->armed != 1) {
        fprintf(stderr, "faults: %s fails without a fault: status 0x%x: %s", name,
                (unsigned)whole.status, whole.err.bytes ? whole.err.bytes : "\n");
        return 3;
    }
    for (int k = 0; k < KINDS; k++)
        if (o->chosen ? o->chosen & 1u << k : !setup.started || kinds[k].error) {
            if (o->only)
                try((enum fault_kind)k, o->only, &whole);
            else
                try_all((enum fault_kind)k, o->most, &whole);
        }
    if (!failed) {
        fprintf(stderr, "faults: %s: there is no such call to fail\n", name);
        return 3;
    }
    printf("%s: %" PRIu64 " runs, %" PRIu64 " wrong\n", name, runs, bad);
    return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 32);
    int fd, status;

    if (parse(argc, argv, &o) != 0 || n <= 0) {
        fprintf(stderr,
                "usage: faults [-k KIND] [-m MOST] [-n NTH] [-f FILE]... [-i FILE] [-b COMMAND] "
                "[-c COMMAND] [-v COMMAND] [-a] [-s] [-x TEXT]... -- PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    self[n] = '\0';
    strcpy(strrchr(self, '/') + 1, "faults.so");
    setup.preload = self;
    name = strrchr(setup.command[0], '/') ? strrchr(setup.command[0], '/') + 1 : setup.command[0];
    fd = mkstemp(setup.page_name);
    if (fd < 0 || ftruncate(fd, 4096) < 0)
        die(setup.page_name);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        die("mmap");
    status = all_runs(&o);
    unlink(setup.page_name);
    return status;
}
