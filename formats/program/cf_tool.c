/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_tool.c - what every program of the suite does alike: messages, the common options, opening
 * and closing of inputs and outputs.
 *
 * In: command line, standard streams. Out: messages on standard error, and the exit status. Memory:
 * the quoted command line, kept until cf_tool_finish(); nothing that grows.
 *
 * SIGPIPE keeps its default action, so a reader that goes away ends the program quietly. Whatever
 * else keeps output from arriving is found here by flushing and closing, and gives
 * CF_EXIT_ENVIRONMENT: a full disk never looks like success.
 */
#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cf_number.h"
#include "formats/base/cf_text.h"
#include "formats/machine/cf_machine.h"
#include "formats/program/cf_rows.h"
#include "cf_tool.h"

enum { MESSAGE = 8192 };

#ifndef CF_VERSION
#define CF_VERSION "0.1.0"
#endif

/* A process has one standard error, so the state of its progress line belongs to the process. */
static struct {
    int decided; /* whether to show anything was looked at */
    int wanted;
    int shown;           /* a progress line stands on the terminal */
    int64_t begun, next; /* milliseconds of a monotonic clock */
    double seconds;      /* since it has begun, when it was last due */
} progress;

static void progress_clear(void)
{
    if (!progress.shown)
        return;
    progress.shown = 0;
    fputs("\r\033[K", stderr);
}

/* ---- messages ---- */

static void warn_list(const struct cf_tool *t, const char *format, va_list list)
{
    char message[MESSAGE], safe[2 * MESSAGE];
    int kept = errno;

    progress_clear();
    (void)cf_rows_flush(); /* on a terminal the message stands below the rows before it */
    errno = kept;          /* for %m */
    vsnprintf(message, sizeof message, format, list);
    fprintf(stderr, "%s: %s\n", t->name, cf_text_safe(safe, sizeof safe, message));
}

void cf_warn(const struct cf_tool *t, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    warn_list(t, format, list);
    va_end(list);
}

void cf_die(const struct cf_tool *t, int status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    warn_list(t, format, list);
    va_end(list);
    exit(status);
}

void cf_tool_note(struct cf_tool *t, int status)
{
    t->status = status > t->status ? status : t->status;
    t->refused |= status == CF_EXIT_ENVIRONMENT;
}

void cf_fail(struct cf_tool *t, int status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    warn_list(t, format, list);
    va_end(list);
    cf_tool_note(t, status);
}

/* ---- memory ---- */

void cf_out_of_memory(const struct cf_tool *t)
{
    cf_die(t, CF_EXIT_ENVIRONMENT, "out of memory");
}

/* ---- command line ---- */

/* Takes the place of standard streams that are closed, or a file that we open would get their
   number, and our messages. What is used against its purpose fails as if it were closed. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
            return;
}

void cf_tool_init(struct cf_tool *t, int argc, char **argv, const char *name, const char *usage)
{
    hold_standard_streams();
    *t = (struct cf_tool){.name = name, .usage = usage};
    /* where it is ignored, as by some that start programs, no child's status comes */
    t->child_action = signal(SIGCHLD, SIG_DFL);
    t->line = cf_need(t, cf_tool_quoted(argc, argv, name));
    /* getopt begins its messages with argv[0], which may be a long path. */
    if (argc > 0)
        argv[0] = (char *)name;
}

/* Flushes standard output; -1 with a message when anything did not arrive. */
static int flush_stdout(const struct cf_tool *t)
{
    int before, laid_out;

    errno = 0;
    laid_out = cf_rows_end();
    before = ferror(stdout);
    if (laid_out == 0 && fflush(stdout) == 0 && !before)
        return 0;
    if (errno)
        cf_warn(t, "standard output: %s", strerror(errno));
    else
        cf_warn(t, "standard output: not everything could be written");
    return -1;
}

static void print_and_exit(struct cf_tool *t)
{
    int status = flush_stdout(t) == 0 ? CF_EXIT_OK : CF_EXIT_ENVIRONMENT;

    free(t->line);
    t->line = NULL;
    exit(status);
}

void cf_common_option(struct cf_tool *t, int option)
{
    switch (option) {
    case 'q':
        t->quiet = 1;
        return;
    case 1001:
        t->max_strings = cf_parse_size(t, "--max-strings", optarg);
        if (t->max_strings < 1 << 20)
            cf_die(t, CF_EXIT_USAGE, "--max-strings '%s': must be at least 1M", optarg);
        return;
    case CF_OPT_CSV:
    case CF_OPT_TERM:
    case CF_OPT_JSON:
        t->form = option;
        return;
    case 'h':
        fputs(t->usage, stdout);
        print_and_exit(t);
        return;
    case 1000:
        printf("%s (cacheflow) %s\n", t->name, CF_VERSION);
        print_and_exit(t);
        return;
    default:
        fprintf(stderr, "Try '%s --help' for its options.\n", t->name);
        exit(CF_EXIT_USAGE);
    }
}

