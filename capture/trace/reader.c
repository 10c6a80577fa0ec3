/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.c - tokens, published blocks, and what callers ask; processes are kept in processes.c.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "reader_parts.h"
#include "formats/stream/cf.h"

enum { TOKENS = 64 }; /* read at once */

/* Decodes the block that is due from where it was left up to `bytes`. */
static int decode(struct cf_trace *t, struct cf_trace_process *p, uint32_t bytes)
{
    const uint8_t *block = (const uint8_t *)p->ring + CF_WIRE_HEADER_BYTES +
                           (size_t)(p->sequence % p->blocks) * CF_WIRE_BLOCK_BYTES;
    int r;

    if (bytes < p->consumed || bytes > CF_WIRE_BLOCK_BYTES - CF_ROWS_TAIL) {
        cf_trace_drop(t, p, "a block of an impossible size");
        return 0;
    }
    r = cf_decode_block(&t->decode, &p->record, block + p->consumed, block + bytes);
    p->consumed = bytes;
    if (r == -2) {
        cf_trace_drop(t, p, "its records are invalid");
        r = 0;
    }
    return r;
}

static int take_token(struct cf_trace *t, const struct cf_wire_token *token)
{
    struct cf_trace_process *p;

    if (token->type == CF_WIRE_TOKEN_START)
        return cf_trace_start(t, token);
    if (token->type == CF_WIRE_TOKEN_UNRECORDED)
        return cf_trace_start_without(t, token);
    if (token->type == CF_WIRE_TOKEN_ALONE) {
        cf_trace_leave(t, token->pid, token->value, token->name);
        return 0;
    }
    p = cf_trace_find(t, token->pid, token->ring);
    if (!p && token->type == CF_WIRE_TOKEN_EXEC && token->value)
        cf_trace_leave(t, token->pid, token->value, token->name);
    if (p && token->type == CF_WIRE_TOKEN_FORKED)
        p->coming++;
    if (p && token->type == CF_WIRE_TOKEN_EXEC) {
        p->execs = token->value;
        memcpy(p->runs, token->name, sizeof(p->runs));
    }
    if (!p || !p->alive || token->type == CF_WIRE_TOKEN_FORKED || token->type == CF_WIRE_TOKEN_EXEC)
        return 0;
    if (token->type == CF_WIRE_TOKEN_END)
        return cf_trace_end(t, p);
    if (t->decode.stopping)
        return 0;
    if (token->type != CF_WIRE_TOKEN_BLOCK || token->sequence != p->sequence) {
        cf_trace_drop(t, p, "an invalid message");
        return 0;
    }
    if (decode(t, p, token->bytes) != 0)
        return -1;
    p->sequence++;
    p->consumed = 0;
    if (p->ring) {
        __atomic_store_n(&p->ring->freed, p->sequence, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&p->ring->waiting, __ATOMIC_SEQ_CST))
            cf_trace_wake(p);
    }
    return 0;
}

/* What processes have recorded without having filled a block. */
static int take_published(struct cf_trace *t)
{
    for (struct cf_trace_process *p = t->processes; p; p = p->next) {
        uint64_t published;

        if (!p->alive || !p->ring || t->decode.stopping)
            continue;
        published = __atomic_load_n(&p->ring->published, __ATOMIC_ACQUIRE);
        if (published >> 32 == p->sequence && (uint32_t)published > p->consumed &&
            decode(t, p, (uint32_t)published) != 0)
            return -1;
    }
    return cf_decode_flush(&t->decode);
}

