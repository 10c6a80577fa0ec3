/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * missing.c - which processes and calls a recording lacks, and what Valgrind said, in words.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "missing.h"
#include "capture/base/cf_elf.h"
#include "protocol.h"

enum { NAMES_SHOWN = 8 };

#define RIGHTS  "Valgrind runs no program with set-user-ID or set-group-ID bits or capabilities"
#define FOREIGN "made for another architecture or word size"

const char *cf_missing_refuses(const char *path)
{
    struct stat st;

    if (cf_elf_foreign(path))
        return FOREIGN ": use 'cf-capture qemu'";
    if ((stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID)) ||
        getxattr(path, "security.capability", NULL, 0) >= 0)
        return RIGHTS ": record a copy without them";
    return NULL;
}

/* Why processes have no ring, by errno; 0: by an exec. */
static const char *reason(int error)
{
    switch (error) {
    case 0:
        return "Valgrind did not run what they turned into, or that runs as another user";
    case EFBIG:
        return "raise the limit of file sizes (ulimit -f)";
    case EIO:
        return "the pipe to this program failed, or /proc";
    case EACCES:
    case ENOENT:
        return "they changed to a user or a root directory without access to the shared memory of "
               "this recording: let them keep theirs";
    case ENOSPC:
        return "no room for shared memory: make some in /dev/shm, or set TMPDIR";
    default:
        return strerror(error);
    }
}

static int could_not(const struct cf_tool *tool, const struct cf_trace *trace)
{
    const struct cf_trace_census c = cf_trace_census(trace);
    char list[CF_TRACE_LISTED * 12] = "";
    size_t at = 0;

    if (c.killed && !tool->quiet)
        cf_warn(tool, "%u process%s ended abruptly: up to 256 KiB of its last records are missing",
                c.killed, c.killed > 1 ? "es" : "");
    if (!c.unrecorded)
        return CF_EXIT_OK;
    for (unsigned i = 0; i < c.unrecorded && i < CF_TRACE_LISTED; i++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, " %u", c.unrecorded_pid[i]);
    cf_warn(tool, "%u of %u processes could not be recorded:%s%s: %s", c.unrecorded, c.all, list,
            c.unrecorded > CF_TRACE_LISTED ? " ..." : "", reason(c.why));
    return CF_EXIT_INPUT;
}

/* The names of those that were left alone for this reason, each once, into a list; how many they
 * are. */
static unsigned names_of(const struct cf_trace_left *left, size_t count, unsigned why, char *list,
                         size_t room)
{
    unsigned processes = 0, shown = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        size_t before = 0;

        if (left[i].why != why)
            continue;
        processes++;
        while (before < i && (left[before].why != why || strcmp(left[before].name, left[i].name)))
            before++;
        if (before < i || ++shown > NAMES_SHOWN + 1)
            continue;
        at += (size_t)snprintf(list + at, room - at, "%s%s", at ? ", " : "",
                               shown > NAMES_SHOWN ? "..." : left[i].name);
    }
    return processes;
}

int cf_missing_tell(const struct cf_tool *tool, const struct cf_trace *trace)
{
    static const char *const reasons[CF_WIRE_EXEC_KINDS] = {
        [CF_WIRE_EXEC_ALONE] = "since --no-follow is given",
        [CF_WIRE_EXEC_PRIVILEGED] = RIGHTS,
        [CF_WIRE_EXEC_FOREIGN] = FOREIGN "; 'cf-capture qemu' records such a program by itself",
    };
    int status = could_not(tool, trace);
    size_t count;
    const struct cf_trace_left *left = cf_trace_left(trace, &count);

    for (unsigned why = 0; why < CF_WIRE_EXEC_KINDS; why++) {
        char list[(NAMES_SHOWN + 1) * (CF_WIRE_COMM + 2)];
        unsigned n = reasons[why] ? names_of(left, count, why, list, sizeof(list)) : 0;

        if (n && !(why == CF_WIRE_EXEC_ALONE && tool->quiet))
            cf_warn(tool, "ran %s: not recorded: %u process%s: %s", list, n, n > 1 ? "es" : "",
                    reasons[why]);
        if (n && why != CF_WIRE_EXEC_ALONE)
            status = CF_EXIT_INPUT;
    }
    return status;
}

void cf_missing_heaps(const struct cf_tool *t, const struct cf_decode *decoder)
{
    const uint64_t n = cf_decode_heapless(decoder);

    if (n)
        cf_warn(t,
                "no heap block was seen of %" PRIu64
                " process%s: linked statically, and without an "
                "allocation function that is known by its name",
                n, n > 1 ? "es" : "");
}

void cf_missing_calls(const struct cf_tool *t, const struct cf_decode *decoder, uint32_t depth)
{
    const uint64_t cut = cf_decode_calls_cut(decoder), deeper = cf_decode_calls_deeper(decoder);
    const uint64_t lost = cf_decode_stacks_lost(decoder);

    if (deeper)
        cf_warn(t,
                "%" PRIu64 " calls were deeper than the %" PRIu32 " that are kept: they have "
                "no path of their own (pc 0 in table stack)",
                deeper, depth);
    if (cut)
        cf_warn(t,
                "more than a million paths of calls: what is called on others has no path of its "
                "own (%" PRIu64 " calls; pc 0 in table stack): give --calls=DEPTH",
                cut);
    if (lost)
        cf_warn(t, "the callers of %" PRIu64 " threads, processes or coroutines are not known",
                lost);
}

/* Of what its translator says only this counts: that it says it of an instruction that it does not
   know, and not of ud2. What follows of a process that a signal has ended is about that signal,
   which its status tells. */
void cf_missing_log(const struct cf_tool *t, FILE *log)
{
    char *line = NULL;
    size_t room = 0;
    int ended = -1, few = 0, unhandled = 0;

    while (getline(&line, &room, log) > 0) {
        const char *unknown = strstr(line, " instruction at address "); /* unrecognised */
        int pid = 0, at = 0;

        (void)!sscanf(line, "==%d==%n", &pid, &at);
        unhandled |= strstr(line, "unhandled instruction") != NULL;
        few |= strstr(line, "Max number of threads is too low") != NULL;
        if (strstr(line, "Process terminating with default action of signal"))
            ended = pid;
        if (unknown) {
            ended = pid;
            unknown += strlen(" instruction at address ");
            cf_warn(t, "process %d: the instruction at %.*s is %s: SIGILL", pid,
                    (int)strcspn(unknown, ".\n"), unknown,
                    unhandled ? "none that Valgrind knows" : "invalid on every processor (ud2)");
            unhandled = 0;
        } else if (!few && pid != ended && strncmp(line, "vex ", 4) != 0 &&
                   line[at + (int)strspn(line + at, " \n")]) {
            fputs(line, stderr);
        }
    }
    free(line);
    if (few)
        cf_warn(t, "the program made more threads than can be recorded: see --max-threads");
}
