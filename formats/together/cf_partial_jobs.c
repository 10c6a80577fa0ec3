/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_partial_jobs.c - processes that share a file: each reads a part, and writes its partial result
 * to a pipe, which the first process reads one after the other (see cf_partial.h). Where there are
 * more parts than may run at a time, each process waits for the end of the one that is so many
 * before it, whose result has then been read.
 *
 * What they have to say goes to a file in memory each, of which lines that several have are passed
 * on once. They end when the first process does. Memory: none that grows, but those messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/together/cf_partial.h"

/* Rows of accesses that a part has at least where there are several a process: to join parts costs
   something for each key of each of them. */
enum { LEAST_ROWS = 50000000 };

/* Standard input by a name that each process can open for itself: the file that it is, from its
   beginning. */
static char by_name[] = "/proc/self/fd/0";

static int is_standard(const char *file)
{
    return strcmp(file, "-") == 0;
}

/* The files by names that can be opened more than once; NULL where that cannot be, or where
   cf_tool_reader() refuses them. */
static char **named_files(struct cf_partial *p, char *const *files, int *count)
{
    static char standard[] = "-";
    char **list = cf_tool_room(p->tool, (size_t)*count + 1, sizeof(*list));
    struct stat st;
    int standards = 0;

    if (*count == 0)
        list[(*count)++] = standard;
    else
        memcpy(list, files, (size_t)*count * sizeof(*list));
    for (int i = 0; i < *count; i++) {
        if (!is_standard(list[i]))
            continue;
        if (standards++)
            return NULL;
        if (isatty(STDIN_FILENO) || (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
                                     lseek(STDIN_FILENO, 0, SEEK_CUR) != 0))
            return NULL;
        if (S_ISREG(st.st_mode))
            list[i] = by_name;
    }
    return list;
}

/* Whether each process can read all of them from the beginning. */
static int can_reopen(char *const *files, int count)
{
    struct stat st;

    for (int i = 0; i < count; i++)
        if (stat(files[i], &st) != 0 || !S_ISREG(st.st_mode))
            return 0;
    return 1;
}

/* How many parts there are, as the last of p->jobs says how many rows are before it. */
static uint32_t parts_of(const struct cf_partial *p, const struct cf_header *last)
{
    uint64_t turns = 0;
    struct cf_part part;

    if (!p->by_sets && cf_header_part(last, &part) > 0)
        turns = part.before / (p->jobs - 1) / LEAST_ROWS;
    turns = turns > CF_PARTIAL_TURNS ? CF_PARTIAL_TURNS : turns;
    turns = turns > CF_PARTIAL_JOBS / p->jobs ? CF_PARTIAL_JOBS / p->jobs : turns;
    return turns ? (uint32_t)turns * p->jobs : p->jobs;
}

/* Whether the files have an index, where that is needed, and are no partial results. */
static int can_share(struct cf_partial *p, char *const *files, int count)
{
    struct cf_reader *r = cf_need(p->tool, cf_reader_open(files, count));
    const int planned =
        p->by_sets ? can_reopen(files, count) - 1 : cf_reader_part(r, p->jobs, p->jobs);
    const char *why = cf_reader_problem(r);
    struct cf_frame *f;
    int result = 0;

    cf_reader_partials(r);
    if (planned == -1 && !p->tool->quiet)
        cf_warn(p->tool, "--jobs: %s: one process does it all",
                why ? why : "not all inputs are files that can be read more than once");
    if (planned == 0 && cf_reader_next(r, &f) > 0) {
        result = !cf_header_fact(f->header, "partial", "program");
        p->parts = parts_of(p, f->header);
    }
    cf_reader_close(r);
    return result;
}

static void environment(const struct cf_partial *p)
{
    cf_die(p->tool, CF_EXIT_ENVIRONMENT, "--jobs: no further process can be started: %s",
           strerror(errno));
}

/* Waits for its turn; nobody may want the result then. */
static void wait_for_turn(int turn, int to)
{
    struct pollfd reader = {.fd = to};
    char none;

    while (read(turn, &none, 1) < 0 && errno == EINTR)
        ;
    close(turn);
    if (poll(&reader, 1, 0) != 0)
        _exit(CF_EXIT_ENVIRONMENT);
}

/* What the process of a part is from here on. */
static void become(struct cf_partial *p, uint32_t number, int to, int messages, pid_t parent)
{
    const int turn = p->jobs_list[number - 1].turn;

    for (uint32_t i = 0; i + 1 < number; i++) {
        close(p->jobs_list[i].pipe);
        close(p->jobs_list[i].messages);
    }
    /* nobody wants the result when the first process is gone */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
        dup2(messages, STDERR_FILENO) < 0)
        _exit(CF_EXIT_ENVIRONMENT);
    close(messages);
    if (number > p->jobs)
        wait_for_turn(turn, to);
    p->jobs_list = NULL;
    p->job = number;
    if (p->by_sets)
        p->sets = (struct cf_part_option){number, p->jobs};
    p->asked = 1;
    p->out = cf_need(p->tool, cf_writer_pipe(to, p->tool->line));
}

