/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_device.h - the devices of our kernel modules, whose calls kmod/cacheflow.h and
 * kmod/pagectl/pagectl.h define: /dev/cacheflow, /dev/pagectl, or whatever answers the same calls
 * at a socket, such as the stand-ins of the tests.
 *
 * At a socket (AF_UNIX, SOCK_STREAM) a call is two numbers of 32 bits in the byte order of the
 * machine, the ioctl's number and how many bytes of its argument follow; the answer is two such
 * numbers, an errno or 0 and how many bytes follow. Number 0 reads: its argument is the place in
 * the buffer and the number of bytes, of 64 bits each.
 */
#ifndef CF_DEVICE_H
#define CF_DEVICE_H

#include <stddef.h>
#include <stdint.h>

struct cf_device {
    int fd;
    int socket;
};

/* 0, or -1 with errno. */
int cf_device_open(struct cf_device *d, const char *path);
void cf_device_close(struct cf_device *d);

/* Whether who answers numbers processes otherwise than we do: a module does by the first PID
   namespace. */
int cf_device_foreign(const struct cf_device *d);
/* Whether its CLOCK_MONOTONIC is another than ours: a module's is that of the first time namespace.
 */
int cf_device_shifted(const struct cf_device *d);

/* An ioctl: 0, or -1 with errno. `arg` may be NULL where the call has none. */
int cf_device_call(struct cf_device *d, unsigned long request, void *arg);

/* All these bytes of what it can be read for: 0, or -1 with errno; ENODATA where it ends before. */
int cf_device_read(struct cf_device *d, uint64_t offset, void *to, size_t bytes);

#endif
