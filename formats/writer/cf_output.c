/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file or pipe that a stream is written to, and the bytes of a frame. A regular file gets its
 * name only when it is whole; until then a recording, which cannot be made again, is kept under
 * that name with ".partial" added. A device or FIFO is written in place.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "formats/base/cf_memory.h"
#include "formats/files/cf_target.h"
#include "cf_writer.h"

void cfw_fail(struct cf_writer *w, const char *format, ...)
{
    va_list args;

    if (atomic_exchange(&w->failed, 1))
        return;
    va_start(args, format);
    vsnprintf(w->problem, sizeof(w->problem), format, args);
    va_end(args);
}

int cfw_room(struct cf_writer *w, void *array, size_t *room, size_t count, size_t width)
{
    const int result = cf_array_room(array, room, count, width);

    if (result != 0)
        cfw_fail(w, "out of memory");
    return result;
}

const char *cfw_target(const struct cf_writer *w)
{
    return w->path ? w->path : "standard output";
}

/* A new file in the folder of `path`: a descriptor, or -1 with errno. */
static int open_new(struct cf_writer *w, const char *path, int mode)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd, why;

    if (!folder)
        return -1;
    fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    free(folder);
    w->unnamed = fd >= 0;
    if (fd >= 0)
        return fd;
    if (asprintf(&w->temp, "%s.tmp%ld", path, (long)getpid()) < 0) {
        w->temp = NULL;
        return -1;
    }
    (void)unlink(w->temp); /* of a process that had our number; a link of others is not followed */
    fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        why = errno;
        free(w->temp);
        w->temp = NULL;
        errno = why;
    }
    return fd;
}

/* Whether what would be our partial file cannot be that: another recording, which holds a lock, is
   writing it, or a file cannot have the name. */
static int partial_refused(struct cf_writer *w)
{
    struct stat st;
    char *name;
    const char *why = NULL;
    int fd;

    if (!w->recording || asprintf(&name, "%s.partial", w->path) < 0)
        return 0;
    fd = open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        why = errno == ENAMETOOLONG ? strerror(errno) : NULL;
    else if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        why = strerror(EISDIR);
    else if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        why = "another program is writing it";
    if (fd >= 0)
        close(fd);
    if (why)
        cfw_fail(w, "%s: %s", name, why);
    free(name);
    return why != NULL;
}

/* A regular file is written without a name or under a temporary one, so that no program takes half
   of it for the whole; a device or FIFO is written in place. */
int cfw_open_output(struct cf_writer *w)
{
    struct cf_target target;
    struct stat st;
    int mode;

    w->opened = 1;
    if (!w->path) {
        w->fd = STDOUT_FILENO;
        if (fstat(w->fd, &st) == 0 && S_ISFIFO(st.st_mode))
            (void)fcntl(w->fd, F_SETPIPE_SZ, PIPE_BYTES);
        return 0;
    }
    w->owned = 1;
    if (cf_target_find(&target, w->path) == 0) {
        mode = target.exists || w->private ? 0600 : 0666;
        if (stat(target.path, &w->had) != 0)
            w->had = (struct stat){0};
        w->fd = target.in_place ? cf_target_open(&target) : open_new(w, target.path, mode);
    }
    if (w->fd < 0) {
        cfw_fail(w, "%s: cannot be written: %s", w->path, strerror(errno));
        free(target.path);
        return -1;
    }
    cf_target_keep(&target, w->fd);
    free(w->path);
    w->path = target.path;
    w->regular = !target.in_place;
    if (w->regular && w->recording) {
        (void)flock(w->fd, LOCK_EX | LOCK_NB); /* no other process has this file */
        return partial_refused(w) ? -1 : 0;
    }
    return 0;
}