char *const *cf_partial_share(struct cf_partial *p, char *const *files, int *count)
{
    const pid_t parent = getpid();
    int named = *count;
    char **list;

    if (p->jobs <= 1 || p->asked)
        return files;
    list = named_files(p, files, &named);
    if (!list || !can_share(p, list, named))
        return files;
    p->jobs_list = cf_tool_room(p->tool, p->parts, sizeof(*p->jobs_list));
    p->files = cf_tool_room(p->tool, p->parts, sizeof(*p->files));
    for (uint32_t i = 0; i < p->parts; i++) {
        struct cf_partial_job *job = &p->jobs_list[i];
        const uint32_t next = i + p->jobs;
        int ends[2], turn[2] = {-1, -1};

        job->messages = memfd_create("messages", MFD_CLOEXEC);
        if (job->messages < 0 || pipe2(ends, O_CLOEXEC) != 0 ||
            (next < p->parts && pipe2(turn, O_CLOEXEC) != 0))
            environment(p);
        if (next < p->parts)
            p->jobs_list[next].turn = turn[0];
        job->pid = fork();
        if (job->pid < 0)
            environment(p);
        if (job->pid == 0) {
            close(ends[0]);
            become(p, i + 1, ends[1], job->messages, parent);
            *count = named;
            return list;
        }
        close(ends[1]);
        if (next < p->parts)
            close(turn[1]); /* this process has it, to its end */
        if (i >= p->jobs)
            close(job->turn);
        job->pipe = ends[0];
        p->files[i] = cf_tool_text(p->tool, "/proc/self/fd/%d", ends[0]);
    }
    *count = (int)p->parts;
    return p->files;
}

/* Whether a line says how many places of its part a process has found damaged, of which none knows
   those of all. Where parts are of the sets, each process reads all. */
static int is_total(const struct cf_partial *p, const char *line, const char *end)
{
    return !p->by_sets &&
           memmem(line, (size_t)(end - line), CF_PLACES_DAMAGED, sizeof(CF_PLACES_DAMAGED) - 1);
}

/* Lines that no earlier process had, but for totals: whether there was one. */
static int pass_messages(const struct cf_partial *p, char *const *text, uint32_t number)
{
    int total = 0;

    for (const char *line = text[number], *end; *line; line = end) {
        const char *at = NULL;

        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (is_total(p, line, end)) {
            total = 1;
            continue;
        }
        for (uint32_t i = 0; i < number && !at; i++)
            for (at = text[i]; (at = strstr(at, "cf-")); at++)
                if (!strncmp(at, line, (size_t)(end - line)) && (at == text[i] || at[-1] == '\n'))
                    break;
        if (!at)
            fwrite(line, 1, (size_t)(end - line), stderr);
    }
    return total;
}

static char *messages_of(const struct cf_partial *p, int fd)
{
    const off_t bytes = lseek(fd, 0, SEEK_END);
    char *text = cf_tool_room(p->tool, (size_t)(bytes > 0 ? bytes : 0) + 1, 1);

    if (bytes > 0 && pread(fd, text, (size_t)bytes, 0) != bytes)
        *text = '\0';
    close(fd);
    return text;
}

void cf_partial_jobs_end(struct cf_partial *p)
{
    uint32_t failed = 0;
    int status, worst = 0, more = 0;
    char **text;

    if (!p->jobs_list)
        return;
    text = cf_tool_room(p->tool, p->parts, sizeof(*text));
    for (uint32_t i = 0; i < p->parts; i++)
        close(p->jobs_list[i].pipe); /* those that still write or wait end, too */
    for (uint32_t i = 0; i < p->parts; i++) {
        while (waitpid(p->jobs_list[i].pid, &status, 0) < 0 && errno == EINTR)
            ;
        text[i] = messages_of(p, p->jobs_list[i].messages);
        more |= pass_messages(p, text, i);
        if (WIFEXITED(status) && WEXITSTATUS(status) == CF_EXIT_INPUT &&
            !cf_reader_problem(p->reader)) {
            /* it has told of damage, and handed on what it could read */
            cf_tool_note(p->tool, CF_EXIT_INPUT);
            continue;
        }
        if (status && (!failed || WIFSIGNALED(status))) {
            failed = i + 1;
            worst = status;
        }
    }
    if (more)
        cf_warn(p->tool, "more " CF_PLACES_DAMAGED "; what could be read was processed");
    if (failed && WIFSIGNALED(worst))
        cf_die(p->tool, CF_EXIT_ENVIRONMENT,
               "--jobs: the process of part %u of %u was killed by signal %d: there is no result",
               failed, p->parts, WTERMSIG(worst));
    if (failed)
        cf_die(p->tool, WEXITSTATUS(worst),
               "--jobs: the process of part %u of %u failed: there is no result", failed, p->parts);
}
