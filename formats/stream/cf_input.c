/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a stream's inputs, one file after the other, so that a frame stands whole in one
 * buffer. The buffer grows as bytes arrive, never because a head claims them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cf_memory.h"
#include "cf_reader.h"

void cfr_damage(struct cf_reader *r, uint64_t offset, const char *format, ...)
{
    va_list args;
    int n;

    r->lost = 1;
    if (r->refused || r->damages++)
        return;
    n = snprintf(r->problem, sizeof(r->problem), "%s: ", r->name);
    if (offset != UINT64_MAX && n > 0 && (size_t)n < sizeof(r->problem))
        n += snprintf(r->problem + n, sizeof(r->problem) - (size_t)n,
                      "byte %llu: ", (unsigned long long)offset);
    if (offset != UINT64_MAX && r->number && n > 2 && (size_t)n < sizeof(r->problem))
        n += snprintf(r->problem + n - 2, sizeof(r->problem) - (size_t)n + 2,
                      " (frame %llu): ", (unsigned long long)r->number) -
             2;
    if (n < 0 || (size_t)n >= sizeof(r->problem))
        return;
    va_start(args, format);
    vsnprintf(r->problem + n, sizeof(r->problem) - (size_t)n, format, args);
    va_end(args);
}

void cfr_refuse(struct cf_reader *r, int error)
{
    unsigned damages = r->damages;

    if (r->refused)
        return;
    r->damages = 0; /* what the environment refuses counts more than what is wrong with the input */
    cfr_damage(r, r->base + r->pos ? r->base + r->pos : UINT64_MAX, "%s",
               error == ENOMEM ? cf_no_memory : strerror(error));
    r->damages = damages;
    r->refused = 1;
    r->eof = 1;
}

int cfr_room(struct cf_reader *r, void *array, size_t *room, size_t count, size_t width)
{
    const int result = cf_array_room(array, room, count, width);

    if (result != 0)
        cfr_refuse(r, ENOMEM);
    return result;
}

int cf_is_refusal(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO;
}

static int64_t milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Input that trickles never pauses for long enough, and yet must get on its way. */
static int overdue(struct cf_reader *r)
{
    int64_t now = milliseconds();

    if (!r->idle_last)
        r->idle_last = now;
    return now - r->idle_last >= OVERDUE_MS;
}

/* Makes room for `want` bytes from pos, or for some of them. -1 without memory. */
static int make_room(struct cf_reader *r, size_t want)
{
    /* no further than twice of what came, so that memory follows the input and not its claims */
    size_t cap = r->cap ? r->cap : 1 << 16;
    uint8_t *buf;

    while (cap < r->pos + want && cap <= 2 * r->end)
        cap *= 2;
    if (cap <= r->cap)
        return 0;
    buf = aligned_alloc(64, cap);
    if (!buf) {
        cfr_refuse(r, ENOMEM);
        return -1;
    }
    memcpy(buf, r->buf ? r->buf : buf, r->end);
    free(r->buf);
    r->buf = buf;
    r->cap = cap;
    return 0;
}

/* Moves what stands from pos on to the start of the buffer. */
static void move_down(struct cf_reader *r)
{
    memmove(r->buf, r->buf + r->pos, r->end - r->pos);
    r->base += r->pos;
    r->end -= r->pos;
    r->pos = 0;
}

/* Reads more: at least one byte, at most up to `want` bytes from pos. 0 at the end of the input. */
static int fill(struct cf_reader *r, size_t want)
{
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    ssize_t n;

    if (r->eof)
        return 0;
    if (r->pos && (r->end - r->pos <= READ_AHEAD || r->pos + want > r->cap || r->pos & 7))
        move_down(r);
    if (r->pos + want > r->cap && make_room(r, want) != 0)
        return 0;
    if (want > r->cap - r->pos)
        want = r->cap - r->pos;
    if (r->span_to && r->base + r->pos + want > r->span_to) {
        if (r->base + r->end >= r->span_to) {
            r->eof = 1;
            return 0;
        }
        want = (size_t)(r->span_to - r->base - r->pos);
    }
    if (r->idle && !r->seekable && (poll(&p, 1, IDLE_MS) == 0 || overdue(r))) {
        r->idle(r->idle_arg);
        r->idle_last = milliseconds();
    }
    for (;;) {
        n = read(r->fd, r->buf + r->end, r->pos + want - r->end);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            break;
        if (errno == EAGAIN) /* another program made our pipe non-blocking */
            (void)poll(&p, 1, -1);
    }
    if (n < 0) {
        if (cf_is_refusal(errno))
            cfr_refuse(r, errno);
        else
            cfr_damage(r, r->base + r->end, "cannot read: %s", strerror(errno));
        n = 0;
    }
    if (n == 0)
        r->eof = 1;
    r->end += (size_t)n;
    r->all += (uint64_t)n;
    return n > 0;
}