/* Renames the file from where it was begun; what has the name already is replaced at once. */
static int give_name(struct cf_writer *w, const char *name)
{
    if (w->unnamed) {
        char from[64];

        snprintf(from, sizeof(from), "/proc/self/fd/%d", w->fd);
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno == EEXIST && asprintf(&w->temp, "%s.tmp%ld", name, (long)getpid()) > 0) {
            (void)unlink(w->temp);
            if (linkat(AT_FDCWD, from, AT_FDCWD, w->temp, AT_SYMLINK_FOLLOW) != 0) {
                free(w->temp);
                w->temp = NULL;
            }
        }
        if (!w->temp) {
            cfw_fail(w, "%s: cannot be given its name: %s", name, strerror(errno));
            return -1;
        }
    }
    if (w->temp && rename(w->temp, name) != 0) {
        cfw_fail(w, "%s: cannot be renamed from %s: %s", name, w->temp, strerror(errno));
        return -1;
    }
    return 0;
}

/* Whether what has our name now is not what had it when we began: another recording, which showed
   no partial file yet when we looked for one. */
static int name_taken(const struct cf_writer *w)
{
    const struct stat *had = &w->had;
    struct stat st;

    return w->recording && w->regular && stat(w->path, &st) == 0 &&
           (st.st_ino != had->st_ino || st.st_dev != had->st_dev || st.st_size != had->st_size ||
            st.st_mtim.tv_sec != had->st_mtim.tv_sec || st.st_mtim.tv_nsec != had->st_mtim.tv_nsec);
}

int cfw_name_output(struct cf_writer *w)
{
    /* a network file system says at a close that it found no room, and at any of them */
    const int fd = dup(w->fd);

    if (fd < 0 || close(fd) != 0) {
        cfw_fail(w, "%s: cannot write: %s", cfw_target(w), strerror(errno));
        return -1;
    }
    if (name_taken(w)) {
        cfw_fail(w, "%s: another program has written it since this recording began", w->path);
        return -1;
    }
    return give_name(w, w->path);
}

/* The file of a recording becomes visible with its first rows: before, there is nothing to keep,
   and what an earlier one left is not lost to a start that fails. */
static int name_partial(struct cf_writer *w)
{
    char *name;

    if (partial_refused(w))
        return -1;
    if (asprintf(&name, "%s.partial", w->path) < 0) {
        cfw_fail(w, "out of memory");
        return -1;
    }
    if (give_name(w, name) != 0) {
        free(name);
        return -1;
    }
    free(w->temp);
    w->temp = name;
    w->unnamed = 0;
    w->partial = 1;
    return 0;
}

int cfw_write_all(struct cf_writer *w, struct iovec *v, int count)
{
    if (w->failed || (!w->opened && cfw_open_output(w) != 0))
        return -1;
    while (count > 0) {
        ssize_t n = writev(w->fd, v, count > IOV_MAX ? IOV_MAX : count);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) { /* another program made our pipe non-blocking */
            struct pollfd p = {.fd = w->fd, .events = POLLOUT};

            (void)poll(&p, 1, -1);
            continue;
        }
        if (n < 0) {
            cfw_fail(w, "%s: cannot write: %s", cfw_target(w), strerror(errno));
            return -1;
        }
        w->bytes += (uint64_t)n;
        while (count > 0 && (size_t)n >= v->iov_len) {
            n -= (ssize_t)v->iov_len;
            v++;
            count--;
        }
        if (count > 0) {
            v->iov_base = (char *)v->iov_base + n;
            v->iov_len -= (size_t)n;
        }
    }
    return 0;
}

static void count_rows(struct cf_writer *w, unsigned table, uint32_t rows)
{
    unsigned i;

    if (table < sizeof(w->total) / sizeof(w->total[0])) {
        w->total[table] += rows;
        return;
    }
    for (i = 0; i < w->others && w->other[i] != table; i++)
        ;
    if (i == w->others) {
        if (i == MAX_TABLES) {
            cfw_fail(w, "%s: more than %d tables of others", cfw_target(w), MAX_TABLES);
            return;
        }
        w->other[w->others++] = table;
        w->other_rows[i] = 0;
    }
    w->other_rows[i] += rows;
}

