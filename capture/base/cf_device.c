/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_device.c - calls of a device. See cf_device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "capture/base/cf_device.h"

static int open_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) != 0) {
        const int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int cf_device_open(struct cf_device *d, const char *path)
{
    struct stat st;

    d->socket = stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
    d->fd = d->socket ? open_socket(path) : open(path, O_RDWR | O_CLOEXEC);
    return d->fd < 0 ? -1 : 0;
}

void cf_device_close(struct cf_device *d)
{
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

/* Who answers at the socket; one in a PID namespace around ours has no number here: 0. */
static pid_t peer(const struct cf_device *d)
{
    struct ucred peer = {0};
    socklen_t length = sizeof peer;

    return getsockopt(d->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

int cf_device_foreign(const struct cf_device *d)
{
    const ino_t first_namespace = 0xEFFFFFFC; /* PROC_PID_INIT_INO of Linux */
    struct stat st;

    if (d->socket)
        return !peer(d);
    return stat("/proc/self/ns/pid", &st) != 0 || st.st_ino != first_namespace;
}

int cf_device_shifted(const struct cf_device *d)
{
    const ino_t first_namespace = 0xEFFFFFFA; /* PROC_TIME_INIT_INO of Linux */
    struct stat own, st;
    char path[64];

    if (stat("/proc/self/ns/time", &own) != 0)
        return 0; /* a kernel that has none */
    snprintf(path, sizeof path, "/proc/%d/ns/time", d->socket ? peer(d) : 0);
    if (!d->socket || stat(path, &st) != 0) /* where we may not look it is taken for the first */
        st.st_ino = first_namespace;
    return own.st_ino != st.st_ino;
}

static int put(int fd, const void *from, size_t bytes)
{
    const char *p = from;

    while (bytes) {
        const ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            p += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

static int get(int fd, void *to, size_t bytes)
{
    char *p = to;

    while (bytes) {
        const ssize_t n = recv(fd, p, bytes, 0);

        if (n == 0)
            errno = ECONNRESET;
        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        if (n > 0) {
            p += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

static int ask(int fd, uint32_t number, const void *arg, uint32_t arg_bytes, void *answer,
               size_t answer_bytes)
{
    const uint32_t call[2] = {number, arg_bytes};
    uint32_t said[2];

    if (put(fd, call, sizeof call) != 0 || put(fd, arg, arg_bytes) != 0 ||
        get(fd, said, sizeof said) != 0)
        return -1;
    if (said[0] || said[1] != answer_bytes) {
        errno = said[0] ? (int)said[0] : EPROTO;
        return -1;
    }
    return get(fd, answer, answer_bytes);
}

int cf_device_call(struct cf_device *d, unsigned long request, void *arg)
{
    const uint32_t bytes = _IOC_SIZE(request);

    if (!d->socket)
        return ioctl(d->fd, request, arg) < 0 ? -1 : 0;
    return ask(d->fd, (uint32_t)request, arg, _IOC_DIR(request) & _IOC_WRITE ? bytes : 0, arg,
               _IOC_DIR(request) & _IOC_READ ? bytes : 0);
}

int cf_device_read(struct cf_device *d, uint64_t offset, void *to, size_t bytes)
{
    const uint64_t where[2] = {offset, bytes};
    char *p = to;

    if (d->socket)
        return ask(d->fd, 0, where, sizeof where, to, bytes);
    while (bytes) {
        const ssize_t n = pread(d->fd, p, bytes, (off_t)offset);

        if (n == 0)
            errno = ENODATA;
        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        if (n > 0) {
            p += n;
            bytes -= (size_t)n;
            offset += (uint64_t)n;
        }
    }
    return 0;
}