int cfr_need(struct cf_reader *r, size_t n, size_t ahead)
{
    while (r->end - r->pos < n)
        if (!fill(r, ahead > n ? ahead : n))
            return 0;
    return 1;
}

void cfr_align(struct cf_reader *r)
{
    if (r->pos & 7)
        move_down(r);
}

/* Passes over n bytes, of which some may not have been read yet. */
void cfr_skip(struct cf_reader *r, size_t n)
{
    size_t have = r->end - r->pos;

    if (n <= have) {
        r->pos += n;
        return;
    }
    n -= have;
    r->base += r->end + n;
    r->pos = r->end = 0;
    if (lseek(r->fd, (off_t)n, SEEK_CUR) < 0) {
        cfr_damage(r, r->base, "cannot seek: %s", strerror(errno));
        r->eof = 1;
    }
}

/* Each is named, whatever was wrong before. */
static void not_opened(struct cf_reader *r, const char *why)
{
    if (r->damages &&
        cfr_room(r, &r->unopened, &r->unopened_room, r->unopeneds + 1, sizeof(*r->unopened)) == 0)
        r->unopened[r->unopeneds++] = (struct unopened){r->name, why};
    cfr_damage(r, UINT64_MAX, "%s", why);
}

/* Opens the next input: 1, or 0 when there is none. */
int cfr_open_next(struct cf_reader *r)
{
    while (r->next_file < r->count) {
        const char *file = r->files[r->next_file++];
        struct stat st = {0};
        off_t at;

        r->owned = strcmp(file, "-") != 0;
        r->name = cfr_name(file);
        r->fd = r->owned ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
        if (r->fd < 0 && cf_is_refusal(errno)) {
            cfr_refuse(r, errno);
            return 0;
        }
        if (r->fd < 0) {
            not_opened(r, strerror(errno));
            continue;
        }
        if (fstat(r->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
            not_opened(r, "is a directory: name files");
            if (r->owned)
                close(r->fd);
            r->fd = -1;
            continue;
        }
        /* of standard input, some may have been read before us */
        at = r->span_to ? lseek(r->fd, (off_t)r->span_from, SEEK_SET) : lseek(r->fd, 0, SEEK_CUR);
        r->seekable = at >= 0 && S_ISREG(st.st_mode);
        if (S_ISFIFO(st.st_mode))
            (void)fcntl(r->fd, F_SETPIPE_SZ, PIPE_BYTES);
        r->base = r->start = r->seekable ? (uint64_t)at : 0;
        r->damaged = 0;
        r->trailers = 0;
        r->pos = r->end = 0;
        r->eof = 0;
        r->foreign = 0;
        r->number = 0;
        r->in_segment = 0;
        r->seen_any = 0;
        return 1;
    }
    return 0;
}

void cfr_close_input(struct cf_reader *r)
{
    if (r->owned && r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

/* ---- what it says of them ---- */

const char *cf_reader_file(const struct cf_reader *r)
{
    return r->name ? r->name : "standard input";
}

const char *cf_reader_input(const struct cf_reader *r)
{
    if (r->count > 1)
        return "the inputs";
    return r->count == 0 ? "standard input" : cfr_name(r->files[0]);
}

const char *cf_reader_problem(const struct cf_reader *r)
{
    return r->damages || r->refused ? r->problem : NULL;
}

int cf_reader_refused(const struct cf_reader *r)
{
    return r->refused;
}

int cf_reader_wanting(const struct cf_reader *r)
{
    return r->wanting && r->wanting == r->damages && !r->refused;
}

unsigned cf_reader_damages(const struct cf_reader *r)
{
    return r->damages;
}

const char *cf_reader_unopened(const struct cf_reader *r, size_t i, const char **why)
{
    *why = i < r->unopeneds ? r->unopened[i].why : NULL;
    return i < r->unopeneds ? r->unopened[i].name : NULL;
}

uint64_t cf_reader_bytes(const struct cf_reader *r)
{
    return r->all;
}

uint64_t cf_reader_size(const struct cf_reader *r)
{
    return r->size;
}