/* Whether a process that did not say goodbye is still there: between two images, as it were. */
static int between_images(const struct cf_trace *t)
{
    for (const struct cf_trace_process *p = t->processes; p; p = p->next) {
        char path[64], text[512], *state;
        ssize_t n;
        int fd;

        if (!p->alive || cf_trace_leaves(p))
            continue;
        snprintf(path, sizeof(path), "/proc/%u/stat", p->record.pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[n < 0 ? 0 : n] = 0;
        state = strrchr(text, ')'); /* "pid (name) state ..." */
        if (state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X')
            return 1;
    }
    return 0;
}

/* A ring that lies there still: its process could not send the message that it is there. One that
   came to it by exec is known, and counted as such. */
static void count_unannounced(struct cf_trace *t, const char *directory)
{
    DIR *d = directory[0] ? opendir(directory) : NULL;
    const struct dirent *e;
    unsigned pid, number;

    while (d && (e = readdir(d)) != NULL)
        if (sscanf(e->d_name, "ring.%u.%u", &pid, &number) == 2 &&
            !cf_trace_alive_process(t, pid)) {
            cf_trace_not_recorded(t, pid, EIO);
            t->seen++;
        }
    if (d)
        closedir(d);
}

/* Processes that are gone without a word. */
static void count_silent(struct cf_trace *t)
{
    count_unannounced(t, t->directory);
    count_unannounced(t, t->spare);
    for (const struct cf_trace_process *p = t->processes; p; p = p->next)
        if (p->alive && cf_trace_leaves(p))
            cf_trace_leave(t, p->record.pid, p->execs, p->runs);
        else if (p->alive && p->execs && t->follow)
            cf_trace_not_recorded(t, p->record.pid, 0);
        else if (p->alive && !p->execs && !t->decode.stopping)
            t->killed++;
}

/* No more recording: the program runs on, as fast as it can. */
static void stop(struct cf_trace *t)
{
    t->decode.stopping = 1;
    for (struct cf_trace_process *p = t->processes; p; p = p->next)
        if (p->alive)
            cf_trace_refuse(p);
}

int cf_trace_read(struct cf_trace *t, int milliseconds)
{
    struct cf_wire_token tokens[TOKENS];
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    ssize_t n;

    if (t->decode.stopped)
        return CF_TRACE_STOPPED;
    if (t->decode.stopping) /* for the limit, perhaps */
        stop(t);
    n = poll(&p, 1, milliseconds);
    if (n < 0 && errno == EINTR)
        return CF_TRACE_WORKED;
    if (n < 0) {
        cf_decode_refused(&t->decode, "poll", errno);
        return CF_TRACE_STOPPED;
    }
    if (n == 0)
        return take_published(t) == 0 ? CF_TRACE_IDLE : CF_TRACE_STOPPED;
    if (!(p.revents & POLLIN)) {
        struct timespec pause = {.tv_nsec = 10000000};

        if (!t->follow || !between_images(t)) {
            count_silent(t);
            return CF_TRACE_END;
        }
        nanosleep(&pause, NULL); /* poll() does not wait now */
        return take_published(t) == 0 ? CF_TRACE_IDLE : CF_TRACE_STOPPED;
    }
    n = read(t->fd, tokens, sizeof(tokens));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return CF_TRACE_WORKED;
    if (n < 0) {
        cf_decode_refused(&t->decode, "the pipe from the program", errno);
        return CF_TRACE_STOPPED;
    }
    if (n % (ssize_t)sizeof(*tokens) != 0) {
        cf_decode_problem(&t->decode, "a foreign message in %s/tokens", t->directory);
        return CF_TRACE_STOPPED;
    }
    for (ssize_t i = 0; i < n / (ssize_t)sizeof(*tokens); i++)
        if (take_token(t, &tokens[i]) != 0)
            return CF_TRACE_STOPPED;
    return CF_TRACE_WORKED;
}

int cf_trace_finish(struct cf_trace *t)
{
    if (t->decode.stopped || take_published(t) != 0)
        return CF_TRACE_STOPPED;
    for (struct cf_trace_process *p = t->processes; p; p = p->next)
        if (p->alive) {
            cf_trace_refuse(p); /* it may run on */
            if (cf_trace_end(t, p) != 0)
                return CF_TRACE_STOPPED;
            p = t->processes; /* the list may have changed; ended ones are passed over */
            if (!p)
                break;
        }
    return cf_decode_flush(&t->decode) == 0 ? CF_TRACE_END : CF_TRACE_STOPPED;
}

/* Valgrind's libraries, which it has the dynamic linker load into each program, are left out, and
   what the linker maps over them without a name: their zeroed data. */
static int map(struct cf_decode *d, uint32_t pid, const struct cf_wire_map *event, const char *name)
{
    const struct cf_decode_left_out *left = &d->current->left_out;
    const int inside =
        cf_decode_is_left_out(left, event->start) && cf_decode_is_left_out(left, event->end - 1);
    const int out =
        event->header.type == CF_WIRE_MAP && (strstr(name, "/vgpreload_") || (inside && !*name));

    cf_decode_leave_out(d, event->start, event->end, out);
    return out || (inside && event->header.type == CF_WIRE_UNMAP)
               ? 0
               : cf_decode_map(d, pid, event, name);
}

struct cf_trace *cf_trace_open(const char *directory, const struct cf_trace_options *options,
                               struct cf_writer *writer, char *text, size_t size)
{
    struct cf_trace *t = calloc(1, sizeof(*t));
    char path[PATH_MAX + 16];

    if (!t || cf_decode_init(&t->decode, &options->decode, writer) != 0) {
        snprintf(text, size, "out of memory");
        free(t);
        return NULL;
    }
    t->decode.map = map;
    t->follow = options->follow;
    snprintf(t->directory, sizeof(t->directory), "%s", directory);
    snprintf(t->spare, sizeof(t->spare), "%s", options->spare ? options->spare : "");
    snprintf(path, sizeof(path), "%s/tokens", t->directory);
    t->fd = -1;
    if (strlen(directory) >= sizeof(t->directory) || mkfifo(path, 0600) != 0 ||
        (t->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        snprintf(text, size, "%s: %s", path, strerror(errno));
        cf_decode_free(&t->decode);
        free(t);
        return NULL;
    }
    return t;
}

void cf_trace_close(struct cf_trace *t)
{
    char path[PATH_MAX + 16];

    if (!t)
        return;
    t->decode.stopped = 1;
    stop(t);
    snprintf(path, sizeof(path), "%s/tokens", t->directory);
    unlink(path); /* first: a FIFO that nobody reads means that we were killed */
    close(t->fd);
    while (t->processes) {
        struct cf_trace_process *p = t->processes;

        t->processes = p->next;
        cf_trace_forget(p);
    }
    cf_decode_free(&t->decode);
    free(t->left);
    free(t);
}

int cf_trace_begun(const struct cf_trace *t)
{
    return t->begun;
}

struct cf_trace_census cf_trace_census(const struct cf_trace *t)
{
    return (struct cf_trace_census){t->seen, t->unrecorded, t->killed, t->unrecorded_pid,
                                    (int)t->unrecorded_error};
}

const struct cf_trace_left *cf_trace_left(const struct cf_trace *t, size_t *count)
{
    *count = t->lefts;
    return t->left;
}

int cf_trace_silent(const struct cf_trace *t, uint32_t pid)
{
    for (const struct cf_trace_process *p = t->processes; p; p = p->next)
        if (p->record.pid == pid && p->alive && !p->execs)
            return 1;
    return 0;
}

void cf_trace_early(struct cf_trace *t, uint32_t pid)
{
    const struct cf_trace_process *p = cf_trace_alive_process(t, pid);

    t->killed -= t->killed > 0;
    t->begun = p && p->record.execed;
    if (!t->begun)
        t->unrecorded = 0; /* its ring was there, perhaps */
}

unsigned cf_trace_alive(const struct cf_trace *t)
{
    unsigned n = 0;

    for (const struct cf_trace_process *p = t->processes; p; p = p->next)
        n += p->alive && !cf_trace_leaves(p) &&
             (kill((pid_t)p->record.pid, 0) == 0 || errno != ESRCH);
    return n;
}

struct cf_decode *cf_trace_decoder(struct cf_trace *t)
{
    return &t->decode;
}