/* ---- inputs and outputs ---- */

struct cf_reader *cf_tool_reader(struct cf_tool *t, char *const *files, int count)
{
    int from_stdin = count == 0;
    struct cf_reader *r;

    for (int i = 0; i < count; i++)
        from_stdin += strcmp(files[i], "-") == 0;
    if (from_stdin && isatty(STDIN_FILENO))
        cf_die(t, CF_EXIT_USAGE,
               "standard input is a terminal: name a FILE or put a program before the pipe");
    if (from_stdin + t->stdin_taken > 1)
        cf_die(t, CF_EXIT_USAGE,
               "standard input cannot be two inputs: name a FILE for one of them");
    t->stdin_taken += from_stdin;
    r = cf_need(t, cf_reader_open(files, count));
    if (t->max_strings)
        cf_reader_max_strings(r, t->max_strings);
    return r;
}

void cf_tool_part(const struct cf_tool *t, struct cf_reader *r, const char *option, uint32_t number,
                  uint32_t parts)
{
    const int result = cf_reader_part(r, number, parts);

    if (result == 0)
        return;
    cf_die(t,
           cf_reader_refused(r) ? CF_EXIT_ENVIRONMENT
           : result == -1       ? CF_EXIT_USAGE
                                : CF_EXIT_INPUT,
           "%s: %s", option, cf_reader_problem(r));
}

void cf_tool_no_terminal(const struct cf_tool *t, const char *instead)
{
    if (isatty(STDOUT_FILENO))
        cf_die(t, CF_EXIT_USAGE, "the output is binary and standard output is a terminal: %s",
               instead);
}

struct cf_writer *cf_tool_writer(struct cf_tool *t, const char *path)
{
    if (path && strcmp(path, "-") == 0)
        path = NULL;
    if (!path)
        cf_tool_no_terminal(t, "use -o FILE, or pipe it into cf-cat --csv");
    return cf_need(t, cf_writer_open(path, t->line));
}

const unsigned *cf_tool_only(const struct cf_tool *t, struct cf_writer *w, const unsigned *added)
{
    unsigned *listed, *all, n = 0, more = 0;
    char *names, *rest;

    if (!t->columns)
        return NULL;
    if (!w)
        cf_die(t, CF_EXIT_USAGE, "--columns is for a stream of accesses, which is not written");
    while (added[more])
        more++;
    names = cf_tool_text(t, "%s", t->columns);
    listed = cf_tool_room(t, strlen(names) / 2 + 2, sizeof *listed);
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        listed[n] = cf_column_find(name);
        if (!cf_type_width(cf_column_type(listed[n])))
            cf_die(t, CF_EXIT_USAGE, "--columns: '%s' is no column of accesses: see cf-stream(5)",
                   name);
        n++;
    }
    all = cf_tool_room(t, n + more + 1, sizeof *all);
    memcpy(all, listed, n * sizeof *all);
    memcpy(all + n, added, more * sizeof *all);
    cf_writer_only(w, all);
    return listed;
}

struct cf_writer *cf_tool_recording(struct cf_tool *t, const char *path)
{
    struct cf_writer *w = cf_tool_writer(t, path);

    cf_writer_recording(w);
    return w;
}

/* A failure shows again when the writer is closed. */
static void flush_writer(void *writer)
{
    (void)cf_writer_flush(writer);
}

void cf_tool_idle(struct cf_reader *r, struct cf_writer *w)
{
    if (w)
        cf_reader_idle(r, flush_writer, w);
}

void cf_tool_set(const struct cf_tool *t, struct cf_frame *f, unsigned column, const void *values)
{
    if (cf_frame_set(f, column, values) != 0)
        cf_die(t, CF_EXIT_INPUT, "frame %" PRIu64 " has no room for one more column", f->number);
}

int cf_tool_term(const struct cf_tool *t)
{
    return t->form ? t->form == CF_OPT_TERM : isatty(STDOUT_FILENO);
}

unsigned cf_tool_columns(void)
{
    const char *said = getenv("COLUMNS");
    struct winsize size;
    uint64_t n;

    if (said && cf_read_number(said, CF_READ_DECIMAL, 9999, &n) == 0 && n)
        return (unsigned)n;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int cf_tool_due(const struct cf_tool *t)
{
    struct timespec clock;
    int64_t now;

    if (progress.decided && !progress.wanted)
        return 0;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &clock);
    now = (int64_t)clock.tv_sec * 1000 + clock.tv_nsec / 1000000;
    if (!progress.decided) {
        progress.decided = 1;
        progress.wanted = !t->quiet && isatty(STDERR_FILENO);
        progress.begun = now;
        progress.next = now + 1000;
        return 0;
    }
    if (now < progress.next)
        return 0;
    progress.seconds = (double)(now - progress.begun) / 1000;
    progress.next = now + 200;
    return 1;
}