/* Notes a frame that is about to be written. */
static int note_frame(struct cf_writer *w, unsigned table, uint32_t rows, uint64_t first,
                      uint64_t last)
{
    if (table == CF_END || table == CF_INDEX)
        return 0;
    count_rows(w, table, rows);
    if (!w->packed)
        return 0;
    if (cfw_room(w, &w->index, &w->index_room, w->indexed + 1, sizeof(*w->index)) != 0)
        return -1;
    w->index[w->indexed++] =
        (struct cf_index_entry){w->bytes - w->segment_start, first, last, table, rows};
    return 0;
}

static const uint8_t zeros[8];

/* The column's bytes, padded, to v[*n] and on, and their checksum. */
static uint64_t add_payload(const struct cf_coded *c, struct iovec *v, int *n)
{
    const size_t pad = cf_pad8(c->bytes) - c->bytes;
    XXH3_state_t sum;

    if (c->bytes)
        v[(*n)++] = (struct iovec){(void *)(uintptr_t)c->data, c->bytes};
    if (!pad)
        return cf_checksum(c->data, c->bytes);
    v[(*n)++] = (struct iovec){(void *)(uintptr_t)zeros, pad};
    XXH3_64bits_reset(&sum);
    cf_checksum_add(&sum, c->data, c->bytes);
    cf_checksum_add(&sum, zeros, pad);
    return XXH3_64bits_digest(&sum);
}

int cfw_write_frame(struct cf_writer *w, unsigned table, uint32_t rows, uint64_t first,
                    uint64_t last, const struct cf_coded *column, unsigned columns)
{
    uint8_t head[CF_FRAME_HEAD + CF_MAX_COLUMNS * CF_DESCRIPTOR];
    struct iovec v[1 + 2 * CF_MAX_COLUMNS];
    size_t head_bytes = CF_FRAME_HEAD + columns * CF_DESCRIPTOR, total = head_bytes;
    int n = 1;
    XXH3_state_t sum;

    if (columns > CF_MAX_COLUMNS) {
        cfw_fail(w, "%s: a frame of more than %d columns", cfw_target(w), CF_MAX_COLUMNS);
        return -1;
    }
    for (unsigned i = 0; i < columns; i++) {
        const struct cf_coded *c = &column[i];
        uint8_t *d = head + CF_FRAME_HEAD + i * CF_DESCRIPTOR;

        cf_put16(d, c->id);
        d[2] = c->type;
        d[3] = c->codec;
        cf_put32(d + 4, c->bytes);
        cf_put64(d + 8, c->base);
        cf_put64(d + 16, add_payload(c, v, &n));
        total += cf_pad8(c->bytes);
    }
    if (total > CF_MAX_FRAME) {
        cfw_fail(w, "%s: a frame of more than %d bytes", cfw_target(w), CF_MAX_FRAME);
        return -1;
    }
    memcpy(head, CF_FRAME_MAGIC, 4);
    cf_put32(head + 4, (uint32_t)total);
    cf_put16(head + 8, (uint16_t)table);
    cf_put16(head + 10, (uint16_t)columns);
    cf_put32(head + 12, rows);
    cf_put64(head + 16, first);
    cf_put64(head + 24, last);
    XXH3_64bits_reset(&sum);
    XXH3_64bits_update(&sum, head, 32);
    XXH3_64bits_update(&sum, head + CF_FRAME_HEAD, head_bytes - CF_FRAME_HEAD);
    cf_put64(head + 32, XXH3_64bits_digest(&sum));
    v[0] = (struct iovec){head, head_bytes};
    if (note_frame(w, table, rows, first, last) != 0 || cfw_write_all(w, v, n) != 0)
        return -1;
    w->whole = w->bytes;
    if (w->recording && w->regular && !w->partial && table != CF_STRING && table != CF_NAME &&
        table != CF_INDEX && table != CF_END)
        return name_partial(w);
    return 0;
}
