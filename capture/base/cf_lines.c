/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_lines.c - reads the inputs of an importer line by line.
 *
 * One buffer of 256 KiB; lines are handed out where they lie. A line that is longer than
 * CF_LINES_MOST is skipped and counted as bad, so the buffer never grows.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "capture/base/cf_command.h"
#include "capture/base/cf_lines.h"

enum {
    BUFFER = 1 << 18,
    IDLE_MS = 100,
    AGAIN_MS = 1000,
    KIND = 64,  /* so many bytes of an input decide whether it is text */
    ENTRY = 16, /* or so many with a line's end: what comes slowly is handed on */
};

struct cf_lines_more {
    struct cf_tool *tool;
    char *const *files;
    int count, next;
    int fd;
    int fresh;     /* nothing was read of this input yet */
    int decided;   /* whether it is text or binary */
    int begun;     /* lines of it were handed out */
    size_t filled; /* bytes in the buffer, from its start */
    size_t used;   /* of them complete lines that were handed to cf_lines.end */
    void (*idle)(void *);
    void *arg;
    int64_t idled; /* when, in ms */
    size_t braces; /* at the start of a list of which the buffer holds the rest, else 0 */
    char buffer[BUFFER + 1 + CF_LINES_BEYOND];
};

const uint8_t cf_lines_digit[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static volatile sig_atomic_t caught;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!cf_command_own_limit(info))
        caught = number;
}

void cf_lines_open(struct cf_lines *l, struct cf_tool *t, char *const *files, int count)
{
    static char *const standard_input[] = {(char *)"-", NULL};

    *l = (struct cf_lines){.name = "standard input", .reported = 1};
    l->more = cf_need(t, calloc(1, sizeof *l->more));
    l->more->tool = t;
    l->more->files = count ? files : standard_input;
    l->more->count = count ? count : 1;
    l->more->fd = -1;
    for (int i = 0; i < l->more->count; i++)
        if (strcmp(l->more->files[i], "-") == 0 && isatty(STDIN_FILENO))
            cf_die(t, CF_EXIT_USAGE,
                   "standard input is a terminal: name a FILE or put a program before the pipe");
    cf_command_catch(on_signal, 0); /* a read that waits is interrupted */
}