void cf_tool_show(const struct cf_tool *t, const char *format, ...)
{
    va_list list;

    fprintf(stderr, "\r%s: ", t->name);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputs("\033[K", stderr);
    progress.shown = 1;
}

/* Of the programs in a pipeline only one that reads files of known size shows its progress, so
   that they do not write over each other. */
void cf_tool_progress(struct cf_tool *t, const struct cf_reader *r)
{
    uint64_t size, bytes;
    double part, left;

    if (!progress.decided && !cf_reader_size(r)) {
        progress.decided = 1;
        return;
    }
    if (!cf_tool_due(t))
        return;
    size = cf_reader_size(r);
    bytes = cf_reader_bytes(r);
    if (size == 0)
        return;
    part = bytes < size ? (double)bytes / (double)size : 1;
    left = part > 0 ? progress.seconds * (1 - part) / part : 1e6;
    if (progress.seconds < 2 || left > 1e5) /* too early to say */
        cf_tool_show(t, "%3.0f %% of %.1f MiB", 100 * part, (double)size / 1048576.0);
    else
        cf_tool_show(t, "%3.0f %% of %.1f MiB, %u:%02u left", 100 * part, (double)size / 1048576.0,
                     (unsigned)left / 60, (unsigned)left % 60);
}

int cf_tool_next(struct cf_tool *t, struct cf_reader *r, struct cf_frame **f)
{
    const int came = cf_reader_next(r, f);

    if (came > 0)
        cf_tool_progress(t, r);
    else if (cf_reader_refused(r))
        cf_tool_note(t, CF_EXIT_ENVIRONMENT);
    return came;
}

int cf_tool_problems(const struct cf_tool *t, const struct cf_reader *r)
{
    const char *problem = cf_reader_problem(r);
    unsigned damages = cf_reader_damages(r);
    const char *name, *why;
    unsigned count;

    if (!problem)
        return CF_EXIT_OK;
    cf_warn(t, "%s", problem);
    for (count = 0; (name = cf_reader_unopened(r, count, &why)); count++)
        cf_warn(t, "%s: %s", name, why);
    if (damages > 1 + count)
        cf_warn(t, "%u " CF_PLACES_DAMAGED " in all; what could be read was processed", damages);
    return cf_reader_refused(r) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT;
}

int cf_tool_lacks(const struct cf_tool *t, const char *input, unsigned table)
{
    if (!table)
        return CF_EXIT_OK;
    cf_warn(t, "%s: there are records, but none of table %s, which %s", input, cf_table_name(table),
            table == CF_LINE || table == CF_SNAPSHOT
                ? "cf-cache --snapshot-every and cf-capture snapshot write"
            : table == CF_PAGE  ? "cf-pages, cf-capture pages and bbprof write"
            : table == CF_PROBE ? "cf-capture probe writes"
                                : "recordings of accesses have");
    return CF_EXIT_INPUT;
}

static int nobody_reads(int pipe)
{
    struct pollfd p = {.fd = pipe};

    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

int cf_tool_finish(struct cf_tool *t, struct cf_reader *r, struct cf_writer *w)
{
    int status = CF_EXIT_OK, refused;

    progress_clear();
    if (r) {
        status = cf_tool_problems(t, r);
        if (!status)
            status = cf_tool_lacks(t, cf_reader_input(r), cf_reader_lacks(r));
        cf_reader_close(r);
    }
    if (w && cf_writer_left_out(w)) {
        cf_warn(t, "--columns: %" PRIu64 " accesses have none of these columns, and are left out",
                cf_writer_left_out(w));
        cf_tool_note(t, CF_EXIT_INPUT);
    }
    refused = status == CF_EXIT_ENVIRONMENT || t->refused;
    if (flush_stdout(t) < 0)
        status = CF_EXIT_ENVIRONMENT;
    if (w) {
        char problem[1024] = "";
        int closed;

        /* a file that is there is not replaced by a part of what it should be, nor by nothing */
        if (refused || ((status || t->status) && !cf_writer_bytes(w)))
            cf_writer_cut(w);
        if (status || t->status)
            cf_writer_wanting(w);
        closed = cf_writer_close(w, !refused, problem, sizeof problem);
        if (closed != 0 && t->pipe > 0 && nobody_reads(t->pipe)) {
            t->unread = 1;
        } else if (closed != 0) {
            cf_warn(t, "%s", problem[0] ? problem : "the output could not be written");
            status = closed < 0 || refused ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT;
        }
    } else if (fclose(stdout) != 0 && errno != EBADF) {
        /* EBADF: we were started with standard output closed and wrote nothing. */
        cf_warn(t, "standard output: %s", strerror(errno));
        status = CF_EXIT_ENVIRONMENT;
    }
    free(t->line);
    t->line = NULL;
    cf_tool_note(t, status);
    return t->status;
}

void cf_tool_fit(struct cf_tool *t, struct cf_reader *r)
{
    if (cf_reader_lacks(r))
        exit(cf_tool_finish(t, r, NULL));
}
