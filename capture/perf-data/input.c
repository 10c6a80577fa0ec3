/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.c - one buffer, from which records are taken where they lie.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/base/cf_command.h"

enum { BUFFER = 1 << 20, MOST = 1 << 16, IDLE_MS = 100 };

static volatile sig_atomic_t caught;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!cf_command_own_limit(info))
        caught = number;
}

int perf_input_caught(void)
{
    return caught;
}

static void report(const struct perf_input *in)
{
    cf_fail(in->tool, cf_is_refusal(errno) ? CF_EXIT_ENVIRONMENT : CF_EXIT_INPUT, "%s: %s%s",
            in->name, strerror(errno),
            errno == EISDIR ? ": 'perf record --threads' writes one: record without it" : "");
}

static int note(struct perf_input *in)
{
    report(in);
    in->failed = in->ended = 1;
    return -1;
}

int perf_input_open(struct perf_input *in, struct cf_tool *t, const char *file)
{
    in->tool = t;
    in->name = file;
    in->fd = STDIN_FILENO;
    if (strcmp(file, "-") == 0) {
        in->name = "standard input";
        if (isatty(STDIN_FILENO))
            cf_die(t, CF_EXIT_USAGE,
                   "standard input is a terminal: name a FILE or put a program before the pipe");
    }
    in->buffer = cf_need(t, malloc(BUFFER));
    cf_command_catch(on_signal, 0); /* a read that waits is interrupted */
    if (strcmp(file, "-") != 0)
        in->fd = open(file, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return note(in);
    in->seekable = lseek(in->fd, 0, SEEK_CUR) == 0;
    return 0;
}

void perf_input_close(struct perf_input *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free(in->buffer);
}

static void fill(struct perf_input *in)
{
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    ssize_t n;

    if (!in->seekable && in->idle && poll(&p, 1, IDLE_MS) == 0)
        in->idle(in->arg);
    if (!caught)
        n = read(in->fd, in->buffer + in->end, BUFFER - in->end);
    else
        n = 0;
    if (n > 0)
        in->end += (size_t)n;
    else if (n == 0)
        in->ended = 1;
    else if (errno == EAGAIN) /* another process that shares the input does not want to wait */
        (void)poll(&p, 1, -1);
    else if (errno != EINTR)
        (void)note(in);
}

const uint8_t *perf_input_peek(struct perf_input *in, size_t n, size_t *left)
{
    if (in->end - in->start >= n) {
        *left = n;
        return in->buffer + in->start;
    }
    if (BUFFER - in->start < MOST) {
        memmove(in->buffer, in->buffer + in->start, in->end - in->start);
        in->end -= in->start;
        in->start = 0;
    }
    while (in->end - in->start < n && !in->ended)
        fill(in);
    *left = in->end - in->start;
    return *left < n ? NULL : in->buffer + in->start;
}

const uint8_t *perf_input_take(struct perf_input *in, size_t n, size_t *left)
{
    const uint8_t *p = perf_input_peek(in, n, left);

    if (p) {
        in->start += n;
        in->at += n;
    }
    return p;
}

int perf_input_skip(struct perf_input *in, uint64_t n)
{
    size_t left;

    while (n) {
        const size_t part = n < MOST ? (size_t)n : MOST;

        if (!perf_input_take(in, part, &left))
            return -1;
        n -= part;
    }
    return 0;
}

int perf_input_at(const struct perf_input *in, uint64_t offset, void *bytes, size_t n)
{
    size_t done = 0;

    while (done < n) {
        const ssize_t r = offset > INT64_MAX - n ? 0
                                                 : pread(in->fd, (uint8_t *)bytes + done, n - done,
                                                         (off_t)(offset + done));

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            report(in);
        if (r <= 0)
            return -1;
        done += (size_t)r;
    }
    return 0;
}
