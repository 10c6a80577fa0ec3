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

#include "capture/cf_lines.h"

enum { BUFFER = 1 << 18, IDLE_MS = 100 };

struct cf_lines_more {
    struct cf_tool *tool;
    char *const *files;
    int count, next;
    int fd;
    int fresh;     /* nothing was read of this input yet */
    size_t filled; /* bytes in the buffer, from its start */
    size_t used;   /* of them complete lines that were handed to cf_lines.end */
    void (*idle)(void *);
    void *arg;
    int64_t idled; /* when, in ms */
    char buffer[BUFFER + 1 + CF_LINES_BEYOND];
};

const uint8_t cf_lines_digit[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

static void catch_signal(int number)
{
    struct sigaction old, new = {.sa_handler = on_signal};

    /* What was ignored when we were started (nohup, a shell's background job) stays ignored.
       Without SA_RESTART a read that waits is interrupted. */
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &new, NULL);
}

void cf_lines_raise(void)
{
    if (!caught)
        return;
    signal(caught, SIG_DFL);
    raise(caught);
}

void cf_lines_open(struct cf_lines *l, struct cf_tool *t, char *const *files, int count)
{
    static char *const standard_input[] = {(char *)"-", NULL};

    *l = (struct cf_lines){.name = "standard input", .told = 1};
    l->more = calloc(1, sizeof *l->more);
    if (!l->more)
        cf_die(t, CF_EXIT_ENVIRONMENT, "out of memory");
    l->more->tool = t;
    l->more->files = count ? files : standard_input;
    l->more->count = count ? count : 1;
    l->more->fd = -1;
    for (int i = 0; i < l->more->count; i++)
        if (strcmp(l->more->files[i], "-") == 0 && isatty(STDIN_FILENO))
            cf_die(t, CF_EXIT_USAGE,
                   "standard input is a terminal: name a FILE or put a program before the pipe");
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
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

/* Returns when a read would not wait, having called the idle function if that takes long. */
static void wait_for_input(struct cf_lines_more *m)
{
    struct pollfd p = {.fd = m->fd, .events = POLLIN};
    int64_t left;

    if (!m->idle || poll(&p, 1, 0) != 0)
        return;
    left = m->idled + IDLE_MS - now_ms();
    if (left > 0 && poll(&p, 1, (int)left) != 0)
        return;
    call_idle(m);
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
        if (strcmp(name, "-") == 0) {
            l->name = "standard input";
            m->fd = STDIN_FILENO;
            return 1;
        }
        l->name = name;
        m->fd = open(name, O_RDONLY | O_CLOEXEC);
        if (m->fd >= 0)
            return 1;
        cf_warn(m->tool, "%s: %s", name, strerror(errno));
        l->failed = 1;
    }
    return 0;
}

/* Bytes read, 0 at the end of this input. */
static size_t read_some(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;
    ssize_t n;

    do {
        wait_for_input(m);
        if (caught)
            return 0;
        n = read(m->fd, m->buffer + m->filled, BUFFER - m->filled);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        cf_warn(m->tool, "%s: %s", l->name, strerror(errno));
        l->failed = 1;
        return 0;
    }
    return (size_t)n;
}

/* Text holds no control bytes but blanks and line ends. */
static int is_binary(const char *p, size_t n)
{
    for (size_t i = 0; i < n && i < 64; i++)
        if ((uint8_t)p[i] >= 0x7f || ((uint8_t)p[i] < ' ' && !strchr("\t\n\r", p[i])) || !p[i])
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

int cf_lines_fill(struct cf_lines *l)
{
    struct cf_lines_more *m = l->more;
    int skipping = 0; /* inside a line that is too long */

    m->filled -= m->used;
    memmove(m->buffer, m->buffer + m->used, m->filled);
    m->used = 0;
    for (;;) {
        char *from = m->buffer + m->filled, *last = NULL;
        size_t n = 0;

        if (m->fd >= 0 && !caught)
            n = read_some(l);
        if (n == 0) {
            if (l->blocks && m->filled && !caught) {
                l->number++;
                cf_lines_bad(l, 0, "the last entry was cut off: %zu of %d bytes", m->filled,
                             l->block);
                m->filled = 0;
            }
            if (skipping) {
                m->filled = 0;
                skipping = 0;
            }
            if (m->filled > 0 && !caught) {
                /* a last line without a newline */
                m->buffer[m->filled++] = '\n';
                m->used = m->filled;
                break;
            }
            m->filled = 0; /* a line that a signal cut is not a line */
            if (caught || !next_input(l)) {
                if (m->fd > STDIN_FILENO)
                    close(m->fd);
                m->fd = -1;
                m->count = 0;
                return 0;
            }
            continue;
        }
        m->filled += n;
        if (l->block && m->fresh)
            l->blocks = is_binary(from, n);
        m->fresh = 0;
        if (l->blocks) {
            m->used = m->filled - m->filled % (size_t)l->block;
            if (m->used)
                break;
            continue;
        }
        if (skipping) {
            char *newline = memchr(from, '\n', n);

            if (!newline) {
                m->filled = 0;
                continue;
            }
            skipping = 0;
            m->filled -= (size_t)(newline + 1 - m->buffer);
            memmove(m->buffer, newline + 1, m->filled);
            from = m->buffer;
            n = m->filled;
        }
        last = memrchr(from, '\n', n);
        if (!last && l->lists && m->filled > CF_LINES_MOST)
            last = cut_list(m->buffer, m->filled);
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
    l->at = m->buffer;
    l->end = m->buffer + m->used;
    return 1;
}

void cf_lines_bad(struct cf_lines *l, unsigned column, const char *format, ...)
{
    va_list list;
    char text[1024], place[16] = "";

    if (l->bad++ >= l->told)
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
    if (l->bad > l->told)
        cf_warn(m->tool, "%s: %" PRIu64 " lines were bad in all, the rest was processed", l->name,
                l->bad);
    free(m);
    l->more = NULL;
    return l->bad || l->failed ? CF_EXIT_INPUT : CF_EXIT_OK;
}