void cf_lines_idle(struct cf_lines *l, void (*f)(void *), void *arg)
{
    l->more->idle = f;
    l->more->arg = arg;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void call_idle(struct cf_lines_more *m)
{
    m->idle(m->arg);
    m->idled = now_ms();
}

/* Returns when a read would not wait, having called the idle function if that takes long, and then
   each second: a file gets what is some seconds old. */
static void wait_for_input(struct cf_lines_more *m)
{
    struct pollfd p = {.fd = m->fd, .events = POLLIN};
    int64_t left;

    if (!m->idle || poll(&p, 1, 0) != 0)
        return;
    left = m->idled + IDLE_MS - now_ms();
    if (left > 0 && poll(&p, 1, (int)left) != 0)
        return;
    do
        call_idle(m);
    while (poll(&p, 1, AGAIN_MS) == 0);
}

/* The tool's status makes the stream say that it was made from what was not whole. */
static void note_status(struct cf_lines *l, int status)
{
    l->failed |= status;
    cf_tool_note(l->more->tool, status);
}

/* By errno: what the environment refuses, such as a descriptor or a bad disk's bytes, is no fault
   of the input. */
static void fail(struct cf_lines *l)
{
    note_status(l, cf_is_refusal(errno) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT);
}

static int next_input(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;

    if (m->fd > STDIN_FILENO)
        close(m->fd);
    m->fd = -1;
    while (m->next < m->count) {
        const char *name = m->files[m->next++];

        l->number = 0;
        l->input++;
        l->blocks = 0;
        m->fresh = 1;
        m->begun = 0;
        m->decided = !l->block;
        if (strcmp(name, "-") == 0) {
            l->name = "standard input";
            m->fd = STDIN_FILENO;
            return 1;
        }
        l->name = name;
        m->fd = open(name, O_RDONLY | O_CLOEXEC);
        if (m->fd >= 0)
            return 1;
        fail(l);
        cf_warn(m->tool, "%s: %s", name, strerror(errno));
    }
    return 0;
}

/* What stands in the buffer is no whole line or entry, and nothing follows it. */
static void cut_off(struct cf_lines *l, const char *format, ...) CF_PRINTF(2, 3);
static void cut_off(struct cf_lines *l, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cf_warn(l->more->tool, "%s:%" PRIu64 ": %s", l->name, l->number + 1, text);
    note_status(l, CF_EXIT_INPUT);
    l->more->filled = 0;
}

/* Bytes read, 0 at the end of this input. */
static size_t read_some(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;
    struct pollfd p = {.fd = m->fd, .events = POLLIN};
    ssize_t n;

    for (;;) {
        wait_for_input(m);
        if (caught)
            return 0;
        n = read(m->fd, m->buffer + m->filled, BUFFER - m->filled);
        if (n >= 0)
            return (size_t)n;
        if (errno == EAGAIN) /* another process that shares the input does not want to wait */
            (void)poll(&p, 1, -1);
        else if (errno != EINTR)
            break;
    }
    fail(l);
    if (m->fresh) {
        cf_warn(m->tool, "%s: %s", l->name, strerror(errno));
    } else {
        cut_off(l, "%s: what stands before this line was processed", strerror(errno));
    }
    return 0;
}

/* Text holds no control bytes but blanks, line ends, and those that move a terminal's cursor. */
static int is_binary(const char *p, size_t n)
{
    for (size_t i = 0; i < n && i < KIND; i++)
        if (p[i] == 0x7f || ((uint8_t)p[i] < ' ' && !strchr("\t\n\r\b\033", p[i])) || !p[i])
            return 1;
    return 0;
}

/* The last place between two elements in braces that begin with a capital letter, as elements do
   whose own elements are braced too; made a line's end. NULL if there is none. */
static char *cut_list(char *buffer, size_t filled)
{
    for (char *p = buffer + filled - 3; p > buffer; p--)
        if (p[0] == ' ' && p[-1] == '}' && p[1] == '{' && p[2] >= 'A' && p[2] <= 'Z') {
            *p = '\n';
            return p;
        }
    return NULL;
}

/* Bytes of a byte order mark, as some editors put before text. */
static size_t order_mark(const char *text, size_t bytes)
{
    return bytes > 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Braces at the start of the buffer, or at its end where blanks may follow them. */
static size_t braces(const char *buffer, size_t filled, int at_end)
{
    const size_t mark = at_end ? 0 : order_mark(buffer, filled);
    size_t n = 0;

    buffer += mark;
    filled -= mark;
    while (at_end && filled && strchr(" \t\r", buffer[filled - 1]))
        filled--;
    while (n < filled && (at_end ? buffer[filled - 1 - n] == '}' : buffer[n] == '{'))
        n++;
    return n;
}

/* At the end of an input: 1 if the buffer holds lines none the less. */
static int last_line(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;
    const size_t opened = m->braces ? m->braces : braces(m->buffer, m->filled, 0);
    const size_t closed = braces(m->buffer, m->filled, 1);

    m->braces = 0;
    if (caught) /* a line that a signal cut is not a line */
        m->filled = 0;
    else if (l->blocks && m->filled)
        cut_off(l, "the last entry was cut off: %zu of %d bytes", m->filled, l->block);
    else if (m->filled && !(l->lists && opened))
        cut_off(
            l, "the last line has no newline at its end: it may have been cut off and is left out");
    if (!m->filled)
        return 0;
    /* entries of a list have ends of their own: of one that is cut, who takes it reports */
    m->buffer[m->filled++] = '\n';
    m->used = m->filled;
    if (closed && closed < opened) {
        cf_warn(m->tool, "%s:%" PRIu64 ": the list was cut off behind an entry: a brace is missing",
                l->name, l->number + 1);
        note_status(l, CF_EXIT_INPUT);
    }
    return 1;
}

/* What follows a line that is too long, in the n bytes read last: goes up to the end of that line,
   and the begin of the next one is moved to the front. Whether that end came. */
static int skip_line(struct cf_lines_more *m, size_t n)
{
    const char *newline = memchr(m->buffer + m->filled - n, '\n', n);

    m->filled = newline ? (size_t)(m->buffer + m->filled - newline - 1) : 0;
    if (newline)
        memmove(m->buffer, newline + 1, m->filled);
    return newline != NULL;
}

/* Where the last line ends that is whole, of which the n bytes read last may be a part: NULL if
   none is. */
static const char *whole_lines(struct cf_lines *l, size_t n)
{
    struct cf_lines_more *m = l->more;
    const char *last = memrchr(m->buffer + m->filled - n, '\n', n);

    if (last) {
        m->braces = 0;
    } else if (l->lists && m->filled > CF_LINES_MOST) {
        if (!m->braces)
            m->braces = braces(m->buffer, m->filled, 0);
        last = cut_list(m->buffer, m->filled);
    }
    return last;
}

static int end_of_lines(struct cf_lines_more *m)
{
    if (m->fd > STDIN_FILENO)
        close(m->fd);
    m->fd = -1;
    m->count = 0;
    return 0;
}

/* Whether the input's first bytes tell if it is text: a slow pipe may have brought few of them. The
   last *n, 0 at its end, were read now; *n gets them all. */
static int is_decided(struct cf_lines *l, size_t *n)
{
    struct cf_lines_more *m = l->more;

    m->fresh &= !*n;
    if (m->decided)
        return 1;
    m->filled += *n;
    l->blocks = is_binary(m->buffer, m->filled);
    m->decided = !*n || l->blocks || m->filled >= KIND ||
                 (m->filled >= ENTRY && memchr(m->buffer, '\n', m->filled));
    if (m->decided) {
        *n = m->filled;
        m->filled = 0;
    }
    return m->decided;
}

/* But for a byte order mark. */
static void hand_out(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;

    l->at = m->buffer;
    l->end = m->buffer + m->used;
    if (!m->begun && !l->blocks)
        l->at += order_mark(l->at, m->used);
    m->begun = 1;
}

int cf_lines_fill(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;
    int skipping = 0; /* inside a line that is too long */

    m->filled -= m->used;
    memmove(m->buffer, m->buffer + m->used, m->filled);
    m->used = 0;
    for (;;) {
        const char *last;
        size_t n = 0;

        if (m->fd >= 0 && !caught)
            n = read_some(l);
        if (!is_decided(l, &n))
            continue;
        if (n == 0) {
            if (skipping)
                m->filled = 0;
            skipping = 0;
            if (last_line(l))
                break;
            if (caught || !next_input(l))
                return end_of_lines(m);
            continue;
        }
        m->filled += n;
        if (l->blocks) {
            m->used = m->filled - m->filled % (size_t)l->block;
            if (m->used)
                break;
            continue;
        }
        if (skipping) {
            skipping = !skip_line(m, n);
            if (skipping)
                continue;
            n = m->filled;
        }
        last = whole_lines(l, n);
        if (last) {
            m->used = (size_t)(last + 1 - m->buffer);
            break;
        }
        if (m->filled > CF_LINES_MOST) {
            l->number++;
            cf_lines_bad(l, 0, "a line of more than %d bytes: is this the right kind of file?",
                         CF_LINES_MOST);
            skipping = 1;
            m->filled = 0;
        }
    }
    hand_out(l);
    return 1;
}

void cf_lines_bad(struct cf_lines *l, unsigned column, const char *format, ...)
{
    va_list list;
    char text[1024], place[16] = "";

    if (l->bad++ >= l->reported)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (column)
        snprintf(place, sizeof place, ":%u", column);
    cf_warn(l->more->tool, "%s:%" PRIu64 "%s: %s", l->name, l->number, place, text);
}

int cf_lines_finish(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;

    if (m->fd > STDIN_FILENO)
        close(m->fd);
    if (l->bad > l->reported)
        cf_warn(m->tool, "%s: %" PRIu64 " lines were bad in all, the rest was processed", l->name,
                l->bad);
    free(m);
    l->more = NULL;
    return l->failed ? l->failed : l->bad ? CF_EXIT_INPUT : CF_EXIT_OK;
}

const char *cf_lines_none(const char *why)
{
    return caught ? "a signal ended the input before any came" : why;
}

int cf_lines_close(struct cf_tool *t, struct cf_writer *w, int bad, const char *none)
{
    int status;

    if (none) {
        cf_warn(t, "no records: %s", cf_lines_none(none));
        cf_writer_cut(w);
        cf_tool_note(t, CF_EXIT_INPUT); /* which the stream says, too */
    }
    status = cf_tool_finish(t, NULL, w);
    if (caught)
        cf_command_raise(caught);
    return status | bad; /* 0, 1 or 3 */
}
